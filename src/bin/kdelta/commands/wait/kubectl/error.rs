//! The errors of a wait, in kubectl's words.

/// The reason why a condition is not met.
#[derive(Debug, thiserror::Error)]
pub(super) enum WaitError {
    /// The time limit passed before the object, named as `TYPE/NAME`, met the condition.
    #[error("timed out waiting for the condition on {0}")]
    TimedOut(String),
    /// The object is in a state from which it does not meet the condition any more.
    #[error("{object} can't meet the condition any more: {reason}")]
    NeverMet { object: String, reason: String },
    /// An object of `--for=create` did not appear.
    #[error("timed out waiting for the condition")]
    NotCreated,
    /// The object, named as `TYPE/NAME`, does not meet the condition.
    #[error("condition not met for {0}")]
    NotMet(String),
    /// The object of a file has no name.
    #[error("resource name must be provided")]
    Unnamed,
    #[error("no matching resources found")]
    NoObjects,
}
