//! The Status of a response without one: its reason, its message in kubectl's words, and its JSON.

use std::time::Duration;

use serde::Serialize;

/// The number of characters that are repeated of a body that is not a Status.
pub(super) const MAX_BODY_CHARS: usize = 512;

/// Returns the Status that a server might have sent with this code and message, as JSON.
pub(super) fn json(code: u16, retry_after: Option<Duration>, message: &str, body: &str) -> String {
    let json = serde_json::to_string(&Substitute {
        kind: "Status",
        api_version: "v1",
        metadata: Empty {},
        status: "Failure",
        message,
        reason: reason_of(code),
        details: SubstituteDetails {
            causes: [SubstituteCause { reason: "UnexpectedServerResponse", message: body }],
            retry_after_seconds: retry_after.map(|wait| wait.as_secs()),
        },
        code,
    });
    json.unwrap_or_default()
}

/// Returns the reason for a code when the server sent none.
pub(super) fn reason_of(code: u16) -> &'static str {
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
pub(super) fn message_of(code: u16, body: &str) -> String {
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
pub(super) fn excerpt(body: &[u8]) -> String {
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
