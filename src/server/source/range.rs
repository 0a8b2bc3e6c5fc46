//! Ranges of collections and their contents.

use std::sync::Arc;

use super::kind::KindId;
use super::stored_object::{ObjectKey, StoredObject};

/// A part of a collection at one version.
#[derive(Debug)]
pub(crate) struct Snapshot {
    pub(crate) version: u64,
    /// Sorted by namespace and name.
    pub(crate) items: Vec<Arc<StoredObject>>,
    /// The number of objects after those.
    pub(crate) more: usize,
}

/// What a request needs of objects, besides their names and versions. A source may leave out the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ObjectData {
    /// Their rows. The JSON may be empty.
    Rows,
    /// Their JSON. Tables would show computed rows.
    Json,
    RowsAndJson,
}

impl ObjectData {
    pub(crate) fn has_rows(self) -> bool {
        self != Self::Json
    }

    pub(crate) fn has_json(self) -> bool {
        self != Self::Rows
    }
}

/// The selection of a part of a collection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CollectionRange<'a> {
    pub(crate) kind: KindId,
    /// `None` for every namespace.
    pub(crate) namespace: Option<&'a str>,
    /// Only objects after this position.
    pub(crate) after: Option<&'a ObjectKey>,
    pub(crate) limit: usize,
    /// What is read of the objects besides their names and versions.
    pub(crate) data: ObjectData,
}

impl<'a> CollectionRange<'a> {
    /// Selects a whole namespace, or the whole collection.
    pub(crate) fn all(kind: KindId, namespace: Option<&'a str>) -> Self {
        Self { kind, namespace, after: None, limit: usize::MAX, data: ObjectData::RowsAndJson }
    }

    pub(crate) fn contains(&self, item: &StoredObject) -> bool {
        self.namespace.is_none_or(|namespace| *item.namespace == *namespace)
            && self.after.is_none_or(|(namespace, name)| (&item.namespace, &item.name) > (namespace, name))
    }
}
