//! The status of a rollout, in the words of `kubectl rollout status`.

mod fields;
mod rules;
mod status;
#[cfg(test)]
mod tests;

pub use status::{RolloutError, RolloutKind, RolloutStatus};

use crate::object::JsonValue;
use fields::Fields;

impl RolloutStatus {
    /// Returns the status of an object. A `revision` above 0 requires a deployment to have that one.
    ///
    /// # Errors
    /// The rollout has failed, or the object has no status of it.
    pub fn of(kind: RolloutKind, object: &JsonValue<'_>, revision: i64) -> Result<Self, RolloutError> {
        let fields = Fields(object);
        match kind {
            RolloutKind::Deployment => rules::deployment(&fields, revision),
            RolloutKind::DaemonSet => rules::daemon_set(&fields),
            RolloutKind::StatefulSet => rules::stateful_set(&fields),
        }
    }
}
