//! The arguments of `kdelta recording`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use crate::args::SecretsArg;
use crate::args::help_template::HELP;

/// Inspect, verify, cut, merge, export and import recordings
///
/// info prints the range, the gaps, and the counts and sizes of each type. verify reads every file and lists the damaged parts;
/// the exit code is 1 if there are any. cut copies a part, as a recording that is complete in itself. merge joins recordings: those of a
/// context one after the other, different contexts side by side. export prints JSON lines, as `kdelta watch -o json` does,
/// and import makes recordings of them. --context selects among the contexts of a directory.
#[derive(Debug, Args)]
#[command(
    help_template = HELP,
    before_help = "\
Examples:
  kdelta recording info DIR              range, gaps, counts and sizes
  kdelta recording verify DIR            checksums and contents of all files
  kdelta recording cut DIR --since 03:00 --until 04:00 -n shop --to NEW
  kdelta recording cut DIR pods,events --to NEW
  kdelta recording merge MONDAY TUESDAY --to NEW
  kdelta recording export DIR pods --since -1h | jq .type
  kdelta recording import lines.json --to NEW
  kdelta watch pods -o json | kdelta recording import - --to NEW
"
)]
pub(crate) struct RecordingToolArgs {
    /// info, verify, cut, merge, export or import
    #[arg(value_name = "ACTION", help_heading = "Recordings")]
    pub(crate) action: Option<String>,

    /// A directory of recordings, or that of one context. cut and export take types after it, merge takes several
    /// directories, and import a file of JSON lines, or - for standard input
    #[arg(value_name = "DIR", value_hint = ValueHint::AnyPath, help_heading = "Recordings")]
    pub(crate) words: Vec<String>,

    /// The directory of the new recordings, for cut, merge and import
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, help_heading = "Recordings")]
    pub(crate) to: Option<PathBuf>,

    /// The moment whose state cut and export begin with, in the form of --at [default: the beginning]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, help_heading = "Range")]
    pub(crate) since: Option<String>,

    /// The moment at which cut and export end, in the form of --at [default: the end]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, help_heading = "Range")]
    pub(crate) until: Option<String>,

    /// With cut and import: replace the value of this field by a keyed hash, in all types; may be repeated
    #[arg(long, value_name = "PATH", allow_hyphen_values = true, help_heading = "Redaction")]
    pub(crate) redact: Vec<String>,

    /// With cut and import: the values of Secrets that are not redacted yet [default: hash]
    #[arg(long, value_name = "FORM", value_enum, help_heading = "Redaction")]
    pub(crate) secrets: Option<SecretsArg>,

    /// With cut, merge and import: encrypt the new recordings for this age recipient: age1…, or @FILE with one on each line;
    /// may be repeated
    #[arg(long, value_name = "RECIPIENT", help_heading = "Encryption")]
    pub(crate) encrypt_to: Vec<String>,

    /// With cut and merge: write new recordings of encrypted ones without encryption
    #[arg(long, help_heading = "Encryption")]
    pub(crate) plain: bool,

    /// Output format of info and verify: json, yaml or kyaml [default: text]
    #[arg(short, long, value_name = "FORMAT", help_heading = "Output")]
    pub(crate) output: Option<String>,
}
