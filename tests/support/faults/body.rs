//! Response bodies from the server to the client: lists unchanged, watches frame by frame.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use bytes::{Bytes, BytesMut};
use hyper::header;
use tokio::sync::{broadcast, mpsc};

use super::own_response::error_frame;
use super::script::{Bookmarks, Fault, Shared};

type Pieces = mpsc::Sender<io::Result<Bytes>>;

/// Forwards a body until one side ends, or breaks it off after `max_bytes`.
pub(super) async fn forward_body(mut from: reqwest::Response, to: Pieces, max_bytes: Option<usize>) {
    let mut left = max_bytes.unwrap_or(usize::MAX);
    loop {
        let piece = match from.chunk().await {
            Ok(Some(piece)) if piece.len() > left => {
                let _sent = to.send(Ok(piece.slice(..left))).await;
                Err(io::Error::other("broken off by the test"))
            }
            Ok(Some(piece)) => {
                left -= piece.len();
                Ok(piece)
            }
            Ok(None) => return,
            Err(error) => Err(io::Error::other(error)),
        };
        let ended = piece.is_err();
        if to.send(piece).await.is_err() || ended {
            return;
        }
    }
}

/// Forwards the frames of a watch until one side or a fault ends it.
pub(super) async fn forward_watch(
    mut from: reqwest::Response,
    to: Pieces,
    mut faults: broadcast::Receiver<Fault>,
    shared: Arc<Shared>,
) {
    let _counted = WatchGuard::new(&shared);
    let content_type =
        from.headers().get(header::CONTENT_TYPE).and_then(|content_type| content_type.to_str().ok());
    let protobuf = content_type.is_some_and(|content_type| content_type.contains("protobuf"));
    shared.protobuf_watches.fetch_add(usize::from(protobuf), Ordering::SeqCst);
    let mut frames =
        Frames { to: to.clone(), shared, rest: BytesMut::new(), protobuf, pending: None, stalled: false };
    loop {
        let is_open = tokio::select! {
            biased;
            () = to.closed() => return,
            fault = faults.recv() => match fault {
                Ok(fault) => frames.apply(fault).await,
                Err(broadcast::error::RecvError::Lagged(_)) => true,
                Err(broadcast::error::RecvError::Closed) => return,
            },
            piece = from.chunk(), if !frames.stalled => match piece {
                Ok(Some(piece)) => frames.push(&piece).await,
                Ok(None) => return,
                Err(error) => {
                    let _sent = to.send(Err(io::Error::other(error))).await;
                    return;
                }
            },
        };
        if !is_open {
            return;
        }
    }
}

/// A guard that counts an open watch.
struct WatchGuard(Arc<Shared>);

impl WatchGuard {
    fn new(shared: &Arc<Shared>) -> Self {
        shared.watches.fetch_add(1, Ordering::SeqCst);
        Self(Arc::clone(shared))
    }
}

impl Drop for WatchGuard {
    fn drop(&mut self) {
        self.0.watches.fetch_sub(1, Ordering::SeqCst);
    }
}

/// The frames of one watch. Its methods return whether the watch continues.
struct Frames {
    to: Pieces,
    shared: Arc<Shared>,
    /// The bytes of an incomplete frame.
    rest: BytesMut,
    /// Whether each frame has a length prefix; otherwise it ends with a newline.
    protobuf: bool,
    /// The fault that applies to the next frame.
    pending: Option<Fault>,
    stalled: bool,
}

impl Frames {
    /// Applies a fault at once, or keeps it for the next frame.
    async fn apply(&mut self, fault: Fault) -> bool {
        match fault {
            Fault::End => false,
            Fault::Stall => {
                self.stalled = true;
                true
            }
            Fault::Error(code) => {
                let _sent = self.send(error_frame(code).into()).await;
                false
            }
            Fault::Garbage => self.send(Bytes::from_static(b"<html>502 Bad Gateway</html>\n")).await,
            Fault::Truncate | Fault::Break | Fault::Corrupt | Fault::TruncateAt(_) | Fault::BreakAt(_) => {
                // A corrupted frame follows a stall, which therefore ends.
                self.stalled &= !matches!(fault, Fault::Corrupt);
                self.pending = Some(fault);
                true
            }
            Fault::Cut | Fault::Reset | Fault::GoAway | Fault::Freeze => true,
        }
    }

    /// Forwards the frames that these bytes complete.
    async fn push(&mut self, bytes: &[u8]) -> bool {
        self.rest.extend_from_slice(bytes);
        while let Some(length) = self.first_frame_length() {
            let frame = self.rest.split_to(length).freeze();
            if !self.forward_frame(frame).await {
                return false;
            }
        }
        true
    }

    /// Returns the length of the first complete frame.
    fn first_frame_length(&self) -> Option<usize> {
        if !self.protobuf {
            return memchr::memchr(b'\n', &self.rest).map(|end| end + 1);
        }
        let length = u32::from_be_bytes(*self.rest.first_chunk()?);
        let length = size_of_val(&length) + usize::try_from(length).ok()?;
        (self.rest.len() >= length).then_some(length)
    }

    /// Forwards one frame, with the pending fault.
    async fn forward_frame(&mut self, frame: Bytes) -> bool {
        let is_forwarded = match self.shared.script().bookmarks {
            Bookmarks::All => true,
            Bookmarks::NoEnd => !contains(&frame, br#""k8s.io/initial-events-end":"true""#),
            Bookmarks::None => !frame.starts_with(br#"{"type":"BOOKMARK""#),
        };
        let pending = self.pending.take();
        let half = match pending {
            Some(Fault::TruncateAt(at) | Fault::BreakAt(at)) => frame.slice(..at % frame.len()),
            _ => frame.slice(..frame.len() / 2),
        };
        match pending {
            None if is_forwarded => self.send(frame).await,
            None => true,
            Some(Fault::Corrupt) => {
                let mut bytes = frame.to_vec();
                // The quote that ends the type.
                if let Some(quote) = bytes.iter().skip(9).position(|byte| *byte == b'"') {
                    bytes[9 + quote] = b'_';
                }
                self.send(bytes.into()).await
            }
            Some(Fault::Break | Fault::BreakAt(_)) => {
                let _sent =
                    (self.send(half).await, self.to.send(Err(io::Error::other("injected fault"))).await);
                false
            }
            Some(_) => {
                let _sent = self.send(half).await;
                false
            }
        }
    }

    /// Sends bytes in the configured pieces.
    async fn send(&self, mut bytes: Bytes) -> bool {
        let (piece, delay) = {
            let script = self.shared.script();
            (script.piece_size.unwrap_or(usize::MAX), script.delay)
        };
        while !bytes.is_empty() {
            // Separates the pieces into reads of their own, zero unless a test sets it.
            tokio::time::sleep(delay).await;
            let next = bytes.split_to(piece.min(bytes.len()));
            if self.to.send(Ok(next)).await.is_err() {
                return false;
            }
        }
        true
    }
}

fn contains(frame: &[u8], words: &[u8]) -> bool {
    memchr::memmem::find(frame, words).is_some()
}
