//! Time as the reflector sees it, so that a test hands in a time of its own and never sleeps.

use std::future::Future;
use std::pin::{Pin, pin};
use std::time::{Duration, Instant};

use crate::listwatch::ListerWatcher;

/// What [`Clock::sleep`] answers: done when the time has passed. Dropping it ends the wait.
pub type Sleep = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Where the reflector takes its time from.
pub trait Clock: Send + Sync {
    /// Now. Never goes back.
    fn now(&self) -> Instant;

    /// Is done once that much time has passed, counted from this call.
    fn sleep(&self, duration: Duration) -> Sleep;
}

/// The time of the tokio runtime: real, or virtual where a test has paused it.
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

/// What `future` answers, or nothing once `limit` has passed.
///
/// The timer is made only when the future has to wait, so that what is there already costs none: a list of a million
/// items arms as many timers as it has chunks.
pub(super) async fn within<T>(
    clock: &dyn Clock,
    limit: Duration,
    future: impl Future<Output = T>,
) -> Option<T> {
    tokio::select! {
        biased;
        answer = future => Some(answer),
        () = async { clock.sleep(limit).await } => None,
    }
}

/// As [`within`], without the time for which the source is held up by something else.
pub(super) async fn within_of_source<T>(
    clock: &dyn Clock,
    source: &impl ListerWatcher,
    limit: Duration,
    future: impl Future<Output = T>,
) -> Option<T> {
    let mut future = pin!(future);
    let (began, before) = (clock.now(), source.held_up());
    let mut left = limit;
    loop {
        if let Some(answer) = within(clock, left, future.as_mut()).await {
            return Some(answer);
        }
        let held_up = source.held_up().saturating_sub(before);
        left = (limit + held_up).saturating_sub(clock.now().saturating_duration_since(began));
        if left.is_zero() {
            return None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn what_takes_too_long_is_not_waited_for() {
        let second = Duration::from_secs(1);
        assert_eq!(within(&TokioClock, second, async { 7 }).await, Some(7));
        let before = TokioClock.now();
        assert_eq!(within(&TokioClock, second, std::future::pending::<u8>()).await, None);
        assert_eq!(TokioClock.now() - before, second);
    }
}
