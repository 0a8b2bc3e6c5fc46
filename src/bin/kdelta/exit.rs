//! How the program ends: exit codes, and what a failure says on stderr.
//!
//! The first line of a message is kubectl's where kubectl has one, because that is what users search for.

use std::fmt;
use std::io;

use kdelta::api::{self, ResolveError};
use kdelta::listwatch;

/// The exit codes, which are part of the interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExitCode {
    /// Done; also when nothing matched.
    Ok = 0,
    /// The server, the credentials, the configuration, the connection, or an output that can't be written.
    Error = 1,
    /// What was typed can't be meant.
    Usage = 2,
    /// Nothing matched, and that was asked to count as a failure.
    Empty = 3,
    /// Some of what was asked for failed; the rest was done.
    Partial = 4,
    /// Its terminal is gone: the system's answer to SIGHUP, which is left to it.
    HungUp = 129,
    /// Stopped by SIGINT.
    Interrupted = 130,
    /// The reader of stdout is gone; nothing is said about it.
    BrokenPipe = 141,
    /// Stopped by SIGTERM.
    Terminated = 143,
}

/// The meanings of the exit codes, by number. The help and the manual print them; docs/exit-codes.md has the same table.
const MEANINGS: [(&[ExitCode], &str); 6] = [
    (&[ExitCode::Ok], "done, also when nothing matched"),
    (
        &[ExitCode::Error],
        "runtime error: server, credentials, configuration, connection, missing NAME, or output",
    ),
    (&[ExitCode::Usage], "usage error"),
    (&[ExitCode::Empty], "nothing matched, with `--fail-if-empty`"),
    (&[ExitCode::Partial], "some of the requested parts failed, the rest completed"),
    (
        &[ExitCode::HungUp, ExitCode::Interrupted, ExitCode::BrokenPipe, ExitCode::Terminated],
        "ended by SIGHUP, SIGINT, a closed pipe, or SIGTERM",
    ),
];

/// [`MEANINGS`] as text: `130, 141, 143`, and what they mean.
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

/// What to try: put around an error with `anyhow::Context::context`; it is shown on a line of its own.
#[derive(Debug, Clone)]
pub(crate) struct Hint(pub(crate) String);

impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A mistake in the arguments: exit code 2. Put around a cause that says what it is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Usage;

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("usage")
    }
}

/// Several failures, of which each is said. Not empty.
#[derive(Debug)]
pub(crate) struct Several(pub(crate) Vec<anyhow::Error>);

impl fmt::Display for Several {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} errors", self.0.len())
    }
}

impl std::error::Error for Several {}

/// A failure, told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Report {
    /// The messages for stderr. They may hold the server's words, which the writer escapes.
    pub(crate) messages: Vec<String>,
    /// For a person at a terminal: what to try.
    pub(crate) hint: Option<String>,
    pub(crate) code: ExitCode,
}

impl Report {
    /// Tells an error. `program` is how program and command were called (`kdelta get`, `kubectl delta get`).
    pub(crate) fn of(error: &anyhow::Error, program: &str) -> Self {
        if is_broken_pipe(error) {
            return Self { messages: Vec::new(), hint: None, code: ExitCode::BrokenPipe };
        }
        let hint = error.downcast_ref::<Hint>().map(|hint| hint.0.clone());
        if error.downcast_ref::<Usage>().is_some() {
            // No server has said anything yet: the line breaks are the program's own.
            let mut messages: Vec<String> =
                with_prefix(&plain_chain(error)).lines().map(str::to_owned).collect();
            messages.push(format!("See '{program} --help' for help and examples"));
            return Self { messages, hint, code: ExitCode::Usage };
        }
        if let Some(Several(errors)) = error.downcast_ref() {
            let reports = errors.iter().map(|error| Self::of(error, program));
            return reports.reduce(Self::and).unwrap_or(Self {
                messages: Vec::new(),
                hint,
                code: ExitCode::Error,
            });
        }
        if let Some(error) = servers_answer(error) {
            let (text, own_hint) = listwatch_message(error);
            let hint = hint.or(own_hint.map(str::to_owned));
            return Self { messages: vec![text], hint, code: ExitCode::Error };
        }
        let hint = hint.or_else(|| error.downcast_ref::<ResolveError>().and_then(ResolveError::hint));
        let hint = hint.or_else(|| way_without_server(error).map(str::to_owned));
        Self { messages: vec![with_prefix(&plain_chain(error))], hint, code: ExitCode::Error }
    }

