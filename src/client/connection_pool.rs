//! The connections to a server: as many as the requests under way need, dedicated ones for some watches, and new ones
//! for a new client certificate.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustls::client::{ResolvesClientCert, Resumption};
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use tokio_util::sync::CancellationToken;

use super::connection::tls;
use super::connection::{Liveness, Transport};
use super::connector::Connector;
use super::redaction::Redaction;
use super::request_log::RequestLog;
use crate::kubeconfig::Error;
use crate::kubeconfig::{Config, ConnectionOptions, Protocol};

/// The number of requests that share one connection. Servers allow 100 streams or more on one; a request beyond that
/// would wait silently, and a watch never ends.
const STREAMS_PER_CONNECTION: usize = 80;

/// The connections to one server with one client certificate, or none.
pub(crate) struct ConnectionPool {
    tls: rustls::ClientConfig,
    identity: Option<Arc<CertifiedKey>>,
    /// The previous certificate.
    replaced: Option<Arc<CertifiedKey>>,
    /// Cancelled when another certificate replaces this one. Held by every response; only watches observe it.
    retired: CancellationToken,
    config: Config,
    /// Opens the connections, instead of TCP.
    connector: Option<Connector>,
    log: RequestLog,
    /// A std lock: held to count and to push, never across an await.
    transports: Mutex<Transports>,
    pub(crate) liveness: Arc<Liveness>,
}

/// The HTTP clients of a server. None is dropped, so there are as many as the highest number of concurrent requests
/// needed.
#[derive(Default)]
struct Transports {
    /// One HTTP client, hence one HTTP/2 connection, for each 80 requests under way.
    shared: Vec<PooledTransport>,
    /// An HTTP/1.1 client: one connection for each watch under way.
    dedicated: Option<PooledTransport>,
    /// Whether no watch has a dedicated connection, for example with a server that supports HTTP/2 only.
    dedicated_disabled: bool,
}

struct PooledTransport {
    http: Transport,
    /// Cloned by each request under way; the number of clones is the load.
    permit: Arc<()>,
}

impl PooledTransport {
    fn acquire(&self) -> (Transport, Arc<()>) {
        (self.http.clone(), Arc::clone(&self.permit))
    }

    fn has_room(&self, requests: usize) -> bool {
        Arc::strong_count(&self.permit) <= requests
    }
}

impl ConnectionPool {
    /// Prepares TLS; no connection is made. The log of the requests masks `redaction`.
    ///
    /// # Errors
    /// [`Error::Invalid`] for unusable settings of the configuration.
    pub(crate) fn open(
        config: &Config,
        connector: Option<Connector>,
        redaction: Redaction,
    ) -> Result<Self, Error> {
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
            connector,
            log: RequestLog::new(redaction),
            transports: Mutex::default(),
            liveness: Arc::default(),
        })
    }

    /// Returns whether its connections are for this certificate: the present one, or the previous one, which a
    /// request may still hold that was overtaken.
    pub(crate) fn serves(&self, identity: Option<&Arc<CertifiedKey>>) -> bool {
        let is = |own: &Option<Arc<CertifiedKey>>| match (own, identity) {
            (Some(own), Some(other)) => Arc::ptr_eq(own, other),
            _ => false,
        };
        is(&self.identity) || is(&self.replaced) || (self.identity.is_none() && identity.is_none())
    }

    /// Stops the use of its connections.
    pub(crate) fn retire(&self) {
        self.retired.cancel();
    }

    /// Returns the token that is cancelled when its connections are no longer used.
    pub(crate) fn retired(&self) -> CancellationToken {
        self.retired.clone()
    }

    /// Returns new connections with that certificate. Lists on the present ones continue to their end.
    pub(crate) fn with_identity(&self, identity: Option<Arc<CertifiedKey>>) -> Self {
        let mut tls = self.tls.clone();
        tls.client_auth_cert_resolver = match &identity {
            Some(identity) => Arc::new(SingleCertAndKey::from(Arc::clone(identity))),
            None => Arc::new(NoIdentity),
        };
        // A resumed TLS session would carry the previous identity.
        tls.resumption = Resumption::default();
        Self {
            tls,
            identity,
            replaced: self.identity.clone(),
            retired: CancellationToken::new(),
            config: self.config.clone(),
            connector: self.connector.clone(),
            log: self.log.clone(),
            transports: Mutex::new(Transports {
                dedicated_disabled: self.transports().dedicated_disabled,
                ..Transports::default()
            }),
            liveness: Arc::clone(&self.liveness),
        }
    }

    /// Returns a client with capacity on its connection, and the permit to hold during the request.
    pub(crate) fn transport(&self) -> (Transport, Arc<()>) {
        let mut transports = self.transports();
        if let Some(transport) =
            transports.shared.iter().find(|transport| transport.has_room(STREAMS_PER_CONNECTION))
        {
            return transport.acquire();
        }
        let transport = self.open_transport(self.config.connection_options());
        let taken = transport.acquire();
        transports.shared.push(transport);
        taken
    }

    /// Returns a client with a dedicated connection for a watch, unless too many watches have one, or none may.
    pub(crate) fn dedicated_transport(&self) -> Option<(Transport, Arc<()>)> {
        let (options, mut transports) = (self.config.connection_options(), self.transports());
        // With HTTP/1.1 each request has a connection of its own anyway.
        if options.http1_only || options.dedicated_watches == 0 || transports.dedicated_disabled {
            return None;
        }
        let dedicated = transports.dedicated.get_or_insert_with(|| {
            self.open_transport(&ConnectionOptions { http1_only: true, ..options.clone() })
        });
        dedicated.has_room(options.dedicated_watches).then(|| dedicated.acquire())
    }

    /// Disables dedicated connections from now on.
    pub(crate) fn disable_dedicated(&self) {
        self.transports().dedicated_disabled = true;
    }

    fn transports(&self) -> MutexGuard<'_, Transports> {
        self.transports.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open_transport(&self, options: &ConnectionOptions) -> PooledTransport {
        let (gzip, log) = (!self.config.disables_compression(), self.log.clone());
        let http = match &self.connector {
            Some(connector) => Transport::over(connector, options, self.tls.clone(), gzip, log),
            None => Transport::new(options, self.tls.clone(), gzip, log),
        };
        PooledTransport { http, permit: Arc::new(()) }
    }
}

/// No client certificate, whatever a server requests.
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
