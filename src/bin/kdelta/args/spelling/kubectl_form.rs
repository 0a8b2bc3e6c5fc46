//! Rewriting of spellings that kubectl's flag library accepts into those that clap accepts.
//!
//! Done before clap parses the words, so that the help stays free of `[=<BOOL>]`.

use std::any::TypeId;
use std::cell::Cell;
use std::ffi::OsString;

use clap::{Arg, ArgAction, Command};
use kdelta::object::go_quote;

use super::flag_words::flag_names;

/// The spellings of true and false in Go's flag library.
const TRUE: [&str; 6] = ["1", "t", "T", "true", "TRUE", "True"];
const FALSE: [&str; 6] = ["0", "f", "F", "false", "FALSE", "False"];

/// Rewrites `--watch=true` to `--watch`, drops `--watch=false` and each `--watch` before it, and rewrites
/// `--namespaced=T` to `--namespaced=true`, `-v6` and `-v 6` to `-v=6`, and `--show_labels` to `--show-labels`. All other
/// words, and words after `--`, are unchanged.
pub(crate) fn accept_kubectl_spelling(words: Vec<OsString>, app: &Command) -> Vec<OsString> {
    let command = command_of(&words, app);
    rewrite(words, Flags { app, command, lacks_flag: &Cell::new(false) })
}

/// As [`accept_kubectl_spelling`] with a definition that has only the command of the words. Returns `None` if the result
/// depends on a flag that only another command can have: the words are then rewritten with the definition of all.
pub(crate) fn accept_spelling_of_command(words: Vec<OsString>, app: &Command) -> Option<Vec<OsString>> {
    let command = command_of(&words, app);
    let lacks_flag = Cell::new(false);
    let words = rewrite(words, Flags { app, command, lacks_flag: &lacks_flag });
    (!lacks_flag.get()).then_some(words)
}

fn rewrite(words: Vec<OsString>, flags: Flags<'_>) -> Vec<OsString> {
    let mut out: Vec<OsString> = Vec::with_capacity(words.len());
    let mut words = words.into_iter().peekable();
    while let Some(word) = words.next() {
        let Some(text) = word.to_str() else {
            out.push(word);
            continue;
        };
        if text == "--" {
            out.push(word);
            out.extend(words);
            return out;
        }
        if matches!(text, "-v" | "--v" | "--verbose")
            && let Some(level) = words.next_if(|next| next.to_str().is_some_and(is_level))
        {
            out.push(format!("-v={}", level.display()).into());
        } else if let Some(level) = text.strip_prefix("-v").filter(|level| is_level(level)) {
            out.push(format!("-v={level}").into());
        } else if text.starts_with('-') {
            let text = with_dashes(text, flags);
            let (switches, text) = before_value(&text, flags);
            out.extend(switches.map(OsString::from));
            if let Some(switch) = turned_off(&text, flags) {
                remove_switch(&mut out, switch, flags);
            } else {
                out.push(with_plain_value(&text, flags).into());
            }
        } else {
            out.push(word);
        }
    }
    out
}

/// Returns a boolean in one of the spellings of Go's flag library.
pub(crate) fn parse_bool(text: &str) -> Option<bool> {
    match () {
        () if TRUE.contains(&text) => Some(true),
        () if FALSE.contains(&text) => Some(false),
        () => None,
    }
}

/// Returns the long names of the switches that the words set to false, such as `--watch=false`. The words are as typed.
pub(crate) fn switched_off(words: &[OsString], app: &Command) -> Vec<String> {
    let words = words.iter().map_while(|word| word.to_str().filter(|text| *text != "--"));
    let off = words.filter_map(|word| word.split_once('=')).filter(|(_, value)| FALSE.contains(value));
    let all = || app.get_arguments().chain(app.get_subcommands().flat_map(Command::get_arguments));
    let named = off.filter_map(|(flag, _)| all().find(|arg| is_switch(arg) && is_named(arg, flag)));
    named.filter_map(|arg| arg.get_long().map(str::to_owned)).collect()
}

/// Replaces the underscores in the name of a flag that exists with dashes.
fn with_dashes(text: &str, flags: Flags<'_>) -> String {
    let (name, value) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
    let dashed = name.replace('_', "-");
    match value {
        _ if dashed == name || flags.flag(&dashed).is_none() => text.to_owned(),
        Some(value) => format!("{dashed}={value}"),
        None => dashed,
    }
}

