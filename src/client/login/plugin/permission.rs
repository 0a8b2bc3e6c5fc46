//! The check of a plugin against the user's policy, by client-go's rules.

use std::fs;
use std::path::{Path, PathBuf};

use super::lookup::{self, NotFound};
use crate::kubeconfig::{PluginPolicy, cleaned};
use crate::listwatch::system_words;
use crate::object::go_quote;

/// A program that a command names, or why there is none.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Program {
    path: String,
    /// Go's message, if it can't run.
    failure: Option<String>,
}

/// Checks that a command may run.
///
/// # Errors
/// The policy forbids it, in client-go's words.
pub(super) fn check(policy: &PluginPolicy, command: &str) -> Result<(), String> {
    check_with(policy, command, look_path)
}

fn check_with(
    policy: &PluginPolicy,
    command: &str,
    look_path: impl Fn(&str) -> Program,
) -> Result<(), String> {
    // The path of a kubeconfig in the current folder is relative; client-go makes it absolute.
    let is_path = command.contains(std::path::is_separator);
    let absolute = std::path::absolute(command).ok().filter(|_| is_path);
    let command = cleaned(&absolute.map_or_else(|| command.to_owned(), |path| path.display().to_string()));
    let allowed = match policy {
        PluginPolicy::AllowAll => return Ok(()),
        PluginPolicy::DenyAll => {
            let command = go_quote(&command);
            return Err(format!("plugin {command} not allowed: policy set to \"DenyAll\""));
        }
        PluginPolicy::Allowlist(allowed) => allowed,
    };
    if allowed.contains(&command) {
        return Ok(());
    }
    let Program { path, failure } = look_path(&command);
    if failure.is_none() && allowed.contains(&path) {
        return Ok(());
    }
    if let Some(why) = failure {
        let path = go_quote(&path);
        return Err(format!(
            "plugin path {path} cannot be resolved for credential plugin allowlist check: {why}"
        ));
    }
    let base = |path: &str| Path::new(path).file_name().map(ToOwned::to_owned);
    let same_name = allowed.iter().filter(|entry| base(entry) == base(&path));
    let is_allowed =
        same_name.map(|entry| look_path(entry)).any(|entry| entry.failure.is_none() && entry.path == path);
    if is_allowed {
        return Ok(());
    }
    Err(format!("plugin path {} is not permitted by the credential plugin allowlist", go_quote(&path)))
}

/// Finds a command as Go's `exec.LookPath` does.
fn look_path(command: &str) -> Program {
    let failed = |path: String, why: &str| {
        let failure = Some(format!("exec: {}: {why}", go_quote(command)));
        Program { path, failure }
    };
    if command.contains(std::path::is_separator) {
        let path = command.to_owned();
        return match fs::metadata(command) {
            Err(error) => {
                let why = format!("stat {command}: {}", system_words(&error));
                failed(path, &why)
            }
            Ok(file) if file.is_dir() => failed(path, "is a directory"),
            Ok(_) if !lookup::is_executable(Path::new(command)) => failed(path, "permission denied"),
            Ok(_) => Program { path, failure: None },
        };
    }
    match lookup::find(command) {
        Ok(path) => Program { path: path.display().to_string(), failure: None },
        Err(NotFound::Nowhere) => failed(command.to_owned(), "executable file not found in $PATH"),
        Err(NotFound::ByRelativeEntry(entry)) => {
            let path: PathBuf = entry.join(command);
            failed(path.display().to_string(), "cannot run executable found relative to current directory")
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    /// Checks a command where `login` is `/bin/login`, and paths are programs.
    fn checked(policy: &PluginPolicy, command: &str) -> Result<(), String> {
        check_with(policy, command, |command| match command {
            "login" => Program { path: "/bin/login".into(), failure: None },
            "absent" => Program { path: "absent".into(), failure: Some("exec: no".into()) },
            path => Program { path: path.into(), failure: None },
        })
    }

    fn allow(commands: &[&str]) -> PluginPolicy {
        PluginPolicy::Allowlist(commands.iter().map(|command| (*command).to_owned()).collect())
    }

    #[test]
    fn allowlist_names_commands_or_their_programs() {
        for (allowed, command) in [
            (&["login"][..], "login"),
            (&["/bin/login"], "login"),
            (&["login"], "/bin/login"),
            (&["other", "/bin/login"], "/bin/../bin/login"),
            (&["absent"], "absent"),
        ] {
            assert_eq!(checked(&allow(allowed), command), Ok(()), "{allowed:?} {command}");
        }
        for (allowed, command, error) in [
            (
                &["other"][..],
                "login",
                "plugin path \"/bin/login\" is not permitted by the credential plugin allowlist",
            ),
            (
                &["login"],
                "/opt/login",
                "plugin path \"/opt/login\" is not permitted by the credential plugin allowlist",
            ),
            (
                &["login"],
                "absent",
                "plugin path \"absent\" cannot be resolved for credential plugin allowlist check: exec: no",
            ),
        ] {
            assert_eq!(checked(&allow(allowed), command), Err(error.to_owned()));
        }
        assert_eq!(checked(&PluginPolicy::AllowAll, "absent"), Ok(()));
        let denied = |command: &str| checked(&PluginPolicy::DenyAll, command);
        assert_eq!(
            denied("login"),
            Err("plugin \"login\" not allowed: policy set to \"DenyAll\"".to_owned())
        );
        let path = std::env::current_dir().expect("a folder").join("login");
        assert!(denied("./login").is_err_and(|error| error.contains(&format!("{path:?}"))));
    }

    #[test]
    fn programs_are_found_with_gos_errors() {
        let failure = |command: &str| look_path(command).failure;
        assert_eq!(failure("/bin/sh"), None);
        assert_eq!(failure("/bin"), Some("exec: \"/bin\": is a directory".into()));
        assert_eq!(failure("/etc/passwd"), Some("exec: \"/etc/passwd\": permission denied".into()));
        let missing = "exec: \"/no/such\": stat /no/such: no such file or directory";
        assert_eq!(failure("/no/such"), Some(missing.into()));
    }
}
