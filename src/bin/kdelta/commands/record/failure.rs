//! Errors of recordings, with a hint.

use kdelta::recording::RecordingError;

use crate::exit::Hint;

/// Returns the error of the command, with a hint if there is a next step.
pub(super) fn of_recording(error: RecordingError) -> anyhow::Error {
    let hint = match &error {
        RecordingError::Full { .. } => Some(
            "what was written stays readable: free some space, or limit the recording with --max-size, and start again",
        ),
        RecordingError::Locked { .. } => Some("end the other recorder, or give another directory with --to"),
        RecordingError::OtherContext { .. } | RecordingError::NotARecording { .. } => {
            Some("give another directory with --to")
        }
        RecordingError::Encrypted { .. } => Some(
            "its recorder was another user or machine: give the identity of a recipient with --identity, or another directory with --to",
        ),
        RecordingError::NotEncrypted { .. } => Some("omit --encrypt-to, or give another directory with --to"),
        RecordingError::Io { .. } => Some("check the directory of --to and its permissions"),
        _ => None,
    };
    let error = anyhow::Error::new(error);
    match hint {
        Some(hint) => error.context(Hint(hint.to_owned())),
        None => error,
    }
}
