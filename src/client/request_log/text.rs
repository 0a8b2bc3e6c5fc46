//! The parts of a request in the log: URL, headers and curl command, without credentials. Pure.

use std::fmt::Write;

use http::header::{
    ACCEPT_ENCODING, AUTHORIZATION, COOKIE, HeaderMap, HeaderName, HeaderValue, PROXY_AUTHORIZATION,
    SET_COOKIE,
};
use http::{Method, Uri};
use percent_encoding::percent_decode_str;

const MASKED: &str = "<masked>";

/// Schemes whose name may be shown in front of a masked credential.
const SCHEMES: [&str; 3] = ["basic", "bearer", "negotiate"];

/// Words in the names of headers and query parameters that carry credentials.
const CREDENTIAL_WORDS: [&str; 6] = ["token", "secret", "password", "api-key", "apikey", "credential"];

/// Returns a URL without user information and with masked credentials in its query.
pub(super) fn shown_url(uri: &Uri) -> String {
    let mut text = String::new();
    if let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) {
        let host = authority.as_str().rsplit('@').next().unwrap_or_default();
        // Writing to a String can't fail.
        let _ = write!(text, "{scheme}://{host}");
    }
    text.push_str(uri.path());
    let mut separator = '?';
    for pair in uri.query().into_iter().flat_map(|query| query.split('&')) {
        text.push(separator);
        separator = '&';
        match pair.split_once('=') {
            Some((name, _)) if is_credential(name) || name == "code" => {
                let _ = write!(text, "{name}=***");
            }
            _ => text.push_str(pair),
        }
    }
    text
}

/// Returns whether a name is that of a credential.
fn is_credential(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    CREDENTIAL_WORDS.iter().any(|word| name.contains(word))
}

/// Returns each header on a line of its own after a line break, sorted by name, with masked credentials.
pub(super) fn header_lines(headers: &HeaderMap) -> String {
    sorted(headers).fold(String::new(), |mut lines, (name, value)| {
        let _ = write!(lines, "\n{}: {}", title_case(name.as_str()), shown_value(name, value));
        lines
    })
}

/// Returns a command that repeats the request, for a shell. Credentials are masked and must be filled in.
pub(super) fn curl(method: &Method, url: &str, headers: &HeaderMap) -> String {
    let mut command = format!("curl -v -X{method}");
    if headers.contains_key(ACCEPT_ENCODING) {
        command.push_str(" --compressed");
    }
    for (name, value) in sorted(headers).filter(|(name, _)| **name != ACCEPT_ENCODING) {
        let header = format!("{}: {}", title_case(name.as_str()), shown_value(name, value));
        let _ = write!(command, " -H {}", quoted(&header));
    }
    let _ = write!(command, " {}", quoted(url));
    command
}

fn sorted(headers: &HeaderMap) -> impl Iterator<Item = (&HeaderName, &HeaderValue)> {
    let mut all: Vec<_> = headers.iter().collect();
    // Stable: the values of one header keep their order.
    all.sort_by_key(|(name, _)| name.as_str());
    all.into_iter()
}

fn shown_value(name: &HeaderName, value: &HeaderValue) -> String {
    let text = String::from_utf8_lossy(value.as_bytes());
    if *name == AUTHORIZATION || *name == PROXY_AUTHORIZATION {
        return match text.split_once(' ') {
            Some((scheme, _)) if SCHEMES.contains(&&*scheme.to_ascii_lowercase()) => {
                format!("{scheme} {MASKED}")
            }
            _ => MASKED.to_owned(),
        };
    }
    if *name == COOKIE || *name == SET_COOKIE || value.is_sensitive() || is_credential(name.as_str()) {
        return MASKED.to_owned();
    }
    text.into_owned()
}

/// `content-type` becomes `Content-Type`.
fn title_case(name: &str) -> String {
    let mut starts_word = true;
    let cased = name.chars().map(|c| {
        let cased = if starts_word { c.to_ascii_uppercase() } else { c };
        starts_word = c == '-';
        cased
    });
    cased.collect()
}

/// Quotes a word for a shell.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Returns whether the response to a path may hold credentials: Secrets, tokens of service accounts and reviews of
/// tokens. A path prefix of the server may precede the API's.
pub(super) fn may_hold_credentials(path: &str) -> bool {
    let decoded = percent_decode_str(path).decode_utf8_lossy();
    let segments: Vec<&str> = decoded.split('/').filter(|segment| !segment.is_empty()).collect();
    let is_in_namespaces = |at: usize| at > 0 && segments[at - 1] == "namespaces";
    let mut named = segments.iter().enumerate();
    named.any(|(at, segment)| match *segment {
        "secrets" => !is_in_namespaces(at),
        "token" => at > 1 && segments[at - 2] == "serviceaccounts",
        "authentication.k8s.io" => true,
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn url_has_no_credentials() {
        for (uri, expected) in [
            (
                "https://h:6443/api/v1/pods?limit=500&watch=true",
                "https://h:6443/api/v1/pods?limit=500&watch=true",
            ),
            ("http://me:s3cr3t@h/x?", "http://h/x?"),
            (
                "https://h/cb?code=1&access_token=2&Client-Secret=3&a=4",
                "https://h/cb?code=***&access_token=***&Client-Secret=***&a=4",
            ),
            ("/only/path", "/only/path"),
        ] {
            assert_eq!(shown_url(&uri.parse().unwrap()), expected);
        }
    }

    #[test]
    fn credentials_in_headers_are_masked_by_name() {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("authorization", "Bearer s3cr3t"),
            ("proxy-authorization", "Digest username=s3cr3t"),
            ("cookie", "session=s3cr3t"),
            ("set-cookie", "session=s3cr3t"),
            ("x-auth-token", "s3cr3t"),
            ("impersonate-user", "o'neil"),
            ("accept", "application/json"),
        ] {
            headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        assert_eq!(
            header_lines(&headers),
            "\nAccept: application/json\nAuthorization: Bearer <masked>\nCookie: <masked>\nImpersonate-User: o'neil\nProxy-Authorization: <masked>\nSet-Cookie: <masked>\nX-Auth-Token: <masked>"
        );
        let command = curl(&Method::GET, "https://h/x?a='", &headers);
        assert!(
            command.starts_with(
                "curl -v -XGET -H 'Accept: application/json' -H 'Authorization: Bearer <masked>'"
            )
        );
        assert!(command.ends_with(r" -H 'X-Auth-Token: <masked>' 'https://h/x?a='\'''"), "{command}");
        assert!(command.contains(r"-H 'Impersonate-User: o'\''neil'") && !command.contains("s3cr3t"));
    }

    #[test]
    fn responses_with_credentials_are_recognized_by_path() {
        for path in [
            "/api/v1/secrets",
            "/api/v1/namespaces/shop/secrets/db",
            "/k8s/clusters/c-1/api/v1/namespaces/shop/secrets",
            "/api/v1/namespaces/secrets/secrets",
            "/api/v1/namespaces/shop/%73ecrets",
            "/apis/example.com/v1/secrets",
            "/api/v1/namespaces/shop/serviceaccounts/me/token",
            "/apis/authentication.k8s.io/v1/tokenreviews",
        ] {
            assert!(may_hold_credentials(path), "{path}");
        }
        for path in [
            "/api/v1/pods",
            "/api/v1/namespaces/secrets/pods",
            "/version",
            "/apis",
            "/api/v1/namespaces/secrets",
        ] {
            assert!(!may_hold_credentials(path), "{path}");
        }
    }
}
