//! How the program was called: under which name, and whether to complete a line instead of doing what it says.

use std::ffi::OsString;
use std::path::Path;

use clap::builder::StyledStr;
use clap::{Command, CommandFactory};

use crate::args::Cli;

/// The word that asks for a completion, as in every program made with Cobra.
const COMPLETE: &str = "__complete";

/// kubectl completes the line of a plugin `X` by calling `kubectl_complete-X`.
const COMPLETES_A_PLUGIN: &str = "kubectl_complete-";

/// `kubectl delta` where kubectl called us as its plugin, which shows in the name of the file; else `kdelta`.
pub(super) fn program_name(first: Option<&OsString>) -> String {
    match file_name(first).and_then(|file| file.strip_prefix("kubectl-")) {
        Some(plugin) if !plugin.is_empty() => format!("kubectl {}", plugin.replace('_', "-")),
        _ => "kdelta".to_owned(),
    }
}

/// The words to complete, the last of them as far as it is typed; nothing where something is to be done.
pub(super) fn to_complete(words: &[OsString]) -> Option<&[OsString]> {
    let (first, rest) = words.split_first()?;
    if file_name(Some(first)).is_some_and(|file| file.starts_with(COMPLETES_A_PLUGIN)) {
        return Some(rest);
    }
    rest.split_first().filter(|(word, _)| *word == COMPLETE).map(|(_, line)| line)
}

/// Program and command, as far as words that can't be parsed have one.
pub(super) fn called(words: &[OsString], program: &str) -> String {
    let app = Cli::command();
    let command = words.iter().skip(1).find_map(|word| app.find_subcommand(word));
    command.map_or_else(|| program.to_owned(), |command| format!("{program} {}", command.get_name()))
}

/// The same with the examples and topics of its help as they are typed where the program is called so. Those of
/// `completions` stay: the scripts are for `kdelta`, whatever prints them.
pub(super) fn shown_as(app: Command, program: &str) -> Command {
    if program == "kdelta" {
        return app;
    }
    let named = |text: &StyledStr| called_as(&text.to_string(), program);
    let renamed = |mut command: Command| {
        if let Some(text) = command.get_before_help().map(named) {
            command = command.before_help(text);
        }
        if let Some(text) = command.get_after_help().map(named) {
            command = command.after_help(text);
        }
        command
    };
    renamed(app).mut_subcommands(
        |command| if command.get_name() == "completions" { command } else { renamed(command) },
    )
}

/// Lines of what can be typed, with what it does in a column behind, which stays one.
fn called_as(text: &str, program: &str) -> String {
    const KDELTA: &str = "  kdelta ";
    let lines = text.lines().filter(|line| line.starts_with(KDELTA));
    let mut columns = lines.filter_map(|line| Some(line.rfind("  ")? + 2));
    let column = columns.find(|column| *column > KDELTA.len()).unwrap_or(usize::MAX);
    let wider = " ".repeat(program.len().saturating_sub("kdelta".len()));
    let line = |line: &str| match (line.strip_prefix(KDELTA), line.split_at_checked(column)) {
        (Some(rest), _) => format!("  {program} {rest}\n"),
        (None, Some((typed, does))) if typed.ends_with(' ') => format!("{typed}{wider}{does}\n"),
        (None, _) => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

fn file_name(path: Option<&OsString>) -> Option<&str> {
    Path::new(path?).file_stem()?.to_str()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &[&str]) -> Vec<OsString> {
        line.iter().map(OsString::from).collect()
    }

    #[test]
    fn a_plugin_is_called_by_the_words_that_call_it() {
        for (file, name) in [
            ("/usr/bin/kdelta", "kdelta"),
            ("kubectl-delta", "kubectl delta"),
            ("/x/kubectl-delta_watch.exe", "kubectl delta-watch"),
            ("kubectl-", "kdelta"),
            ("", "kdelta"),
        ] {
            assert_eq!(program_name(Some(&file.into())), name, "{file}");
        }
        assert_eq!(program_name(None), "kdelta");
    }

    #[test]
    fn what_can_be_typed_is_shown_as_it_is_called_and_its_column_stays_one() {
        let text = "Examples:\n  kdelta demo --port 1   a kdelta of\n  kubectl -s x get po    one's own\n  kdelta demo\n";
        let shown = "Examples:\n  kubectl delta demo --port 1   a kdelta of\n  kubectl -s x get po           one's own\n  kubectl delta demo\n";
        assert_eq!(called_as(text, "kubectl delta"), shown);
        assert_eq!(called_as("  kdelta demo\n  kubectl get po\n", "k d"), "  k d demo\n  kubectl get po\n");
        assert_eq!(called_as("", "kubectl delta"), "");
    }

    #[test]
    fn a_completion_is_asked_for_by_a_word_or_by_the_name_of_the_file() {
        for (line, asked) in [
            (&["kdelta", "__complete", "get", ""][..], Some(&["get", ""][..])),
            (&["kdelta", "__complete"], Some(&[])),
            (&["/x/kubectl_complete-delta", "get", "po"], Some(&["get", "po"])),
            (&["kubectl_complete-delta", "__complete", ""], Some(&["__complete", ""])),
            (&["kdelta", "get", "__complete"], None),
            (&["kubectl-delta", "get"], None),
            (&["kdelta"], None),
            (&[], None),
        ] {
            let line = words(line);
            assert_eq!(to_complete(&line), asked.map(words).as_deref(), "{line:?}");
        }
    }
}
