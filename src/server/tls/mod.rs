//! Connections with TLS, for clients that send a token.

mod certificate;

use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use rustls::ServerConfig;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use super::clock::within;
use super::connections::Listener;
use certificate::Certificate;

/// The number of handshakes at a time; further connections wait in the backlog.
const MAX_HANDSHAKES: usize = 64;

/// The time limit of a handshake: a client that sends nothing must not hold its place.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);

/// A certificate of one run of a server, with its key.
pub(crate) struct Identity {
    pem: String,
    config: Arc<ServerConfig>,
}

impl Identity {
    /// Creates a certificate for `localhost` and these addresses.
    ///
    /// # Errors
    /// The operating system has no random numbers.
    pub(crate) fn new(addresses: &[IpAddr], now: Timestamp) -> io::Result<Self> {
        let Certificate { der, pem, key } = Certificate::new(addresses, now).map_err(io::Error::other)?;
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key));
        let builder = ServerConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(io::Error::other)?;
        let config = builder
            .with_no_client_auth()
            .with_single_cert(vec![CertificateDer::from(der)], key)
            .map_err(io::Error::other)?;
        Ok(Self { pem, config: Arc::new(config) })
    }

    /// Returns the certificate in PEM.
    pub(crate) fn pem(&self) -> &str {
        &self.pem
    }

    /// Returns a listener that accepts connections with TLS only.
    pub(crate) fn listener(&self, listener: TcpListener) -> TlsListener {
        let acceptor = TlsAcceptor::from(Arc::clone(&self.config));
        TlsListener { listener, acceptor, handshakes: JoinSet::new() }
    }
}

/// A listener whose connections use TLS.
pub(crate) struct TlsListener {
    listener: TcpListener,
    acceptor: TlsAcceptor,
    /// The handshakes in progress, at most [`MAX_HANDSHAKES`], each for at most [`HANDSHAKE_TIMEOUT`]. Tasks, so that a
    /// slow client delays no other. Dropping the set aborts them.
    handshakes: JoinSet<Option<TlsStream<TcpStream>>>,
}

impl Listener for TlsListener {
    type Stream = TlsStream<TcpStream>;

    async fn accept(&mut self) -> io::Result<Self::Stream> {
        loop {
            tokio::select! {
                accepted = self.listener.accept(), if self.handshakes.len() < MAX_HANDSHAKES => {
                    let (stream, _) = accepted?;
                    // Events are sent when they are written, without waiting for more data.
                    let _best_effort = stream.set_nodelay(true);
                    let handshake = self.acceptor.accept(stream);
                    self.handshakes.spawn(async move { within(HANDSHAKE_TIMEOUT, handshake).await?.ok() });
                }
                Some(done) = self.handshakes.join_next() => {
                    // A client that fails the handshake has closed its connection.
                    if let Ok(Some(stream)) = done {
                        return Ok(stream);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use rustls::pki_types::ServerName;
    use rustls::pki_types::pem::PemObject;
    use rustls::{ClientConfig, RootCertStore};
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio_rustls::TlsConnector;

    use super::*;

    fn connector(pem: &str) -> TlsConnector {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(pem.as_bytes()).expect("PEM")).expect("a certificate");
        let config = ClientConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_root_certificates(roots)
            .with_no_client_auth();
        TlsConnector::from(Arc::new(config))
    }

    async fn listening(identity: &Identity) -> (TlsListener, std::net::SocketAddr) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a port");
        let address = listener.local_addr().expect("an address");
        (identity.listener(listener), address)
    }

    #[tokio::test]
    async fn clients_that_trust_the_certificate_connect() {
        let own = IpAddr::from(Ipv4Addr::LOCALHOST);
        let identity = Identity::new(&[own], Timestamp::now()).expect("a certificate");
        let (mut listener, address) = listening(&identity).await;
        // Clients that do not complete their handshakes delay no other.
        let _silent = TcpStream::connect(address).await.expect("a connection");
        let server = tokio::spawn(async move {
            for _ in 0..2 {
                let mut stream = listener.accept().await.expect("a stream");
                stream.write_all(b"hello").await.expect("written");
                stream.shutdown().await.expect("an end");
            }
        });
        for name in ["127.0.0.1", "localhost"] {
            let stream = TcpStream::connect(address).await.expect("a connection");
            let name = ServerName::try_from(name).expect("a name");
            let mut stream = connector(identity.pem()).connect(name, stream).await.expect("TLS");
            let mut text = String::new();
            stream.read_to_string(&mut text).await.expect("a text");
            assert_eq!(text, "hello");
        }
        server.await.expect("served");
    }

    #[tokio::test]
    async fn other_names_and_certificates_are_refused() {
        let own = IpAddr::from(Ipv4Addr::LOCALHOST);
        let identity = Identity::new(&[own], Timestamp::now()).expect("a certificate");
        let other = Identity::new(&[own], Timestamp::now()).expect("a certificate");
        let (mut listener, address) = listening(&identity).await;
        let server = tokio::spawn(async move { listener.accept().await.map(|_| ()) });
        for (pem, name) in [(identity.pem(), "rebound.example"), (other.pem(), "127.0.0.1")] {
            let stream = TcpStream::connect(address).await.expect("a connection");
            let name = ServerName::try_from(name.to_owned()).expect("a name");
            connector(pem).connect(name, stream).await.expect_err("refused");
        }
        server.abort();
    }
}
