//! A demo API server with a simulated cluster, for trying and testing clients without a real cluster.
//!
//! [`Demo::start`] fills a store with namespaces, nodes, applications and a custom resource, serves it over plain HTTP to
//! clients inside the process, with a port also to others on `127.0.0.1`, and simulates the controllers of a cluster:
//! deployments roll out, pods are scheduled, crash and recover, jobs complete, stateful sets start their pods in order,
//! nodes renew their leases or become unreachable, and Events report all of it. Clients may change any object, and the
//! simulated controllers react.
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

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use jiff::Timestamp;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use crate::listwatch::system_words;
use crate::server::clock::Clock;
use crate::server::connections;
use crate::server::in_memory;
use crate::server::router::Server;
use crate::server::source::Source;

pub use crate::server::in_memory::StreamOpener;

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
/// // A thousand more pods, and the same cluster in each run, on a free port.
/// let demo = Demo::start(Options::default().port(Some(0)).objects(1000).seed(7)).await?;
/// assert!(demo.url().starts_with("http://127.0.0.1:"));
/// demo.stop().await;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Options {
    /// The port on 127.0.0.1, which every local user can reach; 0 selects a free one. With `None`, the default, only
    /// this process can reach the demo, through [`Demo::opener`].
    pub port: Option<u16>,
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
        Self { port: None, objects: 0, speed: 1.0, seed: 0, start: Timestamp::now() }
    }
}

setters!(Options { port: Option<u16>, objects: usize, speed: f64, seed: u64, start: Timestamp });

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
        source: io::Error,
    },
    /// The speed is zero, negative, too high or not a number.
    #[error("the speed must be above 0 and at most 1000, not {0}")]
    Speed(f64),
}

/// A running demo. Dropping it stops it.
pub struct Demo {
    /// The address that it listens on, if any.
    address: Option<SocketAddr>,
    opener: StreamOpener,
    cluster: Arc<Cluster>,
    /// The servers and the simulation. Dropping the set aborts all; a server then aborts its connections.
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

/// The host of the URL inside the process.
const LOCALHOST: &str = "localhost";

/// Creates the server of a cluster, which accepts writes.
fn server(cluster: &Arc<Cluster>, address: String) -> Server {
    let source: Arc<dyn Source> = Arc::<Cluster>::clone(cluster);
    let cluster = Arc::clone(cluster);
    Server::new(source, address).with_handler(Box::new(move |request| requests::respond(&cluster, request)))
}

/// Listens on a port of 127.0.0.1; 0 selects a free one.
async fn listen(port: u16) -> io::Result<(TcpListener, SocketAddr)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
    let address = listener.local_addr()?;
    Ok((listener, address))
}

impl Demo {
    /// Starts a demo in the current tokio runtime. It is reachable when this returns.
    ///
    /// # Errors
    /// The port is not available, or the speed is invalid.
    pub async fn start(options: Options) -> Result<Self, Error> {
        let Options { port, objects, speed, seed, start } = options;
        if !(speed > 0.0 && speed <= 1000.0) {
            return Err(Error::Speed(speed));
        }
        let listener = match port {
            Some(port) => Some(listen(port).await.map_err(|source| Error::Listen { port, source })?),
            None => None,
        };
        let clock = Clock::new(start);
        let store = Store::new(seed, first_version(start));
        let cluster = Arc::new(Cluster::new(store, clock));
        fixtures::fill(&cluster, seed, objects);
        cluster.store.allow_growth();
        let simulation =
            Simulation::new(Arc::clone(&cluster), fastrand::Rng::with_seed(seed.wrapping_add(1)), speed);
        let mut tasks = JoinSet::new();
        let (opener, in_memory) = in_memory::listen();
        tasks.spawn(connections::serve(Arc::new(server(&cluster, LOCALHOST.to_owned())), in_memory));
        let address = listener.as_ref().map(|(_, address)| *address);
        if let Some((listener, address)) = listener {
            tasks.spawn(connections::serve(Arc::new(server(&cluster, address.to_string())), listener));
        }
        tasks.spawn(simulation.run());
        Ok(Self { address, opener, cluster, tasks })
    }

    /// Returns the address that it listens on, if any.
    #[must_use]
    pub fn address(&self) -> Option<SocketAddr> {
        self.address
    }

    /// Returns `http://127.0.0.1:PORT`; without a port, `http://localhost`, for a client over [`Demo::opener`].
    #[must_use]
    pub fn url(&self) -> String {
        let address = self.address.map(|address| address.to_string());
        format!("http://{}", address.as_deref().unwrap_or(LOCALHOST))
    }

    /// Returns the opener of connections inside this process. They end with the demo.
    #[must_use]
    pub fn opener(&self) -> StreamOpener {
        self.opener.clone()
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

/// Prints the address only, if any.
impl std::fmt::Debug for Demo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Demo").field("address", &self.address).finish_non_exhaustive()
    }
}
