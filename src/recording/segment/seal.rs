//! Seals a journal: converts it to a segment.

use std::io;
use std::iter::repeat_n;
use std::path::Path;

use super::columns::{CHUNK, put_entries};
use super::content::{Content, UnsealedJournal};
use super::file_writer::{Compressed, FileWriter};
use super::footer::{
    BODIES, COLUMNS, DOCUMENT, FILTERS, FOOTER, Footer, ITEMS, NAMES, ROWS, TIMELINE, TypeFooter,
};
use super::payloads::Payloads;
use super::timeline::{TIMELINE_CHUNK, put_timeline};
use super::whole_texts::WholeTextWriter;
use crate::recording::bytes::{put_number, put_text};
use crate::recording::encryption::FileCipher;
use crate::recording::entry::Item;
use crate::recording::files::Kind;
use crate::recording::flags::Flags;
use crate::recording::journal::put_item;
use crate::recording::names::{GROUP, Names};
use crate::recording::payload::split_version;
use crate::recording::type_log::{LogEntry, Place};

/// The length at which a block of payloads ends.
const BLOCK: usize = 128 << 10;

/// Writes the segment with the entries of a journal to a file, and returns its length. The journal must have at least one
/// entry.
pub(in crate::recording) fn seal(
    unsealed: UnsealedJournal,
    path: &Path,
    cipher: Option<FileCipher>,
) -> io::Result<u64> {
    let mut file = FileWriter::create(path, Kind::Segment, &unsealed.header(), cipher)?;
    let UnsealedJournal { journal, content, texts, .. } = unsealed;
    let mut footer = Footer { tables: journal.tables, ..Footer::default() };
    let timeline = &content.timeline;
    for first in (0..timeline.received.len()).step_by(TIMELINE_CHUNK) {
        let mut payload = Vec::new();
        put_timeline(timeline, first..timeline.received.len().min(first + TIMELINE_CHUNK), &mut payload);
        footer.timeline.push(file.uncompressed_block(TIMELINE, &payload, first));
    }
    put_items(&content.items, &mut file, &mut footer);
    let mut payloads = Payloads::new(&content, texts);
    for (resource, objects) in content.types() {
        let mut of_type = TypeFooter { resource, ..TypeFooter::default() };
        put_names(objects.clone(), &mut file, &mut of_type);
        put_payloads(objects, &content, &mut payloads, &mut file, &mut of_type)?;
        footer.types.push(of_type);
    }
    file.finish(FOOTER, &footer)
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

/// Writes the names of the objects of one type with the numbers of their changes, and the filters.
fn put_names<'a>(
    mut objects: impl ExactSizeIterator<Item = (&'a str, u16, usize)>,
    file: &mut FileWriter,
    footer: &mut TypeFooter,
) {
    let mut filters = Vec::new();
    let mut entries = 0;
    footer.objects = u32::try_from(objects.len()).unwrap_or(u32::MAX);
    while objects.len() > 0 {
        let mut names = Names::default();
        let mut counts = Vec::new();
        for (key, namespace_len, changes) in objects.by_ref().take(GROUP) {
            names.push(key, namespace_len);
            counts.push(changes);
        }
        let mut payload = Vec::new();
        put_number(&mut payload, counts.len() as u64);
        names.put(0..counts.len(), &mut payload);
        for count in &counts {
            put_number(&mut payload, *count as u64);
        }
        names.put_filter(0..counts.len(), &mut filters);
        footer.names.push(file.block(NAMES, &payload, entries));
        entries += counts.iter().sum::<usize>();
    }
    footer.filters.push(file.block(FILTERS, &filters, 0));
    footer.entries = u32::try_from(entries).unwrap_or(u32::MAX);
}

/// Writes columns, bodies and rows of the objects of one type. The footer lists them in this order, and so does the
/// file: the blocks are collected first.
fn put_payloads<'a>(
    objects: impl Iterator<Item = (&'a str, u16, usize)>,
    content: &Content,
    payloads: &mut Payloads<'_>,
    file: &mut FileWriter,
    footer: &mut TypeFooter,
) -> io::Result<()> {
    let mut columns = ColumnBlocks::default();
    let mut bodies = Blocks::new(BODIES);
    let mut rows = Blocks::new(ROWS);
    let mut whole_texts = WholeTextWriter::default();
    for (at, key) in objects.flat_map(|(key, _, changes)| repeat_n(key, changes)).enumerate() {
        let (change, body, row) = payloads.next()?;
        if bodies.begin_entry(at) {
            whole_texts.clear();
        }
        let before = bodies.current.len();
        if change.flags.has(Flags::WHOLE) {
            let (own, text) = split_version(body, change.flags).unwrap_or((None, body));
            if let Some(own) = own {
                put_text(&mut bodies.current, own.as_bytes());
            }
            whole_texts.write(text, key, content.context(change), &mut bodies.current);
        } else {
            bodies.current.extend_from_slice(body);
        }
        rows.begin_entry(at);
        rows.current.extend_from_slice(row);
        columns.push(LogEntry {
            index: change.index,
            flags: change.flags,
            author: change.author,
            body: length_of(bodies.current.len() - before),
            row: length_of(row.len()),
        });
    }
    let blocks = [
        (columns.finish(), &mut footer.columns),
        (bodies.finish(), &mut footer.bodies),
        (rows.finish(), &mut footer.rows),
    ];
    for (blocks, refs) in blocks {
        refs.extend(blocks.into_iter().map(|block| file.append(&block)));
    }
    Ok(())
}

fn length_of(length: usize) -> Place {
    Place { len: u32::try_from(length).unwrap_or(u32::MAX), ..Place::default() }
}

/// The columns of entries, cut into chunks.
#[derive(Default)]
struct ColumnBlocks {
    done: Vec<Compressed>,
    /// The first entry of the current chunk.
    first: usize,
    current: Vec<LogEntry>,
}

impl ColumnBlocks {
    fn push(&mut self, entry: LogEntry) {
        self.current.push(entry);
        if self.current.len() == CHUNK {
            self.end_chunk();
        }
    }

    fn end_chunk(&mut self) {
        let mut payload = Vec::new();
        put_entries(&self.current, &mut payload);
        self.done.push(Compressed::new(COLUMNS, &payload, self.first));
        self.first += self.current.len();
        self.current.clear();
    }

    fn finish(mut self) -> Vec<Compressed> {
        if !self.current.is_empty() {
            self.end_chunk();
        }
        self.done
    }
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
