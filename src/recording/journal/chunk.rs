//! One chunk of a journal, decoded.

use std::sync::Arc;

use jiff::Timestamp;

use crate::recording::bytes::Cursor;
use crate::recording::entry::Item;
use crate::recording::flags::Flags;
use crate::recording::journal::record::{item_version, take_item};
use crate::recording::names::MAX_KEY;
use crate::recording::tables::{
    DefinitionMemory, Tables, take_author, take_columns, take_resource, take_size, take_string, take_u32,
};

/// The kinds of records in a journal. Definitions precede the entries that refer to them.
pub(super) const RESOURCE: u64 = 1;
pub(super) const AUTHOR: u64 = 2;
pub(super) const COLUMNS: u64 = 3;
pub(super) const OBJECT: u64 = 4;
pub(super) const CHANGE: u64 = 5;
pub(super) const OTHER: u64 = 6;

/// The most definitions that an entry needs: a resource, an author, columns and an object.
const MAX_DEFINITIONS: usize = 4;

/// A range of bytes of a chunk.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::recording) struct Span {
    pub(in crate::recording) at: u32,
    pub(in crate::recording) len: u32,
}

/// An entry whose payload lies in its chunk.
#[derive(Debug)]
pub(in crate::recording) struct RawEntry {
    /// In Unix milliseconds.
    pub(in crate::recording) received: i64,
    /// The version of a change or mark; for other items, that of the previous entry.
    pub(in crate::recording) version: u64,
    pub(in crate::recording) item: RawItem,
}

#[derive(Debug)]
pub(in crate::recording) enum RawItem {
    Change(RawChange),
    /// Boxed: nearly all entries are changes.
    Other(Box<Item>),
}

#[derive(Debug, Clone, Copy)]
pub(in crate::recording) struct RawChange {
    /// The number of the object in the journal.
    pub(in crate::recording) object: u32,
    pub(in crate::recording) flags: Flags,
    /// 0, or the number of the author in the tables plus 1.
    pub(in crate::recording) author: u32,
    /// A row: the number of its columns, then its template.
    pub(in crate::recording) row: Span,
    /// The text or its frame, after the object's own version if the flags say so.
    pub(in crate::recording) body: Span,
}

/// An object of a journal.
#[derive(Debug, Clone)]
pub(in crate::recording) struct JournalObject {
    /// The number of its resource in the tables.
    pub(in crate::recording) resource: u32,
    /// A hash that similar objects share.
    pub(in crate::recording) workload: u32,
    pub(in crate::recording) namespace_len: u16,
    pub(in crate::recording) key: Arc<str>,
}

/// One chunk, or several joined ones, decoded.
#[derive(Debug, Default)]
pub(in crate::recording) struct DecodedChunk {
    pub(in crate::recording) bytes: Vec<u8>,
    pub(in crate::recording) entries: Vec<RawEntry>,
    /// The objects that the chunk defines.
    pub(in crate::recording) objects: Vec<JournalObject>,
}

impl DecodedChunk {
    /// Appends a chunk without bytes, whose text begins at that position of the bytes.
    pub(super) fn append(&mut self, mut chunk: Self, start: usize) {
        // Far below the maximum: only the last of the joined texts is long.
        let base = u32::try_from(start).unwrap_or(u32::MAX);
        for entry in &mut chunk.entries {
            if let RawItem::Change(change) = &mut entry.item {
                change.row.at = change.row.at.saturating_add(base);
                change.body.at = change.body.at.saturating_add(base);
            }
        }
        self.entries.append(&mut chunk.entries);
        self.objects.append(&mut chunk.objects);
    }
}

/// The state of earlier chunks that the records of a chunk depend on.
#[derive(Debug, Default)]
pub(super) struct Position {
    pub(super) tables: Tables,
    /// The number of objects that are defined.
    pub(super) objects: u32,
    /// The memory that the tables and the objects take.
    pub(super) memory: DefinitionMemory,
    /// The time and version of the last entry.
    pub(super) received: i64,
    pub(super) version: u64,
}

