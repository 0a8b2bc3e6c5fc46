//! The keys of encrypted recordings, read from their files.

use std::fs;
use std::path::Path;

use anyhow::Context;
use kdelta::recording::{Identities, Keyring, Recipients, RecordingError};
use zeroize::Zeroizing;

use crate::settings::Keys;

/// Reads the files of identities.
///
/// # Errors
/// A file can't be read, or has something else than identities.
pub(crate) fn keyring(keys: &Keys) -> anyhow::Result<Keyring> {
    let mut identities = Identities::default();
    for path in &keys.identities {
        let of_file = || format!("the identity file {}", path.display());
        let text = Zeroizing::new(fs::read(path).with_context(of_file)?);
        // An encrypted file may be binary; its first line is text.
        let text = Zeroizing::new(String::from_utf8_lossy(&text).into_owned());
        identities.add_lines(&text).with_context(of_file)?;
    }
    Ok(Keyring::new(keys.directory.clone(), identities))
}

/// Returns the recipients of `--encrypt-to`; `None` without the flag.
///
/// # Errors
/// A file can't be read, or a recipient is malformed.
pub(crate) fn recipients(values: &[String]) -> anyhow::Result<Option<Recipients>> {
    let mut recipients = Recipients::default();
    for value in values {
        let file = value.strip_prefix('@').map(Path::new);
        let file = file.or_else(|| Some(Path::new(value)).filter(|path| is_file(value, path)));
        let Some(path) = file else {
            recipients.add(value).context("--encrypt-to")?;
            continue;
        };
        let of_file = || format!("--encrypt-to {}", path.display());
        let text = fs::read_to_string(path).with_context(of_file)?;
        let before = recipients.names().len();
        recipients.add_lines(&text).with_context(of_file)?;
        if before == 0 && recipients.names().is_empty() {
            let (text, reason) = (value.clone(), "there is none in this file");
            return Err(RecordingError::Recipient { text, reason }).context("--encrypt-to");
        }
    }
    Ok(Some(recipients).filter(|_| !values.is_empty()))
}

/// Returns whether a value is the path of a file. A recipient is never one.
fn is_file(value: &str, path: &Path) -> bool {
    !value.starts_with("age1") && path.is_file()
}
