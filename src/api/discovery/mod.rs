//! What a server offers, and what a word means there.
//!
//! A server is asked once; the answer is kept in memory and, where a folder is given, on disk for a short time. A word
//! that is not found is looked for once more in a fresh answer: its resource may have been defined a moment ago.

mod cache;
mod catalog;
mod fetch;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod untrusted_names;
mod version;

pub use catalog::Catalog;
pub use version::ServerVersion;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use tokio::sync::Mutex;
use tracing::debug;

use super::Client;
use crate::kubeconfig::Error;
use crate::object::ApiResource;
use crate::wire::{DiscoveredResource, UnavailableGroup};
use cache::Cache;
use catalog::NoMatch;

/// How discovery works.
#[derive(Debug, Clone)]
pub struct DiscoveryOptions {
    /// The folder for one file per server; `None` keeps nothing on disk.
    pub cache_folder: Option<PathBuf>,
    /// How long such a file counts for every question. For 6 hours, as long as kubectl's, it is enough for a word that
    /// names one resource which only a new version of the server could change.
    pub cache_life: Duration,
    /// How long each request may take.
    pub timeout: Option<Duration>,
}

impl Default for DiscoveryOptions {
    fn default() -> Self {
        Self {
            cache_folder: None,
            cache_life: Duration::from_mins(10),
            timeout: Some(Duration::from_secs(32)),
        }
    }
}

/// How long a file counts for whoever finds in it what is asked for, and can [`Discovery::doubt`] it later.
const USABLE: Duration = Duration::from_hours(6);

/// Why a word could not be turned into a resource.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum ResolveError {
    /// The server offers nothing of that name.
    #[error("the server doesn't have a resource type {name:?}")]
    Unknown {
        /// The name without its group.
        name: String,
        /// What was given after the first dot; empty when nothing was.
        group: String,
        /// Resources with a name near to it.
        near: Vec<String>,
        /// What could not be asked, so that the word may be there all the same.
        missing: Vec<UnavailableGroup>,
    },
    /// What the word names has no list.
    #[error("the server does not allow this method on the requested resource: {0} can't be listed")]
    NotListable(String),
    /// The server could not be asked.
    #[error(transparent)]
    Discovery(#[from] Error),
}

impl ResolveError {
    /// A second line that may help: a word that was perhaps meant, or what could not be asked.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        let Self::Unknown { name, group, near, missing } = self else { return None };
        if !near.is_empty() {
            return Some(format!("did you mean {}?", near.join(" or ")));
        }
        let Some(missing) = missing.first() else {
            return (!group.is_empty()).then(|| format!("nothing in group {group} is called {name}"));
        };
        let what = match (missing.group.as_str(), missing.version.as_str()) {
            ("", "") => "some API groups".to_owned(),
            ("", version) => version.to_owned(),
            (group, version) => format!("{group}/{version}"),
        };
        Some(format!("{what} could not be asked: {}", missing.reason))
    }
}

/// What one server offers. Cheap to clone; clones share what they learn.
#[derive(Clone)]
pub struct Discovery {
    inner: Arc<Inner>,
}

struct Inner {
    client: Client,
    timeout: Option<Duration>,
    cache: Option<Cache>,
    /// An async lock, held while the server is asked: of many who want to know, one asks and the others wait.
    known: Mutex<Option<Known>>,
    /// How long what a file says counts for every question.
    cache_life: Duration,
    /// Whether the listener knows that names were left out: a watch of every kind discovers again and again. Relaxed: no
    /// other memory depends on it.
    reported_unusable: AtomicBool,
}

/// What a server told.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Told {
    catalog: Arc<Catalog>,
    version: Option<ServerVersion>,
}

/// What is known, and from whom.
#[derive(Clone)]
struct Known {
    catalog: Arc<Catalog>,
    version: Option<ServerVersion>,
    told_by: Source,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    Server,
    File,
    /// One that is no longer young.
    OldFile,
}

impl Discovery {
    /// Discovery by this client. Asks nothing yet.
    #[must_use]
    pub fn new(client: &Client, options: &DiscoveryOptions) -> Self {
        let folder = options.cache_folder.as_deref();
        let cache =
            folder.map(|folder| Cache::new(folder, client.config().server(), USABLE.max(options.cache_life)));
        let inner = Inner {
            client: client.clone(),
            timeout: options.timeout,
            cache,
            known: Mutex::new(None),
            cache_life: options.cache_life,
            reported_unusable: AtomicBool::new(false),
        };
        Self { inner: Arc::new(inner) }
    }

    /// What the server offers: what is known, else what a young file says, else what the server says.
    ///
    /// # Errors
    /// [`Error::Server`] when it had to be asked and could not be.
    pub async fn catalog(&self) -> Result<Arc<Catalog>, Error> {
        let mut known = self.inner.known.lock().await;
        self.young(&mut known).await
    }

    /// What the server offers now, asked anew.
    ///
    /// # Errors
    /// [`Error::Server`] when it could not be asked; what was known stays.
    pub async fn refresh(&self) -> Result<Arc<Catalog>, Error> {
        let mut known = self.inner.known.lock().await;
        Ok(self.ask(&mut known).await?.catalog)
    }

