//! What the network breaks, by meaning: one sentence for people, without URL, credential or chain of wrappers.

use std::error::Error as StdError;
use std::io;

use crate::listwatch::Error;

/// Wrappers that say nothing a person would want to read.
const EMPTY_WORDS: [&str; 10] = [
    "error sending request",
    "client error (Connect)",
    "client error (SendRequest)",
    "tcp connect error",
    "request or response body error",
    "error decoding response body",
    "error reading a body from connection",
    "connection error",
    "dns error",
    "error resolving DNS",
];

/// What the system says went wrong with a file, in the words that Go's programs have for it: `no such file or directory`.
#[must_use]
pub fn system_words(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split_once(" (os error").map_or(text.as_str(), |(words, _)| words);
    let mut rest = text.chars();
    rest.next().map_or_else(String::new, |first| first.to_lowercase().chain(rest).collect())
}

/// The meaning of a request that got no answer. `authority` is the server's `host:port`, `proxy` that of the
/// configured proxy.
pub(super) fn before_answer(error: reqwest::Error, authority: &str, proxy: Option<&str>) -> Error {
    let lookup = error.is_dns();
    let chain = Chain::of(error);
    let why = &chain.sentence;
    match chain.nature {
        _ if lookup => {
            let host = authority.rsplit_once(':').map_or(authority, |(host, _)| host);
            let unknown = ["Name or service not known", "nodename nor servname", "No such host is known"];
            let why = if unknown.iter().any(|said| why.contains(said)) { "no such host" } else { why };
            Error::Transport(format!("Unable to connect to the server: lookup {host}: {why}"))
        }
        Nature::Refused if proxy.is_some() => Error::Refused(format!(
            "Unable to connect to the server: the connection to the proxy {} was refused",
            proxy.unwrap_or_default()
        )),
        Nature::Refused => Error::Refused(format!(
            "The connection to the server {authority} was refused - did you specify the right host or port?"
        )),
        Nature::Tls => Error::Tls(format!("Unable to connect to the server: tls: {why}")),
        Nature::Timeout => {
            Error::Timeout(format!("Unable to connect to the server: {authority} did not answer in time"))
        }
        Nature::Other => Error::Transport(format!("Unable to connect to the server: {why}")),
    }
}

/// Whether the connection ended before the first byte of an answer: a request without effects may be sent once more.
pub(super) fn closed_unanswered(error: &reqwest::Error) -> bool {
    let mut says_so = false;
    walk(error, &mut |cause| says_so |= cause.to_string() == "connection closed before message completed");
    says_so
}

/// What a refusal means that no API server speaks: a TLS server answers a plain request so (Go's `net/http`).
pub(super) fn plain_to_tls(body: &[u8], authority: &str) -> Option<Error> {
    let said = "Client sent an HTTP request to an HTTPS server";
    body.starts_with(said.as_bytes()).then(|| {
        Error::Tls(format!(
            "Unable to connect to the server: {authority} speaks TLS: its URL begins with https://"
        ))
    })
}

/// The meaning of a body that broke off.
pub(super) fn while_reading(error: reqwest::Error, authority: &str) -> Error {
    let chain = Chain::of(error);
    let why = &chain.sentence;
    match chain.nature {
        Nature::Timeout => Error::Timeout(format!("the server {authority} stopped answering: {why}")),
        Nature::Refused | Nature::Tls | Nature::Other => {
            Error::Transport(format!("the connection to the server {authority} broke: {why}"))
        }
    }
}

/// What kind of failure a chain of causes holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Nature {
    Refused,
    Tls,
    Timeout,
    Other,
}

/// A chain of causes, folded.
struct Chain {
    nature: Nature,
    sentence: String,
}

impl Chain {
    fn of(error: reqwest::Error) -> Self {
        let timed_out = error.is_timeout();
        let error = error.without_url();
        let mut nature = if timed_out { Nature::Timeout } else { Nature::Other };
        let mut words = Vec::new();
        walk(&error, &mut |cause| {
            if let Some(found) = nature_of(cause)
                && nature == Nature::Other
            {
                nature = found;
            }
            words.extend(words_of(cause));
        });
        Self { nature, sentence: fold(&words) }
    }
}

