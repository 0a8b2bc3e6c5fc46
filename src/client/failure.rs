//! Maps failures of the network to errors by meaning, each with one sentence for users, without URL, credential or
//! chain of wrappers.

use std::error::Error as StdError;
use std::io;
use std::net::IpAddr;
use std::time::Duration;

use http::StatusCode;
use rustls::AlertDescription;
use rustls::pki_types::{ServerName, UnixTime};

use super::connection::{DecompressionError, ProxyError};
use super::redaction::Redaction;
use crate::listwatch::{Error, NetworkFailure, system_words};
use crate::wire::status;

/// An error with its chain of sources.
type Cause<'a> = &'a (dyn StdError + 'static);

/// Wrappers whose text adds nothing for a user.
const WRAPPER_TEXTS: [&str; 10] = [
    "error sending request",
    "request or response body error",
    "client error (Connect)",
    "client error (SendRequest)",
    "client error (Canceled)",
    "tcp connect error",
    "error reading a body from connection",
    "connection error",
    "dns error",
    "error decoding response body",
];

/// The prefix of Go programs for a TLS alert from the peer.
const REMOTE_ALERT: &str = "remote error: tls: ";

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
        FailureKind::Timeout => {
            let by = proxy.map(|proxy| format!(" by way of the proxy {proxy}")).unwrap_or_default();
            Error::Timeout(NetworkFailure::before_response(format!(
                "Unable to connect to the server: {authority} did not respond in time{by}"
            )))
        }
        FailureKind::Other => Error::Transport(NetworkFailure::before_response(unable)),
    }
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

/// The kind of failure in a chain of causes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FailureKind {
    Refused,
    Tls,
    TlsAlert,
    Timeout,
    Other,
}

/// A chain of causes, summarized.
struct Chain {
    kind: FailureKind,
    /// Whether the proxy failed, or reported the failure.
    by_proxy: bool,
    sentence: String,
}

impl Chain {
    fn of(error: Cause<'_>) -> Self {
        let mut chain = Self { kind: FailureKind::Other, by_proxy: false, sentence: String::new() };
        let mut words = Vec::new();
        walk(error, &mut |cause| {
            if let Some(found) = kind_of(cause)
                && chain.kind == FailureKind::Other
            {
                chain.kind = found;
            }
            chain.by_proxy |= cause.is::<ProxyError>();
            words.extend(words_of(cause));
        });
        chain.sentence = join_words(&words);
        chain
    }
}

