//! The flags of the objects that are recorded or mirrored.

use clap::{Args, ValueEnum};

use crate::args::{ByArgs, SelectArgs};

/// The flags that select the objects of a recorder or a mirror, and the confidential values in them.
#[derive(Debug, Args)]
pub(crate) struct WatchedObjectsArgs {
    #[command(flatten)]
    pub(crate) select: SelectArgs,

    #[command(flatten)]
    pub(crate) index: ByArgs,

    /// Do not fail if a name does not exist: wait for it
    #[arg(long, help_heading = "Selection")]
    pub(crate) ignore_not_found: bool,

    /// Replace the value of this field by a keyed hash, in all types, such as spec.template.spec.containers[*].env; may be
    /// repeated
    #[arg(long, value_name = "PATH", allow_hyphen_values = true, help_heading = "Redaction")]
    pub(crate) redact: Vec<String>,

    /// The values of Secrets [default: hash]
    #[arg(long, value_name = "FORM", value_enum, help_heading = "Redaction")]
    pub(crate) secrets: Option<SecretsArg>,
}

/// The form in which the values of Secrets are recorded or mirrored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SecretsArg {
    /// As they are
    Keep,
    /// As keyed hashes: changes stay visible
    Hash,
    /// Not at all
    Drop,
}
