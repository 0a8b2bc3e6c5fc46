//! Decodes the events of a watch.

use std::sync::Arc;

use super::Decoder;
use super::metadata::{Metadata, ObjectHead};
use crate::listwatch::{Error, WatchEvent};
use crate::object::{Object, ResourceVersion};
use crate::wire::frames::WatchFrame;
use crate::wire::malformed::malformed;
use crate::wire::representation::Representation;
use crate::wire::status;
use crate::wire::table::{PlainRow, WireTable};

impl Decoder {
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
}

/// Returns the event of an object for its type on the wire; `None` if it is another event, or none of the API's.
pub(super) fn event_of(event_type: &str) -> Option<fn(Arc<Object>) -> WatchEvent> {
    match event_type {
        "ADDED" => Some(WatchEvent::Added),
        "MODIFIED" => Some(WatchEvent::Modified),
        "DELETED" => Some(WatchEvent::Deleted),
        _ => None,
    }
}

/// The error of an event of an unknown type: skipping it could lose data.
pub(super) fn unknown_event_type() -> Error {
    Error::Decode("malformed watch event: its type is none of the API's".into())
}

pub(super) fn bookmarked(version: ResourceVersion, initial_events_end: bool) -> Result<WatchEvent, Error> {
    if version.is_unset() {
        return Err(Error::Decode("malformed bookmark: it has no resourceVersion".into()));
    }
    Ok(WatchEvent::Bookmark { resource_version: version, initial_events_end })
}