    /// The messages, the first of which begins with this prefix.
    pub(crate) fn prefixed(&self, prefix: &str) -> Vec<String> {
        let mut messages = self.messages.clone();
        if let Some(first) = messages.first_mut() {
            first.insert_str(0, prefix);
        }
        messages
    }

    /// Both, one after the other, without saying the same twice.
    fn and(self, other: Self) -> Self {
        let mut messages = self.messages;
        for message in other.messages {
            if !messages.contains(&message) {
                messages.push(message);
            }
        }
        let code = if self.code == ExitCode::Ok { other.code } else { self.code };
        Self { messages, hint: self.hint.or(other.hint), code }
    }
}

/// What somebody can do who has no server yet.
fn way_without_server(error: &anyhow::Error) -> Option<&'static str> {
    match error.downcast_ref() {
        Some(api::Error::NotConfigured) => Some(
            "--kubeconfig names a kubeconfig; --demo needs none, and works on a cluster inside the program",
        ),
        _ => None,
    }
}

/// What a server said, or why it could not, however it reached us.
fn servers_answer(error: &anyhow::Error) -> Option<&listwatch::Error> {
    let asked = match error.downcast_ref::<ResolveError>() {
        Some(ResolveError::Discovery(error)) => Some(error),
        _ => error.downcast_ref::<api::Error>(),
    };
    match asked {
        Some(api::Error::Server(answer)) => Some(answer),
        _ => error.downcast_ref(),
    }
}

/// The sentence for an error of a list or watch, and what to try.
fn listwatch_message(error: &listwatch::Error) -> (String, Option<&'static str>) {
    use listwatch::Error;
    let text = match (error.status(), error) {
        // Credentials that could not be had at all, and what was refused before it was sent, as a name that can't be
        // one: in our own words.
        (Some(status), Error::Unauthorized(_) | Error::Invalid(_)) if status.reason.is_empty() => {
            with_prefix(&status.message)
        }
        (Some(status), Error::Unauthorized(_)) => {
            format!("error: You must be logged in to the server ({})", status.message)
        }
        (Some(status), _) if status.reason.is_empty() => format!("Error from server: {}", status.message),
        (Some(status), _) => format!("Error from server ({}): {}", status.reason, status.message),
        // These sentences name the server already, and say what kubectl says of it.
        (None, error) => with_prefix(&error.to_string()),
    };
    let hint = match error {
        Error::Unauthorized(_) => Some("the credentials are missing, wrong or expired: log in anew"),
        Error::Forbidden(_) => {
            Some("`kubectl auth can-i --list` shows what you may do; -n names a namespace")
        }
        Error::NotFound(status) if is_pattern(&status.message) => {
            Some("names take no patterns: -l, --field-selector and --by select by what an object has")
        }
        Error::Refused(_) => Some("the address comes from --server, or from the context of the kubeconfig"),
        Error::Tls(_) => {
            Some("--certificate-authority names the authority that signed the server's certificate")
        }
        _ => None,
    };
    (text, hint)
}

/// Whether what was not found has a name that hardly can be one: `pods "web-*" not found`.
fn is_pattern(message: &str) -> bool {
    message.split('"').nth(1).is_some_and(|name| name.contains(['*', '?']))
}

/// `error: …`, unless it stands there already or the text is one of kubectl's that has none.
fn with_prefix(text: &str) -> String {
    const OWN: [&str; 5] = [
        "error: ",
        "Error from server",
        "Error in configuration",
        "Unable to connect to the server",
        "The connection to the server",
    ];
    if OWN.iter().any(|prefix| text.starts_with(prefix)) || text.contains("\nerror: ") {
        text.to_owned()
    } else {
        format!("error: {text}")
    }
}

/// The chain of causes on one line, outermost first, without the contexts that are no sentences.
fn plain_chain(error: &anyhow::Error) -> String {
    let silent: Vec<String> = [
        error.downcast_ref::<Hint>().map(ToString::to_string),
        error.downcast_ref::<Usage>().map(ToString::to_string),
    ]
    .into_iter()
    .flatten()
    .collect();
    let mut parts: Vec<String> = Vec::new();
    for cause in error.chain() {
        let text = cause.to_string();
        // An error that repeats its cause in its own words is said once.
        let said = parts.last().is_some_and(|last| last.ends_with(&text));
        if !said && !silent.contains(&text) {
            parts.push(text);
        }
    }
    parts.join(": ")
}

