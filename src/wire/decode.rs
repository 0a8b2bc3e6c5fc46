//! Decodes one object, row or event of any representation to an [`Object`] or a [`WatchEvent`].

use std::borrow::Cow;
use std::sync::Arc;

use jiff::Timestamp;
use memchr::memmem;
use serde::Deserialize;
use serde_json::error::Category;
use serde_json::value::RawValue;

use super::age::age;
use super::frames::{FrameType, WatchFrame};
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
        let WatchFrame { frame_type, object: json } = WatchFrame::quick(line)?;
        let event = match frame_type {
            FrameType::Added => WatchEvent::Added,
            FrameType::Modified => WatchEvent::Modified,
            FrameType::Deleted => WatchEvent::Deleted,
            FrameType::Bookmark | FrameType::Error => return None,
        };
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
        let json = frame.object;
        if frame.frame_type == FrameType::Error {
            return Err(status::from_status_json(json));
        }
        if frame.frame_type == FrameType::Bookmark {
            return self.bookmark(json);
        }
        let object = self.one(json)?;
        Ok(match frame.frame_type {
            FrameType::Added => WatchEvent::Added(object),
            FrameType::Modified => WatchEvent::Modified(object),
            _ => WatchEvent::Deleted(object),
        })
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
        Ok(match FrameType::named(event.event_type.as_bytes()) {
            None => return Err(Error::Decode("malformed watch event: its type is none of the API's".into())),
            Some(FrameType::Error) => {
                return Err(status::from_status_json(&protobuf::status_json(event.object)?));
            }
            Some(FrameType::Bookmark) => {
                let bookmark = protobuf::bookmark(event.object)?;
                bookmarked(ResourceVersion::new(&bookmark.resource_version), bookmark.initial_events_end)?
            }
            Some(FrameType::Added) => WatchEvent::Added(self.protobuf_object(&event)?),
            Some(FrameType::Modified) => WatchEvent::Modified(self.protobuf_object(&event)?),
            Some(FrameType::Deleted) => WatchEvent::Deleted(self.protobuf_object(&event)?),
        })
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
        let said = || {
            let name = row.name_cell(columns).filter(|name| !name.is_empty());
            name.ok_or_else(|| Error::Decode("malformed Table: no cell has the format name".into()))
        };
        let matcher = match &mut self.naming {
            Naming::RequestedNamespace => {
                let object = Object::named(type_meta, &self.namespace, &row.name(columns));
                return Ok(object.with_resource_version(version));
            }
            Naming::Cell => {
                let object = Object::named(type_meta, &self.namespace, &said()?);
                return Ok(object.with_resource_version(version));
            }
            Naming::Matcher(matcher) => matcher,
        };
        let name = said()?;
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

/// Formats a parse error with its position and without any text of the input, which serde's own message repeats.
pub(crate) fn malformed(what: &str, error: &serde_json::Error) -> Error {
    let problem = match error.classify() {
        Category::Data => "of another type than the API's",
        Category::Eof => "cut off",
        Category::Syntax | Category::Io => "not JSON",
    };
    Error::Decode(format!("malformed {what}: {problem} at line {} column {}", error.line(), error.column()))
}

#[cfg(test)]
mod tests {
    use crate::object::ApiResource;
    use crate::wire::protobuf::testing::{field, frame as packed, frame_of, number};

    use super::*;

    fn decoder(representation: Representation) -> Decoder {
        let resource = ApiResource {
            group: String::new(),
            version: "v1".into(),
            resource: "configmaps".into(),
            kind: "ConfigMap".into(),
            namespaced: true,
        };
        let noon = || "2026-11-21T12:00:00Z".parse().expect("a time");
        Decoder::new(
            Ingest::of(resource.type_meta()),
            representation,
            "asked".into(),
            Naming::RequestedNamespace,
            noon,
        )
    }

