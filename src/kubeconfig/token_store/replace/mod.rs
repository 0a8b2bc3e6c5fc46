//! A file whose content is replaced: whoever reads it meanwhile, and whoever comes after a process that was killed, finds
//! the old content or the new one.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::kubeconfig::local_file::{self, KUBECONFIG_LIMIT};
use crate::listwatch::system_words;

/// How the name of a new content ends while the file itself is not touched.
const NEW: &str = "new";
/// How it ends while the file is written over, and may hold a part.
const WHOLE: &str = "whole";

/// For how long at most a file that was written over is newer than the whole content beside it: longer than a disk makes
/// a writer wait, and shorter than somebody needs to find out and to repair it by hand.
const WRITTEN_WITHIN: Duration = Duration::from_mins(1);

/// A new content beside the old one, on the disk; it is removed when this is dropped.
struct Fresh {
    path: PathBuf,
    /// Whether the file can have the owner, the mode and the attributes of the old one.
    is_alike: bool,
}

/// A new content in place of the old one. Owner, mode and extended attributes, which access lists are on Linux, stay.
///
/// A file that has another name too, that is mounted there, or whose owner or attributes a new one can't be given, is
/// written over as kubectl does it: only there may a process that is killed leave a part, with the whole beside it, which
/// [`recover`] puts there.
pub(super) fn replace(path: &Path, text: &str) -> Result<(), String> {
    let new = beside(path, std::process::id(), NEW);
    let fresh = Fresh::write(&new, path, text).map_err(|error| match error.kind() {
        // Of another process of the same number, in another container: it may be writing.
        io::ErrorKind::AlreadyExists => {
            format!("{} is there (remove that if no other program writes)", new.display())
        }
        _ => system_words(&error),
    })?;
    fresh.put(path, text)
}

/// Ends what a process that held the lock had begun when it was killed, if one did, and what this process could not end
/// itself. To be called by whoever holds the lock, before the file is read: it may hold a part.
///
/// # Errors
/// It may hold a part still. The words name the file that is whole.
pub(super) fn recover(path: &Path, left_by: Option<u32>) -> Result<(), String> {
    if let Some(process) = left_by {
        // The file was not touched yet. What is not there need not be removed; what can't be does no harm.
        let _ = fs::remove_file(beside(path, process, NEW));
    }
    for process in left_by.into_iter().chain([std::process::id()]) {
        let whole = beside(path, process, WHOLE);
        put_back(path, &whole).map_err(|error| left(&error, &whole))?;
    }
    Ok(())
}

/// Writes the content that is whole over a file that may hold a part of it.
fn put_back(path: &Path, whole: &Path) -> io::Result<()> {
    let text = match local_file::read_text(whole, KUBECONFIG_LIMIT) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        text => text?,
    };
    let there = fs::metadata(path)?;
    if !there.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    // Compared as bytes: a part may end inside a character.
    if local_file::read(path, KUBECONFIG_LIMIT)? != text.as_bytes() {
        // What somebody has repaired or made anew is not to be lost for what was to be there before.
        let later = there.modified()?.duration_since(fs::metadata(whole)?.modified()?);
        if later.is_ok_and(|later| later > WRITTEN_WITHIN) {
            return Err(io::Error::other("it was changed after a process had been killed that wrote it"));
        }
        overwrite(&OpenOptions::new().write(true).open(path)?, &text)?;
    }
    fs::remove_file(whole)
}

fn beside(path: &Path, process: u32, ending: &str) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{process}.{ending}"));
    path.with_file_name(name)
}

/// Why a file may hold a part, and where the whole is.
fn left(error: &io::Error, whole: &Path) -> String {
    let words = system_words(error);
    format!("{words}; what it was to hold is in {} (put that there, or remove it)", whole.display())
}

impl Fresh {
    fn write(new: &Path, like: &Path, text: &str) -> io::Result<Self> {
        let old = fs::metadata(like)?;
        if old.permissions().readonly() {
            // Its folder would allow it, but nobody has made it so by chance.
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(new)?;
        // Only from here on is it ours to remove.
        let mut fresh = Self { path: new.to_owned(), is_alike: false };
        // Before there is anything in it to be read by others.
        let alike = make_alike(&file, new, like, &old);
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fresh.is_alike = alike.is_ok() && !has_other_names(like)?;
        Ok(fresh)
    }

    fn put(&self, path: &Path, text: &str) -> Result<(), String> {
        if self.is_alike {
            match fs::rename(&self.path, path) {
                Err(error) if is_mounted(&error) => {}
                renamed => return renamed.map_err(|error| system_words(&error)),
            }
        }
        self.put_over(path, text)
    }

    fn put_over(&self, path: &Path, text: &str) -> Result<(), String> {
        let words = |error: io::Error| system_words(&error);
        // What can't be opened has been changed in nothing.
        let file = OpenOptions::new().write(true).open(path).map_err(words)?;
        // From here on this is the only one that is whole: it has another name before the first byte is written.
        let whole = beside(path, std::process::id(), WHOLE);
        fs::rename(&self.path, &whole).map_err(words)?;
        overwrite(&file, text).map_err(|error| left(&error, &whole))?;
        // One that can't be removed is found to be the same by whoever comes next.
        let _ = fs::remove_file(&whole);
        Ok(())
    }
}

impl Drop for Fresh {
    fn drop(&mut self) {
        // What is not there has its place, or is the only one that is whole.
        let _ = fs::remove_file(&self.path);
    }
}

/// A new content as it stands right before it takes its place, for a process that is killed then.
#[cfg(test)]
pub(super) fn write_beside(path: &Path, text: &str) -> io::Result<()> {
    Fresh::write(&beside(path, std::process::id(), NEW), path, text).map(std::mem::forget)
}

/// Whether a file can't take this place since something is mounted there, as a single file is in a container.
fn is_mounted(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::ResourceBusy | io::ErrorKind::CrossesDevices)
}

/// Writes over what a file holds. That there is room for it is known by then, unless it is mounted from another disk.
fn overwrite(mut file: &File, text: &str) -> io::Result<()> {
    file.write_all(text.as_bytes())?;
    file.set_len(text.len() as u64)?;
    file.sync_all()
}

/// Gives a new file the owner, the attributes and the mode of the old one; the mode last, since nobody else is to read the
/// file by an access list that it has from its folder.
#[cfg(unix)]
fn make_alike(file: &File, new: &Path, like: &Path, old: &fs::Metadata) -> io::Result<()> {
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
fn make_alike(file: &File, _: &Path, _: &Path, old: &fs::Metadata) -> io::Result<()> {
    file.set_permissions(old.permissions())
}

/// Whether the same file stands in other places too, which a new file in this place would be cut off from.
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

    /// The most that the systems let the names, or a value, come to.
    const LIMIT: usize = 64 * 1024;

    /// Makes those of a new file the same as those of another.
    pub(super) fn copy(file: &File, new: &Path, like: &Path) -> io::Result<()> {
        let (mut own, wanted) = (read(new)?, read(like)?);
        for (name, value) in wanted {
            // What the system has set itself in the same way could not be set by everyone.
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
            // A file system that has none.
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
