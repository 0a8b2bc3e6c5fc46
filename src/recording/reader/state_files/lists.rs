//! The lists of a recording, and the versions from which on their objects are known.
//!
//! An object in a list has the version of its last change, which is older than the list. At that version, the list was
//! not complete: other objects existed that were changed or deleted since then. The objects of a list therefore belong to
//! the states from the version of the list on.

use std::collections::HashMap;
use std::sync::Arc;

use crate::lines::{Mark, MarkKind};
use crate::object::{ApiResource, Origin};
use crate::recording::entry::Item;
use crate::recording::files::FileError;
use crate::recording::reader::segment_file::Segment;

/// A change, of which only the names and the position are known.
#[derive(Debug, Clone, Copy)]
pub(in crate::recording::reader) struct EntryRef<'a> {
    pub(in crate::recording::reader) resource: &'a ApiResource,
    pub(in crate::recording::reader) key: &'a str,
    pub(in crate::recording::reader) namespace_len: u16,
    /// The number of the entry in the recording.
    pub(in crate::recording::reader) number: u64,
    pub(in crate::recording::reader) version: u64,
    pub(in crate::recording::reader) origin: Origin,
}

/// The end of a list: the mark that it is complete.
#[derive(Debug, Clone)]
struct ListEnd {
    /// The number of the mark in the recording.
    number: u64,
    namespace: Arc<str>,
    name: Option<Arc<str>>,
    version: u64,
}

/// The ends of lists by resource, in order.
#[derive(Debug, Default)]
pub(in crate::recording::reader) struct Lists(HashMap<Arc<ApiResource>, Vec<ListEnd>>);

/// The lists of the resources of which one was complete after a version.
#[derive(Debug, Default)]
pub(in crate::recording::reader) struct LateLists {
    ends: HashMap<Arc<ApiResource>, Vec<ListEnd>>,
    version: u64,
    first_version: Option<u64>,
}

impl Lists {
    /// Adds the lists that were complete in a segment.
    pub(in crate::recording::reader) fn read(
        &mut self,
        segment: &Segment,
        context: &Arc<str>,
    ) -> Result<(), FileError> {
        let first = segment.header().first;
        for (index, item) in segment.items(context, false)? {
            let Item::Mark(Mark { kind: MarkKind::Synced { version }, resource, namespace, name, .. }) = item
            else {
                continue;
            };
            // Versions that are no numbers have no order.
            if let Some(version) = version.number() {
                let end = ListEnd { number: first + u64::from(index), namespace, name, version };
                self.0.entry(resource).or_default().push(end);
            }
        }
        Ok(())
    }

    /// Returns the lists of the resources of which one was complete after a version.
    pub(in crate::recording::reader) fn later_than(&self, version: u64) -> LateLists {
        let is_late = |ends: &[ListEnd]| ends.iter().any(|end| end.version > version);
        let late = self.0.iter().filter(|(_, ends)| is_late(ends));
        let ends = late.map(|(resource, ends)| (Arc::clone(resource), ends.clone())).collect();
        let first_version = self.0.values().flatten().map(|end| end.version).min();
        LateLists { ends, version, first_version }
    }
}

impl LateLists {
    pub(in crate::recording::reader) fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the lowest version of a list.
    pub(in crate::recording::reader) fn first_version(&self) -> Option<u64> {
        self.first_version
    }

    /// Returns whether an entry is part of a list that was complete after the version.
    pub(in crate::recording::reader) fn have(&self, entry: &EntryRef<'_>) -> bool {
        if entry.origin != Origin::List || self.is_empty() {
            return false;
        }
        let ends = self.ends.get(entry.resource).map(Vec::as_slice).unwrap_or_default();
        // A list that was never complete has no version of its own.
        let end = ends.iter().find(|end| end.number > entry.number && end.covers(entry));
        end.is_some_and(|end| end.version > self.version)
    }
}

impl ListEnd {
    fn covers(&self, entry: &EntryRef<'_>) -> bool {
        let (namespace, name) =
            entry.key.split_at_checked(entry.namespace_len.into()).unwrap_or(("", entry.key));
        (self.namespace.is_empty() || *self.namespace == *namespace)
            && self.name.as_ref().is_none_or(|only| **only == *name.strip_prefix('/').unwrap_or(name))
    }
}
