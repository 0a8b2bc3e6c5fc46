//! Spellings that kubectl's flag library takes and clap does not, turned into those that clap takes.
//!
//! Done before clap sees the words, so that the help stays free of `[=<BOOL>]`.

use std::ffi::OsString;

use clap::{ArgAction, Command};

/// `--watch=true` becomes `--watch`, `--watch=false` nothing; `-v6` and `-v 6` become `-v=6`. Words after `--`, and all
/// that is not one of these forms, stay as they are.
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
                Some((flag, "true")) if is_switch(app, flag) => out.push(flag.into()),
                Some((flag, "false")) if is_switch(app, flag) => {}
                _ => out.push(word),
            }
        }
    }
    out
}

fn is_level(text: &str) -> bool {
    !text.is_empty() && text.len() <= 3 && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether `flag`, with its dashes, is a flag without a value in any command.
fn is_switch(app: &Command, flag: &str) -> bool {
    let is_it = |arg: &clap::Arg| {
        matches!(arg.get_action(), ArgAction::SetTrue)
            && match (flag.strip_prefix("--"), flag.strip_prefix('-')) {
                (Some(long), _) => arg.get_long() == Some(long),
                (None, Some(short)) => arg.get_short().is_some_and(|own| short == own.to_string()),
                (None, None) => false,
            }
    };
    app.get_arguments().any(is_it) || app.get_subcommands().any(|command| command.get_arguments().any(is_it))
}
