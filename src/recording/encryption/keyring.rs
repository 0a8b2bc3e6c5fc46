//! The keys with which encrypted recordings are opened.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use zeroize::{Zeroize, Zeroizing};

use super::age_keys::Identities;
use super::cipher::{Cipher, DataKey, KEY_LEN, RecordingId};
use super::key_files::{Found, KEY_FILE};
use crate::recording::error::RecordingError;
use crate::recording::files;

/// The keys with which encrypted recordings are opened: the data keys of the user's own recordings, in a directory, and
/// the age identities of recipients.
#[derive(Debug, Clone, Default)]
pub struct Keyring {
    directory: Option<PathBuf>,
    identities: Arc<Identities>,
}

impl Keyring {
    /// Creates a keyring of the data keys in a directory, which need not exist, and of identities.
    #[must_use]
    pub fn new(directory: Option<PathBuf>, identities: Identities) -> Self {
        Self { directory, identities: Arc::new(identities) }
    }

    /// Returns the directory of the data keys.
    #[must_use]
    pub fn directory(&self) -> Option<&Path> {
        self.directory.as_deref()
    }

    /// Returns the cipher of the recording in a directory; `None` if it is not encrypted or has no files.
    pub(in crate::recording) fn cipher_of(&self, dir: &Path) -> Result<Option<Arc<Cipher>>, RecordingError> {
        let found = Found::read(dir).map_err(|source| RecordingError::Io { path: dir.to_owned(), source })?;
        self.cipher(dir, &found)
    }

    pub(super) fn cipher(&self, dir: &Path, found: &Found) -> Result<Option<Arc<Cipher>>, RecordingError> {
        if found.ids.is_empty() {
            return Ok(None);
        }
        let failed = |source| RecordingError::Io { path: dir.to_owned(), source };
        for id in &found.ids {
            if let Some(key) = self.stored(*id)? {
                return Ok(Some(Arc::new(Cipher::new(*id, &key).map_err(failed)?)));
            }
        }
        if self.identities.is_empty() {
            return Err(RecordingError::Encrypted { path: dir.to_owned() });
        }
        let path = dir.join(KEY_FILE);
        let refused = |reason| RecordingError::Key { path, reason };
        let Some(bytes) = &found.key_file else {
            return Err(refused("it is missing, so that identities can't open the recording"));
        };
        let key = self.identities.unwrap(bytes).map_err(refused)?;
        Ok(Some(Arc::new(Cipher::new(RecordingId::of_key_file(bytes), &key).map_err(failed)?)))
    }

    /// Returns the data key of a recording of the user.
    fn stored(&self, id: RecordingId) -> Result<Option<DataKey>, RecordingError> {
        let Some(path) = self.path_of(id) else { return Ok(None) };
        let metadata = match fs::metadata(&path) {
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                return Ok(None);
            }
            metadata => metadata,
        };
        let failed = |source: io::Error| RecordingError::Io { path: path.clone(), source };
        let metadata = metadata.map_err(failed)?;
        let refused = |reason| Err(RecordingError::Key { path: path.clone(), reason });
        if is_shared(&metadata) {
            return refused("other users may read it: run chmod 600 on it");
        }
        let mut key = DataKey(Zeroizing::new([0; KEY_LEN]));
        let bytes = Zeroizing::new(fs::read(&path).map_err(failed)?);
        if bytes.len() != KEY_LEN {
            return refused("it is no key of 32 bytes");
        }
        key.0.copy_from_slice(&bytes);
        Ok(Some(key))
    }

    /// Writes the data key of a new recording.
    pub(super) fn store(&self, id: RecordingId, key: &DataKey) -> Result<(), RecordingError> {
        let Some((path, directory)) = self.path_of(id).zip(self.directory.as_deref()) else { return Ok(()) };
        let mut parts = [key.0.to_vec()];
        let written = files::create_private(directory)
            .and_then(|()| files::replace(&path, &parts))
            .and_then(|()| files::sync_directory(directory));
        parts.zeroize();
        written.map_err(|source| RecordingError::Io { path, source })
    }

    fn path_of(&self, id: RecordingId) -> Option<PathBuf> {
        Some(self.directory.as_ref()?.join(format!("{id}.key")))
    }
}

#[cfg(unix)]
fn is_shared(metadata: &fs::Metadata) -> bool {
    std::os::unix::fs::MetadataExt::mode(metadata) & 0o077 != 0
}

#[cfg(not(unix))]
fn is_shared(_metadata: &fs::Metadata) -> bool {
    false
}
