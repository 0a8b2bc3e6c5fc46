//! The report of a failure: its messages, its hint and its exit code.
//!
//! The first line of a message is kubectl's where kubectl has one, because users search for it.

use std::io;

use kdelta::api::ResolveError;
use kdelta::kubeconfig;
use kdelta::recording::RecordingError;

use super::code::ExitCode;
use super::error_context::{HelpLine, Hint, OwnLines, Preface, Several, Usage, Verbatim, VerbatimLines};
use super::server_error::{listwatch_message, server_error};

/// The report of a failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Report {
    /// The messages for stderr. They may contain text of the server, which the writer escapes.
    pub(crate) messages: Vec<String>,
    /// The suggestion, printed on terminals.
    pub(crate) hint: Option<String>,
    pub(crate) code: ExitCode,
}

impl Report {
    /// Creates the report of an error. `program` is the program and command as called (`kdelta get`, `kubectl delta
    /// get`).
    pub(crate) fn of(error: &anyhow::Error, program: &str) -> Self {
        Self::with_heading(error, program, "error: ")
    }

    /// Creates the report with this heading before errors that have none of their own.
    fn with_heading(error: &anyhow::Error, program: &str, heading: &str) -> Self {
        if is_broken_pipe(error) {
            return Self { messages: Vec::new(), hint: None, code: ExitCode::BrokenPipe };
        }
        let hint = error.downcast_ref::<Hint>().map(|hint| hint.0.clone());
        if let Some(VerbatimLines(messages)) = error.downcast_ref() {
            let is_usage = error.downcast_ref::<Usage>().is_some();
            let code = if is_usage { ExitCode::Usage } else { ExitCode::Error };
            return Self { messages: messages.clone(), hint, code };
        }
        if error.downcast_ref::<Usage>().is_some() || is_of_key_flag(error) {
            return Self::of_usage(error, program, hint);
        }
        if error.downcast_ref::<OwnLines>().is_some() {
            let messages = format!("error: {}", plain_chain(error)).lines().map(str::to_owned).collect();
            return Self { messages, hint, code: ExitCode::Error };
        }
        if let Some(Several(errors)) = error.downcast_ref() {
            return Self::of_several(errors, program, heading, hint);
        }
        if let Some(error) = server_error(error) {
            let (text, own_hint) = listwatch_message(error, heading);
            let hint = hint.or(own_hint.map(str::to_owned));
            return Self { messages: vec![text], hint, code: ExitCode::Error };
        }
        if let Some(kubeconfig::Error::Contradictory(problems)) = error.downcast_ref() {
            return Self { messages: configuration_messages(problems), hint, code: ExitCode::Error };
        }
        let hint = hint.or_else(|| error.downcast_ref::<ResolveError>().and_then(ResolveError::hint));
        if let Some(Verbatim(text)) = error.downcast_ref() {
            return Self { messages: vec![text.clone()], hint, code: ExitCode::Error };
        }
        let hint = hint
            .or_else(|| hint_without_server(error).or_else(|| hint_of_recording(error)).map(str::to_owned));
        Self { messages: vec![format!("{heading}{}", plain_chain(error))], hint, code: ExitCode::Error }
    }

    /// Creates the report of a usage error.
    fn of_usage(error: &anyhow::Error, program: &str, hint: Option<String>) -> Self {
        let preface = error.downcast_ref().map(|Preface(text)| vec![(*text).to_owned(), String::new()]);
        let mut messages = preface.unwrap_or_default();
        // No server text is involved, so the line breaks are the program's own.
        messages.extend(format!("error: {}", plain_chain(error)).lines().map(str::to_owned));
        if error.downcast_ref::<HelpLine>().is_some() {
            messages.push(format!("See '{program} -h' for help and examples"));
            return Self { messages, hint, code: ExitCode::Usage };
        }
        let hint = hint.or_else(|| hint_of_recording(error).map(str::to_owned));
        let hint = hint.or_else(|| Some(format!("see '{program} --help' for help and examples")));
        Self { messages, hint, code: ExitCode::Usage }
    }

