//! HTTP responses with complete or chunked bodies.

use std::convert::Infallible;

use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode, header};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use serde_json::Value;

use crate::server::api_error::ApiError;

/// The body type of all responses.
pub(crate) type Body = UnsyncBoxBody<Bytes, Infallible>;

pub(crate) fn boxed(body: impl hyper::body::Body<Data = Bytes, Error = Infallible> + Send + 'static) -> Body {
    body.boxed_unsync()
}

/// Creates a response with a complete body.
pub(crate) fn complete(code: u16, content_type: &str, body: impl Into<Bytes>) -> Response<Body> {
    with_body(code, content_type, boxed(Full::new(body.into())))
}

pub(crate) fn with_body(code: u16, content_type: &str, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    if let Ok(value) = content_type.parse() {
        response.headers_mut().insert(header::CONTENT_TYPE, value);
    }
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache, private"));
    response
}

pub(crate) const JSON: &str = "application/json";

pub(crate) fn json(code: u16, value: &Value) -> Response<Body> {
    complete(code, JSON, format!("{value}\n"))
}

/// Creates the Status response of an error.
pub(crate) fn error_response(error: &ApiError) -> Response<Body> {
    let mut response = complete(error.code, JSON, error.json());
    if let Some(seconds) = error.retry_after {
        response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
    }
    response
}

/// Adds a `Warning` header, as API servers do (KEP-1693). A text that is not ASCII, or has control characters, can't be
/// sent.
pub(crate) fn add_warning(response: &mut Response<Body>, text: &str) {
    let quoted = text.replace('\\', "\\\\").replace('"', "\\\"");
    let value = HeaderValue::try_from(format!("299 - \"{quoted}\""));
    if let Some(value) = value.ok().filter(|_| text.is_ascii()) {
        response.headers_mut().append(header::WARNING, value);
    }
}

/// Creates a real server's response to an unknown path.
pub(crate) fn unknown_path() -> Response<Body> {
    complete(404, "text/plain; charset=utf-8", "404 page not found\n")
}
