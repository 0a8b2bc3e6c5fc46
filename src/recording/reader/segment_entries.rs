//! The entries of one segment in the order of time.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use super::bases::ChangeReader;
use super::catalog::time_of;
use super::chains::SegmentLog;
use super::segment_file::Segment;
use crate::object::ApiResource;
use crate::recording::entry::{Entry, EntryFilter, Item};
use crate::recording::files::FileError;
use crate::recording::flags::Flags;
use crate::recording::tracked::Tracked;

/// The number of entries that are decoded at a time: bodies are stored by object, and must be sorted by time.
const WINDOW: u32 = 2048;

/// The states of the objects that were read so far, by resource.
pub(super) type States = HashMap<Arc<ApiResource>, HashMap<Arc<str>, Tracked>>;

/// The selected changes of one type.
pub(super) struct SelectedLog {
    resource: Arc<ApiResource>,
    log: SegmentLog,
    /// The numbers of the selected objects.
    objects: Vec<usize>,
}

/// The entries of one segment.
pub(super) struct SegmentEntries {
    segment: Arc<Segment>,
    context: Arc<str>,
    logs: Vec<SelectedLog>,
    items: VecDeque<(u32, Item)>,
    /// The number in the segment of the first entry that was not decoded.
    next: u32,
    window: VecDeque<Entry>,
}

impl SegmentEntries {
    pub(super) fn open(
        segment: Arc<Segment>,
        context: &Arc<str>,
        filter: &EntryFilter,
    ) -> Result<Self, FileError> {
        let mut logs = Vec::new();
        for resource in &segment.tables().resources {
            if !filter.selects_resource(resource) {
                continue;
            }
            let Some(log) = segment.log(resource)? else { continue };
            let is_selected = |object: &usize| {
                let (key, namespace_len) = log.names.get(*object);
                filter.selects_namespace(key.get(..namespace_len.into()).unwrap_or_default())
            };
            let objects = (0..log.names.len()).filter(is_selected).collect();
            let log = SegmentLog { log, timeline: segment.timeline()? };
            logs.push(SelectedLog { resource: Arc::clone(resource), log, objects });
        }
        let mut items = VecDeque::from(segment.items(context, true)?);
        items.retain(|(_, item)| match item {
            Item::Mark(mark) => filter.selects_resource(&mark.resource),
            Item::Bookmark { resource, .. } => filter.selects_resource(resource),
            _ => true,
        });
        Ok(Self { segment, context: Arc::clone(context), logs, items, next: 0, window: VecDeque::new() })
    }

    pub(super) fn segment(&self) -> &Arc<Segment> {
        &self.segment
    }

    /// Returns the types, each with the keys of the objects whose first change refers to the state before the segment.
    pub(super) fn bases(&self) -> impl Iterator<Item = (&Arc<ApiResource>, impl Iterator<Item = &str>)> {
        self.logs.iter().map(|selected| {
            let log = &selected.log.log;
            let has_base = |object: &&usize| {
                let first = log.entries.get(log.range(**object).start);
                first.is_some_and(|entry| !entry.flags.has(Flags::WHOLE))
            };
            (
                &selected.resource,
                selected.objects.iter().filter(has_base).map(|object| log.names.get(*object).0),
            )
        })
    }

    /// Returns the next entry, given the states before it.
    pub(super) fn next(&mut self, states: &mut States) -> Option<Result<Entry, FileError>> {
        let count = u32::try_from(self.segment.header().count).unwrap_or(u32::MAX);
        while self.window.is_empty() && self.next < count {
            let end = self.next.saturating_add(WINDOW).min(count);
            if let Err(error) = self.decode_until(end, states) {
                return Some(Err(error));
            }
            self.next = end;
        }
        self.window.pop_front().map(Ok)
    }

    fn decode_until(&mut self, end: u32, states: &mut States) -> Result<(), FileError> {
        let mut entries = Vec::new();
        for selected in &self.logs {
            let states = states.entry(Arc::clone(&selected.resource)).or_default();
            let log = &selected.log.log;
            let mut reader =
                ChangeReader::new(&self.context, &self.segment, &selected.resource, &selected.log);
            for object in &selected.objects {
                let range = log.range(*object);
                let of_object = &log.entries[range.clone()];
                let from = range.start + of_object.partition_point(|entry| entry.index < self.next);
                let to = range.start + of_object.partition_point(|entry| entry.index < end);
                if from == to {
                    continue;
                }
                let (key, _) = log.names.get(*object);
                let known = states.remove_entry(key);
                let (key, mut state) =
                    known.map_or_else(|| (key.into(), None), |(key, state)| (key, Some(state)));
                for (number, _) in (0u32..).zip(&log.entries).take(to).skip(from) {
                    entries.push(reader.read(*object, number, &mut state)?);
                }
                states.extend(state.map(|state| (key, state)));
            }
        }
        let first = self.segment.header().first;
        let timeline = self.segment.timeline()?;
        while let Some((index, item)) = self.items.pop_front_if(|(index, _)| *index < end) {
            let received = time_of(timeline.received[index as usize]);
            entries.push(Entry { number: first + u64::from(index), received, item });
        }
        entries.sort_unstable_by_key(|entry| entry.number);
        self.window = entries.into();
        Ok(())
    }
}
