//! A run: a reflector that fills a queue, beside the work on what is in it.

use std::future::Future;
use std::pin::Pin;

use tokio::task::{JoinError, JoinSet};
use tokio_util::sync::CancellationToken;

use crate::listwatch::Error;
use crate::queue::Queue;

/// A run, of a reflector or of all that stands behind it.
pub(super) type RunFuture = Pin<Box<dyn Future<Output = Result<(), Error>> + Send>>;

/// Runs a reflector to its end, then closes the queue and cancels `reflector_ended`, and answers once the work has come to its
/// end as well, which is to be that of the queue. Dropping the future ends both where they are, and closes the queue.
///
/// # Errors
/// What the reflector gave up with.
///
/// # Panics
/// Where the reflector did, with its panic.
pub(super) async fn run_with_consumer(
    queue: &dyn Queue,
    reflector: RunFuture,
    reflector_ended: &CancellationToken,
    consumer: impl Future<Output = ()>,
) -> Result<(), Error> {
    let closing = CloseOnDrop(queue);
    // A task, so that reading and working have a core each. The set is its owner: it is awaited below, and aborted where
    // this future is dropped.
    let mut task = JoinSet::new();
    task.spawn(reflector);
    let reflecting = async {
        let end = task.join_next().await;
        drop(closing);
        reflector_ended.cancel();
        end
    };
    let (end, ()) = tokio::join!(reflecting, consumer);
    end.and_then(task_output).unwrap_or(Ok(()))
}

/// What a task answered; none where it was aborted. Its panic goes on here.
pub(crate) fn task_output<T>(ended: Result<T, JoinError>) -> Option<T> {
    match ended {
        Ok(output) => Some(output),
        Err(failed) if failed.is_panic() => std::panic::resume_unwind(failed.into_panic()),
        Err(_) => None,
    }
}

/// The end of a run, however it came: nobody is to wait for the queue.
struct CloseOnDrop<'a>(&'a dyn Queue);

impl Drop for CloseOnDrop<'_> {
    fn drop(&mut self) {
        self.0.close();
    }
}
