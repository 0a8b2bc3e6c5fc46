//! The end of the program: exit codes, and the error messages on stderr.
//!
//! The first line of a message is kubectl's where kubectl has one, because users search for it.

use std::fmt;
use std::io;

use kdelta::api::ResolveError;
use kdelta::kubeconfig;
use kdelta::listwatch;
use kdelta::recording::RecordingError;

/// The exit codes, which are part of the interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExitCode {
    /// Success, even if nothing matched.
    Ok = 0,
    /// Runtime error: server, credentials, configuration, connection, missing NAME, output, or a failed command of `run`.
    Error = 1,
    /// Usage error.
    Usage = 2,
    /// Nothing matched, with `--fail-if-empty`.
    Empty = 3,
    /// Some of the requested parts failed, the rest completed.
    Partial = 4,
    /// The time, or the range of a recording, ended before the requested event.
    TimedOut = 5,
    /// The requested state can't be reached any more, or a failure ends the wait for it.
    Failed = 6,
    /// The terminal was closed: the default action of SIGHUP.
    HungUp = 129,
    /// Stopped by SIGINT.
    Interrupted = 130,
    /// The reader of stdout closed; no message is printed.
    BrokenPipe = 141,
    /// Stopped by SIGTERM.
    Terminated = 143,
}

/// The meanings of the exit codes, by number. The help and the manual print them; docs/exit-codes.md has the same table.
const MEANINGS: [(&[ExitCode], &str); 8] = [
    (&[ExitCode::Ok], "done, also when nothing matched"),
    (
        &[ExitCode::Error],
        "runtime error: server, credentials, configuration, connection, missing NAME, output, or a failed command of `run`",
    ),
    (&[ExitCode::Usage], "usage error, in the arguments or in their defaults"),
    (&[ExitCode::Empty], "nothing matched, with `--fail-if-empty`"),
    (&[ExitCode::Partial], "some of the requested parts failed, the rest completed"),
    (
        &[ExitCode::TimedOut],
        "the time, or the range of a recording, ended first: `--count` was not reached within `--duration`, or `wait` did not see its conditions met within `--timeout`",
    ),
    (&[ExitCode::Failed], "`wait` gave up: its conditions can't be met any more, or an object failed"),
    (
        &[ExitCode::HungUp, ExitCode::Interrupted, ExitCode::BrokenPipe, ExitCode::Terminated],
        "ended by SIGHUP, SIGINT, a closed pipe, or SIGTERM",
    ),
];

/// Returns [`MEANINGS`] as text: `130, 141, 143` with the meaning.
pub(crate) fn meanings() -> impl Iterator<Item = (String, &'static str)> {
    MEANINGS.iter().map(|(codes, meaning)| {
        let codes: Vec<String> = codes.iter().map(|code| (*code as u8).to_string()).collect();
        (codes.join(", "), *meaning)
    })
}

impl From<ExitCode> for std::process::ExitCode {
    fn from(code: ExitCode) -> Self {
        Self::from(code as u8)
    }
}

/// A suggestion, attached to an error with `anyhow::Context::context` and printed on its own line.
#[derive(Debug, Clone)]
pub(crate) struct Hint(pub(crate) String);

impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Marks a usage error, with exit code 2. Attached to the error that describes it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Usage;

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("usage")
    }
}

/// Marks an error whose line breaks are the program's own: each line is printed as it is. Attached to the error.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OwnLines;

impl fmt::Display for OwnLines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("own lines")
    }
}

/// Marks a usage error below which kubectl names the help. Attached to the error.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HelpLine;

impl fmt::Display for HelpLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("help line")
    }
}

/// An explanation that is printed above a usage error, attached to it as a context.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Preface(pub(crate) &'static str);

impl fmt::Display for Preface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// An error whose message is printed as it is: kubectl has no `error: ` before it.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Verbatim(pub(crate) String);

/// An error whose messages are printed as they are, one after the other. They may contain text of files and servers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct VerbatimLines(pub(crate) Vec<String>);

impl fmt::Display for VerbatimLines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("\n"))
    }
}

impl std::error::Error for VerbatimLines {}

/// Several failures that are all reported. Not empty.
#[derive(Debug)]
pub(crate) struct Several(pub(crate) Vec<anyhow::Error>);

impl fmt::Display for Several {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} errors", self.0.len())
    }
}

