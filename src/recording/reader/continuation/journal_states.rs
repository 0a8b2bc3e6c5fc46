//! Applies the changes of a journal to the states before it, a part of the journal at a time.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;

use super::parts::{Continued, ContinuedEnd, Step, change_step};
use crate::lines::ChangeKind;
use crate::object::{ApiResource, Ingest, Object};
use crate::recording::entry::{Author, Item};
use crate::recording::files::FileError;
use crate::recording::flags::Flags;
use crate::recording::frame::{FrameContext, read_frame};
use crate::recording::journal::{DecodedChunk, JournalChunks, JournalObject, RawChange, RawItem, Span};
use crate::recording::last_state::{LastState, RowTemplate, with_row};
use crate::recording::payload::{Identity, ingest, split_row, split_version};
use crate::recording::reader::catalog::Catalog;
use crate::recording::tables::Tables;

/// A change in a part of a journal.
#[derive(Clone, Copy)]
struct TimedChange {
    /// In Unix milliseconds.
    received: i64,
    version: u64,
    change: RawChange,
}

/// The error of a change that can't be decoded, although its checksum is valid.
struct InvalidChange;

/// A part of a journal, and what is known of the journal up to its end.
struct Part<'a> {
    text: &'a [u8],
    tables: &'a Tables,
    /// The time as of which the ages in rows are rendered.
    now: Timestamp,
}

/// Passes the entries of a journal, and the states after them, to `end`, which has received the states before them.
pub(super) fn apply_journal(
    catalog: &Catalog,
    path: &Path,
    time: Option<Timestamp>,
    end: &mut dyn ContinuedEnd,
) -> Result<(), FileError> {
    let invalid = || FileError::Damaged(path.to_owned(), 0, "a part can't be decoded".to_owned());
    let mut chunks = JournalChunks::open(path.to_owned(), catalog.cipher.as_ref())?;
    let mut objects: Vec<JournalObject> = Vec::new();
    let mut properties: HashMap<u32, Ingest> = HashMap::new();
    while let Some(chunk) = chunks.next_joined()? {
        let DecodedChunk { bytes, entries, objects: defined } = chunk;
        objects.extend(defined);
        let part = Part { text: &bytes, tables: chunks.tables(), now: time.unwrap_or(Timestamp::UNIX_EPOCH) };
        let mut changes: Vec<TimedChange> = Vec::with_capacity(entries.len());
        let mut highest = 0;
        for entry in entries {
            highest = highest.max(entry.version);
            match entry.item {
                RawItem::Change(change) => {
                    let JournalObject { resource, key, namespace_len, .. } = &objects[change.object as usize];
                    let resource = &part.tables.resources[*resource as usize];
                    let step = change_step(resource, (key, *namespace_len), change.flags, entry.version);
                    end.receive(Continued::Step(step));
                    changes.push(TimedChange { received: entry.received, version: entry.version, change });
                }
                RawItem::Other(item) => end.receive(match *item {
                    Item::Document { path, body } => Continued::Document(path, body),
                    item => Continued::Step(Step::Item(item)),
                }),
            }
        }
        end.receive(Continued::Version(highest));
        // The changes of an object follow each other, in the order of time.
        changes.sort_by_key(|change| change.change.object);
        for same in changes.chunk_by(|one, next| one.change.object == next.change.object) {
            let object = &objects[same[0].change.object as usize];
            let resource = &part.tables.resources[object.resource as usize];
            let ingest = properties.entry(object.resource).or_insert_with(|| ingest(resource.type_meta()));
            match part.apply(object, same, ingest, &*end).map_err(|InvalidChange| invalid())? {
                Some(state) => end.receive(Continued::State(Arc::clone(resource), state)),
                None => end.receive(Continued::Deleted(Arc::clone(resource), Arc::clone(&object.key))),
            }
        }
    }
    if chunks.is_broken() { Err(invalid()) } else { Ok(()) }
}

