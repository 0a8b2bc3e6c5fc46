//! kubectl's preferences, applied to the command line before it is parsed.

use std::ffi::OsString;

use clap::CommandFactory;
use clap::error::ErrorKind;

use super::kubectl_commands;
use super::log_format::early_messages;
use crate::args::Cli;
use crate::exit::ExitCode;
use crate::kuberc::{self, Applied, Extent, KubercError, Notice, Places};
use crate::settings::Environment;

/// Returns the words with the preferences applied, and sets the policy for credential plugins. Prints why preferences
/// are not applied.
///
/// # Errors
/// The preferences can't be used; the reason is printed.
pub(super) fn apply(words: &[OsString], environment: &mut Environment) -> Result<Vec<OsString>, ExitCode> {
    let messages = early_messages(words, environment);
    let applied = applied(words, Extent::Whole, environment, &mut |notice| match notice {
        Notice::Plain(text) => messages.notice(&text),
        Notice::Warning(text) => messages.warning(&text),
    });
    applied.map_err(|error| {
        messages.error(&[format!("error occurred while applying preferences {error}")], None);
        ExitCode::Error
    })
}

/// Returns the words of a line to complete, whose last word is being typed, and sets the policy for credential plugins;
/// `None` if the preferences can't be used. Prints nothing.
pub(super) fn apply_to_completion(line: &[OsString], environment: &mut Environment) -> Option<Vec<OsString>> {
    let Some((last, before)) = line.split_last() else { return Some(Vec::new()) };
    let words: Vec<OsString> = std::iter::once("kdelta".into()).chain(before.iter().cloned()).collect();
    let words = applied(&words, Extent::Begun, environment, &mut |_| {}).ok()?;
    Some(words.into_iter().skip(1).chain([last.clone()]).collect())
}

fn applied(
    words: &[OsString],
    extent: Extent,
    environment: &mut Environment,
    notify: &mut dyn FnMut(Notice),
) -> Result<Vec<OsString>, KubercError> {
    if environment.no_kuberc {
        return Ok(words.to_vec());
    }
    let places = Places { variable: environment.kuberc.clone(), home: environment.config.home.clone() };
    let is_kubectls = kubectl_commands::is_kubectls;
    let Applied { words, plugin_policy } =
        kuberc::apply(words.to_vec(), extent, Cli::command, &places, &is_kubectls, notify)?;
    environment.config.plugin_policy = plugin_policy;
    Ok(words)
}

/// Returns the error about `--kuberc` where preferences are disabled: kubectl does not have the flag then.
pub(super) fn unknown_flag(words: &[OsString], environment: &Environment) -> Option<clap::Error> {
    let mut words = words.iter().map_while(|word| word.to_str().filter(|word| *word != "--"));
    let is_given = words.any(|word| word == "--kuberc" || word.starts_with("--kuberc="));
    (environment.no_kuberc && is_given)
        .then(|| clap::Error::raw(ErrorKind::UnknownArgument, "unknown flag: --kuberc"))
}
