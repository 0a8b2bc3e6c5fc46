//! The key of redacted values: a file of the user, outside all recordings.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use ring::rand::{SecureRandom, SystemRandom};

use crate::exit::Hint;

/// The length of a key in bytes.
const LENGTH: usize = 32;

/// The permission bits of the group and of other users, all of which a key file must lack.
const OTHERS: u32 = 0o077;

/// Reads the key, or creates a random one.
///
/// # Errors
/// The key has no directory outside of the recordings, is accessible to other users, or can't be read or written.
pub(super) fn read_or_create(path: Option<&Path>, recordings: &Path) -> anyhow::Result<[u8; LENGTH]> {
    let Some(path) = path else {
        let hint = "set HOME or XDG_STATE_HOME, or record Secrets as they are with --secrets keep";
        return Err(anyhow::anyhow!("there is no directory for the key of redacted values")
            .context(Hint(hint.to_owned())));
    };
    if is_within(path, recordings)? {
        let hint = "give another directory with --to, or set XDG_STATE_HOME";
        let problem = format!("the key of redacted values {} would be among the recordings", path.display());
        return Err(anyhow::Error::msg(problem).context(Hint(hint.to_owned())));
    }
    let of_key = || format!("the key of redacted values {}", path.display());
    if let Some(key) = read(path).with_context(of_key)? {
        return Ok(key);
    }
    create(path).with_context(of_key)?;
    match read(path).with_context(of_key)? {
        Some(key) => Ok(key),
        None => bail!("{}: it was removed", of_key()),
    }
}

/// Returns whether a file would lie in a directory of recordings.
///
/// # Errors
/// There is no current directory.
pub(super) fn is_within(path: &Path, recordings: &Path) -> io::Result<bool> {
    let absolute = |path: &Path| fs::canonicalize(path).or_else(|_| std::path::absolute(path));
    Ok(absolute(path)?.starts_with(absolute(recordings)?))
}

/// Reads the key; `None` if there is no file.
fn read(path: &Path) -> anyhow::Result<Option<[u8; LENGTH]>> {
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    if metadata.mode() & OTHERS != 0 {
        let hint = format!("run: chmod 600 {}", path.display());
        return Err(anyhow::anyhow!("other users may read it").context(Hint(hint)));
    }
    if !metadata.is_file() || metadata.len() != LENGTH as u64 {
        let hint = "remove it to create another key, with which equal values have other hashes";
        return Err(anyhow::anyhow!("it is no key of {LENGTH} bytes").context(Hint(hint.to_owned())));
    }
    let key = fs::read(path)?;
    Ok(key.try_into().ok())
}

/// Creates the file with a random key, unless another process does at the same time.
fn create(path: &Path) -> anyhow::Result<()> {
    let folder = path.parent().context("it has no directory")?;
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let mut key = [0; LENGTH];
    SystemRandom::new().fill(&mut key).ok().context("the system has no random numbers")?;
    // The file is complete before it gets its name, so that no reader sees a partial key.
    let temporary = temporary(path);
    let linked = write(&temporary, &key).and_then(|()| fs::hard_link(&temporary, path));
    let _ = fs::remove_file(&temporary);
    match linked {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(error.into()),
        _ => Ok(()),
    }
}

fn temporary(path: &Path) -> PathBuf {
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(format!(".{}.tmp", std::process::id()));
    temporary.into()
}

fn write(path: &Path, key: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
    file.write_all(key)?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn key_is_created_once_and_private() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("state").join("kdelta").join("redaction.key");
        let recordings = folder.path().join("recordings");
        let key = read_or_create(Some(&path), &recordings).expect("a key");
        assert_ne!(key, [0; LENGTH]);
        assert_eq!(read_or_create(Some(&path), &recordings).expect("the same"), key);
        let mode = |path: &Path| fs::metadata(path).expect("a file").mode() & 0o777;
        assert_eq!((mode(&path), mode(path.parent().expect("a folder"))), (0o600, 0o700));
        assert_eq!(fs::read_dir(path.parent().expect("a folder")).expect("files").count(), 1);
    }

    #[test]
    fn unusable_keys_are_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("redaction.key");
        let error = |recordings: &str| {
            let error = read_or_create(Some(&path), &folder.path().join(recordings)).expect_err("refused");
            format!("{error:?}")
        };
        assert!(error("").contains("would be among the recordings"));
        fs::write(&path, [1; LENGTH]).expect("a file");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).expect("permissions");
        assert!(error("r").contains("other users may read it"));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("permissions");
        fs::write(&path, "short").expect("a file");
        assert!(error("r").contains("it is no key of 32 bytes"));
        assert!(read_or_create(None, Path::new("r")).is_err());
    }
}
