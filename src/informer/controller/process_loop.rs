//! The loop that pops a queue and processes each item (client-go: `processLoop`).

use std::error::Error as StdError;
use std::time::Duration;

use tokio::task::coop::consume_budget;

use crate::clock::{Clock, TokioClock};
use crate::queue::{Deltas, Item, PoppedItem, Queue, pop_or_requeue};

/// The error of a process function.
pub type ProcessError = Box<dyn StdError + Send + Sync>;

/// A function that processes a popped item (client-go: `ProcessFunc`). It runs under the queue's lock: it must be quick, and
/// must not call the queue or the controller. Its writes to the store are complete before the next item is popped.
///
/// An error is logged. With [`Config::retry_on_error`](super::Config::retry_on_error) the deltas are queued again, and the
/// loop pauses: 5 ms after the first failure, twice as long after each further one in a row, at most one second.
pub type ProcessFunc = Box<dyn FnMut(&PoppedItem) -> Result<(), ProcessError> + Send>;

/// The operations of the loop on popped items.
pub(in crate::informer) trait ItemProcessor: Send {
    /// Processes an item under the queue's lock, and returns the deltas to queue again.
    fn process(&mut self, popped: PoppedItem) -> Vec<Deltas>;

    /// Runs after the queue's lock was released.
    fn after_release(&mut self) {}

    /// Returns how long the loop pauses before it pops again.
    fn pause(&self) -> Option<Duration> {
        None
    }
}

/// The pause after a first failure that is retried.
const FIRST_PAUSE: Duration = Duration::from_millis(5);

/// The longest pause: it also delays the objects behind the failed one, and the end of the run.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// An item processor that calls a [`ProcessFunc`].
pub(in crate::informer) struct FuncProcessor {
    pub(in crate::informer) process: ProcessFunc,
    pub(in crate::informer) retry_on_error: bool,
    /// The pause that is due since the last failure. A success resets it.
    pause: Option<Duration>,
}

impl FuncProcessor {
    pub(in crate::informer) fn new(process: ProcessFunc, retry_on_error: bool) -> Self {
        Self { process, retry_on_error, pause: None }
    }
}

impl ItemProcessor for FuncProcessor {
    fn pause(&self) -> Option<Duration> {
        self.pause
    }

    fn process(&mut self, popped: PoppedItem) -> Vec<Deltas> {
        let Err(error) = (self.process)(&popped) else {
            self.pause = None;
            return Vec::new();
        };
        if self.retry_on_error {
            let next = self.pause.map_or(FIRST_PAUSE, |pause| pause.saturating_mul(2).min(LONGEST_PAUSE));
            self.pause = Some(next);
        }
        tracing::warn!(%error, retry = self.retry_on_error, "processing a popped item failed");
        match popped.item {
            Item::Deltas(deltas) if self.retry_on_error => vec![deltas],
            Item::ReplacedAll(all) if self.retry_on_error => all,
            _ => Vec::new(),
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
/// let (sender, receiver) = std::sync::mpsc::channel();
/// process_loop(&queue, Box::new(move |popped| Ok(sender.send(popped.is_in_initial_list)?)), false).await;
/// assert_eq!(receiver.iter().collect::<Vec<_>>(), [false]);
/// # Ok(())
/// # }
/// ```
pub async fn process_loop<Q: Queue + ?Sized>(queue: &Q, process: ProcessFunc, retry_on_error: bool) {
    pop_until_closed(queue, &mut FuncProcessor::new(process, retry_on_error), &TokioClock).await;
}

/// Pops and processes items until the queue is closed and empty.
pub(in crate::informer) async fn pop_until_closed<Q: Queue + ?Sized>(
    queue: &Q,
    processor: &mut dyn ItemProcessor,
    clock: &dyn Clock,
) {
    while pop_or_requeue(queue, &mut |popped| processor.process(popped)).await.is_ok() {
        processor.after_release();
        if let Some(pause) = processor.pause() {
            clock.sleep(pause).await;
        }
        // A queue that is never empty must not starve the runtime's other tasks.
        consume_budget().await;
    }
}
