//! The policy that decides which credential plugins may run (client-go: `PluginPolicy`).

use std::path::MAIN_SEPARATOR;

use crate::object::go_quote;

/// The credential plugins of a kubeconfig that may run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum PluginPolicy {
    /// All of them.
    #[default]
    AllowAll,
    /// None.
    DenyAll,
    /// The plugins with one of these commands, as written or as found in `PATH`.
    Allowlist(Vec<String>),
}

/// A policy that can't be used, with client-go's message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PluginPolicyError {
    /// There is no policy of this name.
    #[error("unknown plugin policy: {}", go_quote(.0))]
    Unknown(String),
    /// The policy of this name has no allowlist, but there is one.
    #[error(
        "misconfigured credential plugin allowlist: plugin policy is {} but allowlist is non-nil",
        go_quote(.0)
    )]
    UnusedAllowlist(String),
    /// The allowlist is missing.
    #[error("credential plugin policy set to \"Allowlist\", but allowlist is unspecified")]
    NoAllowlist,
    /// The allowlist has no entries.
    #[error(
        "credential plugin policy set to \"Allowlist\", but allowlist is empty; use \"DenyAll\" policy instead"
    )]
    EmptyAllowlist,
    /// This entry of the allowlist, from 1, names no command.
    #[error("misconfigured credential plugin allowlist: empty allowlist entry #{0}")]
    EmptyEntry(usize),
    /// A command of the allowlist has redundant parts.
    #[error("non-normalized file path: {} vs {}", go_quote(.command), go_quote(.cleaned))]
    NotNormalized {
        /// The command.
        command: String,
        /// The command without them.
        cleaned: String,
    },
}

impl PluginPolicy {
    /// Returns the policy of that name, `AllowAll` for an empty one. Only `Allowlist` has a list of commands.
    ///
    /// # Errors
    /// [`PluginPolicyError`].
    pub fn parse(name: &str, allowlist: Option<&[String]>) -> Result<Self, PluginPolicyError> {
        match (name, allowlist) {
            ("" | "AllowAll" | "DenyAll", Some(_)) => {
                Err(PluginPolicyError::UnusedAllowlist(name.to_owned()))
            }
            ("" | "AllowAll", None) => Ok(Self::AllowAll),
            ("DenyAll", None) => Ok(Self::DenyAll),
            ("Allowlist", None) => Err(PluginPolicyError::NoAllowlist),
            ("Allowlist", Some(commands)) => Self::allow(commands),
            _ => Err(PluginPolicyError::Unknown(name.to_owned())),
        }
    }

    fn allow(commands: &[String]) -> Result<Self, PluginPolicyError> {
        if commands.is_empty() {
            return Err(PluginPolicyError::EmptyAllowlist);
        }
        for (at, command) in commands.iter().enumerate() {
            if command.is_empty() {
                return Err(PluginPolicyError::EmptyEntry(at + 1));
            }
            let cleaned = cleaned(command);
            if cleaned != *command {
                return Err(PluginPolicyError::NotNormalized { command: command.clone(), cleaned });
            }
        }
        Ok(Self::Allowlist(commands.to_vec()))
    }
}

/// Returns the shortest equal path, without a look at the files (Go: `filepath.Clean`).
pub(crate) fn cleaned(path: &str) -> String {
    let is_rooted = path.starts_with(std::path::is_separator);
    let mut segments: Vec<&str> = Vec::new();
    for segment in path.split(std::path::is_separator) {
        match segment {
            "" | "." => {}
            ".." if segments.last().is_some_and(|last| *last != "..") => {
                segments.pop();
            }
            ".." if is_rooted => {}
            segment => segments.push(segment),
        }
    }
    let root = if is_rooted { String::from(MAIN_SEPARATOR) } else { String::new() };
    let path = root + &segments.join(&String::from(MAIN_SEPARATOR));
    if path.is_empty() { ".".to_owned() } else { path }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(name: &str, allowlist: Option<&[&str]>) -> Result<PluginPolicy, String> {
        let allowlist: Option<Vec<String>> =
            allowlist.map(|commands| commands.iter().map(|command| (*command).to_owned()).collect());
        PluginPolicy::parse(name, allowlist.as_deref()).map_err(|error| error.to_string())
    }

    #[test]
    fn policies_are_checked_with_client_gos_errors() {
        assert_eq!(policy("", None), Ok(PluginPolicy::AllowAll));
        assert_eq!(policy("AllowAll", None), Ok(PluginPolicy::AllowAll));
        assert_eq!(policy("DenyAll", None), Ok(PluginPolicy::DenyAll));
        let allowed = PluginPolicy::Allowlist(vec!["a".into(), "/b/c".into()]);
        assert_eq!(policy("Allowlist", Some(&["a", "/b/c"])), Ok(allowed));
        for (name, allowlist, error) in [
            ("denyall", None, r#"unknown plugin policy: "denyall""#),
            (
                "",
                Some(&["a"][..]),
                r#"misconfigured credential plugin allowlist: plugin policy is "" but allowlist is non-nil"#,
            ),
            (
                "Allowlist",
                None,
                r#"credential plugin policy set to "Allowlist", but allowlist is unspecified"#,
            ),
            (
                "Allowlist",
                Some(&[]),
                r#"credential plugin policy set to "Allowlist", but allowlist is empty; use "DenyAll" policy instead"#,
            ),
            (
                "Allowlist",
                Some(&["a", ""]),
                "misconfigured credential plugin allowlist: empty allowlist entry #2",
            ),
            ("Allowlist", Some(&["./a"]), r#"non-normalized file path: "./a" vs "a""#),
        ] {
            assert_eq!(policy(name, allowlist), Err(error.to_owned()), "{name} {allowlist:?}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn paths_are_cleaned_as_in_go() {
        for (path, expected) in [
            ("a", "a"),
            ("/a/b", "/a/b"),
            ("/a/../b/", "/b"),
            ("./a//b", "a/b"),
            ("../../a", "../../a"),
            ("a/../..", ".."),
            ("/..", "/"),
            ("a/..", "."),
            ("", "."),
        ] {
            assert_eq!(cleaned(path), expected, "{path}");
        }
    }
}
