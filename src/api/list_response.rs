//! The response to one request for a list, as a stream of objects.

use std::sync::Arc;

use bytes::{Buf, Bytes};

use super::Response;
use crate::listwatch::{Error, ListMeta};
use crate::object::{Object, ResourceVersion, TypeMeta};
use crate::wire::decode::{Decoder, Naming, list_meta, protobuf_list_meta};
use crate::wire::frames::{ListSplitter, Next, Piece, ProtobufListSplitter, ProtobufPiece};
use crate::wire::list_type::ListType;
use crate::wire::row_matcher::RowMatcher;
use crate::wire::{Limits, protobuf};

/// The response to one request for a list. It waits for chunks only, and a chunk is stored as soon as it arrives:
/// dropping a `next` future loses nothing.
pub(super) struct ListResponse {
    response: Response,
    splitter: Splitter,
    decoder: Decoder,
    /// The unread rest of the last chunk.
    chunk: Bytes,
    meta: ListMeta,
    list_type: ListType,
    /// Whether the body ended after the whole list.
    is_ended: bool,
    /// Whether a whole object arrived, which has names and a version of its own; a row has none.
    has_objects: bool,
}

/// The splitter of the response's format.
enum Splitter {
    Json(ListSplitter),
    Protobuf(ProtobufListSplitter),
}

impl ListResponse {
    pub(super) fn new(response: Response, decoder: Decoder, limits: Limits) -> Self {
        let splitter = if response.is_protobuf() {
            Splitter::Protobuf(ProtobufListSplitter::new(limits))
        } else {
            Splitter::Json(ListSplitter::new(limits))
        };
        let (chunk, meta) = (Bytes::new(), ListMeta::default());
        let list_type = ListType::new(Arc::clone(&decoder.ingest.type_meta));
        Self { response, splitter, decoder, chunk, meta, list_type, is_ended: false, has_objects: false }
    }

    /// Sets the source of the rows' names.
    pub(super) fn with_naming(mut self, naming: Naming) -> Self {
        self.decoder.naming = naming;
        self
    }

    /// Returns the matcher for the rows' names.
    pub(super) fn matcher_mut(&mut self) -> Option<&mut RowMatcher> {
        match &mut self.decoder.naming {
            Naming::Matcher(matcher) => Some(matcher),
            Naming::RequestedNamespace | Naming::Cell => None,
        }
    }

    /// Returns whether a whole object arrived, and not only rows.
    pub(super) fn has_objects(&self) -> bool {
        self.has_objects
    }

    /// Returns whether all items so far have that version, or carry versions of their own.
    pub(super) fn is_at(&self, version: &ResourceVersion) -> bool {
        self.has_objects || self.meta.resource_version == *version
    }

    /// Returns whether each entry of the matcher had a row, or none was needed.
    pub(super) fn is_exhausted(&self) -> bool {
        match &self.decoder.naming {
            Naming::Matcher(matcher) => self.has_objects || matcher.is_exhausted(),
            Naming::RequestedNamespace | Naming::Cell => true,
        }
    }

    pub(super) fn meta(&self) -> &ListMeta {
        &self.meta
    }

    /// Returns the next object.
    pub(super) async fn next(&mut self) -> Result<Option<Arc<Object>>, Error> {
        let next = self.next_object().await;
        next.map_err(|error| self.response.redaction().error(error))
    }

    async fn next_object(&mut self) -> Result<Option<Arc<Object>>, Error> {
        loop {
            if let Some(object) = self.read()? {
                return Ok(Some(object));
            }
            if !self.fill().await? {
                return Ok(None);
            }
        }
    }

    /// Reads only the names of the available items into `matcher`, then waits for more; returns whether there were
    /// any. Dropping the future loses nothing.
    pub(super) async fn read_names_into(&mut self, matcher: &mut RowMatcher) -> Result<bool, Error> {
        let more = self.fill_names(matcher).await;
        more.map_err(|error| self.response.redaction().error(error))
    }

    async fn fill_names(&mut self, matcher: &mut RowMatcher) -> Result<bool, Error> {
        while self.read_names(matcher)? {}
        self.fill().await
    }

