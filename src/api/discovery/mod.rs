//! Discovery: the resources of a server, and the resolution of words to resources.
//!
//! The documents are requested once; the result is kept in memory and, if a folder is configured, on disk for a short
//! time. A word that is not found is resolved again after a new request: its resource may have been defined a moment ago.

mod cache;
mod catalog;
mod fetch;
mod fetched_catalog;
mod openapi;
mod rest_mapper;
#[cfg(test)]
mod tests;
mod version;

pub use catalog::{Catalog, is_built_in};
pub use version::{ServerVersion, VersionInfo};

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
use crate::wire::discovery::UnusableNames;
use crate::wire::{DiscoveredResource, UnavailableGroup};
use cache::Cache;
use fetched_catalog::FetchedCatalog;

/// The options of discovery.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct DiscoveryOptions {
    /// The folder of the cache files, one per server; `None` disables them.
    pub cache_folder: Option<PathBuf>,
    /// The age up to which a cache file is used for every word. Up to 6 hours, as in kubectl, it is also used for a
    /// word that names a resource which only an upgrade of the server could change.
    pub cache_life: Duration,
    /// The time limit of each request.
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

setters!(DiscoveryOptions {
    cache_folder: Option<PathBuf>,
    cache_life: Duration,
    timeout: Option<Duration>,
});

/// The age up to which a cache file is used for words that are found in it; [`Discovery::revalidate`] checks them
/// later.
const USABLE_AGE: Duration = Duration::from_hours(6);

/// The error of resolving a word to a resource.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum ResolveError {
    /// The server has no resource with that name.
    #[error("the server doesn't have a resource type {name:?}")]
    Unknown {
        /// The name without its group.
        name: String,
        /// The part after the first dot; empty without one.
        group: String,
        /// Resources with a similar name.
        near: Vec<String>,
        /// The groups whose resources could not be read; the word may name one of them.
        missing: Vec<UnavailableGroup>,
        /// Whether any resource has a short name, or none is known. Recordings without discovery documents have no short
        /// names.
        has_short_names: bool,
    },
    /// Discovery failed.
    #[error(transparent)]
    Discovery(#[from] Error),
}

impl ResolveError {
    /// Returns a hint: a similar word, or the groups that are unavailable.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        let Self::Unknown { name, group, near, missing, has_short_names } = self else { return None };
        if !near.is_empty() {
            return Some(format!("did you mean {}?", near.join(" or ")));
        }
        let Some(missing) = missing.first() else {
            if !group.is_empty() {
                return Some(format!("nothing in group {group} is called {name}"));
            }
            let hint = "no type has a short name here, as in recordings without discovery documents: give the full name of the type";
            return (!has_short_names).then(|| hint.to_owned());
        };
        let scope = match (missing.group.as_str(), missing.version.as_str()) {
            ("", "") => "some API groups".to_owned(),
            ("", version) => version.to_owned(),
            (group, version) => format!("{group}/{version}"),
        };
        Some(format!("discovery of {scope} failed: {}", missing.reason))
    }
}

/// The resources of one server. Cheap to clone; clones share the result.
#[derive(Clone)]
pub struct Discovery {
    inner: Arc<Inner>,
}

struct Inner {
    client: Client,
    timeout: Option<Duration>,
    cache: Option<Cache>,
    /// An async lock, held during a request to the server: of several callers one sends it and the others wait.
    loaded: Mutex<Option<LoadedCatalog>>,
    /// The age up to which a cache file is used for every word.
    cache_life: Duration,
    /// Whether skipped names were reported: a watch of every kind repeats discovery. Relaxed: no other memory depends
    /// on it.
    reported_unusable: AtomicBool,
}

/// The catalog in memory and its origin.
#[derive(Clone)]
struct LoadedCatalog {
    catalog: Arc<Catalog>,
    version: Option<ServerVersion>,
    origin: CatalogOrigin,
}

/// The origin of a catalog.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CatalogOrigin {
    Server,
    File,
    /// A cache file beyond its lifetime.
    OldFile,
}

impl Discovery {
    /// Returns discovery through this client. Sends no request yet.
    #[must_use]
    pub fn new(client: &Client, options: &DiscoveryOptions) -> Self {
        let folder = options.cache_folder.as_deref();
        let cache = folder
            .map(|folder| Cache::new(folder, client.config().server(), USABLE_AGE.max(options.cache_life)));
        let inner = Inner {
            client: client.clone(),
            timeout: options.timeout,
            cache,
            loaded: Mutex::new(None),
            cache_life: options.cache_life,
            reported_unusable: AtomicBool::new(false),
        };
        Self { inner: Arc::new(inner) }
    }

    /// Returns the server's catalog from memory, else from a recent cache file, else from the server.
    ///
    /// # Errors
    /// [`Error::Server`] when a request was needed and failed.
    pub async fn catalog(&self) -> Result<Arc<Catalog>, Error> {
        let mut loaded = self.inner.loaded.lock().await;
        self.recent_catalog(&mut loaded).await
    }

