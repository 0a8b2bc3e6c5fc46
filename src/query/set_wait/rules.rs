//! The rules of a wait: its conditions, and for how many objects and how long they must hold.

use std::sync::Arc;
use std::time::Duration;

use super::condition::WaitCondition;

/// The number of objects for which the conditions must hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Quantifier {
    /// All objects, and at least one.
    #[default]
    All,
    /// One object or more.
    Any,
    /// No object.
    None,
    /// At least this number of objects.
    AtLeast(usize),
    /// At most this number of objects.
    AtMost(usize),
}

/// The rules of a wait.
#[derive(Debug, Default)]
pub struct WaitRules {
    /// The conditions, all of which one state of an object must meet.
    pub conditions: Vec<Arc<WaitCondition>>,
    /// The number of objects.
    pub quantifier: Quantifier,
    /// Whether an object that has met the conditions counts even if it no longer meets them.
    pub was: bool,
    /// The time for which the conditions must hold without interruption.
    pub stable: Duration,
    /// Conditions each of which ends the wait without success once an object meets it.
    pub fail_on: Vec<Arc<WaitCondition>>,
    /// Whether the wait ends without success when an object is in a state that rarely passes.
    pub fail_fast: bool,
    /// Whether objects must exist before anything counts, even where the absence of objects would do.
    pub wait_for_create: bool,
}

impl Quantifier {
    /// Whether more objects that meet the conditions only help.
    pub(super) fn is_growing(self) -> bool {
        matches!(self, Self::All | Self::Any | Self::AtLeast(_))
    }
}

impl WaitRules {
    /// Whether the wait is for the end of objects only: those that exist at the start, or once they are created.
    #[must_use]
    pub fn is_for_end(&self) -> bool {
        !self.conditions.is_empty() && self.conditions.iter().all(|condition| condition.is_gone())
    }

    /// Whether an object that is gone may still count.
    pub(super) fn counts_gone(&self) -> bool {
        self.conditions.iter().any(|condition| condition.mentions_gone())
    }

    /// Whether the conditions can be evaluated on the metadata of objects.
    #[must_use]
    pub fn reads_only_metadata(&self) -> bool {
        let mut conditions = self.conditions.iter().chain(&self.fail_on);
        !self.fail_fast && conditions.all(|condition| condition.reads_only_metadata())
    }
}
