//! The report of a command line that clap rejects, in the words of kubectl's flag library.

use std::error::Error as StdError;
use std::ffi::OsString;
use std::num::{ParseFloatError, ParseIntError};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command, CommandFactory};
use kdelta::object::go_quote;

use super::invocation::called;
use super::topics::TOPICS;
use crate::args::{Cli, Spelling, flag_names, spelling, takes_bool, unknown_shorthand};
use crate::suggest::nearest;

/// The messages about a rejected command line, and a suggestion.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Rejection {
    pub(super) messages: Vec<String>,
    pub(super) hint: Option<String>,
}

impl Rejection {
    /// Returns the report of an error. `words` is the command line, which starts with the program; `program` is the
    /// program as called.
    pub(super) fn of(error: &clap::Error, words: &[OsString], program: &str) -> Self {
        if let Some(word) = unknown_command(error) {
            return Self::of_unknown_command(word, program);
        }
        let called = called(words, program);
        if let (ErrorKind::UnknownArgument, Some(word)) = (error.kind(), text(error, ContextKind::InvalidArg))
            && !word.starts_with('-')
        {
            let messages = vec![
                format!("error: unexpected arguments: [{word}]"),
                format!("See '{called} -h' for help and examples"),
            ];
            return Self { messages, hint: None };
        }
        let line = CommandLine::new(words);
        let sentence = line.sentence(error).unwrap_or_else(|| first_paragraph(error));
        let mut messages: Vec<String> = format!("error: {sentence}").lines().map(str::to_owned).collect();
        messages.push(format!("See '{called} --help' for usage."));
        Self { messages, hint: suggestion(error) }
    }

    /// As in kubectl, commands with a similar name are part of the error.
    fn of_unknown_command(word: &str, program: &str) -> Self {
        let mut messages = vec![format!("error: unknown command {} for {program:?}", go_quote(word))];
        let similar = similar_commands(word);
        if !similar.is_empty() {
            messages.extend([String::new(), "Did you mean this?".to_owned()]);
            messages.extend(similar.iter().map(|name| format!("\t{name}")));
        }
        let topics = TOPICS.iter().map(|topic| ((*topic).to_owned(), vec![(*topic).to_owned()]));
        let topic = nearest(word, topics).into_iter().next();
        Self { messages, hint: topic.map(|topic| format!("there is a topic: '{program} help {topic}'")) }
    }
}

/// Returns the word that is no command.
pub(super) fn unknown_command(error: &clap::Error) -> Option<&str> {
    text(error, ContextKind::InvalidSubcommand).filter(|_| error.kind() == ErrorKind::InvalidSubcommand)
}

/// Returns the commands that start with the word or are nearly spelt like it.
fn similar_commands(word: &str) -> Vec<String> {
    let word = word.to_lowercase();
    let app = Cli::command();
    let names: Vec<&str> =
        app.get_subcommands().filter(|command| !command.is_hide_set()).map(Command::get_name).collect();
    let begun: Vec<String> =
        names.iter().filter(|name| name.starts_with(&word)).map(|name| (*name).to_owned()).collect();
    if begun.is_empty() {
        nearest(&word, names.iter().map(|name| ((*name).to_owned(), vec![(*name).to_owned()])))
    } else {
        begun
    }
}

/// The words and the flags that are defined for them.
struct CommandLine<'a> {
    words: &'a [OsString],
    command: Command,
}

impl<'a> CommandLine<'a> {
    fn new(words: &'a [OsString]) -> Self {
        let mut app = Cli::command();
        // Adds the global flags to each command.
        app.build();
        let found = words.iter().skip(1).find_map(|word| app.find_subcommand(word)).cloned();
        Self { words, command: found.unwrap_or(app) }
    }

    /// Returns the sentence of kubectl's flag library; `None` if it has none.
    fn sentence(&self, error: &clap::Error) -> Option<String> {
        match error.kind() {
            ErrorKind::UnknownArgument => Some(self.unknown_flag(text(error, ContextKind::InvalidArg)?)),
            ErrorKind::MissingRequiredArgument => self.missing(error),
            ErrorKind::InvalidValue | ErrorKind::ValueValidation => {
                let arg = self.argument(text(error, ContextKind::InvalidArg)?)?;
                let value = text(error, ContextKind::InvalidValue)?;
                let spelling = spelling(self.words, arg);
                match spelling {
                    Some(Spelling::Long(name)) if value.is_empty() => {
                        Some(format!("flag needs an argument: --{name}"))
                    }
                    Some(Spelling::Short(name)) if value.is_empty() => {
                        Some(format!("flag needs an argument: '{name}' in -{name}"))
                    }
                    _ => Some(invalid_value(arg, value, error)),
                }
            }
            _ => None,
        }
    }

