//! The recipients and identities of age.

use std::fmt;
use std::io::{self, Read, Write};

use age::x25519::{Identity, Recipient};
use age::{DecryptError, Decryptor, Encryptor};
use zeroize::{Zeroize, Zeroizing};

use super::cipher::{DataKey, KEY_LEN};
use crate::recording::error::RecordingError;

/// The age recipients of a recording: X25519 keys, `age1…`.
#[derive(Clone, Default)]
pub struct Recipients(Vec<(String, Recipient)>);

impl Recipients {
    /// Adds a recipient, `age1…`. One that is there already is not added again.
    ///
    /// # Errors
    /// [`RecordingError::Recipient`] when it is none, and [`RecordingError::WithoutAge`] without the feature `age`.
    pub fn add(&mut self, text: &str) -> Result<(), RecordingError> {
        if text.to_ascii_uppercase().starts_with("AGE-SECRET-KEY-") {
            // The text is not part of the error.
            return Err(RecordingError::Recipient {
                text: "AGE-SECRET-KEY-…".to_owned(),
                reason: "this is an identity, which must stay secret: its recipient begins with age1",
            });
        }
        let recipient: Recipient = text.parse().map_err(|_| RecordingError::Recipient {
            text: text.to_owned(),
            reason: if text.starts_with("ssh-") {
                "SSH keys are not supported"
            } else {
                "it is no public key that age-keygen prints"
            },
        })?;
        let text = recipient.to_string();
        if self.0.iter().all(|(known, _)| *known != text) {
            self.0.push((text, recipient));
            self.0.sort_by(|(one, _), (other, _)| one.cmp(other));
        }
        Ok(())
    }

    /// Adds the recipients of a file, one on each line. Empty lines and those that begin with `#` are skipped.
    ///
    /// # Errors
    /// Those of [`Recipients::add`].
    pub fn add_lines(&mut self, text: &str) -> Result<(), RecordingError> {
        lines(text).try_for_each(|(_, line)| self.add(line))
    }

    /// Returns the public keys, sorted.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.0.iter().map(|(text, _)| text.clone()).collect()
    }

    pub(super) fn wrap(&self, key: &DataKey) -> io::Result<Vec<u8>> {
        let recipients = self.0.iter().map(|(_, recipient)| recipient as &dyn age::Recipient);
        let encryptor = Encryptor::with_recipients(recipients).map_err(io::Error::other)?;
        let mut wrapped = Vec::new();
        let mut writer = encryptor.wrap_output(&mut wrapped)?;
        writer.write_all(&*key.0)?;
        writer.finish()?;
        Ok(wrapped)
    }
}

impl fmt::Debug for Recipients {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(text, _)| text)).finish()
    }
}

/// The age identities of a reader: X25519 keys, `AGE-SECRET-KEY-1…`.
#[derive(Default)]
pub struct Identities(Vec<Identity>);

impl Identities {
    /// Adds the identities of a file as `age-keygen` writes it. Empty lines and those that begin with `#` are skipped.
    ///
    /// # Errors
    /// [`RecordingError::Identity`] when a line is none, or the file has none, and [`RecordingError::WithoutAge`] without
    /// the feature `age`.
    pub fn add_lines(&mut self, text: &str) -> Result<(), RecordingError> {
        let before = self.0.len();
        for (number, line) in lines(text) {
            let refused = |reason| RecordingError::Identity { line: number, reason };
            self.0.push(line.parse().map_err(|_| refused(reason(line)))?);
        }
        if self.0.len() == before {
            return Err(RecordingError::Identity { line: 1, reason: "there is no identity in it" });
        }
        Ok(())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Decrypts a key file. Otherwise returns the reason why it can't be decrypted.
    pub(super) fn unwrap(&self, key_file: &[u8]) -> Result<DataKey, &'static str> {
        let damaged = "it is damaged";
        let decryptor = Decryptor::new_buffered(key_file).map_err(|_| damaged)?;
        let reader = decryptor.decrypt(self.0.iter().map(|identity| identity as &dyn age::Identity));
        let reader = reader.map_err(|error| match error {
            DecryptError::NoMatchingKeys => "none of the given identities belongs to a recipient",
            _ => damaged,
        })?;
        let mut bytes = Zeroizing::new(Vec::with_capacity(2 * KEY_LEN));
        reader.take(KEY_LEN as u64 + 1).read_to_end(&mut bytes).map_err(|_| damaged)?;
        let mut key: [u8; KEY_LEN] = bytes.as_slice().try_into().map_err(|_| damaged)?;
        let wrapped = DataKey(Zeroizing::new(key));
        key.zeroize();
        Ok(wrapped)
    }
}

impl fmt::Debug for Identities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Identities").field("count", &self.0.len()).finish_non_exhaustive()
    }
}

/// Returns the reason why a line is no identity. The line may be confidential.
fn reason(line: &str) -> &'static str {
    if line.starts_with("AGE-PLUGIN-") {
        "identities of plugins are not supported: give one that age-keygen has made"
    } else if line.starts_with("age-encryption.org/") || line.starts_with("-----BEGIN AGE") {
        "the file is encrypted with a passphrase: decrypt it with `age -d` first"
    } else if line.starts_with("-----BEGIN") {
        "SSH keys are not supported: give an identity that age-keygen has made"
    } else if line.starts_with("age1") {
        "this is a recipient: an identity begins with AGE-SECRET-KEY-1"
    } else {
        "it is no identity that age-keygen writes, AGE-SECRET-KEY-1…"
    }
}

/// Returns the lines that have content, with their numbers.
fn lines(text: &str) -> impl Iterator<Item = (u64, &str)> {
    let numbered = (1..).zip(text.lines().map(str::trim));
    numbered.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
}
