//! A demo API server on loopback with a simulated cluster, for trying and testing clients without a real cluster.
//!
//! [`Demo::start`] fills a store with namespaces, nodes, applications and a custom resource, serves it over plain HTTP on
//! `127.0.0.1`, and simulates the controllers of a cluster: deployments roll out, pods are scheduled, crash and recover,
//! jobs complete, stateful sets start their pods in order, nodes renew their leases or become unreachable, and Events
//! report all of it. Clients may change any object, and the simulated controllers react.
//!
//! The server implements: discovery, aggregated and per group version; lists with pages, versions and selectors; watches
//! with bookmarks and initial events; Tables and metadata-only representations; create, update, patch, scale, evict and
//! delete; schemas and field validation; server-side apply; and a real server's error responses, with equal text where
//! clients read it. It has no users, permissions or admission, stores nothing on disk, and has no container logs.

mod access_reviews;
mod alternate_versions;
mod clock;
mod cluster;
mod errors;
mod fixtures;
mod kinds;
mod objects;
mod requests;
mod schema;
mod simulation;
mod source;
mod store;
mod write;

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use jiff::Timestamp;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use crate::listwatch::system_words;
use crate::server::clock::Clock;
use crate::server::connections;
use crate::server::router::Server;
use crate::server::source::Source;

use cluster::Cluster;
use simulation::Simulation;
use store::Store;

/// The settings of a demo.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), kdelta::demo::Error> {
/// use kdelta::demo::{Demo, Options};
///
/// // A thousand more pods, and the same cluster in each run.
/// let demo = Demo::start(Options::default().objects(1000).seed(7)).await?;
/// assert!(demo.url().starts_with("http://127.0.0.1:"));
/// demo.stop().await;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Options {
    /// The port on 127.0.0.1; 0 selects a free one.
    pub port: u16,
    /// Number of pods in addition to the standard 30 or so, in separate namespaces. 100,000 pods use about 250 MB.
    pub objects: usize,
    /// Speed of the simulation as a multiple of the default. At the default, 1, a pod of namespace `default` changes at
    /// least every second.
    pub speed: f64,
    /// The seed of the simulation. Equal seeds create equal clusters and equal changes in the same order, until a client
    /// changes an object. Only the resource versions depend on `start`.
    pub seed: u64,
    /// The time in the cluster at the start.
    pub start: Timestamp,
}

impl Default for Options {
    fn default() -> Self {
        Self { port: 0, objects: 0, speed: 1.0, seed: 0, start: Timestamp::now() }
    }
}

setters!(Options { port: u16, objects: usize, speed: f64, seed: u64, start: Timestamp });

/// The reason why a demo can't be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The port is in use or not available.
    #[error("can't listen on 127.0.0.1:{port}: {}", system_words(source))]
    Listen {
        /// The requested port.
        port: u16,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The speed is zero, negative, too high or not a number.
    #[error("the speed must be above 0 and at most 1000, not {0}")]
    Speed(f64),
}

/// A running demo. Dropping it stops it.
pub struct Demo {
    address: SocketAddr,
    cluster: Arc<Cluster>,
    /// The server and the simulation. Dropping the set aborts both; the server then aborts its connections.
    tasks: JoinSet<()>,
}

/// Returns the first resource version: milliseconds since the start of 2025.
///
/// A demo that replaces another one on the same port thus starts with versions that the other did not reach, because a
/// demo makes fewer than a thousand changes per second. Clients of the former demo get an expired error for their
/// version, instead of the new demo's changes as if they continued the former demo's.
fn first_version(start: Timestamp) -> u64 {
    const START_OF_2025: i64 = 1_735_689_600_000;
    u64::try_from(start.as_millisecond() - START_OF_2025).unwrap_or_default().max(1)
}

/// Creates the server of a cluster, which accepts writes.
fn server(cluster: &Arc<Cluster>, address: SocketAddr) -> Server {
    let source: Arc<dyn Source> = Arc::<Cluster>::clone(cluster);
    let cluster = Arc::clone(cluster);
    Server::new(source, address.to_string())
        .with_handler(Box::new(move |request| requests::respond(&cluster, request)))
}

impl Demo {
    /// Starts a demo in the current tokio runtime. The server listens when this returns.
    ///
    /// # Errors
    /// The port is not available, or the speed is invalid.
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
        let cluster = Arc::new(Cluster::new(store, clock));
        fixtures::fill(&cluster, seed, objects);
        cluster.store.allow_growth();
        let simulation =
            Simulation::new(Arc::clone(&cluster), fastrand::Rng::with_seed(seed.wrapping_add(1)), speed);
        let mut tasks = JoinSet::new();
        tasks.spawn(connections::serve(Arc::new(server(&cluster, address)), listener));
        tasks.spawn(simulation.run());
        Ok(Self { address, cluster, tasks })
    }

    /// Returns the address of the server.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns `http://127.0.0.1:PORT`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Compacts the change log, as a real server does from time to time: requests for older versions fail as expired.
    pub fn compact(&self) {
        self.cluster.store.compact();
    }

    /// Stops the demo. When this returns, its tasks have ended and the port is free.
    pub async fn stop(mut self) {
        self.tasks.shutdown().await;
    }
}

/// Prints the address only.
impl std::fmt::Debug for Demo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Demo").field("address", &self.address).finish_non_exhaustive()
    }
}
