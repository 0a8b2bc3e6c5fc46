//! Maps failures of the network to errors by meaning, each with one sentence for users, without URL, credential or
//! chain of wrappers.

mod causes;
mod tls_words;

use std::time::Duration;

use http::StatusCode;
use rustls::AlertDescription;

use super::connection::DecompressionError;
use super::redaction::Redaction;
use crate::listwatch::{Error, NetworkFailure};
use crate::wire::status;
use causes::{Cause, Chain, FailureKind, is_unanswered_ping, walk};

/// Returns the error of a response with another code than 2xx. It contains no credential of `redaction`.
///
/// `retry_after` is the response's header. The caller bounds `body`; none of its content is trusted.
pub(crate) fn of_response(
    code: u16,
    retry_after: Option<Duration>,
    body: &[u8],
    redaction: &Redaction,
) -> Error {
    match status::from_body(code, retry_after, body) {
        Some(error) => redaction.error(error),
        // Masked before the text is cut: the beginning of a credential would not be recognized.
        None => status::from_text(code, retry_after, &redaction.apply(&String::from_utf8_lossy(body))),
    }
}

/// Returns the error of a request without a response. `authority` is the server's `host:port`, `proxy` that of the
/// proxy in between.
pub(crate) fn before_response(error: Cause<'_>, authority: &str, proxy: Option<&str>) -> Error {
    let chain = Chain::of(error);
    let unable = format!("Unable to connect to the server: {}", chain.sentence);
    match chain.kind {
        FailureKind::Refused if chain.by_proxy => Error::Refused(unable),
        FailureKind::Refused => Error::Refused(format!(
            "The connection to the server {authority} was refused - did you specify the right host or port?"
        )),
        FailureKind::Tls => Error::Tls(unable),
        FailureKind::TlsAlert => Error::TlsAlert(unable),
        FailureKind::Timeout => no_response(authority, proxy),
        FailureKind::Other => Error::Transport(NetworkFailure::before_response(unable)),
    }
}

/// Returns the error of a request without a response within its time limit.
pub(crate) fn no_response(authority: &str, proxy: Option<&str>) -> Error {
    let by = proxy.map(|proxy| format!(" by way of the proxy {proxy}")).unwrap_or_default();
    Error::Timeout(NetworkFailure::before_response(format!(
        "Unable to connect to the server: {authority} did not respond in time{by}"
    )))
}

/// Returns whether the error is the TLS alert of the peer itself.
pub(crate) fn is_alert(error: Cause<'_>) -> bool {
    has_alert(error, |_| true)
}

/// Returns whether the peer supports none of the offered protocols: it ended TLS for that reason (RFC 7301, 3.2), or
/// ignored the offer and sent something other than HTTP.
pub(crate) fn is_other_protocol(error: Cause<'_>) -> bool {
    let mut is_no_http = false;
    walk(error, &mut |cause| {
        is_no_http |= cause.downcast_ref::<hyper::Error>().is_some_and(hyper::Error::is_parse);
    });
    is_no_http || has_alert(error, |alert| alert == AlertDescription::NoApplicationProtocol)
}

fn has_alert(error: Cause<'_>, is_match: fn(AlertDescription) -> bool) -> bool {
    let mut found = false;
    walk(error, &mut |cause| {
        found |=
            matches!(cause.downcast_ref(), Some(rustls::Error::AlertReceived(alert)) if is_match(*alert));
    });
    found
}

/// Describes the failure of a request to another server, such as a token issuer.
pub(crate) fn sentence(error: Cause<'_>) -> String {
    Chain::of(error).sentence
}

/// Returns the error of a refusal by a forwarding proxy itself.
pub(crate) fn of_proxy(code: StatusCode, proxy: &str) -> Option<Error> {
    (code == StatusCode::PROXY_AUTHENTICATION_REQUIRED).then(|| {
        let message = format!("Unable to connect to the server: the proxy {proxy} responded: {code}");
        Error::Transport(NetworkFailure::before_response(message))
    })
}

/// Returns the error of the response that a TLS server gives to a plain request (Go's `net/http`), if it is one.
pub(crate) fn plain_to_tls(body: &[u8], authority: &str) -> Option<Error> {
    let text = "Client sent an HTTP request to an HTTPS server";
    body.starts_with(text.as_bytes()).then(|| {
        Error::Tls(format!(
            "Unable to connect to the server: {authority} speaks TLS: its URL begins with https://"
        ))
    })
}

/// Returns the error of a body that broke off after that silence.
pub(crate) fn while_reading(error: Cause<'_>, authority: &str, silent: Duration) -> Error {
    // The connection is intact, but the handling is the same: another response may be valid.
    if let Some(DecompressionError::Invalid(_)) = error.downcast_ref() {
        let why = sentence(error);
        return Error::Transport(format!("the response of the server {authority} is damaged: {why}").into());
    }
    let chain = Chain::of(error);
    let why = &if is_unanswered_ping(error) { nothing_heard(silent) } else { chain.sentence };
    match chain.kind {
        FailureKind::Timeout => {
            Error::Timeout(format!("the server {authority} stopped responding: {why}").into())
        }
        FailureKind::Refused | FailureKind::Tls | FailureKind::TlsAlert | FailureKind::Other => {
            Error::Transport(format!("the connection to the server {authority} broke: {why}").into())
        }
    }
}

/// Returns the error of a response that stays silent, from a server that fails its liveness check.
pub(crate) fn silence(authority: &str, silent: Duration) -> Error {
    let why = nothing_heard(silent);
    Error::Transport(format!("the connection to the server {authority} broke: {why}").into())
}

fn nothing_heard(silent: Duration) -> String {
    format!("nothing was heard of it for {:.0}s", silent.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::listwatch::Status;

    #[test]
    fn credentials_that_a_server_repeats_are_masked() {
        let redaction = Redaction::default();
        redaction.add("t0k3n-of-status");
        let json = r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"no t0k3n-of-\u0073tatus","reason":"Forbidden","code":403,"details":{"name":"t0k3n-of-status"}}"#;
        // The excerpt of a page ends inside the credential.
        let page = format!("{}t0k3n-of-status", "x".repeat(507));
        for (code, body) in [(403, json), (403, &page), (500, "<p>t0k3n-of-status</p>")] {
            let error = of_response(code, None, body.as_bytes(), &redaction);
            let Status { reason, message, name, json, .. } = error.status().expect("a Status");
            let shown = format!("{reason} {message} {name:?} {json} {error}");
            assert!(message.contains("***") && !shown.contains("t0k3"), "{shown}");
        }
    }
}
