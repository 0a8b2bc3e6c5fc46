//! Object representations: complete, as metadata, or as Table rows.

use std::borrow::Cow;
use std::sync::Arc;

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::columns::Columns;
use crate::server::http::accept::ResponseForm;
use crate::server::source::{Conversion, Kind, StoredObject};
use crate::wire::IncludeObject;

/// A writer of objects of one resource in one representation.
pub(crate) struct Writer {
    kind: Arc<Kind>,
    representation: ResponseForm,
    columns: Columns,
    /// Whether the columns have been written: in a watch only the first event has them.
    has_written_columns: bool,
}

/// The metadata of a list.
#[derive(Debug, Default)]
pub(crate) struct ListMeta {
    pub(crate) version: u64,
    /// Empty on the last page.
    pub(crate) continue_token: String,
    /// `None` if unknown.
    pub(crate) remaining: Option<usize>,
}

#[derive(Deserialize)]
struct WithMetadata<'a> {
    #[serde(borrow)]
    metadata: &'a RawValue,
}

const META: &str = "\"apiVersion\":\"meta.k8s.io/v1\"";

impl Writer {
    pub(crate) fn new(kind: Arc<Kind>, representation: ResponseForm) -> Self {
        Self { columns: Columns::of(&kind), kind, representation, has_written_columns: false }
    }

    /// Returns the beginning of a list up to its first item, whose row determines the columns of a table.
    pub(crate) fn list_head(&self, meta: &ListMeta, first: Option<&Arc<StoredObject>>) -> String {
        let mut metadata = json!({"resourceVersion": meta.version.to_string()});
        // Lists of custom resources include an empty token; lists of built-in ones omit it.
        if !meta.continue_token.is_empty()
            || (self.kind.is_custom() && self.representation == ResponseForm::Objects)
        {
            metadata["continue"] = meta.continue_token.as_str().into();
        }
        if let Some(remaining) = meta.remaining {
            metadata["remainingItemCount"] = remaining.into();
        }
        match self.representation {
            ResponseForm::Objects => {
                let Kind { kind, .. } = &*self.kind;
                let version = self.kind.api_version();
                format!(
                    "{{\"kind\":\"{kind}List\",\"apiVersion\":\"{version}\",\"metadata\":{metadata},\"items\":["
                )
            }
            ResponseForm::Metadata => {
                format!("{{\"kind\":\"PartialObjectMetadataList\",{META},\"metadata\":{metadata},\"items\":[")
            }
            ResponseForm::Table(_) => format!(
                "{{\"kind\":\"Table\",{META},\"metadata\":{metadata},\"columnDefinitions\":{},\"rows\":[",
                self.definitions(first.map(|first| &**first))
            ),
        }
    }

    /// Returns `columnDefinitions`: those of the object's row if it has one.
    fn definitions(&self, object: Option<&StoredObject>) -> String {
        let row = object.and_then(|object| object.row.as_ref());
        row.map_or_else(|| self.columns.definitions().to_string(), |row| row.definitions().to_owned())
    }

