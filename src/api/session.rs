//! The connections to a server: as many as the requests under way need, and new ones for a new client certificate.

use std::sync::{Arc, Mutex, PoisonError};

use kube_client::config::AuthInfo;
use rustls::client::{ResolvesClientCert, Resumption};
use rustls::sign::{CertifiedKey, SingleCertAndKey};

use super::config::{Config, Protocol};
use super::error::Error;
use super::tls;
use super::transport::Transport;

/// Requests that share one connection. Servers allow 100 streams or more on one; what is beyond would wait without a
/// word, and a watch never ends.
const STREAMS_PER_CONNECTION: usize = 80;

/// Connections to one server that show one client certificate, or none.
pub(super) struct Session {
    tls: rustls::ClientConfig,
    identity: Option<Arc<CertifiedKey>>,
    config: Config,
    /// One HTTP client, hence one HTTP/2 connection, for each 80 requests under way. A std lock: taken to count and
    /// to push, never across an await; a lane is kept once made, so there are as many as the most watches needed.
    lanes: Mutex<Vec<Lane>>,
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
        Ok(Self { tls, identity: None, config: config.clone(), lanes: Mutex::default() })
    }

    /// Whether this is the certificate that its connections show.
    pub(super) fn shows(&self, identity: Option<&Arc<CertifiedKey>>) -> bool {
        match (&self.identity, identity) {
            (Some(shown), Some(other)) => Arc::ptr_eq(shown, other),
            (None, None) => true,
            _ => false,
        }
    }

    /// New connections that show that certificate. What runs on the present ones runs on to its own end.
    pub(super) fn showing(&self, identity: Option<Arc<CertifiedKey>>) -> Self {
        let mut tls = self.tls.clone();
        tls.client_auth_cert_resolver = match &identity {
            Some(identity) => Arc::new(SingleCertAndKey::from(Arc::clone(identity))),
            None => Arc::new(NoIdentity),
        };
        // A TLS session that is resumed would bring the identity that it began with.
        tls.resumption = Resumption::default();
        Self { tls, identity, config: self.config.clone(), lanes: Mutex::default() }
    }

    /// A client with room on its connection, and the place taken there until it is dropped.
    pub(super) fn lane(&self) -> (Transport, Arc<()>) {
        let mut lanes = self.lanes.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(lane) = lanes.iter().find(|lane| Arc::strong_count(&lane.place) <= STREAMS_PER_CONNECTION)
        {
            return (lane.http.clone(), Arc::clone(&lane.place));
        }
        let gzip = !self.config.kube().disable_compression;
        let http = Transport::new(self.config.way(), self.tls.clone(), gzip);
        let lane = Lane { http, place: Arc::new(()) };
        let taken = (lane.http.clone(), Arc::clone(&lane.place));
        lanes.push(lane);
        taken
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