impl Position {
    /// Decodes the decompressed text of a chunk with at most that many entries, which ends at `file_len`. The result has no
    /// bytes. Returns `None` if the text is invalid.
    pub(super) fn decode(
        &mut self,
        bytes: &[u8],
        entries: usize,
        file_len: u64,
        context: &Arc<str>,
    ) -> Option<DecodedChunk> {
        self.memory.grow(file_len);
        let (mut chunk, mut definitions) = (DecodedChunk::default(), 0);
        // Each entry has at least three bytes.
        chunk.entries.reserve_exact(entries.min(bytes.len() / 3));
        let mut cursor = Cursor::new(bytes);
        while !cursor.is_empty() {
            let kind = cursor.take_number()?;
            definitions += usize::from(kind < CHANGE);
            if chunk.entries.len() > entries || definitions > MAX_DEFINITIONS * entries {
                return None;
            }
            match kind {
                RESOURCE => self.tables.resources.push(take_resource(&mut cursor, &mut self.memory)?),
                AUTHOR => self.tables.authors.push(take_author(&mut cursor, &mut self.memory)?),
                COLUMNS => self.tables.columns.push(take_columns(&mut cursor, &mut self.memory)?),
                OBJECT => chunk.objects.push(self.object(&mut cursor)?),
                CHANGE => chunk.entries.push(self.change(&mut cursor, bytes.len())?),
                OTHER => {
                    self.received = self.received.checked_add(i64::try_from(cursor.take_number()?).ok()?)?;
                    let received = Timestamp::from_millisecond(self.received).ok()?;
                    let item = take_item(&mut cursor, &self.tables, context, received)?;
                    self.version = item_version(&item).unwrap_or(self.version);
                    let (received, version) = (self.received, self.version);
                    chunk.entries.push(RawEntry { received, version, item: RawItem::Other(Box::new(item)) });
                }
                _ => return None,
            }
        }
        Some(chunk)
    }

    fn object(&mut self, cursor: &mut Cursor<'_>) -> Option<JournalObject> {
        let resource = take_u32(cursor)?;
        self.tables.resources.get(resource as usize)?;
        let workload = take_u32(cursor)?;
        let namespace_len = u16::try_from(cursor.take_number()?).ok()?;
        let key = take_string(cursor).filter(|key| key.len() <= MAX_KEY)?;
        key.get(usize::from(namespace_len)..)?;
        self.memory.take::<JournalObject>(1, 1, key.len())?;
        self.objects += 1;
        Some(JournalObject { resource, workload, namespace_len, key: key.into() })
    }

    fn change(&mut self, cursor: &mut Cursor<'_>, length: usize) -> Option<RawEntry> {
        self.received = self.received.checked_add(i64::try_from(cursor.take_number()?).ok()?)?;
        Timestamp::from_millisecond(self.received).ok()?;
        self.version = self.version.wrapping_add_signed(cursor.take_signed()?);
        let object = take_u32(cursor).filter(|object| *object < self.objects)?;
        let flags = Flags::from_number(cursor.take_number()?)?;
        let author = take_u32(cursor).filter(|author| *author as usize <= self.tables.authors.len())?;
        let span = |cursor: &mut Cursor<'_>| {
            let len = take_size(cursor)?;
            let at = u32::try_from(length - cursor.len()).ok()?;
            cursor.take_bytes(len)?;
            Some(Span { at, len: u32::try_from(len).ok()? })
        };
        let row = if flags.has(Flags::NEW_ROW) { span(cursor)? } else { Span::default() };
        let body = span(cursor)?;
        let change = RawChange { object, flags, author, row, body };
        Some(RawEntry { received: self.received, version: self.version, item: RawItem::Change(change) })
    }
}