    /// Returns the object in the requested version: as stored, unless its version needs a conversion.
    fn requested_version<'a>(&self, object: &'a StoredObject) -> Cow<'a, StoredObject> {
        let Some(Conversion(convert)) = self.kind.conversion else { return Cow::Borrowed(object) };
        let mut value = object.value();
        convert(&mut value);
        Cow::Owned(StoredObject::new(&self.kind, value, object.version))
    }

    /// Writes an item of a list.
    pub(crate) fn item(&self, out: &mut Vec<u8>, object: &StoredObject, now: Timestamp) {
        match self.representation {
            ResponseForm::Objects => {
                out.push(b'{');
                out.extend_from_slice(self.requested_version(object).item(&self.kind));
            }
            ResponseForm::Metadata => metadata(out, object),
            ResponseForm::Table(include) => self.row(out, object, include, now),
        }
    }

    /// Writes a single object, as the response to a GET or within an event.
    pub(crate) fn single(&mut self, out: &mut Vec<u8>, object: &StoredObject, now: Timestamp) {
        match self.representation {
            ResponseForm::Objects => out.extend_from_slice(&self.requested_version(object).json),
            ResponseForm::Metadata => metadata(out, object),
            ResponseForm::Table(include) => {
                self.table_head(out, object.version, Some(object));
                self.row(out, object, include, now);
                out.extend_from_slice(b"]}");
            }
        }
    }

    /// Writes a watch event and a newline.
    pub(crate) fn event(&mut self, out: &mut Vec<u8>, kind: &str, object: &StoredObject, now: Timestamp) {
        out.extend_from_slice(b"{\"type\":\"");
        out.extend_from_slice(kind.as_bytes());
        out.extend_from_slice(b"\",\"object\":");
        self.single(out, object, now);
        out.extend_from_slice(b"}\n");
    }

    /// Writes a bookmark and a newline, marked if it ends the initial events.
    pub(crate) fn bookmark(&mut self, out: &mut Vec<u8>, version: u64, initial_events_end: bool) {
        let mut metadata = json!({"resourceVersion": version.to_string()});
        if initial_events_end {
            metadata["annotations"] = json!({"k8s.io/initial-events-end": "true"});
        }
        let partial = format!("{{\"kind\":\"PartialObjectMetadata\",{META},\"metadata\":{metadata}}}");
        out.extend_from_slice(b"{\"type\":\"BOOKMARK\",\"object\":");
        match self.representation {
            ResponseForm::Objects => {
                let (kind, version) = (&self.kind.kind, self.kind.api_version());
                let object =
                    format!("{{\"kind\":\"{kind}\",\"apiVersion\":\"{version}\",\"metadata\":{metadata}}}");
                out.extend_from_slice(object.as_bytes());
            }
            ResponseForm::Metadata => out.extend_from_slice(partial.as_bytes()),
            ResponseForm::Table(include) => {
                self.table_head(out, version, None);
                let cells = Value::from(self.columns.empty_cells());
                // A real server keeps the annotation even in representations without objects.
                let object = if include == IncludeObject::Object {
                    format!("{{\"metadata\":{metadata}}}")
                } else {
                    partial
                };
                out.extend_from_slice(format!("{{\"cells\":{cells},\"object\":{object}}}]}}").as_bytes());
            }
        }
        out.extend_from_slice(b"}\n");
    }

    fn table_head(&mut self, out: &mut Vec<u8>, version: u64, object: Option<&StoredObject>) {
        let columns = if self.has_written_columns { "null".to_owned() } else { self.definitions(object) };
        self.has_written_columns = true;
        let head = format!(
            "{{\"kind\":\"Table\",{META},\"metadata\":{{\"resourceVersion\":\"{version}\"}},\
             \"columnDefinitions\":{columns},\"rows\":["
        );
        out.extend_from_slice(head.as_bytes());
    }

    fn row(&self, out: &mut Vec<u8>, object: &StoredObject, include: IncludeObject, now: Timestamp) {
        out.extend_from_slice(b"{\"cells\":");
        let value = if let Some(row) = &object.row {
            row.write_cells(&object.name, out);
            (!object.json.is_empty() && is_ended(&object.json)).then(|| object.value())
        } else {
            let value = object.value();
            out.extend_from_slice(Value::from(self.columns.cells(&value, now)).to_string().as_bytes());
            Some(value)
        };
        if let Some(conditions) = value.as_ref().and_then(Columns::conditions) {
            out.extend_from_slice(format!(",\"conditions\":{conditions}").as_bytes());
        }
        out.extend_from_slice(b",\"object\":");
        match include {
            IncludeObject::None => out.extend_from_slice(b"null"),
            IncludeObject::Metadata => metadata(out, object),
            IncludeObject::Identity => identity(out, object),
            IncludeObject::Object => out.extend_from_slice(&self.requested_version(object).json),
        }
        out.push(b'}');
    }
}

