//! Masks a client's own credentials in texts of other parties: a server, a proxy or an identity provider may repeat
//! them.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Arc, PoisonError, RwLock};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::header::HeaderValue;
use serde_json::Value;

use crate::kubeconfig::Proxy;
use crate::listwatch::{Error, NetworkFailure, Status};

/// Replaces a credential.
const MASK: &str = "***";
/// The number of credentials that are kept. The oldest are dropped first: renewed tokens are no longer sent.
const CAPACITY: usize = 64;
/// The length in characters from which a credential is masked. A shorter one would be found inside ordinary words, and
/// replacing those would make every message unreadable without hiding a password that can be guessed anyway.
const SHORTEST: usize = 8;

/// The credentials that one client sends, for masking them in texts.
///
/// Credentials of less than eight characters are not masked. Cheap to clone; clones share the credentials.
///
/// A read-write lock: every message reads, only a new login writes; it is never held across an await. Bounded by 64
/// credentials.
#[derive(Clone, Default)]
pub struct Redaction(Arc<RwLock<VecDeque<Credential>>>);

/// The forms in which one credential may be repeated, itself first.
struct Credential(Vec<String>);

impl Redaction {
    /// Adds a credential: as it is, and as it appears in JSON, HTML, a form and a URL.
    pub(crate) fn add(&self, credential: &str) {
        if credential.chars().count() < SHORTEST || self.has(credential) {
            return;
        }
        let forms = forms(credential);
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if known.len() == CAPACITY {
            known.pop_front();
        }
        known.push_back(Credential(forms));
    }

    /// Adds the credential of an `Authorization` or `Proxy-Authorization` header; of `Basic` also the password.
    pub(crate) fn add_header(&self, header: &HeaderValue) {
        let Some((scheme, credential)) = header.to_str().ok().and_then(|text| text.split_once(' ')) else {
            return;
        };
        // Called for each request: a known header costs one comparison.
        if self.has(credential) {
            return;
        }
        self.add(credential);
        if scheme == "Basic"
            && let Ok(decoded) = STANDARD.decode(credential)
            && let Some((_, password)) = String::from_utf8_lossy(&decoded).split_once(':')
        {
            self.add(password);
        }
    }

    /// Adds the password of a proxy, and the header that carries it.
    pub(crate) fn add_proxy(&self, proxy: &Proxy) {
        if let Some((_, password)) = proxy.login() {
            self.add(password);
        }
        if let Some(header) = proxy.authorization() {
            self.add_header(&header);
        }
    }

    fn has(&self, credential: &str) -> bool {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        known.iter().any(|other| other.0[0] == credential)
    }

