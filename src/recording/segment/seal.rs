//! Seals a journal: converts it to a segment.

use std::cmp::Reverse;
use std::io;
use std::path::Path;

use super::columns::{CHUNK, TIMELINE_CHUNK, put_entries, put_timeline};
use super::file_writer::{Compressed, FileWriter};
use super::footer::{
    BODIES, COLUMNS, DOCUMENT, FILTERS, FOOTER, Footer, ITEMS, NAMES, ROWS, TIMELINE, TypeFooter,
};
use super::payloads::Payloads;
use super::whole_texts::WholeTextWriter;
use crate::recording::bytes::{put_number, put_text};
use crate::recording::encryption::FileCipher;
use crate::recording::entry::Item;
use crate::recording::files::{Header, Kind};
use crate::recording::flags::Flags;
use crate::recording::frame::FrameContext;
use crate::recording::journal::{
    CompressedJournal, Journal, JournalObject, RawChange, RawItem, first_gap, put_item,
};
use crate::recording::names::{GROUP, Names};
use crate::recording::payload::split_version;
use crate::recording::tables::Tables;
use crate::recording::type_log::{LogEntry, Place, Timeline};

/// The length at which a block of payloads ends.
const BLOCK: usize = 128 << 10;

/// A change in its journal: the number of the entry, the number of its chunk, and the change.
type Change = (u32, u32, RawChange);

/// The entries of a journal without their payloads.
struct Content {
    tables: Tables,
    timeline: Timeline,
    objects: Vec<JournalObject>,
    /// The changes, sorted by object, those of an object in the order of time.
    changes: Vec<Change>,
    /// The end of the changes of each object.
    ends: Vec<usize>,
    /// The other items, with their numbers.
    items: Vec<(u32, Item)>,
}

/// Writes the segment with the entries of a journal to a file, and returns its length. The journal must have at least one
/// entry.
pub(in crate::recording) fn seal(
    journal: CompressedJournal,
    path: &Path,
    cipher: Option<FileCipher>,
) -> io::Result<u64> {
    let CompressedJournal { journal, texts, .. } = journal;
    let content = Content::of(&journal);
    let mut file = FileWriter::create(path, Kind::Segment, &header(&journal, &content), cipher)?;
    drop(journal);
    let mut footer = Footer { tables: content.tables.clone(), ..Footer::default() };
    let timeline = &content.timeline;
    for first in (0..timeline.received.len()).step_by(TIMELINE_CHUNK) {
        let mut payload = Vec::new();
        put_timeline(timeline, first..timeline.received.len().min(first + TIMELINE_CHUNK), &mut payload);
        footer.timeline.push(file.block(TIMELINE, &payload, first));
    }
    put_items(&content.items, &mut file, &mut footer);
    let sorted = sorted_objects(&content);
    let in_order = sorted.iter().flatten().flat_map(|object| content.changes_of(*object));
    let mut payloads = Payloads::new(&texts, in_order.map(|(_, chunk, change)| (*chunk, change)).collect());
    for (resource, objects) in sorted.iter().enumerate().filter(|(_, objects)| !objects.is_empty()) {
        footer.types.push(content.write(resource, objects, &mut payloads, &mut file)?);
    }
    file.finish(FOOTER, &footer)
}

impl Content {
    fn of(journal: &Journal) -> Self {
        let objects: Vec<_> = journal.objects().into_iter().cloned().collect();
        let mut timeline = Timeline::default();
        timeline.reserve(usize::try_from(journal.entries).unwrap_or_default());
        let mut changes: Vec<Change> = Vec::with_capacity(timeline.received.capacity());
        let mut items = Vec::new();
        for (chunk_number, chunk) in (0u32..).zip(&journal.chunks) {
            for entry in &chunk.entries {
                let index = u32::try_from(timeline.received.len()).unwrap_or(u32::MAX);
                timeline.received.push(entry.received);
                timeline.versions.push(entry.version);
                match &entry.item {
                    RawItem::Change(change) => changes.push((index, chunk_number, *change)),
                    RawItem::Other(item) => items.push((index, (**item).clone())),
                }
            }
        }
        changes.sort_unstable_by_key(|(index, _, change)| (change.object, *index));
        let mut ends = Vec::with_capacity(objects.len());
        for object in 0..objects.len() {
            let start = ends.last().copied().unwrap_or_default();
            let own = changes[start..].iter().take_while(|(.., change)| change.object as usize == object);
            ends.push(start + own.count());
        }
        Self { tables: journal.tables.clone(), timeline, objects, changes, ends, items }
    }