/// Returns whether the object may be a finished pod, without parsing it.
fn is_ended(json: &[u8]) -> bool {
    let phases: [&[u8]; 2] = [br#""phase":"Succeeded""#, br#""phase":"Failed""#];
    phases.iter().any(|phase| memchr::memmem::find(json, phase).is_some())
}

/// `PartialObjectMetadata`.
fn metadata(out: &mut Vec<u8>, object: &StoredObject) {
    let metadata =
        serde_json::from_slice(&object.json).map_or("{}", |one: WithMetadata<'_>| one.metadata.get());
    out.extend_from_slice(b"{\"kind\":\"PartialObjectMetadata\",");
    out.extend_from_slice(META.as_bytes());
    out.extend_from_slice(b",\"metadata\":");
    out.extend_from_slice(metadata.as_bytes());
    out.push(b'}');
}

/// `PartialObjectMetadata` with the names and the version only.
fn identity(out: &mut Vec<u8>, object: &StoredObject) {
    out.extend_from_slice(b"{\"kind\":\"PartialObjectMetadata\",");
    out.extend_from_slice(META.as_bytes());
    out.extend_from_slice(b",\"metadata\":{\"name\":");
    put_text(out, &object.name);
    if !object.namespace.is_empty() {
        out.extend_from_slice(b",\"namespace\":");
        put_text(out, &object.namespace);
    }
    out.extend_from_slice(format!(",\"resourceVersion\":\"{}\"}}}}", object.version).as_bytes());
}

fn put_text(out: &mut Vec<u8>, text: &str) {
    // Writing a text to a vector does not fail.
    let _written = serde_json::to_writer(out, text);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::memory_source::core;

    fn written(
        representation: ResponseForm,
        write: impl Fn(&mut Writer, &mut Vec<u8>, &StoredObject),
    ) -> Value {
        let kind = Arc::new(core("secrets", "Secret"));
        let secret =
            json!({"metadata": {"name": "s", "namespace": "n"}, "type": "Opaque", "data": {"a": ""}});
        let object = StoredObject::new(&kind, secret, 5);
        let mut out = Vec::new();
        write(&mut Writer::new(kind, representation), &mut out, &object);
        serde_json::from_slice(&out)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&out)))
    }

    #[test]
    fn every_representation_is_well_formed() {
        let now = Timestamp::UNIX_EPOCH;
        let list = |representation| {
            written(representation, |writer, out, object| {
                out.extend(
                    writer.list_head(&ListMeta { version: 9, ..ListMeta::default() }, None).into_bytes(),
                );
                writer.item(out, object, now);
                out.extend(b"]}");
            })
        };
        let whole = list(ResponseForm::Objects);
        assert_eq!(whole["items"][0]["type"], "Opaque");
        assert_eq!(whole["items"][0].get("kind"), None);
        assert_eq!(list(ResponseForm::Metadata)["items"][0]["kind"], "PartialObjectMetadata");
        assert_eq!(list(ResponseForm::Metadata)["items"][0].get("data"), None);
        let table = list(ResponseForm::Table(IncludeObject::None));
        assert_eq!(table["rows"][0], json!({"cells": ["s", "Opaque", 1, "<unknown>"], "object": null}));
        assert_eq!(table["columnDefinitions"][1]["name"], "Type");
        assert_eq!(list(ResponseForm::Table(IncludeObject::Object))["rows"][0]["object"]["type"], "Opaque");
    }

    #[test]
    fn bookmarks_keep_their_annotation_in_every_representation() {
        const END: &str = "k8s.io/initial-events-end";
        let bookmark =
            |representation| written(representation, |writer, out, _| writer.bookmark(out, 9, true));
        for representation in [ResponseForm::Objects, ResponseForm::Metadata] {
            assert_eq!(
                bookmark(representation)["object"]["metadata"]["annotations"][END],
                "true",
                "{representation:?}"
            );
        }
        for include in [IncludeObject::None, IncludeObject::Metadata, IncludeObject::Object] {
            let table = bookmark(ResponseForm::Table(include));
            let row = &table["object"]["rows"][0];
            assert_eq!(row["object"]["metadata"]["annotations"][END], "true", "{include:?}");
            assert_eq!(table["object"]["metadata"]["resourceVersion"], "9");
        }
    }
}