impl std::error::Error for Several {}

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
            let preface = error.downcast_ref().map(|Preface(text)| vec![(*text).to_owned(), String::new()]);
            let mut messages = preface.unwrap_or_default();
            // No server text is involved, so the line breaks are the program's own.
            messages.extend(format!("error: {}", plain_chain(error)).lines().map(str::to_owned));
            if error.downcast_ref::<HelpLine>().is_some() {
                messages.push(format!("See '{program} -h' for help and examples"));
                return Self { messages, hint, code: ExitCode::Usage };
            }
            let hint = hint.or_else(|| Some(format!("see '{program} --help' for help and examples")));
            return Self { messages, hint, code: ExitCode::Usage };
        }
        if error.downcast_ref::<OwnLines>().is_some() {
            let messages = format!("error: {}", plain_chain(error)).lines().map(str::to_owned).collect();
            return Self { messages, hint, code: ExitCode::Error };
        }
        if let Some(Several(errors)) = error.downcast_ref() {
            // As in kubectl, only a single error has a heading.
            let heading = if errors.len() == 1 { heading } else { "" };
            let reports = errors.iter().map(|error| Self::with_heading(error, program, heading));
            return reports.reduce(Self::and).unwrap_or(Self {
                messages: Vec::new(),
                hint,
                code: ExitCode::Error,
            });
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
        let hint =
            hint.or_else(|| hint_without_server(error).or_else(|| hint_of_key(error)).map(str::to_owned));
        Self { messages: vec![format!("{heading}{}", plain_chain(error))], hint, code: ExitCode::Error }
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

/// Returns a hint for readers of encrypted recordings.
fn hint_of_key(error: &anyhow::Error) -> Option<&'static str> {
    match error.downcast_ref() {
        Some(RecordingError::Encrypted { .. }) => Some(
            "its recipients and its recorder's user can read it: give the identity of a recipient with --identity FILE",
        ),
        _ => None,
    }
}

/// Returns the error of a list or watch, however it is wrapped.
fn server_error(error: &anyhow::Error) -> Option<&listwatch::Error> {
    let api_error = match error.downcast_ref::<ResolveError>() {
        Some(ResolveError::Discovery(error)) => Some(error),
        _ => error.downcast_ref::<kubeconfig::Error>(),
    };
    match api_error {
        Some(kubeconfig::Error::Server(error)) => Some(error),
        _ => error.downcast_ref(),
    }
}

/// Returns the message for an error of a list or watch, and a hint. `heading` precedes errors that kubectl does not know.
fn listwatch_message(error: &listwatch::Error, heading: &str) -> (String, Option<&'static str>) {
    use listwatch::{Error, Status};
    let text = match (error.status(), error) {
        // Without a code no server responded. kubectl prints unavailable credentials without a prefix.
        (Some(status), Error::Unauthorized(_)) if status.code.is_none() => status.message.clone(),
        // A request that the client rejected, such as one with an invalid name.
        (Some(status), Error::Invalid(_)) if status.code.is_none() => format!("{heading}{}", status.message),
        (Some(status), Error::Unauthorized(_)) => {
            format!("error: You must be logged in to the server ({})", status.message)
        }
        (Some(status), _) if status.reason.is_empty() => format!("Error from server: {}", status.message),
        (Some(status), _) => format!("Error from server ({}): {}", status.reason, status.message),
        // kubectl's sentences about an unreachable server have no prefix.
        (None, error) if error.is_before_response() => error.to_string(),
        (None, error) => format!("{heading}{error}"),
    };
    let hint = match error {
        Error::Unauthorized(_) => Some("the credentials are missing, wrong or expired: log in again"),
        Error::Forbidden(_) => {
            Some("`kubectl auth can-i --list` shows your permissions; -n selects a namespace")
        }
        Error::NotFound(Status { name: Some(name), .. }) if name.contains(['*', '?']) => {
            Some("names can't be patterns: select objects with -l, --field-selector or --by")
        }
        Error::Refused(_) => Some("check the address in --server or in the context of the kubeconfig"),
        Error::TlsAlert(_) => Some("check the client certificate of the user in the kubeconfig"),
        Error::Tls(_) => {
            Some("set the authority that signed the server's certificate with --certificate-authority")
        }
        _ => None,
    };
    (text, hint)
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
    let mut parts: Vec<String> = Vec::new();
    for cause in error.chain() {
        let text = cause.to_string();
        // Skips a cause whose text the error already ends with.
        let is_repeated = parts.last().is_some_and(|last| last.ends_with(&text));
        if !is_repeated && !silent.contains(&text) {
            parts.push(text);
        }
    }
    parts.join(": ")
}

/// Whether writing failed because the reader closed.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}

#[cfg(test)]
mod tests {
    use anyhow::anyhow;
    use kdelta::listwatch::{Error, NetworkFailure, Status};

    use super::*;

    fn status(reason: &str, message: &str) -> Status {
        Status { code: Some(500), reason: reason.into(), message: message.into(), ..Status::default() }
    }

    fn message(error: impl Into<anyhow::Error>) -> String {
        let report = Report::of(&error.into(), "kdelta");
        assert_eq!(report.code, ExitCode::Error);
        report.messages.join("\n")
    }

    #[test]
    fn every_exit_code_has_a_meaning() {
        let source = include_str!("exit.rs");
        let declared = source.split("enum ExitCode {").nth(1).and_then(|rest| rest.split('}').next());
        let declared: Vec<u8> = declared
            .expect("the enum")
            .lines()
            .filter_map(|line| line.trim().strip_suffix(',')?.split_once(" = ")?.1.parse().ok())
            .collect();
        let listed: Vec<u8> =
            MEANINGS.iter().flat_map(|(codes, _)| codes.iter()).map(|code| *code as u8).collect();
        assert_eq!(listed, declared);
        assert!(declared.contains(&(ExitCode::Terminated as u8)));
    }

