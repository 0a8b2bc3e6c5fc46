//! Ranges of collections and their contents.

use std::sync::Arc;

use super::stored_object::{ObjectKey, StoredObject};
use crate::demo::kinds::KindId;

/// A part of a collection at one version.
#[derive(Debug)]
pub(in crate::demo) struct Snapshot {
    pub(in crate::demo) version: u64,
    /// Sorted by namespace and name.
    pub(in crate::demo) items: Vec<Arc<StoredObject>>,
    /// The number of objects after those.
    pub(in crate::demo) more: usize,
}

/// The selection of a part of a collection.
#[derive(Debug, Clone, Copy)]
pub(in crate::demo) struct CollectionRange<'a> {
    pub(in crate::demo) kind: KindId,
    /// `None` for every namespace.
    pub(in crate::demo) namespace: Option<&'a str>,
    /// Only objects after this position.
    pub(in crate::demo) after: Option<&'a ObjectKey>,
    pub(in crate::demo) limit: usize,
}

impl<'a> CollectionRange<'a> {
    /// Selects a whole namespace, or the whole collection.
    pub(in crate::demo) fn all(kind: KindId, namespace: Option<&'a str>) -> Self {
        Self { kind, namespace, after: None, limit: usize::MAX }
    }

    pub(super) fn contains(&self, item: &StoredObject) -> bool {
        self.namespace.is_none_or(|namespace| *item.namespace == *namespace)
            && self.after.is_none_or(|after| item.key() > *after)
    }
}
