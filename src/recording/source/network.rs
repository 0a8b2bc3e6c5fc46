//! A server of a recording on a network address.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use super::endpoint::NetworkEndpoint;
use super::mover::{Mover, ServedMoment};
use super::opener::RecordingOpener;
use super::replay::ReplaySpeed;
use super::requests;
use crate::recording::encryption::Keyring;
use crate::recording::entry::Moment;
use crate::recording::error::RecordingError;
use crate::server::http::request::ApiRequest;
use crate::server::source::Source;

/// The settings of a [`NetworkServer`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct NetworkOptions {
    /// The address to listen on; the port 0 selects a free one. It must be an address of this machine, not the
    /// unspecified address, because the certificate is for this address.
    pub address: SocketAddr,
    /// The moment to serve.
    pub moment: Moment,
    /// The speed with which the recording is replayed from that moment on. `None` if the moment stands still.
    pub replay: Option<ReplaySpeed>,
    /// The keys with which an encrypted recording is opened.
    pub keyring: Keyring,
}

impl Default for NetworkOptions {
    fn default() -> Self {
        let address = SocketAddr::from(([127, 0, 0, 1], 0));
        Self { address, moment: Moment::End, replay: None, keyring: Keyring::default() }
    }
}

setters!(NetworkOptions {
    address: SocketAddr,
    moment: Moment,
    replay: Option<ReplaySpeed>,
    keyring: Keyring,
});

/// A running server of a recording on a network address, with TLS. Dropping it stops it.
///
/// It serves the same data as [`RecordedServer`](super::RecordedServer) to clients that send its token: watches
/// receive the replay, and access reviews allow reads. `POST /kdelta/moment` with `{"to": "2026-11-24T03:12:00Z"}`
/// moves the moment; watches then end as expired.
pub struct NetworkServer {
    endpoint: NetworkEndpoint,
    mover: Arc<Mover>,
}

impl NetworkServer {
    /// Starts a server in the current tokio runtime. It is reachable when this returns. `dir` is the directory of one
    /// context.
    ///
    /// # Errors
    /// [`RecordingError`] when the moment lies before the beginning, the files can't be read, or the address is not
    /// available.
    pub async fn start(dir: &Path, options: NetworkOptions) -> Result<Self, RecordingError> {
        let NetworkOptions { address: requested, moment, replay, keyring } = options;
        let mover = Arc::new(Mover::start(RecordingOpener { dir: dir.to_owned(), keyring }, moment, replay)?);
        let source: Arc<dyn Source> = Arc::clone(mover.source()) as Arc<dyn Source>;
        let of_requests = Arc::clone(&mover);
        let handler = Box::new(move |request: &ApiRequest| requests::respond(&of_requests, request));
        let endpoint = NetworkEndpoint::start(requested, source, handler).await?;
        Ok(Self { endpoint, mover })
    }

    /// Returns the address, the certificate and the token for clients.
    #[must_use]
    pub fn endpoint(&self) -> &NetworkEndpoint {
        &self.endpoint
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
    pub async fn stop(self) {
        self.endpoint.stop().await;
    }
}

/// Prints the address only, never the token.
impl std::fmt::Debug for NetworkServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NetworkServer").field("address", &self.endpoint.address()).finish_non_exhaustive()
    }
}
