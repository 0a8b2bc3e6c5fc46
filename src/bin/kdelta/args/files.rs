//! The flags that name files with objects.

use clap::{Args, ValueHint};

/// The files whose objects are requested.
#[derive(Debug, Args)]
#[command(next_help_heading = "Resources")]
pub(crate) struct FileArgs {
    /// The objects that a file names: YAML or JSON in a file, folder, pattern, URL or, with -, on standard input;
    /// comma-separated, may be repeated
    #[arg(short, long, value_name = "FILE", allow_hyphen_values = true, value_hint = ValueHint::FilePath)]
    pub(crate) filename: Vec<String>,

    /// The objects of the kustomization in a folder, which kubectl or kustomize builds
    #[arg(short, long, value_name = "DIR", allow_hyphen_values = true, value_hint = ValueHint::DirPath)]
    pub(crate) kustomize: Option<String>,

    /// Read the folders in a folder of -f too
    #[arg(short = 'R', long)]
    pub(crate) recursive: bool,
}
