//! The two locks of every queue, and its wake-up rules.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::initial_sync::InitialSync;
use super::{
    Delta, Deltas, FifoClosedError, PoppedItem, QueueControl, QueueOptions, QueueSize, RequeueFunc, Signals,
};
use crate::object::ResourceVersion;

/// The contents of a queue in its own order. Plain data, protected by [`LockedQueue`].
pub(super) trait QueueState: Send {
    /// Removes and returns the next item.
    fn pop(&mut self) -> Option<PoppedItem>;

    /// Returns the number of queued deltas and their bytes.
    fn used(&self) -> QueueSize;

    /// Returns the progress of the initial list.
    fn initial_sync(&self) -> &InitialSync;
}

impl QueueSize {
    /// Returns the capacity that the options request.
    pub(super) fn capacity(options: &QueueOptions) -> Self {
        Self { deltas: options.capacity, bytes: options.bytes }
    }

    /// Counts a delta.
    pub(super) fn add(&mut self, delta: &Delta) {
        self.deltas += 1;
        self.bytes += delta.weight();
    }

    /// Stops counting a delta.
    pub(super) fn subtract(&mut self, delta: &Delta) {
        self.deltas -= 1;
        self.bytes -= delta.weight();
    }

    fn has_room(self, used: Self) -> bool {
        used.deltas < self.deltas && used.bytes < self.bytes
    }

    fn is_half_free(self, used: Self) -> bool {
        used.deltas <= self.deltas / 2 && used.bytes <= self.bytes / 2
    }
}

/// The number of objects of a streaming list that may be queued before the consumer is woken. A wake-up costs as much
/// as reading an object.
const WAKEUP_BATCH: usize = 64;

/// The number of entries for which an empty queue keeps memory. The memory for a list of a million objects is released
/// after the list.
pub(super) const RETAINED_CAPACITY: usize = 1024;

/// A queue protected by its locks.
pub(super) struct LockedQueue<Q> {
    /// A std mutex, because no code awaits while holding it. It is held while a popped delta is applied, so that store
    /// and queue can be compared (see [`super::Queue::try_pop`]). A caller that compares them acquires it before
    /// `state`.
    applying: Mutex<()>,
    /// A std mutex that is held briefly, so that a producer does not wait while a delta is applied.
    state: Mutex<State<Q>>,
    capacity: QueueSize,
    signals: Signals,
}

struct State<Q> {
    queue: Q,
    is_closed: bool,
}

impl<Q: QueueState> LockedQueue<Q> {
    /// Creates a locked queue. The capacity is raised to at least one delta and one byte, because a producer would wait
    /// forever for room in a queue without capacity.
    pub(super) fn new(queue: Q, capacity: QueueSize) -> Self {
        let state = Mutex::new(State { queue, is_closed: false });
        let capacity = QueueSize { deltas: capacity.deltas.max(1), bytes: capacity.bytes.max(1) };
        Self { applying: Mutex::default(), state, capacity, signals: Signals::default() }
    }

    fn lock_applying(&self) -> MutexGuard<'_, ()> {
        self.applying.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, State<Q>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads or changes the queue while no delta is being applied. Wakes no task.
    pub(super) fn inspect<T>(&self, inspect: impl FnOnce(&mut Q) -> T) -> T {
        let _applying = self.lock_applying();
        inspect(&mut self.lock().queue)
    }

    /// Adds to the queue without comparing it with the store, and wakes the consumer.
    pub(super) fn push(&self, push: impl FnOnce(&mut Q)) {
        push(&mut self.lock().queue);
        self.signals.notify_item();
    }

    /// Adds one object of many. Wakes the consumer once [`WAKEUP_BATCH`] deltas are queued or the queue is full;
    /// [`super::Queue::flush`] wakes it for the rest.
    pub(super) fn push_batched(&self, push: impl FnOnce(&mut Q)) {
        let mut state = self.lock();
        push(&mut state.queue);
        let used = state.queue.used();
        drop(state);
        if used.deltas >= WAKEUP_BATCH || !self.capacity.has_room(used) {
            self.signals.notify_item();
        }
    }

    /// Changes the queue while no delta is being applied, so that `change` may read the store. Wakes the consumer, and
    /// the producers if the queue has shrunk.
    pub(super) fn change<T>(&self, change: impl FnOnce(&mut Q) -> T) -> T {
        let _applying = self.lock_applying();
        let mut state = self.lock();
        let before = state.queue.used();
        let result = change(&mut state.queue);
        let used = state.queue.used();
        drop(state);
        self.signals.notify_item();
        if used.deltas < before.deltas || used.bytes < before.bytes {
            self.notify_room(used, false);
        }
        result
    }

