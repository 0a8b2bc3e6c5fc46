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

#[cfg(test)]
mod tests {
    use super::*;

    const RECIPIENT: &str = "age1recipient";

    #[test]
    fn recipients_and_identities_are_refused_with_the_name_of_the_feature() {
        let mut recipients = Recipients::default();
        for refused in [recipients.add(RECIPIENT), recipients.add_lines(RECIPIENT), recipients.add_lines("")]
        {
            let error = refused.expect_err("no encryption");
            assert!(matches!(error, RecordingError::WithoutAge), "{error:?}");
            assert!(error.to_string().contains("feature `age`"), "{error}");
        }
        assert!(recipients.names().is_empty());
        let mut identities = Identities::default();
        assert!(matches!(identities.add_lines("AGE-SECRET-KEY-1"), Err(RecordingError::WithoutAge)));
        assert!(identities.is_empty());
        assert!(identities.unwrap(b"").is_err_and(|reason| reason.contains("feature `age`")));
    }
}
