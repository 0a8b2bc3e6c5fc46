//! Writes a keyframe.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::Arc;

use super::base::{BaseStates, numbers_in};
use super::objects::ROW_OF_BASE;
use super::read::Keyframe;
use crate::object::{ApiResource, Column, Object};
use crate::recording::bytes::{put_number, put_signed, put_text};
use crate::recording::document::Document;
use crate::recording::encryption::FileCipher;
use crate::recording::files::{Header, Kind};
use crate::recording::frame::FrameContext;
use crate::recording::journal::{put_optional, put_version};
use crate::recording::last_state::CurrentState;
use crate::recording::names::{GROUP, Names};
use crate::recording::payload::split_row;
use crate::recording::position::Position;
use crate::recording::segment::{
    BODIES, Compressed, DOCUMENT, FILTERS, FileWriter, Footer, ITEMS, KEYFRAME_FOOTER, NAMES, ROWS,
    TypeFooter, WholeTextWriter, stem_hash,
};
use crate::recording::tables::Tables;

/// The number of objects, and the length of their frames, at which a group ends.
const GROUP_BYTES: usize = 256 << 10;

/// The complete state before an entry. It shares the objects with the writer, so that taking it is cheap.
#[derive(Debug)]
pub(in crate::recording) struct Snapshot {
    pub(in crate::recording) context: String,
    /// The number of the first entry after the state.
    pub(in crate::recording) next: u64,
    /// The time of the last entry before it, in Unix milliseconds.
    pub(in crate::recording) time: i64,
    pub(in crate::recording) max_version: u64,
    pub(in crate::recording) types: Vec<(Arc<ApiResource>, Vec<CurrentState>)>,
    /// The columns of the rows.
    pub(in crate::recording) columns: Vec<Arc<[Column]>>,
    pub(in crate::recording) documents: BTreeMap<Arc<str>, Document>,
    pub(in crate::recording) positions: Vec<Position>,
}

/// Writes the keyframe of a snapshot to a file, and returns its length. States that the base has too are written as their
/// difference from it.
pub(in crate::recording) fn write(
    snapshot: Snapshot,
    base: Option<&Keyframe>,
    path: &Path,
    cipher: Option<FileCipher>,
) -> io::Result<u64> {
    let header = Header {
        context: snapshot.context.clone(),
        first: snapshot.next,
        count: snapshot.types.iter().map(|(_, objects)| objects.len() as u64).sum(),
        first_time: snapshot.time,
        last_time: snapshot.time,
        time_before: snapshot.time,
        first_gap: i64::MAX,
        min_version: 0,
        max_version: snapshot.max_version,
        base: base.map(|base| base.header().first),
    };
    let mut file = FileWriter::create(path, Kind::Keyframe, &header, cipher)?;
    let mut footer = Footer::default();
    footer.tables.resources.extend(snapshot.types.iter().map(|(resource, _)| Arc::clone(resource)));
    let Snapshot { positions, documents, types, columns, time, .. } = snapshot;
    for position in &positions {
        if footer.tables.resource(&position.resource).is_none() {
            footer.tables.resources.push(Arc::clone(&position.resource));
        }
    }
    let mut payload = Vec::new();
    put_positions(&positions, &footer.tables, &mut payload);
    put_number(&mut payload, documents.len() as u64);
    for path in documents.keys() {
        put_text(&mut payload, path.as_bytes());
    }
    footer.items.push(file.block(ITEMS, &payload, 0));
    for document in documents.values() {
        footer.documents.push(file.block(DOCUMENT, &document.body()?, 0));
    }
    for (resource, (of_type, mut objects)) in types.into_iter().enumerate() {
        let likeness = |object: &Object| match object.workload() {
            0 => stem_hash(object.key()),
            workload => workload,
        };
        objects.sort_by_cached_key(|known| (likeness(&known.object), Arc::clone(known.object.key())));
        // Without those of the base, all states are whole.
        let of_base = base.and_then(|base| base.objects(&of_type).ok()).unwrap_or_default();
        let mut states = base.and_then(|base| BaseStates::of(base, &of_type, &of_base));
        let numbers = numbers_in(&of_base, &objects);
        let mut groups = Groups::new(time, &columns, base.is_some());
        let count = objects.len();
        for (known, number) in objects.into_iter().zip(numbers) {
            groups.add(&known, states.as_mut().zip(number), &mut footer.tables);
        }
        let of_type =
            TypeFooter { resource, objects: number(count), entries: number(count), ..TypeFooter::default() };
        footer.types.push(groups.finish(of_type, &mut file));
    }
    file.finish(KEYFRAME_FOOTER, &footer)
}

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// A watch whose state ends with a deletion has two positions: the version of the state, and the one to continue from.
fn put_positions(positions: &[Position], tables: &Tables, out: &mut Vec<u8>) {
    let versions = |position: &Position| {
        let state_version = position.may_lack_deletions().then(|| position.state_version.clone());
        state_version.into_iter().chain([position.version.clone()])
    };
    put_number(out, positions.iter().flat_map(versions).count() as u64);
    for position in positions {
        for version in versions(position) {
            put_number(out, tables.resource(&position.resource).unwrap_or_default() as u64);
            put_text(out, position.namespace.as_bytes());
            put_optional(out, position.name.as_deref());
            put_version(out, &version);
        }
    }
}

