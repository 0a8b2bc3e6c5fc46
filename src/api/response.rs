//! A response whose body arrives in chunks.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, StatusCode};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tower::BoxError;

use crate::client::connection::{IncomingResponse, LivenessCheck, unless_unresponsive};
use crate::client::failure;
use crate::client::redaction::Redaction;
use crate::client::silence::SilentBody;
use crate::listwatch::Error;
use crate::wire::protobuf;

/// A 2xx response. Its body is read in chunks ([`Response::chunk`]) or as a whole ([`Response::body`]). Dropping it aborts
/// the exchange.
pub struct Response {
    inner: IncomingResponse,
    /// The server's `host:port`, for messages.
    authority: Arc<str>,
    /// The time at which the last chunk, or before it the head, was received.
    last_received: Instant,
    /// Counts against the connection's capacity for as long as the body may arrive.
    _permit: Arc<()>,
    /// Cancelled when the connection should no longer be used.
    retired: CancellationToken,
    /// Counts the bytes of all responses.
    received_bytes: Arc<AtomicU64>,
    /// Masks the credentials that the server may repeat in its texts.
    redaction: Redaction,
    /// Detects a dead server, for a watch whose connection has no pings.
    liveness_check: Option<LivenessCheck>,
    /// Reports long pauses; `None` for a response in which they are normal.
    silence: Option<SilentBody>,
}

impl Response {
    /// Creates a response from its head and the connection on which the body arrives.
    pub(super) fn new(
        inner: IncomingResponse,
        authority: Arc<str>,
        permit: Arc<()>,
        retired: CancellationToken,
        received_bytes: Arc<AtomicU64>,
        redaction: Redaction,
    ) -> Self {
        Self {
            inner,
            authority,
            last_received: Instant::now(),
            _permit: permit,
            retired,
            received_bytes,
            redaction,
            liveness_check: None,
            silence: None,
        }
    }

    /// Adds the liveness check.
    pub(super) fn with_liveness_check(self, liveness_check: Option<LivenessCheck>) -> Self {
        Self { liveness_check, ..self }
    }

    /// Adds the report of long pauses.
    pub(super) fn with_silence(self, silence: Option<SilentBody>) -> Self {
        Self { silence, ..self }
    }

    /// Ends the report of long pauses, because they are normal from now on.
    pub(super) fn end_silence_reports(&mut self) {
        self.silence = None;
    }

    pub(super) fn status(&self) -> StatusCode {
        self.inner.head.status
    }

    pub(super) fn headers(&self) -> &HeaderMap {
        &self.inner.head.headers
    }

    /// Returns the first value of a header, if it is text. The name is in lower case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.inner.head.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// Returns whether the body is in Kubernetes' protobuf format.
    pub(super) fn is_protobuf(&self) -> bool {
        self.header("content-type").is_some_and(protobuf::is_media_type)
    }

    /// Returns the texts of the server's warnings (`Warning: 299 - "text"`), in order. The client's credentials are
    /// masked.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let texts = warnings(self.headers()).into_iter();
        texts.map(|text| self.redaction.apply(&text).into_owned()).collect()
    }

    /// Returns the credentials to mask in errors that are made from the body.
    pub(super) fn redaction(&self) -> &Redaction {
        &self.redaction
    }

    /// Returns the next bytes of the body, decompressed; `None` at its end. Dropping the future loses nothing.
    ///
    /// # Errors
    /// [`Error::Transport`] when the connection broke, or the server fails its liveness check; [`Error::Timeout`]
    /// when the request's time is over.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, Error> {
        let chunk = self.unrecorded_chunk().await;
        self.record(chunk)
    }

    /// Returns the result of a read, and reports a long pause. `None` means that the server fails its liveness check.
    async fn unrecorded_chunk(&mut self) -> Option<Result<Option<Bytes>, BoxError>> {
        let chunk = unless_unresponsive(&mut self.liveness_check, self.last_received, self.inner.chunk());
        match &self.silence {
            Some(silence) => silence.before_part(chunk).await,
            None => chunk.await,
        }
    }

    /// Returns the next chunk as [`Response::chunk`] does, and also `None` once the connection should no longer be
    /// used: for a body that can be continued on another connection.
    pub(super) async fn chunk_while_in_use(&mut self) -> Result<Option<Bytes>, Error> {
        let retired = self.retired.clone();
        let chunk = tokio::select! {
            biased;
            // The client certificate was replaced, perhaps because it was revoked.
            () = retired.cancelled() => return Ok(None),
            chunk = self.unrecorded_chunk() => chunk,
        };
        self.record(chunk)
    }

    /// Records the result of a read. `None` means that the server fails its liveness check.
    fn record(&mut self, chunk: Option<Result<Option<Bytes>, BoxError>>) -> Result<Option<Bytes>, Error> {
        let silence_length = self.last_received.elapsed();
        self.last_received += silence_length;
        let chunk = chunk.ok_or_else(|| failure::silence(&self.authority, silence_length))?;
        let chunk =
            chunk.map_err(|error| failure::while_reading(error.as_ref(), &self.authority, silence_length))?;
        let length = chunk.as_ref().map_or(0, Bytes::len);
        self.received_bytes.fetch_add(length as u64, Ordering::Relaxed);
        Ok(chunk)
    }

    /// Reads the whole body.
    ///
    /// # Errors
    /// Those of [`Response::chunk`], and [`Error::Decode`] when there are more than `limit` bytes.
    pub async fn body(mut self, limit: usize) -> Result<Bytes, Error> {
        let mut body = BytesMut::new();
        while let Some(chunk) = self.chunk().await? {
            if body.len() + chunk.len() > limit {
                return Err(Error::Decode(format!("the server's response is longer than {limit} bytes")));
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body.freeze())
    }

    /// Reads at most `limit` bytes of the body and ignores errors: enough for the reason of a refusal.
    pub(super) async fn prefix(mut self, limit: usize) -> BytesMut {
        let mut body = BytesMut::new();
        while let Ok(Some(chunk)) = self.chunk().await {
            let take = chunk.len().min(limit - body.len());
            body.extend_from_slice(&chunk[..take]);
            if body.len() == limit {
                break;
            }
        }
        body
    }
}

/// Returns the texts of warnings with code 299 (RFC 7234): `299 agent "text"`, with `"` and `\` escaped by `\`.
fn warnings(headers: &HeaderMap) -> Vec<String> {
    let texts = headers.get_all("warning").iter().filter_map(|value| value.to_str().ok());
    texts.filter_map(warning).collect()
}

fn warning(value: &str) -> Option<String> {
    let (_, text) = value.strip_prefix("299 ")?.split_once('"')?;
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    loop {
        match chars.next()? {
            '"' => return Some(out),
            '\\' => out.push(chars.next()?),
            other => out.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warning_is_its_quoted_text() {
        assert_eq!(
            warning(r#"299 - "v1 ComponentStatus is deprecated in v1.19+""#).as_deref(),
            Some("v1 ComponentStatus is deprecated in v1.19+")
        );
        assert_eq!(warning(r#"299 - "say \"no\" \\ never""#).as_deref(), Some(r#"say "no" \ never"#));
        assert_eq!(warning(r#"199 - "other""#), None);
        assert_eq!(warning("299 - unquoted"), None);
        assert_eq!(warning("299 - \"open"), None);
    }
}
