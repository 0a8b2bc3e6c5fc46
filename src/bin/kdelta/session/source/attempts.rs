//! Limits for the attempts of a one-shot request: how many are made, and the time for all of them.
//!
//! The rules are kubectl's where it has any. A refusal ends the command unless it has a `Retry-After`, which is
//! followed for ten attempts. A response that can't be read, or whose connection broke, is requested three times.
//! `--request-timeout` bounds a request with all its attempts.

use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use kdelta::clock::{Clock, TokioClock};
use kdelta::listwatch::Error;
use kdelta::reflector::{Observer, Phase, ReflectorEvent};

/// The number of attempts for a request whose responses can't be read.
const MAX_UNREADABLE: u32 = 3;

/// The number of attempts for a request that the server throttles with `Retry-After`: kubectl's.
const MAX_THROTTLED: u32 = 10;

/// The first wait before a request is repeated; each further one is twice as long. The reflector's back-off between lists
/// has the same first steps, each up to twice as long.
const FIRST_WAIT: Duration = Duration::from_millis(800);

/// The attempts of the current request of one source.
pub(crate) struct Attempts {
    timeout: Option<Duration>,
    /// Whether the server has ever accepted a list or a watch.
    has_responded: Arc<AtomicBool>,
    /// A std mutex: held for a read or an update, by one request at a time.
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    unreadable: u32,
    /// Whether the last failure was counted: a reflector finds others, such as a list without end, that another attempt
    /// does not fix.
    is_counted: bool,
    throttled: u32,
    /// The end of the time for the current request.
    due: Option<Instant>,
    /// Whether requesting the initial state through a watch failed.
    watch_list_failed: bool,
}

impl Attempts {
    /// Creates a counter for requests that are each limited to `timeout`, retries included.
    pub(super) fn new(timeout: Option<Duration>, has_responded: Arc<AtomicBool>) -> Self {
        Self { timeout, has_responded, state: Mutex::default() }
    }

    /// Begins another request: resets its time and its attempts.
    pub(super) fn begin(&self) {
        let mut state = self.lock();
        (state.throttled, state.due, state.is_counted) = (0, None, false);
    }

    /// Returns the deadline of the current request, which starts with its first attempt; `None` without a time limit.
    ///
    /// # Errors
    /// [`Error::Timeout`] if the deadline has passed.
    pub(super) fn due(&self) -> Result<Option<Instant>, Error> {
        let Some(timeout) = self.timeout else { return Ok(None) };
        let now = TokioClock.now();
        let due = *self.lock().due.get_or_insert(now + timeout);
        if due <= now { Err(self.timed_out()) } else { Ok(Some(due)) }
    }

    /// Returns the output of a part of the current request.
    ///
    /// # Errors
    /// [`Error::Timeout`] if the deadline passes first.
    pub(super) async fn in_time<T>(&self, future: impl Future<Output = T>) -> Result<T, Error> {
        let Some(due) = self.due()? else { return Ok(future.await) };
        let left = due.saturating_duration_since(TokioClock.now());
        tokio::select! {
            biased;
            output = future => Ok(output),
            () = async { TokioClock.sleep(left).await } => Err(self.timed_out()),
        }
    }

    fn timed_out(&self) -> Error {
        let timeout = self.timeout.unwrap_or_default().as_secs_f64();
        Error::Timeout(
            format!("the server did not respond within the {timeout}s of --request-timeout").into(),
        )
    }

    /// Counts a failed attempt. The result is the error for the caller: without its `Retry-After` if no further attempt
    /// is due.
    pub(super) fn failed(&self, error: Error) -> Error {
        let mut state = self.lock();
        match error {
            Error::Decode(_) | Error::Transport(_) => {
                state.unreadable += 1;
                state.is_counted = true;
                error
            }
            Error::Unavailable { status, retry_after: Some(after) } => {
                let retry_after = state.count_throttled(after);
                Error::Unavailable { status, retry_after }
            }
            Error::TooManyRequests { status, retry_after: Some(after) } => {
                let retry_after = state.count_throttled(after);
                Error::TooManyRequests { status, retry_after }
            }
            other => other,
        }
    }

    /// Records that requesting the initial state through a watch failed.
    pub(super) fn watch_list_failed(&self) {
        self.lock().watch_list_failed = true;
    }

    /// Whether the initial state may be requested through a watch.
    pub(super) fn may_watch_list(&self) -> bool {
        !self.lock().watch_list_failed
    }

    /// Whether this error, which was counted, ends the request.
    pub(super) fn end(&self, error: &Error) -> bool {
        self.wait_after(error).is_none()
    }

    /// Returns the wait before the next attempt after this error, which was counted; `None` if it ends the request.
    fn wait_after(&self, error: &Error) -> Option<Duration> {
        let mut state = self.lock();
        let is_counted = std::mem::take(&mut state.is_counted);
        let wait = match error {
            Error::Decode(_) if is_counted => state.wait_after_unreadable()?,
            // A server that was never reached is not waited for.
            Error::Transport(_) if self.has_responded.load(Ordering::Relaxed) => {
                state.wait_after_unreadable()?
            }
            error => return Some(error.retry_after()?.max(FIRST_WAIT)),
        };
        // The reflector may wait for twice as long.
        state.has_time_for(2 * wait).then_some(wait)
    }

