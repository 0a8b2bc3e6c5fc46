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

/// The selection of a part of a collection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CollectionRange<'a> {
    pub(crate) kind: KindId,
    /// `None` for every namespace.
    pub(crate) namespace: Option<&'a str>,
    /// Only objects after this position.
    pub(crate) after: Option<&'a ObjectKey>,
    pub(crate) limit: usize,
    /// Whether the objects are read. Otherwise the source may return objects with their names, versions and rows only.
    pub(crate) reads_objects: bool,
}

impl<'a> CollectionRange<'a> {
    /// Selects a whole namespace, or the whole collection.
    pub(crate) fn all(kind: KindId, namespace: Option<&'a str>) -> Self {
        Self { kind, namespace, after: None, limit: usize::MAX, reads_objects: true }
    }

    pub(crate) fn contains(&self, item: &StoredObject) -> bool {
        self.namespace.is_none_or(|namespace| *item.namespace == *namespace)
            && self.after.is_none_or(|(namespace, name)| (&item.namespace, &item.name) > (namespace, name))
    }
}
