//! The result of discovery, as the server or the cache file provides it.

use std::sync::Arc;

use super::catalog::Catalog;
use super::version::ServerVersion;

/// The catalog and the version of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FetchedCatalog {
    pub(super) catalog: Arc<Catalog>,
    pub(super) version: Option<ServerVersion>,
}
