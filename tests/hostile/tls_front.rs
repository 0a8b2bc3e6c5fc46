//! TLS in front of a hostile server: the program sends credentials over TLS only.

use std::net::Ipv4Addr;
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio_rustls::TlsAcceptor;

use super::HostileServer;

/// A port that decrypts connections and passes them on to a server.
pub(crate) struct TlsFront {
    /// Ends all connections when it is dropped.
    _runtime: Runtime,
    url: String,
    certificate: String,
}

impl TlsFront {
    /// Starts a front of this server, with a certificate of its own.
    pub(crate) fn of(server: &HostileServer) -> Self {
        let port = server.port();
        let certified =
            rcgen::generate_simple_self_signed(vec!["127.0.0.1".to_owned()]).expect("a certificate");
        let key = PrivateKeyDer::Pkcs8(certified.signing_key.serialize_der().into());
        let config = ServerConfig::builder().with_no_client_auth();
        let config = config.with_single_cert(vec![certified.cert.der().clone()], key).expect("a key pair");
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.expect("a runtime");
        let listener = runtime.block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))).expect("a free port");
        let url = format!("https://{}", listener.local_addr().expect("an address"));
        runtime.spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let acceptor = acceptor.clone();
                tokio::spawn(async move {
                    let Ok(mut client) = acceptor.accept(stream).await else { return };
                    let Ok(mut server) = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await else {
                        return;
                    };
                    let _ended = copy_bidirectional(&mut client, &mut server).await;
                });
            }
        });
        Self { _runtime: runtime, url, certificate: certified.cert.pem() }
    }

    /// `https://127.0.0.1:PORT`.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// The certificate, as PEM, which is its own authority.
    pub(crate) fn certificate(&self) -> &str {
        &self.certificate
    }
}
