//! Converts a refusal to an [`Error`] by what the caller can do about it. HTTP status codes are not visible beyond
//! this room.
//!
//! A Kubernetes server explains a refusal with a `meta/v1` Status; a proxy, a load balancer or a login page in front
//! of it responds with any text. Both become the same: the reason and the message that kubectl would print, and a
//! Status as JSON for callers that forward it.

mod meaning;
mod substitute;
#[cfg(test)]
mod tests;

use std::time::Duration;

use serde::Deserialize;

use crate::listwatch::{Error, Status};
use meaning::Meaning;
use substitute::{excerpt, message_of, reason_of};

/// The type of the cause of a resource version in the future.
const TOO_LARGE_CAUSE: &str = "ResourceVersionTooLarge";
/// The same in servers up to 1.18, which state it in the message only.
const TOO_LARGE_MESSAGE: &str = "Too large resource version";
/// The messages about a field selector: of most resources, and of those that select by name and namespace only.
const UNSUPPORTED_FIELD_SELECTOR: [&str; 2] = ["field label not supported", "is not a known field selector"];

/// Returns the error of a response with another code than 2xx whose body is a Status, `None` when it is none.
///
/// `retry_after` is the response's header and takes precedence over that of the Status. The caller bounds `body`.
pub(crate) fn from_body(code: u16, retry_after: Option<Duration>, body: &[u8]) -> Option<Error> {
    Some(WireStatus::read(body)?.into_error(code, retry_after))
}

/// Returns the error of a response with another code than 2xx whose body is the text of anything but a Status.
pub(crate) fn from_text(code: u16, retry_after: Option<Duration>, text: &str) -> Error {
    WireStatus::substitute(code, retry_after, &excerpt(text.as_bytes())).into_error(code, retry_after)
}

/// Returns the error that the object of an `ERROR` frame describes.
pub(crate) fn from_status_json(json: &[u8]) -> Error {
    match WireStatus::read(json) {
        Some(wire_status) => wire_status.into_error(0, None),
        None => Error::Decode("the watch reported an error whose object is no Status".into()),
    }
}

/// The fields of a Status that matter here, and its whole text.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct WireStatus {
    kind: String,
    status: Option<String>,
    message: Option<String>,
    reason: Option<String>,
    details: Option<Details>,
    code: Option<u16>,
    #[serde(skip)]
    json: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Details {
    name: Option<Box<str>>,
    causes: Option<Vec<Cause>>,
    retry_after_seconds: Option<i64>,
}

/// A cause. Its type has the JSON name `reason`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Cause {
    reason: Option<String>,
    message: Option<String>,
}

impl WireStatus {
    /// Parses the Status in `body`, if it reports a failure.
    fn read(body: &[u8]) -> Option<Self> {
        let body = body.trim_ascii();
        let wire_status: Self = serde_json::from_slice(body).ok()?;
        let failed = wire_status.status.as_deref().is_none_or(|status| status != "Success");
        (wire_status.kind == "Status" && failed).then(|| Self { json: one_line(body), ..wire_status })
    }

    /// Builds the Status that a server might have sent with this code, in the words that kubectl uses without one.
    fn substitute(code: u16, retry_after: Option<Duration>, body: &str) -> Self {
        let message = message_of(code, body);
        let json = substitute::json(code, retry_after, &message, body);
        // No reason: the code alone determines the meaning.
        Self { message: Some(message), json, ..Self::default() }
    }

    fn into_error(self, http_code: u16, retry_after: Option<Duration>) -> Error {
        let code = self.code.filter(|code| *code != 0).unwrap_or(http_code);
        let retry_after = retry_after.or_else(|| self.retry_after());
        let meaning = self.meaning(code, retry_after);
        let code = if code == 0 { meaning.code() } else { code };
        let reason = self.reason.filter(|reason| !reason.is_empty());
        let message = self.message.filter(|message| !message.is_empty());
        let status = Status {
            code: Some(code),
            name: self.details.and_then(|details| details.name).filter(|name| !name.is_empty()),
            reason: reason.unwrap_or_else(|| reason_of(code).to_owned()),
            message: message.unwrap_or_else(|| message_of(code, "unknown")),
            json: self.json,
        };
        match meaning {
            Meaning::Expired => Error::Expired(status),
            Meaning::TooLarge => Error::TooLargeResourceVersion(status),
            Meaning::TooMany => Error::TooManyRequests { status, retry_after },
            Meaning::Unavailable => Error::Unavailable { status, retry_after },
            Meaning::Internal => Error::Internal(status),
            Meaning::Unauthorized => Error::Unauthorized(status),
            Meaning::Forbidden => Error::Forbidden(status),
            Meaning::NotFound => Error::NotFound(status),
            Meaning::NotSupported => Error::NotSupported(status),
            Meaning::Invalid => Error::Invalid(status),
            Meaning::UnsupportedFieldSelector => Error::UnsupportedFieldSelector(status),
        }
    }

    /// Returns the meaning of the reason if it is known, else of the code, since a server may use reasons of its own.
    /// An internal error with a time to wait is temporary.
    fn meaning(&self, code: u16, retry_after: Option<Duration>) -> Meaning {
        let reason = self.reason.as_deref().unwrap_or_default();
        match Meaning::of_reason(reason).unwrap_or_else(|| Meaning::of_code(code)) {
            _ if code == 429 => Meaning::TooMany,
            Meaning::Unavailable if self.is_too_large() => Meaning::TooLarge,
            Meaning::Invalid if self.refuses_field_selector() => Meaning::UnsupportedFieldSelector,
            Meaning::Internal if retry_after.is_some() => Meaning::Unavailable,
            meaning => meaning,
        }
    }

    /// Returns whether the server does not support the field selector for the resource: a `BadRequest` that only its
    /// message distinguishes from others (the field label conversions of `apimachinery` and of each API group).
    fn refuses_field_selector(&self) -> bool {
        let message = self.message.as_deref().unwrap_or_default();
        UNSUPPORTED_FIELD_SELECTOR.iter().any(|text| message.contains(text))
    }

    fn is_too_large(&self) -> bool {
        let mentions_it =
            |text: &Option<String>| text.as_deref().is_some_and(|text| text.contains(TOO_LARGE_MESSAGE));
        let mut causes = self.details.iter().flat_map(|details| details.causes.iter().flatten());
        mentions_it(&self.message)
            || causes
                .any(|cause| cause.reason.as_deref() == Some(TOO_LARGE_CAUSE) || mentions_it(&cause.message))
    }

    fn retry_after(&self) -> Option<Duration> {
        let seconds = self.details.as_ref()?.retry_after_seconds?;
        u64::try_from(seconds).ok().filter(|seconds| *seconds > 0).map(Duration::from_secs)
    }
}

/// Returns valid JSON on one line. Compact JSON keeps its text.
fn one_line(json: &[u8]) -> String {
    let text = String::from_utf8_lossy(json);
    if memchr::memchr2(b'\n', b'\r', json).is_none() {
        return text.into_owned();
    }
    serde_json::from_str::<serde_json::Value>(&text).map_or_else(|_| String::new(), |value| value.to_string())
}
