//! The search for a plugin's program in `PATH`, by the rules of Go's `os/exec`: a program that is found through a
//! relative entry is refused, because it depends on the current folder.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::kubeconfig::search_path;

/// Why there is no program to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NotFound {
    /// No entry has it.
    Nowhere,
    /// The first entry that has it is relative (Go's `exec.ErrDot`).
    ByRelativeEntry(PathBuf),
}

/// Finds a command in this process's `PATH`. A command with a separator is a path already.
///
/// # Errors
/// [`NotFound`].
pub(super) fn find(command: &str) -> Result<PathBuf, NotFound> {
    let (path, endings) = search_path();
    // The system has a default search path for a process without one; its entries are absolute.
    let Some(path) = path else { return Ok(PathBuf::from(command)) };
    find_in(&path, command, &endings, is_executable)
}

fn find_in(
    path: &OsStr,
    command: &str,
    endings: &[OsString],
    is_executable: impl Fn(&Path) -> bool,
) -> Result<PathBuf, NotFound> {
    if command.contains(std::path::is_separator) {
        return Ok(PathBuf::from(command));
    }
    // An empty variable has no entries; an empty entry is the current folder.
    let entries = std::env::split_paths(path).filter(|_| !path.is_empty());
    for entry in entries {
        for ending in endings {
            let mut program = entry.join(command).into_os_string();
            program.push(ending);
            let program = PathBuf::from(program);
            if is_executable(&program) {
                let is_absolute = program.is_absolute();
                return if is_absolute { Ok(program) } else { Err(NotFound::ByRelativeEntry(entry)) };
            }
        }
    }
    Err(NotFound::Nowhere)
}

#[cfg(unix)]
pub(super) fn is_executable(program: &Path) -> bool {
    program.is_file() && rustix::fs::access(program, rustix::fs::Access::EXEC_OK).is_ok()
}

/// On this system a name without an extension is not a program.
#[cfg(not(unix))]
pub(super) fn is_executable(program: &Path) -> bool {
    program.extension().is_some() && program.is_file()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn find_among(programs: &[&str], path: &str, command: &str) -> Result<PathBuf, NotFound> {
        let is_executable = |program: &Path| programs.iter().any(|known| Path::new(known) == program);
        find_in(OsStr::new(path), command, &[OsString::new()], is_executable)
    }

    #[test]
    fn first_path_entry_with_the_program_wins() {
        let programs = ["/a/login", "/b/login", "rel/login", "./login", "login"];
        let find = |path| find_among(&programs, path, "login");
        let relative = |entry: &str| Err(NotFound::ByRelativeEntry(entry.into()));
        assert_eq!(find("/none:/b:/a"), Ok("/b/login".into()));
        assert_eq!(find("/a:rel"), Ok("/a/login".into()));
        assert_eq!(find("rel:/a"), relative("rel"), "a later absolute entry does not help");
        assert_eq!(find("/none:.:/a"), relative("."));
        for with_empty_entry in [":/a", "/none::/a", "/none:"] {
            assert_eq!(find(with_empty_entry), relative(""), "{with_empty_entry}");
        }
        assert_eq!(find("/none:other"), Err(NotFound::Nowhere));
        assert_eq!(find(""), Err(NotFound::Nowhere));
        assert_eq!(find_among(&[], "", "./login"), Ok("./login".into()), "a path is not searched for");
    }
}
