//! The encryption of new recordings.

use std::path::Path;

use kdelta::recording::{Encryption, Keyring};

use super::redaction_key::is_within;
use crate::exit::Hint;
use crate::session::recipients;

/// Returns the encryption for the values of `--encrypt-to` and the recipients of it; `None` without the flag.
///
/// # Errors
/// A recipient is malformed, or the keys have no directory outside of the recordings.
pub(crate) fn encryption(
    encrypt_to: &[String],
    keyring: &Keyring,
    recordings: &Path,
) -> anyhow::Result<Option<(Encryption, Vec<String>)>> {
    let Some(recipients) = recipients(encrypt_to)? else { return Ok(None) };
    let Some(directory) = keyring.directory() else {
        let hint = "set HOME or XDG_STATE_HOME: a recorder that is started again needs the key";
        return Err(anyhow::anyhow!("there is no directory for the keys of encrypted recordings")
            .context(Hint(hint.to_owned())));
    };
    if is_within(directory, recordings)? {
        let hint = "give another directory with --to, or set XDG_STATE_HOME";
        let problem = format!(
            "the keys of encrypted recordings in {} would be among the recordings",
            directory.display()
        );
        return Err(anyhow::Error::msg(problem).context(Hint(hint.to_owned())));
    }
    let names = recipients.names();
    Ok(Some((Encryption::new(recipients, keyring.clone()), names)))
}
