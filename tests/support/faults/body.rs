//! Response bodies from the server to the client: lists unchanged, watches frame by frame.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use bytes::{Bytes, BytesMut};
use hyper::header;
use tokio::sync::{broadcast, mpsc};

use super::own_response::error_frame;
use super::script::{Bookmarks, Shared, Strike};

type Pieces = mpsc::Sender<io::Result<Bytes>>;

/// Forwards a body until one side ends, or breaks it off after this many bytes.
pub(super) async fn carry(mut from: reqwest::Response, to: Pieces, most: Option<usize>) {
    let mut left = most.unwrap_or(usize::MAX);
    loop {
        let piece = match from.chunk().await {
            Ok(Some(piece)) if piece.len() > left => {
                let _sent = to.send(Ok(piece.slice(..left))).await;
                Err(io::Error::other("it breaks off"))
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

/// Forwards the frames of a watch until one side or a strike ends it.
pub(super) async fn carry_frames(
    mut from: reqwest::Response,
    to: Pieces,
    mut strikes: broadcast::Receiver<Strike>,
    shared: Arc<Shared>,
) {
    let _counted = WatchGuard::one_more(&shared);
    let form = from.headers().get(header::CONTENT_TYPE).and_then(|form| form.to_str().ok());
    let protobuf = form.is_some_and(|form| form.contains("protobuf"));
    shared.protobuf_watches.fetch_add(usize::from(protobuf), Ordering::SeqCst);
    let mut frames =
        Frames { to: to.clone(), shared, rest: BytesMut::new(), protobuf, armed: None, stalled: false };
    loop {
        let goes_on = tokio::select! {
            biased;
            () = to.closed() => return,
            strike = strikes.recv() => match strike {
                Ok(strike) => frames.struck(strike).await,
                Err(broadcast::error::RecvError::Lagged(_)) => true,
                Err(broadcast::error::RecvError::Closed) => return,
            },
            piece = from.chunk(), if !frames.stalled => match piece {
                Ok(Some(piece)) => frames.take(&piece).await,
                Ok(None) => return,
                Err(error) => {
                    let _sent = to.send(Err(io::Error::other(error))).await;
                    return;
                }
            },
        };
        if !goes_on {
            return;
        }
    }
}

/// A guard that counts an open watch.
struct WatchGuard(Arc<Shared>);

impl WatchGuard {
    fn one_more(shared: &Arc<Shared>) -> Self {
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
    /// True if each frame has a length prefix; otherwise it ends with a newline.
    protobuf: bool,
    /// The strike that applies to the next frame.
    armed: Option<Strike>,
    stalled: bool,
}

impl Frames {
    async fn struck(&mut self, strike: Strike) -> bool {
        match strike {
            Strike::End => false,
            Strike::Stall => {
                self.stalled = true;
                true
            }
            Strike::Error(code) => {
                let _sent = self.send(error_frame(code).into()).await;
                false
            }
            Strike::Garbage => self.send(Bytes::from_static(b"<html>502 Bad Gateway</html>\n")).await,
            Strike::Truncate
            | Strike::Break
            | Strike::Corrupt
            | Strike::TruncateAt(_)
            | Strike::BreakAt(_) => {
                // The withheld frame is corrupted.
                self.stalled &= !matches!(strike, Strike::Corrupt);
                self.armed = Some(strike);
                true
            }
            Strike::Cut | Strike::Reset | Strike::GoAway | Strike::Freeze => true,
        }
    }

    /// Forwards the frames that these bytes complete.
    async fn take(&mut self, bytes: &[u8]) -> bool {
        self.rest.extend_from_slice(bytes);
        while let Some(length) = self.whole() {
            let frame = self.rest.split_to(length).freeze();
            if !self.frame(frame).await {
                return false;
            }
        }
        true
    }

    /// Returns the length of the first complete frame.
    fn whole(&self) -> Option<usize> {
        if !self.protobuf {
            return memchr::memchr(b'\n', &self.rest).map(|end| end + 1);
        }
        let length = u32::from_be_bytes(*self.rest.first_chunk()?);
        let length = size_of_val(&length) + usize::try_from(length).ok()?;
        (self.rest.len() >= length).then_some(length)
    }

    async fn frame(&mut self, frame: Bytes) -> bool {
        let passes = match self.shared.script().bookmarks {
            Bookmarks::All => true,
            Bookmarks::NoEnd => !contains(&frame, br#""k8s.io/initial-events-end":"true""#),
            Bookmarks::None => !frame.starts_with(br#"{"type":"BOOKMARK""#),
        };
        let armed = self.armed.take();
        let half = match armed {
            Some(Strike::TruncateAt(at) | Strike::BreakAt(at)) => frame.slice(..at % frame.len()),
            _ => frame.slice(..frame.len() / 2),
        };
        match armed {
            None if passes => self.send(frame).await,
            None => true,
            Some(Strike::Corrupt) => {
                let mut bytes = frame.to_vec();
                // The quote that ends the type.
                if let Some(quote) = bytes.iter().skip(9).position(|byte| *byte == b'"') {
                    bytes[9 + quote] = b'_';
                }
                self.send(bytes.into()).await
            }
            Some(Strike::Break | Strike::BreakAt(_)) => {
                let _sent = (self.send(half).await, self.to.send(Err(io::Error::other("struck"))).await);
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
            (script.piece.unwrap_or(usize::MAX), script.delay)
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
