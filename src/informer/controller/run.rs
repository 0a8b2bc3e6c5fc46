//! Runs a reflector that fills a queue together with the queue's consumer.

use std::future::Future;
use std::pin::Pin;

use tokio::task::{JoinError, JoinSet};
use tokio_util::sync::CancellationToken;

use crate::listwatch::Error;
use crate::queue::Queue;

/// The future of a reflector's or an informer's run.
pub(in crate::informer) type RunFuture = Pin<Box<dyn Future<Output = Result<(), Error>> + Send>>;

/// Runs a reflector to its end, then closes the queue and cancels `reflector_ended`. Returns once `consumer` has ended too,
/// which it must do when the queue is closed and empty. Dropping the future aborts both and closes the queue.
///
/// # Errors
/// The error that the reflector gave up with.
///
/// # Panics
/// Resumes a panic of the reflector.
pub(in crate::informer) async fn run_with_consumer(
    queue: &dyn Queue,
    reflector: RunFuture,
    reflector_ended: &CancellationToken,
    consumer: impl Future<Output = ()>,
) -> Result<(), Error> {
    let closing = CloseOnDrop(queue);
    // A task, so that the reflector and the consumer can run in parallel. Owned by the set: awaited below, and aborted if
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

/// Returns the output of a task, or `None` if it was aborted. Resumes a panic of the task.
pub(crate) fn task_output<T>(ended: Result<T, JoinError>) -> Option<T> {
    match ended {
        Ok(output) => Some(output),
        Err(failed) if failed.is_panic() => std::panic::resume_unwind(failed.into_panic()),
        Err(_) => None,
    }
}

/// Closes the queue however the run ends, so that no task waits for it.
struct CloseOnDrop<'a>(&'a dyn Queue);

impl Drop for CloseOnDrop<'_> {
    fn drop(&mut self) {
        self.0.close();
    }
}
