//! A listener on a network address that serves a source with TLS and a token.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use jiff::Timestamp;
use ring::rand::{SecureRandom, SystemRandom};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use crate::recording::error::RecordingError;
use crate::server::connections;
use crate::server::http::access::Access;
use crate::server::router::{Handler, Server};
use crate::server::source::Source;
use crate::server::tls::Identity;

/// The number of random bytes in a token.
const TOKEN_BYTES: usize = 32;

/// The address, the certificate and the token of a running server. Dropping it stops the server.
pub struct NetworkEndpoint {
    address: SocketAddr,
    certificate: String,
    token: String,
    /// The server. Dropping the set aborts it, and with it its connections.
    tasks: JoinSet<()>,
}

impl NetworkEndpoint {
    /// Starts to serve a source. It is reachable when this returns. `handler` receives each request first and may respond
    /// in place of the source.
    ///
    /// # Errors
    /// [`RecordingError::Listen`] when the address is not available.
    pub(super) async fn start(
        requested: SocketAddr,
        source: Arc<dyn Source>,
        handler: Handler,
    ) -> Result<Self, RecordingError> {
        let failed = |source| RecordingError::Listen { address: requested, source };
        let listener = TcpListener::bind(requested).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let identity = Identity::new(&[address.ip()], Timestamp::now()).map_err(failed)?;
        let mut token = [0; TOKEN_BYTES];
        SystemRandom::new()
            .fill(&mut token)
            .map_err(|_| failed(io::Error::other("the operating system has no random numbers")))?;
        // As an argument of a command, a token of base64 that begins with a hyphen would be taken for a flag.
        let token = token.iter().fold(String::new(), |token, byte| format!("{token}{byte:02x}"));
        let access = Access::with_token(&token, &host(address.ip()));
        let server = Server::new(source, address.to_string());
        let server = server.with_access(access).with_handler(handler).with_request_log();
        let mut tasks = JoinSet::new();
        tasks.spawn(connections::serve(Arc::new(server), identity.listener(listener)));
        Ok(Self { address, certificate: identity.pem().to_owned(), token, tasks })
    }

    /// Returns the address that it listens on.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns `https://127.0.0.1:PORT`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("https://{}", self.address)
    }

    /// Returns the self-signed certificate in PEM.
    #[must_use]
    pub fn certificate(&self) -> &str {
        &self.certificate
    }

    /// Returns the bearer token that every request must have.
    #[must_use]
    pub fn token(&self) -> &str {
        &self.token
    }

    /// Stops the server. When this returns, its tasks have ended and the port is free.
    pub async fn stop(mut self) {
        self.tasks.shutdown().await;
    }
}

/// Returns an address as it appears in a URL.
fn host(address: IpAddr) -> String {
    match address {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => format!("[{address}]"),
    }
}

/// Prints the address only, never the token.
impl std::fmt::Debug for NetworkEndpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NetworkEndpoint").field("address", &self.address).finish_non_exhaustive()
    }
}
