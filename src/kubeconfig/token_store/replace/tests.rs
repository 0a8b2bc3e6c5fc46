//! Tests on Linux, about its access lists and mounts.

#![cfg(target_os = "linux")]

use std::io::Read;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::process::Command;
use std::thread;
use std::time::SystemTime;

use rustix::fs::{CWD, FileType, Mode, XattrFlags, getxattr, mknodat, setxattr};
use rustix::io::Errno;

use super::*;

fn attribute(path: &Path, name: &str) -> Option<Vec<u8>> {
    let mut value = vec![0; 1024];
    let length = getxattr(path, name, &mut value).ok()?;
    value.truncate(length);
    Some(value)
}

/// Encodes the entries of a Linux access list: a tag, permissions and an id.
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
fn replace_keeps_attributes_and_access_lists() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config");
    fs::write(&path, "old").unwrap();
    let list =
        access_list(&[(1, 6, NOBODY), (2, 4, 12_345), (4, 0, NOBODY), (16, 4, NOBODY), (32, 0, NOBODY)]);
    let set = |path: &Path, name: &str, value: &[u8]| setxattr(path, name, value, XattrFlags::empty());
    if set(&path, "user.note", b"mine").is_err() || set(&path, "system.posix_acl_access", &list).is_err() {
        // A file system without attributes has nothing to lose.
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
    // A file without an access list inherits none from its folder.
    rustix::fs::removexattr(&path, "system.posix_acl_access").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    replace(&path, "newer").unwrap();
    assert_eq!(attribute(&path, "system.posix_acl_access"), None);
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn file_with_uncopyable_attributes_is_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let (path, new) = (folder.path().join("config"), folder.path().join("config.1.new"));
    fs::write(&path, "what is longer").unwrap();
    let before = fs::metadata(&path).unwrap();
    let mut new_file = NewFile::write(&new, &path, "new").unwrap();
    assert!(new_file.has_old_attributes);
    new_file.has_old_attributes = false;
    new_file.try_save(&path, "new").unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "new");
    assert_eq!(fs::metadata(&path).unwrap().ino(), before.ino());
}

fn names(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.collect();
    names.sort();
    names
}

#[test]
fn complete_copy_exists_during_an_overwrite_and_survives_its_failure() {
    let folder = tempfile::tempdir().unwrap();
    let (path, pipe) = (folder.path().join("config"), folder.path().join("pipe"));
    fs::write(&path, "old").unwrap();
    mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    let whole = sibling(&pipe, std::process::id(), WHOLE);
    // More than a pipe's buffer: the writer blocks in the middle until the reader continues.
    let text = "x".repeat(1 << 20);
    let new_file = NewFile::write(&sibling(&pipe, std::process::id(), NEW), &path, &text).unwrap();
    let words = thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut pipe = File::open(&pipe).unwrap();
            pipe.read_exact(&mut [0]).unwrap();
            let copy = fs::read_to_string(&whole);
            pipe.read_to_end(&mut Vec::new()).unwrap();
            copy
        });
        // A pipe's length can't be set.
        let words = new_file.overwrite_with(&pipe, &text).unwrap_err();
        assert!(reader.join().unwrap().is_ok_and(|copy| copy == text));
        words
    });
    drop(new_file);
    assert!(words.contains(&format!("; what it was to hold is in {}", whole.display())), "{words}");
    assert_eq!(fs::read_to_string(&whole).unwrap(), text);
    assert_eq!(names(folder.path()).len(), 3, "{:?}", names(folder.path()));
}

#[test]
fn recover_restores_the_complete_copy_unless_the_file_changed_later() {
    for process in [4_194_305, std::process::id()] {
        let folder = tempfile::tempdir().unwrap();
        let (path, whole) =
            (folder.path().join("config"), sibling(&folder.path().join("config"), process, WHOLE));
        let recover = || recover(&path, Some(4_194_305));
        for part in ["the who", "the whole of what is longer", "the whole", ""] {
            fs::write(&path, part).unwrap();
            fs::write(&whole, "the whole").unwrap();
            recover().unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), "the whole", "{part}");
            assert_eq!(names(folder.path()), ["config"], "{part}");
        }
        fs::write(&path, "repaired").unwrap();
        fs::write(&whole, "the whole").unwrap();
        let past = SystemTime::now() - Duration::from_hours(1);
        OpenOptions::new().write(true).open(&whole).unwrap().set_modified(past).unwrap();
        let words = recover().unwrap_err();
        assert!(words.starts_with("it was changed after ") && words.contains("config."), "{words}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "repaired");
        assert_eq!(fs::read_to_string(&whole).unwrap(), "the whole");
    }
}

#[test]
fn file_of_another_process_with_the_same_number_stays() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config");
    let new = sibling(&path, std::process::id(), NEW);
    fs::write(&path, "old").unwrap();
    fs::write(&new, "theirs").unwrap();
    let words = replace(&path, "new").unwrap_err();
    assert!(words.starts_with(&format!("{} is there", new.display())), "{words}");
    recover(&path, None).unwrap();
    assert_eq!(fs::read_to_string(&new).unwrap(), "theirs");
    assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    // A process of the same number that held the lock is no longer alive.
    recover(&path, Some(std::process::id())).unwrap();
    replace(&path, "new").unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "new");
    assert_eq!(names(folder.path()), ["config"]);
}

#[test]
fn only_mount_errors_lead_to_an_overwrite() {
    assert!([Errno::BUSY, Errno::XDEV].into_iter().all(|error| is_mounted(&error.into())));
    assert!(![Errno::ACCESS, Errno::ROFS, Errno::NOSPC].into_iter().any(|error| is_mounted(&error.into())));
}

/// Set for the process that has a file mounted: its folder.
const MOUNTED: &str = "KDELTA_TEST_MOUNTED_IN";

#[test]
fn mounted_file_is_overwritten() {
    if let Some(folder) = std::env::var_os(MOUNTED) {
        return replace(&Path::new(&folder).join("config"), "new").unwrap();
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config");
    fs::write(&path, "what is longer").unwrap();
    let before = fs::metadata(&path).unwrap();
    let test = thread::current().name().unwrap().to_owned();
    let script = "mount --bind \"$1\" \"$1\" || exit 1; shift; exec \"$@\"";
    let run = Command::new("unshare")
        .args(["--map-root-user", "--mount", "sh", "-c", script, "sh"])
        .arg(&path)
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", &test])
        .env(MOUNTED, folder.path())
        .output();
    // A system that forbids mounts fails with another code than a failing test.
    let Some(run) = run.ok().filter(|run| matches!(run.status.code(), Some(0 | 101))) else { return };
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stdout));
    assert_eq!(fs::read_to_string(&path).unwrap(), "new");
    assert_eq!(fs::metadata(&path).unwrap().ino(), before.ino());
    assert_eq!(names(folder.path()), ["config"]);
}
