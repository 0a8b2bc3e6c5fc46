//! HTTP to one server over connections that are kept: what a request waits for at most, and what becomes of its answer.

mod decompression;
mod dial;
mod direct;
mod link;
mod liveness;
mod proxied;
mod shared_dial;
pub(crate) mod tls;

pub(crate) use decompression::Damaged;
pub(crate) use liveness::{Pulse, Signs, unless_it_stops};
pub(crate) use proxied::ByProxy;

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
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::io::AsyncReadExt;
use tokio::time::{self, Instant};
use tower::timeout::Timeout;
use tower::util::BoxCloneSyncService;
use tower::{BoxError, Layer, ServiceExt};

use self::decompression::Gunzip;
use self::shared_dial::{Opening, asking};
use super::failure::is_alert;
use crate::kubeconfig::{ConnectionOptions, Protocol, Proxy};

/// Bytes the server may send ahead of us on one stream, and on all of a connection: the second holds the sum of the
/// first, so that a stream nobody reads can't hold up the others. A busy server writes events in bursts of more than a
/// megabyte, which are not to wait for us in their middle.
const STREAM_WINDOW: u32 = 2 * 1024 * 1024;
const CONNECTION_WINDOW: u32 = 80 * STREAM_WINDOW;

/// How often a request is sent again that a server has handed back unread, as one does that is about to end.
const HANDED_BACK: u32 = 2;

/// How long a server may take to say once more why it closes connections.
const LOOK: Duration = Duration::from_secs(1);

/// The bytes of an answer, as they come.
type Body = UnsyncBoxBody<Bytes, BoxError>;

/// What sends a request.
type Http = BoxCloneSyncService<http::Request<Bytes>, http::Response<Body>, BoxError>;

/// An HTTP client of one server. With HTTP/2 it keeps one connection. Cheap to clone; clones share their connections.
#[derive(Clone)]
pub(crate) struct Transport {
    http: Http,
    /// Whether the server may pack its answers.
    gzip: bool,
    /// What a proxy is told that passes on plain requests.
    to_proxy: Option<HeaderValue>,
    /// Whether anything was ever answered. Relaxed: it only spares a look.
    answered: Arc<AtomicBool>,
    dial: dial::Connector,
}

impl Transport {
    /// Connects to nothing yet.
    pub(crate) fn new(options: &ConnectionOptions, tls: rustls::ClientConfig, gzip: bool) -> Self {
        let dial = dial::connector(options, tls.clone());
        let passes_on = options.proxy.as_ref().filter(|proxy| proxy.protocol != Protocol::Socks5);
        Self {
            http: direct::http(options, tls.clone()).unwrap_or_else(|| proxied_http(options, tls)),
            gzip,
            to_proxy: passes_on.and_then(Proxy::authorization),
            answered: Arc::default(),
            dial,
        }
    }

