//! The default of one flag, and the commands that it applies to.

use std::fmt;

use clap::Arg;

use super::error::{DefaultsError, Origin};
use super::output_formats::output_formats;
use super::value;

/// The default of a flag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DefaultValue {
    /// The long name of the flag.
    pub(super) flag: String,
    /// The values, as on the command line; one unless the flag may be repeated. A switch has `true` or `false`.
    pub(super) texts: Vec<String>,
    pub(super) scope: Scope,
    pub(super) origin: Origin,
}

/// The commands that a default applies to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Scope {
    /// All that have the flag and accept the value.
    All,
    /// One, by the words that select it.
    Command(String),
}

impl DefaultValue {
    /// Creates a default of all commands that have the flag.
    ///
    /// # Errors
    /// Returns an error if none of the commands accepts the value.
    pub(super) fn of_all(
        flag: &str,
        texts: Vec<String>,
        origin: Origin,
        owners: &[(&str, &Arg)],
    ) -> Result<Self, DefaultsError> {
        let mut wrong = None;
        let accepts = |(path, arg): &(&str, &Arg)| match value::check(arg, &texts) {
            Ok(()) => is_output_format(path, flag, &texts),
            Err(message) => {
                wrong.get_or_insert(message);
                false
            }
        };
        if owners.iter().any(accepts) {
            return Ok(Self { flag: flag.to_owned(), texts, scope: Scope::All, origin });
        }
        Err(match wrong {
            Some(message) => DefaultsError::Value { origin, message },
            None => DefaultsError::Format { origin, format: texts.concat() },
        })
    }

    /// Returns the precedence among defaults.
    pub(super) fn rank(&self) -> u8 {
        match (&self.origin, &self.scope) {
            (Origin::Variable(_), _) => 2,
            (Origin::File { .. }, Scope::Command(_)) => 1,
            (Origin::File { .. }, Scope::All) => 0,
        }
    }

    /// Whether the default applies to a command that has the flag.
    pub(super) fn applies_to(&self, path: &str, arg: &Arg) -> bool {
        match &self.scope {
            Scope::Command(command) => command == path,
            Scope::All => {
                value::check(arg, &self.texts).is_ok() && is_output_format(path, &self.flag, &self.texts)
            }
        }
    }
}

/// Formats the default as it would be typed, with its place.
impl fmt::Display for DefaultValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for text in &self.texts {
            write!(f, "--{}={text} ", self.flag)?;
        }
        write!(f, "({})", self.origin)
    }
}

/// Returns false if the flag is `--output` and the command does not have the format.
fn is_output_format(path: &str, flag: &str, texts: &[String]) -> bool {
    let formats: Vec<&str> = output_formats(path).split(',').collect();
    flag != "output"
        || texts.iter().all(|text| {
            let format = text.split('=').next().unwrap_or_default();
            format.is_empty() || formats.iter().any(|known| known.eq_ignore_ascii_case(format))
        })
}
