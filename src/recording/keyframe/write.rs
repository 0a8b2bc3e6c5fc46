//! Writes a keyframe.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;

use crate::object::{ApiResource, Object};
use crate::recording::bytes::{put_number, put_signed, put_text};
use crate::recording::encryption::FileCipher;
use crate::recording::files::{Header, Kind};
use crate::recording::frame::FrameContext;
use crate::recording::journal::{put_optional, put_version};
use crate::recording::last_state::LastState;
use crate::recording::names::{GROUP, Names};
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
    pub(in crate::recording) types: Vec<(Arc<ApiResource>, Vec<LastState>)>,
    pub(in crate::recording) documents: BTreeMap<Arc<str>, Bytes>,
    pub(in crate::recording) positions: Vec<Position>,
}

/// Writes the keyframe of a snapshot to a file, and returns its length.
pub(in crate::recording) fn write(
    snapshot: Snapshot,
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
    };
    let mut file = FileWriter::create(path, Kind::Keyframe, &header, cipher)?;
    let mut footer = Footer::default();
    footer.tables.resources.extend(snapshot.types.iter().map(|(resource, _)| Arc::clone(resource)));
    let Snapshot { positions, documents, types, time, .. } = snapshot;
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
    for body in documents.values() {
        footer.documents.push(file.block(DOCUMENT, body, 0));
    }
    for (resource, (_, mut objects)) in types.into_iter().enumerate() {
        let likeness = |object: &Object| match object.workload() {
            0 => stem_hash(object.key()),
            workload => workload,
        };
        objects.sort_by_cached_key(|known| (likeness(&known.object), Arc::clone(known.object.key())));
        let of_type = write_type(resource, &objects, time, &mut footer.tables, &mut file);
        footer.types.push(of_type);
    }
    file.finish(KEYFRAME_FOOTER, &footer)
}

fn put_positions(positions: &[Position], tables: &Tables, out: &mut Vec<u8>) {
    put_number(out, positions.len() as u64);
    for Position { resource, namespace, name, version } in positions {
        put_number(out, tables.resource(resource).unwrap_or_default() as u64);
        put_text(out, namespace.as_bytes());
        put_optional(out, name.as_deref());
        put_version(out, version);
    }
}

/// A complete group of objects.
struct Done {
    first: usize,
    columns: Vec<(u64, u64, u64)>,
    bodies: Compressed,
    rows: Compressed,
}

/// A group of objects that is being written.
#[derive(Default)]
struct Group {
    bodies: Vec<u8>,
    rows: Vec<u8>,
    /// For each object: its version; the length of the body, and whether the body begins with the object's own
    /// version; and the length of the row plus 1, or 0 without a row.
    columns: Vec<(u64, u64, u64)>,
}

impl Group {
    fn finish(self, next: usize) -> Done {
        let first = next - self.columns.len();
        let bodies = Compressed::new(BODIES, &self.bodies, first);
        Done { first, columns: self.columns, bodies, rows: Compressed::new(ROWS, &self.rows, first) }
    }
}

fn write_type(
    resource: usize,
    objects: &[LastState],
    received: i64,
    tables: &mut Tables,
    file: &mut FileWriter,
) -> TypeFooter {
    let mut names = Names::default();
    let mut groups = Vec::new();
    let mut group = Group::default();
    let mut whole_texts = WholeTextWriter::default();
    for (at, known) in objects.iter().enumerate() {
        if group.columns.len() == GROUP || group.bodies.len() >= GROUP_BYTES {
            groups.push(std::mem::take(&mut group).finish(at));
            whole_texts.clear();
        }
        let object = &known.object;
        let namespace_len = u16::try_from(object.namespace().len()).unwrap_or(u16::MAX);
        names.push(object.key(), namespace_len);
        let before = group.bodies.len();
        let own = object.resource_version().to_string();
        let has_own = own != known.version.to_string();
        if has_own {
            put_text(&mut group.bodies, own.as_bytes());
        }
        let context = FrameContext::new(known.version, received);
        whole_texts.write(&object.json(), object.key(), context, &mut group.bodies);
        let body = (group.bodies.len() - before) as u64 * 2 + u64::from(has_own);
        let before = group.rows.len();
        if let Some((columns, template)) = &known.row {
            put_number(&mut group.rows, tables.add_columns(columns).0 as u64);
            group.rows.extend_from_slice(template);
        }
        let row = known.row.as_ref().map_or(0, |_| (group.rows.len() - before) as u64 + 1);
        group.columns.push((known.version, body, row));
    }
    groups.push(group.finish(objects.len()));
    write_groups(resource, &names, groups, file)
}

/// Writes the blocks in the order of the footer.
fn write_groups(resource: usize, names: &Names, groups: Vec<Done>, file: &mut FileWriter) -> TypeFooter {
    let objects = u32::try_from(names.len()).unwrap_or(u32::MAX);
    let mut footer = TypeFooter { resource, objects, entries: objects, ..TypeFooter::default() };
    let mut filters = Vec::new();
    for group in &groups {
        let range = group.first..group.first + group.columns.len();
        let mut payload = Vec::new();
        put_number(&mut payload, range.len() as u64);
        names.put(range.clone(), &mut payload);
        let mut previous = 0;
        for (version, ..) in &group.columns {
            put_signed(&mut payload, version.wrapping_sub(previous).cast_signed());
            previous = *version;
        }
        group.columns.iter().for_each(|(_, body, _)| put_number(&mut payload, *body));
        group.columns.iter().for_each(|(.., row)| put_number(&mut payload, *row));
        footer.names.push(file.block(NAMES, &payload, group.first));
        names.put_filter(range, &mut filters);
    }
    footer.filters.push(file.block(FILTERS, &filters, 0));
    let mut rows = Vec::with_capacity(groups.len());
    for group in groups {
        footer.bodies.push(file.append(&group.bodies));
        rows.push(group.rows);
    }
    footer.rows.extend(rows.into_iter().map(|block| file.append(&block)));
    footer
}
