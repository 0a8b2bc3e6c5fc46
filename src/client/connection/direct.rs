//! Direct connections to a server under the name in its URL, by reqwest.

use std::io;
use std::sync::Arc;

use bytes::Bytes;
use http::Uri;
use http_body_util::BodyExt;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::{Client, redirect};
use tower::util::BoxCloneSyncService;
use tower::{BoxError, service_fn};

use super::http_service::{Body, CONNECTION_WINDOW, Http, STREAM_WINDOW, protocols};
use super::shared_dial::SharedDial;
use super::tcp::{self, DialError, UnknownHost};
use crate::kubeconfig::ConnectionOptions;

/// Returns an HTTP client by reqwest, if it supports the options: it has no setting for another certificate name, and
/// its errors do not tell whether a failure was the proxy's.
pub(super) fn http(options: &ConnectionOptions, mut tls: rustls::ClientConfig) -> Option<Http> {
    if options.proxy.is_some() || options.server_name.is_some() {
        return None;
    }
    tls.alpn_protocols = protocols(options);
    let mut builder = Client::builder()
        .tls_backend_preconfigured(tls)
        .no_proxy()
        .redirect(redirect::Policy::none())
        // `Transport` retries on every route.
        .retry(reqwest::retry::never())
        .dns_resolver(Arc::new(Lookup))
        // `Transport` decompresses, whatever features another crate enables in reqwest.
        .no_gzip()
        .no_brotli()
        .no_zstd()
        .no_deflate()
        .connect_timeout(tcp::CONNECT_TIMEOUT)
        .connector_layer(SharedDial::of(options))
        .tcp_nodelay(true)
        .tcp_keepalive(tcp::KEEPALIVE)
        .tcp_keepalive_interval(tcp::KEEPALIVE_INTERVAL)
        .tcp_keepalive_retries(tcp::KEEPALIVE_RETRIES)
        .http2_initial_stream_window_size(STREAM_WINDOW)
        .http2_initial_connection_window_size(CONNECTION_WINDOW)
        .http2_keep_alive_interval(options.ping_after)
        .http2_keep_alive_timeout(options.ping_timeout)
        .http2_keep_alive_while_idle(true);
    #[cfg(any(target_os = "android", target_os = "fuchsia", target_os = "linux"))]
    {
        builder = builder.tcp_user_timeout(tcp::KEEPALIVE);
    }
    if options.http1_only {
        builder = builder.http1_only();
    }
    // The only error is a TLS backend that reqwest was not built with.
    let client = builder.build().ok()?;
    Some(BoxCloneSyncService::new(service_fn(move |request: http::Request<Bytes>| {
        let client = client.clone();
        async move {
            let server = request.uri().clone();
            let request = request.map(reqwest::Body::from).try_into()?;
            let response = client.execute(request).await.map_err(|error| undialed(&server, error))?;
            Ok(http::Response::from(response).map(|body| Body::new(body.map_err(BoxError::from))))
        }
    })))
}

/// Returns the error without its URL; one of dialing in the words of the other routes.
fn undialed(server: &Uri, error: reqwest::Error) -> BoxError {
    // The wait for a shared dial timed out; there was no dial of its own.
    if error.is_connect() && error.is_timeout() {
        return DialError::new(server, io::Error::from(io::ErrorKind::TimedOut).into()).into();
    }
    let error: BoxError = error.without_url().into();
    let is_undialed =
        std::iter::successors(Some(&*error as &(dyn std::error::Error + 'static)), |error| error.source())
            .any(is_dial_error);
    if is_undialed { DialError::new(server, error).into() } else { error }
}

/// Returns whether a cause means that no connection was opened, rather than that TLS failed on it. The error of
/// hyper-util's TCP connector is private, so its text is its only mark.
fn is_dial_error(cause: &(dyn std::error::Error + 'static)) -> bool {
    cause.is::<UnknownHost>() || cause.to_string() == "tcp connect error"
}

/// The system's name resolution.
struct Lookup;

impl Resolve for Lookup {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move { Ok(Box::new(tcp::lookup(name.as_str()).await?) as Addrs) })
    }
}
