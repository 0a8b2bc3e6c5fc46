//! Error responses as a real server's Status: the same codes, reasons and messages.

use bytes::Bytes;
use serde_json::{Value, json};

use super::source::{Kind, Unreadable};

/// A rejected request and the reason.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ApiError {
    pub(crate) code: u16,
    reason: &'static str,
    message: String,
    details: Option<Value>,
    continue_token: Option<String>,
    /// The value of `Retry-After`, in seconds.
    pub(crate) retry_after: Option<u32>,
}

impl ApiError {
    /// Creates an error without details.
    pub(crate) fn new(code: u16, reason: &'static str, message: impl Into<String>) -> Self {
        Self { code, reason, message: message.into(), details: None, continue_token: None, retry_after: None }
    }

    /// Sets the details.
    pub(crate) fn with(mut self, details: Value) -> Self {
        self.details = Some(details);
        self
    }

    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(400, "BadRequest", message)
    }

    /// A watch version that is not a number: the one error for which a real server gives no reason.
    pub(crate) fn invalid_watch_version(message: impl Into<String>) -> Self {
        Self::new(500, "", message)
    }

    pub(crate) fn not_found(kind: &Kind, name: &str) -> Self {
        let message = format!("{} \"{name}\" not found", kind.group_resource());
        Self::new(404, "NotFound", message).with(kind.details(name))
    }

    /// The resource or subresource does not exist in an existing group version.
    pub(crate) fn no_resource() -> Self {
        Self::new(404, "NotFound", "the server could not find the requested resource").with(json!({}))
    }

    pub(crate) fn method_not_allowed() -> Self {
        let message = "the server does not allow this method on the requested resource";
        Self::new(405, "MethodNotAllowed", message).with(json!({}))
    }

    /// A write to a server without writes, or a request to a subresource that it can't have.
    pub(crate) fn read_only(message: &str) -> Self {
        Self::new(405, "MethodNotAllowed", message).with(json!({}))
    }

    /// A resource that exists but whose objects are not available.
    pub(crate) fn unavailable_resource(message: String) -> Self {
        Self::new(405, "MethodNotAllowed", message).with(json!({}))
    }

    /// Stored data that can't be read.
    pub(crate) fn unreadable(Unreadable(reason): Unreadable) -> Self {
        Self::new(500, "InternalError", format!("Internal error occurred: {reason}")).with(json!({}))
    }

    pub(crate) fn not_acceptable() -> Self {
        let message = "only the following media types are accepted: application/json, \
                       application/json;as=Table;v=v1;g=meta.k8s.io, \
                       application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io";
        Self::new(406, "NotAcceptable", message).with(json!({}))
    }

    pub(crate) fn unsupported_media_type() -> Self {
        let message = "the body of the request was in an unknown format - accepted media types include: \
                       application/json, application/vnd.kubernetes.protobuf";
        Self::new(415, "UnsupportedMediaType", message)
    }

    pub(crate) fn too_large() -> Self {
        Self::new(413, "RequestEntityTooLarge", "Request entity too large: limit is 3145728")
    }

    /// The request bodies exceed their shared budget. Clients retry.
    pub(crate) fn too_many_requests() -> Self {
        let error = Self::new(429, "TooManyRequests", "Too many requests, please try again later.");
        Self { retry_after: Some(1), ..error.with(json!({"retryAfterSeconds": 1})) }
    }

    /// A body that was not received in time.
    pub(crate) fn timeout() -> Self {
        let message = "Timeout: request did not complete within the allotted timeout";
        Self::new(504, "Timeout", message).with(json!({}))
    }

    /// A request without the token.
    pub(crate) fn unauthorized() -> Self {
        Self::new(401, "Unauthorized", "Unauthorized")
    }

    /// A `Host` that is not a name of this machine.
    pub(crate) fn foreign_host(host: &str) -> Self {
        let message = format!("this server serves localhost, 127.0.0.1 and [::1], not the host {host:?}");
        Self::new(403, "Forbidden", message)
    }

    pub(crate) fn already_exists(kind: &Kind, name: &str) -> Self {
        let message = format!("{} \"{name}\" already exists", kind.group_resource());
        Self::new(409, "AlreadyExists", message).with(kind.details(name))
    }

    pub(crate) fn conflict(kind: &Kind, name: &str, why: &str) -> Self {
        let message = format!("Operation cannot be fulfilled on {} \"{name}\": {why}", kind.group_resource());
        Self::new(409, "Conflict", message).with(kind.details(name))
    }

    /// A conflict that names the kind instead of the resource, as for deletions.
    pub(crate) fn precondition(kind: &Kind, name: &str, why: &str) -> Self {
        let named = Kind { plural: kind.kind.clone(), ..kind.clone() };
        Self::conflict(&named, name, why)
    }

    pub(crate) fn forbidden(kind: &Kind, name: &str, why: &str) -> Self {
        let message = format!("{} \"{name}\" is forbidden: {why}", kind.group_resource());
        Self::new(403, "Forbidden", message).with(kind.details(name))
    }

    /// An object that can't be stored; at least one cause.
    pub(crate) fn invalid(kind: &Kind, name: &str, causes: &[Cause]) -> Self {
        Self::invalid_of(&kind.group, &kind.kind, name, causes)
    }

    /// Like [`ApiError::invalid`], for an object of a kind that is not served, or with an empty kind for the request
    /// itself.
    pub(crate) fn invalid_of(group: &str, kind: &str, name: &str, causes: &[Cause]) -> Self {
        let messages: Vec<String> = causes.iter().map(Cause::text).collect();
        let reasons =
            if let [one] = messages.as_slice() { one.clone() } else { format!("[{}]", messages.join(", ")) };
        let dot = if group.is_empty() { "" } else { "." };
        let message = format!("{kind}{dot}{group} \"{name}\" is invalid: {reasons}");
        let mut details = json!({"causes": causes.iter().map(Cause::json).collect::<Vec<_>>()});
        for (key, value) in [("name", name), ("group", group), ("kind", kind)] {
            if !value.is_empty() {
                details[key] = value.into();
            }
        }
        Self::new(422, "Invalid", message).with(details)
    }

    /// Contradictory list options; at least one cause.
    pub(crate) fn invalid_options(causes: &[Cause]) -> Self {
        Self::invalid_of("meta.k8s.io", "ListOptions", "", causes)
    }

    /// A body with unknown fields or fields of the wrong type.
    pub(crate) fn undecodable(kind: &Kind, why: &str) -> Self {
        let (own, version) = (&kind.kind, &kind.version);
        Self::bad_request(format!("{own} in version {version:?} cannot be handled as a {own}: {why}"))
    }

    /// An apply of an object with unknown fields: the other error without a reason.
    pub(crate) fn not_in_schema(kind: &Kind, place: &str, field: &str) -> Self {
        let (version, own) = (kind.api_version(), &kind.kind);
        let message = format!(
            "failed to create typed patch object ({place}; {version}, Kind={own}): .{field}: field not declared in schema"
        );
        Self::new(500, "", message)
    }

    /// A JSON patch with an impossible step. A real server gives no details either.
    pub(crate) fn patch_failed() -> Self {
        let message = "the server rejected our request due to an error in our request";
        Self::new(422, "Invalid", message).with(json!({}))
    }

    /// An apply of fields that other managers own.
    pub(crate) fn apply_conflict(conflicts: &[(String, String)]) -> Self {
        let count = conflicts.len();
        let word = if count == 1 { "conflict" } else { "conflicts" };
        let causes: Vec<Value> = conflicts
            .iter()
            .map(|(manager, field)| json!({"reason": "FieldManagerConflict", "message": manager, "field": field}))
            .collect();
        let messages: Vec<String> =
            conflicts.iter().map(|(manager, field)| format!("{manager}: {field}")).collect();
        let message = format!("Apply failed with {count} {word}: {}", messages.join("\n"));
        Self::new(409, "Conflict", message).with(json!({"causes": causes}))
    }

    /// A list at a compacted version.
    pub(crate) fn expired_list() -> Self {
        Self::new(410, "Expired", "The resourceVersion for the provided list is too old.")
    }

    /// A continue token of a compacted version; the token in the response continues inconsistently.
    pub(crate) fn expired_continue(token: String) -> Self {
        let message = "The provided continue parameter is too old to display a consistent list result. You can \
             start a new list without the continue parameter, or use the continue token in this response to \
             retrieve the remainder of the results. Continuing with the provided token results in an \
             inconsistent list - objects that were created, modified, or deleted between the time the first \
             chunk was returned and now may show up in the list.";
        Self { continue_token: Some(token), ..Self::new(410, "Expired", message) }
    }

    /// A watch from a compacted version.
    pub(crate) fn expired_watch(requested: u64, oldest: u64) -> Self {
        Self::new(410, "Expired", format!("too old resource version: {requested} ({oldest})"))
    }

    /// A version that does not exist yet.
    pub(crate) fn future_version(requested: u64, current: u64) -> Self {
        let message = format!("Timeout: Too large resource version: {requested}, current: {current}");
        let cause = json!({"reason": "ResourceVersionTooLarge", "message": "Too large resource version"});
        Self::new(504, "Timeout", message).with(json!({"causes": [cause], "retryAfterSeconds": 1}))
    }

    /// Returns the Status as JSON.
    pub(crate) fn json(&self) -> Bytes {
        let mut metadata = json!({});
        if let Some(token) = &self.continue_token {
            metadata["continue"] = token.as_str().into();
        }
        let mut status = json!({
            "kind": "Status", "apiVersion": "v1", "metadata": metadata, "status": "Failure",
            "message": self.message, "code": self.code,
        });
        if !self.reason.is_empty() {
            status["reason"] = self.reason.into();
        }
        if let Some(details) = &self.details {
            status["details"] = details.clone();
        }
        Bytes::from(status.to_string())
    }
}