    fn changes_of(&self, object: usize) -> &[Change] {
        let start = object.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.changes[start..self.ends[object]]
    }
}

fn header(journal: &Journal, content: &Content) -> Header {
    let Content { timeline, changes, .. } = content;
    let of_changes = || changes.iter().map(|(index, ..)| timeline.versions[*index as usize]);
    Header {
        context: journal.header.context.clone(),
        first: journal.header.first,
        count: journal.entries,
        first_time: timeline.received.first().copied().unwrap_or_default(),
        last_time: timeline.received.last().copied().unwrap_or_default(),
        time_before: journal.header.time_before,
        first_gap: first_gap(journal),
        min_version: of_changes().min().unwrap_or(u64::MAX),
        max_version: timeline.versions.iter().copied().max().unwrap_or_default(),
    }
}

/// Writes the items that are not changes; the bodies of documents have blocks of their own, so that marks can be read
/// without them.
fn put_items(items: &[(u32, Item)], file: &mut FileWriter, footer: &mut Footer) {
    let mut payload = Vec::new();
    let mut documents = Vec::new();
    put_number(&mut payload, items.len() as u64);
    for (index, item) in items {
        put_number(&mut payload, (*index).into());
        if let Item::Document { path, body } = item {
            let without_body = Item::Document { path: path.clone(), body: bytes::Bytes::new() };
            put_item(&without_body, &footer.tables, &mut payload);
            documents.push((*index, body));
        } else {
            put_item(item, &footer.tables, &mut payload);
        }
    }
    footer.items.push(file.block(ITEMS, &payload, 0));
    for (index, body) in documents {
        footer.documents.push(file.block(DOCUMENT, body, index as usize));
    }
}

/// Returns the objects of each type that have changes, similar ones next to each other.
fn sorted_objects(content: &Content) -> Vec<Vec<usize>> {
    let mut sorted: Vec<Vec<usize>> = content.tables.resources.iter().map(|_| Vec::new()).collect();
    for (at, object) in content.objects.iter().enumerate() {
        if !content.changes_of(at).is_empty() {
            sorted[object.resource as usize].push(at);
        }
    }
    for of_type in &mut sorted {
        of_type.sort_by_cached_key(|at| {
            let first_whole =
                content.changes_of(*at).iter().find(|(.., change)| change.flags.has(Flags::WHOLE));
            let object = &content.objects[*at];
            let likeness = if object.workload == 0 { stem_hash(&object.key) } else { object.workload };
            (likeness, Reverse(first_whole.is_none()), first_whole.map(|(index, ..)| *index), &object.key)
        });
    }
    sorted
}

/// Returns a hash that names with the same generated prefix share.
pub(in crate::recording) fn stem_hash(key: &str) -> u32 {
    let name = key.rsplit('/').next().unwrap_or_default();
    let mut stem = name.split('.').next().unwrap_or_default();
    for _ in 0..2 {
        match stem.rsplit_once('-') {
            Some((front, suffix)) if suffix.len() >= 5 => stem = front,
            _ => break,
        }
    }
    crc32fast::hash(stem.as_bytes())
}

