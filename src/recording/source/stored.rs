//! Recorded objects in the form that the server stores.

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::object::{Column, Object, Row};
use crate::recording::reader::TemplateRow;
use crate::recording::reader::parallel::map_many;
use crate::recording::row_template::write_row;
use crate::server::representations::columns::Columns;
use crate::server::source::{CellWriter, Kind, StoredCells, StoredColumns, StoredObject, StoredRow, head};

/// The rows of tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rows {
    /// The recorded ones, with the ages of the moment that was read.
    Recorded,
    /// Computed from the objects when they are requested.
    Computed,
}

/// Returns the stored form of objects. They get their recorded rows, if requested and if all have one with the same
/// columns: a table has one set of columns, so that otherwise all rows are computed.
pub(super) fn stored(kind: &Kind, objects: Vec<Arc<Object>>, rows: Rows) -> Vec<Arc<StoredObject>> {
    match rows {
        Rows::Recorded => with_rows(kind, objects.into_iter().map(|object| (object, None)).collect(), true),
        Rows::Computed => without_rows(kind, objects),
    }
}

/// Returns objects of which only their names, versions and rows were read, with ages as of a time. `None` if the rows have
/// different columns, which can't share a table.
pub(super) fn rows_only(
    kind: &Kind,
    rows: Vec<TemplateRow>,
    now: Timestamp,
) -> Option<Vec<Arc<StoredObject>>> {
    let Some(columns) = shared_columns(rows.iter().map(|row| Some(&row.columns))) else {
        return rows.is_empty().then(Vec::new);
    };
    let columns = Arc::new(stored_columns(kind, &columns));
    let writer: Arc<dyn CellWriter> = Arc::new(TemplateWriter { now });
    let stored = |row: TemplateRow| {
        let identity = row.identity();
        let names = [identity.namespace().into(), identity.name().into(), Box::default()];
        let mut stored = StoredObject::of_text(names, "", identity.version, Vec::new(), 0);
        let cells = StoredCells::Bytes(row.template, Arc::clone(&writer));
        stored.row = Some(StoredRow::new(&columns, cells));
        Arc::new(stored)
    };
    Some(map_many(rows, stored))
}

/// Writes the cells of row templates with ages as of a time.
#[derive(Debug)]
struct TemplateWriter {
    now: Timestamp,
}

impl CellWriter for TemplateWriter {
    fn write(&self, template: &[u8], name: &str, write: &mut dyn FnMut(&str)) {
        write_row(template, name, self.now, write);
    }
}

/// Returns the stored form of objects with their rows, if all have a row with the same columns. The row of an object is the
/// one that comes with it, or its own. Without `has_json`, objects with rows lack their bodies.
pub(super) fn with_rows(
    kind: &Kind,
    objects: Vec<(Arc<Object>, Option<Row>)>,
    has_json: bool,
) -> Vec<Arc<StoredObject>> {
    let rows = objects.iter().map(|(object, row)| row.as_ref().or_else(|| object.row()));
    let Some(columns) = shared_columns(rows.map(|row| row.map(Row::columns))) else {
        return without_rows(kind, objects.into_iter().map(|(object, _)| object));
    };
    let columns = Arc::new(stored_columns(kind, &columns));
    let head = head(kind);
    map_many(objects, |(object, row)| {
        let (mut stored, cells) = if has_json {
            let (stored, own) = stored_object(kind, &head, object);
            (stored, row.or(own).map(StoredCells::Row))
        } else {
            // An object without a body has little more than its row.
            (names_only(&object), Some(row.map_or(StoredCells::Object(object), StoredCells::Row)))
        };
        stored.row = cells.map(|cells| StoredRow::new(&columns, cells));
        Arc::new(stored)
    })
}

/// Returns the stored form of objects whose rows are computed.
pub(super) fn without_rows(
    kind: &Kind,
    objects: impl IntoIterator<Item = Arc<Object>>,
) -> Vec<Arc<StoredObject>> {
    let head = head(kind);
    let objects = objects.into_iter().collect();
    map_many(objects, |object| Arc::new(stored_object(kind, &head, object).0))
}