/// An invalid field and the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cause {
    reason: &'static str,
    field: String,
    message: String,
}

impl Cause {
    fn new(reason: &'static str, field: &str, message: String) -> Self {
        Self { reason, field: field.to_owned(), message }
    }

    pub(crate) fn forbidden(field: &str, why: &str) -> Self {
        Self::new("FieldValueForbidden", field, format!("Forbidden: {why}"))
    }

    /// A missing field; `why` may be empty.
    pub(crate) fn required(field: &str, why: &str) -> Self {
        let colon = if why.is_empty() { "" } else { ": " };
        Self::new("FieldValueRequired", field, format!("Required value{colon}{why}"))
    }

    pub(crate) fn invalid(field: &str, value: &str, why: &str) -> Self {
        Self::invalid_value(field, &value.into(), why)
    }

    /// Like [`Cause::invalid`], for a value that is not a string.
    pub(crate) fn invalid_value(field: &str, value: &Value, why: &str) -> Self {
        Self::new("FieldValueInvalid", field, format!("Invalid value: {value}: {why}"))
    }

    pub(crate) fn unsupported(field: &str, value: &str, supported: &[&str]) -> Self {
        let supported: Vec<String> = supported.iter().map(|value| format!("{value:?}")).collect();
        let message = format!("Unsupported value: {value:?}: supported values: {}", supported.join(", "));
        Self::new("FieldValueNotSupported", field, message)
    }

    /// Returns `field: reason`.
    pub(crate) fn text(&self) -> String {
        format!("{}: {}", self.field, self.message)
    }

    fn json(&self) -> Value {
        json!({"reason": self.reason, "message": self.message, "field": self.field})
    }
}