    #[test]
    fn server_errors_have_kubectls_text() {
        assert_eq!(
            message(Error::NotFound(status("NotFound", "pods \"x\" not found"))),
            "Error from server (NotFound): pods \"x\" not found"
        );
        assert_eq!(message(Error::Internal(status("", "boom"))), "Error from server: boom");
        assert_eq!(
            message(Error::Invalid(Status {
                message: "invalid resource name \"..\": [may not be '..']".into(),
                ..Status::default()
            })),
            "error: invalid resource name \"..\": [may not be '..']"
        );
        assert_eq!(
            message(Error::Unauthorized(status("Unauthorized", "Unauthorized"))),
            "error: You must be logged in to the server (Unauthorized)"
        );
    }

    #[test]
    fn pattern_as_name_gets_a_hint() {
        for (name, has_hint) in [("web-*", true), ("web-?", true), ("web", false)] {
            let status = status("NotFound", &format!("pods \"{name}\" not found"));
            let error = Error::NotFound(Status { name: Some(name.into()), ..status });
            let hint = Report::of(&error.into(), "kdelta").hint;
            assert_eq!(
                hint.is_some_and(|hint| hint.starts_with("names can't be patterns: ")),
                has_hint,
                "{name}"
            );
        }
    }

    #[test]
    fn unreachable_server_is_named() {
        let refused = "The connection to the server 10.0.0.1:6443 was refused - did you specify the right host or port?";
        assert_eq!(message(Error::Refused(refused.into())), refused);
        let tls = "Unable to connect to the server: tls: unknown authority";
        assert_eq!(message(Error::Tls(tls.into())), tls);
        let unable = "Unable to connect to the server: 10.0.0.1:6443 did not respond in time";
        assert_eq!(message(Error::Timeout(NetworkFailure::before_response(unable.into()))), unable);
        let login = "Unable to connect to the server: getting credentials: exec: executable login not found";
        let status = Status { message: login.into(), ..Status::default() };
        assert_eq!(message(Error::Unauthorized(status)), login);
    }

    #[test]
    fn failure_after_the_response_began_has_a_prefix() {
        // The type of the error decides, not its text.
        for text in ["no data arrived", "Unable to connect to the server: a proxy's text"] {
            assert_eq!(message(Error::Timeout(text.into())), format!("error: {text}"));
        }
    }

    #[test]
    fn other_errors_are_one_line_with_causes() {
        let error = anyhow!("no such file").context("can't read x").context(Hint("look again".into()));
        let report = Report::of(&error, "kdelta");
        assert_eq!(report.messages.join("\n"), "error: can't read x: no such file");
        assert_eq!(report.hint.as_deref(), Some("look again"));
    }

    #[test]
    fn problems_of_a_configuration_are_a_list() {
        let error = |problems: &[&str]| {
            kubeconfig::Error::Contradictory(problems.iter().map(|problem| (*problem).to_owned()).collect())
        };
        assert_eq!(message(error(&["no key"])), "error: no key");
        assert_eq!(message(error(&["no key", "no user"])), "Error in configuration: \n* no key\n* no user");
    }

    #[test]
    fn repeated_cause_is_printed_once() {
        let inner = anyhow!("no such host").context("lookup x: no such host");
        assert_eq!(message(inner), "error: lookup x: no such host");
    }

    #[test]
    fn usage_error_has_exit_code_2_and_help_hint() {
        let report = Report::of(&anyhow!("name cannot be empty").context(Usage), "kubectl delta");
        assert_eq!(report.code, ExitCode::Usage);
        assert_eq!(report.messages.join("\n"), "error: name cannot be empty");
    }

    #[test]
    fn preface_is_printed_above_the_error() {
        let report =
            Report::of(&anyhow!("no type").context(Usage).context(Preface("Name a type.")), "kdelta get");
        assert_eq!(report.messages, ["Name a type.", "", "error: no type"]);
    }

    #[test]
    fn broken_pipe_is_silent() {
        let error = anyhow::Error::from(io::Error::from(io::ErrorKind::BrokenPipe)).context("writing");
        assert_eq!(
            Report::of(&error, "kdelta"),
            Report { messages: Vec::new(), hint: None, code: ExitCode::BrokenPipe }
        );
    }

    #[test]
    fn several_errors_are_each_reported() {
        let not_found = |name: &str| {
            anyhow::Error::from(Error::NotFound(status("NotFound", &format!("pods \"{name}\" not found"))))
        };
        let invalid = || {
            let message = "invalid resource name".into();
            anyhow::Error::from(Error::Invalid(Status { message, ..Status::default() }))
        };
        assert_eq!(
            message(Several(vec![not_found("a"), invalid(), not_found("a")])),
            "Error from server (NotFound): pods \"a\" not found\ninvalid resource name\nError from server (NotFound): pods \"a\" not found"
        );
        assert_eq!(message(Several(vec![invalid()])), "error: invalid resource name");
    }
}
