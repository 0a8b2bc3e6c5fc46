//! The connections to a server: as many as the requests under way need, and new ones for a new client certificate.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use kube_client::config::AuthInfo;
use rustls::client::{ResolvesClientCert, Resumption};
use rustls::sign::{CertifiedKey, SingleCertAndKey};

use super::config::Config;
use super::error::Error;
use super::tls;

/// Requests that share one connection. Servers allow 100 streams or more on one; what is beyond would wait without a
/// word, and a watch never ends.
const STREAMS_PER_CONNECTION: usize = 80;
/// Bytes the server may send ahead of us on one stream, and on all of a connection: the second holds the sum of the
/// first, so that a stream nobody reads can't hold up the others.
const STREAM_WINDOW: u32 = 512 * 1024;
const CONNECTION_WINDOW: u32 = 80 * STREAM_WINDOW;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);
const KEEPALIVE: Duration = Duration::from_secs(30);
const PING_TIMEOUT: Duration = Duration::from_secs(15);

/// Connections to one server that show one client certificate, or none.
pub(super) struct Session {
    tls: Option<rustls::ClientConfig>,
    identity: Option<Arc<CertifiedKey>>,
    config: Config,
    /// One HTTP client, hence one HTTP/2 connection, for each 80 requests under way. A std lock: taken to count and
    /// to push, never across an await; a lane is kept once made, so there are as many as the most watches needed.
    lanes: Mutex<Vec<Lane>>,
}

struct Lane {
    http: reqwest::Client,
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
        let tls = match config.url().scheme() {
            "https" => Some(tls::client_config(&kube)?),
            _ if tls::is_direct_loopback(config) => Some(tls::unused()),
            // Left to the HTTP client: the proxy to go through may speak TLS.
            _ => None,
        };
        let session = Self { tls, identity: None, config: config.clone(), lanes: Mutex::default() };
        session.lane()?;
        Ok(session)
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
        if let Some(tls) = &mut tls {
            tls.client_auth_cert_resolver = match &identity {
                Some(identity) => Arc::new(SingleCertAndKey::from(Arc::clone(identity))),
                None => Arc::new(NoIdentity),
            };
            // A TLS session that is resumed would bring the identity that it began with.
            tls.resumption = Resumption::default();
        }
        Self { tls, identity, config: self.config.clone(), lanes: Mutex::default() }
    }

    /// A client with room on its connection, and the place taken there until it is dropped.
    pub(super) fn lane(&self) -> Result<(reqwest::Client, Arc<()>), Error> {
        let mut lanes = self.lanes.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(lane) = lanes.iter().find(|lane| Arc::strong_count(&lane.place) <= STREAMS_PER_CONNECTION)
        {
            return Ok((lane.http.clone(), Arc::clone(&lane.place)));
        }
        let lane = Lane { http: self.connect()?, place: Arc::new(()) };
        let taken = (lane.http.clone(), Arc::clone(&lane.place));
        lanes.push(lane);
        Ok(taken)
    }

    fn connect(&self) -> Result<reqwest::Client, Error> {
        let mut builder = reqwest::Client::builder()
            .user_agent(user_agent())
            .redirect(reqwest::redirect::Policy::none())
            .gzip(!self.config.kube().disable_compression)
            .connect_timeout(CONNECT_TIMEOUT)
            .tcp_keepalive(KEEPALIVE)
            .http2_initial_stream_window_size(STREAM_WINDOW)
            .http2_initial_connection_window_size(CONNECTION_WINDOW)
            .http2_keep_alive_interval(KEEPALIVE)
            .http2_keep_alive_timeout(PING_TIMEOUT);
        #[cfg(any(target_os = "android", target_os = "fuchsia", target_os = "linux"))]
        {
            builder = builder.tcp_user_timeout(KEEPALIVE);
        }
        if let Some(tls) = &self.tls {
            let mut tls = tls.clone();
            tls.alpn_protocols = vec![b"http/1.1".to_vec()];
            if !self.config.http1_only() {
                tls.alpn_protocols.insert(0, b"h2".to_vec());
            }
            builder = builder.tls_backend_preconfigured(tls);
        }
        if self.config.http1_only() {
            builder = builder.http1_only();
        }
        builder = tls::route(&self.config, builder)?;
        builder
            .build()
            .map_err(|error| Error::Invalid(format!("no HTTP client can be made: {}", error.without_url())))
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

/// What administrators look for in audit logs.
fn user_agent() -> String {
    format!("kdelta/{} ({}/{})", env!("CARGO_PKG_VERSION"), std::env::consts::OS, std::env::consts::ARCH)
}
