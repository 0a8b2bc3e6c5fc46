//! HTTP over persistent connections to one server, with time limits, retries of unprocessed requests, and
//! decompression.

mod decompression;
mod direct;
mod http_service;
mod liveness;
mod other_routes;
mod plain_stream;
mod proxied;
mod shared_dial;
mod tcp;
pub(crate) mod tls;
mod user_agent;

pub(crate) use decompression::DecompressionError;
pub(crate) use liveness::{Liveness, LivenessCheck, unless_unresponsive};
pub(crate) use proxied::ProxyError;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::header::{
    ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, HeaderMap, HeaderValue, PROXY_AUTHORIZATION,
    USER_AGENT,
};
use http::uri::Scheme;
use http::{Method, Uri};
use http_body_util::BodyExt;
use hyper_util::rt::TokioIo;
use tokio::io::AsyncReadExt;
use tokio::time::{self, Instant};
use tower::{BoxError, ServiceExt};

use self::decompression::GzipDecoder;
use self::http_service::{Body, Http};
use self::shared_dial::as_request;
use self::user_agent::user_agent;
use super::connector::Connector;
use super::failure::is_alert;
use super::request_log::{BodyLog, LoggedRequest, RequestLog};
use crate::kubeconfig::{ConnectionOptions, Protocol, Proxy};

/// The number of times a request is sent again that a server rejected unprocessed, as a terminating one does.
const MAX_RESENDS: u32 = 2;

/// The time limit for a server to repeat why it closes connections.
const ALERT_TIMEOUT: Duration = Duration::from_secs(1);

/// An HTTP client of one server. With HTTP/2 it keeps one connection. Cheap to clone; clones share their connections.
#[derive(Clone)]
pub(crate) struct Transport {
    http: Http,
    /// Whether compressed responses are requested.
    gzip: bool,
    /// The credentials for a proxy that forwards plain requests.
    to_proxy: Option<HeaderValue>,
    /// Whether the server ever responded. Relaxed: it only saves a check.
    has_responded: Arc<AtomicBool>,
    dial: other_routes::Dialer,
    log: RequestLog,
}

impl Transport {
    /// Returns a client that has no connection yet.
    pub(crate) fn new(
        options: &ConnectionOptions,
        tls: rustls::ClientConfig,
        gzip: bool,
        log: RequestLog,
    ) -> Self {
        let dial = other_routes::dialer(options, tls.clone());
        let http = direct::http(options, tls).unwrap_or_else(|| other_routes::http(options, dial.clone()));
        let passes_on = options.proxy.as_ref().filter(|proxy| proxy.protocol != Protocol::Socks5);
        let to_proxy = passes_on.and_then(Proxy::authorization);
        Self { http, gzip, to_proxy, has_responded: Arc::default(), dial, log }
    }

    /// Returns a client over the streams of a connector. It uses no proxy.
    pub(crate) fn over(
        connector: &Connector,
        options: &ConnectionOptions,
        tls: rustls::ClientConfig,
        gzip: bool,
        log: RequestLog,
    ) -> Self {
        let dial = other_routes::dialer_over(connector, options, tls);
        let http = other_routes::http(options, dial.clone());
        Self { http, gzip, to_proxy: None, has_responded: Arc::default(), dial, log }
    }

    /// Sends a request and waits for the head of the response. `timeout` bounds the response with its body.
    ///
    /// # Errors
    /// The failure or timeout, as a chain of causes.
    pub(crate) async fn send(
        &self,
        mut request: http::Request<Bytes>,
        timeout: Option<Duration>,
    ) -> Result<IncomingResponse, BoxError> {
        let until = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        request.headers_mut().insert(USER_AGENT, user_agent());
        if self.gzip {
            request.headers_mut().insert(ACCEPT_ENCODING, HeaderValue::from_static("gzip"));
        }
        if let Some(header) = &self.to_proxy
            && request.uri().scheme() == Some(&Scheme::HTTP)
        {
            request.headers_mut().insert(PROXY_AUTHORIZATION, header.clone());
        }
        let mut logged = self.log.begin(&request);
        // Boxed because the future is large.
        let sent = Box::pin(self.exchange(request, until, &mut logged)).await;
        if let (Some(logged), Err(error)) = (logged, &sent) {
            logged.failed(&**error);
        }
        sent
    }

