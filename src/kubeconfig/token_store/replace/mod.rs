//! Replaces the content of a file so that a concurrent reader, and a reader after the writer was killed, finds the
//! old content or the new one.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::kubeconfig::local_file::{self, KUBECONFIG_LIMIT};
use crate::listwatch::system_words;

/// The file extension of new content while the original file is untouched.
const NEW: &str = "new";
/// The file extension of new content while the original is overwritten and may be incomplete.
const WHOLE: &str = "whole";

/// The maximum time by which an interrupted overwrite is newer than the complete content next to it: longer than a
/// disk delays a writer, and shorter than a person needs to notice and repair the file by hand.
const WRITTEN_WITHIN: Duration = Duration::from_mins(1);

/// New content on the disk, next to the old file; dropping it removes the file.
struct NewFile {
    path: PathBuf,
    /// Whether the new file has the owner, the mode and the attributes of the old one.
    has_old_attributes: bool,
}

/// Replaces the content of a file. Owner, mode and extended attributes (access lists on Linux) are kept.
///
/// A file that has a second name, that is a mount point, or whose owner or attributes can't be copied is overwritten
/// in place, as kubectl does it. Only there may a killed process leave an incomplete file, with the complete content
/// next to it for [`recover`].
pub(super) fn replace(path: &Path, text: &str) -> Result<(), String> {
    let new = sibling(path, std::process::id(), NEW);
    let new_file = NewFile::write(&new, path, text).map_err(|error| match error.kind() {
        // It may belong to a process with the same number in another container, which may be writing.
        io::ErrorKind::AlreadyExists => {
            format!("{} is there (remove that if no other program writes)", new.display())
        }
        _ => system_words(&error),
    })?;
    new_file.try_save(path, text)
}

/// Completes the write of a process that was killed while it held the lock, and an unfinished write of this process.
/// Call it with the lock held, before reading the file, which may be incomplete.
///
/// # Errors
/// The file may still be incomplete. The message names the file with the complete content.
pub(super) fn recover(path: &Path, abandoned_by: Option<u32>) -> Result<(), String> {
    if let Some(process) = abandoned_by {
        // The original was not touched yet. Failing to remove the new file does no harm.
        let _ = fs::remove_file(sibling(path, process, NEW));
    }
    for process in abandoned_by.into_iter().chain([std::process::id()]) {
        let whole = sibling(path, process, WHOLE);
        restore(path, &whole).map_err(|error| incomplete(&error, &whole))?;
    }
    Ok(())
}

/// Overwrites a file that may be incomplete with the complete content.
fn restore(path: &Path, whole: &Path) -> io::Result<()> {
    let text = match local_file::read_text(whole, KUBECONFIG_LIMIT) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        text => text?,
    };
    let there = fs::metadata(path)?;
    if !there.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    // Compared as bytes: an incomplete file may end inside a character.
    if local_file::read(path, KUBECONFIG_LIMIT)? != text.as_bytes() {
        // A file that a person has repaired since must not be overwritten with the older content.
        let later = there.modified()?.duration_since(fs::metadata(whole)?.modified()?);
        if later.is_ok_and(|later| later > WRITTEN_WITHIN) {
            return Err(io::Error::other("it was changed after a process had been killed that wrote it"));
        }
        overwrite(&OpenOptions::new().write(true).open(path)?, &text)?;
    }
    fs::remove_file(whole)
}

fn sibling(path: &Path, process: u32, ending: &str) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{process}.{ending}"));
    path.with_file_name(name)
}

/// Formats why a file may be incomplete, and where the complete content is.
fn incomplete(error: &io::Error, whole: &Path) -> String {
    let words = system_words(error);
    format!("{words}; what it was to hold is in {} (put that there, or remove it)", whole.display())
}

