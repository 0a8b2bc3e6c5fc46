//! kubectl's lock on a kubeconfig: a file beside it, for as long as somebody writes.
//!
//! kubectl's own has no content and stays for ever where it was killed meanwhile: every later kubectl says that the file
//! exists. One of this program holds a lock of the system too, which ends with the process, and says so in its content. So
//! one that was left behind by this program is taken over, and one of another program is respected for as long as it stands.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

use crate::listwatch::system_words;

/// What stands in a lock of this program, before the number of the process.
const MARK: &str = "kdelta ";

/// A lock that is held; it is taken away when this is dropped.
#[derive(Debug)]
pub(super) struct Lock {
    path: PathBuf,
    /// With the system's lock on it.
    held: File,
    /// The process that held it to its own end. It is named in it until [`Lock::claim`].
    pub(super) left_by: Option<u32>,
}

/// Why there is no lock.
#[derive(Debug)]
pub(super) enum Refused {
    /// Another program writes the file, by this lock.
    Busy(PathBuf),
    Other(String),
}

impl Lock {
    pub(super) fn take(file: &Path) -> Result<Self, Refused> {
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
                return Self::take_over(&path).ok_or(Refused::Busy(path));
            }
            Err(error) => return Err(Refused::Other(system_words(&error))),
        };
        // Marked only with the system's lock, which not every file system has: unmarked it is like kubectl's.
        if held.try_lock().is_ok() {
            let _ = mark(&held);
        }
        Ok(Self { path, held, left_by: None })
    }

    /// The lock of a process of this program that was killed.
    fn take_over(path: &Path) -> Option<Self> {
        // Nothing that blocks when it is opened, and nothing that a link leads to.
        if !fs::symlink_metadata(path).ok()?.is_file() {
            return None;
        }
        let held = OpenOptions::new().read(true).write(true).open(path).ok()?;
        held.try_lock().ok()?;
        // Whoever held it may have taken it away since it was opened, and another may have made the next.
        let mut text = String::new();
        (&held).take(32).read_to_string(&mut text).ok()?;
        // Behind the first line may stand the end of a longer mark, where a process was killed that wrote over it.
        let process = text.strip_prefix(MARK)?.lines().next()?.parse().ok()?;
        if !is_same(&held, path).ok()? {
            return None;
        }
        Some(Self { path: path.to_owned(), held, left_by: Some(process) })
    }

    /// Names this process in a lock that another had left. To be called when what that one had begun is ended: a process
    /// that is killed before leaves its number to the next.
    pub(super) fn claim(&self) -> Result<(), String> {
        match self.left_by {
            Some(_) => mark(&self.held).map_err(|error| system_words(&error)),
            None => Ok(()),
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Another program may have made its own where somebody removed it by hand. One that stays tells the next so.
        if is_same(&self.held, &self.path).is_ok_and(|same| same) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Never empty in between: nobody would take over what a process left then.
fn mark(mut file: &File) -> io::Result<()> {
    let text = format!("{MARK}{}\n", std::process::id());
    file.rewind()?;
    file.write_all(text.as_bytes())?;
    file.set_len(text.len() as u64)
}

/// Whether an open file still stands there.
#[cfg(unix)]
fn is_same(open: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let (open, there) = (open.metadata()?, fs::symlink_metadata(path)?);
    Ok((open.dev(), open.ino()) == (there.dev(), there.ino()))
}

/// An open file can't be taken away here.
#[cfg(not(unix))]
fn is_same(_: &File, path: &Path) -> io::Result<bool> {
    Ok(path.exists())
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_for_one_and_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config");
        let first = Lock::take(&file).unwrap();
        assert_eq!(first.left_by, None);
        assert!(matches!(Lock::take(&file), Err(Refused::Busy(lock)) if lock.ends_with("config.lock")));
        drop(first);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        drop(Lock::take(&file).unwrap());
    }

    #[test]
    fn what_another_program_left_stays_and_what_this_one_left_is_taken_over() {
        let folder = tempfile::tempdir().unwrap();
        let (file, lock) = (folder.path().join("config"), folder.path().join("config.lock"));
        for foreign in ["", "kdelta", "kdelta x\n", "other 12\n"] {
            fs::write(&lock, foreign).unwrap();
            assert!(matches!(Lock::take(&file), Err(Refused::Busy(_))), "{foreign:?}");
            assert_eq!(fs::read_to_string(&lock).unwrap(), foreign);
        }
        fs::write(&lock, "kdelta 4194305\n").unwrap();
        let own = Lock::take(&file).unwrap();
        assert_eq!(own.left_by, Some(4_194_305));
        assert_eq!(
            fs::read_to_string(&lock).unwrap(),
            "kdelta 4194305\n",
            "for the next, if this one is killed"
        );
        own.claim().unwrap();
        assert_eq!(fs::read_to_string(&lock).unwrap(), format!("kdelta {}\n", std::process::id()));
        assert!(matches!(Lock::take(&file), Err(Refused::Busy(_))), "it is held again");
        drop(own);
        assert!(!lock.exists());
    }

    #[test]
    fn a_mark_that_was_written_over_a_longer_one_in_part_is_understood() {
        let folder = tempfile::tempdir().unwrap();
        let (file, lock) = (folder.path().join("config"), folder.path().join("config.lock"));
        fs::write(&lock, "kdelta 12\n4305\n").unwrap();
        let own = Lock::take(&file).unwrap();
        assert_eq!(own.left_by, Some(12));
        own.claim().unwrap();
        assert_eq!(fs::read_to_string(&lock).unwrap(), format!("kdelta {}\n", std::process::id()));
    }

    #[test]
    fn what_another_program_put_in_the_place_of_a_lock_stays() {
        let folder = tempfile::tempdir().unwrap();
        let (file, lock) = (folder.path().join("config"), folder.path().join("config.lock"));
        let own = Lock::take(&file).unwrap();
        fs::remove_file(&lock).unwrap();
        fs::write(&lock, "").unwrap();
        drop(own);
        assert_eq!(fs::read_to_string(&lock).unwrap(), "");
        assert!(matches!(Lock::take(&file), Err(Refused::Busy(_))));
    }

    #[test]
    fn a_link_in_the_place_of_a_lock_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (file, other) = (folder.path().join("config"), folder.path().join("other"));
        fs::write(&other, "kdelta 4194305\n").unwrap();
        std::os::unix::fs::symlink(&other, folder.path().join("config.lock")).unwrap();
        assert!(matches!(Lock::take(&file), Err(Refused::Busy(_))));
        assert_eq!(fs::read_to_string(&other).unwrap(), "kdelta 4194305\n");
    }
}
