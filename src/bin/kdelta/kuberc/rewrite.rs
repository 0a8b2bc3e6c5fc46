//! Aliases and defaults, applied to a command line.

use std::ffi::OsString;

use kdelta::object::go_quote;

use super::command_line::{CommandLine, FlagError, STATUS, Selected, has_action};
use super::document::{Alias, OptionDefault, Preferences};
use super::notice::Notice;

/// The extent of a command line: complete, or being typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    Whole,
    /// Further words will follow: the last arguments of an alias are not added.
    Begun,
}

/// An entry that can't be applied. The messages are kubectl's.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum RewriteError {
    #[error("invalid alias name, can only include alphabetical characters")]
    AliasName,
    #[error("duplicate alias name {0}")]
    DuplicateAlias(String),
    #[error("flag name {0} should be in long form without dashes")]
    DashedFlag(String),
    #[error("command {command} not found to set alias {alias}: [{words}]")]
    AliasCommand { command: String, alias: String, words: String },
    #[error("invalid alias flag {flag} in alias {program}")]
    AliasFlag { flag: String, program: String },
    #[error("could not apply value {value} to flag {flag} in alias {program} err: {reason}")]
    AliasValue { value: String, flag: String, program: String, reason: String },
    #[error("alias {0} can not be overridden")]
    AliasDefaults(String),
    #[error("invalid flag {flag} for command {command}")]
    Flag { flag: String, command: String },
    #[error("could not apply override value {value} to flag {flag} in command {command} err: {reason}")]
    Value { value: String, flag: String, command: String, reason: String },
}

/// Checks names and flags, whether they are used or not.
///
/// # Errors
/// A name is invalid or occurs twice.
pub(super) fn validate(preferences: &Preferences) -> Result<(), RewriteError> {
    let check_flags = |options: &[OptionDefault]| {
        let dashed = options.iter().find(|option| option.name.starts_with('-'));
        dashed.map_or(Ok(()), |option| Err(RewriteError::DashedFlag(option.name.clone())))
    };
    for (at, Alias { name, options, .. }) in preferences.aliases.iter().enumerate() {
        if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphabetic()) {
            return Err(RewriteError::AliasName);
        }
        check_flags(options)?;
        if preferences.aliases[..at].iter().any(|earlier| earlier.name == *name) {
            return Err(RewriteError::DuplicateAlias(name.clone()));
        }
    }
    preferences.defaults.iter().try_for_each(|defaults| check_flags(&defaults.options))
}

/// Applies an alias, else the defaults of the command.
///
/// # Errors
/// An entry for the command can't be applied.
pub(super) fn apply(
    mut line: CommandLine<'_>,
    extent: Extent,
    preferences: &Preferences,
    notify: &mut dyn FnMut(Notice),
) -> Result<Vec<OsString>, RewriteError> {
    let selected = line.selected();
    let alias = match selected {
        Selected::Unknown => apply_alias(&mut line, extent, preferences)?,
        Selected::Program | Selected::Own(..) | Selected::Kubectls => None,
    };
    if alias.is_some() || !matches!(selected, Selected::Unknown) {
        apply_defaults(&mut line, selected, alias.as_deref(), preferences, notify)?;
    }
    Ok(line.into_words())
}

/// Replaces an alias with its command, options and arguments. Returns its name.
fn apply_alias(
    line: &mut CommandLine<'_>,
    extent: Extent,
    preferences: &Preferences,
) -> Result<Option<String>, RewriteError> {
    let Some((at, word)) = line.alias_word() else { return Ok(None) };
    let Some(alias) = preferences.aliases.iter().find(|alias| alias.name == word) else { return Ok(None) };
    let Alias { name, command, options, prepend, append } = alias;
    let words: Vec<String> = command.split_whitespace().map(str::to_owned).collect();
    let command = match line.command_of(&words) {
        Selected::Own(command, _) => command,
        Selected::Program | Selected::Kubectls => return Ok(None),
        Selected::Unknown => {
            return Err(RewriteError::AliasCommand {
                command: go_quote(command),
                alias: go_quote(name),
                words: words.join(" "),
            });
        }
    };
    let program = line.texts()[0].clone();
    let mut replacement = vec![command.get_name().to_owned()];
    replacement.extend(has_action(command).then(|| STATUS.to_owned()));
    for OptionDefault { name, value } in options {
        let (flag, value, program) = (name.clone(), value.clone(), program.clone());
        let word = line.default_word(command, name, &value, line.texts()).map_err(|error| match error {
            FlagError::Unknown => RewriteError::AliasFlag { flag, program },
            FlagError::Value(reason) => {
                RewriteError::AliasValue { value: value.clone(), flag, program, reason }
            }
        })?;
        replacement.extend(word);
    }
    replacement.extend(prepend.iter().cloned());
    line.replace(at, at + 1, &replacement);
    if extent == Extent::Whole {
        line.append(append);
    }
    Ok(Some(name.clone()))
}

/// Inserts the defaults of the command, after its word. Those of an alias are its own options.
fn apply_defaults(
    line: &mut CommandLine<'_>,
    selected: Selected<'_>,
    alias: Option<&str>,
    preferences: &Preferences,
    notify: &mut dyn FnMut(Notice),
) -> Result<(), RewriteError> {
    let mut inserted = Vec::new();
    for defaults in &preferences.defaults {
        let words: Vec<String> = defaults.command.split_whitespace().map(str::to_owned).collect();
        if alias.is_some() && words.first().map(String::as_str) == alias {
            return Err(RewriteError::AliasDefaults(words[0].clone()));
        }
        let of = match line.command_of(&words) {
            Selected::Own(of, _) => of,
            Selected::Program | Selected::Kubectls => continue,
            Selected::Unknown => {
                let command = go_quote(&defaults.command);
                notify(Notice::Warning(format!("command {command} not found to set kuberc override")));
                continue;
            }
        };
        let Selected::Own(command, _) = selected else { continue };
        if alias.is_some() || of.get_name() != command.get_name() {
            continue;
        }
        for OptionDefault { name, value } in &defaults.options {
            let word = line.default_word(command, name, value, &line.texts()[1..]);
            let (flag, value, command) = (name.clone(), value.clone(), defaults.command.clone());
            inserted.extend(word.map_err(|error| match error {
                FlagError::Unknown => RewriteError::Flag { flag, command },
                FlagError::Value(reason) => RewriteError::Value { value, flag, command, reason },
            })?);
        }
    }
    if let Selected::Own(_, at) = selected {
        line.replace(at + 1, at + 1, &inserted);
    }
    Ok(())
}
