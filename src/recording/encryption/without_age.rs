//! The recipients and identities of age in a build without it: there are none.

use std::convert::Infallible;
use std::io;

use super::cipher::DataKey;
use crate::recording::error::RecordingError;

/// The age recipients of a recording: X25519 keys, `age1…`.
#[derive(Debug, Clone, Default)]
pub struct Recipients(Option<Infallible>);

impl Recipients {
    /// Fails: this build has no age.
    ///
    /// # Errors
    /// [`RecordingError::WithoutAge`].
    pub fn add(&mut self, _text: &str) -> Result<(), RecordingError> {
        Err(RecordingError::WithoutAge)
    }

    /// Fails: this build has no age.
    ///
    /// # Errors
    /// [`RecordingError::WithoutAge`].
    pub fn add_lines(&mut self, _text: &str) -> Result<(), RecordingError> {
        Err(RecordingError::WithoutAge)
    }

    /// Returns the public keys.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        Vec::new()
    }

    pub(super) fn wrap(&self, _key: &DataKey) -> io::Result<Vec<u8>> {
        match self.0 {
            None => Err(io::Error::other(RecordingError::WithoutAge)),
            Some(never) => match never {},
        }
    }
}

/// The age identities of a reader: X25519 keys, `AGE-SECRET-KEY-1…`.
#[derive(Debug, Default)]
pub struct Identities(Option<Infallible>);

impl Identities {
    /// Fails: this build has no age.
    ///
    /// # Errors
    /// [`RecordingError::WithoutAge`].
    pub fn add_lines(&mut self, _text: &str) -> Result<(), RecordingError> {
        Err(RecordingError::WithoutAge)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    pub(super) fn unwrap(&self, _key_file: &[u8]) -> Result<DataKey, &'static str> {
        match self.0 {
            None => Err("this build can't decrypt it: it has no feature `age`"),
            Some(never) => match never {},
        }
    }
}
