//! The connections to a server: as many as the requests under way need, for some watches one each, and new ones for a new
//! client certificate.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use kube_client::config::AuthInfo;
use rustls::client::{ResolvesClientCert, Resumption};
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use tokio_util::sync::CancellationToken;

use super::config::{Config, Protocol, Way};
use super::error::Error;
use super::pulse::Signs;
use super::tls;
use super::transport::Transport;

/// Requests that share one connection. Servers allow 100 streams or more on one; what is beyond would wait without a
/// word, and a watch never ends.
const STREAMS_PER_CONNECTION: usize = 80;

/// Connections to one server that show one client certificate, or none.
pub(super) struct Session {
    tls: rustls::ClientConfig,
    identity: Option<Arc<CertifiedKey>>,
    /// The one before.
    replaced: Option<Arc<CertifiedKey>>,
    /// Cancelled when another certificate has come. Held by every answer; only watches look at it.
    retired: CancellationToken,
    config: Config,
    /// One HTTP client, hence one HTTP/2 connection, for each 80 requests under way. A std lock: taken to count and
    /// to push, never across an await; a lane is kept once made, so there are as many as the most watches needed.
    lanes: Mutex<Vec<Lane>>,
    /// Speaks HTTP/1.1: a connection for each watch under way.
    alone: OnceLock<Lane>,
    /// Relaxed: who sees it late is refused and comes back.
    all_share: AtomicBool,
    pub(super) signs: Arc<Signs>,
}

struct Lane {
    http: Transport,
    /// Cloned by each request under way; the count of clones is how full the lane is.
    place: Arc<()>,
}

impl Session {
    /// Makes TLS ready; no connection is made.
    ///
    /// # Errors
    /// [`Error::Invalid`] for what the configuration names and can't be used.
    pub(super) fn open(config: &Config) -> Result<Self, Error> {
        // Fails when the program has chosen a provider already, which is then used.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut kube = config.kube().clone();
        // Who we are is not kube-client's to find out: it would run a plugin once more.
        kube.auth_info = AuthInfo::default();
        let speaks_tls = config.url().scheme() == "https"
            || config.way().proxy.as_ref().is_some_and(|proxy| proxy.protocol == Protocol::Https);
        let tls = if speaks_tls { tls::client_config(&kube)? } else { tls::unused() };
        Ok(Self {
            tls,
            identity: None,
            replaced: None,
            retired: CancellationToken::new(),
            config: config.clone(),
            lanes: Mutex::default(),
            alone: OnceLock::new(),
            all_share: AtomicBool::new(false),
            signs: Arc::default(),
        })
    }

    /// Whether its connections are those for this certificate: the one that they show, or the one that this has replaced,
    /// which a request may still hold that was overtaken.
    pub(super) fn serves(&self, identity: Option<&Arc<CertifiedKey>>) -> bool {
        let is = |own: &Option<Arc<CertifiedKey>>| match (own, identity) {
            (Some(own), Some(other)) => Arc::ptr_eq(own, other),
            _ => false,
        };
        is(&self.identity) || is(&self.replaced) || (self.identity.is_none() && identity.is_none())
    }

    /// Its connections are used no more.
    pub(super) fn retire(&self) {
        self.retired.cancel();
    }

    /// Tells when its connections are used no more.
    pub(super) fn retired(&self) -> CancellationToken {
        self.retired.clone()
    }

    /// New connections that show that certificate. Lists on the present ones run on to their end.
    pub(super) fn showing(&self, identity: Option<Arc<CertifiedKey>>) -> Self {
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
            lanes: Mutex::default(),
            alone: OnceLock::new(),
            all_share: AtomicBool::new(self.all_share.load(Ordering::Relaxed)),
            signs: Arc::default(),
        }
    }

    /// A client with room on its connection, and the place taken there until it is dropped.
    pub(super) fn lane(&self) -> (Transport, Arc<()>) {
        let mut lanes = self.lanes.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(lane) = lanes.iter().find(|lane| Arc::strong_count(&lane.place) <= STREAMS_PER_CONNECTION)
        {
            return (lane.http.clone(), Arc::clone(&lane.place));
        }
        let lane = self.open_lane(self.config.way());
        let taken = (lane.http.clone(), Arc::clone(&lane.place));
        lanes.push(lane);
        taken
    }

    /// The same for a watch: where not too many have one, and all may, a connection of its own. Of watches that begin at
    /// once a few more may have one.
    pub(super) fn own_lane(&self) -> Option<(Transport, Arc<()>)> {
        let way = self.config.way();
        // Where all speak HTTP/1.1 each has its own in any case.
        if way.http1_only || way.watches_alone == 0 || self.all_share.load(Ordering::Relaxed) {
            return None;
        }
        let alone = self.alone.get_or_init(|| self.open_lane(&Way { http1_only: true, ..way.clone() }));
        let has_room = Arc::strong_count(&alone.place) <= way.watches_alone;
        has_room.then(|| (alone.http.clone(), Arc::clone(&alone.place)))
    }

    /// Has all watches share connections, as of a server that speaks HTTP/2 only.
    pub(super) fn share_all(&self) {
        self.all_share.store(true, Ordering::Relaxed);
    }

    fn open_lane(&self, way: &Way) -> Lane {
        let gzip = !self.config.kube().disable_compression;
        Lane { http: Transport::new(way, self.tls.clone(), gzip), place: Arc::new(()) }
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
