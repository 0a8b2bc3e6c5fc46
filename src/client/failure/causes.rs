//! Chains of causes: the kind of a failure, and one sentence made of the words of its causes.

use std::error::Error as StdError;
use std::io;

use super::tls_words::{alert, alert_words, certificate_words};
use crate::client::connection::ProxyError;
use crate::listwatch::system_words;

/// An error with its chain of sources.
pub(super) type Cause<'a> = &'a (dyn StdError + 'static);

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

/// The kind of failure in a chain of causes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FailureKind {
    Refused,
    Tls,
    TlsAlert,
    Timeout,
    Other,
}

/// A chain of causes, summarized.
pub(super) struct Chain {
    pub(super) kind: FailureKind,
    /// Whether the proxy failed, or reported the failure.
    pub(super) by_proxy: bool,
    pub(super) sentence: String,
}

impl Chain {
    pub(super) fn of(error: Cause<'_>) -> Self {
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
pub(super) fn walk<'a>(error: Cause<'a>, visit: &mut dyn FnMut(Cause<'a>)) {
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
pub(super) fn is_unanswered_ping(error: Cause<'_>) -> bool {
    let mut found = false;
    walk(error, &mut |cause| {
        let io = cause.downcast_ref::<h2::Error>().and_then(h2::Error::get_io);
        found |= io.is_some_and(|io| io.kind() == io::ErrorKind::BrokenPipe && io.raw_os_error().is_none());
    });
    found
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
}
