//! Reads the states of objects against which later changes are encoded.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use jiff::Timestamp;

use super::catalog::time_of;
use super::chains::{Chains, SegmentLog, identity};
use super::segment_file::{PayloadBytes, Segment};
use super::state_files::StateFiles;
use super::texts::Bodies;
use crate::lines::{Change, ChangeKind};
use crate::object::{ApiResource, Ingest, KnownValues, Object};
use crate::recording::entry::{Author, Entry, Item};
use crate::recording::files::FileError;
use crate::recording::flags::Flags;
use crate::recording::last_state::{LastState, RowTemplate, with_row};
use crate::recording::payload::{Identity, ingest, split_row};
use crate::recording::type_log::{LogEntry, Payload};

/// The length by which few updates make the text of an object longer, in bytes.
const USUAL_GROWTH: usize = 256;

/// Returns the states of the objects of a type that `wanted` accepts, by key, with or without their rows.
pub(in crate::recording) fn last_states(
    files: &StateFiles,
    resource: &ApiResource,
    wanted: impl Fn(&str) -> bool + Sync,
    with_rows: bool,
) -> Result<HashMap<Arc<str>, LastState>, FileError> {
    let chains = Chains::collect(files, resource, |key, _| wanted(key))?;
    last_states_of(&chains, files, resource, with_rows)
}

/// Returns the state of one object, with or without its row.
pub(super) fn last_state_of_object(
    files: &StateFiles,
    resource: &ApiResource,
    key: &str,
    with_rows: bool,
) -> Result<Option<LastState>, FileError> {
    let mut all = last_states_of(&Chains::of_object(files, resource, key)?, files, resource, with_rows)?;
    Ok(all.remove(key))
}

/// Passes the state of each object of a type to `receive`. The objects carry their rows, as those of a list do, and the author
/// of their last change if it is known. Few texts and rows are in memory at a time.
pub(super) fn each_state(
    files: &StateFiles,
    resource: &ApiResource,
    receive: &mut dyn FnMut(LastState),
) -> Result<(), FileError> {
    let chains = Chains::collect(files, resource, |_, _| true)?;
    let ingest = ingest(resource.type_meta());
    let now = files.time.unwrap_or(Timestamp::UNIX_EPOCH);
    for part in chains.parts() {
        let (start, rows) = (part.start, chains.templates_of(files, resource, part.clone())?);
        let make = |number: usize, own: Option<&str>, text: Vec<u8>| {
            let chain = &chains.objects[number];
            let row = rows[number - start].clone();
            let mut object = identity(chain, own).object(text, &ingest)?;
            if let Some(Author { manager, subresource }) = chains.author(files, number) {
                object = object.with_author(manager, subresource);
            }
            let object = with_row(object, row.as_ref(), now)?;
            Some(LastState { object: Arc::new(object), version: chain.version, row })
        };
        chains.decode_each(files, resource, part, &make, receive)?;
    }
    Ok(())
}

fn last_states_of(
    chains: &Chains,
    files: &StateFiles,
    resource: &ApiResource,
    with_rows: bool,
) -> Result<HashMap<Arc<str>, LastState>, FileError> {
    let rows = if with_rows { chains.templates(files, resource)? } else { Vec::new() };
    let now = files.time.unwrap_or(Timestamp::UNIX_EPOCH);
    let ingest = ingest(resource.type_meta());
    let all = chains.decode(files, resource, &|number, own, text| {
        let chain = &chains.objects[number];
        let row = rows.get(number).cloned().flatten();
        let object = with_row(identity(chain, own).object(text, &ingest)?, row.as_ref(), now)?;
        let last = LastState { object: Arc::new(object), version: chain.version, row };
        Some((Arc::clone(&chain.key), last))
    })?;
    Ok(all.into_iter().collect())
}

/// Turns the changes of one type and segment into entries.
pub(super) struct ChangeReader<'a> {
    context: &'a Arc<str>,
    segment: &'a Segment,
    resource: &'a Arc<ApiResource>,
    log: &'a SegmentLog,
    ingest: Ingest,
    bodies: Bodies<'a>,
    rows: Option<(u32, PayloadBytes<'a>)>,
    /// The last state that was read, and the values that are known of it. Consecutive changes are often those of one object.
    known: Option<(Arc<Object>, KnownValues)>,
    /// Whether the objects and states have rows.
    has_rows: bool,
}

impl<'a> ChangeReader<'a> {
    pub(super) fn new(
        context: &'a Arc<str>,
        segment: &'a Segment,
        resource: &'a Arc<ApiResource>,
        log: &'a SegmentLog,
    ) -> Self {
        Self {
            context,
            segment,
            resource,
            log,
            ingest: ingest(resource.type_meta()),
            bodies: Bodies::new(segment, resource, log),
            rows: None,
            known: None,
            has_rows: true,
        }
    }

