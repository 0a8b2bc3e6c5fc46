//! Connections through a proxy: forwarded or tunneled by HTTP, or tunneled by SOCKS5.

use std::io;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::TryFutureExt;
use futures_util::future::try_join;
use http::header::{HOST, PROXY_AUTHORIZATION, USER_AGENT};
use http::uri::Scheme;
use http::{Request, StatusCode, Uri};
use http_body_util::Empty;
use hyper::client::conn::http1;
use hyper::rt::{Read, Write};
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::connect::proxy::SocksV5;
use tower::{BoxError, ServiceExt, service_fn};

use super::plain_stream::PlainStream;
use super::tcp::{Tcp, target};
use super::user_agent::user_agent;
use crate::kubeconfig::{Protocol, Proxy};

/// A failure at the proxy, or one that the proxy reported.
#[derive(Debug, thiserror::Error)]
#[error("{how}")]
pub(crate) struct ProxyError {
    /// In Go's words: `proxyconnect tcp`.
    how: String,
    source: BoxError,
}

/// A proxy's refusal to open a tunnel.
#[derive(Debug, thiserror::Error)]
#[error("the proxy {proxy} responded: {response}")]
struct TunnelRefused {
    proxy: String,
    response: StatusCode,
}

/// Opens a connection to the server behind the proxy, or to the proxy itself if it forwards requests.
pub(super) async fn open(
    proxy: &Proxy,
    tcp: Tcp,
    tls: Arc<rustls::ClientConfig>,
    server: &Uri,
) -> Result<PlainStream, ProxyError> {
    let target = target(server);
    let how = match proxy.protocol {
        Protocol::Socks5 => format!("socks connect tcp {}->{target}", proxy.authority()),
        Protocol::Http | Protocol::Https => "proxyconnect tcp".to_owned(),
    };
    let passes_on = server.scheme() == Some(&Scheme::HTTP);
    let opened = match proxy.protocol {
        Protocol::Socks5 => open_socks(proxy, tcp, &target).await,
        Protocol::Http | Protocol::Https => {
            // One type for both: the connector leaves plain URLs without TLS.
            let to_proxy = HttpsConnector::from((tcp, tls));
            match url(proxy).map(|url| to_proxy.oneshot(url)) {
                Err(error) => Err(error),
                Ok(shared_dial) => match shared_dial.await {
                    Ok(io) if passes_on => Ok(PlainStream::forwarded(io)),
                    Ok(io) => tunnel(proxy, io, &target).await,
                    Err(error) => Err(error),
                },
            }
        }
    };
    opened.map_err(|source| ProxyError { how, source })
}

fn url(proxy: &Proxy) -> Result<Uri, BoxError> {
    let scheme = if proxy.protocol == Protocol::Https { "https" } else { "http" };
    Ok(format!("{scheme}://{}/", proxy.authority()).parse()?)
}

/// Requests a tunnel from an HTTP proxy (RFC 9110, 9.3.6).
async fn tunnel<T>(proxy: &Proxy, io: T, target: &str) -> Result<PlainStream, BoxError>
where
    T: Read + Write + Unpin + Send + 'static,
{
    let mut request = Request::connect(target)
        .header(HOST, target)
        .header(USER_AGENT, user_agent())
        .body(Empty::<Bytes>::new())?;
    if let Some(header) = proxy.authorization() {
        request.headers_mut().insert(PROXY_AUTHORIZATION, header);
    }
    let (mut sender, connection) = http1::handshake(io).await?;
    let as_request = async {
        let response = sender.send_request(request).await?;
        if !response.status().is_success() {
            return Err(
                TunnelRefused { proxy: proxy.authority().to_owned(), response: response.status() }.into()
            );
        }
        Ok::<_, BoxError>(hyper::upgrade::on(response).await?)
    };
    // The connection is driven here until it becomes a tunnel; a refusal ends it.
    let (tunnel, ()) = try_join(as_request, connection.with_upgrades().map_err(Into::into)).await?;
    Ok(PlainStream::direct_stream(tunnel))
}

/// Requests a tunnel from a SOCKS5 proxy (RFC 1928, 1929), which also resolves the name.
async fn open_socks(proxy: &Proxy, tcp: Tcp, target: &str) -> Result<PlainStream, BoxError> {
    let io = tcp.oneshot(url(proxy)?).await?;
    // Passed already open: the handshake's errors do not describe a failed connection.
    let mut open = Some(io);
    let hand_over = service_fn(move |_: Uri| {
        let io = open.take();
        async move { io.ok_or_else(|| io::Error::from(io::ErrorKind::NotConnected)) }
    });
    let mut handshake = SocksV5::new(url(proxy)?, hand_over);
    if let Some((user, password)) = proxy.login() {
        handshake = handshake.with_auth(user.to_owned(), password.to_owned());
    }
    let opened = handshake.oneshot(format!("https://{target}/").parse()?).await;
    Ok(PlainStream::direct_stream(opened.map_err(|error| socks_words(&error.to_string()))?))
}

/// Returns the reason of a failed SOCKS5 handshake, in Go's words where it has some.
fn socks_words(message: &str) -> String {
    match message.trim_start_matches("SOCKS error: ") {
        "credentials not accepted" => "username/password authentication failed".to_owned(),
        "server does not support user/pass authentication" => {
            "no acceptable authentication methods".to_owned()
        }
        other => other.to_owned(),
    }
}
