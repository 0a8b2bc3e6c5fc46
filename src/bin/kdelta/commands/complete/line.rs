//! Parser for a partially typed command line: its command, flags and words, and the role of its last word. No I/O.
//!
//! clap parses complete lines only. Its completion engine reports neither the other words of the line, which decide the
//! candidates, nor the difference between a flag's value and a command with the same name.

use clap::{Arg, ArgAction, Command};

/// A partially typed command line.
#[derive(Debug)]
pub(super) struct TypedLine<'a> {
    /// The command, if it is already typed.
    pub(super) command: Option<&'a Command>,
    /// The flags before the last word, in order; a switch has no value.
    pub(super) flags: Vec<(&'a Arg, Option<String>)>,
    /// The first word of a command whose first word is an action, such as `status` of `rollout`.
    pub(super) action: Option<String>,
    /// The words before the last that are neither the command, its action nor flags.
    pub(super) words: Vec<String>,
    pub(super) last: LastWord<'a>,
}

/// The role of the last word.
#[derive(Debug)]
pub(super) enum LastWord<'a> {
    /// A positional word.
    Word(String),
    /// The name of a flag, dashes included.
    Flag(String),
    /// The value of a flag. `head` is the text before the value in the same word: `--by=`, `-n` or nothing.
    Value { arg: &'a Arg, head: String, typed: String },
}

