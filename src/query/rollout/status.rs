//! The statuses of rollouts and their errors.

use std::num::ParseIntError;

use crate::object::go_quote;

/// A type whose objects have rollouts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RolloutKind {
    /// `Deployment`.
    Deployment,
    /// `DaemonSet`.
    DaemonSet,
    /// `StatefulSet`.
    StatefulSet,
}

impl RolloutKind {
    /// Returns the type with this group and kind, if it has rollouts.
    #[must_use]
    pub fn of(group: &str, kind: &str) -> Option<Self> {
        match (group, kind) {
            ("apps" | "extensions", "Deployment") => Some(Self::Deployment),
            ("apps" | "extensions", "DaemonSet") => Some(Self::DaemonSet),
            ("apps", "StatefulSet") => Some(Self::StatefulSet),
            _ => None,
        }
    }
}

/// The status of a rollout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RolloutStatus {
    /// A line for a person.
    pub message: String,
    /// Whether the rollout is complete.
    pub is_done: bool,
}

/// A rollout that has failed or has no status. The messages are kubectl's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RolloutError {
    /// A deployment made no progress in time.
    #[error("deployment {} exceeded its progress deadline", go_quote(.0))]
    ProgressDeadline(String),
    /// The pods are not replaced one after the other.
    #[error("rollout status is only available for RollingUpdate strategy type")]
    Strategy,
    /// Another revision is being rolled out.
    #[error("desired revision ({desired}) is different from the running revision ({running})")]
    Revision {
        /// The revision that the caller named.
        desired: i64,
        /// The revision of the object.
        running: i64,
    },
    /// The revision of the object is no number.
    #[error(
        "cannot get the revision of deployment {}: strconv.ParseInt: parsing {}: {}",
        go_quote(.name), go_quote(.text), go_reason(.error)
    )]
    MalformedRevision {
        /// The name of the deployment.
        name: String,
        /// Its revision.
        text: String,
        /// The reason.
        error: ParseIntError,
    },
}

impl RolloutStatus {
    pub(super) fn pending(message: String) -> Self {
        Self { message, is_done: false }
    }

    pub(super) fn done(message: String) -> Self {
        Self { message, is_done: true }
    }
}

/// Returns Go's words for a text that is no number.
fn go_reason(error: &ParseIntError) -> &'static str {
    use std::num::IntErrorKind::{NegOverflow, PosOverflow};
    match error.kind() {
        PosOverflow | NegOverflow => "value out of range",
        _ => "invalid syntax",
    }
}