    /// Returns the text with every credential replaced by `***`.
    #[must_use]
    pub fn apply<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        masked(text, known.iter().flat_map(|credential| &credential.0).map(String::as_str))
    }

    /// Returns the size of the start of a credential with which a text ends, because it is cut there. `apply` masks whole
    /// credentials only.
    pub(crate) fn cut_credential(&self, text: &str) -> usize {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let forms = known.iter().flat_map(|credential| &credential.0);
        let starts = forms.flat_map(|form| form.char_indices().skip(1).map(|(end, _)| &form[..end]));
        starts.filter(|start| text.ends_with(start)).map(str::len).max().unwrap_or_default()
    }

    /// Returns the error with every text in it masked.
    pub(crate) fn error(&self, error: Error) -> Error {
        let text = |text: String| self.owned(text);
        let failure = |NetworkFailure { message, is_before_response }| NetworkFailure {
            message: self.owned(message),
            is_before_response,
        };
        let masked = |status: Status| Status {
            code: status.code,
            name: status.name.map(|name| self.owned(name.into()).into()),
            reason: self.owned(status.reason),
            message: self.owned(status.message),
            json: self.json(status.json),
        };
        match error {
            Error::Expired(status) => Error::Expired(masked(status)),
            Error::TooLargeResourceVersion(status) => Error::TooLargeResourceVersion(masked(status)),
            Error::TooManyRequests { status, retry_after } => {
                Error::TooManyRequests { status: masked(status), retry_after }
            }
            Error::Unavailable { status, retry_after } => {
                Error::Unavailable { status: masked(status), retry_after }
            }
            Error::Internal(status) => Error::Internal(masked(status)),
            Error::Unauthorized(status) => Error::Unauthorized(masked(status)),
            Error::Forbidden(status) => Error::Forbidden(masked(status)),
            Error::NotFound(status) => Error::NotFound(masked(status)),
            Error::NotSupported(status) => Error::NotSupported(masked(status)),
            Error::Invalid(status) => Error::Invalid(masked(status)),
            Error::UnsupportedFieldSelector(status) => Error::UnsupportedFieldSelector(masked(status)),
            Error::Refused(message) => Error::Refused(text(message)),
            Error::Tls(message) => Error::Tls(text(message)),
            Error::TlsAlert(message) => Error::TlsAlert(text(message)),
            Error::Transport(cause) => Error::Transport(failure(cause)),
            Error::Timeout(cause) => Error::Timeout(failure(cause)),
            Error::Decode(message) => Error::Decode(text(message)),
            Error::NotStored(message) => Error::NotStored(text(message)),
        }
    }

    fn owned(&self, text: String) -> String {
        match self.apply(&text) {
            Cow::Borrowed(_) => text,
            Cow::Owned(masked) => masked,
        }
    }

    /// Returns JSON with every string masked; the same bytes if there is nothing to mask.
    fn json(&self, json: String) -> String {
        let Ok(mut value) = serde_json::from_str::<Value>(&json) else { return self.owned(json) };
        if self.mask_value(&mut value) { value.to_string() } else { json }
    }

    /// Returns whether anything was masked. The parser bounds the depth.
    fn mask_value(&self, value: &mut Value) -> bool {
        match value {
            Value::String(text) => match self.apply(text) {
                Cow::Borrowed(_) => false,
                Cow::Owned(masked) => {
                    *text = masked;
                    true
                }
            },
            Value::Array(items) => items.iter_mut().fold(false, |any, item| self.mask_value(item) | any),
            Value::Object(members) => {
                let mut any = false;
                for (name, mut member) in std::mem::take(members) {
                    any |= self.mask_value(&mut member);
                    let shown = self.apply(&name);
                    any |= matches!(shown, Cow::Owned(_));
                    members.insert(shown.into_owned(), member);
                }
                any
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        }
    }
}

/// Returns the forms of a credential, itself first.
fn forms(credential: &str) -> Vec<String> {
    let json = serde_json::to_string(credential).unwrap_or_default();
    let json = json.trim_start_matches('"').strip_suffix('"').unwrap_or_default().to_owned();
    let go_json = json.replace('&', "\\u0026").replace('<', "\\u003c").replace('>', "\\u003e");
    let html = credential.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let encoded = |set| percent_encoding::utf8_percent_encode(credential, set).to_string();
    let mut forms = vec![credential.to_owned()];
    for other in [
        json,
        go_json,
        html.replace('"', "&#34;").replace('\'', "&#39;"),
        html.replace('"', "&quot;").replace('\'', "&#x27;"),
        html,
        form_urlencoded::byte_serialize(credential.as_bytes()).collect(),
        encoded(percent_encoding::NON_ALPHANUMERIC),
        encoded(percent_encoding::CONTROLS),
    ] {
        if !forms.contains(&other) {
            forms.push(other);
        }
    }
    forms
}

