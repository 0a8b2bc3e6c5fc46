//! A journal in the form of a segment.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use crate::object::ApiResource;
use crate::recording::encryption::Cipher;
use crate::recording::files::{FileError, Header};
use crate::recording::journal::{
    FirstGap, Journal, JournalObject, JournalReader, KeptTexts, RawChange, RawItem, Span, WantedObject,
};
use crate::recording::type_log::{LogEntry, Place, Timeline, TypeLog};

/// A journal with the tables that a sealed segment has in its file.
#[derive(Debug)]
pub(in crate::recording::reader) struct JournalView {
    pub(in crate::recording::reader) journal: Journal,
    pub(super) header: Header,
    pub(super) timeline: Arc<Timeline>,
    /// `None` if all texts were kept.
    partial: Option<PartialTexts>,
}

/// The texts of a journal of which not all were kept.
#[derive(Debug)]
struct PartialTexts {
    kept: Arc<KeptTexts>,
    stored: StoredJournal,
    /// The journal with all texts, read when others are needed, or the reason why it can't be decoded. A std
    /// cell: other threads wait for the one that reads.
    whole: OnceLock<Result<Journal, String>>,
}

/// The content of the file of a journal.
#[derive(Debug)]
pub(super) struct StoredJournal {
    pub(super) path: PathBuf,
    pub(super) bytes: Vec<u8>,
    pub(super) cipher: Option<Arc<Cipher>>,
}

impl StoredJournal {
    /// Reads the entries, or returns the reason why they can't be decoded.
    pub(super) fn read(&self) -> Result<Journal, String> {
        whole(JournalReader::of_bytes(self.path.clone(), &self.bytes, self.cipher.as_ref()))
    }
}

/// Returns the entries of a journal whose chunks are whole.
fn whole(reader: Result<JournalReader, FileError>) -> Result<Journal, String> {
    match reader {
        Ok(reader) if !reader.is_broken() => Ok(reader.into_journal().0),
        // The checksums are valid, but no writer writes such records.
        _ => Err("a part can't be decoded".to_owned()),
    }
}

impl JournalView {
    /// Reads a journal, and keeps only the texts of one object, or none. Returns the reason if it can't be decoded.
    pub(super) fn for_object(stored: StoredJournal, object: Option<WantedObject>) -> Result<Self, String> {
        let StoredJournal { path, bytes, cipher } = &stored;
        let journal = whole(JournalReader::for_object(path.clone(), bytes, cipher.as_ref(), object))?;
        let kept = journal.kept.clone();
        let mut view = Self::new(journal);
        view.partial = kept.map(|kept| PartialTexts { kept, stored, whole: OnceLock::new() });
        Ok(view)
    }

    /// Returns the bytes of a block of texts, to which the places in logs refer: those of a chunk, or those that were kept.
    pub(super) fn texts(&self, block: u32) -> Result<&[u8], FileError> {
        let at = block as usize;
        let chunks = match &self.partial {
            None => &self.journal.chunks,
            Some(partial) if at == self.journal.chunks.len() => return Ok(&partial.kept.bytes),
            Some(PartialTexts { stored, whole, .. }) => match whole.get_or_init(|| stored.read()) {
                Ok(journal) => &journal.chunks,
                Err(reason) => return Err(FileError::Damaged(stored.path.clone(), 0, reason.clone())),
            },
        };
        Ok(chunks.get(at).map(|chunk| &*chunk.bytes).unwrap_or_default())
    }

    pub(super) fn new(journal: Journal) -> Self {
        let mut timeline = Timeline::default();
        timeline.reserve(journal.chunks.iter().map(|chunk| chunk.entries.len()).sum());
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
        Self { journal, header, timeline: Arc::new(timeline), partial: None }
    }

    /// Returns the changes of one object. `None` if there are none.
    pub(super) fn log_of(&self, resource: &ApiResource, key: &str) -> Option<TypeLog> {
        let mut log = TypeLog::default();
        let kept = self.partial.as_ref().map(|partial| &partial.kept);
        let kept = kept.filter(|kept| kept.is_of(resource, key));
        let block = u32::try_from(self.journal.chunks.len()).unwrap_or(u32::MAX);
        for (_, object, mut entry) in self.changes_of(resource, |object| *object.key == *key)? {
            if let Some((row, body)) = kept.and_then(|kept| kept.places(entry.index)) {
                (entry.row, entry.body) = (place(block, row), place(block, body));
            }
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
        for (number, object, entry) in self.changes_of(resource, |_| true)? {
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

    /// Returns the changes of the objects of a type that `is_wanted` accepts, in the order of time, each with its object and that
    /// object's number. `None` if the journal does not name the type.
    fn changes_of(
        &self,
        resource: &ApiResource,
        is_wanted: impl Fn(&JournalObject) -> bool,
    ) -> Option<impl Iterator<Item = (u32, &JournalObject, LogEntry)>> {
        let number = self.journal.tables.resource(resource)?;
        let objects = self.journal.objects();
        let is_of_type = |object: &JournalObject| object.resource as usize == number;
        let wanted: Vec<bool> =
            objects.iter().map(|object| is_of_type(object) && is_wanted(object)).collect();
        let chunks = (0u32..).zip(&self.journal.chunks);
        let entries = chunks.flat_map(|(block, chunk)| chunk.entries.iter().map(move |entry| (block, entry)));
        Some((0u32..).zip(entries).filter_map(move |(index, (block, entry))| {
            let RawItem::Change(change) = &entry.item else { return None };
            let object = change.object as usize;
            wanted[object].then(|| (change.object, objects[object], log_entry(index, block, change)))
        }))
    }
}

/// Returns the entry with this number, a change in the chunk `block`.
fn log_entry(index: u32, block: u32, change: &RawChange) -> LogEntry {
    LogEntry {
        index,
        flags: change.flags,
        author: change.author,
        body: place(block, change.body),
        row: place(block, change.row),
    }
}

fn place(block: u32, span: Span) -> Place {
    Place { block, at: span.at, len: span.len }
}
