//! The first lists of collections, which are not complete before their SYNCED marks.

use std::collections::HashMap;
use std::sync::Arc;

use super::observation::{ListEnd, ObservedTimes};
use crate::object::{ApiResource, Origin};
use crate::recording::entry::IncompleteList;
use crate::recording::files::FileError;
use crate::recording::names::split_key;
use crate::recording::position::Watch;
use crate::recording::reader::catalog::{Catalog, time_of};
use crate::recording::reader::resources::sorted_resources;
use crate::recording::reader::segment_file::{Segment, SegmentFile};

/// The number of files in a row without an object of a list that show that the list began after them. One may have only the mark
/// at its end.
const MAX_OTHER_FILES: usize = 2;

impl Catalog {
    /// Returns the resources of which a part had been listed at a time, in Unix milliseconds, but not all.
    pub(super) fn incomplete_lists(
        &self,
        observed: &ObservedTimes,
        time: i64,
    ) -> Result<Vec<IncompleteList>, FileError> {
        let is_earlier = |file: &&Arc<SegmentFile>| file.first_time().is_ok_and(|first| first <= time);
        let files = self.segments.iter().take_while(is_earlier);
        let named: Vec<_> = files.filter_map(|file| file.resources().ok()).flatten().collect();
        let listed_before = self.listed_before()?;
        let mut incomplete = Vec::new();
        for resource in sorted_resources(named.iter()) {
            if listed_before.contains(&resource) {
                continue;
            }
            let of_resource = observed.synced.iter().filter(|(watch, _)| watch.is_of(&resource));
            let (complete, later): (Vec<_>, Vec<_>) = of_resource.partition(|(_, at)| **at <= time);
            if later.is_empty() && !complete.is_empty() {
                continue;
            }
            let is_in_list = |namespace: &str, name: &str| {
                let includes = |(watch, _): &(&Watch, &i64)| watch.includes_name(namespace, name);
                !complete.iter().any(includes) && (later.is_empty() || later.iter().any(includes))
            };
            let until = later.iter().map(|(_, at)| **at).min();
            let search = ListSearch { catalog: self, resource: &resource, time, is_in_list: &is_in_list };
            if search.finds(&observed.list_ends, until)? {
                incomplete
                    .push(IncompleteList { resource: Arc::clone(&resource), until: until.map(time_of) });
            }
        }
        Ok(incomplete)
    }

    /// Returns the resources that had been listed when older entries were dropped: a keyframe is written after their lists.
    fn listed_before(&self) -> Result<Vec<Arc<ApiResource>>, FileError> {
        match self.keyframes.first().filter(|_| self.start() > 0) {
            Some(first) => Ok(self.open_keyframe(*first)?.footer().tables.resources.clone()),
            None => Ok(Vec::new()),
        }
    }
}

/// The search for the objects of lists of a resource that were received up to a time.
struct ListSearch<'a> {
    catalog: &'a Catalog,
    resource: &'a ApiResource,
    time: i64,
    /// Returns whether a list that was not complete has the object with a namespace and a name.
    is_in_list: &'a dyn Fn(&str, &str) -> bool,
}

impl ListSearch<'_> {
    /// Returns whether there is one. The files are searched from the starts of recorders on, and back from each time at which a
    /// list may have ended or broken off: the others have no part of a list. `until` is the time at which the list was complete.
    fn finds(&self, ends: &[ListEnd], until: Option<i64>) -> Result<bool, FileError> {
        let files = &self.catalog.segments;
        let mut begin = Vec::with_capacity(files.len());
        for file in files {
            let before = begin.last().copied().unwrap_or(i64::MIN);
            begin.push(file.first_time().map_or(before, |first| first.max(before)));
        }
        let earlier = begin.partition_point(|first| *first <= self.time);
        let mut known = HashMap::new();
        for end in ends.iter().filter(|end| end.watch.is_none() && end.time <= self.time) {
            // The start of a recorder may be the first entry of a file.
            let from = begin.partition_point(|first| *first < end.time).saturating_sub(1);
            if self.is_found(from..earlier, &mut known)? {
                return Ok(true);
            }
        }
        let is_of_resource =
            |end: &&ListEnd| end.watch.as_ref().is_none_or(|watch| watch.is_of(self.resource));
        let times = ends.iter().filter(is_of_resource).map(|end| end.time);
        let next = times.clone().filter(|end| *end > self.time).chain(until).min().unwrap_or(i64::MAX);
        for end in times.filter(|end| *end <= self.time).chain([next]) {
            let to = begin.partition_point(|first| *first <= end);
            if self.is_found((0..to).rev(), &mut known)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Searches files until some in a row have no object of the list. `known` has the results.
    fn is_found(
        &self,
        files: impl Iterator<Item = usize>,
        known: &mut HashMap<usize, Option<i64>>,
    ) -> Result<bool, FileError> {
        let mut others = 0;
        for number in files {
            let first = if let Some(first) = known.get(&number) {
                *first
            } else {
                let segment = self.catalog.segments[number].open()?;
                *known.entry(number).or_insert(self.first_listed(&segment)?)
            };
            match first {
                Some(first) if first <= self.time => return Ok(true),
                Some(_) => others = 0,
                None => others += 1,
            }
            if others == MAX_OTHER_FILES {
                break;
            }
        }
        Ok(false)
    }

    /// Returns the time of the first object of a list in a segment.
    fn first_listed(&self, segment: &Segment) -> Result<Option<i64>, FileError> {
        let Some(log) = segment.log(self.resource)? else { return Ok(None) };
        let received = &segment.timeline()?.received;
        let times = |object: usize| {
            let entries = log.entries[log.range(object)].iter();
            let listed = entries.filter(|entry| entry.flags.origin() == Origin::List);
            listed.filter_map(|entry| received.get(entry.index as usize)).min()
        };
        let is_in_list = |object: &usize| {
            let (key, namespace_len) = log.names.get(*object);
            let (namespace, name) = split_key(key, namespace_len);
            (self.is_in_list)(namespace, name)
        };
        Ok((0..log.names.len()).filter(is_in_list).filter_map(times).min().copied())
    }
}
