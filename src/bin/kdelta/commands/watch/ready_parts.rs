//! The queue of parts that may have events to read, filled by the wakers of the parts.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Wake, Waker};

/// The parts to poll next, in the order in which they were woken. Bounded by the number of parts: each is queued at most
/// once.
#[derive(Default)]
pub(super) struct ReadyParts {
    /// A std mutex: held for a push or a pop, never across an await.
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Arc<PartWaker>>,
    /// The waker of the reader, if it found the queue empty. Stored under the lock of the check, so that no wake-up is
    /// lost.
    reader: Option<Waker>,
}

/// Queues a part when it is woken. Created once per part, so that a wake-up allocates nothing.
struct PartWaker {
    part: usize,
    is_queued: AtomicBool,
    ready: Arc<ReadyParts>,
}

impl Wake for PartWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        // Acquire and release: a wake-up that finds the part queued happens before the poll that follows its removal.
        if self.is_queued.swap(true, Ordering::AcqRel) {
            return;
        }
        let reader = {
            let mut state = self.ready.lock();
            state.queue.push_back(Arc::clone(self));
            state.reader.take()
        };
        if let Some(reader) = reader {
            reader.wake();
        }
    }
}

impl ReadyParts {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Creates the waker of a part and queues the part.
    pub(super) fn add(self: &Arc<Self>, part: usize) -> Waker {
        let waker = PartWaker { part, is_queued: AtomicBool::new(false), ready: Arc::clone(self) };
        let waker = Waker::from(Arc::new(waker));
        waker.wake_by_ref();
        waker
    }

    /// Removes and returns the first part. If there is none, `reader` is woken with the next one.
    pub(super) fn next(&self, reader: &Waker) -> Option<usize> {
        let mut state = self.lock();
        let Some(first) = state.queue.pop_front() else {
            state.reader = Some(reader.clone());
            return None;
        };
        first.is_queued.store(false, Ordering::Release);
        Some(first.part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_queued_once_in_the_order_of_their_wake_ups() {
        let ready = Arc::<ReadyParts>::default();
        let wakers = [7, 8].map(|part| ready.add(part));
        let next = || ready.next(Waker::noop());
        assert_eq!((next(), next(), next()), (Some(7), Some(8), None), "a new part is queued");
        for waker in [&wakers[1], &wakers[0], &wakers[1]] {
            waker.wake_by_ref();
        }
        assert_eq!((next(), next(), next()), (Some(8), Some(7), None));
    }

    #[test]
    fn reader_of_an_empty_queue_is_woken() {
        struct Count(std::sync::atomic::AtomicUsize);
        impl Wake for Count {
            fn wake(self: Arc<Self>) {
                self.0.fetch_add(1, Ordering::Relaxed);
            }
        }
        let (ready, count) = (Arc::<ReadyParts>::default(), Arc::new(Count(0.into())));
        let (waker, reader) = (ready.add(1), Waker::from(Arc::clone(&count)));
        assert_eq!((ready.next(&reader), ready.next(&reader)), (Some(1), None));
        waker.wake_by_ref();
        waker.wake_by_ref();
        assert_eq!(count.0.load(Ordering::Relaxed), 1);
    }
}
