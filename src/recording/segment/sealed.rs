//! Reads a sealed segment.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use jiff::Timestamp;

use super::columns::{MAX_CHUNK, take_entries};
use super::file_tables::FileTables;
use super::footer::{BODIES, BlockRef, COLUMNS, DOCUMENT, FILTERS, Footer, ITEMS, NAMES, ROWS, TypeFooter};
use crate::object::ApiResource;
use crate::recording::bytes::Cursor;
use crate::recording::encryption::Cipher;
use crate::recording::entry::Item;
use crate::recording::files::{FileError, Header, RandomAccess};
use crate::recording::journal::take_item;
use crate::recording::names::{GROUP, take_filter};
use crate::recording::tables::{take_size, take_u32};
use crate::recording::type_log::{LogEntry, Payload, Place, Timeline, TypeLog};

/// A sealed segment.
#[derive(Debug)]
pub(in crate::recording) struct Sealed {
    pub(super) access: RandomAccess,
    tables: Arc<FileTables>,
    /// Kept from the first reading. A std cell: if two threads read them, the first result is kept.
    pub(super) timeline: OnceLock<Arc<Timeline>>,
}

impl Sealed {
    /// Opens a segment and reads its tables.
    pub(in crate::recording) fn open(path: PathBuf, cipher: Option<&Arc<Cipher>>) -> Result<Self, FileError> {
        let access = RandomAccess::open(path, cipher)?;
        let tables = Arc::new(FileTables::read(&access)?);
        Ok(Self::new(access, tables))
    }

    /// Returns an open segment with its tables.
    pub(in crate::recording) fn new(access: RandomAccess, tables: Arc<FileTables>) -> Self {
        Self { access, tables, timeline: OnceLock::new() }
    }

    pub(in crate::recording) fn header(&self) -> &Header {
        &self.tables.header
    }

    pub(in crate::recording) fn footer(&self) -> &Footer {
        &self.tables.footer
    }

    pub(in crate::recording) fn len(&self) -> u64 {
        self.access.len()
    }

    /// Returns the error of invalid bytes whose checksum is valid.
    pub(in crate::recording) fn invalid(&self, offset: u64, what: &str) -> FileError {
        self.access.damaged(offset, what)
    }

    pub(super) fn block(&self, tag: u8, block: &BlockRef) -> Result<Vec<u8>, FileError> {
        self.access.block(tag, block.offset, block.length)
    }

    /// Reads every block, for its checksum, and returns the damaged ones.
    pub(in crate::recording) fn damaged_blocks(&self) -> Vec<FileError> {
        self.footer().damaged_blocks(&self.access)
    }

    fn of_type(&self, resource: &ApiResource) -> Option<&TypeFooter> {
        let number = self.footer().tables.resource(resource)?;
        self.footer().types.iter().find(|of_type| of_type.resource == number)
    }

    /// Returns the groups of names that may have a key.
    fn groups_of(&self, of_type: &TypeFooter, key: &str) -> Result<Vec<usize>, FileError> {
        let mut groups = Vec::new();
        for block in &of_type.filters {
            let payload = self.block(FILTERS, block)?;
            let mut cursor = Cursor::new(&payload);
            for group in 0.. {
                if cursor.is_empty() {
                    break;
                }
                let found = take_filter(&mut cursor, key);
                if found.ok_or_else(|| self.invalid(block.offset, "a filter is invalid"))? {
                    groups.push(group);
                }
            }
        }
        Ok(groups)
    }

    /// Appends a group of names, with the ends of their entries.
    fn take_names(&self, block: &BlockRef, log: &mut TypeLog) -> Result<(), FileError> {
        let payload = self.block(NAMES, block)?;
        let mut take = || {
            let mut cursor = Cursor::new(&payload);
            let count = take_size(&mut cursor)?;
            log.names.take(count, &mut cursor, self.access.len())?;
            let mut end = log.ends.last().copied().unwrap_or_default();
            for _ in 0..count {
                end = end.checked_add(take_u32(&mut cursor)?)?;
                log.ends.push(end);
            }
            Some(())
        };
        take().ok_or_else(|| self.invalid(block.offset, "the names are invalid"))
    }

