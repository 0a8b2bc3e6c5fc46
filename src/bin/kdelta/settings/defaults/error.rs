//! Mistakes in the file and the variables that set defaults.

use std::fmt;
use std::path::PathBuf;

/// The place of a default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Origin {
    Variable(String),
    File { path: PathBuf, line: usize },
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Variable(name) => f.write_str(name),
            Self::File { path, line } => write!(f, "{}:{line}", path.display()),
        }
    }
}

/// A mistake in a default. Further lines of a message are suggestions.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum DefaultsError {
    #[error("can't read {}: {reason}", .path.display())]
    Unreadable { path: PathBuf, reason: String },
    #[error("{origin}: {message}")]
    Syntax { origin: Origin, message: String },
    #[error("{origin}: unknown key {key:?}{}", tip("key", .near))]
    UnknownKey { origin: Origin, key: String, near: Vec<String> },
    #[error("{origin}: unknown table {table:?}: a table has the name of a command{}", tip("table", .near))]
    UnknownTable { origin: Origin, table: String, near: Vec<String> },
    #[error("{origin}: {command} has no flag --{key}, only: {owners}")]
    OtherCommand { origin: Origin, command: String, key: String, owners: String },
    #[error("{origin}: {key} can't have a default: {reason}")]
    Refused { origin: Origin, key: String, reason: &'static str },
    #[error("{origin}: {key} must be in the table of a command, such as [{command}]: {reason}")]
    NeedsTable { origin: Origin, key: String, command: String, reason: &'static str },
    #[error("{origin}: {key} must be {expected}")]
    Type { origin: Origin, key: String, expected: String },
    #[error("{origin}: {message}")]
    Value { origin: Origin, message: String },
    #[error("{origin}: no command has the output format {format:?}")]
    Format { origin: Origin, format: String },
}

/// Returns a line with the nearest names, in clap's words.
fn tip(noun: &str, near: &[String]) -> String {
    match near {
        [] => String::new(),
        [one] => format!("\n  tip: a similar {noun} exists: '{one}'"),
        many => format!("\n  tip: some similar {noun}s exist: '{}'", many.join("', '")),
    }
}
