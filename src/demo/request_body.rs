//! Request bodies: each is bounded in size and time, and all of them together in size.

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::Body;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::api_error::ApiError;
use super::clock::Clock;

/// The largest body that a real server accepts.
const LARGEST: usize = 3 * 1024 * 1024;

/// The total size of all bodies that are being read or processed.
const TOGETHER: usize = 32 * 1024 * 1024;

/// Bytes per permit: a semaphore has fewer permits than a body can have bytes.
const UNIT: usize = 1024;

/// The time a client has to send a body: the request timeout of a real server.
const TIME: Duration = Duration::from_mins(1);

/// The memory budget that all request bodies share.
///
/// A semaphore of kilobytes, never closed. Requests do not wait for permits, because a client that sends slowly must not
/// delay others: a request that exceeds the budget is refused with 429, which clients retry.
pub(super) struct BodyBudget(Arc<Semaphore>);

impl Default for BodyBudget {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(TOGETHER / UNIT)))
    }
}

/// A complete body. It holds its part of the budget until it is dropped.
#[derive(Debug)]
pub(super) struct RequestBody {
    pub(super) bytes: Bytes,
    _room: Option<OwnedSemaphorePermit>,
}

impl BodyBudget {
    /// Reads a body.
    ///
    /// # Errors
    /// The body is too large, incomplete or too slow, or exceeds the shared budget.
    pub(super) async fn read<B>(&self, clock: &Clock, body: B) -> Result<RequestBody, ApiError>
    where
        B: Body<Data = Bytes>,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let hint = body.size_hint();
        let largest = hint.upper().and_then(|size| usize::try_from(size).ok()).unwrap_or(LARGEST);
        let is_too_large = usize::try_from(hint.lower()).is_ok_and(|least| least > LARGEST);
        let mut body = pin!(body);
        let mut timeout = pin!(clock.reaches(clock.elapsed() + TIME));
        if !is_too_large {
            let room = self.take(largest.min(LARGEST))?;
            let whole = tokio::select! {
                whole = Limited::new(body.as_mut(), LARGEST).collect() => whole,
                () = &mut timeout => return Err(ApiError::timeout()),
            };
            match whole {
                Ok(body) => return Ok(RequestBody { bytes: body.to_bytes(), _room: room }),
                Err(error) if error.is::<LengthLimitError>() => {}
                Err(_) => return Err(ApiError::bad_request("the body of the request broke off")),
            }
        }
        tokio::select! {
            () = discard(body) => {}
            () = timeout => {}
        }
        Err(ApiError::too_large())
    }

    fn take(&self, size: usize) -> Result<Option<OwnedSemaphorePermit>, ApiError> {
        let units = u32::try_from(size.div_ceil(UNIT)).unwrap_or(u32::MAX);
        if units == 0 {
            return Ok(None);
        }
        let room = Arc::clone(&self.0).try_acquire_many_owned(units);
        room.map(Some).map_err(|_| ApiError::too_many_requests())
    }
}

/// Reads and drops the rest of a refused body, up to [`LARGEST`] bytes. A client that is still sending when the connection is
/// closed would see a reset connection instead of the response.
async fn discard<B: Body<Data = Bytes>>(mut body: Pin<&mut B>) {
    let mut left = LARGEST;
    while let Some(Ok(frame)) = body.frame().await {
        match left.checked_sub(frame.data_ref().map_or(0, Bytes::len)) {
            Some(rest) => left = rest,
            None => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::{Context, Poll};

    use futures_util::stream;
    use http_body_util::{Full, StreamBody};
    use hyper::body::{Frame, SizeHint};

    use super::*;

    /// A body of unknown length that stalls after `size` bytes.
    fn stalled(size: usize) -> impl Body<Data = Bytes, Error = Infallible> + Send + 'static {
        let first = stream::iter([Ok(Frame::data(Bytes::from(vec![b'a'; size])))]);
        StreamBody::new(Box::pin(futures_util::StreamExt::chain(first, stream::pending())))
    }

    /// A body of a known length that never arrives.
    struct Announced(u64);

    impl Body for Announced {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(
            self: Pin<&mut Self>,
            _context: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
            Poll::Pending
        }

        fn size_hint(&self) -> SizeHint {
            SizeHint::with_exact(self.0)
        }
    }

    fn clock() -> Clock {
        Clock::new(jiff::Timestamp::UNIX_EPOCH)
    }

    async fn code<B>(room: &BodyBudget, body: B) -> u16
    where
        B: Body<Data = Bytes, Error = Infallible>,
    {
        room.read(&clock(), body).await.map_or_else(|refusal| refusal.code, |_| 200)
    }

    #[tokio::test(start_paused = true)]
    async fn concurrent_bodies_share_a_bounded_budget() {
        let room = Arc::new(BodyBudget::default());
        let mut reading = tokio::task::JoinSet::new();
        for _ in 0..100 {
            let room = Arc::clone(&room);
            reading.spawn(async move { code(&room, stalled(LARGEST - 1)).await });
        }
        // Stalled bodies hold their permits until the timeout; the rest are refused.
        let mut codes = Vec::new();
        while let Some(code) = reading.join_next().await {
            codes.push(code.expect("no panic"));
        }
        let count = |code| codes.iter().filter(|one| **one == code).count();
        assert_eq!((count(504), count(429)), (TOGETHER / LARGEST, 100 - TOGETHER / LARGEST), "{codes:?}");
        assert_eq!(code(&room, Full::from("{}")).await, 200);
        let held = room.read(&clock(), Full::from(vec![b'a'; LARGEST])).await.expect("a body");
        assert_eq!(room.0.available_permits(), (TOGETHER - LARGEST) / UNIT);
        drop(held);
        assert_eq!(room.0.available_permits(), TOGETHER / UNIT);
    }

    #[tokio::test(start_paused = true)]
    async fn oversized_bodies_are_refused() {
        let room = BodyBudget::default();
        assert_eq!(code(&room, Announced(LARGEST as u64 + 1)).await, 413);
        assert_eq!(code(&room, Announced(LARGEST as u64)).await, 504);
        assert_eq!(code(&room, Full::from(vec![b'a'; LARGEST + 1])).await, 413);
        assert_eq!(code(&room, stalled(LARGEST + 1)).await, 413);
        assert_eq!(code(&room, Full::from("")).await, 200);
    }

    /// The refusal is sent once the client has sent its body, or twice the limit.
    #[tokio::test(start_paused = true)]
    async fn rest_of_a_refused_body_is_read_up_to_a_limit() {
        const PIECE: usize = 8 * 1024;
        for (sent, read) in [(LARGEST + PIECE, LARGEST + PIECE), (100 * LARGEST, 2 * LARGEST + 2 * PIECE)] {
            let taken = Arc::new(AtomicUsize::new(0));
            let pieces = stream::iter((0..sent / PIECE).map({
                let taken = Arc::clone(&taken);
                move |_| {
                    taken.fetch_add(PIECE, Ordering::Relaxed);
                    Ok::<_, Infallible>(Frame::data(Bytes::from_static(&[b'a'; PIECE])))
                }
            }));
            assert_eq!(code(&BodyBudget::default(), StreamBody::new(pieces)).await, 413);
            assert_eq!(taken.load(Ordering::Relaxed), read);
        }
    }
}