/// Splits the switches of `-wA=x` before the one with a value: `-w` and `-A=x`.
fn before_value(text: &str, flags: Flags<'_>) -> (Option<String>, String) {
    let is_switch = |letter: char| flags.flag(&format!("-{letter}")).is_some_and(is_switch);
    let whole = || (None, text.to_owned());
    let Some((cluster, value)) = text.strip_prefix('-').and_then(|text| text.split_once('=')) else {
        return whole();
    };
    let mut letters = cluster.chars();
    match letters.next_back() {
        Some(last) if !letters.as_str().is_empty() && cluster.chars().all(is_switch) => {
            (Some(format!("-{}", letters.as_str())), format!("-{last}={value}"))
        }
        _ => whole(),
    }
}

/// Returns the switch that the word turns off.
fn turned_off<'a>(text: &str, flags: Flags<'a>) -> Option<&'a Arg> {
    let (name, value) = text.rsplit_once('=')?;
    flags.flag(name).filter(|arg| FALSE.contains(&value) && is_switch(arg))
}

/// Removes the words and letters that turn a switch on.
fn remove_switch(words: &mut Vec<OsString>, switch: &Arg, flags: Flags<'_>) {
    let mut is_value = false;
    words.retain_mut(|word| {
        let text = word.to_str().unwrap_or_default();
        if std::mem::replace(&mut is_value, false) {
            return true;
        }
        if is_named(switch, text) {
            return false;
        }
        is_value = flags.flag(text).is_some_and(takes_next_word);
        match without_letter(text, switch, flags) {
            Some(rest) if rest == "-" => return false,
            Some(rest) => *word = rest.into(),
            None => {}
        }
        true
    });
}

/// Returns `-wA` without the letter of the switch; `None` if the word does not have it.
fn without_letter(text: &str, switch: &Arg, flags: Flags<'_>) -> Option<String> {
    let letters = text.strip_prefix('-').filter(|letters| letters.len() > 1)?;
    let own = switch.get_short().filter(|own| letters.contains(*own))?;
    let are_switches = letters.chars().all(|letter| flags.flag(&format!("-{letter}")).is_some_and(is_switch));
    are_switches.then(|| format!("-{}", letters.replace(own, "")))
}

/// Whether the word after the flag is its value.
fn takes_next_word(arg: &Arg) -> bool {
    arg.get_action().takes_values() && !arg.is_require_equals_set()
}

/// Rewrites a value that is true or false in Go for clap.
fn with_plain_value(text: &str, flags: Flags<'_>) -> String {
    let Some((name, value)) = text.rsplit_once('=') else { return text.to_owned() };
    let is_true = TRUE.contains(&value);
    match flags.flag(name) {
        Some(arg) if is_true && is_switch(arg) => name.to_owned(),
        Some(arg) if (is_true || FALSE.contains(&value)) && takes_bool(arg) => format!("{name}={is_true}"),
        _ => text.to_owned(),
    }
}

fn is_level(text: &str) -> bool {
    !text.is_empty() && text.len() <= 3 && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns kubectl's error for the first word that gives a switch a value that is neither true nor false. The words are
/// already rewritten for clap. Flags of other commands are not checked.
pub(crate) fn wrong_switch(words: &[OsString], app: &Command) -> Option<String> {
    let command = command_of(words, app);
    let words = words.iter().map_while(|word| word.to_str().filter(|text| *text != "--"));
    words.filter(|word| word.starts_with('-')).find_map(|word| {
        let (flag, value) = word.split_once('=')?;
        let mut arguments = app.get_arguments().chain(command.into_iter().flat_map(Command::get_arguments));
        let switch = arguments.find(|arg| is_switch(arg) && is_named(arg, flag))?;
        if value.is_empty() && !flag.starts_with("--") {
            return Some("unknown shorthand flag: '=' in -=".to_owned());
        }
        Some(format!(
            "invalid argument {0} for {1:?} flag: strconv.ParseBool: parsing {0}: invalid syntax",
            go_quote(value),
            flag_names(switch)
        ))
    })
}

/// The flags of a command line.
#[derive(Clone, Copy)]
struct Flags<'a> {
    app: &'a Command,
    /// The command that the words select.
    command: Option<&'a Command>,
    /// Set once a flag is looked up that the definition lacks.
    lacks_flag: &'a Cell<bool>,
}

