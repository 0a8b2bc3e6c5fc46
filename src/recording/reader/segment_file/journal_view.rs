//! A journal in the form of a segment.

use std::collections::HashMap;
use std::sync::Arc;

use crate::object::ApiResource;
use crate::recording::files::Header;
use crate::recording::journal::{FirstGap, Journal, JournalObject, RawChange, RawItem, Span};
use crate::recording::type_log::{LogEntry, Place, Timeline, TypeLog};

/// A journal with the tables that a sealed segment has in its file.
#[derive(Debug)]
pub(in crate::recording::reader) struct JournalView {
    pub(in crate::recording::reader) journal: Journal,
    pub(super) header: Header,
    pub(super) timeline: Arc<Timeline>,
}

impl JournalView {
    pub(super) fn new(journal: Journal) -> Self {
        let mut timeline = Timeline::default();
        let (mut min_version, mut max_version) = (u64::MAX, 0);
        let mut first_gap = FirstGap::new(&journal.header);
        for entry in journal.chunks.iter().flat_map(|chunk| &chunk.entries) {
            timeline.received.push(entry.received);
            timeline.versions.push(entry.version);
            max_version = max_version.max(entry.version);
            first_gap.add(entry);
            if let RawItem::Change(_) = entry.item {
                min_version = min_version.min(entry.version);
            }
        }
        let header = Header {
            count: journal.entries,
            first_time: timeline.received.first().copied().unwrap_or(journal.header.first_time),
            last_time: journal.last_time,
            first_gap: first_gap.time(),
            min_version,
            max_version,
            ..journal.header.clone()
        };
        Self { journal, header, timeline: Arc::new(timeline) }
    }

    /// Returns the changes of one object. `None` if there are none.
    pub(super) fn log_of(&self, resource: &ApiResource, key: &str) -> Option<TypeLog> {
        let mut log = TypeLog::default();
        for (_, object, entry) in self.changes_of(resource)?.filter(|(_, object, _)| *object.key == *key) {
            if log.entries.is_empty() {
                log.names.push(key, object.namespace_len);
            }
            log.entries.push(entry);
        }
        log.ends.push(u32::try_from(log.entries.len()).unwrap_or(u32::MAX));
        (!log.entries.is_empty()).then_some(log)
    }

    /// Returns the changes of one type.
    pub(super) fn log(&self, resource: &ApiResource) -> Option<TypeLog> {
        let mut log = TypeLog::default();
        // The objects of the type in the order of their first change in this journal.
        let mut places: HashMap<u32, usize> = HashMap::new();
        let mut of_objects: Vec<Vec<LogEntry>> = Vec::new();
        for (number, object, entry) in self.changes_of(resource)? {
            let place = *places.entry(number).or_insert_with(|| {
                log.names.push(&object.key, object.namespace_len);
                of_objects.push(Vec::new());
                of_objects.len() - 1
            });
            of_objects[place].push(entry);
        }
        for entries in of_objects {
            log.entries.extend(entries);
            log.ends.push(u32::try_from(log.entries.len()).unwrap_or(u32::MAX));
        }
        Some(log)
    }

    /// Returns the changes of a type in the order of time, each with its object and that object's number. `None` if the
    /// journal does not name the type.
    fn changes_of(
        &self,
        resource: &ApiResource,
    ) -> Option<impl Iterator<Item = (u32, &JournalObject, LogEntry)>> {
        let number = self.journal.tables.resource(resource)?;
        let objects = self.journal.objects();
        let chunks = (0u32..).zip(&self.journal.chunks);
        let entries = chunks.flat_map(|(block, chunk)| chunk.entries.iter().map(move |entry| (block, entry)));
        Some((0u32..).zip(entries).filter_map(move |(index, (block, entry))| {
            let RawItem::Change(change) = &entry.item else { return None };
            let object = objects[change.object as usize];
            let is_of_type = object.resource as usize == number;
            is_of_type.then(|| (change.object, object, log_entry(index, block, change)))
        }))
    }
}

/// Returns the entry with this number, a change in the chunk `block`.
fn log_entry(index: u32, block: u32, change: &RawChange) -> LogEntry {
    let place = |span: Span| Place { block, at: span.at, len: span.len };
    LogEntry {
        index,
        flags: change.flags,
        author: change.author,
        body: place(change.body),
        row: place(change.row),
    }
}
