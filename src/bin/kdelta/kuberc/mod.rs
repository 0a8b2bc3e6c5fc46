//! kubectl's preferences (`kuberc`): default values of flags, aliases of commands, and the policy for credential plugins.
//!
//! The file is read, and the command line rewritten, before the line is parsed, by kubectl's rules: a flag on the line
//! precedes its default, a command precedes an alias of its name. Entries for commands of kubectl that kdelta does not
//! have are ignored.

mod command_line;
mod document;
mod file;
mod node;
mod notice;
mod rewrite;

pub(crate) use file::Places;
pub(crate) use notice::Notice;
pub(crate) use rewrite::Extent;

use std::ffi::OsString;

use clap::Command;
use kdelta::kubeconfig::{PluginPolicy, PluginPolicyError};

use command_line::CommandLine;
use file::FileError;
use rewrite::RewriteError;

/// A command line with the preferences applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Applied {
    pub(crate) words: Vec<OsString>,
    pub(crate) plugin_policy: PluginPolicy,
}

/// Preferences that can't be applied. The messages are kubectl's.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum KubercError {
    #[error(transparent)]
    File(#[from] FileError),
    #[error(transparent)]
    Policy(#[from] PluginPolicyError),
    #[error(transparent)]
    Rewrite(#[from] RewriteError),
}

/// Reads the preferences and applies them to a command line, which starts with the program. `app` defines the commands,
/// `is_kubectls` is whether a word is a command of kubectl that it lacks; `notify` receives the messages that precede the
/// result.
///
/// # Errors
/// The file was named explicitly and can't be used, or an entry is invalid.
pub(crate) fn apply(
    words: Vec<OsString>,
    extent: Extent,
    app: impl FnOnce() -> Command,
    places: &Places,
    is_kubectls: &dyn Fn(&str) -> bool,
    notify: &mut dyn FnMut(Notice),
) -> Result<Applied, KubercError> {
    let unchanged = |words| Applied { words, plugin_policy: PluginPolicy::AllowAll };
    if words.len() < 2 {
        return Ok(unchanged(words));
    }
    let texts: Vec<String> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let Some(preferences) = file::read(&texts, places, notify)? else { return Ok(unchanged(words)) };
    rewrite::validate(&preferences)?;
    let plugin_policy =
        PluginPolicy::parse(&preferences.plugin_policy, preferences.plugin_allowlist.as_deref())?;
    // Most users have no preferences, and need no second definition.
    let app = app();
    let line = CommandLine::new(words, texts, &app, is_kubectls);
    let words = rewrite::apply(line, extent, &preferences, notify)?;
    Ok(Applied { words, plugin_policy })
}

#[cfg(test)]
mod tests;
