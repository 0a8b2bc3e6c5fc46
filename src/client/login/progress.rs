//! Logins in progress at a plugin or an issuer, and the total time that requests have waited for them.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use crate::kubeconfig::Error;

/// The logins that the requests of one client have started.
#[derive(Default)]
pub(crate) struct LoginProgress {
    /// A login continues when the request that started it is dropped. A std lock, held to add a task; there are at
    /// most as many as requests, and they end with the client.
    tasks: Mutex<JoinSet<()>>,
    /// A std lock: held to read and count.
    waiting: Mutex<Waiting>,
}

/// The time that requests have waited.
#[derive(Default)]
struct Waiting {
    /// The number of waiting requests, and the time since which at least one is waiting.
    present: Option<(usize, Instant)>,
    before: Duration,
}

impl LoginProgress {
    /// Runs the work in a task of its own and returns its outcome.
    ///
    /// # Errors
    /// The work's.
    pub(crate) async fn outcome<T: Send + 'static>(
        &self,
        // Boxed: the future is large, and every request holds it.
        work: BoxFuture<'static, Result<T, Error>>,
    ) -> Result<T, Error> {
        // For one value; the receiver may be dropped.
        let (sender, receiver) = oneshot::channel();
        {
            let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
            while tasks.try_join_next().is_some() {}
            tasks.spawn(async move {
                let _unheard = sender.send(work.await);
            });
        }
        let _waits = self.wait();
        receiver
            .await
            .unwrap_or_else(|_| Err(Error::Credentials("getting credentials was given up".to_owned())))
    }

    /// Returns the total time during which any request has waited.
    pub(crate) fn waited(&self) -> Duration {
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.before + waiting.present.map(|(_, since)| since.elapsed()).unwrap_or_default()
    }

    fn wait(&self) -> Wait<'_> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let (others, since) = waiting.present.unwrap_or_else(|| (0, Instant::now()));
        waiting.present = Some((others + 1, since));
        Wait(self)
    }
}

/// Counts as a waiting request until it is dropped.
struct Wait<'a>(&'a LoginProgress);

impl Drop for Wait<'_> {
    fn drop(&mut self) {
        let mut waiting = self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((count, since)) = waiting.present else { return };
        waiting.present = (count > 1).then_some((count - 1, since));
        if count == 1 {
            waiting.before += since.elapsed();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn waiting_time_is_counted_once_for_concurrent_waiters() {
        let login_progress = LoginProgress::default();
        assert_eq!(login_progress.waited(), Duration::ZERO);
        let started = Instant::now();
        let both = [login_progress.wait(), login_progress.wait()];
        while login_progress.waited() < Duration::from_millis(2) {
            tokio::task::yield_now().await;
        }
        assert!(login_progress.waited() <= started.elapsed(), "not for each of them");
        drop(both);
        let waited = login_progress.waited();
        let started = Instant::now();
        while started.elapsed() < Duration::from_millis(2) {
            tokio::task::yield_now().await;
        }
        assert_eq!(login_progress.waited(), waited);
        assert_eq!(login_progress.outcome(Box::pin(async { Ok(7) })).await.ok(), Some(7));
    }
}
