//! Time as a trait: the current instant and sleeping, so that tests inject a clock instead of waiting.

use std::future::Future;
use std::pin::Pin;
use std::time::{Duration, Instant};

/// A future that completes when the time given to [`Clock::sleep`] has passed. Dropping it cancels the wait.
pub type Sleep = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A monotonic clock that can sleep.
pub trait Clock: Send + Sync {
    /// Returns the current instant, which never goes back.
    fn now(&self) -> Instant;

    /// Returns a future that completes once `duration` has passed since this call.
    fn sleep(&self, duration: Duration) -> Sleep;
}

/// The clock of the tokio runtime: real time, or virtual time where a test has paused it.
#[derive(Debug, Clone, Copy, Default)]
pub struct TokioClock;

impl Clock for TokioClock {
    fn now(&self) -> Instant {
        tokio::time::Instant::now().into_std()
    }

    fn sleep(&self, duration: Duration) -> Sleep {
        Box::pin(tokio::time::sleep(duration))
    }
}

/// Returns the output of `future`, or `None` once `limit` has passed.
///
/// The timer is created only when the future has to wait, so a future that is ready costs none: a list of a million items
/// arms one timer per chunk.
pub(crate) async fn within<T>(
    clock: &dyn Clock,
    limit: Duration,
    future: impl Future<Output = T>,
) -> Option<T> {
    tokio::select! {
        biased;
        output = future => Some(output),
        () = async { clock.sleep(limit).await } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn within_ends_a_future_at_its_limit() {
        let second = Duration::from_secs(1);
        assert_eq!(within(&TokioClock, second, async { 7 }).await, Some(7));
        let before = TokioClock.now();
        assert_eq!(within(&TokioClock, second, std::future::pending::<u8>()).await, None);
        assert_eq!(TokioClock.now() - before, second);
    }
}
