//! The global flags of kubectl apart from those of the connection.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueHint};

/// The global flags of kubectl that are not about the connection.
#[derive(Debug, Args)]
#[command(next_help_heading = "Connection (as in kubectl)")]
pub(crate) struct KubectlOptionArgs {
    /// Fail unless the server has the release of Kubernetes that kdelta follows
    #[arg(long, global = true, hide_short_help = true)]
    pub(crate) match_server_version: bool,

    /// Exit with code 1 after warnings of the server
    #[arg(long, global = true, hide_short_help = true)]
    pub(crate) warnings_as_errors: bool,

    /// File with kubectl's preferences: defaults of flags, aliases, and the credential plugins that may run [default:
    /// $KUBERC or ~/.kube/kuberc]
    // Read before the line is parsed.
    #[arg(long, global = true, hide_short_help = true, value_name = "FILE", allow_hyphen_values = true)]
    kuberc: Option<PathBuf>,

    /// Accepted for compatibility with kubectl: kdelta writes no profiles.
    #[arg(long, global = true, hide = true, allow_hyphen_values = true, default_value = "none")]
    pub(crate) profile: String,

    /// Ignored, because there are no profiles.
    #[arg(long, global = true, hide = true, allow_hyphen_values = true, value_hint = ValueHint::FilePath)]
    profile_output: Option<OsString>,

    /// Ignored: the log has no levels for files.
    #[arg(long, global = true, hide = true, allow_hyphen_values = true, value_parser = file_levels)]
    vmodule: Option<String>,

    /// Ignored: the log is not buffered.
    #[arg(long, global = true, hide = true, allow_hyphen_values = true, value_parser = go_duration)]
    log_flush_frequency: Option<String>,
}

/// A value of a logging flag that kubectl rejects, with kubectl's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
enum LogFlagError {
    #[error("syntax error: expect comma-separated list of filename=N")]
    FileLevels,
    #[error("negative value for vmodule level")]
    NegativeLevel,
    #[error("parse error")]
    Duration,
}

/// Checks `FILE=N,…`.
fn file_levels(text: &str) -> Result<String, LogFlagError> {
    for entry in text.split(',').filter(|entry| !entry.is_empty()) {
        let (file, level) = entry.split_once('=').ok_or(LogFlagError::FileLevels)?;
        let level: i32 = level.parse().map_err(|_| LogFlagError::FileLevels)?;
        match () {
            () if file.is_empty() => return Err(LogFlagError::FileLevels),
            () if level < 0 => return Err(LogFlagError::NegativeLevel),
            () => {}
        }
    }
    Ok(text.to_owned())
}

/// Checks a duration such as `1m30.5s`.
fn go_duration(text: &str) -> Result<String, LogFlagError> {
    let mut rest = text.strip_prefix(['-', '+']).unwrap_or(text);
    let is_zero = rest == "0";
    while !rest.is_empty() && !is_zero {
        let after_number = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
        let number = &rest[..rest.len() - after_number.len()];
        let is_number = number.bytes().any(|byte| byte.is_ascii_digit()) && number.matches('.').count() < 2;
        let unit = ["ns", "us", "µs", "μs", "ms", "s", "m", "h"];
        let unit = unit.into_iter().find(|unit| after_number.starts_with(unit)).filter(|_| is_number);
        rest = &after_number[unit.ok_or(LogFlagError::Duration)?.len()..];
    }
    let is_empty = text.trim_start_matches(['-', '+']).is_empty();
    if is_empty { Err(LogFlagError::Duration) } else { Ok(text.to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_of_files_are_checked_as_in_kubectl() {
        for text in ["", "a=1", "a=1,b*=2", "a=0,", ","] {
            assert_eq!(file_levels(text), Ok(text.to_owned()));
        }
        for text in ["a", "a=x", "=1", "a=1=2", "a="] {
            assert_eq!(file_levels(text), Err(LogFlagError::FileLevels), "{text}");
        }
        assert_eq!(file_levels("a=-1"), Err(LogFlagError::NegativeLevel));
    }

    #[test]
    fn durations_are_checked_as_in_kubectl() {
        for text in ["5s", "0", "-1.5h", "1m30s", "100ms", ".5s", "1.s", "3µs"] {
            assert_eq!(go_duration(text), Ok(text.to_owned()));
        }
        for text in ["", "5", "x", "s", "1.2.3s", "1x", "-", ".s", "1s2"] {
            assert_eq!(go_duration(text), Err(LogFlagError::Duration), "{text}");
        }
    }
}