impl Content {
    /// Writes the blocks of one type.
    fn write(
        &self,
        resource: usize,
        sorted: &[usize],
        payloads: &mut Payloads<'_>,
        file: &mut FileWriter,
    ) -> io::Result<TypeFooter> {
        let mut footer = TypeFooter { resource, ..TypeFooter::default() };
        let mut names = Names::default();
        for object in sorted {
            let object = &self.objects[*object];
            names.push(&object.key, object.namespace_len);
        }
        let counts: Vec<u64> = sorted.iter().map(|object| self.changes_of(*object).len() as u64).collect();
        let mut entries_before = 0;
        for first in (0..names.len()).step_by(GROUP) {
            let range = first..names.len().min(first + GROUP);
            let mut payload = Vec::new();
            put_number(&mut payload, range.len() as u64);
            names.put(range.clone(), &mut payload);
            counts[range.clone()].iter().for_each(|count| put_number(&mut payload, *count));
            footer.names.push(file.block(NAMES, &payload, entries_before));
            entries_before += usize::try_from(counts[range].iter().sum::<u64>()).unwrap_or_default();
        }
        let mut payload = Vec::new();
        for first in (0..names.len()).step_by(GROUP) {
            names.put_filter(first..names.len().min(first + GROUP), &mut payload);
        }
        footer.filters.push(file.block(FILTERS, &payload, 0));
        footer.objects = u32::try_from(names.len()).unwrap_or(u32::MAX);
        footer.entries = u32::try_from(entries_before).unwrap_or(u32::MAX);
        drop(names);
        self.write_entries(sorted, payloads, &mut footer, file)?;
        Ok(footer)
    }

    /// Writes columns, bodies and rows. The footer lists them in this order, and so does the file: the payloads are
    /// collected first.
    fn write_entries(
        &self,
        sorted: &[usize],
        payloads: &mut Payloads<'_>,
        footer: &mut TypeFooter,
        file: &mut FileWriter,
    ) -> io::Result<()> {
        let mut entries = Vec::with_capacity(footer.entries as usize);
        let mut bodies = Blocks::new(BODIES);
        let mut rows = Blocks::new(ROWS);
        let mut whole_texts = WholeTextWriter::default();
        for object in sorted {
            for (index, _, change) in self.changes_of(*object) {
                let (body, row) = payloads.next()?;
                let at = entries.len();
                if bodies.begin_entry(at) {
                    whole_texts.clear();
                }
                let before = bodies.current.len();
                if change.flags.has(Flags::WHOLE) {
                    let (own, text) = split_version(body, change.flags).unwrap_or((None, body));
                    if let Some(own) = own {
                        put_text(&mut bodies.current, own.as_bytes());
                    }
                    let key = &self.objects[*object].key;
                    whole_texts.write(text, key, self.context(*index), &mut bodies.current);
                } else {
                    bodies.current.extend_from_slice(body);
                }
                rows.begin_entry(at);
                rows.current.extend_from_slice(row);
                entries.push(LogEntry {
                    index: *index,
                    flags: change.flags,
                    author: change.author,
                    body: length_of(bodies.current.len() - before),
                    row: length_of(row.len()),
                });
            }
        }
        for first in (0..entries.len()).step_by(CHUNK) {
            let mut payload = Vec::new();
            put_entries(&entries[first..entries.len().min(first + CHUNK)], &mut payload);
            footer.columns.push(file.block(COLUMNS, &payload, first));
        }
        for (blocks, refs) in [(bodies, &mut footer.bodies), (rows, &mut footer.rows)] {
            refs.extend(blocks.finish().into_iter().map(|block| file.append(&block)));
        }
        Ok(())
    }

    fn context(&self, index: u32) -> FrameContext<'static> {
        let at = index as usize;
        FrameContext::new(self.timeline.versions[at], self.timeline.received[at])
    }
}

fn length_of(length: usize) -> Place {
    Place { len: u32::try_from(length).unwrap_or(u32::MAX), ..Place::default() }
}

/// Payloads, cut into blocks between entries.
struct Blocks {
    tag: u8,
    done: Vec<Compressed>,
    /// The first entry of the current block.
    first: usize,
    current: Vec<u8>,
}

impl Blocks {
    fn new(tag: u8) -> Self {
        Self { tag, done: Vec::new(), first: 0, current: Vec::new() }
    }

    /// Ends the current block if it is long enough, and returns whether it does.
    fn begin_entry(&mut self, entry: usize) -> bool {
        if self.current.len() < BLOCK {
            return false;
        }
        self.done.push(Compressed::new(self.tag, &self.current, self.first));
        self.current.clear();
        self.first = entry;
        true
    }

    fn finish(mut self) -> Vec<Compressed> {
        self.done.push(Compressed::new(self.tag, &self.current, self.first));
        self.done
    }
}
