//! The name by which the program was called, and the detection of completion requests.

use std::ffi::OsString;
use std::path::Path;

use clap::builder::StyledStr;
use clap::{Command, Subcommand};

use crate::args;
use crate::settings::RECORDING_TOOLS;

/// The hidden command by which shells request completions, as in every program built with Cobra.
const COMPLETE: &str = "__complete";

/// kubectl completes the line of a plugin `X` by calling `kubectl_complete-X`.
const PLUGIN_COMPLETION_PREFIX: &str = "kubectl_complete-";

/// Returns `kubectl delta` if kubectl called the program as a plugin, by its file name; otherwise `kdelta`.
pub(super) fn program_name(first: Option<&OsString>) -> String {
    match file_name(first).and_then(|file| file.strip_prefix("kubectl-")) {
        Some(plugin) if !plugin.is_empty() => format!("kubectl {}", plugin.replace('_', "-")),
        _ => "kdelta".to_owned(),
    }
}

/// Returns the words to complete, including the partial last one; `None` for other commands.
pub(super) fn to_complete(words: &[OsString]) -> Option<&[OsString]> {
    let (first, rest) = words.split_first()?;
    if file_name(Some(first)).is_some_and(|file| file.starts_with(PLUGIN_COMPLETION_PREFIX)) {
        return Some(rest);
    }
    rest.split_first().filter(|(word, _)| *word == COMPLETE).map(|(_, line)| line)
}

/// The actions of commands whose first word is one.
const ACTIONS: [(&str, &[&str]); 2] = [("recording", &RECORDING_TOOLS), ("rollout", &["status"])];

/// Returns the program name, and the command with its action if the words name one, for the errors of words that clap
/// rejects.
pub(super) fn called(words: &[OsString], program: &str) -> String {
    let Some(name) = command_word(words) else { return program.to_owned() };
    let actions = ACTIONS.iter().filter(|(command, _)| **command == *name).flat_map(|(_, actions)| *actions);
    let is_typed = |action: &&&str| words.iter().any(|word| word == **action);
    match actions.clone().find(is_typed) {
        Some(action) => format!("{program} {name} {action}"),
        None => format!("{program} {name}"),
    }
}

/// Returns the first word after the program that names a command.
pub(super) fn command_word(words: &[OsString]) -> Option<&str> {
    let mut texts = words.iter().skip(1).filter_map(|word| word.to_str());
    // The definitions of all commands are not built for their names: every run looks for them.
    texts.find(|word| args::Command::has_subcommand(word))
}

/// Replaces the program name in examples and help topics. Those of `completions` stay, because the scripts are for
/// `kdelta`.
pub(super) fn with_program_name(app: Command, program: &str) -> Command {
    if program == "kdelta" {
        return app;
    }
    let named = |text: &StyledStr| replace_program_name(&text.to_string(), program);
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

/// Replaces the program name at the start of each line and keeps the description column aligned.
fn replace_program_name(text: &str, program: &str) -> String {
    const KDELTA: &str = "  kdelta ";
    let lines = text.lines().filter(|line| line.starts_with(KDELTA));
    let mut columns = lines.filter_map(|line| Some(line.rfind("  ")? + 2));
    let column = columns.find(|column| *column > KDELTA.len()).unwrap_or(usize::MAX);
    let padding = " ".repeat(program.len().saturating_sub("kdelta".len()));
    let line = |line: &str| match (line.strip_prefix(KDELTA), line.split_at_checked(column)) {
        (Some(rest), _) => format!("  {program} {rest}\n"),
        (None, Some((example, description))) if example.ends_with(' ') => {
            format!("{example}{padding}{description}\n")
        }
        (None, _) => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

fn file_name(path: Option<&OsString>) -> Option<&str> {
    Path::new(path?).file_stem()?.to_str()
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::args::Cli;

    fn words(line: &[&str]) -> Vec<OsString> {
        line.iter().map(OsString::from).collect()
    }

    #[test]
    fn command_is_named_with_its_action() {
        for command in Cli::command().get_subcommands() {
            let name = command.get_name();
            assert_eq!(
                called(&words(&["kdelta", "--context", "c", name]), "kdelta"),
                format!("kdelta {name}")
            );
        }
        let action = called(&words(&["x", "recording", "info", "rec"]), "kubectl delta");
        assert_eq!(action, "kubectl delta recording info");
        assert_eq!(called(&words(&["kdelta", "nothing"]), "kdelta"), "kdelta");
    }

    #[test]
    fn plugin_name_comes_from_file_name() {
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
    fn program_name_is_replaced_and_column_aligned() {
        let text = "Examples:\n  kdelta demo --port 1   a kdelta of\n  kubectl -s x get po    one's own\n  kdelta demo\n";
        let shown = "Examples:\n  kubectl delta demo --port 1   a kdelta of\n  kubectl -s x get po           one's own\n  kubectl delta demo\n";
        assert_eq!(replace_program_name(text, "kubectl delta"), shown);
        assert_eq!(
            replace_program_name("  kdelta demo\n  kubectl get po\n", "k d"),
            "  k d demo\n  kubectl get po\n"
        );
        assert_eq!(replace_program_name("", "kubectl delta"), "");
    }

    #[test]
    fn completion_is_requested_by_word_or_file_name() {
        for (line, expected) in [
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
            assert_eq!(to_complete(&line), expected.map(words).as_deref(), "{line:?}");
        }
    }
}
