//! Decodes one object, row or event of any representation to an [`Object`] or a [`WatchEvent`].

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::sync::Arc;

use jiff::Timestamp;
use memchr::memmem;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::age::age;
use super::frames::WatchFrame;
use super::malformed::malformed;
use super::representation::{IncludeObject, Representation};
use super::row_matcher::RowMatcher;
use super::table::{self, PlainRow, WireRow, WireTable};
use super::{protobuf, status};
use crate::listwatch::{Error, ListMeta, WatchEvent};
use crate::object::{Column, Ingest, Object, ObjectError, ResourceVersion, Row, TypeMeta};

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

/// The fields of a JSON object that identify it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ObjectHead<'a> {
    #[serde(borrow)]
    api_version: Option<Cow<'a, str>>,
    #[serde(borrow)]
    kind: Option<Cow<'a, str>>,
    #[serde(borrow)]
    metadata: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metadata<'a> {
    #[serde(borrow)]
    resource_version: Option<Cow<'a, str>>,
    #[serde(borrow)]
    creation_timestamp: Option<Cow<'a, str>>,
    #[serde(borrow, rename = "continue")]
    continue_token: Option<Cow<'a, str>>,
    #[serde(borrow)]
    annotations: Option<Annotations<'a>>,
}

#[derive(Deserialize)]
struct Annotations<'a> {
    #[serde(borrow, rename = "k8s.io/initial-events-end")]
    initial_events_end: Option<Cow<'a, str>>,
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

    /// Decodes one element of the rows of a list.
    pub(crate) fn row(&mut self, json: &[u8]) -> Result<Arc<Object>, Error> {
        let row: WireRow<'_> = serde_json::from_slice(json).map_err(|error| malformed("row", &error))?;
        self.row_object(&row, None)
    }

    /// Decodes the response to a request for one object by name: the object, or a Table of one row.
    pub(crate) fn one(&mut self, json: &[u8]) -> Result<Arc<Object>, Error> {
        if self.is_table(json)? { self.one_row(json) } else { self.item(json) }
    }

    /// Decodes a line of a watch that is, to its last byte, an event in the plain form that servers write. `None` if
    /// it is not or may not be: then decode it with [`Decoder::frame`].
    pub(crate) fn plain_frame(&mut self, line: &[u8]) -> Option<WatchEvent> {
        let WatchFrame { event_type, object: json } = WatchFrame::quick(line)?;
        let event = event_of(&event_type)?;
        if !matches!(self.representation, Representation::Table(_)) {
            return self.plain_object(json).map(Arc::new).map(event);
        }
        let columns = self.columns.clone()?;
        let row = PlainRow::of_table(json)?;
        let object = self.plain_object(row.json)?;
        Some(event(Arc::new(object.with_row(row.row(columns)))))
    }

    fn plain_object(&mut self, json: &[u8]) -> Option<Object> {
        Object::from_plain_json(
            without_partial_type(json, self.representation, &mut self.buffer)?,
            &self.ingest,
        )
    }

    /// Decodes one frame of a watch.
    pub(crate) fn frame(&mut self, frame: &[u8]) -> Result<WatchEvent, Error> {
        // If the object decodes as one JSON value, the frame was cut correctly and need not be parsed a second time.
        // The slow path reports every error.
        if let Some(quick) = WatchFrame::quick(frame)
            && let Ok(event) = self.event(&quick)
        {
            return Ok(event);
        }
        self.event(&WatchFrame::parse(frame)?)
    }

    fn event(&mut self, frame: &WatchFrame<'_>) -> Result<WatchEvent, Error> {
        match &*frame.event_type {
            "ERROR" => Err(status::from_status_json(frame.object)),
            "BOOKMARK" => self.bookmark(frame.object),
            other => match event_of(other) {
                Some(event) => self.one(frame.object).map(event),
                None => Err(unknown_event_type()),
            },
        }
    }

    /// Decodes a bookmark: an object of the requested kind with little more than a version. In a Table the annotation
    /// is in the metadata of its only row, which is present whatever `includeObject` is.
    fn bookmark(&mut self, json: &[u8]) -> Result<WatchEvent, Error> {
        let wire: WireTable<'_> =
            serde_json::from_slice(json).map_err(|error| malformed("bookmark", &error))?;
        if let Some(columns) = wire.column_definitions {
            self.columns(columns.get().as_bytes())?;
        }
        let row = wire.rows.iter().flatten().find_map(|row| row.object);
        let inner = match row {
            Some(object) => {
                let head: ObjectHead<'_> =
                    serde_json::from_str(object.get()).map_err(|error| malformed("bookmark", &error))?;
                head.metadata
            }
            None => None,
        };
        let metadata = inner.or(wire.metadata).map(Metadata::read).transpose()?;
        let version = metadata.as_ref().map(Metadata::version).unwrap_or_default();
        let annotations = metadata.and_then(|metadata| metadata.annotations);
        let end = annotations.and_then(|annotations| annotations.initial_events_end);
        bookmarked(version, end.is_some_and(|value| value == "true"))
    }

    /// Decodes an object in Protocol Buffers, which consists of metadata only.
    pub(crate) fn protobuf_item(&mut self, message: &[u8]) -> Result<Arc<Object>, Error> {
        self.buffer.clear();
        self.buffer.shrink_to(KEPT_CAPACITY);
        protobuf::json(message, &mut self.buffer)?;
        ingested(&self.buffer, &self.ingest).map(Arc::new)
    }

    /// Decodes one frame of a watch in Protocol Buffers.
    pub(crate) fn protobuf_frame(&mut self, frame: &[u8]) -> Result<WatchEvent, Error> {
        let event = protobuf::event(frame)?;
        match &*event.event_type {
            "ERROR" => Err(status::from_status_json(&protobuf::status_json(event.object)?)),
            "BOOKMARK" => {
                let bookmark = protobuf::bookmark(event.object)?;
                bookmarked(ResourceVersion::new(&bookmark.resource_version), bookmark.initial_events_end)
            }
            other => match event_of(other) {
                Some(event_of) => self.protobuf_object(&event).map(event_of),
                None => Err(unknown_event_type()),
            },
        }
    }

    /// Decodes the object of an event with the type that its envelope names. Metadata has the type of the resource.
    fn protobuf_object(&mut self, event: &protobuf::ProtobufEvent<'_>) -> Result<Arc<Object>, Error> {
        let protobuf::TypeName { api_version, kind } = &event.type_name;
        let expected = &*self.ingest.type_meta;
        let is_own = *kind == expected.kind && *api_version == expected.api_version;
        if is_own || matches!(&**kind, "" | "PartialObjectMetadata") {
            return self.protobuf_item(event.object);
        }
        let type_meta = TypeMeta { api_version: (&**api_version).into(), kind: (&**kind).into() };
        let expected = std::mem::replace(&mut self.ingest.type_meta, Arc::new(type_meta));
        let object = self.protobuf_item(event.object);
        self.ingest.type_meta = expected;
        object
    }

    fn is_table(&self, json: &[u8]) -> Result<bool, Error> {
        if !matches!(self.representation, Representation::Table(_)) {
            return Ok(false);
        }
        if json.starts_with(br#"{"kind":"Table","#) {
            return Ok(true);
        }
        let head: ObjectHead<'_> =
            serde_json::from_slice(json).map_err(|error| malformed("object", &error))?;
        Ok(head.kind.as_deref() == Some("Table"))
    }

    fn one_row(&mut self, json: &[u8]) -> Result<Arc<Object>, Error> {
        let wire: WireTable<'_> = serde_json::from_slice(json).map_err(|error| malformed("Table", &error))?;
        if let Some(columns) = wire.column_definitions {
            self.columns(columns.get().as_bytes())?;
        }
        match wire.rows.as_deref() {
            Some([row]) => self.row_object(row, wire.metadata),
            _ => Err(Error::Decode("malformed Table: it should have one row".into())),
        }
    }

    /// Decodes the object of a row, or builds one from its cells. Without an object the version is that of a Table of
    /// one row.
    fn row_object(&mut self, row: &WireRow<'_>, table: Option<&RawValue>) -> Result<Arc<Object>, Error> {
        let columns = self.columns.clone();
        let columns =
            columns.ok_or_else(|| Error::Decode("malformed Table: a row comes before the columns".into()))?;
        let object = if let Some(object) = row.object {
            self.object(object.get().as_bytes())?
        } else {
            let version = table.map(Metadata::read).transpose()?.map(|metadata| metadata.version());
            self.object_from_row(row, &columns, version.unwrap_or_default())?
        };
        let is_named_only = matches!(self.naming, Naming::Cell);
        Ok(Arc::new(if is_named_only { object } else { object.with_row(row.row(columns)) }))
    }

    /// Builds an object from a row without one. Its version is that of its Table.
    fn object_from_row(
        &mut self,
        row: &WireRow<'_>,
        columns: &[Column],
        version: ResourceVersion,
    ) -> Result<Object, Error> {
        let type_meta = Arc::clone(&self.ingest.type_meta);
        let cell_name = || {
            let name = row.name_cell(columns).filter(|name| !name.is_empty());
            name.ok_or_else(|| Error::Decode("malformed Table: no cell has the format name".into()))
        };
        let matcher = match &mut self.naming {
            Naming::RequestedNamespace => {
                let object = Object::named(type_meta, &self.namespace, &row.name(columns));
                return Ok(object.with_resource_version(version));
            }
            Naming::Cell => {
                let object = Object::named(type_meta, &self.namespace, &cell_name()?);
                return Ok(object.with_resource_version(version));
            }
            Naming::Matcher(matcher) => matcher,
        };
        let name = cell_name()?;
        let (namespace, version) = matcher
            .next(&name)
            .ok_or_else(|| Error::Decode("a row belongs to an object that is not in the list".into()))?;
        Ok(Object::named(type_meta, namespace, &name).with_resource_version(ResourceVersion::new(version)))
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

impl<'a> Metadata<'a> {
    fn read(json: &'a RawValue) -> Result<Self, Error> {
        serde_json::from_str(json.get()).map_err(|error| malformed("metadata", &error))
    }

    fn version(&self) -> ResourceVersion {
        ResourceVersion::new(self.resource_version.as_deref().unwrap_or_default())
    }
}

/// Decodes the metadata of a list in Protocol Buffers.
pub(crate) fn protobuf_list_meta(message: &[u8]) -> Result<ListMeta, Error> {
    let (version, token) = protobuf::list_meta(message)?;
    Ok(ListMeta { resource_version: ResourceVersion::new(&version), continue_token: token.into_owned() })
}

/// Decodes the `metadata` of a list.
pub(crate) fn list_meta(json: &[u8]) -> Result<ListMeta, Error> {
    let metadata: Option<Metadata<'_>> =
        serde_json::from_slice(json).map_err(|error| malformed("metadata", &error))?;
    Ok(metadata.map_or_else(ListMeta::default, |metadata| ListMeta {
        resource_version: metadata.version(),
        continue_token: metadata.continue_token.unwrap_or_default().into_owned(),
    }))
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

/// Returns the event of an object for its type on the wire; `None` if it is another event, or none of the API's.
fn event_of(event_type: &str) -> Option<fn(Arc<Object>) -> WatchEvent> {
    match event_type {
        "ADDED" => Some(WatchEvent::Added),
        "MODIFIED" => Some(WatchEvent::Modified),
        "DELETED" => Some(WatchEvent::Deleted),
        _ => None,
    }
}

/// The error of an event of an unknown type: skipping it could lose data.
fn unknown_event_type() -> Error {
    Error::Decode("malformed watch event: its type is none of the API's".into())
}

fn bookmarked(version: ResourceVersion, initial_events_end: bool) -> Result<WatchEvent, Error> {
    if version.is_unset() {
        return Err(Error::Decode("malformed bookmark: it has no resourceVersion".into()));
    }
    Ok(WatchEvent::Bookmark { resource_version: version, initial_events_end })
}

fn ingested(json: &[u8], ingest: &Ingest) -> Result<Object, Error> {
    Object::from_json(json, ingest).map_err(|error| match error {
        ObjectError::Malformed(error) => malformed("object", &error),
        other => Error::Decode(other.to_string()),
    })
}
