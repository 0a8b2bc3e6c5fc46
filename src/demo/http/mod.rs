//! HTTP requests and responses.

pub(super) mod accept;
pub(super) mod gzip;
mod host;
pub(super) mod query;
pub(super) mod request;
pub(super) mod request_body;
pub(super) mod response;
