//! Forward proxies as companies run them: an HTTP proxy that opens tunnels and forwards plain requests, in clear text
//! or TLS, and a SOCKS5 proxy, each with an optional user and password. They log their requests.
//!
//! Every name resolves to this machine, so a test can request a server by a name that only the proxy resolves.

use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, Mutex};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use tokio_rustls::TlsAcceptor;

use super::Testbed;

/// The user and password that the proxy requires, if any.
type Login = Option<(&'static str, &'static str)>;

/// A proxy on a local port.
pub(crate) struct Forward {
    runtime: Runtime,
    port: u16,
    manners: Arc<ProxyRules>,
    /// The accept task; all connections end when it is aborted.
    accepting: Option<JoinHandle<()>>,
}

/// The protocol and the rules of a proxy.
struct ProxyRules {
    protocol: Protocol,
    login: Login,
    /// A mutex: the connections write, the test reads. Bounded by the requests of one test.
    sent_requests: Mutex<Vec<String>>,
    /// True while connections stay open without transferring data.
    silent: watch::Sender<bool>,
}

enum Protocol {
    Http,
    Https(TlsAcceptor),
    Socks5,
}

impl Forward {
    /// Starts an HTTP proxy.
    pub(crate) fn http(login: Login) -> Self {
        Self::start(Protocol::Http, login)
    }

    /// Starts an HTTP proxy behind TLS, with the certificate of the server.
    pub(crate) fn https(login: Login, testbed: &Testbed) -> Self {
        Self::start(Protocol::Https(TlsAcceptor::from(Arc::new(server_tls(testbed)))), login)
    }

    /// Starts a SOCKS5 proxy.
    pub(crate) fn socks5(login: Login) -> Self {
        Self::start(Protocol::Socks5, login)
    }

    fn start(protocol: Protocol, login: Login) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let mut proxy = Self {
            runtime: runtime.expect("a runtime"),
            port: 0,
            manners: Arc::new(ProxyRules {
                protocol,
                login,
                sent_requests: Mutex::default(),
                silent: watch::Sender::new(false),
            }),
            accepting: None,
        };
        proxy.reopen();
        proxy
    }

    /// Returns its address, `127.0.0.1:PORT`.
    pub(crate) fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Returns the logged requests in order: `CONNECT host:port`, `GET url`, with ` as user` if there were
    /// credentials, and the response if it was an error.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.manners.sent_requests.lock().expect("no panic inside").clone()
    }

    /// Stops forwarding data without closing connections.
    pub(crate) fn fall_silent(&self) {
        self.manners.silent.send_replace(true);
    }

    pub(crate) fn cut(&mut self) {
        if let Some(accepting) = self.accepting.take() {
            accepting.abort();
            let _ended = self.runtime.block_on(accepting);
        }
    }

    /// Accepts connections again, on the same port.
    pub(crate) fn reopen(&mut self) {
        // Another test's connection may hold the port.
        let bind = || self.runtime.block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, self.port))).ok();
        let listener = super::eventually("the port is free", bind);
        self.port = listener.local_addr().expect("an address").port();
        let manners = Arc::clone(&self.manners);
        self.accepting = Some(self.runtime.spawn(async move {
            let mut open = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let manners = Arc::clone(&manners);
                open.spawn(async move { manners.serve(stream).await });
            }
        }));
    }
}

impl ProxyRules {
    async fn serve(&self, stream: TcpStream) -> io::Result<()> {
        match &self.protocol {
            Protocol::Http => self.serve_http(stream).await,
            Protocol::Https(tls) => self.serve_http(tls.accept(stream).await?).await,
            Protocol::Socks5 => self.serve_socks(stream).await,
        }
    }

    fn log(&self, line: String) {
        self.sent_requests.lock().expect("no panic inside").push(line);
    }