    /// Sends a request and waits for the head of the answer, which with its body may take that long.
    ///
    /// # Errors
    /// What broke or took too long, as a chain of causes.
    pub(crate) async fn send(
        &self,
        mut request: http::Request<Bytes>,
        timeout: Option<Duration>,
    ) -> Result<Answer, BoxError> {
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
        let mut tries = 0;
        loop {
            match within(until, asking(self.http.clone().oneshot(request.clone()))).await? {
                Ok(answer) => {
                    self.answered.store(true, Ordering::Relaxed);
                    let (mut head, body) = answer.into_parts();
                    let gunzip = takes_off_gzip(&mut head.headers).then(Gunzip::default);
                    return Ok(Answer { head, body, gunzip, until });
                }
                Err(error) if tries < HANDED_BACK && is_handed_back(&*error) => tries += 1,
                // Whether it was looked at is not known: only what is to be read may be asked for twice.
                Err(error)
                    if tries == 0 && request.method() == Method::GET && is_cut_off_unanswered(&*error) =>
                {
                    tries += 1;
                }
                // Of what failed before HTTP began, the reason is known.
                Err(error) if began_http(&*error) => {
                    return Err(self.told_otherwise(request.uri()).await.unwrap_or(error));
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// The alert by which a server that never answered anything ends TLS. With TLS 1.3 it tells of a client certificate
    /// that it misses or does not take when the handshake is over for us; HTTP/2 is busy with its own then, and says no
    /// more than that the connection was closed.
    async fn told_otherwise(&self, server: &Uri) -> Option<BoxError> {
        if self.answered.load(Ordering::Relaxed) || server.scheme() != Some(&Scheme::HTTPS) {
            return None;
        }
        let look = async {
            let mut connection = TokioIo::new(self.dial.clone().oneshot(server.clone()).await.ok()?);
            connection.read(&mut [0]).await.err()
        };
        let error: BoxError = time::timeout(LOOK, look).await.ok()??.into();
        is_alert(&*error).then_some(error)
    }
}

/// An HTTP client over connections that [`dial`] opens: behind a proxy, or to a server that goes by another name.
fn proxied_http(options: &ConnectionOptions, tls: rustls::ClientConfig) -> Http {
    let opener = Opening::of(options).layer(dial::connector(options, tls));
    let opener: dial::Connector = BoxCloneSyncService::new(Timeout::new(opener, dial::CONNECT_TIMEOUT));
    let http = Client::builder(TokioExecutor::new())
        .timer(TokioTimer::new())
        .pool_timer(TokioTimer::new())
        .http2_initial_stream_window_size(STREAM_WINDOW)
        .http2_initial_connection_window_size(CONNECTION_WINDOW)
        .http2_keep_alive_interval(options.ping_after)
        .http2_keep_alive_timeout(options.ping_timeout)
        // As client-go. A connection that the pool has left to its one watch counts as idle, and would not be pinged.
        .http2_keep_alive_while_idle(true)
        .build(opener);
    let http = http.map_request(|request: http::Request<Bytes>| request.map(Full::new));
    let http = http
        .map_response(|answer| answer.map(|body| Body::new(body.map_err(BoxError::from))))
        .map_err(BoxError::from);
    BoxCloneSyncService::new(http)
}

/// An answer whose body is still to come, decompressed.
pub(crate) struct Answer {
    pub(crate) head: http::response::Parts,
    body: Body,
    gunzip: Option<Gunzip>,
    until: Option<Instant>,
}

impl Answer {
    /// The next bytes of the body, unpacked; `None` at its end. Dropping the future loses nothing.
    ///
    /// # Errors
    /// What broke or took too long, as a chain of causes.
    pub(crate) async fn chunk(&mut self) -> Result<Option<Bytes>, BoxError> {
        let Some(gunzip) = &mut self.gunzip else { return arrived(&mut self.body, self.until).await };
        loop {
            if let Some(chunk) = gunzip.next()? {
                return Ok(Some(chunk));
            }
            match arrived(&mut self.body, self.until).await? {
                Some(packed) => gunzip.give(packed),
                None => return gunzip.finish().map(|()| None).map_err(BoxError::from),
            }
        }
    }
}

/// The next bytes of a body, as they come.
async fn arrived(body: &mut Body, until: Option<Instant>) -> Result<Option<Bytes>, BoxError> {
    while let Some(frame) = within(until, body.frame()).await? {
        // Trailers say nothing that is needed here.
        if let Ok(data) = frame?.into_data() {
            return Ok(Some(data));
        }
    }
    Ok(None)
}

/// Whether the body is packed by gzip. The head is then that of what is unpacked.
fn takes_off_gzip(head: &mut HeaderMap) -> bool {
    let is_packed = head.get(CONTENT_ENCODING).is_some_and(|coding| {
        // RFC 9110, 8.4.1.3: the second is the first's old name.
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

/// Whether the server says that it has not looked at the request: it may be sent again, whatever it asks for.
fn is_handed_back(error: &(dyn std::error::Error + 'static)) -> bool {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.filter_map(|cause| cause.downcast_ref::<h2::Error>()).any(|error| {
        let going = error.is_go_away() && error.reason() == Some(h2::Reason::NO_ERROR);
        let refused = error.is_reset() && error.reason() == Some(h2::Reason::REFUSED_STREAM);
        error.is_remote() && (going || refused)
    })
}

/// Whether there was a connection to speak HTTP on.
fn began_http(error: &(dyn std::error::Error + 'static)) -> bool {
    let mut causes = std::iter::successors(Some(error), |error| error.source());
    causes.any(<dyn std::error::Error>::is::<hyper::Error>)
}

/// Whether the connection ended before an answer began, as one does that was idle and that the server closes just when
/// it is used again. All that is asked for here is to be read, so it may be asked for once more.
fn is_cut_off_unanswered(error: &(dyn std::error::Error + 'static)) -> bool {
    let mut causes = std::iter::successors(Some(error), |error| error.source());
    causes.any(|cause| cause.downcast_ref::<hyper::Error>().is_some_and(hyper::Error::is_incomplete_message))
}

/// What administrators look for in audit logs.
fn user_agent() -> HeaderValue {
    const NAME: &str = concat!("kdelta/", env!("CARGO_PKG_VERSION"));
    let text = format!("{NAME} ({}/{})", std::env::consts::OS, std::env::consts::ARCH);
    HeaderValue::try_from(text).unwrap_or(HeaderValue::from_static(NAME))
}
