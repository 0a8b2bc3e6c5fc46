//! kubectl's lock on a kubeconfig: a file next to it that exists while a program writes.
//!
//! kubectl's lock file is empty and stays forever when kubectl is killed: every later kubectl then fails because it
//! exists. The lock file of this program names its process and carries a lock of the operating system, which ends
//! with the process. A lock file that this program left behind is therefore taken over; that of another program is
//! respected as long as it exists.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

use crate::listwatch::system_words;

/// The prefix of this program's lock files, before the process id.
const MARK: &str = "kdelta ";

/// A lock that is held; dropping it removes the file.
#[derive(Debug)]
pub(super) struct Lock {
    path: PathBuf,
    /// The file, with the operating system's lock on it.
    held: File,
    /// The process that was killed while it held the lock. The file names it until [`Lock::claim`].
    pub(super) abandoned_by: Option<u32>,
}

/// Why the lock was not acquired.
#[derive(Debug)]
pub(super) enum LockError {
    /// Another program is writing the file and holds this lock.
    Busy(PathBuf),
    Other(String),
}

impl Lock {
    pub(super) fn acquire(file: &Path) -> Result<Self, LockError> {
        let mut name = file.as_os_str().to_owned();
        name.push(".lock");
        let path = PathBuf::from(name);
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let held = match options.open(&path) {
            Ok(held) => held,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                return Self::take_over(&path).ok_or(LockError::Busy(path));
            }
            Err(error) => return Err(LockError::Other(system_words(&error))),
        };
        // Marked only together with the system's lock, which not every file system has: unmarked it is like
        // kubectl's.
        if held.try_lock().is_ok() {
            let _ = mark(&held);
        }
        Ok(Self { path, held, abandoned_by: None })
    }

    /// Takes over the lock of a process of this program that was killed.
    fn take_over(path: &Path) -> Option<Self> {
        // Nothing that blocks when opened, and no link.
        if !fs::symlink_metadata(path).ok()?.is_file() {
            return None;
        }
        let held = OpenOptions::new().read(true).write(true).open(path).ok()?;
        held.try_lock().ok()?;
        // The former holder may have removed the file since it was opened, and another process may have created the
        // next.
        let mut text = String::new();
        (&held).take(32).read_to_string(&mut text).ok()?;
        // A process that was killed while it wrote a mark may have left the end of a longer one after the first line.
        let process = text.strip_prefix(MARK)?.lines().next()?.parse().ok()?;
        if !is_same(&held, path).ok()? {
            return None;
        }
        Some(Self { path: path.to_owned(), held, abandoned_by: Some(process) })
    }

    /// Writes this process into a lock that another process left. Call it after the other's unfinished write is
    /// recovered: a process that is killed earlier leaves the number to the next.
    pub(super) fn claim(&self) -> Result<(), String> {
        match self.abandoned_by {
            Some(_) => mark(&self.held).map_err(|error| system_words(&error)),
            None => Ok(()),
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // If the file was removed by hand, another program may have created its own. A lock file that stays is taken
        // over by the next process.
        if is_same(&self.held, &self.path).is_ok_and(|same| same) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Never truncates the file to zero length: an empty lock would not be taken over.
fn mark(mut file: &File) -> io::Result<()> {
    let text = format!("{MARK}{}\n", std::process::id());
    file.rewind()?;
    file.write_all(text.as_bytes())?;
    file.set_len(text.len() as u64)
}

/// Returns whether the path still names the open file.
#[cfg(unix)]
fn is_same(open: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let (open, there) = (open.metadata()?, fs::symlink_metadata(path)?);
    Ok((open.dev(), open.ino()) == (there.dev(), there.ino()))
}

/// An open file can't be removed on this system.
#[cfg(not(unix))]
fn is_same(_: &File, path: &Path) -> io::Result<bool> {
    Ok(path.exists())
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lock_is_exclusive_and_removed_on_drop() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config");
        let first = Lock::acquire(&file).unwrap();
        assert_eq!(first.abandoned_by, None);
        assert!(matches!(Lock::acquire(&file), Err(LockError::Busy(lock)) if lock.ends_with("config.lock")));
        drop(first);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        drop(Lock::acquire(&file).unwrap());
    }

    #[test]
    fn foreign_lock_stays_and_own_abandoned_lock_is_taken_over() {
        let folder = tempfile::tempdir().unwrap();
        let (file, lock) = (folder.path().join("config"), folder.path().join("config.lock"));
        for foreign in ["", "kdelta", "kdelta x\n", "other 12\n"] {
            fs::write(&lock, foreign).unwrap();
            assert!(matches!(Lock::acquire(&file), Err(LockError::Busy(_))), "{foreign:?}");
            assert_eq!(fs::read_to_string(&lock).unwrap(), foreign);
        }
        fs::write(&lock, "kdelta 4194305\n").unwrap();
        let own = Lock::acquire(&file).unwrap();
        assert_eq!(own.abandoned_by, Some(4_194_305));
        assert_eq!(
            fs::read_to_string(&lock).unwrap(),
            "kdelta 4194305\n",
            "for the next, if this one is killed"
        );
        own.claim().unwrap();
        assert_eq!(fs::read_to_string(&lock).unwrap(), format!("kdelta {}\n", std::process::id()));
        assert!(matches!(Lock::acquire(&file), Err(LockError::Busy(_))), "it is held again");
        drop(own);
        assert!(!lock.exists());
    }

    #[test]
    fn partly_overwritten_mark_is_parsed() {
        let folder = tempfile::tempdir().unwrap();
        let (file, lock) = (folder.path().join("config"), folder.path().join("config.lock"));
        fs::write(&lock, "kdelta 12\n4305\n").unwrap();
        let own = Lock::acquire(&file).unwrap();
        assert_eq!(own.abandoned_by, Some(12));
        own.claim().unwrap();
        assert_eq!(fs::read_to_string(&lock).unwrap(), format!("kdelta {}\n", std::process::id()));
    }

    #[test]
    fn drop_keeps_a_lock_that_replaced_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let (file, lock) = (folder.path().join("config"), folder.path().join("config.lock"));
        let own = Lock::acquire(&file).unwrap();
        fs::remove_file(&lock).unwrap();
        fs::write(&lock, "").unwrap();
        drop(own);
        assert_eq!(fs::read_to_string(&lock).unwrap(), "");
        assert!(matches!(Lock::acquire(&file), Err(LockError::Busy(_))));
    }

    #[test]
    fn symbolic_link_as_lock_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (file, other) = (folder.path().join("config"), folder.path().join("other"));
        fs::write(&other, "kdelta 4194305\n").unwrap();
        std::os::unix::fs::symlink(&other, folder.path().join("config.lock")).unwrap();
        assert!(matches!(Lock::acquire(&file), Err(LockError::Busy(_))));
        assert_eq!(fs::read_to_string(&other).unwrap(), "kdelta 4194305\n");
    }
}
