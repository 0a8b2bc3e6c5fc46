//! The objects of one mirrored resource, and the log of their changes.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;
use std::sync::Arc;

use super::mirrored::{MirroredChange, MirroredObject};
use crate::lines::{self, ChangeKind};
use crate::object::{ApiResource, Compressor};
use crate::server::source::{CollectionRange, Compacted, ObjectKey, object_key};

/// The limits of the changes that are kept for watches, by count and by the bytes of their objects. A watch that falls
/// further behind ends as expired.
const MAX_CHANGES: usize = 8192;
const MAX_BYTES: usize = 32 * 1024 * 1024;

/// The number that the caller gave to a part.
pub(super) type PartNumber = usize;

/// A part of a collection at one version.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) version: u64,
    pub(super) objects: Vec<MirroredObject>,
    /// The number of objects after those.
    pub(super) more: usize,
}

/// The current objects of a resource, and their last changes.
///
/// Each change has a position. It is at least the version of the changed object and above the previous position:
/// several watches, and the comparison after a relist, report changes in any order of their versions. A client that
/// continues after the version of an object thus misses nothing, and may receive a change again.
pub(super) struct Collection {
    pub(super) resource: Arc<ApiResource>,
    objects: BTreeMap<ObjectKey, (PartNumber, MirroredObject)>,
    changes: VecDeque<MirroredChange>,
    /// The bytes of the objects in `changes`.
    bytes: usize,
    /// The position from which on `changes` is complete.
    oldest: u64,
    position: u64,
    /// Whether the initial state of a part is complete.
    is_served: bool,
    compressor: Compressor,
}

impl Collection {
    pub(super) fn new(resource: Arc<ApiResource>) -> Self {
        Self {
            resource,
            objects: BTreeMap::new(),
            changes: VecDeque::new(),
            bytes: 0,
            // Version 0 means any version in a request.
            oldest: 1,
            position: 1,
            is_served: false,
            compressor: Compressor::new(),
        }
    }

    pub(super) fn is_served(&self) -> bool {
        self.is_served
    }

    /// Returns the position of the last change, or the version that the server has reached without one.
    pub(super) fn position(&self) -> u64 {
        self.position
    }

    /// Applies a change of a part. Before the collection is served, it is part of the initial state.
    pub(super) fn apply(&mut self, part: PartNumber, change: &lines::Change) {
        if change.kind == ChangeKind::Sync {
            return;
        }
        let object = self.compressor.compress(Arc::clone(&change.object));
        let new = MirroredObject::new(object, change.received);
        let key = object_key(new.object.namespace(), new.object.name());
        let deleted = change.kind == ChangeKind::Deleted;
        let old = if deleted {
            self.objects.remove(&key).map(|(_, old)| old)
        } else {
            self.objects.insert(key, (part, new.clone())).map(|(_, old)| old)
        };
        match old {
            // The deletion of an unknown object changes nothing.
            None if deleted => {}
            // A deletion that was found by a list may have the names only.
            Some(old) if deleted && new.is_names_only() => self.log(Some(old.clone()), old, true),
            old => self.log(old, new, deleted),
        }
    }

    fn log(&mut self, old: Option<MirroredObject>, new: MirroredObject, deleted: bool) {
        let version = new.version();
        if !self.is_served {
            self.position = self.position.max(version);
            return;
        }
        self.position = version.max(self.position + 1);
        let change = MirroredChange { position: self.position, old, new, deleted };
        self.bytes += change.weight();
        self.changes.push_back(change);
        while (self.changes.len() > MAX_CHANGES || self.bytes > MAX_BYTES)
            && let Some(first) = self.changes.pop_front()
        {
            self.bytes -= first.weight();
            self.oldest = first.position;
        }
    }

    /// Serves the collection: the initial state of a part is complete at this version.
    pub(super) fn serve(&mut self, version: u64) {
        self.position = self.position.max(version);
        if !std::mem::replace(&mut self.is_served, true) {
            self.forget_changes();
        }
    }

    /// Records that the server has reached a version without further changes.
    pub(super) fn advance(&mut self, version: u64) {
        if self.is_served {
            self.position = self.position.max(version);
        }
    }

    /// Removes the objects of a part that has ended, while other parts of the collection go on.
    pub(super) fn remove_part(&mut self, part: PartNumber) {
        let own = self.objects.extract_if(.., |_, (of, _)| *of == part).map(|(_, (_, object))| object);
        for object in own.collect::<Vec<_>>() {
            self.log(Some(object.clone()), object, true);
        }
    }

    /// Stops serving the collection. Watches of it end, and later ones do not continue them.
    pub(super) fn end(&mut self) {
        self.is_served = false;
        self.objects.clear();
        self.position += 1;
        self.forget_changes();
    }

    fn forget_changes(&mut self) {
        self.changes.clear();
        self.bytes = 0;
        self.oldest = self.position;
    }

    /// Returns the current state of an object.
    pub(super) fn get(&self, namespace: &str, name: &str) -> Option<&MirroredObject> {
        self.objects.get(&object_key(namespace, name)).map(|(_, object)| object)
    }

    /// Returns a part of the current objects.
    pub(super) fn now(&self, range: &CollectionRange<'_>) -> Page {
        let after = range.after.map_or(Bound::Unbounded, Bound::Excluded);
        let later = self.objects.range((after, Bound::Unbounded));
        page(later.map(|(key, (_, object))| (key, object)), range, self.position)
    }

    /// Returns a part of the objects at an earlier position: the later changes are undone.
    pub(super) fn at(&self, range: &CollectionRange<'_>, position: u64) -> Result<Page, Compacted> {
        if position == self.position {
            return Ok(self.now(range));
        }
        self.check(position)?;
        let mut objects: BTreeMap<ObjectKey, &MirroredObject> =
            self.objects.iter().map(|(key, (_, object))| (key.clone(), object)).collect();
        for change in self.changes.iter().rev().take_while(|change| change.position > position) {
            match &change.old {
                Some(old) => objects.insert(change.key(), old),
                None => objects.remove(&change.key()),
            };
        }
        let after = range.after.map_or(Bound::Unbounded, Bound::Excluded);
        let later = objects.range((after, Bound::Unbounded));
        Ok(page(later.map(|(key, object)| (key, *object)), range, position))
    }

    /// Returns at most `limit` changes after a position, and the position up to which they are complete.
    pub(super) fn after(&self, position: u64, limit: usize) -> Result<(Vec<MirroredChange>, u64), Compacted> {
        self.check(position)?;
        let start = self.changes.partition_point(|change| change.position <= position);
        let changes: Vec<_> = self.changes.range(start..).take(limit).cloned().collect();
        let is_full = changes.len() == limit;
        let to = changes.last().filter(|_| is_full).map_or(self.position, |last| last.position);
        Ok((changes, to))
    }

    /// Checks that the changes after a position are known.
    fn check(&self, position: u64) -> Result<(), Compacted> {
        if position < self.oldest || position > self.position {
            return Err(Compacted { oldest: self.oldest });
        }
        Ok(())
    }
}

fn page<'a>(
    objects: impl Iterator<Item = (&'a ObjectKey, &'a MirroredObject)>,
    range: &CollectionRange<'_>,
    version: u64,
) -> Page {
    let is_own = |(namespace, _): &ObjectKey| range.namespace.is_none_or(|own| *own == **namespace);
    let mut own = objects.filter(|(key, _)| is_own(key));
    let objects: Vec<_> = own.by_ref().take(range.limit).map(|(_, object)| object.clone()).collect();
    Page { version, objects, more: own.count() }
}