impl<'a> Flags<'a> {
    /// Returns the flag that has this name, with its dashes: that of the selected command or, if it has none, of any.
    fn flag(self, name: &str) -> Option<&'a Arg> {
        let is_it = |arg: &&Arg| is_named(arg, name);
        let selected = self.command.and_then(|command| command.get_arguments().find(is_it));
        let global = || self.app.get_arguments().find(is_it);
        let other = || self.app.get_subcommands().find_map(|command| command.get_arguments().find(is_it));
        let found = selected.or_else(global).or_else(other);
        if found.is_none() && is_name(name) {
            self.lacks_flag.set(true);
        }
        found
    }
}

/// Whether the text can be the name of a flag, with its dashes.
fn is_name(text: &str) -> bool {
    match (text.strip_prefix("--"), text.strip_prefix('-')) {
        (Some(long), _) => !long.is_empty() && !long.contains('='),
        (None, Some(short)) => short.chars().count() == 1,
        (None, None) => false,
    }
}

/// Returns the command that the words select.
fn command_of<'a>(words: &[OsString], app: &'a Command) -> Option<&'a Command> {
    words.iter().skip(1).find_map(|word| app.find_subcommand(word))
}

/// Whether the argument takes no value.
fn is_switch(arg: &Arg) -> bool {
    matches!(arg.get_action(), ArgAction::SetTrue)
}

/// Whether the value of the argument is true or false.
pub(crate) fn takes_bool(arg: &Arg) -> bool {
    !is_switch(arg) && arg.get_value_parser().type_id() == TypeId::of::<bool>()
}

/// Whether `name`, with its dashes, names this argument.
fn is_named(arg: &Arg, name: &str) -> bool {
    match (name.strip_prefix("--"), name.strip_prefix('-')) {
        (Some(long), _) => arg.get_long() == Some(long),
        (None, Some(short)) => arg.get_short().is_some_and(|own| short == own.to_string()),
        (None, None) => false,
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::args::Cli;

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn kubectls_spellings_are_rewritten() {
        for (line, rewritten) in [
            ("get --watch=T -A=0", "get --watch"),
            ("get --watch -wA pods -w --watch=false", "get -A pods"),
            ("get --watch=false --watch", "get --watch"),
            ("get -n -w -w=F", "get -n -w"),
            ("get -l --watch -o -A --watch=false", "get -l --watch -o -A"),
            ("get -wA=true", "get -w -A"),
            ("get -wA=x", "get -w -A=x"),
            ("get -n=x", "get -n=x"),
            ("get --show_labels --all_namespaces=x", "get --show-labels --all-namespaces=x"),
            ("get --no_such -o=a_b", "get --no_such -o=a_b"),
            ("api-resources --namespaced=F", "api-resources --namespaced=false"),
            ("get --allow-missing-template-keys=1", "get --allow-missing-template-keys=true"),
            ("get -v6 a_b -- --watch=true", "get -v=6 a_b -- --watch=true"),
        ] {
            assert_eq!(accept_kubectl_spelling(words(line), &Cli::command()), words(rewritten), "{line}");
        }
    }

    #[test]
    fn one_command_suffices_unless_another_may_have_a_flag() {
        let whole = Cli::command();
        for (line, suffices) in [
            ("get pods -lapp=web --selector=a=b_c -ojsonpath={.a_b} --field-selector x=y", true),
            ("get --watch -wA pods --show_labels -w --watch=false", true),
            ("get pods --where -5 -- --dry_run=true", true),
            ("-n get get -A=F -v6", true),
            ("wait pods --for --show_kind=F", false),
            ("wait pods --for -A=F --show-kind", true),
            ("wait pods --for -q=F", false),
            ("wait pods --for=delete --show_kind", false),
            ("version --client=true --watch=T", false),
        ] {
            let command = line.split(' ').find_map(Cli::command_with_only).expect(line);
            let accepted = accept_spelling_of_command(words(line), &command);
            let expected = suffices.then(|| accept_kubectl_spelling(words(line), &whole));
            assert_eq!(accepted, expected, "{line}");
        }
    }
}
