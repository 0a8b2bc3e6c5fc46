//! Parsing of requests.

use http::{Method, Request, header};
use hyper::body::Incoming;
use percent_encoding::percent_decode_str;

use super::query::Query;
use super::request_body::{BodyBudget, RequestBody};
use super::{gzip, host};
use crate::demo::api_error::ApiError;
use crate::demo::clock::Clock;

/// A request: its parsed head and its complete body.
pub(in crate::demo) struct ApiRequest {
    pub(in crate::demo) method: Method,
    /// The decoded segments.
    pub(in crate::demo) path: Vec<String>,
    pub(in crate::demo) query: Query,
    pub(in crate::demo) accept: Option<String>,
    pub(in crate::demo) content_type: String,
    /// Whether the client accepts gzip.
    pub(in crate::demo) gzip: bool,
    pub(in crate::demo) body: RequestBody,
}

impl ApiRequest {
    /// Checks the host of a request, reads its body and parses its head.
    ///
    /// # Errors
    /// The host is not local, or the body can't be read.
    pub(in crate::demo) async fn read(
        request: Request<Incoming>,
        bodies: &BodyBudget,
        clock: &Clock,
    ) -> Result<Self, ApiError> {
        let (head, body) = request.into_parts();
        host::check(&head)?;
        let text = |name: header::HeaderName| head.headers.get(name).and_then(|value| value.to_str().ok());
        let content_type = text(header::CONTENT_TYPE).unwrap_or_default();
        let segments = head.uri.path().split('/').filter(|segment| !segment.is_empty());
        let body = bodies.read(clock, body).await?;
        Ok(Self {
            path: segments
                .map(|segment| percent_decode_str(segment).decode_utf8_lossy().into_owned())
                .collect(),
            query: Query::parse(head.uri.query().unwrap_or_default())
                .by(text(header::USER_AGENT).unwrap_or_default()),
            accept: text(header::ACCEPT).map(str::to_owned),
            content_type: content_type.split(';').next().unwrap_or_default().trim().to_owned(),
            gzip: gzip::accepted(&head.headers),
            body,
            method: head.method,
        })
    }
}
