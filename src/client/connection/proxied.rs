//! Connections by way of a proxy: passed on or tunnelled by HTTP, or tunnelled by SOCKS5.

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

use super::dial::{Tcp, target};
use super::link::Link;
use crate::kubeconfig::{Protocol, Proxy};

/// What failed between us and the server was the proxy, or was told by it.
#[derive(Debug, thiserror::Error)]
#[error("{how}")]
pub(crate) struct ByProxy {
    /// In Go's words: `proxyconnect tcp`.
    how: String,
    source: BoxError,
}

/// A proxy that would not open a tunnel.
#[derive(Debug, thiserror::Error)]
#[error("the proxy {proxy} answered: {answer}")]
struct Refused {
    proxy: String,
    answer: StatusCode,
}

/// A connection to the server behind that proxy, or to the proxy where it passes on what the server is to be sent.
pub(super) async fn open(
    proxy: &Proxy,
    tcp: Tcp,
    tls: Arc<rustls::ClientConfig>,
    server: &Uri,
) -> Result<Link, ByProxy> {
    let target = target(server);
    let how = match proxy.protocol {
        Protocol::Socks5 => format!("socks connect tcp {}->{target}", proxy.authority()),
        Protocol::Http | Protocol::Https => "proxyconnect tcp".to_owned(),
    };
    let passes_on = server.scheme() == Some(&Scheme::HTTP);
    let opened = match proxy.protocol {
        Protocol::Socks5 => by_socks(proxy, tcp, &target).await,
        Protocol::Http | Protocol::Https => {
            // One type for both: the connector leaves a plain URL plain.
            let to_proxy = HttpsConnector::from((tcp, tls));
            match url(proxy).map(|url| to_proxy.oneshot(url)) {
                Err(error) => Err(error),
                Ok(opening) => match opening.await {
                    Ok(io) if passes_on => Ok(Link::passed_on(io)),
                    Ok(io) => tunnel(proxy, io, &target).await,
                    Err(error) => Err(error),
                },
            }
        }
    };
    opened.map_err(|source| ByProxy { how, source })
}

fn url(proxy: &Proxy) -> Result<Uri, BoxError> {
    let scheme = if proxy.protocol == Protocol::Https { "https" } else { "http" };
    Ok(format!("{scheme}://{}/", proxy.authority()).parse()?)
}

/// Asks an HTTP proxy for a tunnel (RFC 9110, 9.3.6).
async fn tunnel<T>(proxy: &Proxy, io: T, target: &str) -> Result<Link, BoxError>
where
    T: Read + Write + Unpin + Send + 'static,
{
    let mut request = Request::connect(target)
        .header(HOST, target)
        .header(USER_AGENT, super::user_agent())
        .body(Empty::<Bytes>::new())?;
    if let Some(header) = proxy.authorization() {
        request.headers_mut().insert(PROXY_AUTHORIZATION, header);
    }
    let (mut sender, connection) = http1::handshake(io).await?;
    let asking = async {
        let response = sender.send_request(request).await?;
        if !response.status().is_success() {
            return Err(Refused { proxy: proxy.authority().to_owned(), answer: response.status() }.into());
        }
        Ok::<_, BoxError>(hyper::upgrade::on(response).await?)
    };
    // The connection is driven here until it is a tunnel; a refusal ends it.
    let (tunnel, ()) = try_join(asking, connection.with_upgrades().map_err(Into::into)).await?;
    Ok(Link::to_server(tunnel))
}

/// Asks a SOCKS5 proxy for a tunnel (RFC 1928, 1929); names are left to it to look up.
async fn by_socks(proxy: &Proxy, tcp: Tcp, target: &str) -> Result<Link, BoxError> {
    let io = tcp.oneshot(url(proxy)?).await?;
    // Handed over open: what fails before is not told by the handshake's errors.
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
    Ok(Link::to_server(opened.map_err(|error| socks_words(&error.to_string()))?))
}

/// What a SOCKS5 handshake failed of, in Go's words where there are.
fn socks_words(said: &str) -> String {
    match said.trim_start_matches("SOCKS error: ") {
        "credentials not accepted" => "username/password authentication failed".to_owned(),
        "server does not support user/pass authentication" => {
            "no acceptable authentication methods".to_owned()
        }
        other => other.to_owned(),
    }
}
