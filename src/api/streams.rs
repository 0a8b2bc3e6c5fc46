//! The bodies of lists and watches as streams of objects and events.
//!
//! Both wait for chunks and for nothing else, and a chunk is kept from the moment it is there: dropping a `next` loses
//! nothing.

use std::sync::Arc;

use bytes::{Buf, Bytes};

use super::decode::{Decoder, list_meta};
use super::frames::{ListSplitter, Piece, WatchSplitter};
use super::{Limits, Response};
use crate::listwatch::{Error, ListMeta, ListStream, WatchEvent, WatchStream};
use crate::object::Object;

/// A page of a list as it arrives.
pub struct ResourceList {
    response: Response,
    splitter: ListSplitter,
    decoder: Decoder,
    /// What is not yet read of the last chunk.
    chunk: Bytes,
    meta: ListMeta,
    ended: bool,
}

impl ResourceList {
    pub(super) fn new(response: Response, decoder: Decoder, limits: Limits) -> Self {
        let splitter = ListSplitter::new(limits);
        Self { response, splitter, decoder, chunk: Bytes::new(), meta: ListMeta::default(), ended: false }
    }

    /// The next object that is wholly there.
    fn read(&mut self) -> Result<Option<Arc<Object>>, Error> {
        while !self.chunk.is_empty() {
            let mut input = &self.chunk[..];
            let piece = self.splitter.next(&mut input)?;
            let unread = input.len();
            let object = match piece {
                Some(Piece::Item(json)) => Some(self.decoder.item(json)?),
                Some(Piece::Row(json)) => Some(self.decoder.row(json)?),
                Some(Piece::Columns(json)) => {
                    self.decoder.columns(json)?;
                    None
                }
                Some(Piece::Metadata(json)) => {
                    self.meta = list_meta(json)?;
                    None
                }
                // The resource's own kind is known; a list of another one would be a server's mistake.
                Some(Piece::Kind(_) | Piece::ApiVersion(_)) | None => None,
            };
            self.chunk.advance(self.chunk.len() - unread);
            if object.is_some() {
                return Ok(object);
            }
        }
        Ok(None)
    }
}

impl ListStream for ResourceList {
    async fn next(&mut self) -> Result<Option<Arc<Object>>, Error> {
        loop {
            if let Some(object) = self.read()? {
                return Ok(Some(object));
            }
            if self.ended {
                return Ok(None);
            }
            if let Some(chunk) = self.response.chunk().await? {
                self.chunk = chunk;
            } else {
                self.splitter.finish()?;
                self.ended = true;
            }
        }
    }

    fn meta(&self) -> &ListMeta {
        &self.meta
    }
}

/// The events of a watch as they arrive.
pub struct ResourceWatch {
    response: Response,
    splitter: WatchSplitter,
    decoder: Decoder,
    /// What is not yet read of the last chunk.
    chunk: Bytes,
    /// The body ended, or an error was told: there is nothing more.
    ended: bool,
}

impl ResourceWatch {
    pub(super) fn new(response: Response, decoder: Decoder, limits: Limits) -> Self {
        Self { response, splitter: WatchSplitter::new(limits), decoder, chunk: Bytes::new(), ended: false }
    }

    /// The next event that is wholly there.
    fn read(&mut self) -> Result<Option<WatchEvent>, Error> {
        let mut input = &self.chunk[..];
        let event = match self.splitter.next(&mut input)? {
            Some(frame) => Some(self.decoder.frame(frame)?),
            None => None,
        };
        let unread = input.len();
        self.chunk.advance(self.chunk.len() - unread);
        Ok(event)
    }

    async fn event(&mut self) -> Result<Option<WatchEvent>, Error> {
        loop {
            if let Some(event) = self.read()? {
                return Ok(Some(event));
            }
            // Between two frames nothing is lost by going on with the rest over another connection.
            let chunk = match self.splitter.finish() {
                Ok(()) => self.response.chunk_while_in_use().await?,
                Err(_) => self.response.chunk().await?,
            };
            match chunk {
                Some(chunk) => self.chunk = chunk,
                None => return self.splitter.finish().map(|()| None),
            }
        }
    }
}

impl WatchStream for ResourceWatch {
    async fn next(&mut self) -> Option<Result<WatchEvent, Error>> {
        if self.ended {
            return None;
        }
        let event = self.event().await;
        self.ended = !matches!(event, Ok(Some(_)));
        event.transpose()
    }
}
