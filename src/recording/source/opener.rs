//! Opens the recording that is served.

use std::path::PathBuf;

use crate::recording::encryption::Keyring;
use crate::recording::error::RecordingError;
use crate::recording::reader::Recording;

/// Opens the recording of a directory, which a recorder may have continued since it was opened last.
#[derive(Debug, Clone)]
pub(super) struct RecordingOpener {
    pub(super) dir: PathBuf,
    pub(super) keyring: Keyring,
}

impl RecordingOpener {
    pub(super) fn open(&self) -> Result<Recording, RecordingError> {
        Recording::open_with(&self.dir, &self.keyring)
    }
}