    /// The listable resources that a word names: all of a category, or one resource by its plural, singular or short
    /// name or its kind in any case, alone (core group first, then the server's order), as `type.group`,
    /// `type.version.group`, or with the beginning of a group. Of several versions the server's preferred one.
    ///
    /// # Errors
    /// [`ResolveError`]; unknown only after the server was asked anew.
    pub async fn resolve(&self, word: &str) -> Result<Vec<DiscoveredResource>, ResolveError> {
        let mut known = self.inner.known.lock().await;
        let was_known = known.is_some();
        let Known { mut catalog, told_by, .. } = self.known(&mut known).await?;
        if told_by == Source::OldFile && !catalog.is_lasting(word) {
            catalog = self.ask(&mut known).await?.catalog;
            return catalog.find(word).map_err(|why| refusal(why, word, &catalog));
        }
        let mut found = catalog.find(word);
        let is_new = told_by == Source::Server && !was_known;
        if found == Err(NoMatch::Unknown) && !is_new {
            catalog = self.ask(&mut known).await?.catalog;
            found = catalog.find(word);
        }
        found.map_err(|why| refusal(why, word, &catalog))
    }

    /// Which version the server is. Asks nothing: `None` before anything else was asked, and where the server does not say
    /// it.
    pub async fn server_version(&self) -> Option<ServerVersion> {
        self.inner.known.lock().await.as_ref().and_then(|known| known.version)
    }

    /// Resources of other groups that a word which was resolved could mean as well: [`Catalog::passed_over`].
    pub async fn passed_over(&self, word: &str) -> Vec<String> {
        let known = self.inner.known.lock().await;
        known.as_ref().map(|known| known.catalog.passed_over(word)).unwrap_or_default()
    }

    /// A resource that was resolved is not there. Unless the server itself has told what is known, it is asked anew;
    /// answers whether a word may name something else by now.
    ///
    /// # Errors
    /// As [`Discovery::refresh`].
    pub async fn doubt(&self, resource: &ApiResource) -> Result<bool, Error> {
        let mut known = self.inner.known.lock().await;
        let Some(before) = known.clone() else { return Ok(false) };
        if before.told_by == Source::Server {
            // It was asked for the sake of another word, after this one was found in a file.
            return Ok(before.catalog.resources.iter().all(|found| found.resource != *resource));
        }
        Ok(self.ask(&mut known).await?.catalog != before.catalog)
    }

    /// What is known and good for every question.
    async fn young(&self, known: &mut Option<Known>) -> Result<Arc<Catalog>, Error> {
        match self.known(known).await? {
            Known { told_by: Source::OldFile, .. } => Ok(self.ask(known).await?.catalog),
            young => Ok(young.catalog),
        }
    }

    /// What is known, be it old.
    async fn known(&self, known: &mut Option<Known>) -> Result<Known, Error> {
        if let Some(known) = known {
            return Ok(known.clone());
        }
        if let Some(cache) = self.inner.cache.clone() {
            // A file of some megabytes at most; read off the async threads and awaited here.
            let read = tokio::task::spawn_blocking(move || cache.read(SystemTime::now())).await;
            if let Ok(Some((Told { catalog, version }, age))) = read {
                debug!(resources = catalog.resources.len(), ?age, "discovery from a file");
                let told_by = if age < self.inner.cache_life { Source::File } else { Source::OldFile };
                return Ok(known.insert(Known { catalog, version, told_by }).clone());
            }
        }
        self.ask(known).await
    }

    async fn ask(&self, known: &mut Option<Known>) -> Result<Known, Error> {
        // Boxed: it is rarely run, and would be part of all that asks.
        let (told, unusable) = Box::pin(fetch::fetch(&self.inner.client, self.inner.timeout)).await?;
        if let Some(example) = &unusable.example
            && !self.inner.reported_unusable.swap(true, Ordering::Relaxed)
        {
            self.inner.client.report_unusable_names(unusable.count, example);
        }
        let catalog = &told.catalog;
        debug!(
            resources = catalog.resources.len(),
            missing = catalog.missing.len(),
            "discovery from the server"
        );
        let whole = !catalog.missing.iter().any(|missing| missing.version.is_empty());
        if let Some(cache) = self.inner.cache.clone().filter(|_| whole) {
            let told = told.clone();
            // As the reading; a file that can't be written costs the next process a request.
            let written = tokio::task::spawn_blocking(move || cache.write(&told, SystemTime::now())).await;
            if let Ok(Err(error)) = written {
                debug!(%error, "discovery could not be kept");
            }
        }
        let Told { catalog, version } = told;
        Ok(known.insert(Known { catalog, version, told_by: Source::Server }).clone())
    }
}

impl fmt::Debug for Discovery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Discovery").field("client", &self.inner.client).finish_non_exhaustive()
    }
}

fn refusal(why: NoMatch, word: &str, catalog: &Catalog) -> ResolveError {
    match why {
        NoMatch::NotListable(resource) => ResolveError::NotListable(resource.group_resource()),
        NoMatch::Unknown => {
            let (name, group) = word.split_once('.').unwrap_or((word, ""));
            let concerns = |missing: &&UnavailableGroup| {
                group.is_empty() || missing.group.is_empty() || group.ends_with(missing.group.as_str())
            };
            ResolveError::Unknown {
                name: name.to_owned(),
                group: group.to_owned(),
                near: catalog.near(word),
                missing: catalog.missing.iter().filter(concerns).cloned().collect(),
            }
        }
    }
}
