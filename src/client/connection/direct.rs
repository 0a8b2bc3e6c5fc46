//! Connections straight to the server, under the name that its URL has: reqwest's.

use std::io;
use std::sync::Arc;

use bytes::Bytes;
use http::Uri;
use http_body_util::BodyExt;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::{Client, redirect};
use tower::util::BoxCloneSyncService;
use tower::{BoxError, service_fn};

use super::dial::{self, Undialed};
use super::shared_dial::Opening;
use super::{Body, CONNECTION_WINDOW, Http, STREAM_WINDOW};
use crate::kubeconfig::ConnectionOptions;

/// What a connector says that could not even reach the server.
const UNDIALED: [&str; 2] = ["tcp connect error", "dns error"];

/// An HTTP client that goes that way, if it is one that reqwest can go: it knows no certificate name but the URL's host,
/// and of a failure behind a proxy it does not tell where it was.
pub(super) fn http(options: &ConnectionOptions, mut tls: rustls::ClientConfig) -> Option<Http> {
    if options.proxy.is_some() || options.server_name.is_some() {
        return None;
    }
    tls.alpn_protocols = dial::protocols(options);
    let mut builder = Client::builder()
        .tls_backend_preconfigured(tls)
        .no_proxy()
        .redirect(redirect::Policy::none())
        // Left to `Transport`, which does it on every way.
        .retry(reqwest::retry::never())
        .dns_resolver(Arc::new(Lookup))
        // Unpacked by `Transport`, whatever else in a build may ask of reqwest.
        .no_gzip()
        .no_brotli()
        .no_zstd()
        .no_deflate()
        .connect_timeout(dial::CONNECT_TIMEOUT)
        .connector_layer(Opening::of(options))
        .tcp_nodelay(true)
        .tcp_keepalive(dial::KEEPALIVE)
        .tcp_keepalive_interval(dial::KEEPALIVE_INTERVAL)
        .tcp_keepalive_retries(dial::KEEPALIVE_RETRIES)
        .http2_initial_stream_window_size(STREAM_WINDOW)
        .http2_initial_connection_window_size(CONNECTION_WINDOW)
        .http2_keep_alive_interval(options.ping_after)
        .http2_keep_alive_timeout(options.ping_timeout)
        .http2_keep_alive_while_idle(true);
    #[cfg(any(target_os = "android", target_os = "fuchsia", target_os = "linux"))]
    {
        builder = builder.tcp_user_timeout(dial::KEEPALIVE);
    }
    if options.http1_only {
        builder = builder.http1_only();
    }
    // It refuses a TLS backend that it was not built with; ours is one that it was.
    let client = builder.build().ok()?;
    Some(BoxCloneSyncService::new(service_fn(move |request: http::Request<Bytes>| {
        let client = client.clone();
        async move {
            let server = request.uri().clone();
            let request = request.map(reqwest::Body::from).try_into()?;
            let answer = client.execute(request).await.map_err(|error| undialed(&server, error))?;
            Ok(http::Response::from(answer).map(|body| Body::new(body.map_err(BoxError::from))))
        }
    })))
}

/// The error without the URL; one of opening the connection in the words of the other ways.
fn undialed(server: &Uri, error: reqwest::Error) -> BoxError {
    // Who waited for another's connection never dialed.
    if error.is_connect() && error.is_timeout() {
        return Undialed::new(server, io::Error::from(io::ErrorKind::TimedOut).into()).into();
    }
    let error: BoxError = error.without_url().into();
    let is_undialed =
        std::iter::successors(Some(&*error as &(dyn std::error::Error + 'static)), |error| error.source())
            .any(|cause| UNDIALED.contains(&cause.to_string().as_str()));
    if is_undialed { Undialed::new(server, error).into() } else { error }
}

/// The system's look-up.
struct Lookup;

impl Resolve for Lookup {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move { Ok(Box::new(dial::lookup(name.as_str()).await?) as Addrs) })
    }
}
