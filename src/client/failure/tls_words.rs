//! Failures of TLS in Go's words, which users search for.

use std::net::IpAddr;

use rustls::pki_types::{ServerName, UnixTime};

/// The prefix of Go programs for a TLS alert from the peer.
const REMOTE_ALERT: &str = "remote error: tls: ";

/// Returns the alert that ended TLS, as rustls names it. HTTP/2 keeps only the text of such an error.
pub(super) fn alert(words: &str) -> Option<&str> {
    words.split_once("received fatal alert: ").map(|(_, alert)| alert)
}

/// Formats an alert in Go's words: `CertificateRequired` is `certificate required`. Alerts about the client
/// certificate say so.
pub(super) fn alert_words(alert: &str) -> String {
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

/// Formats the frequent problems with certificates in the words that users search for.
pub(super) fn certificate_words(why: &rustls::CertificateError) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

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
