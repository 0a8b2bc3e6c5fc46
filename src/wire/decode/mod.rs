//! Decodes one object, row or event of any representation to an [`Object`] or a
//! [`WatchEvent`](crate::listwatch::WatchEvent).

mod events;
mod metadata;
mod protobuf_messages;
mod rows;
#[cfg(test)]
mod tests;

pub(crate) use metadata::list_meta;
pub(crate) use protobuf_messages::protobuf_list_meta;

use std::sync::Arc;

use jiff::Timestamp;
use memchr::memmem;

use super::age::age;
use super::malformed::malformed;
use super::representation::{IncludeObject, Representation};
use super::row_matcher::RowMatcher;
use super::table;
use crate::listwatch::Error;
use crate::object::{Column, Ingest, Object, ObjectError, Row};
use metadata::{Metadata, ObjectHead};

/// The start of `PartialObjectMetadata` as Kubernetes servers write it.
const PARTIAL_PREFIX: &[u8] = br#"{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","#;
/// The length in which an object states its kind, in the field order of a Go struct and in sorted order.
const PARTIAL_HEAD: usize = 128;

/// The capacity of the buffer that is kept for the next metadata.
const KEPT_CAPACITY: usize = 1 << 16;

/// Decodes the items of one list or watch. It keeps the columns of a Table, which are sent once. It has no `Debug`:
/// its texts may be secrets.
pub(crate) struct Decoder {
    pub(crate) ingest: Ingest,
    pub(crate) representation: Representation,
    /// The requested namespace: all that is known of a row without an object.
    pub(crate) namespace: String,
    /// The source of the names of rows without objects.
    pub(crate) naming: Naming,
    /// The clock for ages that the server did not compute.
    pub(crate) now: fn() -> Timestamp,
    columns: Option<Arc<[Column]>>,
    /// The columns of objects that came without a row.
    plain_columns: Option<Arc<[Column]>>,
    /// Metadata without the type that it was sent with.
    buffer: Vec<u8>,
}

/// The source of the name of a row without an object.
#[derive(Debug)]
pub(crate) enum Naming {
    /// The requested namespace, and the cell that is most likely the name.
    RequestedNamespace,
    /// The cell of format `name`; without one the row can't be decoded. The objects get no rows.
    Cell,
    /// The next entry of the matcher, which must have the name in the cell of format `name`.
    Matcher(RowMatcher),
}

impl Decoder {
    pub(crate) fn new(
        ingest: Ingest,
        representation: Representation,
        namespace: String,
        naming: Naming,
        now: fn() -> Timestamp,
    ) -> Self {
        let (columns, plain_columns, buffer) = (None, None, Vec::new());
        Self { ingest, representation, namespace, naming, now, columns, plain_columns, buffer }
    }

    /// Sets the columns of the following rows; `null` changes nothing.
    pub(crate) fn columns(&mut self, json: &[u8]) -> Result<(), Error> {
        let columns = table::columns(json).map_err(|error| malformed("columnDefinitions", &error))?;
        if let Some(columns) = columns {
            self.columns = Some(columns);
        }
        Ok(())
    }

    /// Decodes an object that came by itself. If a Table was requested, it gets the two cells that every object has.
    pub(crate) fn item(&mut self, json: &[u8]) -> Result<Arc<Object>, Error> {
        let object = self.object(json)?;
        if !matches!(self.representation, Representation::Table(_)) || matches!(self.naming, Naming::Cell) {
            return Ok(Arc::new(object));
        }
        let head: ObjectHead<'_> =
            serde_json::from_slice(json).map_err(|error| malformed("object", &error))?;
        let metadata = head.metadata.map(Metadata::read).transpose()?;
        let created = metadata.as_ref().and_then(|metadata| metadata.creation_timestamp.as_deref());
        let columns = self.plain_columns.get_or_insert_with(table::plain_columns);
        let row = Row::new(Arc::clone(columns), [object.name(), &age(created, (self.now)())]);
        Ok(Arc::new(object.with_row(row)))
    }

    /// Decodes an object at the front of `text` and returns its end, if it is in the plain form that servers write
    /// and only the object is needed. `None` if it is not or may not be: then decode it with [`Decoder::item`].
    pub(crate) fn plain_item(&self, text: &[u8]) -> Option<(Arc<Object>, usize)> {
        let is_whole = self.representation == Representation::Objects;
        let (object, end) = is_whole.then(|| Object::from_plain_front(text, &self.ingest))??;
        Some((Arc::new(object), end))
    }

    fn plain_object(&mut self, json: &[u8]) -> Option<Object> {
        Object::from_plain_json(
            without_partial_type(json, self.representation, &mut self.buffer)?,
            &self.ingest,
        )
    }

    /// Decodes an object; one that is metadata only gets the type of the resource.
    fn object(&mut self, json: &[u8]) -> Result<Object, Error> {
        if let Some(buffer) = without_partial_type(json, self.representation, &mut self.buffer) {
            return ingested(buffer, &self.ingest);
        }
        let head: ObjectHead<'_> =
            serde_json::from_slice(json).map_err(|error| malformed("object", &error))?;
        match head {
            ObjectHead { kind: Some(kind), api_version: Some(version), metadata: Some(metadata) }
                if kind == "PartialObjectMetadata" && version.starts_with("meta.k8s.io/") =>
            {
                ingested(format!(r#"{{"metadata":{}}}"#, metadata.get()).as_bytes(), &self.ingest)
            }
            _ => ingested(json, &self.ingest),
        }
    }
}

/// Returns the text of an object without the type `PartialObjectMetadata`, if the start of the text shows its type.
/// `to` is the buffer for the result.
fn without_partial_type<'t>(
    json: &'t [u8],
    representation: Representation,
    to: &'t mut Vec<u8>,
) -> Option<&'t [u8]> {
    if representation == Representation::Objects {
        return Some(json);
    }
    if let Some(rest) = json.strip_prefix(PARTIAL_PREFIX) {
        to.clear();
        to.shrink_to(KEPT_CAPACITY);
        to.push(b'{');
        to.extend_from_slice(rest);
        return Some(to);
    }
    // If whole objects were requested, an object that starts as the resource's own needs no second look.
    let is_own = representation == Representation::Table(IncludeObject::Object)
        && memmem::find(&json[..json.len().min(PARTIAL_HEAD)], b"PartialObjectMetadata").is_none();
    is_own.then_some(json)
}

fn ingested(json: &[u8], ingest: &Ingest) -> Result<Object, Error> {
    Object::from_json(json, ingest).map_err(|error| match error {
        ObjectError::Malformed(error) => malformed("object", &error),
        other => Error::Decode(other.to_string()),
    })
}