    const TABLE: Representation = Representation::Table(IncludeObject::Metadata);
    const COLUMNS: &str =
        r#"[{"name":"Name","format":"name","priority":0},{"name":"Data","format":"","priority":0}]"#;
    const PARTIAL: &str = r#"{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"c1","namespace":"shop","resourceVersion":"209"}}"#;

    fn table(columns: &str, cells: &str, object: &str, version: &str) -> String {
        format!(
            r#"{{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{{"resourceVersion":"{version}"}},"columnDefinitions":{columns},"rows":[{{"cells":{cells},"object":{object}}}]}}"#
        )
    }

    fn frame(frame_type: &str, object: &str) -> String {
        format!(r#"{{"type":"{frame_type}","object":{object}}}"#)
    }

    fn cells(object: &Object) -> Vec<&str> {
        object.row().expect("a row").cells().collect()
    }

    fn text(object: &Object) -> String {
        String::from_utf8(object.json().into_owned()).expect("UTF-8")
    }

    #[test]
    fn partial_metadata_has_the_kind_of_the_resource() {
        let wanted = r#"{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"c1","namespace":"shop","resourceVersion":"209"}}"#;
        let sorted = r#"{"apiVersion":"meta.k8s.io/v1","kind":"PartialObjectMetadata","metadata":{"name":"c1","namespace":"shop","resourceVersion":"209"}}"#;
        let bare = r#"{"metadata":{"name":"c1","namespace":"shop","resourceVersion":"209"}}"#;
        for representation in [Representation::Metadata, TABLE, Representation::Table(IncludeObject::Object)]
        {
            for given in [PARTIAL, sorted, bare, &sorted.replace(',', ",\n ")] {
                let object = decoder(representation).item(given.as_bytes()).expect("an object");
                assert_eq!(text(&object), wanted, "{representation:?} {given}");
                assert_eq!(object.type_meta().kind, "ConfigMap");
            }
        }
    }

    #[test]
    fn object_of_a_protobuf_event_has_the_type_of_its_envelope() {
        let object = field(1, &field(1, b"a"));
        for (kind, expected) in [
            ("PartialObjectMetadata", "v1 ConfigMap"),
            ("ConfigMap", "example.com/v1 ConfigMap"),
            ("Service", "example.com/v1 Service"),
        ] {
            let mut decoder = decoder(Representation::Metadata);
            for _ in 0..2 {
                let frame = frame_of("ADDED", "example.com/v1", kind, &object);
                let Ok(WatchEvent::Added(object)) = decoder.protobuf_frame(&frame) else { panic!("{kind}") };
                let found = object.type_meta();
                assert_eq!(format!("{} {}", found.api_version, found.kind), expected);
            }
            assert_eq!(decoder.ingest.type_meta.kind, "ConfigMap");
        }
    }

    #[test]
    fn watched_table_has_columns_once_and_bookmarks_in_its_row() {
        let mut decoder = decoder(TABLE);
        let first = frame("ADDED", &table(COLUMNS, r#"["c1",1]"#, PARTIAL, "209"));
        let WatchEvent::Added(first) = decoder.frame(first.as_bytes()).expect("an event") else { panic!() };
        assert_eq!((&**first.key(), cells(&first)), ("shop/c1", vec!["c1", "1"]));
        assert_eq!(first.resource_version(), &"209".into());

        let second = frame("DELETED", &table("null", r#"["c1",2]"#, PARTIAL, "211"));
        let WatchEvent::Deleted(second) = decoder.frame(second.as_bytes()).expect("an event") else {
            panic!()
        };
        assert!(Arc::ptr_eq(second.row().expect("a row").columns(), first.row().expect("a row").columns()));

        let mark = r#"{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"212","annotations":{"k8s.io/initial-events-end":"true"}}}"#;
        for (object, end) in [(mark.to_owned(), true), (mark.replace(r#""true""#, r#""false""#), false)] {
            let mark = frame("BOOKMARK", &table("null", r#"["",0]"#, &object, "212"));
            match decoder.frame(mark.as_bytes()).expect("an event") {
                WatchEvent::Bookmark { resource_version, initial_events_end } => {
                    assert_eq!((resource_version, initial_events_end), ("212".into(), end));
                }
                other => panic!("{other:?}"),
            }
        }
    }

    #[test]
    fn bookmark_without_object_has_its_tables_version() {
        let mut decoder = decoder(Representation::Table(IncludeObject::None));
        // The first event carries the columns, even if it is a bookmark: so a watch-list of no objects ends.
        let mark = frame("BOOKMARK", &table(COLUMNS, r#"["",0]"#, "null", "392"));
        let mark = decoder.frame(mark.as_bytes()).expect("an event");
        assert!(
            matches!(&mark, WatchEvent::Bookmark { resource_version, initial_events_end: false } if *resource_version == "392".into()),
            "{mark:?}"
        );
        let next = frame("ADDED", &table("null", r#"["c1",1]"#, "null", "393"));
        assert!(matches!(decoder.frame(next.as_bytes()), Ok(WatchEvent::Added(_))));
    }

    #[test]
    fn row_without_object_has_its_cells_name_and_its_tables_version() {
        let mut decoder = decoder(Representation::Table(IncludeObject::None));
        let event = frame("ADDED", &table(COLUMNS, r#"["c1",1]"#, "null", "209"));
        let WatchEvent::Added(object) = decoder.frame(event.as_bytes()).expect("an event") else { panic!() };
        assert_eq!((&**object.key(), object.resource_version()), ("asked/c1", &"209".into()));
        assert!(object.json().is_empty());
        let listed = decoder.row(br#"{"cells":["c2",0],"object":null}"#).expect("a row");
        assert_eq!((&**listed.key(), listed.resource_version().is_unset()), ("asked/c2", true));
    }

    #[test]
    fn row_before_its_columns_is_refused() {
        let event = frame("ADDED", &table("null", r#"["c1",1]"#, PARTIAL, "209"));
        assert!(matches!(decoder(TABLE).frame(event.as_bytes()), Err(Error::Decode(_))));
        assert!(matches!(decoder(TABLE).row(br#"{"cells":["c1"],"object":null}"#), Err(Error::Decode(_))));
    }

    #[test]
    fn plain_object_instead_of_a_table_gets_name_and_age() {
        let json = r#"{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"c1","creationTimestamp":"2026-11-21T11:00:00Z"},"data":{}}"#;
        let mut decoder = decoder(TABLE);
        let listed = decoder.item(json.as_bytes()).expect("an object");
        let WatchEvent::Added(watched) = decoder.frame(frame("ADDED", json).as_bytes()).expect("an event")
        else {
            panic!()
        };
        for object in [listed, watched] {
            assert_eq!((cells(&object), text(&object).as_str()), (vec!["c1", "60m"], json));
            let names: Vec<_> =
                object.row().expect("a row").columns().iter().map(|column| column.name.clone()).collect();
            assert_eq!(names, ["Name", "Age"]);
        }
    }

    #[test]
    fn events_decode_in_any_json_notation() {
        let object = r#"{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"c1"}}"#;
        for text in [
            frame("MODIFIED", object),
            format!("{{\n  \"type\": \"MODIFIED\",\n  \"object\": {object}\n}}"),
            format!(r#"{{"object":{object},"type":"MODIFIED"}}"#),
            format!(r#"{{"type":"MODIFIED","object":{object},"more":{{}}}}"#),
        ] {
            let event = decoder(Representation::Objects).frame(text.as_bytes()).expect(&text);
            assert!(matches!(event, WatchEvent::Modified(object) if object.name() == "c1"), "{text}");
        }
    }

    /// Formats all of an event.
    fn reported(event: &WatchEvent) -> String {
        match event {
            WatchEvent::Added(object) | WatchEvent::Modified(object) | WatchEvent::Deleted(object) => {
                let row = object.row().map(|row| row.cells().collect::<Vec<_>>());
                let kind = std::mem::discriminant(event);
                format!("{kind:?} {object:?} {row:?} {}", text(object))
            }
            mark @ WatchEvent::Bookmark { .. } => format!("{mark:?}"),
        }
    }

    #[test]
    fn plain_lines_decode_like_frames() {
        let object = r#"{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"c1","namespace":"shop"}}"#;
        let cells = r#"["c]\"1",1,null]"#;
        for (representation, line) in [
            (Representation::Objects, frame("ADDED", object)),
            (Representation::Metadata, frame("DELETED", PARTIAL)),
            (TABLE, frame("MODIFIED", &table("null", cells, PARTIAL, "209"))),
            (
                Representation::Table(IncludeObject::Object),
                frame("ADDED", &table("null", cells, object, "209")),
            ),
        ] {
            let mut decoder = decoder(representation);
            if matches!(representation, Representation::Table(_)) {
                assert!(decoder.plain_frame(line.as_bytes()).is_none(), "there are no columns yet");
            }
            decoder.columns(COLUMNS.as_bytes()).expect("columns");
            assert!(decoder.plain_frame(line.as_bytes()).is_some(), "{line}");
            for at in 0..=line.len() {
                let others = ["{", "}", "[", "]", "\"", ",", ":", "\\", "1", " ", "null"];
                let damaged = others.map(|other| [&line[..at], other, &line[at..]].concat());
                let shorter = [&line[..at], &line[(at + 1).min(line.len())..]].concat();
                for line in damaged.iter().chain([&shorter, &line]) {
                    let Some(event) = decoder.plain_frame(line.as_bytes()) else { continue };
                    let wanted = decoder.frame(line.as_bytes()).expect(line);
                    assert_eq!(reported(&event), reported(&wanted), "{line}");
                }
            }
        }
    }

    #[test]
    fn lines_without_row_and_object_are_not_plain() {
        let mut decoder = decoder(TABLE);
        decoder.columns(COLUMNS.as_bytes()).expect("columns");
        for line in [
            frame("ADDED", &table(COLUMNS, r#"["c1",1]"#, PARTIAL, "209")),
            frame("BOOKMARK", &table("null", r#"["",0]"#, PARTIAL, "212")),
            frame("ADDED", &table("null", r#"["c1",1]"#, "null", "209")),
            frame("ADDED", &table("null", r#""c1""#, PARTIAL, "209")),
            frame("ADDED", &table("null", r#"["c1",[1]]"#, PARTIAL, "209")),
            frame("ADDED", PARTIAL),
        ] {
            assert!(decoder.plain_frame(line.as_bytes()).is_none(), "{line}");
        }
    }

    #[test]
    fn plain_bookmarks_carry_a_version() {
        let mark = |annotations: &str| {
            let object = format!(
                r#"{{"kind":"ConfigMap","apiVersion":"v1","metadata":{{"resourceVersion":"12","creationTimestamp":null{annotations}}}}}"#
            );
            match decoder(Representation::Objects).frame(frame("BOOKMARK", &object).as_bytes()) {
                Ok(WatchEvent::Bookmark { resource_version, initial_events_end }) => {
                    (resource_version.to_string(), initial_events_end)
                }
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(mark(""), ("12".into(), false));
        assert_eq!(mark(r#","annotations":{"k8s.io/initial-events-end":"true"}"#), ("12".into(), true));
        // A value other than `true` means that it is not the end.
        assert_eq!(mark(r#","annotations":{"k8s.io/initial-events-end":"false"}"#), ("12".into(), false));
        let none = frame("BOOKMARK", r#"{"metadata":{}}"#);
        assert!(matches!(decoder(Representation::Objects).frame(none.as_bytes()), Err(Error::Decode(_))));
    }

    #[test]
    fn error_frame_becomes_its_error() {
        let gone = r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"too old resource version: 1 (5)","reason":"Expired","code":410}"#;
        for representation in [Representation::Objects, Representation::Metadata, TABLE] {
            let error = decoder(representation).frame(frame("ERROR", gone).as_bytes()).expect_err("an error");
            assert!(matches!(&error, Error::Expired(status) if status.json == gone), "{error:?}");
        }
    }

    #[test]
    fn errors_do_not_repeat_their_input() {
        for json in [
            r#"{"metadata":"s3cret"}"#,
            r#"{"metadata":{"name":"a"},"x":s3cret}"#,
            r#"{"s3cret":{}}"#,
            r#"{"kind":["s3cret"],"metadata":{"name":"a"}}"#,
        ] {
            for representation in [Representation::Objects, TABLE, Representation::Metadata] {
                for frame in [
                    frame("ADDED", json),
                    frame("BOOKMARK", json),
                    frame("ERROR", json),
                    frame("s3cret", "{}"),
                ] {
                    let error = decoder(representation).frame(frame.as_bytes()).expect_err(&frame);
                    assert!(
                        matches!(error, Error::Decode(_)) && !error.to_string().contains("s3cret"),
                        "{error}"
                    );
                }
            }
        }
    }

    #[test]
    fn protobuf_events_equal_json_events() {
        let mut decoder = decoder(Representation::Metadata);
        let object = field(1, &[field(1, b"c1"), field(3, b"shop"), field(6, b"209")].concat());
        for event_type in ["ADDED", "MODIFIED", "DELETED"] {
            let event = decoder.protobuf_frame(&packed(event_type, &object)).expect("an event");
            let (reported, object) = match event {
                WatchEvent::Added(object) => ("ADDED", object),
                WatchEvent::Modified(object) => ("MODIFIED", object),
                WatchEvent::Deleted(object) => ("DELETED", object),
                other @ WatchEvent::Bookmark { .. } => panic!("{other:?}"),
            };
            assert_eq!((reported, &**object.key()), (event_type, "shop/c1"));
            assert_eq!(object.resource_version(), &"209".into());
            assert_eq!(object.type_meta().kind, "ConfigMap");
        }
        let mark = field(1, &field(6, b"392"));
        assert!(matches!(
            decoder.protobuf_frame(&packed("BOOKMARK", &mark)),
            Ok(WatchEvent::Bookmark { resource_version, initial_events_end: false }) if resource_version == "392".into()
        ));
        let gone =
            [field(2, b"Failure"), field(3, b"too old"), field(4, b"Expired"), number(6, 410)].concat();
        let error = decoder.protobuf_frame(&packed("ERROR", &gone)).expect_err("an error");
        assert!(matches!(&error, Error::Expired(status) if status.message == "too old"), "{error:?}");
        for broken in
            [packed("RENAMED", &object), packed("BOOKMARK", b""), packed("ADDED", b""), b"{}".to_vec()]
        {
            assert!(matches!(decoder.protobuf_frame(&broken), Err(Error::Decode(_))));
        }
    }

    #[test]
    fn protobuf_object_has_nothing_of_the_previous_one() {
        let mut decoder = decoder(Representation::Metadata);
        let note = [field(1, b"note"), field(2, &vec![b'x'; KEPT_CAPACITY])].concat();
        let large = field(1, &[field(1, b"large"), field(12, &note)].concat());
        let nameless = field(1, &field(3, b"shop"));
        let cut = &large[..large.len() - 1];
        for before in [&large[..], &nameless, cut] {
            let _read_or_refused = decoder.protobuf_item(before);
            let object = decoder.protobuf_item(&field(1, &field(1, b"c1"))).expect("an object");
            assert_eq!(text(&object), r#"{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"c1"}}"#);
            assert!(decoder.buffer.capacity() <= KEPT_CAPACITY);
        }
    }

    #[test]
    fn list_metadata_has_version_and_token() {
        let meta = list_meta(br#"{"resourceVersion":"17","continue":"abc","remainingItemCount":3}"#)
            .expect("metadata");
        assert_eq!((meta.resource_version, meta.continue_token.as_str()), ("17".into(), "abc"));
        assert_eq!(list_meta(b"{}").expect("metadata"), ListMeta::default());
        assert_eq!(list_meta(b"null").expect("metadata"), ListMeta::default());
    }
}
