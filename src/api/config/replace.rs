//! A file whose content is replaced: whoever reads it meanwhile, and whoever comes after a process that was killed, finds
//! the old content or the new one.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::api::failure::system_words;

/// A new content beside the old one, on the disk.
struct Fresh {
    path: PathBuf,
    /// Whether the file can have the owner, the mode and the attributes of the old one.
    is_alike: bool,
}

/// A new content in place of the old one. Owner, mode and extended attributes, which access lists are on Linux, stay.
///
/// A file that has another name too, or whose owner or attributes a new one can't be given, is written over as kubectl does
/// it: only there may a process that is killed leave a part, with the whole beside it.
pub(super) fn replace(path: &Path, text: &str) -> Result<(), String> {
    let words = |error: io::Error| system_words(&error);
    let new = beside(path, std::process::id());
    let put = match Fresh::write(&new, path, text) {
        Ok(fresh) => fresh.put(path, text),
        Err(error) => Err(words(error)),
    };
    // What can't be removed could not be made, or has its place.
    let _ = fs::remove_file(&new);
    put
}

/// Removes what that process had written beside the file when it was killed. It stays where it may be the only whole one.
pub(super) fn clean_up(path: &Path, process: u32) {
    if has_other_names(path).is_ok_and(|has| !has) {
        // What is not there need not be removed; what can't be does no harm.
        let _ = fs::remove_file(beside(path, process));
    }
}

fn beside(path: &Path, process: u32) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{process}.new"));
    path.with_file_name(name)
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
        // Before there is anything in it to be read by others.
        let alike = make_alike(&file, new, like, &old);
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        Ok(Self { path: new.to_owned(), is_alike: alike.is_ok() && !has_other_names(like)? })
    }

    fn put(&self, path: &Path, text: &str) -> Result<(), String> {
        let words = |error: io::Error| system_words(&error);
        if self.is_alike {
            return fs::rename(&self.path, path).map_err(words);
        }
        // What can't be opened has been changed in nothing.
        let file = OpenOptions::new().write(true).open(path).map_err(words)?;
        // Where that breaks off the new file is the only one that is whole, and gets a name that nothing removes.
        overwrite(&file, text).map_err(|error| {
            let whole = self.path.with_extension("whole");
            let place =
                fs::rename(&self.path, &whole).map_or("lost".to_owned(), |()| whole.display().to_string());
            format!("{}; what it was to hold is in {place}", words(error))
        })
    }
}

/// A new content as it stands right before it takes its place, for a process that is killed then.
#[cfg(test)]
pub(super) fn write_beside(path: &Path, text: &str) -> io::Result<()> {
    Fresh::write(&beside(path, std::process::id()), path, text).map(drop)
}

/// Writes over what a file holds. That there is room for it is known by then.
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

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    use rustix::fs::{XattrFlags, getxattr, setxattr};

    use super::*;

    fn attribute(path: &Path, name: &str) -> Option<Vec<u8>> {
        let mut value = vec![0; 1024];
        let length = getxattr(path, name, &mut value).ok()?;
        value.truncate(length);
        Some(value)
    }

    /// Entries of an access list as Linux keeps them: a tag, rights and an id.
    fn access_list(entries: &[(u16, u16, u32)]) -> Vec<u8> {
        let mut list = 2_u32.to_le_bytes().to_vec();
        for (tag, rights, id) in entries {
            list.extend(tag.to_le_bytes());
            list.extend(rights.to_le_bytes());
            list.extend(id.to_le_bytes());
        }
        list
    }

    const NOBODY: u32 = u32::MAX;

    #[test]
    fn attributes_and_access_lists_stay_and_those_of_the_folder_are_not_taken_on() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config");
        fs::write(&path, "old").unwrap();
        let list =
            access_list(&[(1, 6, NOBODY), (2, 4, 12_345), (4, 0, NOBODY), (16, 4, NOBODY), (32, 0, NOBODY)]);
        let set = |path: &Path, name: &str, value: &[u8]| setxattr(path, name, value, XattrFlags::empty());
        if set(&path, "user.note", b"mine").is_err() || set(&path, "system.posix_acl_access", &list).is_err()
        {
            // A file system without either has nothing to lose.
            return;
        }
        let inherited =
            access_list(&[(1, 7, NOBODY), (2, 7, 54_321), (4, 7, NOBODY), (16, 7, NOBODY), (32, 7, NOBODY)]);
        set(folder.path(), "system.posix_acl_default", &inherited).unwrap();
        replace(&path, "new").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(attribute(&path, "user.note").as_deref(), Some(&b"mine"[..]));
        assert_eq!(attribute(&path, "system.posix_acl_access"), Some(list));
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
        // A file without an access list gets none from its folder either.
        rustix::fs::removexattr(&path, "system.posix_acl_access").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        replace(&path, "newer").unwrap();
        assert_eq!(attribute(&path, "system.posix_acl_access"), None);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_file_that_a_new_one_can_not_be_like_is_written_over() {
        let folder = tempfile::tempdir().unwrap();
        let (path, new) = (folder.path().join("config"), folder.path().join("config.1.new"));
        fs::write(&path, "what is longer").unwrap();
        let before = fs::metadata(&path).unwrap();
        let mut fresh = Fresh::write(&new, &path, "new").unwrap();
        assert!(fresh.is_alike);
        fresh.is_alike = false;
        fresh.put(&path, "new").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(fs::metadata(&path).unwrap().ino(), before.ino());
    }
}