    async fn serve_http(&self, mut client: impl AsyncRead + AsyncWrite + Unpin) -> io::Result<()> {
        let mut head = vec![client.read_u8().await?];
        if !head[0].is_ascii_uppercase() {
            return client.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n").await;
        }
        while !head.ends_with(b"\r\n\r\n") {
            head.push(client.read_u8().await?);
        }
        let head = String::from_utf8_lossy(&head).into_owned();
        let mut words = head.split(' ');
        let (method, url) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let lines: Vec<&str> = head.lines().collect();
        let is_login = |line: &&str| line.to_lowercase().starts_with("proxy-authorization:");
        let credentials = lines.iter().find(|line| is_login(line)).and_then(|line| line.split(' ').nth(2));
        let credentials = credentials.and_then(|code| BASE64_STANDARD.decode(code).ok());
        let credentials = credentials.map(|login| String::from_utf8_lossy(&login).into_owned());
        let user = credentials.as_deref().and_then(|login| login.split(':').next());
        let sent_requests =
            format!("{method} {url}{}", user.map(|user| format!(" as {user}")).unwrap_or_default());
        if self.login.is_some_and(|(user, password)| credentials != Some(format!("{user}:{password}"))) {
            self.log(format!("{sent_requests}: 407"));
            let refusal = "HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm=\"x\"\r\n\
                           Content-Length: 0\r\nConnection: close\r\n\r\n";
            return client.write_all(refusal.as_bytes()).await;
        }
        self.log(sent_requests);
        let target = url.trim_start_matches("http://").split('/').next().unwrap_or_default();
        let Ok(mut server) = reach(target).await else {
            return client.write_all(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n").await;
        };
        if method == "CONNECT" {
            client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").await?;
        } else {
            // Forwards one request in origin form: a second request on the connection is not read.
            let own: Vec<&str> = lines.iter().skip(1).filter(|line| !is_login(line)).copied().collect();
            let path = &url["http://".len() + target.len()..];
            let head = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n{}\r\n", own.join("\r\n"));
            server.write_all(head.as_bytes()).await?;
        }
        self.pump(client, server).await
    }

    async fn serve_socks(&self, mut client: TcpStream) -> io::Result<()> {
        let (_version, methods) = (client.read_u8().await?, client.read_u8().await?);
        let mut offered = vec![0; methods.into()];
        client.read_exact(&mut offered).await?;
        let expected = if self.login.is_some() { 2 } else { 0 };
        if !offered.contains(&expected) {
            self.log("no login: refused".to_owned());
            return client.write_all(&[5, 0xff]).await;
        }
        client.write_all(&[5, expected]).await?;
        let mut who = String::new();
        if let Some((user, password)) = self.login {
            let _version = client.read_u8().await?;
            let credentials = [text(&mut client).await?, text(&mut client).await?];
            let known = credentials == [user, password];
            client.write_all(&[1, u8::from(!known)]).await?;
            who = format!(" as {}", credentials[0]);
            if !known {
                self.log(format!("LOGIN{who}: refused"));
                return Ok(());
            }
        }
        let mut request = [0; 4];
        client.read_exact(&mut request).await?;
        let host = match request[3] {
            1 => IpAddr::from(client.read_u32().await?.to_be_bytes()).to_string(),
            4 => format!("[{}]", IpAddr::from(client.read_u128().await?.to_be_bytes())),
            _ => text(&mut client).await?,
        };
        let target = format!("{host}:{}", client.read_u16().await?);
        self.log(format!("CONNECT {target}{who}"));
        let server = reach(&target).await;
        let outcome = if server.is_ok() { 0 } else { 5 };
        client.write_all(&[5, outcome, 0, 1, 0, 0, 0, 0, 0, 0]).await?;
        self.pump(client, server?).await
    }

    async fn pump(
        &self,
        mut client: impl AsyncRead + AsyncWrite + Unpin,
        mut server: TcpStream,
    ) -> io::Result<()> {
        let mut silent = self.silent.subscribe();
        tokio::select! {
            done = copy_bidirectional(&mut client, &mut server) => return done.map(|_| ()),
            () = async { drop(silent.wait_for(|silent| *silent).await) } => {}
        }
        std::future::pending().await
    }
}

/// Returns the certificate of the server, with its key.
pub(crate) fn server_keys(testbed: &Testbed) -> (CertificateDer<'static>, PrivateKeyDer<'static>) {
    let state = testbed.state();
    let certificate = CertificateDer::from_pem_file(state.join("apiserver.crt")).expect("a certificate");
    let key = PrivateKeyDer::from_pem_file(state.join("apiserver.key")).expect("a key");
    let _first = rustls::crypto::ring::default_provider().install_default();
    (certificate, key)
}

/// Returns the TLS configuration of the server, with its certificate.
pub(crate) fn server_tls(testbed: &Testbed) -> ServerConfig {
    let (certificate, key) = server_keys(testbed);
    let config = ServerConfig::builder().with_no_client_auth().with_single_cert(vec![certificate], key);
    config.expect("a key of its certificate")
}

/// Reads a length-prefixed text.
async fn text(from: &mut TcpStream) -> io::Result<String> {
    let mut bytes = vec![0; from.read_u8().await?.into()];
    from.read_exact(&mut bytes).await?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

async fn reach(target: &str) -> io::Result<TcpStream> {
    let (host, port) = target.rsplit_once(':').unwrap_or((target, "80"));
    let is_address = host.trim_matches(['[', ']']).parse::<IpAddr>().is_ok();
    TcpStream::connect(format!("{}:{port}", if is_address { host } else { "127.0.0.1" })).await
}
