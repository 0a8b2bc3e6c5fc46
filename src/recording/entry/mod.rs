//! The entries of a recording.

mod unobserved;

use std::sync::Arc;

use bytes::Bytes;
use jiff::Timestamp;

pub use unobserved::{Gap, IncompleteList, NamespaceLimit, Unobserved};

use crate::lines::{Change, Mark};
use crate::object::{ApiResource, ResourceVersion};

/// The author of a change: the field manager whose entry in `metadata.managedFields` changed.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Author {
    /// The name of the field manager.
    pub manager: Arc<str>,
    /// The subresource through which it wrote, such as `status`; empty for the object itself.
    pub subresource: Arc<str>,
}

/// One entry of a recording.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The number of the entry. Entries are numbered from 0 over the life of the recording.
    pub number: u64,
    /// The time of its receipt. It never decreases from one entry to the next.
    pub received: Timestamp,
    /// The content of the entry.
    pub item: Item,
}

/// The content of an entry.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Item {
    /// A change of an object.
    Change {
        /// The change. `old` is the state before it, `None` for an added object. The object carries its row, with
        /// ages as of the time of receipt.
        change: Change,
        /// The author, if known.
        author: Option<Author>,
    },
    /// A mark of a watched collection.
    Mark(Mark),
    /// The server's report that a collection was received up to a version.
    Bookmark {
        /// The watched resource.
        resource: Arc<ApiResource>,
        /// The watched namespace; empty for all namespaces and for cluster-scoped types.
        namespace: Arc<str>,
        /// The version.
        version: ResourceVersion,
    },
    /// A document of the server, such as those of discovery, recorded when it is first received and when it changes.
    Document {
        /// The path of the request.
        path: Arc<str>,
        /// The body of the response, verbatim.
        body: Bytes,
    },
    /// A recorder started. Between the previous entry and this one, no recorder was running.
    Started,
}

/// A moment of a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// The last entry.
    End,
    /// The last entry that was received at this time or before it.
    Time(Timestamp),
    /// For each object, its last state whose version is at most this one.
    Version(u64),
}

/// A selection of entries. An entry without a resource, such as a document, is always selected.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EntryFilter {
    /// The resources; `None` for all.
    pub resources: Option<Vec<ApiResource>>,
    /// The namespaces; `None` for all. Cluster-scoped objects are in the namespace "".
    pub namespaces: Option<Vec<String>>,
}

impl EntryFilter {
    /// Returns whether entries of a resource are selected.
    pub(in crate::recording) fn selects_resource(&self, resource: &ApiResource) -> bool {
        self.resources.as_ref().is_none_or(|resources| resources.contains(resource))
    }

    /// Returns whether objects of a namespace are selected.
    pub(in crate::recording) fn selects_namespace(&self, namespace: &str) -> bool {
        self.namespaces.as_ref().is_none_or(|namespaces| namespaces.iter().any(|name| name == namespace))
    }
}