impl<'a> TypedLine<'a> {
    /// Parses the words after the program name. `app` must be built. The last word is the one being typed and may be
    /// empty.
    pub(super) fn read(app: &'a Command, words: &[String]) -> Self {
        let (last, before) = words.split_last().map_or(("", &[][..]), |(last, before)| (last, before));
        let mut line = Self {
            command: None,
            flags: Vec::new(),
            action: None,
            words: Vec::new(),
            last: LastWord::Word(String::new()),
        };
        // The flag that takes the next word, and whether `--` was seen.
        let (mut waiting, mut literal): (Option<&'a Arg>, bool) = (None, false);
        for word in before {
            if let Some(arg) = waiting.take() {
                line.flags.push((arg, Some(word.clone())));
            } else if literal || !is_flag(word) {
                match app.find_subcommand(word).filter(|_| !literal && line.command.is_none()) {
                    Some(command) => line.command = Some(command),
                    None => line.words.push(word.clone()),
                }
            } else if word == "--" {
                literal = true;
            } else {
                waiting = line.flag(app, word);
            }
        }
        if line.takes_action() && !line.words.is_empty() {
            line.action = Some(line.words.remove(0));
        }
        line.last = match waiting {
            Some(arg) => LastWord::Value { arg, head: String::new(), typed: last.to_owned() },
            None if literal || !last.starts_with('-') => LastWord::Word(last.to_owned()),
            None => line.last_word(app, last),
        };
        line
    }

    /// Whether the first word of the command is an action.
    pub(super) fn takes_action(&self) -> bool {
        let first = self.command.and_then(|command| command.get_positionals().next());
        first.is_some_and(|arg| arg.get_id() == "action")
    }

    pub(super) fn is_command(&self, name: &str) -> bool {
        self.command.is_some_and(|command| command.get_name() == name)
    }

    /// Returns the last value of a flag; empty for a switch.
    pub(super) fn flag_value(&self, id: &str) -> Option<&str> {
        let given = self.flags.iter().rev().find(|(arg, _)| arg.get_id() == id);
        given.map(|(_, value)| value.as_deref().unwrap_or_default())
    }

    /// Parses a word of flags. Returns the flag whose value is the next word.
    fn flag(&mut self, app: &'a Command, word: &str) -> Option<&'a Arg> {
        for (arg, _, value) in self.flags_in(app, word) {
            match value {
                None if takes_next(arg) => return Some(arg),
                value => self.flags.push((arg, value)),
            }
        }
        None
    }

    /// Classifies a last word that starts with a dash.
    fn last_word(&self, app: &'a Command, word: &str) -> LastWord<'a> {
        match self.flags_in(app, word).pop() {
            Some((arg, head, Some(typed))) => LastWord::Value { arg, head, typed },
            _ => LastWord::Flag(word.to_owned()),
        }
    }

    /// Returns the flags in a word `--name`, `--name=value` or `-xyvalue`, each with the text before its value and with
    /// its value, if any. Unknown flags are skipped.
    fn flags_in(&self, app: &'a Command, word: &str) -> Vec<(&'a Arg, String, Option<String>)> {
        let args = || self.command.unwrap_or(app).get_arguments();
        if let Some(name) = word.strip_prefix("--") {
            let (name, value) =
                name.split_once('=').map_or((name, None), |(name, value)| (name, Some(value)));
            let named =
                |arg: &&Arg| arg.get_long_and_visible_aliases().is_some_and(|names| names.contains(&name));
            let found = args().find(named).map(|arg| (arg, format!("--{name}="), value.map(str::to_owned)));
            return found.into_iter().collect();
        }
        let mut found = Vec::new();
        for (at, short) in word.char_indices().skip(1) {
            let Some(arg) = args().find(|arg| arg.get_short() == Some(short)) else { break };
            let (head, value) = word.split_at(at + short.len_utf8());
            if is_switch(arg) {
                found.push((arg, head.to_owned(), None));
                continue;
            }
            let (sign, value) = value.strip_prefix('=').map_or(("", value), |value| ("=", value));
            let value = Some(value).filter(|value| !value.is_empty() || !sign.is_empty());
            found.push((arg, format!("{head}{sign}"), value.map(str::to_owned)));
            break;
        }
        found
    }
}

/// Whether the word holds flags; a lone dash is an ordinary word.
fn is_flag(word: &str) -> bool {
    word.starts_with('-') && word.len() > 1
}

fn is_switch(arg: &Arg) -> bool {
    !matches!(arg.get_action(), ArgAction::Set | ArgAction::Append)
}

/// Whether the flag takes the next word if its own word has no value.
fn takes_next(arg: &Arg) -> bool {
    !is_switch(arg) && !arg.is_require_equals_set()
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::args::Cli;

    /// Returns the command, the flags, the words, and the last word with its role.
    fn read(words: &str) -> (String, String, String, String) {
        let mut app = Cli::command();
        app.build();
        let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
        let line = TypedLine::read(&app, &words);
        let flags = line.flags.iter().map(|(arg, value)| match value {
            Some(value) => format!("{}={value}", arg.get_id()),
            None => arg.get_id().to_string(),
        });
        let last = match &line.last {
            LastWord::Word(typed) => format!("word {typed}"),
            LastWord::Flag(typed) => format!("flag {typed}"),
            LastWord::Value { arg, head, typed } => format!("{} {head}|{typed}", arg.get_id()),
        };
        let command = line.command.map(Command::get_name).unwrap_or_default();
        (command.to_owned(), flags.collect::<Vec<_>>().join(" "), line.words.join(" "), last)
    }

    #[test]
    fn last_word_is_classified_as_clap_would() {
        for (line, command, flags, words, last) in [
            ("", "", "", "", "word "),
            ("ge", "", "", "", "word ge"),
            ("get po", "get", "", "", "word po"),
            ("get pods ", "get", "", "pods", "word "),
            ("get pods -", "get", "", "pods", "flag -"),
            ("get --con", "get", "", "", "flag --con"),
            ("get --context ", "get", "", "", "context |"),
            ("get --context=pr", "get", "", "", "context --context=|pr"),
            ("get -n sh", "get", "", "", "namespace |sh"),
            ("get -nsh", "get", "", "", "namespace -n|sh"),
            ("get -n=sh", "get", "", "", "namespace -n=|sh"),
            ("get -n", "get", "", "", "flag -n"),
            ("get -Awn sh", "get", "all_namespaces watch", "", "namespace |sh"),
            ("get --by label:app=x po/", "get", "by=label:app=x", "", "word po/"),
            ("-n watch get pods ", "get", "namespace=watch", "pods", "word "),
            ("get watch ", "get", "", "watch", "word "),
            ("get -- -n ", "get", "", "-n", "word "),
            ("get --no-such -x po", "get", "", "", "word po"),
            ("get -v po", "get", "verbose", "", "word po"),
            ("api-resources --namespaced po", "api-resources", "namespaced", "", "word po"),
        ] {
            let (a, b, c, d) = read(line);
            assert_eq!((&*a, &*b, &*c, &*d), (command, flags, words, last), "{line:?}");
        }
    }
}
