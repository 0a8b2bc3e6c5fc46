//! From the words of the command line to clap's matches.

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::{ArgMatches, Command, CommandFactory};

use super::invocation::with_program_name;
use super::{global_flags, topics};
use crate::args::{Cli, accept_kubectl_spelling, wrong_switch};
use crate::settings::TypedWords;

/// The width of the help if the terminal width is unknown.
pub(super) const DEFAULT_WIDTH: usize = 100;

/// The words of the command line, parsed.
#[derive(Debug)]
pub(super) struct Parsed {
    /// The definition of the command line, built.
    app: Command,
    /// The words in clap's spelling.
    words: Vec<OsString>,
    pub(super) matches: ArgMatches,
}

impl Parsed {
    pub(super) fn typed<'a>(&'a self, typed: &'a [OsString]) -> TypedWords<'a> {
        TypedWords { app: &self.app, typed, words: &self.words, matches: &self.matches, defaults_of: None }
    }
}

/// Parses the words, which start with the program name.
pub(super) fn parse(
    mut words: Vec<OsString>,
    program: &str,
    no_columns: bool,
) -> Result<Parsed, clap::Error> {
    // As in kubectl, the bare name prints the help and succeeds.
    if words.len() == 1 {
        words.push("-h".into());
    }
    if let [_, help, topic] = words.as_slice()
        && help == "help"
        && let Some(mut topic) = topic.to_str().and_then(topics::topic)
    {
        topic.try_get_matches_from_mut(["help", "--help"])?;
    }
    let app = with_program_name(Cli::command().bin_name(program), program);
    let mut app = global_flags::hidden(app, program);
    if no_columns {
        // clap treats 0 as the narrowest width.
        app = app.term_width(DEFAULT_WIDTH);
    }
    let words = accept_kubectl_spelling(words, &app);
    if let Some(message) = wrong_switch(&words, &app) {
        return Err(app.error(ErrorKind::ValueValidation, message));
    }
    let matches = app.try_get_matches_from_mut(&words)?;
    Ok(Parsed { app, words, matches })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_has_default_width_without_columns() {
        let words = || vec!["x".into(), "get".into(), "--help".into()];
        let text = |no_columns| parse(words(), "kdelta", no_columns).expect_err("help").to_string();
        assert!(
            text(true).lines().any(|line| line.len() > 80 && line.len() <= DEFAULT_WIDTH),
            "{}",
            text(true)
        );
    }

    #[test]
    fn help_shows_how_the_program_was_called() {
        let text = |words: &[&str]| {
            let words = words.iter().map(Into::into).collect();
            parse(words, "kubectl delta", false).expect_err("help").to_string()
        };
        let help = text(&["x", "get", "--help"]);
        assert!(help.contains("Usage: kubectl delta get"), "{help}");
        assert!(
            help.contains("\n  kubectl delta get pods -A     ") && !help.contains("\n  kdelta "),
            "{help}"
        );
        let whole = text(&["x", "--help"]);
        assert!(
            whole.contains("\n  kubectl delta help exit-codes ") && !whole.contains("\n  kdelta "),
            "{whole}"
        );
    }
}
