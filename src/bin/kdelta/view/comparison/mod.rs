//! The comparison of the versions of an object, each with the one before it.

mod compared_state;

use kdelta::lines::{Change, ChangeKind};
use kdelta::object::JsonText;

use self::compared_state::ComparedState;
use super::details::Details;

/// The differences of a version from the one before it. None of a version that is not compared, such as a creation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Comparison {
    /// The changed fields, an escaped line for each.
    pub(crate) fields: String,
    /// The changes of the health, as texts.
    pub(crate) health: Vec<String>,
}

/// Compares versions. Those of one object should follow each other: then each state is read once.
pub(crate) struct Comparer {
    details: Details,
    /// The last state that was compared.
    last: Option<ComparedState>,
    /// The text of the state before it, whose memory is used again.
    unused: JsonText,
}

impl Comparer {
    pub(crate) fn new(details: Details) -> Self {
        Self { details, last: None, unused: JsonText::default() }
    }

    /// Compares an update with the state before. The author is not among the changed fields.
    pub(crate) fn compare(&mut self, change: &Change) -> Comparison {
        let Some(old) = change.old.as_ref().filter(|_| change.kind == ChangeKind::Modified) else {
            return Comparison::default();
        };
        let last = self.last.take().filter(|last| last.is_of(old));
        let before = last.unwrap_or_else(|| ComparedState::of(old, None, JsonText::default()));
        let after = ComparedState::of(&change.object, Some(&before), std::mem::take(&mut self.unused));
        let [old, new] = [&before, &after].map(ComparedState::document);
        let fields = self.details.lines_between(old, new, &change.resource);
        let health = after.health_changes(&before);
        self.unused = before.into_text();
        self.last = Some(after);
        Comparison { fields, health }
    }
}
