//! Work on credentials that somebody else does, such as a plugin or its user, and how long it has been waited for.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use crate::kubeconfig::Error;

/// The log-ins that the requests of one client have begun.
#[derive(Default)]
pub(crate) struct LogIns {
    /// A log-in goes on when the request that began it is given up. A std lock, to add one; as many as there are
    /// requests, and they end with the client.
    tasks: Mutex<JoinSet<()>>,
    /// A std lock: held to look and to count.
    waiting: Mutex<Waiting>,
}

/// For how long anybody has waited.
#[derive(Default)]
struct Waiting {
    /// How many wait at present, and since when one of them does.
    present: Option<(usize, Instant)>,
    before: Duration,
}

impl LogIns {
    /// The outcome of the work, which is done in a task of its own.
    ///
    /// # Errors
    /// The work's.
    pub(crate) async fn outcome<T: Send + 'static>(
        &self,
        // Boxed: it is large, and every request holds it.
        work: BoxFuture<'static, Result<T, Error>>,
    ) -> Result<T, Error> {
        // For one value; whoever waits for it may go.
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

    /// For how long, in all, some request has waited.
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

/// Somebody waits until this is dropped.
struct Wait<'a>(&'a LogIns);

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
    async fn the_time_in_which_somebody_waits_is_counted_once_and_stands_still_afterwards() {
        let log_ins = LogIns::default();
        assert_eq!(log_ins.waited(), Duration::ZERO);
        let begun = Instant::now();
        let both = [log_ins.wait(), log_ins.wait()];
        while log_ins.waited() < Duration::from_millis(2) {
            tokio::task::yield_now().await;
        }
        assert!(log_ins.waited() <= begun.elapsed(), "not for each of them");
        drop(both);
        let waited = log_ins.waited();
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_millis(2) {
            tokio::task::yield_now().await;
        }
        assert_eq!(log_ins.waited(), waited);
        assert_eq!(log_ins.outcome(Box::pin(async { Ok(7) })).await.ok(), Some(7));
    }
}
