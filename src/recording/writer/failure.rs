//! The failure that ended a recording.

use std::io;
use std::path::{Path, PathBuf};

use crate::recording::error::RecordingError;

/// A failure that can be returned more than once, unlike an [`io::Error`].
#[derive(Debug, Clone)]
pub(super) struct Failure {
    path: PathBuf,
    kind: io::ErrorKind,
    text: String,
}

impl Failure {
    pub(super) fn new(path: &Path, error: &io::Error) -> Self {
        Self { path: path.to_owned(), kind: error.kind(), text: error.to_string() }
    }

    pub(super) fn error(&self) -> RecordingError {
        let path = self.path.clone();
        match self.kind {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => RecordingError::Full { path },
            kind => RecordingError::Io { path, source: io::Error::new(kind, self.text.clone()) },
        }
    }
}
