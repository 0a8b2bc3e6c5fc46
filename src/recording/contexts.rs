//! The contexts in a directory of recordings.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::reader::Recording;
use crate::recording::encryption::{Cipher, Keyring};
use crate::recording::error::RecordingError;
use crate::recording::files::{self, Kind, RandomAccess};
use crate::recording::journal::JournalReader;
use crate::recording::segment::read_header;

impl Recording {
    /// Returns the contexts recorded in a directory, sorted, with the directory of each. Of most recordings only a header
    /// is read.
    ///
    /// # Errors
    /// [`RecordingError::Io`] when the directory can't be read. Directories without a recording are left out; a
    /// recording that can't be read is included, with the context that its directory is named after.
    pub fn contexts(dir: &Path) -> Result<Vec<(String, PathBuf)>, RecordingError> {
        Self::contexts_with(dir, &Keyring::default())
    }

    /// Returns the contexts recorded in a directory, as [`Recording::contexts`] does, of recordings that may be encrypted.
    ///
    /// # Errors
    /// Those of [`Recording::contexts`].
    pub fn contexts_with(dir: &Path, keyring: &Keyring) -> Result<Vec<(String, PathBuf)>, RecordingError> {
        let failed = |source: io::Error| RecordingError::Io { path: dir.to_owned(), source };
        let mut contexts = Vec::new();
        for entry in fs::read_dir(dir).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let path = entry.path();
            // The directory of a single recording has many files.
            if !entry.file_type().is_ok_and(|kind| kind.is_file())
                && !files::is_hidden(&path)
                && let Some(context) = context(&path, keyring)
            {
                contexts.push((context, path));
            }
        }
        contexts.sort();
        Ok(contexts)
    }

    /// Returns the context of the recording in a directory. In most cases only the header of one file is read.
    ///
    /// # Errors
    /// Those of [`Recording::open_with`].
    pub fn context_with(dir: &Path, keyring: &Keyring) -> Result<String, RecordingError> {
        let files = files::list(dir).unwrap_or_default();
        match context_of_files(dir, &files, keyring) {
            Some(context) => Ok(context),
            None => Ok(Self::open_with(dir, keyring)?.context().to_owned()),
        }
    }
}

/// Returns the context of a directory that has a recording.
fn context(dir: &Path, keyring: &Keyring) -> Option<String> {
    let files = files::list(dir).ok().filter(|files| !files.is_empty())?;
    context_of_files(dir, &files, keyring).or_else(|| match Recording::open_with(dir, keyring) {
        Ok(recording) => Some(recording.context().to_owned()),
        Err(RecordingError::NotARecording { .. }) => None,
        Err(_) => Some(files::context_of(&dir.file_name().unwrap_or_default().to_string_lossy())),
    })
}

/// Returns the context in the header of the last of the files that can be read.
fn context_of_files(dir: &Path, files: &[(u64, Kind)], keyring: &Keyring) -> Option<String> {
    // Without a key, the header of an encrypted file can't be read.
    let cipher = keyring.cipher_of(dir).ok().flatten();
    files.iter().rev().find_map(|(number, kind)| context_of_file(dir, *number, *kind, cipher.as_ref()))
}

/// Returns the context in the header of a file, if it can be read.
fn context_of_file(dir: &Path, number: u64, kind: Kind, cipher: Option<&Arc<Cipher>>) -> Option<String> {
    let path = files::path_of(dir, kind, number);
    match kind {
        Kind::Journal => JournalReader::context(&path, cipher),
        Kind::Segment | Kind::Keyframe | Kind::Base | Kind::Loss => {
            read_header(&RandomAccess::open(path, cipher).ok()?, kind).ok().map(|(header, _)| header.context)
        }
    }
}
