//! A read-only Kubernetes API over a recording, at one moment or replayed from there on, or over the objects of a watch.

mod change_log;
mod collection;
mod direct;
mod documents;
mod endpoint;
mod kinds;
mod mirror;
mod movable;
mod mover;
mod network;
mod opener;
mod recorded_state;
mod replay;
mod requests;
mod reviews;
mod stored;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use jiff::Timestamp;
use tokio::task::JoinSet;

use direct::RecordedLists;
use kinds::ServedVersions;
use movable::MovableState;
use recorded_state::RecordedState;

use crate::listwatch::DirectLists;
use crate::recording::entry::Moment;
use crate::recording::error::RecordingError;
use crate::recording::reader::Recording;
use crate::server::connections;
use crate::server::in_memory::{self, StreamOpener};
use crate::server::router::Server;
use crate::server::source::Source;

pub use endpoint::NetworkEndpoint;
pub use mirror::Mirror;
pub use mover::ServedMoment;
pub use network::{NetworkOptions, NetworkServer};
pub use replay::ReplaySpeed;

/// The host of the URL.
const LOCALHOST: &str = "localhost";

/// A running server of a recording at one moment. Dropping it stops it.
///
/// Only this process can reach it. It serves the recorded data up to the moment: the objects, their rows in tables,
/// and the documents of discovery and `OpenAPI`, in the API versions that were recorded. Reads of types
/// that were not recorded fail, as do writes. Watches stay open without events, as on a cluster without changes.
pub struct RecordedServer {
    opener: StreamOpener,
    state: Arc<MovableState>,
    time: Option<Timestamp>,
    has_types: bool,
    /// The server. Dropping the set aborts it, and with it its connections.
    _tasks: JoinSet<()>,
}

impl RecordedServer {
    /// Starts a server in the current tokio runtime. Objects are read when they are requested.
    ///
    /// # Errors
    /// [`RecordingError`] when the moment lies before the beginning, or the files can't be read.
    pub fn start(recording: Recording, moment: Moment) -> Result<Self, RecordingError> {
        Self::start_with(recording, moment, ServedVersions::Recorded)
    }

    fn start_with(
        recording: Recording,
        moment: Moment,
        versions: ServedVersions,
    ) -> Result<Self, RecordingError> {
        let state = RecordedState::open(recording, moment, versions)?;
        let (time, has_types) = (state.time(), state.has_types());
        let (opener, listener) = in_memory::listen();
        let state = Arc::new(MovableState::new(state));
        let server = Server::new(Arc::clone(&state) as Arc<dyn Source>, LOCALHOST.to_owned());
        let server = Arc::new(server.without_compression());
        let mut tasks = JoinSet::new();
        tasks.spawn(connections::serve(server, listener));
        Ok(Self { opener, state, time, has_types, _tasks: tasks })
    }

    /// Returns the URL for a client over [`RecordedServer::opener`].
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{LOCALHOST}")
    }

    /// Returns the opener of connections. They end with the server.
    #[must_use]
    pub fn opener(&self) -> StreamOpener {
        self.opener.clone()
    }

    /// Returns the lists that a client need not request.
    #[must_use]
    pub fn direct_lists(&self) -> Arc<dyn DirectLists> {
        Arc::new(RecordedLists(Arc::clone(&self.state)))
    }

    /// Returns the time of the moment, which ages in tables are relative to. `None` if nothing is recorded.
    #[must_use]
    pub fn time(&self) -> Option<Timestamp> {
        self.time
    }

    /// Returns whether a type was recorded up to the moment.
    #[must_use]
    pub fn has_types(&self) -> bool {
        self.has_types
    }
}

/// Prints the time of the moment only.
impl std::fmt::Debug for RecordedServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RecordedServer").field("time", &self.time).finish_non_exhaustive()
    }
}
