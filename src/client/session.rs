//! The connections to a server: as many as the requests under way need, for some watches one each, and new ones for a new
//! client certificate.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustls::client::{ResolvesClientCert, Resumption};
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use tokio_util::sync::CancellationToken;

use super::connection::tls;
use super::connection::{Signs, Transport};
use crate::kubeconfig::Error;
use crate::kubeconfig::{Config, ConnectionOptions, Protocol};

/// Requests that share one connection. Servers allow 100 streams or more on one; what is beyond would wait without a
/// word, and a watch never ends.
const STREAMS_PER_CONNECTION: usize = 80;

/// Connections to one server that show one client certificate, or none.
pub(crate) struct Session {
    tls: rustls::ClientConfig,
    identity: Option<Arc<CertifiedKey>>,
    /// The one before.
    replaced: Option<Arc<CertifiedKey>>,
    /// Cancelled when another certificate has come. Held by every answer; only watches look at it.
    retired: CancellationToken,
    config: Config,
    /// A std lock: taken to count and to push, never across an await.
    lanes: Mutex<Lanes>,
    pub(crate) signs: Arc<Signs>,
}

/// The ways to the server. What was opened is kept, so there are as many as the most requests under way needed.
#[derive(Default)]
struct Lanes {
    /// One HTTP client, hence one HTTP/2 connection, for each 80 requests under way.
    shared: Vec<Lane>,
    /// Speaks HTTP/1.1: a connection for each watch under way.
    alone: Option<Lane>,
    /// No watch has one, as of a server that speaks HTTP/2 only.
    all_share: bool,
}

struct Lane {
    http: Transport,
    /// Cloned by each request under way; the count of clones is how full the lane is.
    place: Arc<()>,
}

impl Lane {
    fn take(&self) -> (Transport, Arc<()>) {
        (self.http.clone(), Arc::clone(&self.place))
    }

    fn has_room(&self, requests: usize) -> bool {
        Arc::strong_count(&self.place) <= requests
    }
}

impl Session {
    /// Makes TLS ready; no connection is made.
    ///
    /// # Errors
    /// [`Error::Invalid`] for what the configuration names and can't be used.
    pub(crate) fn open(config: &Config) -> Result<Self, Error> {
        let speaks_tls = config.url().scheme() == "https"
            || config
                .connection_options()
                .proxy
                .as_ref()
                .is_some_and(|proxy| proxy.protocol == Protocol::Https);
        let tls = if speaks_tls { tls::client_config(config.trust())? } else { tls::unused()? };
        Ok(Self {
            tls,
            identity: None,
            replaced: None,
            retired: CancellationToken::new(),
            config: config.clone(),
            lanes: Mutex::default(),
            signs: Arc::default(),
        })
    }

    /// Whether its connections are those for this certificate: the one that they show, or the one that this has replaced,
    /// which a request may still hold that was overtaken.
    pub(crate) fn serves(&self, identity: Option<&Arc<CertifiedKey>>) -> bool {
        let is = |own: &Option<Arc<CertifiedKey>>| match (own, identity) {
            (Some(own), Some(other)) => Arc::ptr_eq(own, other),
            _ => false,
        };
        is(&self.identity) || is(&self.replaced) || (self.identity.is_none() && identity.is_none())
    }

    /// Its connections are used no more.
    pub(crate) fn retire(&self) {
        self.retired.cancel();
    }

    /// Tells when its connections are used no more.
    pub(crate) fn retired(&self) -> CancellationToken {
        self.retired.clone()
    }

    /// New connections that show that certificate. Lists on the present ones run on to their end.
    pub(crate) fn showing(&self, identity: Option<Arc<CertifiedKey>>) -> Self {
        let mut tls = self.tls.clone();
        tls.client_auth_cert_resolver = match &identity {
            Some(identity) => Arc::new(SingleCertAndKey::from(Arc::clone(identity))),
            None => Arc::new(NoIdentity),
        };
        // A TLS session that is resumed would bring the identity that it began with.
        tls.resumption = Resumption::default();
        Self {
            tls,
            identity,
            replaced: self.identity.clone(),
            retired: CancellationToken::new(),
            config: self.config.clone(),
            lanes: Mutex::new(Lanes { all_share: self.lanes().all_share, ..Lanes::default() }),
            signs: Arc::clone(&self.signs),
        }
    }

    /// A client with room on its connection, and the place taken there until it is dropped.
    pub(crate) fn lane(&self) -> (Transport, Arc<()>) {
        let mut lanes = self.lanes();
        if let Some(lane) = lanes.shared.iter().find(|lane| lane.has_room(STREAMS_PER_CONNECTION)) {
            return lane.take();
        }
        let lane = self.open_lane(self.config.connection_options());
        let taken = lane.take();
        lanes.shared.push(lane);
        taken
    }

    /// The same for a watch: where not too many have one, and all may, a connection of its own.
    pub(crate) fn own_lane(&self) -> Option<(Transport, Arc<()>)> {
        let (options, mut lanes) = (self.config.connection_options(), self.lanes());
        // Where all speak HTTP/1.1 each has its own in any case.
        if options.http1_only || options.dedicated_watches == 0 || lanes.all_share {
            return None;
        }
        let alone = lanes.alone.get_or_insert_with(|| {
            self.open_lane(&ConnectionOptions { http1_only: true, ..options.clone() })
        });
        alone.has_room(options.dedicated_watches).then(|| alone.take())
    }

    /// From now on no watch has a connection of its own.
    pub(crate) fn share_all(&self) {
        self.lanes().all_share = true;
    }

    fn lanes(&self) -> MutexGuard<'_, Lanes> {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open_lane(&self, options: &ConnectionOptions) -> Lane {
        let gzip = !self.config.disables_compression();
        Lane { http: Transport::new(options, self.tls.clone(), gzip), place: Arc::new(()) }
    }
}

/// No client certificate, whatever a server asks for.
#[derive(Debug)]
struct NoIdentity;

impl ResolvesClientCert for NoIdentity {
    fn resolve(&self, _: &[&[u8]], _: &[rustls::SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        None
    }

    fn has_certs(&self) -> bool {
        false
    }
}