    /// Sends the request, again if it was not processed.
    async fn exchange(
        &self,
        request: http::Request<Bytes>,
        until: Option<Instant>,
        logged: &mut Option<LoggedRequest>,
    ) -> Result<IncomingResponse, BoxError> {
        let mut tries = 0;
        loop {
            match within(until, as_request(self.http.clone().oneshot(request.clone()))).await? {
                Ok(response) => {
                    self.has_responded.store(true, Ordering::Relaxed);
                    let (mut head, body) = response.into_parts();
                    let body_log = logged.take().and_then(|logged| logged.responded(&head)).map(Box::new);
                    let gzip_decoder = remove_gzip_encoding(&mut head.headers).then(GzipDecoder::default);
                    return Ok(IncomingResponse { head, body, gzip_decoder, until, body_log });
                }
                Err(error) if tries < MAX_RESENDS && is_unprocessed(&*error) => tries += 1,
                // Whether the server processed it is unknown: only a read may be sent twice.
                Err(error)
                    if tries == 0 && request.method() == Method::GET && is_cut_off_unanswered(&*error) =>
                {
                    tries += 1;
                }
                // The reason of a failure before HTTP started is known.
                Err(error) if began_http(&*error) => {
                    return Err(self.delayed_alert(request.uri()).await.unwrap_or(error));
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Returns the alert with which a server that never responded ends TLS. With TLS 1.3 it rejects a missing or
    /// unknown client certificate after the client has completed the handshake; HTTP/2 is busy with its own handshake
    /// then, and only reports a closed connection.
    async fn delayed_alert(&self, server: &Uri) -> Option<BoxError> {
        if self.has_responded.load(Ordering::Relaxed) || server.scheme() != Some(&Scheme::HTTPS) {
            return None;
        }
        let look = async {
            let mut connection = TokioIo::new(self.dial.clone().oneshot(server.clone()).await.ok()?);
            connection.read(&mut [0]).await.err()
        };
        let error: BoxError = time::timeout(ALERT_TIMEOUT, look).await.ok()??.into();
        is_alert(&*error).then_some(error)
    }
}

/// A response whose body is still to come, decompressed.
pub(crate) struct IncomingResponse {
    pub(crate) head: http::response::Parts,
    body: Body,
    gzip_decoder: Option<GzipDecoder>,
    until: Option<Instant>,
    /// Present if bodies are logged.
    body_log: Option<Box<BodyLog>>,
}

impl IncomingResponse {
    /// Returns the next bytes of the body, decompressed; `None` at its end. Dropping the future loses nothing.
    ///
    /// # Errors
    /// The failure or timeout, as a chain of causes.
    pub(crate) async fn chunk(&mut self) -> Result<Option<Bytes>, BoxError> {
        let chunk = self.decompressed_chunk().await?;
        if let Some(log) = &mut self.body_log {
            match &chunk {
                Some(chunk) => log.chunk(chunk),
                None => log.end(),
            }
        }
        Ok(chunk)
    }

    async fn decompressed_chunk(&mut self) -> Result<Option<Bytes>, BoxError> {
        let Some(gzip_decoder) = &mut self.gzip_decoder else {
            return arrived(&mut self.body, self.until).await;
        };
        loop {
            if let Some(chunk) = gzip_decoder.next()? {
                return Ok(Some(chunk));
            }
            match arrived(&mut self.body, self.until).await? {
                Some(compressed) => gzip_decoder.push(compressed),
                None => return gzip_decoder.finish().map(|()| None).map_err(BoxError::from),
            }
        }
    }
}

/// Returns the next bytes of a body as they arrive.
async fn arrived(body: &mut Body, until: Option<Instant>) -> Result<Option<Bytes>, BoxError> {
    while let Some(frame) = within(until, body.frame()).await? {
        // Trailers carry nothing that is needed here.
        if let Ok(data) = frame?.into_data() {
            return Ok(Some(data));
        }
    }
    Ok(None)
}

/// Returns whether the body is compressed by gzip, and changes the head to that of the decompressed body.
fn remove_gzip_encoding(head: &mut HeaderMap) -> bool {
    let is_packed = head.get(CONTENT_ENCODING).is_some_and(|coding| {
        // RFC 9110, 8.4.1.3: `x-gzip` is the old name.
        [&b"gzip"[..], b"x-gzip"].iter().any(|gzip| coding.as_bytes().eq_ignore_ascii_case(gzip))
    });
    if is_packed {
        head.remove(CONTENT_ENCODING);
        head.remove(CONTENT_LENGTH);
    }
    is_packed
}

async fn within<T>(until: Option<Instant>, work: impl Future<Output = T>) -> Result<T, BoxError> {
    match until {
        Some(until) => Ok(time::timeout_at(until, work).await?),
        None => Ok(work.await),
    }
}

/// Returns whether the server reports that it has not processed the request, which may then be sent again whatever
/// its method.
fn is_unprocessed(error: &(dyn std::error::Error + 'static)) -> bool {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.filter_map(|cause| cause.downcast_ref::<h2::Error>()).any(|error| {
        let going = error.is_go_away() && error.reason() == Some(h2::Reason::NO_ERROR);
        let refused = error.is_reset() && error.reason() == Some(h2::Reason::REFUSED_STREAM);
        error.is_remote() && (going || refused)
    })
}

/// Returns whether a connection for HTTP was established.
fn began_http(error: &(dyn std::error::Error + 'static)) -> bool {
    let mut causes = std::iter::successors(Some(error), |error| error.source());
    causes.any(<dyn std::error::Error>::is::<hyper::Error>)
}

/// Returns whether the connection ended before a response started, like an idle connection that the server closes at
/// the moment of its reuse. All requests here are reads and may be sent again.
fn is_cut_off_unanswered(error: &(dyn std::error::Error + 'static)) -> bool {
    let mut causes = std::iter::successors(Some(error), |error| error.source());
    causes.any(|cause| cause.downcast_ref::<hyper::Error>().is_some_and(hyper::Error::is_incomplete_message))
}
