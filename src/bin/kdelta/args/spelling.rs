//! Rewriting of spellings that kubectl's flag library accepts into those that clap accepts.
//!
//! Done before clap parses the words, so that the help stays free of `[=<BOOL>]`.

use std::ffi::OsString;

use clap::{Arg, ArgAction, Command};

/// The spellings of true and false in Go's flag library.
const TRUE: [&str; 6] = ["1", "t", "T", "true", "TRUE", "True"];
const FALSE: [&str; 6] = ["0", "f", "F", "false", "FALSE", "False"];

/// Rewrites `--watch=true` to `--watch`, drops `--watch=false`, and rewrites `-v6` and `-v 6` to `-v=6`. All other
/// words, and words after `--`, are unchanged.
pub(crate) fn accept_kubectl_spelling(words: Vec<OsString>, app: &Command) -> Vec<OsString> {
    let mut out = Vec::with_capacity(words.len());
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
        } else {
            match text.rsplit_once('=') {
                Some((flag, value)) if TRUE.contains(&value) && is_switch(app, flag) => out.push(flag.into()),
                Some((flag, value)) if FALSE.contains(&value) && is_switch(app, flag) => {}
                _ => out.push(word),
            }
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
    let named = off.filter_map(|(flag, _)| all().find(|arg| is_named(arg, flag)));
    named.filter_map(|arg| arg.get_long().map(str::to_owned)).collect()
}

fn is_level(text: &str) -> bool {
    !text.is_empty() && text.len() <= 3 && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns kubectl's error for the first word that gives a switch a value that is neither true nor false. The words are
/// already rewritten for clap. Flags of other commands are not checked.
pub(crate) fn wrong_switch(words: &[OsString], app: &Command) -> Option<String> {
    let command = words.iter().skip(1).find_map(|word| app.find_subcommand(word));
    let words = words.iter().map_while(|word| word.to_str().filter(|text| *text != "--"));
    words.filter(|word| word.starts_with('-')).find_map(|word| {
        let (flag, value) = word.split_once('=')?;
        let mut arguments = app.get_arguments().chain(command.into_iter().flat_map(Command::get_arguments));
        let switch = arguments.find(|arg| is_named(arg, flag))?;
        let short = switch.get_short().map(|short| format!("-{short}"));
        let long = switch.get_long().map(|long| format!("--{long}"));
        let names: Vec<String> = short.into_iter().chain(long).collect();
        let names = names.join(", ");
        Some(format!(
            "invalid argument {value:?} for {names:?} flag: strconv.ParseBool: parsing {value:?}: invalid syntax"
        ))
    })
}

/// Whether `flag`, with its dashes, is a switch of any command.
fn is_switch(app: &Command, flag: &str) -> bool {
    let is_it = |arg: &Arg| is_named(arg, flag);
    app.get_arguments().any(is_it) || app.get_subcommands().any(|command| command.get_arguments().any(is_it))
}

/// Whether `flag` names this argument, which takes no value.
fn is_named(arg: &Arg, flag: &str) -> bool {
    matches!(arg.get_action(), ArgAction::SetTrue)
        && match (flag.strip_prefix("--"), flag.strip_prefix('-')) {
            (Some(long), _) => arg.get_long() == Some(long),
            (None, Some(short)) => arg.get_short().is_some_and(|own| short == own.to_string()),
            (None, None) => false,
        }
}
