//! Request bodies, bounded in size and time, with a bound on their total size.

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::Body;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::server::api_error::ApiError;
use crate::server::clock::Clock;

/// The largest body that a real server accepts.
const MAX_BODY_SIZE: usize = 3 * 1024 * 1024;

/// The maximum total size of all bodies that are being read or processed.
const MAX_TOTAL_SIZE: usize = 32 * 1024 * 1024;

/// Bytes per permit: a semaphore has fewer permits than a body can have bytes.
const PERMIT_SIZE: usize = 1024;

/// The time limit for receiving a body: the request timeout of a real server.
const BODY_TIMEOUT: Duration = Duration::from_mins(1);

/// The memory budget that all request bodies share.
///
/// A semaphore of kilobytes, never closed. Requests do not wait for permits, because a client that sends slowly must not
/// delay others: a request that exceeds the budget is rejected with 429, which clients retry.
pub(crate) struct BodyBudget(Arc<Semaphore>);

impl Default for BodyBudget {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(MAX_TOTAL_SIZE / PERMIT_SIZE)))
    }
}

/// A complete body. It holds its part of the budget until it is dropped.
#[derive(Debug)]
pub(crate) struct RequestBody {
    pub(crate) bytes: Bytes,
    _permit: Option<OwnedSemaphorePermit>,
}

impl BodyBudget {
    /// Reads a body.
    ///
    /// # Errors
    /// The body is too large, incomplete or too slow, or exceeds the shared budget.
    pub(crate) async fn read<B>(&self, clock: &Clock, body: B) -> Result<RequestBody, ApiError>
    where
        B: Body<Data = Bytes>,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let hint = body.size_hint();
        let largest = hint.upper().and_then(|size| usize::try_from(size).ok()).unwrap_or(MAX_BODY_SIZE);
        let is_too_large = usize::try_from(hint.lower()).is_ok_and(|least| least > MAX_BODY_SIZE);
        let mut body = pin!(body);
        let mut timeout = pin!(clock.reaches(clock.elapsed() + BODY_TIMEOUT));
        if !is_too_large {
            let permit = self.reserve(largest.min(MAX_BODY_SIZE))?;
            let collected = tokio::select! {
                collected = Limited::new(body.as_mut(), MAX_BODY_SIZE).collect() => collected,
                () = &mut timeout => return Err(ApiError::timeout()),
            };
            match collected {
                Ok(body) => return Ok(RequestBody { bytes: body.to_bytes(), _permit: permit }),
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

    fn reserve(&self, size: usize) -> Result<Option<OwnedSemaphorePermit>, ApiError> {
        let units = u32::try_from(size.div_ceil(PERMIT_SIZE)).unwrap_or(u32::MAX);
        if units == 0 {
            return Ok(None);
        }
        let permit = Arc::clone(&self.0).try_acquire_many_owned(units);
        permit.map(Some).map_err(|_| ApiError::too_many_requests())
    }
}

/// Reads and drops the rest of a rejected body, up to [`MAX_BODY_SIZE`] bytes. A client that is still sending when the connection is
/// closed would see a reset connection instead of the response.
async fn discard<B: Body<Data = Bytes>>(mut body: Pin<&mut B>) {
    let mut remaining = MAX_BODY_SIZE;
    while let Some(Ok(frame)) = body.frame().await {
        match remaining.checked_sub(frame.data_ref().map_or(0, Bytes::len)) {
            Some(rest) => remaining = rest,
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

    async fn code<B>(budget: &BodyBudget, body: B) -> u16
    where
        B: Body<Data = Bytes, Error = Infallible>,
    {
        budget.read(&clock(), body).await.map_or_else(|error| error.code, |_| 200)
    }

    #[tokio::test(start_paused = true)]
    async fn concurrent_bodies_share_a_bounded_budget() {
        let budget = Arc::new(BodyBudget::default());
        let mut reading = tokio::task::JoinSet::new();
        for _ in 0..100 {
            let budget = Arc::clone(&budget);
            reading.spawn(async move { code(&budget, stalled(MAX_BODY_SIZE - 1)).await });
        }
        // Stalled bodies hold their permits until the timeout; the rest are rejected.
        let mut codes = Vec::new();
        while let Some(code) = reading.join_next().await {
            codes.push(code.expect("no panic"));
        }
        let count = |code| codes.iter().filter(|one| **one == code).count();
        assert_eq!(
            (count(504), count(429)),
            (MAX_TOTAL_SIZE / MAX_BODY_SIZE, 100 - MAX_TOTAL_SIZE / MAX_BODY_SIZE),
            "{codes:?}"
        );
        assert_eq!(code(&budget, Full::from("{}")).await, 200);
        let body = budget.read(&clock(), Full::from(vec![b'a'; MAX_BODY_SIZE])).await.expect("a body");
        assert_eq!(budget.0.available_permits(), (MAX_TOTAL_SIZE - MAX_BODY_SIZE) / PERMIT_SIZE);
        drop(body);
        assert_eq!(budget.0.available_permits(), MAX_TOTAL_SIZE / PERMIT_SIZE);
    }

    #[tokio::test(start_paused = true)]
    async fn oversized_bodies_are_rejected() {
        let budget = BodyBudget::default();
        assert_eq!(code(&budget, Announced(MAX_BODY_SIZE as u64 + 1)).await, 413);
        assert_eq!(code(&budget, Announced(MAX_BODY_SIZE as u64)).await, 504);
        assert_eq!(code(&budget, Full::from(vec![b'a'; MAX_BODY_SIZE + 1])).await, 413);
        assert_eq!(code(&budget, stalled(MAX_BODY_SIZE + 1)).await, 413);
        assert_eq!(code(&budget, Full::from("")).await, 200);
    }

    /// The error is sent once the client has sent its body, or twice the limit.
    #[tokio::test(start_paused = true)]
    async fn rest_of_a_rejected_body_is_read_up_to_a_limit() {
        const CHUNK: usize = 8 * 1024;
        for (sent, read) in [
            (MAX_BODY_SIZE + CHUNK, MAX_BODY_SIZE + CHUNK),
            (100 * MAX_BODY_SIZE, 2 * MAX_BODY_SIZE + 2 * CHUNK),
        ] {
            let sent_bytes = Arc::new(AtomicUsize::new(0));
            let chunks = stream::iter((0..sent / CHUNK).map({
                let sent_bytes = Arc::clone(&sent_bytes);
                move |_| {
                    sent_bytes.fetch_add(CHUNK, Ordering::Relaxed);
                    Ok::<_, Infallible>(Frame::data(Bytes::from_static(&[b'a'; CHUNK])))
                }
            }));
            assert_eq!(code(&BodyBudget::default(), StreamBody::new(chunks)).await, 413);
            assert_eq!(sent_bytes.load(Ordering::Relaxed), read);
        }
    }
}