impl NewFile {
    fn write(new: &Path, like: &Path, text: &str) -> io::Result<Self> {
        let old = fs::metadata(like)?;
        if old.permissions().readonly() {
            // The folder's permissions would allow a replacement, but a read-only file was made so on purpose.
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(new)?;
        // From here on the new file may be removed.
        let mut new_file = Self { path: new.to_owned(), has_old_attributes: false };
        // Before it has content that others could read.
        let alike = copy_attributes(&file, new, like, &old);
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        new_file.has_old_attributes = alike.is_ok() && !has_other_names(like)?;
        Ok(new_file)
    }

    fn try_save(&self, path: &Path, text: &str) -> Result<(), String> {
        if self.has_old_attributes {
            match fs::rename(&self.path, path) {
                Err(error) if is_mounted(&error) => {}
                renamed => return renamed.map_err(|error| system_words(&error)),
            }
        }
        self.overwrite_with(path, text)
    }

    fn overwrite_with(&self, path: &Path, text: &str) -> Result<(), String> {
        let words = |error: io::Error| system_words(&error);
        // A failed open has changed nothing.
        let file = OpenOptions::new().write(true).open(path).map_err(words)?;
        // From here on the new file is the only complete one: it is renamed before the first byte is overwritten.
        let whole = sibling(path, std::process::id(), WHOLE);
        fs::rename(&self.path, &whole).map_err(words)?;
        overwrite(&file, text).map_err(|error| incomplete(&error, &whole))?;
        // If it can't be removed, the next writer finds it identical.
        let _ = fs::remove_file(&whole);
        Ok(())
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        // Missing after a successful rename, or under its other name as the only complete content.
        let _ = fs::remove_file(&self.path);
    }
}

/// Writes new content up to the moment before the rename, for tests of a killed process.
#[cfg(test)]
pub(super) fn write_sibling(path: &Path, text: &str) -> io::Result<()> {
    NewFile::write(&sibling(path, std::process::id(), NEW), path, text).map(std::mem::forget)
}

/// Returns whether a file can't be renamed to this path because the path is a mount point, such as a single file in a
/// container.
fn is_mounted(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::ResourceBusy | io::ErrorKind::CrossesDevices)
}

/// Overwrites the content of a file. Its disk has room for it, unless the file is mounted from another disk.
fn overwrite(mut file: &File, text: &str) -> io::Result<()> {
    file.write_all(text.as_bytes())?;
    file.set_len(text.len() as u64)?;
    file.sync_all()
}

/// Gives a new file the owner, the attributes and the mode of the old one. The mode comes last: until then an access
/// list that the file has from its folder must not let others read it.
#[cfg(unix)]
fn copy_attributes(file: &File, new: &Path, like: &Path, old: &fs::Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, fchown};
    let own = file.metadata()?;
    if (own.uid(), own.gid()) != (old.uid(), old.gid()) {
        fchown(file, Some(old.uid()), Some(old.gid()))?;
    }
    #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
    attributes::copy(file, new, like)?;
    #[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
    let _ = (new, like);
    file.set_permissions(old.permissions())
}

#[cfg(not(unix))]
fn copy_attributes(file: &File, _: &Path, _: &Path, old: &fs::Metadata) -> io::Result<()> {
    file.set_permissions(old.permissions())
}

/// Returns whether the file has other hard links, which replacing it would cut off.
#[cfg(unix)]
fn has_other_names(path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    Ok(fs::metadata(path)?.nlink() > 1)
}

#[cfg(not(unix))]
fn has_other_names(_: &Path) -> io::Result<bool> {
    Ok(false)
}

/// Extended attributes.
#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
mod attributes {
    use std::collections::BTreeMap;
    use std::ffi::CString;
    use std::fs::File;
    use std::io;
    use std::path::Path;

    use rustix::fs::{XattrFlags, fremovexattr, fsetxattr, getxattr, listxattr};
    use rustix::io::Errno;

    /// The limit of the operating systems for the names, or for one value.
    const LIMIT: usize = 64 * 1024;

    /// Makes the attributes of a new file equal to those of another.
    pub(super) fn copy(file: &File, new: &Path, like: &Path) -> io::Result<()> {
        let (mut own, expected) = (read(new)?, read(like)?);
        for (name, value) in expected {
            // An attribute that the system has already set equally could not be set by every user.
            if own.remove(&name).is_none_or(|own| own != value) {
                fsetxattr(file, &name, &value, XattrFlags::empty())?;
            }
        }
        for name in own.into_keys() {
            fremovexattr(file, &name)?;
        }
        Ok(())
    }

    fn read(path: &Path) -> io::Result<BTreeMap<CString, Vec<u8>>> {
        let mut buffer = vec![0; LIMIT];
        let names = match listxattr(path, &mut buffer) {
            Ok(length) => buffer[..length].to_vec(),
            // The file system has no attributes.
            Err(Errno::NOTSUP) => Vec::new(),
            Err(error) => return Err(error.into()),
        };
        let names = names.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        let value = |name: &[u8]| {
            let name = CString::new(name)?;
            let length = getxattr(path, &name, &mut buffer)?;
            Ok((name, buffer[..length].to_vec()))
        };
        names.map(value).collect()
    }
}

#[cfg(test)]
mod tests;
