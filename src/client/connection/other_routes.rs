//! Connections through a proxy, to a server with another certificate name, or over the streams of a
//! [`Connector`], by hyper-util's client.
//!
//! reqwest 0.13 carries the direct connections. It can't carry these, for three reasons:
//! - the TLS server name is the host of the URL; there is no setting for another name;
//! - an error does not tell whether the proxy or the server failed, which messages have to say as kubectl does; the
//!   type of a tunnel's error is private, and without the status of the proxy's response;
//! - a layer over its connector must return reqwest's own private stream. Its only other streams are Unix sockets and
//!   Windows' named pipes, which other processes of the user can open.
//!
//! A [`Dialer`] also opens the connection on which [`Transport`](super::Transport) reads a delayed TLS alert, on every
//! route: reqwest hands out no connection without HTTP.

use std::sync::Arc;

use bytes::Bytes;
use http::Uri;
use http_body_util::{BodyExt, Full};
use hyper_rustls::{FixedServerNameResolver, HttpsConnector, MaybeHttpsStream};
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tower::timeout::Timeout;
use tower::util::BoxCloneSyncService;
use tower::{BoxError, Layer, ServiceExt, service_fn};

use super::http_service::{Body, CONNECTION_WINDOW, Http, STREAM_WINDOW, protocols};
use super::plain_stream::PlainStream;
use super::proxied;
use super::shared_dial::SharedDial;
use super::tcp::{CONNECT_TIMEOUT, tcp};
use crate::client::connector::Connector;
use crate::kubeconfig::ConnectionOptions;

/// Opens the connections of an HTTP client.
pub(super) type Dialer = BoxCloneSyncService<Uri, MaybeHttpsStream<PlainStream>, BoxError>;

/// Returns a dialer with these options and TLS configuration, which also applies to a proxy with TLS. The caller
/// bounds its time.
pub(super) fn dialer(options: &ConnectionOptions, mut tls: rustls::ClientConfig) -> Dialer {
    let tcp = tcp();
    let proxy = options.proxy.clone().map(Arc::new);
    let to_server = tls.clone();
    tls.alpn_protocols.clear();
    let to_proxy = Arc::new(tls);
    let dial = service_fn(move |server: Uri| {
        let (tcp, tls, proxy) = (tcp.clone(), Arc::clone(&to_proxy), proxy.clone());
        async move {
            match proxy {
                None => Ok::<_, BoxError>(PlainStream::direct_stream(tcp.oneshot(server).await?)),
                Some(proxy) => Ok(proxied::open(&proxy, tcp, tls, &server).await?),
            }
        }
    });
    with_tls(BoxCloneSyncService::new(dial), options, to_server)
}

/// Returns a dialer over the streams of a connector. The caller bounds its time.
pub(super) fn dialer_over(
    connector: &Connector,
    options: &ConnectionOptions,
    tls: rustls::ClientConfig,
) -> Dialer {
    let connector = connector.clone();
    let dial = service_fn(move |_: Uri| {
        let connector = connector.clone();
        async move { Ok(PlainStream::direct_stream(TokioIo::new(connector.open().await?))) }
    });
    with_tls(BoxCloneSyncService::new(dial), options, tls)
}

/// Adds TLS to the streams to URLs that require it.
fn with_tls(
    dial: BoxCloneSyncService<Uri, PlainStream, BoxError>,
    options: &ConnectionOptions,
    mut tls: rustls::ClientConfig,
) -> Dialer {
    tls.alpn_protocols = protocols(options);
    let https = match &options.server_name {
        Some(name) => {
            let resolver = Arc::new(FixedServerNameResolver::new(name.clone()));
            HttpsConnector::new(dial, tls, false, resolver)
        }
        None => HttpsConnector::from((dial, tls)),
    };
    BoxCloneSyncService::new(https)
}

/// Returns an HTTP client over connections that the dialer opens.
pub(super) fn http(options: &ConnectionOptions, dialer: Dialer) -> Http {
    let opener = SharedDial::of(options).layer(dialer);
    let opener: Dialer = BoxCloneSyncService::new(Timeout::new(opener, CONNECT_TIMEOUT));
    let http = Client::builder(TokioExecutor::new())
        .timer(TokioTimer::new())
        .pool_timer(TokioTimer::new())
        .http2_initial_stream_window_size(STREAM_WINDOW)
        .http2_initial_connection_window_size(CONNECTION_WINDOW)
        .http2_keep_alive_interval(options.ping_after)
        .http2_keep_alive_timeout(options.ping_timeout)
        // As in client-go. A connection whose only user is a watch counts as idle in the pool, and would not be
        // pinged otherwise.
        .http2_keep_alive_while_idle(true)
        .build(opener);
    let http = http.map_request(|request: http::Request<Bytes>| request.map(Full::new));
    let http = http
        .map_response(|response| response.map(|body| Body::new(body.map_err(BoxError::from))))
        .map_err(BoxError::from);
    BoxCloneSyncService::new(http)
}
