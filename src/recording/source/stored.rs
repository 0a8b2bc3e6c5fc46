//! Recorded objects in the form that the server stores.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::object::{Column, Object, Row};
use crate::recording::reader::parallel;
use crate::server::representations::columns::Columns;
use crate::server::source::{Kind, StoredObject, StoredRow, head};

/// The number of objects that justify threads.
const MIN_PARALLEL: usize = 1000;

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
pub(super) fn stored(kind: &Kind, objects: &[Arc<Object>], rows: Rows) -> Vec<Arc<StoredObject>> {
    let own = |object| (object, Object::row(object).filter(|_| rows == Rows::Recorded));
    let objects: Vec<_> = objects.iter().map(|object| own(&**object)).collect();
    with_rows(kind, &objects, true)
}

/// Returns the stored form of objects with these rows, if all have one with the same columns. Without `reads_objects`,
/// objects with rows lack their bodies.
pub(super) fn with_rows(
    kind: &Kind,
    objects: &[(&Object, Option<&Row>)],
    reads_objects: bool,
) -> Vec<Arc<StoredObject>> {
    let writer = shared_columns(objects).map(|columns| RowWriter::new(kind, columns));
    let head = head(kind);
    map_many(objects, |(object, row)| {
        let mut stored = match &writer {
            Some(_) if !reads_objects => names_only(object),
            _ => stored_object(kind, &head, object),
        };
        stored.row = writer.as_ref().zip(*row).map(|(writer, row)| writer.write(row));
        Arc::new(stored)
    })
}

/// Maps many items on several threads, and few on this one.
fn map_many<T: Sync, U: Send>(items: &[T], map: impl Fn(&T) -> U + Sync) -> Vec<U> {
    if items.len() < MIN_PARALLEL {
        return items.iter().map(map).collect();
    }
    let share = items.len().div_ceil(parallel::threads());
    parallel::map(items.chunks(share), |items| items.iter().map(&map).collect::<Vec<_>>())
        .into_iter()
        .flatten()
        .collect()
}

/// Returns the columns of all rows, if they are the same.
fn shared_columns<'a>(objects: &[(&'a Object, Option<&'a Row>)]) -> Option<&'a [Column]> {
    let columns = objects.first()?.1?.columns();
    let is_shared = |row: &Row| Arc::ptr_eq(row.columns(), columns) || row.columns()[..] == columns[..];
    objects.iter().all(|(_, row)| row.is_some_and(is_shared)).then_some(&columns[..])
}

/// Returns an object of which only the names, the version and the row are read.
fn names_only(object: &Object) -> StoredObject {
    let version = object.resource_version().number().unwrap_or_default();
    let uid = object.uid().to_string();
    StoredObject::of_text([object.namespace(), object.name(), &uid], "", version, Vec::new(), 0)
}

fn stored_object(kind: &Kind, head: &str, object: &Object) -> StoredObject {
    let text = object.json();
    if text.is_empty() && object.row().is_some() {
        return names_only(object);
    }
    let version = object.resource_version().number().unwrap_or_default();
    let uid = object.uid().to_string();
    let names = [object.namespace(), object.name(), &uid];
    let of_text = |json| StoredObject::of_text(names, "", version, json, head.len());
    if text.is_empty() {
        let mut metadata =
            json!({"name": object.name(), "resourceVersion": object.resource_version().to_string()});
        if !object.namespace().is_empty() {
            metadata["namespace"] = object.namespace().into();
        }
        return of_text(format!("{head}\"metadata\":{metadata}}}").into_bytes());
    }
    if text.starts_with(head.as_bytes()) {
        return of_text(text.into_owned());
    }
    // List items get their type in the other order.
    let (api_version, own) = (Value::from(kind.api_version()), Value::from(kind.kind.as_str()));
    let other = format!("{{\"apiVersion\":{api_version},\"kind\":{own},");
    match text.strip_prefix(other.as_bytes()) {
        Some(rest) => of_text([head.as_bytes(), rest].concat()),
        None => StoredObject::new(kind, serde_json::from_slice(&text).unwrap_or_default(), version),
    }
}

/// Writes recorded rows as JSON.
struct RowWriter {
    /// `columnDefinitions`.
    definitions: Arc<str>,
    /// Whether each column has whole numbers, which servers also send in some columns of the type `string`.
    integers: Vec<bool>,
}

impl RowWriter {
    /// Creates a writer. A recording has the names of columns, not their types and descriptions: those are of the
    /// computed column of that name.
    fn new(kind: &Kind, columns: &[Column]) -> Self {
        let computed_columns = Columns::of(kind);
        let (computed, empty) = (computed_columns.definitions(), computed_columns.empty_cells());
        let definitions: Vec<Value> = columns.iter().map(|column| definition(column, &computed)).collect();
        let named = computed.as_array().into_iter().flatten().map(|column| &column["name"]);
        let numbers: Vec<&Value> =
            named.zip(&empty).filter(|(_, cell)| cell.is_i64()).map(|(name, _)| name).collect();
        let is_integer = |column: &Value| column["type"] == "integer" || numbers.contains(&&column["name"]);
        let integers = definitions.iter().map(is_integer).collect();
        Self { definitions: Value::from(definitions).to_string().into(), integers }
    }

    fn write(&self, row: &Row) -> StoredRow {
        let mut cells = String::from("[");
        for (at, cell) in row.cells().enumerate() {
            if at > 0 {
                cells.push(',');
            }
            let is_integer = self.integers.get(at).copied().unwrap_or_default();
            match cell.parse::<i64>() {
                Ok(number) if is_integer => cells.push_str(&number.to_string()),
                _ => cells.push_str(&Value::from(cell).to_string()),
            }
        }
        cells.push(']');
        StoredRow { columns: Arc::clone(&self.definitions), cells: cells.into() }
    }
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
