//! Tests of the meanings and texts of refusals.

use super::substitute::MAX_BODY_CHARS;
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
        let json = format!(r#"{{"kind":"Status","message":"{message}","reason":"BadRequest","code":400}}"#);
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
        (404, "404 page", "NotFound", "NotFound", "the server could not find the requested resource".into()),
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
