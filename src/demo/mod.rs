//! An API server of its own on loopback, with a cluster that lives: what needs a cluster can be tried without one.
//!
//! [`Demo::start`] fills a store with namespaces, nodes, applications and a custom resource, serves it over plain HTTP on
//! `127.0.0.1`, and lets it live: deployments roll, pods are scheduled, crash and recover, jobs complete, sets keep
//! their pods in order, nodes renew their leases or fall silent, Events tell of it. Clients may change what is there, and the cluster answers as one would.
//!
//! To a client it is an API server as far as it goes: discovery in both forms; lists with pages, versions and selectors;
//! watches with bookmarks and with the initial state; Tables and metadata-only forms; creates, replaces, patches, scales
//! and deletes; schemas, and fields checked against them; server-side applies; and the refusals of a real one, word for
//! word where clients look at words. It knows no users and no permissions, keeps nothing on disk, has no admission and no
//! logs of containers.
//!
//! What is served is in the parts named for it; the parts share the store and the time.

mod alternate_versions;
mod api_error;
mod clock;
mod cluster;
mod fixtures;
mod http;
mod kinds;
mod objects;
mod representations;
mod request_body;
mod schema;
mod server;
mod simulation;
mod store;
mod write;

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use jiff::Timestamp;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use clock::Clock;
use cluster::Cluster;
use simulation::Simulation;
use store::Store;

/// How a demo is to be.
#[derive(Debug, Clone)]
pub struct Options {
    /// The port on 127.0.0.1; 0 is any that is free.
    pub port: u16,
    /// Pods beyond the usual some thirty, in namespaces of their own. 100,000 take about 250 MB.
    pub objects: usize,
    /// How many times faster than usual the cluster lives. At 1, which is usual, namespace `default` shows a change of a
    /// pod at least every second.
    pub speed: f64,
    /// Equal seeds give the same cluster, and the same changes in the same order, while no client changes anything. Only
    /// the versions go by `start`.
    pub seed: u64,
    /// What time it is in the cluster when it starts.
    pub start: Timestamp,
}

impl Default for Options {
    fn default() -> Self {
        Self { port: 0, objects: 0, speed: 1.0, seed: 0, start: Timestamp::now() }
    }
}

/// Why a demo can't be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The port is taken, or there is none.
    #[error("can't listen on 127.0.0.1:{port}")]
    Listen {
        /// The port that was asked for.
        port: u16,
        /// What the system said.
        source: std::io::Error,
    },
    /// The speed is zero, negative or no number.
    #[error("the speed must be above 0 and at most 1000, not {0}")]
    Speed(f64),
}

/// A running demo. It ends when it is dropped.
pub struct Demo {
    address: SocketAddr,
    cluster: Arc<Cluster>,
    /// The server and the life of the cluster. Dropping the set aborts both, and with the server its connections.
    tasks: JoinSet<()>,
}

/// Milliseconds since the beginning of 2025. A demo that takes the place of another one, on the same port, so begins with
/// versions that the other never came to, with less than a thousand changes a second: who watched that one is told that it
/// knows nothing of its past, and not the changes of the one as if they were those of the other.
fn first_version(start: Timestamp) -> u64 {
    const BEGINNING: i64 = 1_735_689_600_000;
    u64::try_from(start.as_millisecond() - BEGINNING).unwrap_or_default().max(1)
}

impl Demo {
    /// Starts one, in the tokio runtime that this is called in. When it answers, the server listens.
    ///
    /// # Errors
    /// The port can't be had, or the speed is none.
    pub async fn start(options: Options) -> Result<Self, Error> {
        let Options { port, objects, speed, seed, start } = options;
        if !(speed > 0.0 && speed <= 1000.0) {
            return Err(Error::Speed(speed));
        }
        let failed = |source| Error::Listen { port, source };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let clock = Clock::new(start);
        let store = Store::new(seed, first_version(start));
        let cluster = Arc::new(Cluster::new(store, clock, address.to_string()));
        fixtures::fill(&cluster, seed, objects);
        cluster.store.allow_growth();
        let simulation =
            Simulation::new(Arc::clone(&cluster), fastrand::Rng::with_seed(seed.wrapping_add(1)), speed);
        let mut tasks = JoinSet::new();
        tasks.spawn(server::serve(Arc::clone(&cluster), listener));
        tasks.spawn(simulation.run());
        Ok(Self { address, cluster, tasks })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// `http://127.0.0.1:PORT`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Forgets all changes until now, as a server does from time to time: who asks for an older version is told that it
    /// expired.
    pub fn compact(&self) {
        self.cluster.store.compact();
    }

    /// Ends it; when this answers, nothing of it runs any more and the port is free.
    pub async fn stop(mut self) {
        self.tasks.shutdown().await;
    }
}

/// Shows where it listens.
impl std::fmt::Debug for Demo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Demo").field("address", &self.address).finish_non_exhaustive()
    }
}
