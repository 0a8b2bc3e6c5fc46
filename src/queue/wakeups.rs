//! Asynchronous waiting for items in a queue and for room. All other operations of a queue are synchronous.

use super::{FifoClosedError, PopProcessFunc, Queue, RequeueFunc};

/// Removes the next item and calls `process` with it while the queue is locked. Waits while the queue is empty.
///
/// ```
/// # use std::sync::Arc;
/// # use kdelta::object::{Origin, meta_namespace_key};
/// # use kdelta::queue::{Fifo, Queue, pop};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # use kdelta::testing::{FakeSource, pod};
/// # let source = FakeSource::new();
/// # source.add(pod("shop/web"));
/// # let web = source.objects().remove(0);
/// let queue = Arc::new(Fifo::new(meta_namespace_key));
/// let waiting = tokio::spawn({
///     let queue = Arc::clone(&queue);
///     async move {
///         let mut popped = 0;
///         // Waits for the next item until the queue is closed and empty.
///         while pop(&*queue, &mut |_| popped += 1).await.is_ok() {}
///         popped
///     }
/// });
/// queue.add(web, Origin::Watch)?;
/// queue.close();
/// assert_eq!(waiting.await?, 1);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// The queue is closed, and empty.
pub async fn pop<Q: Queue + ?Sized>(
    queue: &Q,
    process: &mut PopProcessFunc<'_>,
) -> Result<(), FifoClosedError> {
    pop_or_requeue(queue, &mut |popped| {
        process(popped);
        Vec::new()
    })
    .await
}

/// Pops like [`pop`], and requeues the deltas that `process` returns, as [`Queue::try_pop_or_requeue`] does.
///
/// ```
/// # use kdelta::object::{Origin, meta_namespace_key};
/// # use kdelta::queue::{Fifo, Item, Queue, pop_or_requeue};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # use kdelta::testing::{FakeSource, pod};
/// # let source = FakeSource::new();
/// # source.add(pod("shop/web"));
/// # let web = source.objects().remove(0);
/// let queue = Fifo::new(meta_namespace_key);
/// queue.add(web, Origin::Watch)?;
/// let mut tries = 0;
/// for _ in 0..2 {
///     pop_or_requeue(&queue, &mut |popped| {
///         tries += 1;
///         let Item::Deltas(deltas) = popped.item else { return Vec::new() };
///         // The first try fails.
///         if tries == 1 { vec![deltas] } else { Vec::new() }
///     })
///     .await?;
/// }
/// assert_eq!((tries, queue.try_pop(&mut |_| ())?), (2, false));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// As [`pop`].
pub async fn pop_or_requeue<Q: Queue + ?Sized>(
    queue: &Q,
    process: &mut RequeueFunc<'_>,
) -> Result<(), FifoClosedError> {
    loop {
        let filled = queue.signals().item.notified();
        if queue.try_pop_or_requeue(process)? {
            return Ok(());
        }
        filled.await;
    }
}

/// Waits until the queue has room for another delta. The room is not reserved: another producer may use it first.
///
/// ```
/// # use kdelta::object::{Origin, meta_namespace_key};
/// # use kdelta::queue::{Fifo, Queue, room};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # use kdelta::testing::{FakeSource, pod};
/// # let source = FakeSource::new();
/// # source.add(pod("shop/web"));
/// # let web = source.objects().remove(0);
/// let queue = Fifo::with_capacity(meta_namespace_key, 1);
/// room(&queue).await;
/// queue.add(web, Origin::Watch)?;
/// assert!(!queue.has_room());
/// queue.try_pop(&mut |_| ())?;
/// room(&queue).await;
/// # Ok(())
/// # }
/// ```
pub async fn room<Q: Queue + ?Sized>(queue: &Q) {
    loop {
        let room = queue.signals().room.notified();
        if queue.has_room() {
            return;
        }
        room.await;
    }
}
