//! Creates the keys of encrypted recordings.

use std::path::Path;
use std::sync::Arc;

use ring::rand::{SecureRandom, SystemRandom};
use zeroize::Zeroizing;

use super::age_keys::Recipients;
use super::cipher::{self, Cipher, DataKey, KEY_LEN, RecordingId};
use super::key_files::{Found, KEY_FILE};
use super::keyring::Keyring;
use crate::recording::error::RecordingError;
use crate::recording::files;

/// The encryption of a recording that is written: the recipients of a new one, and the keys with which an existing one is
/// continued.
#[derive(Debug, Clone)]
pub struct Encryption {
    recipients: Recipients,
    keyring: Keyring,
}

impl Encryption {
    /// Creates an encryption for recipients. The data key of a new recording is added to the directory of the keyring.
    #[must_use]
    pub fn new(recipients: Recipients, keyring: Keyring) -> Self {
        Self { recipients, keyring }
    }

    /// Returns the recipients of a new recording.
    pub(in crate::recording) fn recipients(&self) -> &Recipients {
        &self.recipients
    }

    /// Returns the cipher of the recording in a directory that is locked, and creates its key if there is no recording.
    pub(in crate::recording) fn open(&self, dir: &Path) -> Result<Arc<Cipher>, RecordingError> {
        let failed = |source| RecordingError::Io { path: dir.to_owned(), source };
        let found = Found::read(dir).map_err(failed)?;
        if let Some(cipher) = self.keyring.cipher(dir, &found)? {
            return Ok(cipher);
        }
        if found.is_plain {
            return Err(RecordingError::NotEncrypted { path: dir.to_owned() });
        }
        let mut key = DataKey(Zeroizing::new([0; KEY_LEN]));
        SystemRandom::new().fill(&mut *key.0).map_err(|error| failed(cipher::failed(error)))?;
        let wrapped = self.recipients.wrap(&key).map_err(failed)?;
        let id = RecordingId::of_key_file(&wrapped);
        let cipher = Arc::new(Cipher::new(id, &key).map_err(failed)?);
        // Before the key file: a recorder that is killed in between leaves no recording that it can't continue.
        self.keyring.store(id, &key)?;
        let path = dir.join(KEY_FILE);
        let written = files::replace(&path, &[wrapped]).and_then(|()| files::sync_directory(dir));
        written.map_err(|source| RecordingError::Io { path, source })?;
        Ok(cipher)
    }
}
