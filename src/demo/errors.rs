//! Errors of the demo in addition to those of the server.

use serde_json::json;

use crate::server::api_error::ApiError;

/// A write to a store that has reached its size limit.
pub(super) fn full(limit: usize) -> ApiError {
    let message =
        format!("the demo is full: it stores up to {limit} MiB for its clients; delete something first");
    ApiError::new(507, "InsufficientStorage", message)
}

/// A request that needs a kubelet.
pub(super) fn no_containers(action: &str) -> ApiError {
    let message = format!("the pods of the demo run no containers, so there is nothing to {action}");
    ApiError::new(501, "NotImplemented", message)
}

/// An eviction that a budget forbids.
pub(super) fn disruption(budget: &str, needed: u64, healthy: u64) -> ApiError {
    let message = "Cannot evict pod as it would violate the pod's disruption budget.";
    let explanation =
        format!("The disruption budget {budget} needs {needed} healthy pods and has {healthy} currently");
    let cause = json!({"reason": "DisruptionBudget", "message": explanation});
    ApiError::new(429, "TooManyRequests", message).with(json!({"causes": [cause]}))
}