    /// Returns the changes of one type.
    pub(in crate::recording) fn log(&self, resource: &ApiResource) -> Result<Option<TypeLog>, FileError> {
        let Some(of_type) = self.of_type(resource) else { return Ok(None) };
        let mut log = TypeLog::default();
        // Reserved exactly: a buffer that grows would take up to twice the memory. A false number reserves little.
        let objects = (of_type.objects as usize).min(of_type.names.len() * GROUP);
        log.names.reserve(objects);
        log.ends.reserve_exact(objects);
        log.entries.reserve_exact((of_type.entries as usize).min(of_type.columns.len() * MAX_CHUNK));
        for block in &of_type.names {
            self.take_names(block, &mut log)?;
        }
        if log.names.len() != of_type.objects as usize {
            return Err(self.invalid(0, "the names are incomplete"));
        }
        self.take_columns(of_type, 0..of_type.entries as usize, true, &mut log)?;
        Ok(Some(log))
    }

    /// Returns the changes of an object and of those before it in the same blocks, or `None` if there are none of the
    /// object. Without rows, the places of rows are not set.
    pub(in crate::recording) fn log_of(
        &self,
        resource: &ApiResource,
        key: &str,
        with_rows: bool,
    ) -> Result<Option<TypeLog>, FileError> {
        let Some(of_type) = self.of_type(resource) else { return Ok(None) };
        for group in self.groups_of(of_type, key)? {
            let Some(block) = of_type.names.get(group) else { break };
            let mut log = TypeLog::default();
            self.take_names(block, &mut log)?;
            let Some(object) = log.find(key) else { continue };
            // Whole texts refer to the previous ones of their block, with their names.
            let range = log.range(object);
            let (first, end) = (block.first as usize + range.start, block.first as usize + range.end);
            let start_of = |blocks: &[BlockRef]| {
                blocks.iter().map(|block| block.first as usize).rfind(|start| *start <= first)
            };
            let of_rows = if with_rows { start_of(&of_type.rows) } else { None };
            let starts = [start_of(&of_type.bodies), of_rows];
            let start = starts.into_iter().flatten().min().unwrap_or_default();
            let from =
                of_type.names[..=group].iter().rposition(|names| names.first as usize <= start).unwrap_or(0);
            let mut object = object;
            if from < group {
                log = TypeLog::default();
                for block in &of_type.names[from..group] {
                    self.take_names(block, &mut log)?;
                }
                object += log.names.len();
                self.take_names(block, &mut log)?;
            }
            log.truncate(object + 1);
            self.take_columns(of_type, of_type.names[from].first as usize..end, with_rows, &mut log)?;
            return Ok(Some(log));
        }
        Ok(None)
    }

    /// Reads the columns of the entries in a range, to which the names in `log` belong.
    fn take_columns(
        &self,
        of_type: &TypeFooter,
        range: std::ops::Range<usize>,
        with_rows: bool,
        log: &mut TypeLog,
    ) -> Result<(), FileError> {
        if u32::try_from(range.end).is_err() {
            return Err(self.invalid(0, "an object has too many entries"));
        }
        let ends = of_type.columns.iter().skip(1).map(|next| next.first as usize).chain([range.end]);
        for (block, end) in of_type.columns.iter().zip(ends) {
            let start = block.first as usize;
            let end = end.min(range.end).saturating_sub(start);
            let wanted = range.start.saturating_sub(start)..end;
            if wanted.is_empty() {
                continue;
            }
            let payload = self.block(COLUMNS, block)?;
            let taken = take_entries(&mut Cursor::new(&payload), wanted, with_rows, &mut log.entries);
            taken.ok_or_else(|| self.invalid(block.offset, "the columns are invalid"))?;
        }
        let authors = self.footer().tables.authors.len();
        let is_valid = |entry: &LogEntry| {
            u64::from(entry.index) < self.header().count && entry.author as usize <= authors
        };
        let last = log.ends.last().copied().unwrap_or_default() as usize;
        if log.entries.len() != range.len() || last != range.len() || !log.entries.iter().all(is_valid) {
            return Err(self.invalid(0, "names and columns disagree"));
        }
        place(&mut log.entries, range.start, &of_type.bodies, |entry| &mut entry.body);
        if with_rows {
            place(&mut log.entries, range.start, &of_type.rows, |entry| &mut entry.row);
        }
        Ok(())
    }