    /// Waits for the next chunk; returns whether there was one.
    async fn fill(&mut self) -> Result<bool, Error> {
        if self.is_ended {
            return Ok(false);
        }
        // The buffer is reused for the next chunk once it is dropped everywhere.
        self.chunk = Bytes::new();
        if let Some(chunk) = self.response.chunk().await? {
            self.chunk = chunk;
            return Ok(true);
        }
        match &self.splitter {
            Splitter::Json(splitter) => splitter.finish()?,
            Splitter::Protobuf(splitter) => splitter.finish()?,
        }
        self.is_ended = true;
        Ok(false)
    }

    /// Returns the next object that is complete.
    fn read(&mut self) -> Result<Option<Arc<Object>>, Error> {
        // A piece that ends with its chunk may be found only with the next one, which may be the end.
        while !self.chunk.is_empty() {
            let mut input = &self.chunk[..];
            let object = match &mut self.splitter {
                Splitter::Json(splitter) => {
                    let next = splitter.read(&mut input, |front| self.decoder.plain_item(front))?;
                    self.has_objects |= matches!(next, Some(Next::Read(_) | Next::Piece(Piece::Item(_))));
                    match next {
                        Some(Next::Read(object)) => Some(object),
                        Some(Next::Piece(piece)) => {
                            decode_piece(piece, &mut self.decoder, &mut self.meta, &mut self.list_type)?
                        }
                        None => None,
                    }
                }
                Splitter::Protobuf(splitter) => match splitter.next(&mut input)? {
                    Some(ProtobufPiece::Item(item)) => {
                        self.has_objects = true;
                        Some(self.decoder.protobuf_item(item)?)
                    }
                    Some(ProtobufPiece::TypeMeta(message)) => {
                        self.decoder.ingest.type_meta = protobuf_type(message, &mut self.list_type)?;
                        None
                    }
                    Some(ProtobufPiece::Metadata(metadata)) => {
                        self.meta = protobuf_list_meta(metadata)?;
                        None
                    }
                    None => None,
                },
            };
            let unread = input.len();
            self.chunk.advance(self.chunk.len() - unread);
            if let Some(object) = object {
                self.list_type.check(&object)?;
                return Ok(Some(object));
            }
        }
        Ok(None)
    }

    /// Reads the names of the next complete object; returns whether there was one.
    fn read_names(&mut self, matcher: &mut RowMatcher) -> Result<bool, Error> {
        let Splitter::Protobuf(splitter) = &mut self.splitter else {
            let object = self.read()?;
            if let Some(object) = &object {
                let version = object.resource_version().to_string();
                matcher.push(object.namespace(), object.name(), &version);
            }
            return Ok(object.is_some());
        };
        let mut input = &self.chunk[..];
        while let Some(part) = splitter.next(&mut input)? {
            match part {
                ProtobufPiece::TypeMeta(message) => {
                    self.decoder.ingest.type_meta = protobuf_type(message, &mut self.list_type)?;
                }
                ProtobufPiece::Item(item) => {
                    self.list_type.refuse_untyped()?;
                    let names = protobuf::names(item)?;
                    matcher.push(&names.namespace, &names.name, &names.resource_version);
                }
                ProtobufPiece::Metadata(metadata) => self.meta = protobuf_list_meta(metadata)?,
            }
        }
        self.chunk.clear();
        Ok(false)
    }
}

/// Returns the object of a piece, if it is one.
fn decode_piece(
    piece: Piece<'_>,
    decoder: &mut Decoder,
    meta: &mut ListMeta,
    list_type: &mut ListType,
) -> Result<Option<Arc<Object>>, Error> {
    match piece {
        Piece::Item(json) => return decoder.item(json).map(Some),
        Piece::Row(json) => return decoder.row(json).map(Some),
        Piece::Columns(json) => decoder.columns(json)?,
        Piece::Metadata(json) => *meta = list_meta(json)?,
        Piece::Kind(json) => decoder.ingest.type_meta = list_type.set_kind(serde_json::from_slice(json).ok()),
        Piece::ApiVersion(json) => {
            decoder.ingest.type_meta = list_type.set_api_version(serde_json::from_slice(json).ok());
        }
    }
    Ok(None)
}

/// Sets the type of a list, and returns that of items without one.
fn protobuf_type(message: &[u8], list_type: &mut ListType) -> Result<Arc<TypeMeta>, Error> {
    let name = protobuf::type_name(message)?;
    list_type.set_kind(Some(name.kind.into_owned()));
    Ok(list_type.set_api_version(Some(name.api_version.into_owned())))
}
