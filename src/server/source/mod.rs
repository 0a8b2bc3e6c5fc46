//! The data that a server serves: resource definitions, objects at a version, and changes since a version.

mod change;
mod kind;
mod range;
mod stored_object;
mod stored_row;

use std::sync::Arc;

use bytes::Bytes;
use serde_json::{Map, Value, json};
use tokio::sync::watch;

use super::clock::Clock;

pub(crate) use change::{Change, Compacted, ReadError, Unreadable};
pub(crate) use kind::{Conversion, Custom, Kind, KindId, VERBS};
pub(crate) use range::{CollectionRange, ObjectData, Snapshot};
pub(crate) use stored_object::{ObjectKey, StoredObject, head, object_key};
pub(crate) use stored_row::{CellWriter, StoredCells, StoredColumns, StoredRow};

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

    /// Returns the latest version of a collection, which is that of its lists and bookmarks.
    fn version(&self, kind: KindId) -> u64;

    /// Returns the number of the served history. It changes when the source switches to another history, whose
    /// versions do not continue those of the previous one; watches then end as expired.
    fn epoch(&self) -> u64 {
        0
    }

    /// Returns a receiver that wakes after each change, when a collection ceases to exist, and when the history changes.
    fn subscribe(&self) -> watch::Receiver<u64>;

    /// Returns the current state of an object.
    ///
    /// # Errors
    /// The stored data can't be read.
    fn get(&self, kind: KindId, namespace: &str, name: &str)
    -> Result<Option<Arc<StoredObject>>, Unreadable>;

    /// Returns a part of the current collection.
    ///
    /// # Errors
    /// The stored data can't be read.
    fn now(&self, range: &CollectionRange<'_>) -> Result<Snapshot, Unreadable>;

    /// Returns a part of the collection at an earlier version.
    ///
    /// # Errors
    /// The version is older than the log, or the stored data can't be read.
    fn at(&self, range: &CollectionRange<'_>, version: u64) -> Result<Snapshot, ReadError>;

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

    /// Returns the document of `/version`; unless a source has one of its own, that of [`Source::document`].
    fn server_version(&self) -> Value {
        let document = self.document("/version");
        document.and_then(|body| serde_json::from_slice(&body).ok()).unwrap_or_else(|| json!({}))
    }

    /// Returns the document to serve at a path of discovery or `OpenAPI`, in JSON. `None` if the server is to create it
    /// from the resources and schemas.
    fn document(&self, _path: &str) -> Option<Bytes> {
        None
    }

    /// Returns the reasons why the objects of a collection may differ from those of the server whose data this is, as texts
    /// for people. `namespace` is that of the request; `None` for all. Responses carry them in `Warning` headers, which kubectl
    /// prints.
    fn warnings(&self, _kind: KindId, _namespace: Option<&str>) -> Vec<String> {
        Vec::new()
    }

    /// Returns the reason why a resource of the discovery documents can't be read; `None` for one that can be read or
    /// does not exist.
    fn unavailable_reason(&self, _group: &str, _version: &str, _plural: &str) -> Option<String> {
        None
    }

    /// Returns the message for requests to a subresource that a real server has and this source can't have, such as the
    /// log of a pod; `None` for others.
    fn subresource_refusal(&self, _kind: &Kind, _name: &str) -> Option<String> {
        None
    }

    /// Returns the message for rejected writes; `None` for the message of a resource without the method.
    fn write_refusal(&self) -> Option<&'static str> {
        None
    }
}
