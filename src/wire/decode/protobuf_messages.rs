//! Decodes objects, events and the metadata of lists in Protocol Buffers.

use std::sync::Arc;

use super::events::{bookmarked, event_of, unknown_event_type};
use super::{Decoder, KEPT_CAPACITY, ingested};
use crate::listwatch::{Error, ListMeta, WatchEvent};
use crate::object::{Object, ResourceVersion, TypeMeta};
use crate::wire::{protobuf, status};

impl Decoder {
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
}

/// Decodes the metadata of a list in Protocol Buffers.
pub(crate) fn protobuf_list_meta(message: &[u8]) -> Result<ListMeta, Error> {
    let (version, token) = protobuf::list_meta(message)?;
    Ok(ListMeta { resource_version: ResourceVersion::new(&version), continue_token: token.into_owned() })
}