/// Visits an error and its causes. An `io::Error` made from another error hides that one from `source`.
fn walk(error: &(dyn StdError + 'static), visit: &mut dyn FnMut(&(dyn StdError + 'static))) {
    let mut next = Some(error);
    while let Some(cause) = next {
        visit(cause);
        let inner = cause.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        next = match inner {
            Some(inner) => Some(inner as &(dyn StdError + 'static)),
            None => cause.source(),
        };
    }
}

fn nature_of(cause: &(dyn StdError + 'static)) -> Option<Nature> {
    if cause.is::<rustls::Error>() {
        return Some(Nature::Tls);
    }
    match cause.downcast_ref::<io::Error>()?.kind() {
        io::ErrorKind::ConnectionRefused => Some(Nature::Refused),
        io::ErrorKind::TimedOut => Some(Nature::Timeout),
        _ => None,
    }
}

/// What a cause says for itself; nothing when it only repeats the error it was made from.
fn words_of(cause: &(dyn StdError + 'static)) -> Option<String> {
    if cause.downcast_ref::<io::Error>().is_some_and(|error| error.get_ref().is_some()) {
        return None;
    }
    Some(match cause.downcast_ref::<rustls::Error>() {
        Some(rustls::Error::InvalidMessage(rustls::InvalidMessage::InvalidContentType)) => {
            "the server gave a plain HTTP answer to an HTTPS client".to_owned()
        }
        Some(rustls::Error::InvalidCertificate(why)) => {
            format!("failed to verify certificate: x509: {}", certificate_words(why))
        }
        _ => plain_words(cause.to_string()),
    })
}

/// What rustls has a page of explanations for is an end without notice.
fn plain_words(words: String) -> String {
    if words.starts_with("peer closed connection without sending TLS close_notify") {
        return "unexpected EOF".to_owned();
    }
    words
}

/// The usual troubles with certificates in the words that people search for.
fn certificate_words(why: &rustls::CertificateError) -> String {
    use rustls::CertificateError::{
        BadSignature, Expired, ExpiredContext, NotValidForNameContext, UnknownIssuer,
    };
    match why {
        // The second is an authority of the same name, as that of a cluster made anew.
        UnknownIssuer | BadSignature => "certificate signed by unknown authority".to_owned(),
        Expired | ExpiredContext { .. } => "certificate has expired".to_owned(),
        NotValidForNameContext { expected, presented } if presented.is_empty() => {
            format!("certificate is not valid for any names, but wanted to match {}", expected.to_str())
        }
        NotValidForNameContext { expected, presented } => {
            let names: Vec<&str> = presented.iter().map(|name| bare_name(name)).collect();
            format!("certificate is valid for {}, not {}", names.join(", "), expected.to_str())
        }
        other => other.to_string(),
    }
}

/// `DnsName("a.example")` and `IpAddress(10.0.0.1)` without their wrapping.
fn bare_name(name: &str) -> &str {
    let inner = name.split_once('(').map_or(name, |(_, inner)| inner);
    inner.trim_end_matches(')').trim_matches('"')
}

/// Joins what the causes say from the outermost to the innermost, leaving out empty words and repetitions.
fn fold(words: &[String]) -> String {
    let mut out: Vec<&str> = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let said_below = words[at + 1..].iter().any(|below| below.contains(word.as_str()));
        let said_above = out.iter().any(|above| above.contains(word.as_str()));
        if !EMPTY_WORDS.contains(&word.as_str()) && !said_below && !said_above {
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
    fn the_system_speaks_as_in_gos_programs() {
        let missing = std::fs::File::open("no/such/file").expect_err("it is not there");
        assert_eq!(system_words(&missing), "no such file or directory");
        assert_eq!(system_words(&io::Error::other("Cut")), "cut");
    }

    #[test]
    fn a_connection_that_just_ends_is_an_unexpected_end() {
        let said = "peer closed connection without sending TLS close_notify: https://docs.rs/rustls/x";
        let words = ["error decoding response body", "error reading a body from connection", said];
        let words = words.map(|word| plain_words(word.to_owned()));
        assert_eq!(fold(&words), "unexpected EOF");
    }

    #[test]
    fn a_chain_is_told_without_empty_words_and_repetitions() {
        let words = [
            "error sending request",
            "client error (Connect)",
            "dns error",
            "no such host: a",
            "no such host",
        ];
        assert_eq!(fold(&words.map(str::to_owned)), "no such host: a");
        assert_eq!(fold(&["error sending request".to_owned()]), "error sending request");
        assert_eq!(fold(&["stream: reset".to_owned(), "reset".to_owned()]), "stream: reset");
    }

    #[test]
    fn a_certificate_for_other_names_is_told_as_go_tells_it() {
        let why = rustls::CertificateError::NotValidForNameContext {
            expected: rustls::pki_types::ServerName::try_from("kubernetes").unwrap(),
            presented: vec!["DnsName(\"localhost\")".into(), "IpAddress(127.0.0.1)".into()],
        };
        assert_eq!(certificate_words(&why), "certificate is valid for localhost, 127.0.0.1, not kubernetes");
    }
}
