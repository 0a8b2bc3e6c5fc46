//! The lists of a recording, and the versions from which on their objects are known.
//!
//! An object in a list has the version of its last change, which is older than the list. At that version, the list was
//! not complete: other objects existed that were changed or deleted since then. The objects of a list therefore belong to
//! the states from the version of the list on. So do the differences that a list after a gap shows: a state at a version in
//! the gap is the one before it.

use std::collections::HashMap;
use std::sync::Arc;

use crate::lines::MarkKind;
use crate::object::{ApiResource, Origin};
use crate::recording::entry::Item;
use crate::recording::files::FileError;
use crate::recording::names::split_key;
use crate::recording::position::Watch;
use crate::recording::reader::segment_file::Segment;
use crate::recording::reader::unfinished_gaps::{UnfinishedGap, UnfinishedGaps};

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

/// A mark with the version of a list.
#[derive(Debug, Clone, Copy)]
struct ListMark {
    /// The number of the mark in the recording.
    number: u64,
    version: u64,
}

/// The marks of one kind of one resource, in order. They are kept by namespace and name, because each object of a list is looked
/// up.
#[derive(Debug, Default)]
struct ListMarks(HashMap<Arc<str>, NamespaceMarks>);

/// The marks of one namespace, or of all.
#[derive(Debug, Default)]
struct NamespaceMarks {
    of_collection: Vec<ListMark>,
    of_objects: HashMap<Arc<str>, Vec<ListMark>>,
}

/// The marks of the lists of one resource.
#[derive(Debug, Default)]
struct ResourceLists {
    /// The marks that lists are complete, which follow their objects.
    ends: ListMarks,
    /// The marks of gaps, which precede the differences.
    gaps: ListMarks,
    /// The highest versions of both.
    last_end: u64,
    last_gap: u64,
}

/// The lists by resource.
#[derive(Debug, Default)]
pub(in crate::recording::reader) struct Lists {
    resources: HashMap<Arc<ApiResource>, ResourceLists>,
    /// The gaps of collections whose differences are not known to be complete, with the places of the first marks. A recorder that
    /// was killed before has recorded a part of them, and the next one the others.
    unfinished: UnfinishedGaps<usize>,
}

/// The lists of the resources of which one was complete after a version.
#[derive(Debug, Default)]
pub(in crate::recording::reader) struct LateLists {
    lists: HashMap<Arc<ApiResource>, ResourceLists>,
    version: u64,
    /// Whether another list was complete at the version.
    has_complete_list: bool,
}

impl ListMarks {
    fn push(&mut self, watch: Watch, mark: ListMark) {
        let of_namespace = self.0.entry(watch.namespace).or_default();
        match watch.name {
            None => of_namespace.of_collection.push(mark),
            Some(name) => of_namespace.of_objects.entry(name).or_default().push(mark),
        }
    }

    /// Returns the marks of a collection.
    fn of_collection(&mut self, namespace: &Arc<str>) -> &mut Vec<ListMark> {
        &mut self.0.entry(Arc::clone(namespace)).or_default().of_collection
    }

    /// Returns the marks of each watch that includes an object.
    fn covering(&self, entry: &EntryRef<'_>) -> impl Iterator<Item = &[ListMark]> {
        let (namespace, name) = split_key(entry.key, entry.namespace_len);
        let own = (!namespace.is_empty()).then(|| self.0.get(namespace)).flatten();
        let all = self.0.get("").into_iter().chain(own);
        all.flat_map(move |of| {
            let of_object = of.of_objects.get(name).map(Vec::as_slice);
            [of.of_collection.as_slice()].into_iter().chain(of_object)
        })
    }

    /// Returns the version of the first mark after an entry that covers it.
    fn first_after(&self, entry: &EntryRef<'_>) -> Option<u64> {
        let after = |marks: &[ListMark]| {
            marks.get(marks.partition_point(|mark| mark.number <= entry.number)).copied()
        };
        self.covering(entry).filter_map(after).min_by_key(|mark| mark.number).map(|mark| mark.version)
    }

    /// Returns the version of the last mark before an entry that covers it.
    fn last_before(&self, entry: &EntryRef<'_>) -> Option<u64> {
        let before = |marks: &[ListMark]| {
            let count = marks.partition_point(|mark| mark.number < entry.number);
            marks.get(count.checked_sub(1)?).copied()
        };
        self.covering(entry).filter_map(before).max_by_key(|mark| mark.number).map(|mark| mark.version)
    }
}

impl Lists {
    /// Ends with the last segment of the recording: differences that are not complete there belong to no state. `has_event`
    /// returns whether a watch has an event after an entry, which is after its differences.
    pub(in crate::recording::reader) fn end(&mut self, mut has_event: impl FnMut(&Watch, u64) -> bool) {
        for (watch, gap) in self.unfinished.all() {
            let Some(lists) = self.resources.get_mut(&watch.resource) else { continue };
            if !has_event(watch, gap.number) {
                let marks = lists.gaps.of_collection(&watch.namespace);
                marks[gap.extent..].iter_mut().for_each(|mark| mark.version = u64::MAX);
                lists.last_gap = u64::MAX;
            }
        }
        self.unfinished = UnfinishedGaps::default();
    }

