//! A way to the server with the credentials that open it: connections and headers that live and are renewed together.

use std::sync::{Arc, Mutex, PoisonError};

use super::config::{Config, Protocol};
use super::credentials::Credentials;
use super::error::Error;
use super::tls;
use super::transport::Transport;

/// Requests that share one connection. Servers allow 100 streams or more on one; what is beyond would wait without a
/// word, and a watch never ends.
const STREAMS_PER_CONNECTION: usize = 80;

/// Connections to one server under one set of credentials.
pub(super) struct Session {
    /// Counts the renewals, so that of many requests refused together one renews.
    pub(super) generation: u64,
    pub(super) credentials: Credentials,
    /// Whether the certificate that proves us came from a plugin or a file, and so may be another one when read again.
    pub(super) renewable_certificate: bool,
    tls: rustls::ClientConfig,
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
    /// Makes credentials and TLS ready; no connection is made. May run a plugin: not for an async thread then.
    ///
    /// # Errors
    /// [`Error::Credentials`] and [`Error::Invalid`] for what the configuration names and can't be used.
    pub(super) fn open(config: &Config, generation: u64) -> Result<Self, Error> {
        // Fails when the program has chosen a provider already, which is then used.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut kube = config.kube().clone();
        let credentials = Credentials::open(&kube)?;
        let plugin_certificate = kube.auth_info.exec.is_some() && !credentials.by_header;
        if !plugin_certificate {
            // It has run, and gave a token: making the TLS configuration would run it again to look for a certificate.
            kube.auth_info.exec = None;
        }
        let speaks_tls = config.url().scheme() == "https"
            || config.way().proxy.as_ref().is_some_and(|proxy| proxy.protocol == Protocol::Https);
        let tls = if speaks_tls { tls::client_config(&kube)? } else { tls::unused() };
        Ok(Self {
            generation,
            credentials,
            renewable_certificate: plugin_certificate || kube.auth_info.client_certificate.is_some(),
            tls,
            config: config.clone(),
            lanes: Mutex::new(Vec::new()),
        })
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
