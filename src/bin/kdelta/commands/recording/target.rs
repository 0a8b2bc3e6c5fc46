//! The directory of new recordings, and their encryption.

use std::path::Path;

use kdelta::recording::{Encryption, Keyring, Recording};

use crate::commands::record::encryption;
use crate::exit::Hint;
use crate::settings::CopyEncryption;

/// The directory of new recordings, and their encryption.
pub(super) struct Target<'a> {
    pub(super) dir: &'a Path,
    /// `None` for recordings that are not encrypted.
    pub(super) encryption: Option<Encryption>,
    /// Whether encrypted recordings may become plain ones.
    plain: bool,
}

impl<'a> Target<'a> {
    /// # Errors
    /// A recipient is malformed, or there is no directory for keys.
    pub(super) fn new(dir: &'a Path, copy: &CopyEncryption, keyring: &Keyring) -> anyhow::Result<Self> {
        let encryption = encryption(&copy.encrypt_to, keyring, dir)?.map(|(encryption, _)| encryption);
        Ok(Self { dir, encryption, plain: copy.plain })
    }

    /// Refuses to write an encrypted recording in clear, unless that is requested.
    ///
    /// # Errors
    /// The recording is encrypted, and its copy would not be.
    pub(super) fn check(&self, recording: &Recording) -> anyhow::Result<()> {
        if self.plain || self.encryption.is_some() || !recording.is_encrypted() {
            return Ok(());
        }
        let hint = "encrypt the new recording with --encrypt-to, or write it in clear with --plain";
        let message = format!(
            "{}: the recording is encrypted, and the new one would not be",
            recording.path().display()
        );
        Err(anyhow::Error::msg(message).context(Hint(hint.to_owned())))
    }
}
