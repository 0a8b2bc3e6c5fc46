//! Opens TCP connections, and describes why one could not be opened.

use std::net::SocketAddr;
use std::time::Duration;
use std::{io, vec};

use http::Uri;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::dns::Name;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tower::util::BoxCloneSyncService;
use tower::{BoxError, ServiceExt, service_fn};

use crate::listwatch::system_words;

/// The time limit for opening a connection, including TLS and the wait for a shared dial.
pub(super) const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);
pub(super) const KEEPALIVE: Duration = Duration::from_secs(30);
pub(super) const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(15);
pub(super) const KEEPALIVE_RETRIES: u32 = 3;

/// Opens plain TCP connections.
pub(super) type Tcp = BoxCloneSyncService<Uri, TokioIo<TcpStream>, DialError>;

pub(super) fn tcp() -> Tcp {
    let mut tcp =
        HttpConnector::new_with_resolver(service_fn(async |name: Name| lookup(name.as_str()).await));
    tcp.enforce_http(false);
    tcp.set_nodelay(true);
    // Shared by the addresses of a host, so that an unresponsive one leaves time for the next.
    tcp.set_connect_timeout(Some(CONNECT_TIMEOUT));
    tcp.set_keepalive(Some(KEEPALIVE));
    tcp.set_keepalive_interval(Some(KEEPALIVE_INTERVAL));
    tcp.set_keepalive_retries(Some(KEEPALIVE_RETRIES));
    #[cfg(any(target_os = "android", target_os = "fuchsia", target_os = "linux"))]
    tcp.set_tcp_user_timeout(Some(KEEPALIVE));
    BoxCloneSyncService::new(service_fn(move |to: Uri| {
        let tcp = tcp.clone();
        async move { tcp.oneshot(to.clone()).await.map_err(|error| DialError::new(&to, error.into())) }
    }))
}

/// Resolves a host.
///
/// # Errors
/// The host has no address, in Go's words.
pub(super) async fn lookup(host: &str) -> Result<vec::IntoIter<SocketAddr>, UnknownHost> {
    match tokio::net::lookup_host((host, 0)).await {
        Ok(found) => Ok(found.collect::<Vec<_>>().into_iter()),
        Err(error) => Err(UnknownHost::new(host, &error)),
    }
}

/// A name without an address.
#[derive(Debug, thiserror::Error)]
#[error("lookup {host}: {why}")]
pub(super) struct UnknownHost {
    host: String,
    why: String,
}

impl UnknownHost {
    fn new(host: &str, error: &io::Error) -> Self {
        let message = error.to_string();
        let message = message.rsplit(": ").next().unwrap_or_default();
        let why = if is_unknown_name(message) { "no such host" } else { message };
        Self { host: host.to_owned(), why: why.to_owned() }
    }
}

/// Returns whether the resolver does not know the name. The standard library keeps only the text of the C library's
/// `gai_strerror`: of glibc, of BSD and macOS, and of Windows.
fn is_unknown_name(message: &str) -> bool {
    let texts = ["Name or service not known", "nodename nor servname", "No such host is known"];
    texts.iter().any(|text| message.contains(text))
}

/// A failure to open a connection, in the words of Go's `net.OpError`.
#[derive(Debug, thiserror::Error)]
#[error("{words}")]
pub(super) struct DialError {
    words: String,
    source: BoxError,
}

impl DialError {
    pub(super) fn new(to: &Uri, source: BoxError) -> Self {
        let root = root_of(source.as_ref());
        let words = match (root.downcast_ref::<UnknownHost>(), root.downcast_ref::<io::Error>()) {
            (Some(unknown), _) => format!("dial tcp: {unknown}"),
            (None, Some(error)) => format!("dial tcp {}: connect: {}", target(to), system_words(error)),
            (None, None) => format!("dial tcp {}: {root}", target(to)),
        };
        Self { words, source }
    }
}

fn root_of<'a>(error: &'a (dyn std::error::Error + 'static)) -> &'a (dyn std::error::Error + 'static) {
    std::iter::successors(Some(error), |error| error.source()).last().unwrap_or(error)
}

/// Returns the `host:port` of a URL.
pub(super) fn target(uri: &Uri) -> String {
    let port = uri.port_u16().unwrap_or(if uri.scheme_str() == Some("http") { 80 } else { 443 });
    format!("{}:{port}", uri.host().unwrap_or_default())
}