    /// Returns a block of payloads of a type.
    pub(in crate::recording) fn payload(
        &self,
        resource: &ApiResource,
        payload: Payload,
        number: u32,
    ) -> Result<Vec<u8>, FileError> {
        let blocks = self.of_type(resource).map(|of_type| match payload {
            Payload::Bodies => (BODIES, &of_type.bodies),
            Payload::Rows => (ROWS, &of_type.rows),
        });
        match blocks.and_then(|(tag, blocks)| Some((tag, blocks.get(number as usize)?))) {
            Some((tag, block)) => self.block(tag, block),
            None => Err(self.invalid(0, "a block is missing")),
        }
    }

    /// Returns the position of a block of payloads, for the report of its damage.
    pub(in crate::recording) fn payload_offset(
        &self,
        resource: &ApiResource,
        payload: Payload,
        number: u32,
    ) -> u64 {
        let of_type = self.of_type(resource);
        let blocks = of_type.map(|of_type| match payload {
            Payload::Bodies => &of_type.bodies,
            Payload::Rows => &of_type.rows,
        });
        blocks.and_then(|blocks| blocks.get(number as usize)).map_or(0, |block| block.offset)
    }

    /// Returns the items that are not changes, with their numbers in the segment. The bodies of documents are read on
    /// request only.
    pub(in crate::recording) fn items(
        &self,
        context: &Arc<str>,
        with_documents: bool,
    ) -> Result<Vec<(u32, Item)>, FileError> {
        let timeline = self.timeline()?;
        let time = |index: u32| Timestamp::from_millisecond(*timeline.received.get(index as usize)?).ok();
        let mut items = self.items_at(context, time)?;
        let mut documents = self.footer().documents.iter();
        for (_, item) in &mut items {
            if let Item::Document { body, .. } = item {
                let block = documents.next().ok_or_else(|| self.invalid(0, "a document is missing"))?;
                if with_documents {
                    *body = Bytes::from(self.block(DOCUMENT, block)?);
                }
            }
        }
        Ok(items)
    }

    /// Returns the items that are not changes, with their numbers in the segment, without times and the bodies of documents.
    pub(in crate::recording) fn items_without_times(
        &self,
        context: &Arc<str>,
    ) -> Result<Vec<(u32, Item)>, FileError> {
        let count = self.header().count;
        self.items_at(context, |index| (u64::from(index) < count).then_some(Timestamp::UNIX_EPOCH))
    }

    /// Returns the items that are not changes. `time` returns the time of an entry, `None` for one that does not exist.
    fn items_at(
        &self,
        context: &Arc<str>,
        time: impl Fn(u32) -> Option<Timestamp>,
    ) -> Result<Vec<(u32, Item)>, FileError> {
        let mut items = Vec::new();
        for block in &self.footer().items {
            let payload = self.block(ITEMS, block)?;
            let mut cursor = Cursor::new(&payload);
            let mut take = || {
                for _ in 0..cursor.take_number()? {
                    let index = take_u32(&mut cursor)?;
                    let received = time(index)?;
                    items.push((index, take_item(&mut cursor, &self.footer().tables, context, received)?));
                }
                Some(())
            };
            take().ok_or_else(|| self.invalid(block.offset, "an item is invalid"))?;
        }
        Ok(items)
    }
}

/// Sets the places of payloads, which follow each other within the blocks of their entries. The places in a block
/// that begins before the first entry are wrong.
fn place(
    entries: &mut [LogEntry],
    first: usize,
    blocks: &[BlockRef],
    of: impl Fn(&mut LogEntry) -> &mut Place,
) {
    let mut block = 0;
    let mut at = 0u32;
    for (number, entry) in (u32::try_from(first).unwrap_or(u32::MAX)..).zip(entries) {
        while blocks.get(block as usize + 1).is_some_and(|next| next.first <= number) {
            block += 1;
            at = 0;
        }
        let place = of(entry);
        (place.block, place.at) = (block, at);
        at = at.saturating_add(place.len);
    }
}
