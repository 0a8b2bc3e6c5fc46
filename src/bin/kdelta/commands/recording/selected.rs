//! The recordings that a tool reads.

use std::path::{Path, PathBuf};

use kdelta::recording::{Keyring, Recording, RecordingError};

use crate::session::selected_recordings;
use crate::settings::Contexts;

/// The selected contexts of directories, and the keys of encrypted recordings.
pub(super) struct Selected<'a> {
    pub(super) contexts: &'a Contexts,
    pub(super) keyring: Keyring,
}

impl Selected<'_> {
    /// Returns the selected contexts in a directory of recordings, with their directories.
    ///
    /// # Errors
    /// The directory has no recording or can't be read, or a selected context was not recorded.
    pub(super) fn paths(&self, dir: &Path) -> anyhow::Result<Vec<(String, PathBuf)>> {
        selected_recordings(dir, self.contexts, &self.keyring)
    }

    /// Opens the recording of one context.
    ///
    /// # Errors
    /// It can't be read.
    pub(super) fn open(&self, path: &Path) -> Result<Recording, RecordingError> {
        Recording::open_with(path, &self.keyring)
    }
}
