//! An answer whose body arrives in chunks.

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

/// A 2xx answer, its body still to come. Dropping it ends the exchange.
pub struct Response {
    inner: IncomingResponse,
    /// The server's `host:port`, for messages.
    authority: Arc<str>,
    /// When something of the body was read last, or asked for first.
    heard: Instant,
    /// Keeps the place on the connection occupied for as long as the body may arrive.
    _permit: Arc<()>,
    retired: CancellationToken,
    /// Counts the bytes of all answers.
    received: Arc<AtomicU64>,
    /// The credentials that the server may repeat.
    redaction: Redaction,
    /// Of a watch whose connection has no pings.
    pulse: Option<LivenessCheck>,
    /// Of a response that is to come without long pauses.
    silence: Option<SilentBody>,
}

impl Response {
    /// `retired` tells when its connection is not to be used any longer than needs be.
    pub(super) fn new(
        inner: IncomingResponse,
        authority: Arc<str>,
        permit: Arc<()>,
        retired: CancellationToken,
        received: Arc<AtomicU64>,
        redaction: Redaction,
    ) -> Self {
        Self {
            inner,
            authority,
            heard: Instant::now(),
            _permit: permit,
            retired,
            received,
            redaction,
            pulse: None,
            silence: None,
        }
    }

    /// The same, looked after in its silence.
    pub(super) fn with_pulse(self, pulse: Option<LivenessCheck>) -> Self {
        Self { pulse, ..self }
    }

    /// The same, which reports a long pause.
    pub(super) fn with_silence(self, silence: Option<SilentBody>) -> Self {
        Self { silence, ..self }
    }

    pub(super) fn status(&self) -> StatusCode {
        self.inner.head.status
    }

    pub(super) fn headers(&self) -> &HeaderMap {
        &self.inner.head.headers
    }

    /// The first value of a header, when it is there and is text. The name is in lower case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.inner.head.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// The texts of the warnings that the server sent along (`Warning: 299 - "text"`), in order. Credentials
    /// of the client are masked.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let texts = warnings(self.headers()).into_iter();
        texts.map(|text| self.redaction.apply(&text).into_owned()).collect()
    }

    /// The credentials to mask in errors that are made from the body.
    pub(super) fn redaction(&self) -> &Redaction {
        &self.redaction
    }

    /// The next bytes of the body, decompressed; `None` at its end. Dropping the future loses nothing.
    ///
    /// # Errors
    /// [`Error::Transport`] when the connection broke, or the server behind it gives no sign of life,
    /// [`Error::Timeout`] when the request's time is over.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, Error> {
        let chunk = unless_unresponsive(&mut self.pulse, self.heard, self.inner.chunk());
        let chunk = match &mut self.silence {
            Some(silence) => silence.before_part(chunk).await,
            None => chunk.await,
        };
        self.took(chunk)
    }

    /// As [`Response::chunk`], and also `None` once the connection is not to be used any longer: for a body that can be
    /// gone on with elsewhere.
    pub(super) async fn chunk_while_in_use(&mut self) -> Result<Option<Bytes>, Error> {
        let chunk = tokio::select! {
            biased;
            // Its client certificate has been replaced, perhaps because it was taken back.
            () = self.retired.cancelled() => return Ok(None),
            chunk = unless_unresponsive(&mut self.pulse, self.heard, self.inner.chunk()) => chunk,
        };
        self.took(chunk)
    }

    /// What was read, or that nothing is to come.
    fn took(&mut self, chunk: Option<Result<Option<Bytes>, BoxError>>) -> Result<Option<Bytes>, Error> {
        let silent = self.heard.elapsed();
        self.heard += silent;
        let chunk = chunk.ok_or_else(|| failure::silence(&self.authority, silent))?;
        let chunk = chunk.map_err(|error| failure::while_reading(error.as_ref(), &self.authority, silent))?;
        let length = chunk.as_ref().map_or(0, Bytes::len);
        self.received.fetch_add(length as u64, Ordering::Relaxed);
        Ok(chunk)
    }

    /// The whole body.
    ///
    /// # Errors
    /// Those of [`Response::chunk`], and [`Error::Decode`] when there is more than `limit` bytes.
    pub async fn body(mut self, limit: usize) -> Result<Bytes, Error> {
        let mut body = BytesMut::new();
        while let Some(chunk) = self.chunk().await? {
            if body.len() + chunk.len() > limit {
                return Err(Error::Decode(format!("the server's answer is longer than {limit} bytes")));
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body.freeze())
    }

    /// At most `limit` bytes of the body, whatever happens to the rest: enough to say why a server refused.
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

/// RFC 7234 warnings with code 299: `299 agent "text"`, `"` and `\` escaped by `\`.
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
    fn a_warning_is_its_quoted_text() {
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
