//! Starts commands in two steps, so that the guard process knows each group before anything runs in it.
//!
//! This process may be killed between the start of a child and the report of its group, and nothing would then end that
//! group. Therefore the child is this program at first. It executes the command once it has read a byte from its standard
//! input, and ends without it.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use rustix::fs::{Access, access};
use rustix::io::{Errno, retry_on_intr};
use rustix::process::{Signal, getpid, kill_process};

use crate::exit::ExitCode;
use crate::output::Messages;

/// The hidden command that executes its arguments after a byte of input.
pub(crate) const START: &str = "__start";
/// The byte that makes a child execute its command.
pub(super) const GO: &[u8] = b"\n";
/// The signal with which a child ends that could not execute its command. Any exit code may be that of a command; this
/// signal comes from timers of a process only, and hardly a command ends with it.
const NOT_EXECUTED: Signal = Signal::VTALARM;

/// Returns the path of this program, which remains valid when its file is replaced, where the system has such a path.
pub(super) fn own_program() -> io::Result<PathBuf> {
    let own = Path::new("/proc/self/exe");
    if own.exists() { Ok(own.to_owned()) } else { env::current_exe() }
}

/// Checks that `execvp` would find a file for a command, with the permission to execute it. Without a search path, a command
/// without a separator is not checked: its file depends on the system.
///
/// # Errors
/// Returns the reason, as `execvp` would.
pub(super) fn check(command: &OsStr, search_path: &OsStr) -> io::Result<()> {
    if command.as_encoded_bytes().contains(&b'/') {
        return check_file(Path::new(command));
    }
    if search_path.is_empty() {
        return Ok(());
    }
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

/// Returns whether a child ended because its command can't be executed, for a reason that [`check`] does not find, such as
/// a missing interpreter.
pub(super) fn was_not_executed(status: ExitStatus) -> bool {
    status.signal() == Some(NOT_EXECUTED.as_raw())
}

/// Waits for a byte of standard input, then executes the words in place of this process.
///
/// Returns if the input ends before, because the parent is gone. If the command can't be executed, this process reports it
/// and ends with a signal that tells its parent.
pub(crate) fn start(words: &[OsString]) -> ExitCode {
    let [command, arguments @ ..] = words else { return ExitCode::Usage };
    // Without a buffer, because the rest is the input of the command.
    let read = retry_on_intr(|| rustix::io::read(io::stdin(), &mut [0; GO.len()]));
    if read == Ok(GO.len()) {
        let error = Command::new(command).args(arguments).exec();
        Messages::stderr(false, false)
            .error(&[format!("error: run {:?}: {error}", command.to_string_lossy())], None);
        let _ = kill_process(getpid(), NOT_EXECUTED);
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
        assert!(check(OsStr::new("no-such-command"), OsStr::new("")).is_ok());
        assert!(check(OsStr::new("sh"), OsStr::new("/none")).is_err());
        assert_eq!(kind("/bin/sh"), Ok(()));
        assert_eq!(kind("no-such-command"), Err(io::ErrorKind::NotFound));
        assert_eq!(kind("/no/such/command"), Err(io::ErrorKind::NotFound));
        assert_eq!(kind("/etc/passwd"), Err(io::ErrorKind::PermissionDenied));
        assert_eq!(kind("/etc"), Err(io::ErrorKind::PermissionDenied));
    }
}
