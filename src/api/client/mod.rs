//! The client of one server: its connections, credentials and counters.

mod options;
mod request_url;
mod send;
#[cfg(test)]
mod tests;

pub use options::ClientOptions;

use std::collections::HashSet;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::client::Notice;
use crate::client::connection_pool::ConnectionPool;
use crate::client::failure;
use crate::client::login::Credentials;
use crate::client::login::progress::LoginProgress;
use crate::client::redaction::Redaction;
use crate::client::silence::Silence;
use crate::client::warnings::Warnings;
use crate::kubeconfig::{Config, Error};
use crate::listwatch::{self, DirectLists};
use crate::object::ApiResource;

/// A client of one server, with its credentials. Cheap to clone; clones share connections and credentials.
#[derive(Clone)]
pub struct Client {
    inner: Arc<Inner>,
}

struct Inner {
    config: Config,
    /// `host:port` for messages.
    authority: Arc<str>,
    /// Shared with the tasks that renew them.
    credentials: Arc<Credentials>,
    login_progress: LoginProgress,
    /// The connections with the client certificate of the last request. A std lock: held to read and replace them,
    /// never across an await.
    connection_pool: Mutex<Arc<ConnectionPool>>,
    warnings: Warnings,
    silence: Arc<Silence>,
    /// The credentials that were sent, which are masked in responses.
    redaction: Redaction,
    /// The resources whose watches do not deliver the initial state. A std lock, for a lookup; bounded by the number
    /// of the server's resources.
    no_watch_list: Mutex<HashSet<ApiResource>>,
    /// Whether the server can send rows with the identity of their objects.
    identifies_rows: bool,
    direct_lists: Option<Arc<dyn DirectLists>>,
    /// Bytes of bodies. Relaxed: a statistic.
    received: Arc<AtomicU64>,
    /// The number of sent requests. Relaxed: a statistic.
    sent: AtomicU64,
    /// Whether the head of any response has arrived. Relaxed: nothing else is ordered by it.
    has_response: AtomicBool,
}

impl Client {
    /// Returns a client without connections. A credential plugin runs with the first request, not here.
    ///
    /// # Errors
    /// [`Error::Credentials`] and [`Error::Invalid`] for unreadable files and invalid certificates.
    pub fn new(config: &Config) -> Result<Self, Error> {
        Self::with_options(config, ClientOptions::default())
    }

    /// Returns a client with these options.
    ///
    /// # Errors
    /// As [`Client::new`].
    pub fn with_options(config: &Config, options: ClientOptions) -> Result<Self, Error> {
        let ClientOptions { notices: listener, credential_plugins, connector, identifies_rows, direct_lists } =
            options;
        let config = if connector.is_some() { &config.clone().without_proxy() } else { config };
        let redaction = Redaction::default();
        let connection_pool = ConnectionPool::open(config, connector, redaction.clone())?;
        if let Some(proxy) = &config.connection_options().proxy {
            redaction.add_proxy(proxy);
        }
        let inner = Inner {
            authority: config.authority().into(),
            config: config.clone(),
            credentials: Arc::new(Credentials::open(config, listener.clone(), credential_plugins)?),
            login_progress: LoginProgress::default(),
            connection_pool: Mutex::new(Arc::new(connection_pool)),
            silence: Arc::new(Silence::new(config.authority().into(), listener.clone())),
            warnings: Warnings::new(listener, redaction.clone()),
            redaction,
            no_watch_list: Mutex::default(),
            identifies_rows,
            direct_lists,
            received: Arc::default(),
            sent: AtomicU64::new(0),
            has_response: AtomicBool::new(false),
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Returns the client's configuration.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.inner.config
    }

    /// Returns the total time that requests have waited for credentials of a plugin or an issuer: a plugin that
    /// prompts the user may take minutes, during which the server is not at fault.
    pub(crate) fn external_wait(&self) -> Duration {
        self.inner.login_progress.waited()
    }

    /// Reports a long wait before a request is repeated. The error is masked already.
    pub(super) fn notify_wait(&self, path: &str, error: &listwatch::Error, after: Duration) {
        if after > Duration::from_secs(2) {
            let (server, reason) = (&*self.inner.authority, &*error.to_string());
            self.inner.warnings.notify(Notice::Retrying { server, path, reason, after });
        }
    }

    /// Reports names of the server's discovery that can't be used.
    pub(super) fn report_unusable_names(&self, count: usize, example: &str) {
        let example = &self.inner.redaction.apply(example);
        self.inner.warnings.notify(Notice::UnusableNames { count, example });
    }

    /// Returns whether the server can send rows with the identity of their objects.
    pub(crate) fn identifies_rows(&self) -> bool {
        self.inner.identifies_rows
    }

    /// Returns the error of a request without a response within its time limit.
    pub(super) fn no_response(&self) -> listwatch::Error {
        failure::no_response(&self.inner.authority, None)
    }

    /// Returns the lists of the server that need no requests.
    pub(super) fn direct_lists(&self) -> Option<&Arc<dyn DirectLists>> {
        self.inner.direct_lists.as_ref()
    }

    /// Returns the credentials that this client sends, in order to mask them in texts that come from the server. Errors and
    /// notices of this client are masked already.
    #[must_use]
    pub fn redaction(&self) -> &Redaction {
        &self.inner.redaction
    }

    /// Returns whether the server has responded to any request, if only with a refusal.
    pub(super) fn has_response(&self) -> bool {
        self.inner.has_response.load(Ordering::Relaxed)
    }

    /// Returns the number of bytes of all response bodies so far, after decompression.
    #[must_use]
    pub fn received(&self) -> u64 {
        self.inner.received.load(Ordering::Relaxed)
    }

    /// Returns the number of requests so far, repeated ones included.
    #[must_use]
    pub fn sent(&self) -> u64 {
        self.inner.sent.load(Ordering::Relaxed)
    }

    /// Returns whether watches of this resource are still expected to deliver the initial state.
    pub(super) fn supports_watch_list(&self, resource: &ApiResource) -> bool {
        !self.inner.no_watch_list.lock().unwrap_or_else(PoisonError::into_inner).contains(resource)
    }

    /// Records that watches of this resource do not deliver the initial state.
    pub(super) fn disable_watch_list(&self, resource: &ApiResource) {
        self.inner.no_watch_list.lock().unwrap_or_else(PoisonError::into_inner).insert(resource.clone());
    }
}

/// Shows the server's URL, never a credential.
impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("server", &self.inner.authority).finish_non_exhaustive()
    }
}