    /// Requests the server's catalog again.
    ///
    /// # Errors
    /// [`Error::Server`] when the request failed; the previous catalog is kept.
    pub async fn refresh(&self) -> Result<Arc<Catalog>, Error> {
        let mut loaded = self.inner.loaded.lock().await;
        Ok(self.request_catalog(&mut loaded).await?.catalog)
    }

    /// Resolves a word to resources, as kubectl does: all of a category that can be listed, or one resource by its plural
    /// or singular name in any case, by a short name or by its kind, alone (core group first, then the server's order), as
    /// `type.group`, `type.version.group`, or with the start of a group. Of several versions the server's preferred one.
    ///
    /// # Errors
    /// [`ResolveError`]; unknown only after a new request to the server.
    pub async fn resolve(&self, word: &str) -> Result<Vec<DiscoveredResource>, ResolveError> {
        let mut loaded = self.inner.loaded.lock().await;
        let was_loaded = loaded.is_some();
        let LoadedCatalog { mut catalog, origin, .. } = self.load(&mut loaded).await?;
        let is_old = origin == CatalogOrigin::OldFile && !catalog.is_stable(word);
        let is_new = origin == CatalogOrigin::Server && !was_loaded;
        let mut found = catalog.find(word);
        if is_old || (found.is_empty() && !is_new) {
            catalog = self.request_catalog(&mut loaded).await?.catalog;
            found = catalog.find(word);
        }
        if found.is_empty() { Err(unknown(word, &catalog)) } else { Ok(found) }
    }

    /// Returns the resources that a word without a group may mean, in order of preference: those of all groups and
    /// versions with that plural or singular name, in any case, or with that short name. They need not be listable.
    ///
    /// # Errors
    /// [`ResolveError`]; unknown only after a new request to the server.
    pub async fn resources_for(&self, word: &str) -> Result<Vec<ApiResource>, ResolveError> {
        let mut loaded = self.inner.loaded.lock().await;
        let was_loaded = loaded.is_some();
        let LoadedCatalog { mut catalog, origin, .. } = self.load(&mut loaded).await?;
        let mut mapped = catalog.mapped(word);
        let is_built_in = mapped.first().is_some_and(|first| is_built_in(&first.group));
        let is_stable = is_built_in && catalog.missing.is_empty();
        let is_new = origin == CatalogOrigin::Server && !was_loaded;
        if (mapped.is_empty() && !is_new) || (origin == CatalogOrigin::OldFile && !is_stable) {
            catalog = self.request_catalog(&mut loaded).await?.catalog;
            mapped = catalog.mapped(word);
        }
        if mapped.is_empty() { Err(unknown(word, &catalog)) } else { Ok(mapped) }
    }

    /// Returns the resource of a kind in a group version, as manifests name it; `None` if the server has none, only
    /// after a new request to it. client-go assumes resources of list kinds, such as `PodList`, and so does this.
    ///
    /// # Errors
    /// [`Error::Server`] when a request was needed and failed.
    pub async fn resource_of_kind(
        &self,
        group: &str,
        version: &str,
        kind: &str,
    ) -> Result<Option<ApiResource>, Error> {
        let mut loaded = self.inner.loaded.lock().await;
        let was_loaded = loaded.is_some();
        let LoadedCatalog { catalog, origin, .. } = self.load(&mut loaded).await?;
        let found = catalog.of_kind(group, version, kind);
        let is_new = origin == CatalogOrigin::Server && !was_loaded;
        let may_be_outdated = origin == CatalogOrigin::OldFile && !is_built_in(group);
        if (found.is_some() && !may_be_outdated) || is_new {
            return Ok(found);
        }
        Ok(self.request_catalog(&mut loaded).await?.catalog.of_kind(group, version, kind))
    }

    /// Returns the server's version. Sends no request: `None` before other requests, and if the server does not
    /// report it.
    pub async fn server_version(&self) -> Option<ServerVersion> {
        self.inner.loaded.lock().await.as_ref().and_then(|loaded| loaded.version)
    }

    /// Requests the server's version in full.
    ///
    /// # Errors
    /// [`Error::Server`] when the request failed.
    pub async fn version_info(&self) -> Result<VersionInfo, Error> {
        Ok(fetch::version_info(&self.inner.client, self.inner.timeout).await?)
    }

    /// Requests the group versions that the server serves, such as `v1` and `apps/v1`, sorted. Those of an unavailable
    /// aggregated server are left out; those without resources are included.
    ///
    /// # Errors
    /// [`Error::Server`] when a request failed.
    pub async fn group_versions(&self) -> Result<Vec<String>, Error> {
        let (found, unusable) =
            Box::pin(fetch::group_versions(&self.inner.client, self.inner.timeout)).await?;
        self.report_unusable(&unusable);
        Ok(found)
    }