/// Returns the columns of all rows, if all objects have some and they are the same.
pub(super) fn shared_columns<'a>(
    mut rows: impl Iterator<Item = Option<&'a Arc<[Column]>>>,
) -> Option<Arc<[Column]>> {
    let columns = rows.next()??;
    // Each file has its own copy of the columns.
    let mut known = vec![columns];
    let mut is_shared = |own: &'a Arc<[Column]>| {
        if known.iter().any(|known| Arc::ptr_eq(known, own)) {
            return true;
        }
        known.push(own);
        own[..] == columns[..]
    };
    rows.all(|own| own.is_some_and(&mut is_shared)).then(|| Arc::clone(columns))
}

/// Returns an object of which only the names, the version and the row are read.
fn names_only(object: &Object) -> StoredObject {
    StoredObject::of_text(names(object), "", version(object), Vec::new(), 0)
}

fn names(object: &Object) -> [Box<str>; 3] {
    [object.namespace().into(), object.name().into(), object.uid().to_string().into()]
}

fn version(object: &Object) -> u64 {
    object.resource_version().number().unwrap_or_default()
}

/// Returns the stored form of an object without its row, and the row.
fn stored_object(kind: &Kind, head: &str, object: Arc<Object>) -> (StoredObject, Option<Row>) {
    if object.json_len() == 0 {
        return (named(head, &object), object.row().cloned());
    }
    let (names, version) = (names(&object), version(&object));
    // Few objects have another owner, such as a replay.
    let (mut text, row) = match Arc::try_unwrap(object) {
        Ok(object) => object.into_json_and_row(),
        Err(object) => (object.json().into_owned(), object.row().cloned()),
    };
    let has_head = text.starts_with(head.as_bytes()) || {
        // List items get their type in the other order.
        let (api_version, own) = (Value::from(kind.api_version()), Value::from(kind.kind.as_str()));
        let other = format!("{{\"apiVersion\":{api_version},\"kind\":{own},");
        let has_other = text.starts_with(other.as_bytes()) && other.len() == head.len();
        if has_other {
            text[..head.len()].copy_from_slice(head.as_bytes());
        }
        has_other
    };
    if has_head {
        return (StoredObject::of_text(names, "", version, text, head.len()), row);
    }
    let [namespace, name, _] = names;
    let mut stored = StoredObject::new(kind, serde_json::from_slice(&text).unwrap_or_default(), version);
    // Lists are sorted by these names, even if the text is refused.
    (stored.namespace, stored.name) = (namespace, name);
    (stored, row)
}

/// Returns an object of which only the names and the version are known.
fn named(head: &str, object: &Object) -> StoredObject {
    let mut metadata =
        json!({"name": object.name(), "resourceVersion": object.resource_version().to_string()});
    if !object.namespace().is_empty() {
        metadata["namespace"] = object.namespace().into();
    }
    let text = format!("{head}\"metadata\":{metadata}}}").into_bytes();
    StoredObject::of_text(names(object), "", version(object), text, head.len())
}

/// Returns the columns of recorded rows. A recording has the names of columns, not their types and descriptions: those are
/// of the computed column of that name.
fn stored_columns(kind: &Kind, columns: &[Column]) -> StoredColumns {
    let computed_columns = Columns::of(kind);
    let (computed, empty) = (computed_columns.definitions(), computed_columns.empty_cells());
    let definitions: Vec<Value> = columns.iter().map(|column| definition(column, &computed)).collect();
    let named = computed.as_array().into_iter().flatten().map(|column| &column["name"]);
    let numbers: Vec<&Value> =
        named.zip(&empty).filter(|(_, cell)| cell.is_i64()).map(|(name, _)| name).collect();
    let is_integer = |column: &Value| column["type"] == "integer" || numbers.contains(&&column["name"]);
    let integers = definitions.iter().map(is_integer).collect();
    StoredColumns { definitions: Value::from(definitions).to_string(), integers }
}

fn definition(column: &Column, computed: &Value) -> Value {
    let Column { name, format, priority } = column;
    let own = computed.as_array().into_iter().flatten().find(|own| own["name"] == name.as_str());
    // Clients read the format of a date from either the type or the format.
    let (kind, format) = match format.as_str() {
        "date" => ("date", ""),
        format => (own.and_then(|own| own["type"].as_str()).unwrap_or("string"), format),
    };
    let description = own.and_then(|own| own["description"].as_str()).unwrap_or_default();
    json!({
        "name": name, "type": kind, "format": format, "description": description, "priority": priority,
    })
}
