//! The contexts and errors that determine how a failure is reported.

use std::fmt;

/// A suggestion, attached to an error with `anyhow::Context::context` and printed on its own line.
#[derive(Debug, Clone)]
pub(crate) struct Hint(pub(crate) String);

impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Marks a usage error, with exit code 2. Attached to the error that describes it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Usage;

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("usage")
    }
}

/// Marks an error whose line breaks are the program's own: each line is printed as it is. Attached to the error.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OwnLines;

impl fmt::Display for OwnLines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("own lines")
    }
}

/// Marks a usage error below which kubectl names the help. Attached to the error.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HelpLine;

impl fmt::Display for HelpLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("help line")
    }
}

/// An explanation that is printed above a usage error, attached to it as a context.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Preface(pub(crate) &'static str);

impl fmt::Display for Preface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// An error whose message is printed as it is: kubectl has no `error: ` before it.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Verbatim(pub(crate) String);

/// An error whose messages are printed as they are, one after the other. They may contain text of files and servers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct VerbatimLines(pub(crate) Vec<String>);

impl fmt::Display for VerbatimLines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("\n"))
    }
}

impl std::error::Error for VerbatimLines {}

/// Several failures that are all reported. Not empty.
#[derive(Debug)]
pub(crate) struct Several(pub(crate) Vec<anyhow::Error>);

impl fmt::Display for Several {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} errors", self.0.len())
    }
}

impl std::error::Error for Several {}
