//! From the words of the command line to clap's matches.

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::{ArgMatches, Command, CommandFactory};

use super::invocation::{command_word, with_program_name};
use super::{global_flags, topics};
use crate::args::{Cli, accept_kubectl_spelling, accept_spelling_of_command, wrong_switch};
use crate::settings::TypedWords;

/// The width of the help if the terminal width is unknown.
pub(super) const DEFAULT_WIDTH: usize = 100;

/// The words of the command line, parsed.
#[derive(Debug)]
pub(super) struct Parsed {
    /// A definition of the command line with at least the selected command, built.
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
    if let Some(parsed) = parse_with_one_command(&words) {
        return Ok(parsed);
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

/// Parses the words with the definition of only the command that they name. Returns `None` if they are not accepted:
/// texts such as help, errors and suggestions need the definition of all commands.
///
/// A word that names another command is rejected here where a command is expected, since that command is not defined.
fn parse_with_one_command(words: &[OsString]) -> Option<Parsed> {
    let mut app = Cli::command_with_only(command_word(words)?)?;
    let words = accept_spelling_of_command(words.to_vec(), &app)?;
    if wrong_switch(&words, &app).is_some() {
        return None;
    }
    let matches = app.try_get_matches_from_mut(&words).ok()?;
    Some(Parsed { app, words, matches })
}

#[cfg(test)]
mod tests {
    use clap::FromArgMatches;
    use proptest::prelude::*;

    use super::*;

    /// Commands, and flags of one command, of all and of none.
    const WORDS: &str = "get watch wait run tree man help pods -n -nget --context --context=watch -v 6 --v=6 -A -wA \
        -w=F -A=T -q=F -f -o -ojson -lapp=a_b --watch --watch=false --show_kind=F --show_labels --no_such --for \
        --for=delete --where --only --namespaced=F --demo=0 --";

    fn words(line: &str) -> Vec<OsString> {
        std::iter::once("kdelta").chain(line.split(' ')).map(Into::into).collect()
    }

    fn word() -> impl Strategy<Value = &'static str> {
        prop::sample::select(WORDS.split_whitespace().collect::<Vec<_>>())
    }

    /// Returns the meaning of a line with the definition of all commands.
    fn with_all_commands(line: &str) -> Result<String, clap::Error> {
        let mut app = Cli::command();
        let words = accept_kubectl_spelling(words(line), &app);
        app.try_get_matches_from_mut(words).and_then(|matches| shown(&matches))
    }

    fn shown(matches: &ArgMatches) -> Result<String, clap::Error> {
        Cli::from_arg_matches(matches).map(|cli| format!("{cli:?}"))
    }

    #[test]
    fn accepted_line_needs_one_command() {
        for line in [
            "get pods",
            "-n shop get pods -wA=false --show_labels -o=json --context a",
            "-n get get get",
            "get -n watch watch wait",
            "get -- watch -x",
            "run pods -- watch pods --no-such",
            "recording info rec",
            "rollout status deploy/x --watch=F",
            "wait pods/x --for=delete --timeout 5s",
            "man get",
            "completions bash",
        ] {
            let Parsed { app, matches, .. } = parse_with_one_command(&words(line)).expect(line);
            let names: Vec<&str> = app.get_subcommands().map(Command::get_name).collect();
            assert_eq!(names, [matches.subcommand_name().expect(line), "help"], "{line}");
            assert_eq!(shown(&matches).expect(line), with_all_commands(line).expect(line), "{line}");
        }
    }

    #[test]
    fn other_lines_need_all_commands() {
        for line in [
            "-n get watch pods",
            "--context demo get pods",
            "wait pods --for --show_kind=F",
            "nothing",
            "--help",
            "help get",
            "get --help",
            "--version",
            "watch get -x",
            "-- get pods",
            "get pods --watch=maybe",
            "-n get wacth pods",
            "-n get",
            "index pods",
        ] {
            assert!(parse_with_one_command(&words(line)).is_none(), "{line}");
            let parsed =
                parse(words(line), "kdelta", false).map(|parsed| shown(&parsed.matches).expect(line));
            match (parsed, with_all_commands(line)) {
                (Ok(parsed), Ok(expected)) => assert_eq!(parsed, expected, "{line}"),
                (Err(error), Err(expected)) => {
                    assert_eq!(error.exit_code(), expected.exit_code(), "{line}");
                }
                (parsed, expected) => panic!("{line}: {parsed:?}, {expected:?}"),
            }
        }
    }

    proptest! {
        #[test]
        fn accepted_words_have_the_same_meaning_for_all_commands(
            before in prop::collection::vec(word(), 0..3),
            command in prop::sample::select(vec!["get", "watch", "wait", "tree", "api-resources"]),
            after in prop::collection::vec(word(), 0..5),
        ) {
            let line = [before, vec![command, "pods/x"], after].concat().join(" ");
            if let Some(Parsed { words: accepted, matches, .. }) = parse_with_one_command(&words(&line)) {
                prop_assert_eq!(accepted, accept_kubectl_spelling(words(&line), &Cli::command()));
                prop_assert_eq!(shown(&matches).ok(), with_all_commands(&line).ok());
            }
        }
    }

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
