//! A journal in the form of a segment.

use std::collections::HashMap;
use std::sync::Arc;

use crate::object::ApiResource;
use crate::recording::files::Header;
use crate::recording::journal::{FirstGap, Journal, RawChange, RawItem, Span};
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
        let number = self.journal.tables.resource(resource)?;
        let objects = self.journal.objects();
        let mut log = TypeLog::default();
        let mut index = 0;
        for (block, chunk) in (0u32..).zip(&self.journal.chunks) {
            for entry in &chunk.entries {
                if let RawItem::Change(change) = &entry.item
                    && let object = objects[change.object as usize]
                    && object.resource as usize == number
                    && *object.key == *key
                {
                    if log.entries.is_empty() {
                        log.names.push(key, object.namespace_len);
                    }
                    log.entries.push(log_entry(index, block, change));
                }
                index += 1;
            }
        }
        log.ends.push(u32::try_from(log.entries.len()).unwrap_or(u32::MAX));
        (!log.entries.is_empty()).then_some(log)
    }

    /// Returns the changes of one type.
    pub(super) fn log(&self, resource: &ApiResource) -> Option<TypeLog> {
        let number = self.journal.tables.resource(resource)?;
        let objects = self.journal.objects();
        let mut log = TypeLog::default();
        // The objects of the type in the order of their first change in this journal.
        let mut places: HashMap<u32, usize> = HashMap::new();
        let mut of_objects: Vec<Vec<LogEntry>> = Vec::new();
        let mut index = 0;
        for (block, chunk) in (0u32..).zip(&self.journal.chunks) {
            for entry in &chunk.entries {
                if let RawItem::Change(change) = &entry.item
                    && let object = objects[change.object as usize]
                    && object.resource as usize == number
                {
                    let place = *places.entry(change.object).or_insert_with(|| {
                        log.names.push(&object.key, object.namespace_len);
                        of_objects.push(Vec::new());
                        of_objects.len() - 1
                    });
                    of_objects[place].push(log_entry(index, block, change));
                }
                index += 1;
            }
        }
        for entries in of_objects {
            log.entries.extend(entries);
            log.ends.push(u32::try_from(log.entries.len()).unwrap_or(u32::MAX));
        }
        Some(log)
    }
}

/// Returns a change of the chunk with this number.
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