    fn unknown_flag(&self, flag: &str) -> String {
        match flag.strip_prefix("--") {
            Some(name) if name.is_empty() || name.starts_with('-') => {
                let is_malformed = |word: &&str| word.starts_with("---") || word.starts_with("--=");
                let mut words = self.words.iter().filter_map(|word| word.to_str());
                format!("bad flag syntax: {}", words.find(is_malformed).unwrap_or(flag))
            }
            Some(name) => format!("unknown flag: --{name}"),
            None => {
                let name = flag.trim_start_matches('-');
                let rest = unknown_shorthand(self.words, &self.command);
                let rest = rest.filter(|rest| rest.starts_with(name)).unwrap_or_else(|| name.to_owned());
                format!("unknown shorthand flag: '{name}' in -{rest}")
            }
        }
    }

    /// Returns the sentence about required flags or arguments that are not given.
    fn missing(&self, error: &clap::Error) -> Option<String> {
        let Some(ContextValue::Strings(shown)) = error.get(ContextKind::InvalidArg) else { return None };
        let names: Option<Vec<String>> = shown
            .iter()
            .map(|shown| self.argument(shown)?.get_long().map(|long| format!("{long:?}")))
            .collect();
        names.map(|names| format!("required flag(s) {} not set", names.join(", ")))
    }

    /// Returns the argument that clap's context shows as this text.
    fn argument(&self, shown: &str) -> Option<&Arg> {
        self.command.get_arguments().find(|arg| arg.to_string() == shown)
    }
}

/// Returns the sentence about a value that a flag does not accept.
fn invalid_value(arg: &Arg, value: &str, error: &clap::Error) -> String {
    let value = go_quote(value);
    let reason = match (error.source(), error.get(ContextKind::ValidValue)) {
        _ if takes_bool(arg) => {
            format!("strconv.ParseBool: parsing {value}: invalid syntax")
        }
        (_, Some(ContextValue::Strings(valid))) if !valid.is_empty() => {
            format!("must be one of {}", valid.join(", "))
        }
        (Some(source), _) => plain(source),
        (None, _) => "it is not valid".to_owned(),
    };
    format!("invalid argument {value} for {:?} flag: {reason}", flag_names(arg))
}

/// Returns the text of a parser's error; plain text for those of Rust's number parsers.
fn plain(source: &(dyn StdError + 'static)) -> String {
    if source.is::<ParseIntError>() {
        "expected a whole number, such as 10".to_owned()
    } else if source.is::<ParseFloatError>() {
        "expected a number, such as 0.5".to_owned()
    } else {
        source.to_string()
    }
}

/// Returns a hint with clap's suggestion. clap also suggests names that only share some letters; these are left out.
fn suggestion(error: &clap::Error) -> Option<String> {
    if let Some(ContextValue::Strings(missing)) = error.get(ContextKind::InvalidArg) {
        return Some(format!("add {}", missing.join(" ")));
    }
    let is_near = |typed: &str, found: &str| {
        let is_prefix = found.starts_with(typed) || typed.starts_with(found);
        is_prefix || !nearest(typed, std::iter::once((found.to_owned(), vec![found.to_owned()]))).is_empty()
    };
    let found = match (text(error, ContextKind::SuggestedArg), text(error, ContextKind::InvalidArg)) {
        (Some(found), Some(typed)) => Some(found).filter(|found| is_near(typed, found)),
        _ => text(error, ContextKind::SuggestedValue),
    };
    found.map(|found| format!("did you mean {found}?"))
}

fn text(error: &clap::Error, kind: ContextKind) -> Option<&str> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text),
        _ => None,
    }
}

