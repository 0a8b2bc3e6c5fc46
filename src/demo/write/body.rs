//! Decoding of request bodies, in JSON or protobuf.

use serde_json::Value;

use super::protobuf;
use crate::server::api_error::ApiError;
use crate::server::http::response::JSON;
use crate::server::source::Kind;

/// Returns whether a body has Kubernetes' protobuf encoding.
pub(in crate::demo) fn is_protobuf(content_type: &str) -> bool {
    content_type == "application/vnd.kubernetes.protobuf"
}

/// Parses the body of a request.
///
/// A real server treats a body without `Content-Type` as JSON. The demo requires the header: a web page can send bodies
/// without it, or with a few simple types, to any server, but JSON only to servers that allow it.
///
/// # Errors
/// The type is neither JSON nor protobuf, or the body can't be parsed.
pub(in crate::demo) fn read(content_type: &str, body: &[u8]) -> Result<Value, ApiError> {
    if is_protobuf(content_type) {
        return protobuf::decode(body).map_err(ApiError::bad_request);
    }
    if content_type != JSON {
        return Err(ApiError::unsupported_media_type());
    }
    serde_json::from_slice(body).map_err(|error| {
        ApiError::bad_request(format!("couldn't get version/kind; json parse error: {error}"))
    })
}

/// Parses the body of a request as an object of this kind.
///
/// # Errors
/// The body is invalid or of another kind.
pub(in crate::demo) fn decode(kind: &Kind, content_type: &str, body: &[u8]) -> Result<Value, ApiError> {
    let value = read(content_type, body)?;
    let (own, version) = (value["kind"].as_str(), value["apiVersion"].as_str());
    let is_of_kind =
        own.is_none_or(|own| own == kind.kind) && version.is_none_or(|own| own == kind.api_version());
    if value.is_object() && is_of_kind {
        return Ok(value);
    }
    Err(ApiError::bad_request(format!(
        "{} in version {:?} cannot be handled as a {}",
        own.unwrap_or("the object"),
        version.unwrap_or_default(),
        kind.kind
    )))
}
