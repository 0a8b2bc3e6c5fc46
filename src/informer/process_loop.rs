//! The one task that pops, as a function is given what it pops (client-go: `processLoop`).

use std::error::Error as StdError;

use tokio::task::coop::consume_budget;

use crate::queue::{Deltas, Item, Popped, Queue, pop_or_requeue};

/// What a process function says when it failed.
pub type ProcessError = Box<dyn StdError + Send + Sync>;

/// Is given what is popped, under the queue's lock (client-go: `ProcessFunc`): it must be quick, and must not call the
/// queue or the controller. What it writes to the store behind the queue is there before anything else is popped.
///
/// An error is reported; with [`Config::retry_on_error`](super::Config::retry_on_error) the deltas come again.
pub type ProcessFunc = Box<dyn FnMut(&Popped) -> Result<(), ProcessError> + Send>;

/// What the loop does with what it pops.
pub(super) trait Work: Send {
    /// Under the queue's lock; answers what is to be queued again.
    fn process(&mut self, popped: Popped) -> Option<Deltas>;

    /// After the lock was released.
    fn released(&mut self) {}
}

/// A function that was asked for.
pub(super) struct Asked {
    pub(super) process: ProcessFunc,
    pub(super) retry_on_error: bool,
}

impl Work for Asked {
    fn process(&mut self, popped: Popped) -> Option<Deltas> {
        let error = (self.process)(&popped).err()?;
        tracing::warn!(%error, retry = self.retry_on_error, "what was popped could not be processed");
        match popped.item {
            Item::Deltas(deltas) if self.retry_on_error => Some(deltas),
            _ => None,
        }
    }
}

/// Pops until the queue is closed and empty (client-go: `processLoop`).
///
/// ```
/// # use std::sync::Arc;
/// # use kdelta::informer::process_loop;
/// # use kdelta::object::{Origin, meta_namespace_key};
/// # use kdelta::queue::{Fifo, Queue};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), kdelta::object::KeyError> {
/// # use kdelta::testing::{FakeSource, pod};
/// # let source = FakeSource::new();
/// # source.add(pod("shop/web"));
/// # let web = source.objects().remove(0);
/// let queue = Fifo::new(meta_namespace_key);
/// queue.add(web, Origin::Watch)?;
/// queue.close();
/// let (tell, told) = std::sync::mpsc::channel();
/// process_loop(&queue, Box::new(move |popped| Ok(tell.send(popped.is_in_initial_list)?)), false).await;
/// assert_eq!(told.iter().collect::<Vec<_>>(), [false]);
/// # Ok(())
/// # }
/// ```
pub async fn process_loop<Q: Queue + ?Sized>(queue: &Q, process: ProcessFunc, retry_on_error: bool) {
    work_off(queue, &mut Asked { process, retry_on_error }).await;
}

/// Pops until the queue is closed and empty.
pub(super) async fn work_off<Q: Queue + ?Sized>(queue: &Q, work: &mut dyn Work) {
    while pop_or_requeue(queue, &mut |popped| work.process(popped)).await.is_ok() {
        work.released();
        // A full queue must not keep the runtime from its other tasks.
        consume_budget().await;
    }
}
