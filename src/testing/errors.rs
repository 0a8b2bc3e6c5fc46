//! The errors of the fake source, as a Kubernetes server sends them.

use crate::listwatch::{Error, Status};

/// Creates the error of an expired version or token.
pub(super) fn expired(message: &str) -> Error {
    Error::Expired(status("Expired", message))
}

/// Creates the error of an invalid request.
pub(super) fn invalid(message: &str) -> Error {
    Error::Invalid(status("Invalid", message))
}

/// Creates a Status document of a failure.
pub(super) fn status(reason: &str, message: &str) -> Status {
    let json =
        serde_json::json!({"kind": "Status", "status": "Failure", "reason": reason, "message": message});
    Status { reason: reason.into(), message: message.into(), json: json.to_string(), ..Status::default() }
}