    /// Returns the resources of other groups that a resolved word could mean as well: [`Catalog::alternatives`].
    pub async fn alternatives(&self, word: &str) -> Vec<String> {
        let loaded = self.inner.loaded.lock().await;
        loaded.as_ref().map(|loaded| loaded.catalog.alternatives(word)).unwrap_or_default()
    }

    /// Checks a resolved resource that turned out to be missing. Repeats the request unless the catalog came from the server
    /// itself; returns whether a word may resolve differently now.
    ///
    /// # Errors
    /// As [`Discovery::refresh`].
    pub async fn revalidate(&self, resource: &ApiResource) -> Result<bool, Error> {
        let mut loaded = self.inner.loaded.lock().await;
        let Some(before) = loaded.clone() else { return Ok(false) };
        if before.origin == CatalogOrigin::Server {
            // The catalog was refreshed for another word, after this one was found in a cache file.
            return Ok(before.catalog.resources.iter().all(|found| found.resource != *resource));
        }
        Ok(self.request_catalog(&mut loaded).await?.catalog != before.catalog)
    }

    /// Returns a catalog that is recent enough for every word.
    async fn recent_catalog(&self, loaded: &mut Option<LoadedCatalog>) -> Result<Arc<Catalog>, Error> {
        match self.load(loaded).await? {
            LoadedCatalog { origin: CatalogOrigin::OldFile, .. } => {
                Ok(self.request_catalog(loaded).await?.catalog)
            }
            recent_catalog => Ok(recent_catalog.catalog),
        }
    }

    /// Returns the catalog in memory, else loads it. It may be old.
    async fn load(&self, loaded: &mut Option<LoadedCatalog>) -> Result<LoadedCatalog, Error> {
        if let Some(catalog) = loaded {
            return Ok(catalog.clone());
        }
        if let Some(cache) = self.inner.cache.clone() {
            // A file of some megabytes at most; read on a blocking thread and awaited here.
            let read = tokio::task::spawn_blocking(move || cache.read(SystemTime::now())).await;
            if let Ok(Some((FetchedCatalog { catalog, version }, age))) = read {
                debug!(resources = catalog.resources.len(), ?age, "discovery from a file");
                let origin =
                    if age < self.inner.cache_life { CatalogOrigin::File } else { CatalogOrigin::OldFile };
                return Ok(loaded.insert(LoadedCatalog { catalog, version, origin }).clone());
            }
        }
        self.request_catalog(loaded).await
    }

    /// Reports skipped names, once.
    fn report_unusable(&self, unusable: &UnusableNames) {
        if let Some(example) = &unusable.example
            && !self.inner.reported_unusable.swap(true, Ordering::Relaxed)
        {
            self.inner.client.report_unusable_names(unusable.count, example);
        }
    }

    /// Requests the documents and replaces the catalog in memory.
    async fn request_catalog(&self, loaded: &mut Option<LoadedCatalog>) -> Result<LoadedCatalog, Error> {
        // Boxed: it runs rarely, and would enlarge every future that calls it.
        let (fetched, unusable) = Box::pin(fetch::fetch(&self.inner.client, self.inner.timeout)).await?;
        self.report_unusable(&unusable);
        let catalog = &fetched.catalog;
        debug!(
            resources = catalog.resources.len(),
            missing = catalog.missing.len(),
            "discovery from the server"
        );
        let is_complete = !catalog.missing.iter().any(|missing| missing.version.is_empty());
        if let Some(cache) = self.inner.cache.clone().filter(|_| is_complete) {
            let fetched = fetched.clone();
            // On a blocking thread like the read; a failed write costs the next process a request.
            let written = tokio::task::spawn_blocking(move || cache.write(&fetched, SystemTime::now())).await;
            if let Ok(Err(error)) = written {
                debug!(%error, "the discovery cache could not be written");
            }
        }
        let FetchedCatalog { catalog, version } = fetched;
        Ok(loaded.insert(LoadedCatalog { catalog, version, origin: CatalogOrigin::Server }).clone())
    }
}

impl fmt::Debug for Discovery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Discovery").field("client", &self.inner.client).finish_non_exhaustive()
    }
}

/// Returns the error for a word that names nothing.
fn unknown(word: &str, catalog: &Catalog) -> ResolveError {
    let (name, group) = word.split_once('.').unwrap_or((word, ""));
    let concerns = |missing: &&UnavailableGroup| {
        group.is_empty() || missing.group.is_empty() || group.ends_with(missing.group.as_str())
    };
    ResolveError::Unknown {
        name: name.to_owned(),
        group: group.to_owned(),
        near: catalog.near(word),
        missing: catalog.missing.iter().filter(concerns).cloned().collect(),
        has_short_names: catalog.resources.is_empty()
            || catalog.resources.iter().any(|found| !found.short_names.is_empty()),
    }
}
