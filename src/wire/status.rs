//! Converts a refusal to an [`Error`] by what the caller can do about it. HTTP status codes are not visible beyond
//! this room.
//!
//! A Kubernetes server explains a refusal with a `meta/v1` Status; a proxy, a load balancer or a login page in front
//! of it responds with any text. Both become the same: the reason and the message that kubectl would print, and a
//! Status as JSON for callers that forward it.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::listwatch::{Error, Status};

/// The number of characters that are repeated of a body that is not a Status.
const MAX_BODY_CHARS: usize = 512;
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

/// The meaning of a refusal: the variants of [`Error`] that a server can cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meaning {
    Expired,
    TooLarge,
    TooMany,
    Unavailable,
    Internal,
    Unauthorized,
    Forbidden,
    NotFound,
    NotSupported,
    Invalid,
    UnsupportedFieldSelector,
}

impl Meaning {
    /// Returns the code of a Status in a watch that has none, as servers set it for this meaning.
    fn code(self) -> u16 {
        match self {
            Self::Expired => 410,
            Self::TooLarge => 504,
            Self::TooMany => 429,
            Self::Unavailable => 503,
            Self::Internal => 500,
            Self::Unauthorized => 401,
            Self::Forbidden => 403,
            Self::NotFound => 404,
            Self::NotSupported => 405,
            Self::Invalid | Self::UnsupportedFieldSelector => 400,
        }
    }
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
        let reason = reason_of(code);
        let message = message_of(code, body);
        let json = serde_json::to_string(&Substitute {
            kind: "Status",
            api_version: "v1",
            metadata: Empty {},
            status: "Failure",
            message: &message,
            reason,
            details: SubstituteDetails {
                causes: [SubstituteCause { reason: "UnexpectedServerResponse", message: body }],
                retry_after_seconds: retry_after.map(|wait| wait.as_secs()),
            },
            code,
        });
        // No reason: the code alone determines the meaning.
        Self { message: Some(message), json: json.unwrap_or_default(), ..Self::default() }
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
        match meaning_of_reason(reason).unwrap_or_else(|| meaning_of_code(code)) {
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

/// Returns the meaning of a reason of the Kubernetes API (`StatusReason` of `meta/v1`).
fn meaning_of_reason(reason: &str) -> Option<Meaning> {
    Some(match reason {
        "Expired" | "Gone" => Meaning::Expired,
        "TooManyRequests" => Meaning::TooMany,
        "Timeout" | "ServerTimeout" | "ServiceUnavailable" => Meaning::Unavailable,
        "InternalError" | "StoreReadError" => Meaning::Internal,
        "Unauthorized" => Meaning::Unauthorized,
        "Forbidden" => Meaning::Forbidden,
        "NotFound" => Meaning::NotFound,
        "MethodNotAllowed" => Meaning::NotSupported,
        "BadRequest"
        | "Invalid"
        | "NotAcceptable"
        | "UnsupportedMediaType"
        | "RequestEntityTooLarge"
        | "AlreadyExists"
        | "Conflict" => Meaning::Invalid,
        _ => return None,
    })
}

/// Returns the meaning of a code alone. The errors of a gateway (502, 504) are temporary and not about the request; a
/// redirect is not followed, and would not be the next time either.
fn meaning_of_code(code: u16) -> Meaning {
    match code {
        401 | 407 => Meaning::Unauthorized,
        403 => Meaning::Forbidden,
        404 => Meaning::NotFound,
        405 | 501 => Meaning::NotSupported,
        410 => Meaning::Expired,
        429 => Meaning::TooMany,
        408 | 425 | 502..=504 => Meaning::Unavailable,
        300..=499 => Meaning::Invalid,
        _ => Meaning::Internal,
    }
}

/// Returns the reason for a code when the server sent none.
fn reason_of(code: u16) -> &'static str {
    match code {
        400 => "BadRequest",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "NotFound",
        405 => "MethodNotAllowed",
        406 => "NotAcceptable",
        409 => "Conflict",
        410 => "Expired",
        413 => "RequestEntityTooLarge",
        415 => "UnsupportedMediaType",
        422 => "Invalid",
        429 => "TooManyRequests",
        503 => "ServiceUnavailable",
        504 => "Timeout",
        500.. => "InternalError",
        _ => "",
    }
}

/// Returns the message that kubectl prints for a code when the server sent none; `body` is the text that it did send.
fn message_of(code: u16, body: &str) -> String {
    let sentence = match code {
        400 => "the server rejected our request for an unknown reason",
        401 => "the server has asked for the client to provide credentials",
        406 if body == "unknown" => {
            "the server was unable to respond with a content type that the client supports"
        }
        403 | 406 | 415 => body,
        404 => "the server could not find the requested resource",
        405 => "the server does not allow this method on the requested resource",
        409 => "the server reported a conflict",
        422 => "the server rejected our request due to an error in our request",
        429 => "the server has received too many requests and has asked us to try again later",
        503 => "the server is currently unable to handle the request",
        504 => {
            "the server was unable to return a response in the time allotted, but may still be processing the request"
        }
        500.. => {
            return format!("an error on the server ({body:?}) has prevented the request from succeeding");
        }
        _ => {
            return format!(
                "the server responded with the status code {code} but did not return more information"
            );
        }
    };
    sentence.to_owned()
}

/// Returns the start of a body as one line of printable text; `unknown`, kubectl's word, for an empty or binary body.
fn excerpt(body: &[u8]) -> String {
    let head = &body[..body.len().min(4 * MAX_BODY_CHARS)];
    let text = match std::str::from_utf8(head) {
        Ok(text) => text,
        // The text was cut inside a character here.
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(&head[..error.valid_up_to()]).unwrap_or_default()
        }
        Err(_) => "",
    };
    let words = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    let line = words.collect::<Vec<_>>().join(" ");
    if line.is_empty() {
        return "unknown".into();
    }
    match line.char_indices().nth(MAX_BODY_CHARS) {
        Some((end, _)) => line[..end].to_owned() + "…",
        None => line,
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

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Substitute<'a> {
    kind: &'a str,
    api_version: &'a str,
    metadata: Empty,
    status: &'a str,
    message: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    reason: &'a str,
    details: SubstituteDetails<'a>,
    code: u16,
}

#[derive(Serialize)]
struct Empty {}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SubstituteDetails<'a> {
    causes: [SubstituteCause<'a>; 1],
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_after_seconds: Option<u64>,
}

#[derive(Serialize)]
struct SubstituteCause<'a> {
    reason: &'a str,
    message: &'a str,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from_response(code: u16, retry_after: Option<Duration>, body: &[u8]) -> Error {
        from_body(code, retry_after, body)
            .unwrap_or_else(|| from_text(code, retry_after, &String::from_utf8_lossy(body)))
    }

    fn status(reason: &str, code: u16, more: &str) -> String {
        format!(
            r#"{{"kind":"Status","apiVersion":"v1","metadata":{{}},"status":"Failure","message":"the message","reason":"{reason}","code":{code}{more}}}"#
        )
    }

    fn variant(error: &Error) -> &'static str {
        match error {
            Error::Expired(_) => "Expired",
            Error::TooLargeResourceVersion(_) => "TooLarge",
            Error::TooManyRequests { .. } => "TooMany",
            Error::Unavailable { .. } => "Unavailable",
            Error::Internal(_) => "Internal",
            Error::Unauthorized(_) => "Unauthorized",
            Error::Forbidden(_) => "Forbidden",
            Error::NotFound(_) => "NotFound",
            Error::NotSupported(_) => "NotSupported",
            Error::Invalid(_) => "Invalid",
            Error::UnsupportedFieldSelector(_) => "UnsupportedFieldSelector",
            Error::Decode(_) => "Decode",
            _ => "other",
        }
    }

    #[test]
    fn reason_decides_and_unknown_reasons_leave_it_to_the_code() {
        for (reason, code, expected) in [
            ("Expired", 410, "Expired"),
            ("Gone", 410, "Expired"),
            ("", 410, "Expired"),
            ("Unheard", 410, "Expired"),
            ("Timeout", 504, "Unavailable"),
            ("ServerTimeout", 500, "Unavailable"),
            ("ServiceUnavailable", 503, "Unavailable"),
            ("TooManyRequests", 429, "TooMany"),
            ("Unheard", 429, "TooMany"),
            ("InternalError", 500, "Internal"),
            ("StoreReadError", 500, "Internal"),
            ("Unauthorized", 401, "Unauthorized"),
            ("Forbidden", 403, "Forbidden"),
            ("NotFound", 404, "NotFound"),
            ("MethodNotAllowed", 405, "NotSupported"),
            ("BadRequest", 400, "Invalid"),
            ("NotAcceptable", 406, "Invalid"),
            ("UnsupportedMediaType", 415, "Invalid"),
            ("Invalid", 422, "Invalid"),
        ] {
            let json = status(reason, code, "");
            for error in [from_response(code, None, json.as_bytes()), from_status_json(json.as_bytes())] {
                assert_eq!(variant(&error), expected, "{reason} {code}");
                let status = error.status().expect("a Status");
                assert_eq!((status.message.as_str(), status.json.as_str()), ("the message", json.as_str()));
            }
        }
    }

    #[test]
    fn status_keeps_its_code_and_the_name_of_its_object() {
        for code in [400, 406, 408, 409, 410, 413, 415, 422, 502, 503, 504] {
            let substitute = from_response(code, None, b"<html>");
            assert_eq!(substitute.status().and_then(|status| status.code), Some(code));
            // The code of the Status counts, since a proxy may change that of the response.
            let json = status("Unheard", code, r#","details":{"name":"web","kind":"pods"}"#);
            let error = from_response(500, None, json.as_bytes());
            let status = error.status().expect("a Status");
            assert_eq!((status.code, status.name.as_deref()), (Some(code), Some("web")));
        }
        // A watch has no response code.
        let error = from_status_json(br#"{"kind":"Status","reason":"Gone"}"#);
        assert_eq!(error.status().and_then(|status| status.code), Some(410));
    }

    #[test]
    fn unsupported_field_selector_differs_from_other_bad_requests() {
        for (message, expected) in [
            ("Unable to find: field label not supported: spec.x", "UnsupportedFieldSelector"),
            (r#"\"x\" is not a known field selector: only \"metadata.name\""#, "UnsupportedFieldSelector"),
            ("unable to parse requirement", "Invalid"),
        ] {
            let json =
                format!(r#"{{"kind":"Status","message":"{message}","reason":"BadRequest","code":400}}"#);
            assert_eq!(variant(&from_response(400, None, json.as_bytes())), expected, "{message}");
        }
    }

    #[test]
    fn future_version_differs_from_other_timeouts() {
        let by_cause = status(
            "Timeout",
            504,
            r#","details":{"causes":[{"reason":"ResourceVersionTooLarge","message":"Too large resource version"}],"retryAfterSeconds":1}"#,
        );
        let by_message = status("Timeout", 504, "")
            .replace("the message", "Timeout: Too large resource version: 900, current: 7");
        for json in [by_cause, by_message] {
            assert_eq!(variant(&from_response(504, None, json.as_bytes())), "TooLarge", "{json}");
        }
    }

    #[test]
    fn retry_after_header_precedes_the_status() {
        let json = status("TooManyRequests", 429, r#","details":{"retryAfterSeconds":7}"#);
        let wait = |header| from_response(429, header, json.as_bytes()).retry_after();
        assert_eq!(wait(None), Some(Duration::from_secs(7)));
        assert_eq!(wait(Some(Duration::from_secs(2))), Some(Duration::from_secs(2)));
        let overloaded = from_response(500, Some(Duration::from_secs(3)), b"busy");
        assert_eq!(variant(&overloaded), "Unavailable");
        assert_eq!(overloaded.retry_after(), Some(Duration::from_secs(3)));
        let nonsense = status("ServiceUnavailable", 503, r#","details":{"retryAfterSeconds":-1}"#);
        assert_eq!(from_response(503, None, nonsense.as_bytes()).retry_after(), None);
    }

    #[test]
    fn response_without_status_has_kubectls_message() {
        let quoted =
            |text: &str| format!("an error on the server ({text}) has prevented the request from succeeding");
        let no_more = "the server responded with the status code 418 but did not return more information";
        for (code, body, kind, reason, message) in [
            (500, "oh\n  \"no\"", "Internal", "InternalError", quoted(r#""oh \"no\"""#)),
            (502, "", "Unavailable", "InternalError", quoted(r#""unknown""#)),
            (
                404,
                "404 page",
                "NotFound",
                "NotFound",
                "the server could not find the requested resource".into(),
            ),
            (
                503,
                "<html>\u{1b}[31m</html>",
                "Unavailable",
                "ServiceUnavailable",
                "the server is currently unable to handle the request".into(),
            ),
            (
                401,
                "{}",
                "Unauthorized",
                "Unauthorized",
                "the server has asked for the client to provide credentials".into(),
            ),
            (403, "go\taway\r\n", "Forbidden", "Forbidden", "go away".into()),
            (418, "", "Invalid", "", no_more.into()),
        ] {
            let error = from_response(code, None, body.as_bytes());
            let status = error.status().expect("a Status");
            assert_eq!((variant(&error), &*status.reason, &status.message), (kind, reason, &message));
            let json: serde_json::Value = serde_json::from_str(&status.json).expect("JSON");
            assert_eq!((&json["kind"], &json["code"]), (&"Status".into(), &code.into()));
            assert_eq!(json["message"], message);
        }
    }

    #[test]
    fn long_and_binary_bodies_are_cut_and_cleaned() {
        let long = "ü".repeat(5000);
        assert_eq!(excerpt(long.as_bytes()).chars().count(), MAX_BODY_CHARS + 1);
        assert_eq!(excerpt(&[0xff, 0xfe, b'a']), "unknown");
        assert_eq!(excerpt(b"\x1b[2Jx\x07"), "[2Jx");
    }

    #[test]
    fn pretty_printed_status_becomes_one_line() {
        let pretty = "{\n  \"kind\": \"Status\",\n  \"reason\": \"Expired\",\n  \"code\": 410\n}\n";
        let error = from_response(410, None, pretty.as_bytes());
        let status = error.status().expect("a Status");
        assert_eq!(status.json, r#"{"code":410,"kind":"Status","reason":"Expired"}"#);
        // Without a message that of the code is used.
        assert!(status.message.contains("410"), "{}", status.message);
    }

    #[test]
    fn error_frame_without_status_is_a_decode_error() {
        for json in ["", "{}", "null", r#"{"kind":"Pod"}"#, r#"{"kind":"Status","status":"Success"}"#] {
            assert_eq!(variant(&from_status_json(json.as_bytes())), "Decode", "{json}");
        }
    }
}
