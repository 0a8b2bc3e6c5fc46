//! HTTP requests and responses.

pub(crate) mod accept;
pub(crate) mod access;
pub(crate) mod gzip;
mod host;
pub(crate) mod query;
pub(crate) mod request;
pub(crate) mod request_body;
pub(crate) mod response;
