//! Tests of the messages for failures.

use std::io;

use anyhow::anyhow;
use kdelta::kubeconfig;
use kdelta::listwatch::{Error, NetworkFailure, Status};
use kdelta::recording::RecordingError;

use super::{ExitCode, Hint, Preface, Report, Several, Usage};

fn status(reason: &str, message: &str) -> Status {
    Status { code: Some(500), reason: reason.into(), message: message.into(), ..Status::default() }
}

fn message(error: impl Into<anyhow::Error>) -> String {
    let report = Report::of(&error.into(), "kdelta");
    assert_eq!(report.code, ExitCode::Error);
    report.messages.join("\n")
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
fn encryption_without_the_feature_is_a_usage_error_that_names_it() {
    for flag in ["--encrypt-to", "the identity file identity.txt"] {
        let error = anyhow::Error::new(RecordingError::WithoutAge).context(flag);
        let report = Report::of(&error, "kdelta record");
        assert_eq!(report.code, ExitCode::Usage);
        let [message] = &report.messages[..] else { panic!("{report:?}") };
        assert_eq!(*message, format!("error: {flag}: {}", RecordingError::WithoutAge));
        assert!(message.contains("the cargo feature `age`"), "{message}");
        assert!(report.hint.is_some_and(|hint| hint.contains("--features age")));
    }
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
    let refused =
        "The connection to the server 10.0.0.1:6443 was refused - did you specify the right host or port?";
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
