//! The credentials of one request.

use std::sync::Arc;

use http::header::HeaderValue;
use rustls::sign::CertifiedKey;

/// The credentials of one request. It has no `Debug`.
#[derive(Clone, Default)]
pub(crate) struct RequestAuth {
    pub(super) authorization: Option<HeaderValue>,
    pub(super) identity: Option<Arc<CertifiedKey>>,
    /// The issuer's number of these credentials.
    pub(super) number: u64,
}

impl RequestAuth {
    /// Returns the client certificate to present; the same certificate is the same `Arc`.
    pub(crate) fn identity(&self) -> Option<&Arc<CertifiedKey>> {
        self.identity.as_ref()
    }
}
