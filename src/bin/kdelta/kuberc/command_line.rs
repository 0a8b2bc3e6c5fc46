//! The command and the flags of a command line that is not parsed yet, found by the rules of kubectl's libraries.

use std::ffi::OsString;

use clap::{Arg, ArgAction, Command};
use kdelta::object::go_quote;

/// A command of kdelta that has nothing to do with kubectl's of that name, which creates a pod.
const UNRELATED: &str = "run";

/// The word that requests a completion.
const COMPLETE: &str = "__complete";

/// The action of `rollout`.
pub(super) const STATUS: &str = "status";

/// The spellings of true and false in Go's flag library.
const TRUE: [&str; 6] = ["1", "t", "T", "true", "TRUE", "True"];
const FALSE: [&str; 6] = ["0", "f", "F", "false", "FALSE", "False"];

/// A command line, which starts with the program.
pub(super) struct CommandLine<'a> {
    pub(super) app: &'a Command,
    is_kubectls: &'a dyn Fn(&str) -> bool,
    words: Vec<OsString>,
    /// The words as text.
    texts: Vec<String>,
}

/// The command that words select.
#[derive(Debug, Clone, Copy)]
pub(super) enum Selected<'a> {
    /// No command.
    Program,
    /// A command and the position of its word.
    Own(&'a Command, usize),
    /// A command of kubectl only.
    Kubectls,
    /// No known command.
    Unknown,
}

/// Whether the first word of a command is an action.
pub(super) fn has_action(command: &Command) -> bool {
    command.get_positionals().next().is_some_and(|arg| arg.get_id() == "action")
}

/// Returns the first word that is no flag.
fn action(words: &[String]) -> Option<&str> {
    words.iter().map(String::as_str).find(|word| !word.starts_with('-'))
}

impl<'a> CommandLine<'a> {
    /// Creates a line. `texts` are the words as text.
    pub(super) fn new(
        words: Vec<OsString>,
        texts: Vec<String>,
        app: &'a Command,
        is_kubectls: &'a dyn Fn(&str) -> bool,
    ) -> Self {
        Self { app, is_kubectls, words, texts }
    }

    /// Returns the words as text.
    pub(super) fn texts(&self) -> &[String] {
        &self.texts
    }

    pub(super) fn into_words(self) -> Vec<OsString> {
        self.words
    }

    /// Returns the command that the line selects.
    pub(super) fn selected(&self) -> Selected<'a> {
        let selected = self.command_of(&self.texts[1..]);
        match selected {
            Selected::Own(command, at) => Selected::Own(command, at + 1),
            other => other,
        }
    }

    /// Returns the command that words without the program select, with its position in them.
    pub(super) fn command_of(&self, words: &[String]) -> Selected<'a> {
        let Some(at) = first_argument(self.app, words) else { return Selected::Program };
        match self.app.find_subcommand(&words[at]) {
            // Entries for the other actions are kubectl's.
            Some(command) if has_action(command) && action(&words[at + 1..]) != Some(STATUS) => {
                Selected::Kubectls
            }
            Some(command) if words[at] != UNRELATED => Selected::Own(command, at),
            _ if words[at] == "help" || (self.is_kubectls)(&words[at]) => Selected::Kubectls,
            _ => Selected::Unknown,
        }
    }

    /// Returns the first word that is no flag, which may be an alias. As in kubectl, the value of a flag is one.
    pub(super) fn alias_word(&self) -> Option<(usize, &str)> {
        let words = self.texts.iter().enumerate().skip(1);
        let mut words = words.filter(|(_, word)| !word.starts_with('-') && !word.starts_with(COMPLETE));
        words.next().map(|(at, word)| (at, word.as_str()))
    }

    /// Replaces the words from `from` to `to`.
    pub(super) fn replace(&mut self, from: usize, to: usize, words: &[String]) {
        self.words.splice(from..to, words.iter().map(OsString::from));
        self.texts.splice(from..to, words.iter().cloned());
    }

    /// Adds words to the end.
    pub(super) fn append(&mut self, words: &[String]) {
        self.replace(self.words.len(), self.words.len(), words);
    }

    /// Returns the word that sets the flag of a command to its default; `None` if the words have the flag.
    ///
    /// # Errors
    /// The command has no such flag, or the flag does not accept the value.
    pub(super) fn default_word(
        &self,
        command: &Command,
        name: &str,
        value: &str,
        words: &[String],
    ) -> Result<Option<String>, FlagError> {
        let name = name.replace('_', "-");
        let is_named = |arg: &&Arg| arg.get_long() == Some(name.as_str());
        let flag = command.get_arguments().find(is_named).or_else(|| self.app.get_arguments().find(is_named));
        let flag = flag.ok_or(FlagError::Unknown)?;
        if is_given(&name, flag.get_short(), words) {
            return Ok(None);
        }
        let is_switch = matches!(flag.get_action(), ArgAction::SetTrue);
        if !is_switch && flag.get_value_parser().type_id() != clap::builder::ValueParser::bool().type_id() {
            return Ok(Some(format!("--{name}={value}")));
        }
        let invalid = || {
            let short = flag.get_short().map(|short| format!("-{short}, ")).unwrap_or_default();
            let value = go_quote(value);
            FlagError::Value(format!(
                "invalid argument {value} for \"{short}--{name}\" flag: strconv.ParseBool: parsing {value}: invalid syntax"
            ))
        };
        match (TRUE.contains(&value), FALSE.contains(&value)) {
            (false, false) => Err(invalid()),
            (true, _) => Ok(Some(format!("--{name}=true"))),
            (false, true) => Ok(Some(format!("--{name}=false"))),
        }
    }
}

