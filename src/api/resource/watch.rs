//! The body of a watch as a stream of events.

use std::cell::RefCell;

use bytes::{Buf, Bytes};

use crate::api::Response;
use crate::listwatch::{Error, WatchEvent, WatchStream};
use crate::wire::Limits;
use crate::wire::decode::Decoder;
use crate::wire::frames::{ProtobufWatchSplitter, WatchSplitter};

/// The events of a watch as they arrive. It waits for chunks only, and a chunk is stored as soon as it arrives:
/// dropping a `next` future loses nothing.
pub struct ResourceWatch {
    response: Response,
    splitter: EventSplitter,
    decoder: Decoder,
    /// The unread rest of the last chunk.
    chunk: Bytes,
    /// Whether the body ended, or an error was returned: nothing follows.
    is_ended: bool,
}

/// The splitter of the events' format.
enum EventSplitter {
    /// Boxed: futures hold it.
    Json(Box<WatchSplitter>),
    Protobuf(ProtobufWatchSplitter),
}

impl EventSplitter {
    /// Checks that the body ended after a complete frame.
    fn finish(&self) -> Result<(), Error> {
        match self {
            Self::Json(splitter) => splitter.finish(),
            Self::Protobuf(splitter) => splitter.finish(),
        }
    }
}

impl ResourceWatch {
    pub(super) fn new(response: Response, decoder: Decoder, limits: Limits) -> Self {
        let splitter = if response.is_protobuf() {
            EventSplitter::Protobuf(ProtobufWatchSplitter::new(limits))
        } else {
            EventSplitter::Json(Box::new(WatchSplitter::new(limits)))
        };
        Self { response, splitter, decoder, chunk: Bytes::new(), is_ended: false }
    }

    /// Returns the next event that is complete.
    fn read(&mut self) -> Result<Option<WatchEvent>, Error> {
        let mut input = &self.chunk[..];
        let event = match &mut self.splitter {
            EventSplitter::Json(splitter) => {
                // Only one of the two closures is called; the cell lends the decoder to it.
                let decoder = RefCell::new(&mut self.decoder);
                splitter.read(
                    &mut input,
                    |line| decoder.borrow_mut().plain_frame(line),
                    |frame| decoder.borrow_mut().frame(frame),
                )?
            }
            EventSplitter::Protobuf(splitter) => {
                splitter.next(&mut input)?.map(|frame| self.decoder.protobuf_frame(frame)).transpose()?
            }
        };
        let unread = input.len();
        self.chunk.advance(self.chunk.len() - unread);
        Ok(event)
    }

    /// Waits for the next event; `None` at the end of the body.
    async fn next_event(&mut self) -> Result<Option<WatchEvent>, Error> {
        loop {
            if let Some(event) = self.read()? {
                if matches!(event, WatchEvent::Bookmark { initial_events_end: true, .. }) {
                    self.response.end_silence_reports();
                }
                return Ok(Some(event));
            }
            // The buffer is reused for the next chunk once it is dropped everywhere.
            self.chunk = Bytes::new();
            // Between two frames the watch can continue on another connection without loss.
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
        if self.is_ended {
            return None;
        }
        let event = self.next_event().await.map_err(|error| self.response.redaction().error(error));
        self.is_ended = !matches!(event, Ok(Some(_)));
        event.transpose()
    }
}