    /// Repeats a request, which counts its own failures, until it succeeds or no further attempt is due. Each wait is
    /// reported to the observer as a reflector reports its own.
    pub(crate) async fn repeat<T>(
        &self,
        observer: &Observer,
        mut request: impl AsyncFnMut() -> Result<T, Error>,
    ) -> Result<T, Error> {
        loop {
            let error = match request().await {
                Ok(output) => return Ok(output),
                Err(error) => error,
            };
            let Some(after) = self.wait_after(&error) else { return Err(error) };
            observer(&ReflectorEvent::Lost { phase: Phase::List, error });
            observer(&ReflectorEvent::Retrying { after });
            TokioClock.sleep(after).await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn count_throttled(&mut self, after: Duration) -> Option<Duration> {
        self.throttled += 1;
        (self.throttled < MAX_THROTTLED && self.has_time_for(after.max(FIRST_WAIT))).then_some(after)
    }

    fn wait_after_unreadable(&self) -> Option<Duration> {
        let further = MAX_UNREADABLE.checked_sub(self.unreadable).filter(|further| *further > 0)?;
        Some(FIRST_WAIT * (MAX_UNREADABLE - further).max(1))
    }

    fn has_time_for(&self, wait: Duration) -> bool {
        self.due.is_none_or(|due| TokioClock.now() + wait < due)
    }
}

#[cfg(test)]
mod tests {
    use kdelta::listwatch::Status;

    use super::*;

    fn attempts(timeout: Option<u64>) -> Attempts {
        Attempts::new(timeout.map(Duration::from_secs), Arc::new(AtomicBool::new(true)))
    }

    fn busy(retry_after: Option<u64>) -> Error {
        Error::Unavailable { status: Status::default(), retry_after: retry_after.map(Duration::from_secs) }
    }

    /// Returns the number of attempts of a request that always fails with the error, the waits in milliseconds, and the
    /// total time.
    async fn made(attempts: &Attempts, error: impl Fn() -> Error) -> (usize, Vec<u128>, Duration) {
        let waits = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&waits);
        let observer: Observer = Arc::new(move |event| {
            if let ReflectorEvent::Retrying { after } = event {
                kept.lock().expect("no panic").push(after.as_millis());
            }
        });
        let (began, mut count) = (TokioClock.now(), 0);
        let ended = attempts.repeat(&observer, async || {
            attempts.due()?;
            count += 1;
            Err::<(), _>(attempts.failed(error()))
        });
        ended.await.expect_err("always fails");
        let waits = waits.lock().expect("no panic").clone();
        (count, waits, TokioClock.now() - began)
    }

    #[tokio::test(start_paused = true)]
    async fn unreadable_responses_are_requested_three_times() {
        for error in [|| Error::Decode(String::new()), || Error::Transport("".into())] {
            let (count, waits, _) = made(&attempts(None), error).await;
            assert_eq!((count, waits), (3, vec![800, 1600]));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn retry_after_is_followed_ten_times() {
        assert_eq!(made(&attempts(None), || busy(None)).await.0, 1);
        assert_eq!(made(&attempts(None), || Error::Internal(Status::default())).await.0, 1);
        let (count, waits, lasted) = made(&attempts(None), || busy(Some(7))).await;
        assert_eq!((count, waits, lasted.as_secs()), (10, vec![7000; 9], 63));
    }

    #[tokio::test(start_paused = true)]
    async fn attempts_share_request_timeout() {
        for (retry_after, count) in [(1, 5), (4, 2), (300, 1)] {
            let (made, _, lasted) = made(&attempts(Some(5)), || busy(Some(retry_after))).await;
            assert_eq!(made, count, "{retry_after}");
            assert!(lasted <= Duration::from_secs(5), "{lasted:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn silent_response_ends_at_request_timeout() {
        let attempts = attempts(Some(5));
        let began = TokioClock.now();
        let silent = attempts.in_time(std::future::pending::<()>()).await;
        assert!(matches!(silent, Err(Error::Timeout(_))), "{silent:?}");
        assert_eq!(TokioClock.now() - began, Duration::from_secs(5));
        assert!(attempts.due().is_err(), "no time for another attempt");
        attempts.begin();
        assert!(attempts.due().is_ok(), "another request has its own time");
    }

    #[tokio::test(start_paused = true)]
    async fn uncounted_failure_ends_request() {
        let attempts = attempts(None);
        let error = Error::Decode("the list has no end".into());
        assert!(attempts.end(&error), "reported by the reflector");
        assert!(!attempts.end(&attempts.failed(error.clone())));
        assert!(attempts.end(&error));
    }

    #[tokio::test(start_paused = true)]
    async fn unreached_server_is_not_retried() {
        let attempts = Attempts::new(None, Arc::default());
        assert_eq!(made(&attempts, || Error::Transport("".into())).await.0, 1);
    }
}