/// Whether writing failed because nobody reads any more.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}

#[cfg(test)]
mod tests {
    use anyhow::anyhow;
    use kdelta::listwatch::{Error, Status};

    use super::*;

    fn status(reason: &str, message: &str) -> Status {
        Status { reason: reason.into(), message: message.into(), json: String::new() }
    }

    fn told(error: impl Into<anyhow::Error>) -> String {
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
        let told: Vec<u8> =
            MEANINGS.iter().flat_map(|(codes, _)| codes.iter()).map(|code| *code as u8).collect();
        assert_eq!(told, declared);
        assert!(declared.contains(&(ExitCode::Terminated as u8)));
    }

    #[test]
    fn what_a_server_says_is_told_as_kubectl_tells_it() {
        assert_eq!(
            told(Error::NotFound(status("NotFound", "pods \"x\" not found"))),
            "Error from server (NotFound): pods \"x\" not found"
        );
        assert_eq!(told(Error::Internal(status("", "boom"))), "Error from server: boom");
        assert_eq!(
            told(Error::Invalid(status("", "invalid resource name \"..\": [may not be '..']"))),
            "error: invalid resource name \"..\": [may not be '..']"
        );
        assert_eq!(
            told(Error::Unauthorized(status("Unauthorized", "Unauthorized"))),
            "error: You must be logged in to the server (Unauthorized)"
        );
    }

    #[test]
    fn who_types_a_pattern_for_a_name_is_told_what_selects() {
        for (name, is_told) in [("web-*", true), ("web-?", true), ("web", false)] {
            let error = Error::NotFound(status("NotFound", &format!("pods \"{name}\" not found")));
            let hint = Report::of(&error.into(), "kdelta").hint;
            assert_eq!(
                hint.is_some_and(|hint| hint.starts_with("names take no patterns: -l")),
                is_told,
                "{name}"
            );
        }
    }

    #[test]
    fn a_server_that_is_not_there_is_named() {
        let refused = "The connection to the server 10.0.0.1:6443 was refused - did you specify the right host or port?";
        assert_eq!(told(Error::Refused(refused.into())), refused);
        let tls = "Unable to connect to the server: tls: unknown authority";
        assert_eq!(told(Error::Tls(tls.into())), tls);
        assert_eq!(told(Error::Timeout("no answer".into())), "error: no answer");
    }

    #[test]
    fn any_other_error_is_one_line_with_its_causes() {
        let error = anyhow!("no such file").context("can't read x").context(Hint("look again".into()));
        let report = Report::of(&error, "kdelta");
        assert_eq!(report.messages.join("\n"), "error: can't read x: no such file");
        assert_eq!(report.hint.as_deref(), Some("look again"));
        assert_eq!(told(anyhow!("error: already said")), "error: already said");
    }

    #[test]
    fn an_error_that_repeats_its_cause_is_said_once() {
        let inner = anyhow!("no such host").context("lookup x: no such host");
        assert_eq!(told(inner), "error: lookup x: no such host");
    }

    #[test]
    fn usage_is_exit_code_2_and_says_where_help_is() {
        let report = Report::of(&anyhow!("name cannot be empty").context(Usage), "kubectl delta");
        assert_eq!(report.code, ExitCode::Usage);
        assert_eq!(
            report.messages.join("\n"),
            "error: name cannot be empty\nSee 'kubectl delta --help' for help and examples"
        );
    }

    #[test]
    fn a_broken_pipe_is_silent() {
        let error = anyhow::Error::from(io::Error::from(io::ErrorKind::BrokenPipe)).context("writing");
        assert_eq!(
            Report::of(&error, "kdelta"),
            Report { messages: Vec::new(), hint: None, code: ExitCode::BrokenPipe }
        );
    }

    #[test]
    fn of_several_errors_each_is_told_once() {
        let not_found = |name: &str| {
            anyhow::Error::from(Error::NotFound(status("NotFound", &format!("pods \"{name}\" not found"))))
        };
        let error = anyhow::Error::from(Several(vec![not_found("a"), not_found("b"), not_found("a")]));
        assert_eq!(
            told(error),
            "Error from server (NotFound): pods \"a\" not found\nError from server (NotFound): pods \"b\" not found"
        );
    }
}