impl Part<'_> {
    /// Returns the state of an object after its changes in this part, or `None` if it is deleted.
    fn apply(
        &self,
        object: &JournalObject,
        changes: &[TimedChange],
        ingest: &Ingest,
        end: &dyn ContinuedEnd,
    ) -> Result<Option<LastState>, InvalidChange> {
        let is_deletion = |change: &TimedChange| change.change.flags.kind() == ChangeKind::Deleted;
        let deleted = changes.iter().rposition(is_deletion);
        let changes = &changes[deleted.map_or(0, |last| last + 1)..];
        let Some(last) = changes.last() else { return Ok(None) };
        let resource: &ApiResource = &self.tables.resources[object.resource as usize];
        let before = if deleted.is_none() { end.state(resource, &object.key) } else { None };
        let row = self.row(changes, before.as_ref())?;
        let (text, own_version) = self.text(changes, before.as_ref()).ok_or(InvalidChange)?;
        let identity = Identity {
            key: &object.key,
            namespace_len: object.namespace_len,
            version: last.version,
            own_version: own_version.as_deref(),
        };
        let object = identity.object(text, ingest).ok_or(InvalidChange)?;
        let object = self.with_author(object, last.change.author);
        let object = with_row(object, row.as_ref(), self.now).ok_or(InvalidChange)?;
        Ok(Some(LastState { object: Arc::new(object), version: last.version, row }))
    }

    /// Returns the row after changes.
    fn row(
        &self,
        changes: &[TimedChange],
        before: Option<&LastState>,
    ) -> Result<Option<RowTemplate>, InvalidChange> {
        let changes_row = |change: &&TimedChange| {
            let flags = change.change.flags;
            flags.has(Flags::NEW_ROW) || flags.has(Flags::NO_ROW)
        };
        match changes.iter().rfind(changes_row) {
            None => Ok(before.and_then(|before| before.row.clone())),
            Some(TimedChange { change, .. }) if change.flags.has(Flags::NEW_ROW) => {
                let payload = self.payload(change.row).ok_or(InvalidChange)?;
                let (columns, template) = split_row(payload, &self.tables.columns).ok_or(InvalidChange)?;
                Ok(Some((Arc::clone(columns), template.into())))
            }
            Some(_) => Ok(None),
        }
    }

    /// Returns the text after changes, and the object's own version if it differs from the one in the columns.
    fn text(&self, changes: &[TimedChange], before: Option<&LastState>) -> Option<(Vec<u8>, Option<String>)> {
        let whole = changes.iter().rposition(|change| change.change.flags.has(Flags::WHOLE));
        let before = if whole.is_none() { before } else { None };
        let (mut text, mut version) =
            before.map_or((Vec::new(), 0), |before| (before.object.json().into_owned(), before.version));
        let (mut next, mut own_version) = (Vec::new(), None);
        for change in &changes[whole.unwrap_or(0)..] {
            let TimedChange { received, change: RawChange { flags, body, .. }, .. } = change;
            let (own, frame) = split_version(self.payload(*body)?, *flags)?;
            own_version = own.map(str::to_owned);
            next.clear();
            if flags.has(Flags::WHOLE) {
                next.extend_from_slice(frame);
            } else {
                let context = FrameContext::new(change.version, *received);
                read_frame(frame, &text, version, &context, &mut next)?;
            }
            std::mem::swap(&mut text, &mut next);
            version = change.version;
        }
        Some((text, own_version))
    }

    fn with_author(&self, object: Object, number: u32) -> Object {
        let author = number.checked_sub(1).and_then(|number| self.tables.authors.get(number as usize));
        match author {
            Some(Author { manager, subresource }) => object.with_author(manager, subresource),
            None => object,
        }
    }

    fn payload(&self, Span { at, len }: Span) -> Option<&[u8]> {
        self.text.get(at as usize..)?.get(..len as usize)
    }
}