    /// Reads the marks of lists of a segment.
    pub(in crate::recording::reader) fn read(
        &mut self,
        segment: &Segment,
        context: &Arc<str>,
    ) -> Result<(), FileError> {
        let first = segment.header().first;
        for (index, item) in segment.marks(context)? {
            let number = first + u64::from(index);
            let mark = match item {
                Item::Mark(mark) => mark,
                Item::Bookmark { resource, namespace, .. } => {
                    self.unfinished.end(&Watch::of_collection(&resource, &namespace));
                    continue;
                }
                _ => continue,
            };
            let watch = Watch::of_mark(&mark);
            // Versions that are no numbers have no order.
            match mark.kind {
                MarkKind::Synced { version } => {
                    let Some(version) = version.number() else { continue };
                    self.unfinished.end(&watch);
                    let lists = self.resources.entry(Arc::clone(&watch.resource)).or_default();
                    lists.ends.push(watch, ListMark { number, version });
                    lists.last_end = lists.last_end.max(version);
                }
                MarkKind::Gap { from, to, .. } => {
                    let (Some(from), Some(to)) = (from.number(), to.number()) else { continue };
                    self.read_gap(watch, number, (from, to));
                }
                MarkKind::Error(_) => {}
            }
        }
        Ok(())
    }

    /// Reads the mark of a gap. If the differences of the one before are not complete, they belong to this one.
    fn read_gap(&mut self, watch: Watch, number: u64, (from, to): (u64, u64)) {
        // A server that was restored from a backup assigns its versions again: those in the gap are not known.
        let version = if to < from { 0 } else { to };
        let lists = self.resources.entry(Arc::clone(&watch.resource)).or_default();
        if watch.name.is_none() {
            let marks = lists.gaps.of_collection(&watch.namespace);
            let earlier = self.unfinished.take_continued(&watch, Some((from, to)));
            let first = earlier.map_or(marks.len(), |gap| gap.extent);
            for earlier in &mut marks[first..] {
                earlier.version = earlier.version.max(version);
            }
            let versions = Some((from, to));
            self.unfinished.insert(&watch, UnfinishedGap { versions, number, extent: first });
        }
        lists.gaps.push(watch, ListMark { number, version });
        lists.last_gap = lists.last_gap.max(version);
    }

    /// Returns the lowest version at which a list was complete.
    pub(in crate::recording::reader) fn first_version(&self) -> Option<u64> {
        self.ends().map(|mark| mark.version).min()
    }

    /// Returns the number of the last mark of a list that was complete at a version.
    pub(super) fn last_up_to(&self, version: u64) -> Option<u64> {
        self.ends().filter(|mark| mark.version <= version).map(|mark| mark.number).max()
    }

    /// Returns the marks that lists are complete.
    fn ends(&self) -> impl Iterator<Item = &ListMark> {
        let ends = self.resources.values().flat_map(|lists| lists.ends.0.values());
        let of_namespaces = ends.flat_map(|of| [&of.of_collection].into_iter().chain(of.of_objects.values()));
        of_namespaces.flatten()
    }

    /// Returns the lists of the resources of which one was complete after a version.
    pub(in crate::recording::reader) fn later_than(self, version: u64) -> LateLists {
        let has_complete_list = self.last_up_to(version).is_some();
        let mut lists = self.resources;
        lists.retain(|_, lists| lists.last_end.max(lists.last_gap) > version);
        LateLists { lists, version, has_complete_list }
    }
}

impl LateLists {
    /// Returns whether a list was complete at the version, or none was complete after it, other than those after gaps.
    pub(in crate::recording::reader) fn has_complete_list(&self) -> bool {
        self.has_complete_list || self.lists.values().all(|lists| lists.last_end <= self.version)
    }

    /// Returns whether no entry is part of them.
    pub(in crate::recording::reader) fn is_empty(&self) -> bool {
        self.lists.is_empty()
    }

    pub(in crate::recording::reader) fn resources(&self) -> impl Iterator<Item = &Arc<ApiResource>> {
        self.lists.keys()
    }

    /// Returns whether an entry is part of a list that was complete after the version.
    pub(in crate::recording::reader) fn have(&self, entry: &EntryRef<'_>) -> bool {
        if !matches!(entry.origin, Origin::List | Origin::Relist) || self.is_empty() {
            return false;
        }
        let Some(lists) = self.lists.get(entry.resource) else { return false };
        let version = match entry.origin {
            // A list that was never complete has no version of its own.
            Origin::List => lists.ends.first_after(entry),
            _ => lists.gaps.last_before(entry),
        };
        version.is_some_and(|version| version > self.version)
    }
}
