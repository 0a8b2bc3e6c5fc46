//! A server of a recording on a network address.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::Timestamp;
use ring::rand::{SecureRandom, SystemRandom};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use super::mover::{Mover, ServedMoment};
use super::replay::ReplaySpeed;
use super::requests;
use crate::recording::entry::Moment;
use crate::recording::error::RecordingError;
use crate::server::connections;
use crate::server::http::access::Access;
use crate::server::router::Server;
use crate::server::source::Source;
use crate::server::tls::Identity;

/// The number of random bytes in a token.
const TOKEN_BYTES: usize = 32;

/// The settings of a [`NetworkServer`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct NetworkOptions {
    /// The address to listen on; the port 0 selects a free one. It must be an address of this machine, not the
    /// unspecified address, because the certificate is for this address.
    pub address: SocketAddr,
    /// The moment to serve.
    pub moment: Moment,
    /// The speed with which the recording is replayed from that moment on. `None` if the moment stands still.
    pub replay: Option<ReplaySpeed>,
}

impl Default for NetworkOptions {
    fn default() -> Self {
        Self { address: SocketAddr::from(([127, 0, 0, 1], 0)), moment: Moment::End, replay: None }
    }
}

setters!(NetworkOptions { address: SocketAddr, moment: Moment, replay: Option<ReplaySpeed> });

/// A running server of a recording on a network address, with TLS. Dropping it stops it.
///
/// It serves the same data as [`RecordedServer`](super::RecordedServer) to clients that send its token: watches
/// receive the replay, and access reviews allow reads. `POST /kdelta/moment` with `{"to": "2026-11-24T03:12:00Z"}`
/// moves the moment; watches then end as expired.
pub struct NetworkServer {
    address: SocketAddr,
    certificate: String,
    token: String,
    mover: Arc<Mover>,
    /// The server. Dropping the set aborts it, and with it its connections.
    tasks: JoinSet<()>,
}

impl NetworkServer {
    /// Starts a server in the current tokio runtime. It is reachable when this returns. `dir` is the directory of one
    /// context.
    ///
    /// # Errors
    /// [`RecordingError`] when the moment lies before the beginning, the files can't be read, or the address is not
    /// available.
    pub async fn start(dir: &Path, options: NetworkOptions) -> Result<Self, RecordingError> {
        let NetworkOptions { address: requested, moment, replay } = options;
        let failed = |source| RecordingError::Listen { address: requested, source };
        let mover = Arc::new(Mover::start(dir, moment, replay)?);
        let listener = TcpListener::bind(requested).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let identity = Identity::new(&[address.ip()], Timestamp::now()).map_err(failed)?;
        let mut token = [0; TOKEN_BYTES];
        SystemRandom::new()
            .fill(&mut token)
            .map_err(|_| failed(io::Error::other("the operating system has no random numbers")))?;
        let token = URL_SAFE_NO_PAD.encode(token);
        let access = Access::with_token(&token, &host(address.ip()));
        let source: Arc<dyn Source> = Arc::clone(mover.source()) as Arc<dyn Source>;
        let of_requests = Arc::clone(&mover);
        let server = Server::new(source, address.to_string())
            .with_access(access)
            .with_handler(Box::new(move |request| requests::respond(&of_requests, request)));
        let mut tasks = JoinSet::new();
        tasks.spawn(connections::serve(Arc::new(server), identity.listener(listener)));
        Ok(Self { address, certificate: identity.pem().to_owned(), token, mover, tasks })
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

    /// Returns the moment that is served.
    ///
    /// # Errors
    /// [`RecordingError`] when the files can't be read or are damaged.
    pub fn moment(&self) -> Result<ServedMoment, RecordingError> {
        self.mover.moment()
    }

    /// Moves to another moment. Watches end as expired, so that clients list again.
    ///
    /// # Errors
    /// [`RecordingError`] when the moment lies before the beginning, or the files can't be read.
    pub fn move_to(&self, moment: Moment) -> Result<(), RecordingError> {
        self.mover.move_to(moment)
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
impl std::fmt::Debug for NetworkServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NetworkServer").field("address", &self.address).finish_non_exhaustive()
    }
}