/// Returns clap's own message without the usage below it.
fn first_paragraph(error: &clap::Error) -> String {
    let text = error.to_string();
    let paragraph = text.split("\n\n").next().unwrap_or_default();
    paragraph.strip_prefix("error: ").unwrap_or(paragraph).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::parse;

    /// Returns the messages and the hint for a rejected line.
    fn rejected(line: &str) -> (String, Option<String>) {
        let words: Vec<OsString> = std::iter::once("x").chain(line.split(' ')).map(Into::into).collect();
        let error = parse(words.clone(), "kubectl delta", false).expect_err(line);
        let Rejection { messages, hint } = Rejection::of(&error, &words, "kubectl delta");
        (messages.join("\n"), hint)
    }

    #[test]
    fn malformed_flags_have_kubectls_text() {
        for (line, expected) in [
            ("get pods --prune=x", "unknown flag: --prune"),
            ("get pods -z", "unknown shorthand flag: 'z' in -z"),
            ("get pods -zA", "unknown shorthand flag: 'z' in -zA"),
            ("get pods -Az", "unknown shorthand flag: 'z' in -z"),
            ("get pods ---x=1", "bad flag syntax: ---x=1"),
            ("get pods --=x", "bad flag syntax: --=x"),
            ("get pods -o", "flag needs an argument: 'o' in -o"),
            ("get pods -Ao", "flag needs an argument: 'o' in -o"),
            ("get pods --selector", "flag needs an argument: --selector"),
            (
                "get pods --chunk-size=x",
                r#"invalid argument "x" for "--chunk-size" flag: strconv.ParseInt: parsing "x": invalid syntax"#,
            ),
            (
                "get pods --chunk-size=",
                r#"invalid argument "" for "--chunk-size" flag: strconv.ParseInt: parsing "": invalid syntax"#,
            ),
            (
                "get -A=maybe pods",
                r#"invalid argument "maybe" for "-A, --all-namespaces" flag: strconv.ParseBool: parsing "maybe": invalid syntax"#,
            ),
            ("get pods -A=", "unknown shorthand flag: '=' in -="),
            (
                "get pods --no-headers=",
                r#"invalid argument "" for "--no-headers" flag: strconv.ParseBool: parsing "": invalid syntax"#,
            ),
            (
                "get pods --allow-missing-template-keys=x",
                r#"invalid argument "x" for "--allow-missing-template-keys" flag: strconv.ParseBool: parsing "x": invalid syntax"#,
            ),
        ] {
            let expected = format!("error: {expected}\nSee 'kubectl delta get --help' for usage.");
            assert_eq!(rejected(line).0, expected, "{line}");
        }
    }

    #[test]
    fn own_flags_have_plain_reasons() {
        for (line, expected, hint) in [
            (
                "watch pods --count -1",
                r#"error: invalid argument "-1" for "--count" flag: expected a whole number, such as 10"#,
                None,
            ),
            (
                "get pods --speed x",
                r#"error: invalid argument "x" for "--speed" flag: expected a number, such as 0.5"#,
                None,
            ),
            (
                "get pods --color red",
                r#"error: invalid argument "red" for "--color" flag: must be one of auto, always, never"#,
                None,
            ),
            (
                "get pods --color=",
                r#"error: invalid argument "" for "--color" flag: must be one of auto"#,
                None,
            ),
            ("get pods --objects -5", r#"error: invalid argument "-5" for "--objects" flag: "#, None),
            (
                "watch pods --fields -type",
                r#"error: invalid argument "-type" for "--fields" flag: must be one of v, seq"#,
                Some("did you mean type?"),
            ),
            (
                "index pods",
                "error: required flag(s) \"by\" not set\nSee 'kubectl delta index --help' for usage.",
                Some("add --by <INDEX[=VALUE]>"),
            ),
            ("demo x", "error: unexpected arguments: [x]\nSee 'kubectl delta demo -h' for help", None),
        ] {
            let (message, suggested) = rejected(line);
            assert!(message.starts_with(expected), "{line}: {message}");
            assert_eq!(suggested.as_deref(), hint, "{line}");
        }
    }

    #[test]
    fn similar_flags_commands_and_topics_are_suggested() {
        assert_eq!(
            rejected("get pods --no-header"),
            (
                "error: unknown flag: --no-header\nSee 'kubectl delta get --help' for usage.".into(),
                Some("did you mean --no-headers?".into())
            )
        );
        assert_eq!(rejected("get pods --frobnicate x").1, None);
        for (line, names) in [
            ("event", "events"),
            ("EVENTS", "events"),
            ("wacth pods", "watch"),
            ("api-resource", "api-resources"),
        ] {
            let word = line.split(' ').next().expect("a word");
            let expected = format!(
                "error: unknown command {word:?} for \"kubectl delta\"\n\nDid you mean this?\n\t{names}"
            );
            assert_eq!(rejected(line), (expected, None), "{line}");
        }
        let (message, hint) = rejected("help exit-code");
        assert_eq!(message, "error: unknown command \"exit-code\" for \"kubectl delta\"");
        assert_eq!(hint.as_deref(), Some("there is a topic: 'kubectl delta help exit-codes'"));
        for line in ["frobnicate", "frob pods"] {
            let word = line.split(' ').next().expect("a word");
            let message = format!("error: unknown command {word:?} for \"kubectl delta\"");
            assert_eq!(rejected(line), (message, None), "{line}");
        }
    }
}