/// Visits an error and its sources. An `io::Error` made from another error hides that one from `source`.
fn walk<'a>(error: Cause<'a>, visit: &mut dyn FnMut(Cause<'a>)) {
    let mut next = Some(error);
    while let Some(cause) = next {
        visit(cause);
        let inner = cause.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        next = match inner {
            Some(inner) => Some(inner as Cause<'_>),
            None => cause.source(),
        };
    }
}

fn kind_of(cause: Cause<'_>) -> Option<FailureKind> {
    match cause.downcast_ref::<rustls::Error>() {
        Some(rustls::Error::AlertReceived(_)) => return Some(FailureKind::TlsAlert),
        Some(_) => return Some(FailureKind::Tls),
        None if alert(&cause.to_string()).is_some() => return Some(FailureKind::TlsAlert),
        None => {}
    }
    let timed_out = cause.downcast_ref::<hyper::Error>().is_some_and(hyper::Error::is_timeout)
        || cause.is::<tokio::time::error::Elapsed>()
        || cause.is::<tower::timeout::error::Elapsed>();
    if timed_out {
        return Some(FailureKind::Timeout);
    }
    match cause.downcast_ref::<io::Error>()?.kind() {
        io::ErrorKind::ConnectionRefused => Some(FailureKind::Refused),
        io::ErrorKind::TimedOut => Some(FailureKind::Timeout),
        _ => None,
    }
}

/// Returns the cause's own words; `None` if it only repeats the error that it was made from.
fn words_of(cause: Cause<'_>) -> Option<String> {
    if let Some(error) = cause.downcast_ref::<io::Error>() {
        return error.get_ref().is_none().then(|| system_words(error));
    }
    Some(match cause.downcast_ref::<rustls::Error>() {
        Some(rustls::Error::InvalidMessage(rustls::InvalidMessage::InvalidContentType)) => {
            "tls: the server gave a plain HTTP response to an HTTPS client".to_owned()
        }
        Some(rustls::Error::InvalidCertificate(why)) => {
            format!("tls: failed to verify certificate: x509: {}", certificate_words(why))
        }
        Some(rustls::Error::AlertReceived(alert)) => alert_words(&format!("{alert:?}")),
        Some(other) => format!("tls: {other}"),
        None => plain_words(cause.to_string()),
    })
}

/// Returns whether HTTP/2 ended its streams with the connection, after an unanswered ping or because the connection was
/// ended: both are a broken pipe without an error of the system.
fn is_unanswered_ping(error: Cause<'_>) -> bool {
    let mut found = false;
    walk(error, &mut |cause| {
        let io = cause.downcast_ref::<h2::Error>().and_then(h2::Error::get_io);
        found |= io.is_some_and(|io| io.kind() == io::ErrorKind::BrokenPipe && io.raw_os_error().is_none());
    });
    found
}

/// Returns the alert that ended TLS, as rustls names it. HTTP/2 keeps only the text of such an error.
fn alert(words: &str) -> Option<&str> {
    words.split_once("received fatal alert: ").map(|(_, alert)| alert)
}

/// Formats an alert in Go's words: `CertificateRequired` is `certificate required`. Alerts about the client
/// certificate say so.
fn alert_words(alert: &str) -> String {
    let ours = match alert {
        "CertificateRequired" => ": the server wants a client certificate",
        "BadCertificate"
        | "UnsupportedCertificate"
        | "CertificateUnknown"
        | "UnknownCA"
        | "DecryptError"
        | "CertificateRevoked"
        | "CertificateExpired"
        | "AccessDenied" => ": the server does not take the client certificate",
        _ => "",
    };
    let name = match alert {
        "UnknownCA" => "unknown certificate authority".to_owned(),
        "DecryptError" => "error decrypting message".to_owned(),
        other => spaced(other),
    };
    format!("{REMOTE_ALERT}{name}{ours}")
}

/// Formats `BadCertificate` as `bad certificate`.
fn spaced(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        if c.is_uppercase() && !out.is_empty() {
            out.push(' ');
        }
        out.extend(c.to_lowercase());
    }
    out
}

/// Replaces texts of libraries by Go's words; rustls has a page of explanations for an end without notice.
fn plain_words(words: String) -> String {
    if let Some(alert) = alert(&words) {
        return alert_words(alert);
    }
    if words.starts_with("peer closed connection without sending TLS close_notify") {
        return "unexpected EOF".to_owned();
    }
    match words.as_str() {
        "deadline has elapsed" => "operation timed out".to_owned(),
        "tls handshake eof"
        | "connection closed before message completed"
        | "operation was canceled"
        | "connection closed" => "EOF".to_owned(),
        _ => words,
    }
}

/// Formats the frequent problems with certificates in the words that users search for.
fn certificate_words(why: &rustls::CertificateError) -> String {
    use rustls::CertificateError::{
        BadSignature, ExpiredContext, NotValidForNameContext, NotValidYetContext, UnknownIssuer,
    };
    let not_now = "certificate has expired or is not yet valid: current time";
    match why {
        // The second is an authority of the same name, as after a cluster was recreated.
        UnknownIssuer | BadSignature => "certificate signed by unknown authority".to_owned(),
        ExpiredContext { time, not_after } => {
            format!("{not_now} {} is after {}", moment(*time), moment(*not_after))
        }
        NotValidYetContext { time, not_before } => {
            format!("{not_now} {} is before {}", moment(*time), moment(*not_before))
        }
        NotValidForNameContext { expected, presented } => {
            let is_address = matches!(expected, ServerName::IpAddress(_));
            let alike = presented.iter().filter(|name| name.starts_with("IpAddress") == is_address);
            let names: Vec<String> = alike.map(|name| unwrapped_name(name)).collect();
            let expected = expected.to_str();
            match (names.join(", "), is_address) {
                (none, true) if none.is_empty() => {
                    format!(
                        "cannot validate certificate for {expected} because it doesn't contain any IP SANs"
                    )
                }
                (none, false) if none.is_empty() => {
                    format!("certificate is not valid for any names, but wanted to match {expected}")
                }
                (names, _) => format!("certificate is valid for {names}, not {expected}"),
            }
        }
        // The server shows the certificate of an untrusted authority as its own.
        rustls::CertificateError::Other(rustls::OtherError(other))
            if matches!(other.downcast_ref(), Some(webpki::Error::CaUsedAsEndEntity)) =>
        {
            "certificate signed by unknown authority".to_owned()
        }
        other => other.to_string(),
    }
}