    /// Wakes the producers that wait for room once half of the capacity is free: a wake-up for each delta would cost
    /// more than the delta. After a requeue any free room counts, because half of the capacity may never become free.
    fn notify_room(&self, used: QueueSize, is_requeued: bool) {
        if self.capacity.is_half_free(used) || (is_requeued && self.capacity.has_room(used)) {
            self.signals.notify_room();
        }
    }

    /// Pops one item. `requeue` adds the deltas that `process` returned, and restores the version of the popped item.
    /// Nothing is requeued into a closed queue, which could otherwise never become empty.
    pub(super) fn try_pop(
        &self,
        process: &mut RequeueFunc<'_>,
        requeue: impl FnOnce(&mut Q, Vec<Deltas>, Option<ResourceVersion>),
    ) -> Result<bool, FifoClosedError> {
        let _applying = self.lock_applying();
        let mut state = self.lock();
        let Some(popped) = state.queue.pop() else {
            // Skipped entries have freed room too.
            self.notify_room(state.queue.used(), false);
            return if state.is_closed { Err(FifoClosedError) } else { Ok(false) };
        };
        drop(state);
        let up_to = popped.up_to.clone();
        let requeued = process(popped);
        let mut state = self.lock();
        let is_requeued = !requeued.is_empty() && !state.is_closed;
        if is_requeued {
            requeue(&mut state.queue, requeued, up_to);
        }
        self.notify_room(state.queue.used(), is_requeued);
        Ok(true)
    }
}

impl<Q: QueueState> QueueControl for LockedQueue<Q> {
    fn under_lock(&self, work: &mut dyn FnMut()) {
        let _applying = self.lock_applying();
        work();
    }

    fn has_room(&self) -> bool {
        let state = self.lock();
        state.is_closed || self.capacity.has_room(state.queue.used())
    }

    fn used(&self) -> QueueSize {
        self.lock().queue.used()
    }

    fn has_synced(&self) -> bool {
        // The last popped delta is not in the store until it has been applied.
        let _applying = self.lock_applying();
        self.lock().queue.initial_sync().has_synced()
    }

    fn close(&self) {
        self.lock().is_closed = true;
        self.signals.notify_closed();
    }