    /// Selects whether the objects and states have rows.
    pub(super) fn with_rows(self, has_rows: bool) -> Self {
        Self { has_rows, ..self }
    }

    /// Reads a change of an object. `last` is its state before the change, and becomes the one after it.
    pub(super) fn read(
        &mut self,
        object: usize,
        number: u32,
        last: &mut Option<LastState>,
    ) -> Result<Entry, FileError> {
        let entry = self.log.log.entries[number as usize];
        let base = last.as_ref().filter(|_| !entry.flags.has(Flags::WHOLE));
        if base.is_none() && !entry.flags.has(Flags::WHOLE) {
            return Err(self.bodies.invalid(number, "the previous state is missing"));
        }
        let (base, base_version) =
            base.map_or((Cow::Borrowed(&[][..]), 0), |base| (base.object.json(), base.version));
        let mut text = Vec::with_capacity(base.len() + USUAL_GROWTH);
        let own = self.bodies.decode(number, &base, base_version, &mut text)?;
        let (key, namespace_len) = self.log.log.names.get(object);
        let context = self.bodies.context(&entry);
        let context = context.ok_or_else(|| self.bodies.invalid(number, "its time is missing"))?;
        let identity = Identity { key, namespace_len, version: context.version, own_version: own.as_deref() };
        let received = time_of(context.received);
        let row = if self.has_rows { self.row(number, last.as_ref())? } else { None };
        let is_known =
            |known: &Arc<Object>| last.as_ref().is_some_and(|last| Arc::ptr_eq(&last.object, known));
        let known = self.known.take().filter(|(object, _)| is_known(object));
        let mut values = known.map(|(_, values)| values).unwrap_or_default();
        let object = identity.next_object(text, &base, &mut values, &self.ingest);
        let object = object.and_then(|object| with_row(object, row.as_ref(), received));
        let object = object.ok_or_else(|| self.bodies.invalid(number, "a text is not that of its object"))?;
        let object = Arc::new(object);
        self.known = Some((Arc::clone(&object), values));
        let kind = entry.flags.kind();
        let old = last.take().filter(|_| kind != ChangeKind::Added).map(|last| last.object);
        if kind != ChangeKind::Deleted {
            *last = Some(LastState { object: Arc::clone(&object), version: context.version, row });
        }
        Ok(self.entry(&entry, object, old, received))
    }

    /// Returns a change of an object of which only the names and the version are read.
    pub(super) fn without_body(&self, object: usize, number: u32) -> Entry {
        let entry = self.log.log.entries[number as usize];
        let (key, namespace_len) = self.log.log.names.get(object);
        let (received, version) = self.log.times.of(entry.index).unwrap_or_default();
        let identity = Identity { key, namespace_len, version, own_version: None };
        self.entry(&entry, Arc::new(identity.named(&self.ingest.type_meta)), None, time_of(received))
    }

    fn entry(
        &self,
        entry: &LogEntry,
        object: Arc<Object>,
        old: Option<Arc<Object>>,
        received: Timestamp,
    ) -> Entry {
        let change = Change {
            kind: entry.flags.kind(),
            object,
            old,
            origin: entry.flags.origin(),
            final_state_unknown: entry.flags.has(Flags::FINAL_STATE_UNKNOWN),
            resource: Arc::clone(self.resource),
            context: Arc::clone(self.context),
            received,
        };
        let number = self.segment.header().first + u64::from(entry.index);
        Entry { number, received, item: Item::Change { change, author: self.author(entry.author) } }
    }

    fn author(&self, number: u32) -> Option<Author> {
        self.segment.tables().authors.get(usize::try_from(number).ok()?.checked_sub(1)?).cloned()
    }

    fn row(&mut self, number: u32, last: Option<&LastState>) -> Result<Option<RowTemplate>, FileError> {
        let entry = self.log.log.entries[number as usize];
        if entry.flags.has(Flags::NO_ROW) {
            return Ok(None);
        }
        if !entry.flags.has(Flags::NEW_ROW) {
            return Ok(last.and_then(|last| last.row.clone()));
        }
        let place = entry.row;
        if self.rows.as_ref().is_none_or(|(block, _)| *block != place.block) {
            self.rows = Some((place.block, self.segment.payload(self.resource, Payload::Rows, place.block)?));
        }
        let payload = self.rows.as_ref().and_then(|(_, bytes)| place.of(bytes));
        let split = payload.and_then(|payload| split_row(payload, &self.segment.tables().columns));
        match split {
            Some((columns, template)) => Ok(Some((Arc::clone(columns), template.into()))),
            None => {
                Err(self.segment.invalid(self.resource, Payload::Rows, place.block, "a row can't be decoded"))
            }
        }
    }
}