/// Formats a time like Go: RFC 3339 with whole seconds.
fn moment(time: UnixTime) -> String {
    let seconds = i64::try_from(time.as_secs()).unwrap_or(i64::MAX);
    jiff::Timestamp::from_second(seconds).map_or_else(|_| "then".to_owned(), |time| time.to_string())
}

/// Formats `DnsName("a.example")` and `IpAddress(10.0.0.1)` without the wrapper, addresses in canonical form.
fn unwrapped_name(name: &str) -> String {
    let inner = name.split_once('(').map_or(name, |(_, inner)| inner);
    let bare = inner.trim_end_matches(')').trim_matches('"');
    bare.parse::<IpAddr>().map_or_else(|_| bare.to_owned(), |address| address.to_string())
}

/// Joins the words of the causes from the outermost to the innermost, without those of wrappers and repetitions.
fn join_words(words: &[String]) -> String {
    let mut out: Vec<&str> = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let is_in_cause = words[at + 1..].iter().any(|below| below.contains(word.as_str()));
        let is_in_wrapper = out.iter().any(|above| above.contains(word.as_str()));
        if !WRAPPER_TEXTS.contains(&word.as_str()) && !is_in_cause && !is_in_wrapper {
            out.push(word);
        }
    }
    if out.is_empty() {
        return words.last().map_or_else(|| "unknown reason".to_owned(), Clone::clone);
    }
    out.join(": ")
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

    #[test]
    fn abrupt_end_is_an_unexpected_eof() {
        let text = "peer closed connection without sending TLS close_notify: https://docs.rs/rustls/x";
        let words = ["error decoding response body", "error reading a body from connection", text];
        let words = words.map(|word| plain_words(word.to_owned()));
        assert_eq!(join_words(&words), "unexpected EOF");
    }

    #[test]
    fn end_before_a_response_is_an_eof() {
        for said in
            ["connection closed before message completed", "tls handshake eof", "operation was canceled"]
        {
            let words = ["client error (Canceled)", said].map(|word| plain_words(word.to_owned()));
            assert_eq!(join_words(&words), "EOF");
        }
    }

    #[test]
    fn causes_are_joined_without_empty_words_and_repetitions() {
        let words = ["client error (Connect)", "dns error", "no such host: a", "no such host"];
        assert_eq!(join_words(&words.map(str::to_owned)), "no such host: a");
        assert_eq!(join_words(&["dns error".to_owned()]), "dns error");
        assert_eq!(join_words(&["stream: reset".to_owned(), "reset".to_owned()]), "stream: reset");
    }

    #[test]
    fn certificate_for_other_names_has_gos_message() {
        let words = |expected: &'static str, presented: &[&str]| {
            certificate_words(&rustls::CertificateError::NotValidForNameContext {
                expected: ServerName::try_from(expected).unwrap(),
                presented: presented.iter().map(|name| (*name).to_owned()).collect(),
            })
        };
        let both = ["DnsName(\"localhost\")", "IpAddress(127.0.0.1)"];
        assert_eq!(words("10.0.0.1", &["IpAddress(0::1)"]), "certificate is valid for ::1, not 10.0.0.1");
        assert_eq!(words("kubernetes", &both), "certificate is valid for localhost, not kubernetes");
        assert_eq!(words("10.0.0.1", &both), "certificate is valid for 127.0.0.1, not 10.0.0.1");
        assert_eq!(
            words("10.0.0.1", &both[..1]),
            "cannot validate certificate for 10.0.0.1 because it doesn't contain any IP SANs"
        );
        assert_eq!(
            words("kubernetes", &both[1..]),
            "certificate is not valid for any names, but wanted to match kubernetes"
        );
    }

    #[test]
    fn expired_certificate_has_gos_message() {
        let at = |seconds| UnixTime::since_unix_epoch(std::time::Duration::from_secs(seconds));
        let why = rustls::CertificateError::ExpiredContext { time: at(86400), not_after: at(60) };
        assert_eq!(
            certificate_words(&why),
            "certificate has expired or is not yet valid: current time 1970-01-02T00:00:00Z is after \
             1970-01-01T00:01:00Z"
        );
    }
}
