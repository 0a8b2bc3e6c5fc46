//! The targets of the log's events.

pub(super) const REQUESTS: &str = "kdelta::http";
pub(super) const REQUEST_HEADERS: &str = "kdelta::http::request";
pub(super) const RESPONSE: &str = "kdelta::http::response";
pub(super) const BODY: &str = "kdelta::http::body";