    /// Creates the joint report of several errors.
    fn of_several(errors: &[anyhow::Error], program: &str, heading: &str, hint: Option<String>) -> Self {
        // As in kubectl, only a single error has a heading.
        let heading = if errors.len() == 1 { heading } else { "" };
        let reports = errors.iter().map(|error| Self::with_heading(error, program, heading));
        let none = Self { messages: Vec::new(), hint, code: ExitCode::Error };
        reports.reduce(Self::and).unwrap_or(none)
    }

    /// Returns the messages, with a prefix before the first.
    pub(crate) fn prefixed(&self, prefix: &str) -> Vec<String> {
        let mut messages = self.messages.clone();
        if let Some(first) = messages.first_mut() {
            first.insert_str(0, prefix);
        }
        messages
    }

    /// Joins two reports.
    fn and(self, other: Self) -> Self {
        let mut messages = self.messages;
        messages.extend(other.messages);
        let code = if self.code == ExitCode::Ok { other.code } else { self.code };
        Self { messages, hint: self.hint.or(other.hint), code }
    }
}

/// Returns the messages for the problems of a configuration. As in kubectl, several are a list.
fn configuration_messages(problems: &[String]) -> Vec<String> {
    match problems {
        [only] => vec![format!("error: {only}")],
        several => {
            let heading = std::iter::once("Error in configuration: ".to_owned());
            heading.chain(several.iter().map(|problem| format!("* {problem}"))).collect()
        }
    }
}

/// Returns a hint for users without a server.
fn hint_without_server(error: &anyhow::Error) -> Option<&'static str> {
    match error.downcast_ref() {
        Some(kubeconfig::Error::NotConfigured) => {
            Some("select a kubeconfig with --kubeconfig, or use the embedded cluster with --demo")
        }
        _ => None,
    }
}

/// Returns whether a recipient is malformed, or the build has no encryption.
fn is_of_key_flag(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(RecordingError::Recipient { .. } | RecordingError::WithoutAge))
}

/// Returns a hint for writers and readers of recordings.
fn hint_of_recording(error: &anyhow::Error) -> Option<&'static str> {
    match error.downcast_ref() {
        Some(RecordingError::Damaged(_)) => Some(
            "`kdelta recording verify` lists all damaged parts, and the times that can't be read because of them",
        ),
        Some(RecordingError::NotARecording { .. }) => {
            Some("select the directory that `kdelta record --to` or `kdelta recording` has written")
        }
        Some(RecordingError::WithoutAge) => {
            Some("install a build with encryption: `cargo install kdelta --features age`")
        }
        Some(RecordingError::Encrypted { .. }) => Some(
            "its recipients and its recorder's user can read it: give the identity of a recipient with --identity FILE",
        ),
        _ => None,
    }
}

/// Joins the chain of causes on one line, outermost first, without hints, prefaces and usage marks.
fn plain_chain(error: &anyhow::Error) -> String {
    let silent: Vec<String> = [
        error.downcast_ref::<Hint>().map(ToString::to_string),
        error.downcast_ref::<Usage>().map(ToString::to_string),
        error.downcast_ref::<Preface>().map(ToString::to_string),
        error.downcast_ref::<OwnLines>().map(ToString::to_string),
        error.downcast_ref::<HelpLine>().map(ToString::to_string),
    ]
    .into_iter()
    .flatten()
    .collect();
    let mut texts: Vec<String> = Vec::new();
    for cause in error.chain() {
        let text = cause.to_string();
        // Skips a cause whose text the error already ends with.
        let is_repeated = texts.last().is_some_and(|last| last.ends_with(&text));
        if !is_repeated && !silent.contains(&text) {
            texts.push(text);
        }
    }
    texts.join(": ")
}

/// Whether writing failed because the reader closed.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}
