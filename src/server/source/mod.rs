//! The data that a server serves: resource definitions, objects at a version, and changes since a version.

mod change;
mod kind;
mod range;
mod stored_object;

use std::sync::Arc;

use serde_json::{Map, Value};
use tokio::sync::watch;

use super::clock::Clock;

pub(crate) use change::{Change, Compacted};
pub(crate) use kind::{Conversion, Custom, Kind, KindId, VERBS};
pub(crate) use range::{CollectionRange, Snapshot};
pub(crate) use stored_object::{ObjectKey, StoredObject, head, object_key};

/// A versioned collection of objects, with a log of changes that reaches back to some version.
///
/// One version counter covers all resources. A source with a fixed content, such as a recording at one time, has a
/// latest version that never changes.
pub(crate) trait Source: Send + Sync {
    /// Returns the resources of the discovery documents, in their order. Those that can't be read are listed only.
    fn kinds(&self) -> Vec<Arc<Kind>>;

    /// Returns the readable resource with this group, version and plural, and the number of its collection. Several
    /// versions of a resource share one collection.
    fn find(&self, group: &str, version: &str, plural: &str) -> Option<(KindId, Arc<Kind>)>;

    /// Returns whether a collection still exists. Watches end when it does not.
    fn serves(&self, kind: KindId) -> bool;

    /// Returns the latest version.
    fn version(&self) -> u64;

    /// Returns a receiver of the latest version, which also wakes when a collection ceases to exist.
    fn subscribe(&self) -> watch::Receiver<u64>;

    /// Returns the current state of an object.
    fn get(&self, kind: KindId, namespace: &str, name: &str) -> Option<Arc<StoredObject>>;

    /// Returns a part of the current collection.
    fn now(&self, range: &CollectionRange<'_>) -> Snapshot;

    /// Returns a part of the collection at an earlier version.
    ///
    /// # Errors
    /// The version is older than the log.
    fn at(&self, range: &CollectionRange<'_>, version: u64) -> Result<Snapshot, Compacted>;

    /// Returns at most `limit` changes after a version, and the version up to which they are complete. Changes of other
    /// collections are skipped, and may count towards the limit.
    ///
    /// # Errors
    /// The version is older than the log.
    fn changes(&self, kind: KindId, after: u64, limit: usize) -> Result<(Vec<Change>, u64), Compacted>;

    /// Returns the clock that ages in tables are relative to.
    fn clock(&self) -> &Clock;

    /// Returns the schemas of built-in resources by their names in `OpenAPI` documents. Schemas of custom resources are
    /// part of their [`Kind`].
    fn schemas(&self) -> &Map<String, Value>;

    /// Returns the document of `/version`.
    fn server_version(&self) -> Value;
}
