//! The proxy's own responses, worded as by a Kubernetes server or by an intermediary.

use bytes::Bytes;
use http_body_util::Full;
use hyper::Response;
use serde_json::{Value, json};

/// A scripted response.
#[derive(Debug, Clone)]
pub(crate) struct FaultResponse {
    code: u16,
    retry_after: Option<u32>,
    content_type: &'static str,
    body: String,
}

impl FaultResponse {
    /// Returns an error status as a Kubernetes server words it.
    pub(crate) fn status(code: u16) -> Self {
        Self { code, retry_after: None, content_type: "application/json", body: status(code).to_string() }
    }

    /// Returns the error page of an intermediary that is not a Kubernetes server.
    pub(crate) fn page(code: u16) -> Self {
        let body = "<html><body>There is no server available.</body></html>".to_owned();
        Self { code, retry_after: None, content_type: "text/html", body }
    }

    /// Returns a watch that starts with 200 and sends an error frame at once.
    pub(crate) fn error_frame(code: u16) -> Self {
        let body = error_frame(code);
        Self { code: 200, retry_after: None, content_type: "application/json", body }
    }

    /// Adds a Retry-After header.
    pub(crate) fn retry_after(self, seconds: u32) -> Self {
        Self { retry_after: Some(seconds), ..self }
    }

    pub(super) fn response(&self) -> Response<Full<Bytes>> {
        let mut building = Response::builder().status(self.code).header("Content-Type", self.content_type);
        if let Some(seconds) = self.retry_after {
            building = building.header("Retry-After", seconds);
        }
        building.body(Full::new(Bytes::from(self.body.clone()))).expect("a response")
    }
}

/// Returns the frame that ends a watch with an error.
pub(super) fn error_frame(code: u16) -> String {
    format!("{}\n", json!({"type": "ERROR", "object": status(code)}))
}

fn status(code: u16) -> Value {
    let (reason, message, details) = match code {
        401 => ("Unauthorized", "Unauthorized", json!({})),
        403 => (
            "Forbidden",
            "configmaps is forbidden: User \"test\" cannot watch resource \"configmaps\"",
            json!({}),
        ),
        410 => ("Expired", "too old resource version: 1 (9)", json!({})),
        429 => ("TooManyRequests", "too many requests, please try again later", json!({})),
        500 => ("InternalError", "Internal error occurred: etcdserver: leader changed", json!({})),
        503 => ("ServiceUnavailable", "the server is currently unable to handle the request", json!({})),
        504 => (
            "Timeout",
            "Timeout: Too large resource version: 9, current: 1",
            json!({
                "causes": [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}],
                "retryAfterSeconds": 1,
            }),
        ),
        _ => panic!("no words for {code}"),
    };
    json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "reason": reason, "message": message, "details": details, "code": code,
    })
}
