//! Parsing of requests.

use bytes::Bytes;
use http::{Method, Request, header};
use hyper::body::Body;
use percent_encoding::percent_decode_str;

use super::access::Access;
use super::gzip;
use super::query::Query;
use super::request_body::{BodyBudget, RequestBody};
use super::response::JSON;
use crate::server::api_error::ApiError;
use crate::server::clock::Clock;

/// A request: its parsed head and its complete body.
pub(crate) struct ApiRequest {
    pub(crate) method: Method,
    /// The decoded segments.
    pub(crate) path: Vec<String>,
    pub(crate) query: Query,
    pub(crate) accept: Option<String>,
    /// Without parameters.
    pub(crate) content_type: String,
    /// Whether the client accepts gzip.
    pub(crate) gzip: bool,
    pub(crate) body: RequestBody,
}

impl ApiRequest {
    /// Checks the head of a request, reads its body and parses its head.
    ///
    /// # Errors
    /// The request is not accepted, or the body can't be read.
    pub(crate) async fn read<B>(
        request: Request<B>,
        access: &Access,
        bodies: &BodyBudget,
        clock: &Clock,
    ) -> Result<Self, ApiError>
    where
        B: Body<Data = Bytes>,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let (head, body) = request.into_parts();
        access.check(&head)?;
        let text = |name: header::HeaderName| head.headers.get(name).and_then(|value| value.to_str().ok());
        let content_type = match text(header::CONTENT_TYPE).unwrap_or_default() {
            // As a real server. Without a token, a web page could send such a body: browsers require no permission of the
            // server for it.
            "" if access.needs_token() && head.method != Method::PATCH => JSON,
            sent => sent,
        };
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

#[cfg(test)]
mod tests {
    use http_body_util::Full;
    use jiff::Timestamp;

    use super::*;

    async fn content_type(access: &Access, method: &str, sent: Option<&str>) -> String {
        let mut request = Request::builder().method(method).uri("/api").header(header::HOST, "localhost");
        request = request.header(header::AUTHORIZATION, "Bearer secret");
        if let Some(sent) = sent {
            request = request.header(header::CONTENT_TYPE, sent);
        }
        let request = request.body(Full::new(Bytes::from("{}"))).expect("a request");
        let clock = Clock::new(Timestamp::UNIX_EPOCH);
        let read = ApiRequest::read(request, access, &BodyBudget::default(), &clock).await;
        read.expect("it is accepted").content_type
    }

    #[tokio::test]
    async fn bodies_without_a_type_are_json_if_the_client_has_the_token() {
        let access = Access::with_token("secret", "192.0.2.7");
        for (method, sent, expected) in [
            ("POST", None, JSON),
            ("PUT", Some(""), JSON),
            ("PATCH", None, ""),
            ("POST", Some("text/plain; charset=utf-8"), "text/plain"),
        ] {
            assert_eq!(content_type(&access, method, sent).await, expected, "{method} {sent:?}");
        }
        assert_eq!(content_type(&Access::default(), "POST", None).await, "", "a web page may have sent it");
    }
}