    fn signals(&self) -> &Signals {
        &self.signals
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::task::{Context, Waker};

    use crate::object::{DeletedObject, Ingest, Object, Origin, TypeMeta, meta_namespace_key};
    use crate::queue::QueueSize;
    use crate::queue::locks::WAKEUP_BATCH;
    use crate::queue::testing::cases::known;
    use crate::queue::{DeltaFifo, DeltaFifoOptions, Fifo, OrderedFifo, Queue, QueueOptions, pop, room};

    const BYTES: usize = 100_000;

    /// Returns an object of about `bytes` bytes.
    fn object(name: &str, bytes: usize) -> Arc<Object> {
        let text = "x".repeat(bytes);
        let json = format!(r#"{{"metadata":{{"name":"{name}","resourceVersion":"7"}},"text":"{text}"}}"#);
        let ingest = Ingest::of(Arc::new(TypeMeta { api_version: "v1".into(), kind: "Pod".into() }));
        Arc::new(Object::from_json(json.as_bytes(), &ingest).expect("an object"))
    }

    fn queues() -> [Arc<dyn Queue>; 3] {
        let (capacity, bytes) = (400, BYTES);
        let options = QueueOptions::default().capacity(capacity).bytes(bytes);
        let delta = DeltaFifoOptions::default().queue(options.clone());
        [
            Arc::new(DeltaFifo::new(delta)),
            Arc::new(OrderedFifo::new(known(&[]) as _, options)),
            Arc::new(Fifo::with_limits(meta_namespace_key, QueueSize { deltas: capacity, bytes })),
        ]
    }

    #[test]
    fn queue_is_bounded_by_number_and_by_bytes() {
        for (bytes, expected) in [(10, 400), (BYTES / 4, 4), (10 * BYTES, 1)] {
            for queue in queues() {
                let mut queued = 0;
                while queue.has_room() {
                    queue.add(object(&format!("n{queued}"), bytes), Origin::Watch).expect("a key");
                    queued += 1;
                }
                assert_eq!(queued, expected, "of {bytes} bytes each");
            }
        }
    }

    #[test]
    fn producer_is_woken_when_half_of_the_bytes_are_free() {
        for queue in queues() {
            for name in ["a", "b", "c", "d"] {
                queue.add(object(name, BYTES / 4), Origin::Watch).expect("a key");
            }
            let mut waiting = Box::pin(room(&*queue));
            let mut context = Context::from_waker(Waker::noop());
            let mut popped = 0;
            while waiting.as_mut().poll(&mut context).is_pending() {
                assert_eq!(queue.try_pop(&mut |_| ()), Ok(true), "the producer is woken");
                popped += 1;
            }
            assert_eq!(popped, 3, "a quarter is left");
        }
    }

    /// Returns true if `act` wakes a waiting `pop`.
    fn is_woken(queue: &OrderedFifo, mut act: impl FnMut(&OrderedFifo)) -> bool {
        let mut process = |_| ();
        let mut waiting = Box::pin(pop(queue, &mut process));
        let mut context = Context::from_waker(Waker::noop());
        assert!(waiting.as_mut().poll(&mut context).is_pending());
        act(queue);
        waiting.as_mut().poll(&mut context).is_ready()
    }

    #[test]
    fn consumer_is_woken_once_for_a_batch_of_a_list() {
        let queue = |capacity| {
            let queue = OrderedFifo::new(known(&[]) as _, QueueOptions::default().capacity(capacity));
            queue.list_begin(Origin::List, false);
            queue
        };
        let list = |queue: &OrderedFifo, objects: usize| {
            for number in 0..objects {
                assert!(queue.list_item(object(&format!("n{number}"), 10), Origin::List).is_none());
            }
        };
        assert!(!is_woken(&queue(400), |queue| list(queue, WAKEUP_BATCH - 1)));
        assert!(is_woken(&queue(400), |queue| list(queue, WAKEUP_BATCH)));
        assert!(is_woken(&queue(2), |queue| list(queue, 2)), "there is no room for more");
        for ends in [
            OrderedFifo::flush as fn(&OrderedFifo),
            OrderedFifo::close,
            |queue| queue.replace(Vec::new(), &"9".into(), Origin::List).expect("keys"),
            |queue| queue.update(object("other", 10), Origin::Watch).expect("a key"),
            |queue| queue.bookmark(&"9".into()),
        ] {
            assert!(is_woken(&queue(400), |queue| {
                list(queue, 1);
                ends(queue);
            }));
        }
    }

    #[test]
    fn producer_does_not_wait_while_a_delta_is_applied() {
        let queue = Arc::new(OrderedFifo::new(known(&[]) as _, QueueOptions::default()));
        queue.list_begin(Origin::List, false);
        queue.add(object("a", 10), Origin::Watch).expect("a key");
        let mut applied = 0;
        let mut process = |_| {
            applied += 1;
            let queue = Arc::clone(&queue);
            // With a single lock this would deadlock, because the popping thread joins the adding one.
            let adding = std::thread::spawn(move || {
                queue.add(object("b", 10), Origin::Watch).expect("a key");
                queue.update(object("b", 10), Origin::Watch).expect("a key");
                queue.delete(DeletedObject::Known(object("b", 10)), Origin::Watch).expect("a key");
                assert!(queue.list_item(object("c", 10), Origin::List).is_none());
                queue.bookmark(&"9".into());
                queue.has_room()
            });
            assert!(adding.join().expect("no panic"));
        };
        assert_eq!(queue.try_pop(&mut process), Ok(true));
        assert_eq!(applied, 1);
    }

    /// Merged, replaced and requeued deltas are counted correctly: an empty queue uses no room.
    #[test]
    fn popped_deltas_use_no_room() {
        for queue in queues() {
            for size in [BYTES / 10, BYTES / 3, BYTES / 20] {
                queue.add(object("a", size), Origin::Watch).expect("a key");
                queue.replace(vec![object("b", size)], &"9".into(), Origin::Relist).expect("keys");
                let deleted = DeletedObject::Known(object("a", size * 2));
                queue.delete(deleted, Origin::Watch).expect("a key");
                let mut requeues = true;
                let mut process = |popped: crate::queue::PoppedItem| match popped.item {
                    crate::queue::Item::Deltas(deltas) if std::mem::take(&mut requeues) => vec![deltas],
                    _ => Vec::new(),
                };
                while queue.try_pop_or_requeue(&mut process).expect("open") {}
            }
            assert!(queue.has_room());
            queue.add(object("b", BYTES - 1000), Origin::Watch).expect("a key");
            assert!(queue.has_room(), "popped deltas still count");
        }
    }
}