/// Why a flag can't get a default.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum FlagError {
    /// The command does not have it.
    Unknown,
    /// It does not accept the value, for this reason.
    Value(String),
}

/// Returns the position of the first word that is neither a flag nor the value of one. Flags that are not global, such
/// as those of commands, are assumed to take a value. As in kubectl, no word is found after a value at the end.
fn first_argument(app: &Command, words: &[String]) -> Option<usize> {
    let takes_no_value =
        |arg: &Arg| matches!(arg.get_action(), ArgAction::SetTrue) || arg.is_require_equals_set();
    let is_switch =
        |is_it: &dyn Fn(&Arg) -> bool| app.get_arguments().any(|arg| is_it(arg) && takes_no_value(arg));
    let mut at = 0;
    while let Some(word) = words.get(at) {
        let takes_next = match word.strip_prefix("--") {
            Some("") => return None,
            _ if word.contains('=') => false,
            Some(long) => !is_switch(&|arg| arg.get_long() == Some(long)),
            None if word.starts_with('-') && word.len() == 2 => {
                !is_switch(&|arg| arg.get_short().is_some_and(|short| word.ends_with(short)))
            }
            None => false,
        };
        match takes_next {
            true if words.len() - at <= 2 => return None,
            true => at += 2,
            false if !word.is_empty() && !word.starts_with('-') => return Some(at),
            false => at += 1,
        }
    }
    None
}

/// Whether words have a flag, by kubectl's rule: a word of letters such as `-nshop` has every flag whose letter is in it.
fn is_given(long: &str, short: Option<char>, words: &[String]) -> bool {
    words.iter().any(|word| {
        let value = word.strip_prefix("--").and_then(|word| word.strip_prefix(long));
        if value.is_some_and(|value| value.is_empty() || value.starts_with('=')) {
            return true;
        }
        let (Some(short), Some(letters)) = (short, word.strip_prefix('-')) else { return false };
        letters.starts_with(short)
            || (letters.bytes().all(|byte| byte.is_ascii_alphabetic()) && letters.contains(short))
    })
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::args::Cli;

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn first_argument_is_found_past_flags() {
        let app = Cli::command();
        for (line, found) in [
            ("get pods", Some("get")),
            ("-n shop get pods", Some("get")),
            ("--namespace shop get", Some("get")),
            ("--namespace=shop get", Some("get")),
            ("-nshop get", Some("get")),
            ("--disable-compression get x", Some("get")),
            ("-v=6 get", Some("get")),
            ("-o wide get", Some("get")),
            ("--help", None),
            ("--help get", None),
            ("-n get", None),
            ("-- get", None),
        ] {
            let words = words(line);
            let word = first_argument(&app, &words).map(|at| words[at].as_str());
            assert_eq!(word, found, "{line}");
        }
    }

    #[test]
    fn given_flags_are_found_as_in_kubectl() {
        for (line, is_found) in [
            ("get -o wide", true),
            ("get -owide", true),
            ("get -Ao wide", true),
            ("get --output=x", true),
            ("get --output x", true),
            ("get -nshop", true),
            ("get -nshop1", false),
            ("get --outputs=x", false),
            ("get o", false),
            ("get -A", false),
        ] {
            assert_eq!(is_given("output", Some('o'), &words(line)), is_found, "{line}");
        }
        assert!(!is_given("kubeconfig", None, &words("get -kubeconfig")));
    }
}
