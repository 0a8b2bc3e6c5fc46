//! The `Impersonate-…` headers of a user.

use std::fmt::Write;

use http::header::{HeaderMap, HeaderName, HeaderValue};

use crate::kubeconfig::Error;
use crate::kubeconfig::file_format::AuthInfo;

/// Returns the headers; empty without impersonation.
///
/// # Errors
/// [`Error::Invalid`] for a name that is not valid in a header.
pub(super) fn headers(user: &AuthInfo) -> Result<HeaderMap, Error> {
    let mut headers = HeaderMap::new();
    let Some(name) = &user.impersonate else { return Ok(headers) };
    headers.insert("impersonate-user", value(name)?);
    if let Some(uid) = &user.impersonate_uid {
        headers.insert("impersonate-uid", value(uid)?);
    }
    for group in user.impersonate_groups.iter().flatten() {
        headers.append("impersonate-group", value(group)?);
    }
    for (key, values) in user.impersonate_user_extra.iter().flatten() {
        let name = format!("impersonate-extra-{}", escaped(key));
        let name = HeaderName::try_from(name).map_err(|_| unusable())?;
        for text in values {
            headers.append(&name, value(text)?);
        }
    }
    Ok(headers)
}

fn value(text: &str) -> Result<HeaderValue, Error> {
    HeaderValue::try_from(text.as_bytes()).map_err(|_| unusable())
}

fn unusable() -> Error {
    Error::Invalid("the names to impersonate hold characters that a header can't carry".to_owned())
}

/// Escapes characters that are not valid in a header's name as `%2F`, and the percent sign itself; the server
/// unescapes them.
fn escaped(key: &str) -> String {
    let mut out = String::with_capacity(key.len());
    for byte in key.bytes() {
        if byte.is_ascii_alphanumeric() || b"!#$&'*+-.^_`|~".contains(&byte) {
            out.push(byte.into());
        } else {
            // Writing to a String does not fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(user: &AuthInfo) -> Vec<String> {
        let headers = headers(user).unwrap();
        let line = |(name, value): (&HeaderName, &HeaderValue)| {
            format!("{name}: {}", String::from_utf8_lossy(value.as_bytes()))
        };
        let mut lines: Vec<_> = headers.iter().map(line).collect();
        lines.sort();
        lines
    }

    #[test]
    fn impersonation_sends_uid_groups_and_extras() {
        let extra = [("example.org/Scope%".to_owned(), vec!["view".to_owned(), "edit".to_owned()])];
        let user = AuthInfo {
            impersonate: Some("jürgen".into()),
            impersonate_uid: Some("7".into()),
            impersonate_groups: Some(vec!["a".into(), "b".into()]),
            impersonate_user_extra: Some(extra.into()),
            ..AuthInfo::default()
        };
        let expected = [
            "impersonate-extra-example.org%2fscope%25: edit",
            "impersonate-extra-example.org%2fscope%25: view",
            "impersonate-group: a",
            "impersonate-group: b",
            "impersonate-uid: 7",
            "impersonate-user: jürgen",
        ];
        assert_eq!(sent(&user), expected);
    }

    #[test]
    fn impersonation_needs_a_user_and_header_injection_is_refused() {
        let groups = AuthInfo { impersonate_groups: Some(vec!["a".into()]), ..AuthInfo::default() };
        assert!(sent(&groups).is_empty());
        let split = AuthInfo { impersonate: Some("a\r\nx: y".into()), ..AuthInfo::default() };
        assert!(headers(&split).is_err());
    }
}
