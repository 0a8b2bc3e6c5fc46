//! Starts commands in two steps, so that the guard process knows each group before anything runs in it.
//!
//! This process may be killed between the start of a child and the report of its group, and nothing would then end that
//! group. Therefore the child is this program at first. It executes the command once it has read a byte from its standard
//! input, and ends without it.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::fs::{Access, access};
use rustix::io::{Errno, retry_on_intr};

use crate::exit::ExitCode;
use crate::output::Messages;

/// The hidden command that executes its arguments after a byte of input.
pub(crate) const START: &str = "__start";
/// What a child reads before it executes its command.
pub(super) const GO: &[u8] = b"\n";
/// The search path of a process without `PATH`, as `execvp` of the GNU C library has it.
const DEFAULT_PATH: &str = "/bin:/usr/bin";

/// Returns the path of this program, which remains valid when its file is replaced, where the system has such a path.
pub(super) fn own_program() -> io::Result<PathBuf> {
    let own = Path::new("/proc/self/exe");
    if own.exists() { Ok(own.to_owned()) } else { env::current_exe() }
}

/// Checks that a command can be executed: `execvp` of it would find a file with that permission.
///
/// # Errors
/// Returns the reason, as `execvp` would.
pub(super) fn check(command: &OsStr, search_path: &OsStr) -> io::Result<()> {
    if command.as_encoded_bytes().contains(&b'/') {
        return check_file(Path::new(command));
    }
    let search_path = if search_path.is_empty() { OsStr::new(DEFAULT_PATH) } else { search_path };
    let mut reason = Errno::NOENT.into();
    for entry in env::split_paths(search_path) {
        match check_file(&entry.join(command)) {
            Ok(()) => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => reason = error,
            Err(_) => {}
        }
    }
    Err(reason)
}

fn check_file(file: &Path) -> io::Result<()> {
    if !fs::metadata(file)?.is_file() {
        return Err(Errno::ACCESS.into());
    }
    Ok(access(file, Access::EXEC_OK)?)
}

/// Waits for a byte of standard input, then executes the words in place of this process.
///
/// Returns if the input ends before, because the parent is gone, or if the command can't be executed.
pub(crate) fn start(words: &[OsString]) -> ExitCode {
    let [command, arguments @ ..] = words else { return ExitCode::Usage };
    // Without a buffer, because the rest is the input of the command.
    let read = retry_on_intr(|| rustix::io::read(io::stdin(), &mut [0; GO.len()]));
    if read == Ok(GO.len()) {
        let error = Command::new(command).args(arguments).exec();
        Messages::stderr(false, false)
            .error(&[format!("run {:?}: {error}", command.to_string_lossy())], None);
    }
    ExitCode::Error
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_checked_as_execvp_finds_them() {
        let kind = |command: &str| {
            check(OsStr::new(command), OsStr::new("/none:/bin")).map_err(|error| error.kind())
        };
        assert_eq!(kind("sh"), Ok(()));
        assert!(check(OsStr::new("sh"), OsStr::new("")).is_ok());
        assert!(check(OsStr::new("sh"), OsStr::new("/none")).is_err());
        assert_eq!(kind("/bin/sh"), Ok(()));
        assert_eq!(kind("no-such-command"), Err(io::ErrorKind::NotFound));
        assert_eq!(kind("/no/such/command"), Err(io::ErrorKind::NotFound));
        assert_eq!(kind("/etc/passwd"), Err(io::ErrorKind::PermissionDenied));
        assert_eq!(kind("/etc"), Err(io::ErrorKind::PermissionDenied));
    }
}
