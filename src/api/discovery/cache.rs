//! A server's catalog in a cache file. A file that is old, invalid or of another server is ignored.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::catalog::Catalog;
use super::fetched_catalog::FetchedCatalog;
use super::version::ServerVersion;
use crate::kubeconfig::local_file;
use crate::object::ApiResource;
use crate::wire::{DiscoveredResource, UnavailableGroup};

/// The version of the format below.
const FORMAT_VERSION: u32 = 2;

#[derive(Serialize, Deserialize)]
struct Stored {
    form: u32,
    server: String,
    /// Seconds since 1970.
    written: u64,
    #[serde(default)]
    version: Option<ServerVersion>,
    resources: Vec<StoredResource>,
    /// Group, version, reason, and whether the server itself reports it as unavailable.
    missing: Vec<(String, String, String, bool)>,
}

#[derive(Serialize, Deserialize)]
struct StoredResource {
    group: String,
    version: String,
    resource: String,
    kind: String,
    namespaced: bool,
    singular: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    short_names: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    categories: Vec<String>,
    verbs: Vec<String>,
}

/// The largest file that is read or written: ten times what a cluster with 2,000 CRDs takes.
const LIMIT: u64 = 16 << 20;

/// The file and lifetime of a server's catalog.
#[derive(Debug, Clone)]
pub(super) struct Cache {
    file: PathBuf,
    server: String,
    life: Duration,
}

impl Cache {
    pub(super) fn new(folder: &Path, server: &str, life: Duration) -> Self {
        let host = server.split_once("://").map_or(server, |(_, host)| host).trim_end_matches('/');
        let plain = |char: char| if char.is_ascii_alphanumeric() || ".-".contains(char) { char } else { '_' };
        let name: String = host.chars().map(plain).collect();
        Self { file: folder.join(format!("{name}.json")), server: server.to_owned(), life }
    }

    /// Returns the catalog and its age, if it is recent enough.
    pub(super) fn read(&self, now: SystemTime) -> Option<(FetchedCatalog, Duration)> {
        let stored: Stored = serde_json::from_slice(&local_file::read(&self.file, LIMIT).ok()?).ok()?;
        let age = seconds(now).checked_sub(stored.written)?;
        if stored.form != FORMAT_VERSION || stored.server != self.server || age >= self.life.as_secs() {
            return None;
        }
        let resources: Vec<_> = stored.resources.into_iter().map(StoredResource::load).collect();
        // This program writes no such name.
        if !resources.iter().all(|found| found.resource.has_valid_names()) {
            return None;
        }
        let missing = stored.missing.into_iter();
        let catalog = Catalog::new(
            resources,
            missing
                .map(|(group, version, reason, is_stale)| UnavailableGroup {
                    group,
                    version,
                    reason,
                    is_stale,
                })
                .collect(),
        );
        Some((
            FetchedCatalog { catalog: Arc::new(catalog), version: stored.version },
            Duration::from_secs(age),
        ))
    }

    /// Writes a catalog atomically: readers see the old file or the new one, and other users neither.
    pub(super) fn write(&self, fetched: &FetchedCatalog, now: SystemTime) -> io::Result<()> {
        let FetchedCatalog { catalog, version } = fetched;
        let missing = catalog.missing.iter();
        let stored = Stored {
            form: FORMAT_VERSION,
            server: self.server.clone(),
            written: seconds(now),
            version: *version,
            resources: catalog.resources.iter().map(StoredResource::store).collect(),
            missing: missing
                .map(|one| (one.group.clone(), one.version.clone(), one.reason.clone(), one.is_stale))
                .collect(),
        };
        let text = serde_json::to_vec(&stored)?;
        if text.len() as u64 > LIMIT {
            return Err(io::Error::other("it would be too large to be read"));
        }
        let folder = self.file.parent().unwrap_or(Path::new("."));
        create_private_folder(folder)?;
        let draft = self.file.with_extension(format!("{:016x}.tmp", fastrand::u64(..)));
        let kept = private_file(&draft)
            .and_then(|mut file| file.write_all(&text))
            .and_then(|()| fs::rename(&draft, &self.file));
        if kept.is_err() {
            // Best effort: the temporary file may not exist.
            let _ = fs::remove_file(&draft);
        }
        kept
    }
}

fn seconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

fn create_private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

fn private_file(path: &Path) -> io::Result<fs::File> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

impl StoredResource {
    fn store(found: &DiscoveredResource) -> Self {
        let ApiResource { group, version, resource, kind, namespaced } = found.resource.clone();
        Self {
            group,
            version,
            resource,
            kind,
            namespaced,
            singular: found.singular.clone(),
            short_names: found.short_names.clone(),
            categories: found.categories.clone(),
            verbs: found.verbs.clone(),
        }
    }

    fn load(self) -> DiscoveredResource {
        DiscoveredResource {
            resource: ApiResource {
                group: self.group,
                version: self.version,
                resource: self.resource,
                kind: self.kind,
                namespaced: self.namespaced,
            },
            singular: self.singular,
            short_names: self.short_names,
            categories: self.categories,
            verbs: self.verbs,
            preferred: false,
        }
    }
}