fn masked<'a, 'b>(text: &'a str, forms: impl Iterator<Item = &'b str>) -> Cow<'a, str> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for form in forms {
        found.extend(text.match_indices(form).map(|(start, _)| start..start + form.len()));
    }
    if found.is_empty() {
        return Cow::Borrowed(text);
    }
    found.sort_by_key(|range| range.start);
    let (mut out, mut end) = (String::with_capacity(text.len()), 0);
    for range in found {
        // Matches of two forms or credentials may overlap.
        if range.start >= end {
            out.push_str(&text[end..range.start]);
            out.push_str(MASK);
        }
        end = end.max(range.end);
    }
    out.push_str(&text[end..]);
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redaction(credentials: &[&str]) -> Redaction {
        let redaction = Redaction::default();
        for credential in credentials {
            redaction.add(credential);
        }
        redaction
    }

    #[test]
    fn credentials_are_masked_in_every_encoding() {
        let secret = "\"p'a/s+s=w <ö>&#d-1\"";
        let redaction = redaction(&[secret]);
        for text in [
            secret.to_owned(),
            serde_json::to_string(secret).expect("JSON").trim_matches('"').to_owned() + "\"",
            form_urlencoded::byte_serialize(secret.as_bytes()).collect(),
            "%22p%27a%2Fs%2Bs%3Dw%20%3C%C3%B6%3E%26%23d%2D1%22".to_owned(),
            "&#34;p&#39;a/s+s=w &lt;ö&gt;&amp;#d-1&#34;".to_owned(),
            "&quot;p&#x27;a/s+s=w &lt;ö&gt;&amp;#d-1&quot;".to_owned(),
            "\\\"p'a/s+s=w \\u003cö\\u003e\\u0026#d-1\\\"".to_owned(),
        ] {
            assert_eq!(redaction.apply(&text), MASK, "{text}");
        }
    }

    #[test]
    fn short_credentials_are_not_masked() {
        let redaction = redaction(&["pods", "secrets", "12345678", "78abcdef"]);
        for (text, expected) in [
            ("Bearer 12345678", "Bearer ***"),
            ("x12345678x", "x***x"),
            ("12345678abcdef!", "***!"),
            ("the pods, podspec, secrets", "the pods, podspec, secrets"),
            ("nothing", "nothing"),
        ] {
            assert_eq!(redaction.apply(text), expected);
        }
        assert!(matches!(redaction.apply("nothing"), Cow::Borrowed(_)));
    }

    #[test]
    fn basic_headers_mask_their_base64_and_their_password() {
        let redaction = Redaction::default();
        // me:open: sesame
        redaction.add_header(&HeaderValue::from_static("Basic bWU6b3BlbjogczNzYW1l"));
        redaction.add_header(&HeaderValue::from_static("Bearer t0k3n-1234"));
        assert_eq!(redaction.apply("bWU6b3BlbjogczNzYW1l|me:open: s3same|t0k3n-1234"), "***|me:***|***");
    }

    #[test]
    fn json_keeps_its_bytes_unless_something_is_masked() {
        let redaction = redaction(&["t0k3n-json"]);
        let json = r#"{"b":1.0, "a":["x"]}"#;
        assert_eq!(redaction.json(json.to_owned()), json);
        let echoed = r#"{"k":["t\u0030k3n-json"],"t0k3n-json":7}"#;
        assert_eq!(redaction.json(echoed.to_owned()), r#"{"***":7,"k":["***"]}"#);
        assert_eq!(redaction.json("no t0k3n-json".to_owned()), "no ***");
    }

    #[test]
    fn start_of_a_credential_is_found_at_a_cut() {
        let redaction = redaction(&["s3cr3t-tökén"]);
        for (text, expected) in [("x s3cr3t-tö", 10), ("s", 1), ("s3cr3t-tökén", 0), ("nothing", 0), ("", 0)]
        {
            assert_eq!(redaction.cut_credential(text), expected, "{text}");
        }
    }

    #[test]
    fn the_oldest_credentials_are_dropped() {
        let redaction = Redaction::default();
        for number in 0..=CAPACITY {
            redaction.add(&format!("token-{number:04}"));
            redaction.add(&format!("token-{number:04}"));
        }
        assert_eq!(redaction.apply("token-0000 token-0001"), "token-0000 ***");
    }
}