/// The blocks of complete groups of objects of one type.
#[derive(Default)]
struct Blocks {
    names: Vec<Compressed>,
    bodies: Vec<Compressed>,
    rows: Vec<Compressed>,
    /// The filters of all groups.
    filters: Vec<u8>,
}

/// A group of objects that is being written.
#[derive(Default)]
struct Group {
    names: Names,
    bodies: Vec<u8>,
    rows: Vec<u8>,
    columns: Vec<Columns>,
}

/// The columns of an object.
struct Columns {
    version: u64,
    /// The length of the body times 2, plus 1 if it begins with the object's own version.
    body: u64,
    /// The length of the row plus 1, [`ROW_OF_BASE`], or 0 without a row.
    row: u64,
    /// The number, plus 1, of the object of the base against which the body is encoded, or 0.
    base: u64,
}

/// The objects of one type, cut into groups.
struct Groups<'a> {
    /// The time of the keyframe, in Unix milliseconds.
    time: i64,
    /// The columns of the rows.
    columns: &'a [Arc<[Column]>],
    has_base: bool,
    blocks: Blocks,
    group: Group,
    /// The number of the group's first object.
    first: usize,
    whole_texts: WholeTextWriter,
}

impl<'a> Groups<'a> {
    fn new(time: i64, columns: &'a [Arc<[Column]>], has_base: bool) -> Self {
        let (blocks, group, whole_texts) = Default::default();
        Self { time, columns, has_base, blocks, group, first: 0, whole_texts }
    }

    /// Adds an object. `base` has the states of the base and the number of the object there, if it is there.
    fn add(&mut self, known: &CurrentState, base: Option<(&mut BaseStates<'_>, usize)>, tables: &mut Tables) {
        if self.group.columns.len() == GROUP || self.group.bodies.len() >= GROUP_BYTES {
            self.end_group();
            self.whole_texts.clear();
        }
        let (object, group) = (&known.object, &mut self.group);
        let namespace_len = u16::try_from(object.namespace().len()).unwrap_or(u16::MAX);
        group.names.push(object.key(), namespace_len);
        let before = group.bodies.len();
        let own = object.resource_version().to_string();
        let has_own = own != known.version.to_string();
        if has_own {
            put_text(&mut group.bodies, own.as_bytes());
        }
        let (text, context) = (object.json(), FrameContext::new(known.version, self.time));
        let row = known.row.as_ref().and_then(|row| split_row(row, self.columns));
        let of_base = base.and_then(|(states, number)| states.read(number, row).map(|state| (number, state)));
        match &of_base {
            Some((_, state)) => {
                let base = (state.text, state.version);
                self.whole_texts.write_against(&text, base, context, &mut group.bodies);
            }
            None => self.whole_texts.write(&text, object.key(), context, &mut group.bodies),
        }
        let body = (group.bodies.len() - before) as u64 * 2 + u64::from(has_own);
        let before = group.rows.len();
        let row = match row {
            Some(_) if of_base.as_ref().is_some_and(|(_, state)| state.has_same_row) => ROW_OF_BASE.into(),
            Some((columns, template)) => {
                put_number(&mut group.rows, tables.add_columns(columns).0 as u64);
                group.rows.extend_from_slice(template);
                (group.rows.len() - before) as u64 + 1
            }
            None => 0,
        };
        let base = of_base.map_or(0, |(number, _)| number as u64 + 1);
        group.columns.push(Columns { version: known.version, body, row, base });
    }

    fn end_group(&mut self) {
        let Group { names, bodies, rows, columns } = std::mem::take(&mut self.group);
        let mut payload = Vec::new();
        put_number(&mut payload, columns.len() as u64);
        names.put(0..columns.len(), &mut payload);
        let mut previous = 0;
        for object in &columns {
            put_signed(&mut payload, object.version.wrapping_sub(previous).cast_signed());
            previous = object.version;
        }
        for object in &columns {
            put_number(&mut payload, object.body);
        }
        for object in &columns {
            put_number(&mut payload, object.row);
        }
        let mut last = 0;
        for object in columns.iter().filter(|_| self.has_base) {
            put_number(&mut payload, object.base.saturating_sub(last));
            last = last.max(object.base);
        }
        names.put_filter(0..columns.len(), &mut self.blocks.filters);
        self.blocks.names.push(Compressed::new(NAMES, &payload, self.first));
        self.blocks.bodies.push(Compressed::new(BODIES, &bodies, self.first));
        self.blocks.rows.push(Compressed::new(ROWS, &rows, self.first));
        self.first += columns.len();
    }

    /// Writes the blocks in the order of the footer.
    fn finish(mut self, footer: TypeFooter, file: &mut FileWriter) -> TypeFooter {
        self.end_group();
        let Blocks { names, bodies, rows, filters } = self.blocks;
        let mut append =
            |blocks: Vec<Compressed>| blocks.into_iter().map(|block| file.append(&block)).collect();
        let names = append(names);
        let filters = append(vec![Compressed::new(FILTERS, &filters, 0)]);
        TypeFooter { names, filters, bodies: append(bodies), rows: append(rows), ..footer }
    }
}
