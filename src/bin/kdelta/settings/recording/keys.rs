//! The keys of encrypted recordings.

use std::path::PathBuf;

use crate::args::{Cli, Command};
use crate::settings::UsageError;
use crate::settings::environment::Environment;

/// The files with which encrypted recordings are opened.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Keys {
    /// The directory of the keys of the user's own recordings; `None` if the environment names none.
    pub(crate) directory: Option<PathBuf>,
    /// The files of identities.
    pub(crate) identities: Vec<PathBuf>,
}

impl Keys {
    pub(in crate::settings) fn read(cli: &Cli, environment: &Environment) -> Result<Self, UsageError> {
        let args = &cli.recording;
        let has_recording =
            args.from.is_some() || matches!(cli.command, Command::Record(_) | Command::Recording(_));
        if !args.identity.is_empty() && !has_recording {
            return Err(UsageError::NeedsRecording("identity"));
        }
        Ok(Self {
            directory: environment.state_dir.as_ref().map(|dir| dir.join("recording-keys")),
            identities: args.identity.clone(),
        })
    }
}
