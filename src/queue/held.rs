//! The lock that every queue stands behind, and who is woken when.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::population::Population;
use super::{Delta, Deltas, FifoClosedError, Popped, RequeueFunc, Signals};
use crate::object::ResourceVersion;

/// What is queued, as one queue orders it. Plain data: [`Held`] holds it.
pub(super) trait Line {
    /// Takes the next out.
    fn take(&mut self) -> Option<Popped>;

    /// How much is queued.
    fn used(&self) -> Room;

    /// How much of the initial state has been popped.
    fn population(&self) -> &Population;
}

/// Room in a queue: how much there is in all, or how much of it is taken.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Room {
    pub(super) deltas: usize,
    /// Of the objects in them: a few large ones are as much as many small ones.
    pub(super) bytes: usize,
}

impl Room {
    /// A delta takes room.
    pub(super) fn take(&mut self, delta: &Delta) {
        self.deltas += 1;
        self.bytes += delta.weight();
    }

    /// It takes it no longer.
    pub(super) fn free(&mut self, delta: &Delta) {
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

/// A line under its lock.
pub(super) struct Held<L> {
    /// A std mutex: nothing under it waits. It is held while a popped delta is applied, so that store and queue can
    /// be compared (see [`super::Queue::try_pop`]).
    state: Mutex<State<L>>,
    capacity: Room,
    signals: Signals,
}

struct State<L> {
    line: L,
    closed: bool,
}

impl<L: Line> Held<L> {
    /// At least one delta has room, whatever the capacity: where none ever had, whoever waits for room would wait for
    /// ever.
    pub(super) fn new(line: L, capacity: Room) -> Self {
        let state = Mutex::new(State { line, closed: false });
        let capacity = Room { deltas: capacity.deltas.max(1), bytes: capacity.bytes.max(1) };
        Self { state, capacity, signals: Signals::default() }
    }

    fn lock(&self) -> MutexGuard<'_, State<L>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks at the line, or changes what nobody waits for.
    pub(super) fn look<T>(&self, look: impl FnOnce(&mut L) -> T) -> T {
        look(&mut self.lock().line)
    }

    /// Changes what is queued, and wakes whom that concerns.
    pub(super) fn change<T>(&self, change: impl FnOnce(&mut L) -> T) -> T {
        let mut state = self.lock();
        let before = state.line.used();
        let answer = change(&mut state.line);
        let used = state.line.used();
        drop(state);
        self.signals.filled();
        if used.deltas < before.deltas || used.bytes < before.bytes {
            self.freed(used, false);
        }
        answer
    }

    /// Wakes whoever waits for room, once half of it is free: to be woken for each single delta would cost more than
    /// the delta. Where deltas are put back that half may never become free, and any room counts.
    fn freed(&self, used: Room, put_back: bool) {
        if self.capacity.is_half_free(used) || (put_back && self.capacity.has_room(used)) {
            self.signals.freed();
        }
    }

    /// `requeue` puts back what `process` wants to see again, with what would have been news in it. Not into a closed
    /// queue, which would never come to its end.
    pub(super) fn try_pop(
        &self,
        process: &mut RequeueFunc<'_>,
        requeue: impl FnOnce(&mut L, Deltas, Option<ResourceVersion>),
    ) -> Result<bool, FifoClosedError> {
        let mut state = self.lock();
        let Some(popped) = state.line.take() else {
            // What was passed over has made room too.
            self.freed(state.line.used(), false);
            return if state.closed { Err(FifoClosedError) } else { Ok(false) };
        };
        let up_to = popped.up_to.clone();
        let again = process(popped).filter(|_| !state.closed);
        let put_back = again.is_some();
        if let Some(deltas) = again {
            requeue(&mut state.line, deltas, up_to);
        }
        self.freed(state.line.used(), put_back);
        Ok(true)
    }

    pub(super) fn under_lock(&self, work: &mut dyn FnMut()) {
        let _state = self.lock();
        work();
    }

    pub(super) fn has_room(&self) -> bool {
        let state = self.lock();
        state.closed || self.capacity.has_room(state.line.used())
    }

    pub(super) fn has_synced(&self) -> bool {
        self.lock().line.population().has_synced()
    }

    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.signals.closed();
    }

    pub(super) fn signals(&self) -> &Signals {
        &self.signals
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::task::{Context, Waker};

    use crate::object::{DeletedObject, Ingest, Object, Origin, TypeMeta, meta_namespace_key};
    use crate::queue::cases::known;
    use crate::queue::held::Room;
    use crate::queue::{DeltaFifo, DeltaFifoOptions, Fifo, OrderedFifo, OrderedFifoOptions, Queue, room};

    const BYTES: usize = 100_000;

    /// An object of about so many bytes.
    fn object(name: &str, bytes: usize) -> Arc<Object> {
        let text = "x".repeat(bytes);
        let json = format!(r#"{{"metadata":{{"name":"{name}","resourceVersion":"7"}},"text":"{text}"}}"#);
        let ingest = Ingest::of(Arc::new(TypeMeta { api_version: "v1".into(), kind: "Pod".into() }));
        Arc::new(Object::from_json(json.as_bytes(), &ingest).expect("an object"))
    }

    fn queues() -> [Arc<dyn Queue>; 3] {
        let (capacity, bytes) = (400, BYTES);
        let delta = DeltaFifoOptions { capacity, bytes, ..DeltaFifoOptions::default() };
        let ordered = OrderedFifoOptions { capacity, bytes, ..OrderedFifoOptions::default() };
        [
            Arc::new(DeltaFifo::new(delta)),
            Arc::new(OrderedFifo::new(known(&[]) as _, ordered)),
            Arc::new(Fifo::with_room(meta_namespace_key, Room { deltas: capacity, bytes })),
        ]
    }

    #[test]
    fn small_objects_are_bounded_by_their_number_and_large_ones_by_their_bytes() {
        for (bytes, wanted) in [(10, 400), (BYTES / 4, 4), (10 * BYTES, 1)] {
            for queue in queues() {
                let mut queued = 0;
                while queue.has_room() {
                    queue.add(object(&format!("n{queued}"), bytes), Origin::Watch).expect("a key");
                    queued += 1;
                }
                assert_eq!(queued, wanted, "of {bytes} bytes each");
            }
        }
    }

    #[test]
    fn who_waits_for_room_is_told_when_half_of_the_bytes_are_gone() {
        for queue in queues() {
            for name in ["a", "b", "c", "d"] {
                queue.add(object(name, BYTES / 4), Origin::Watch).expect("a key");
            }
            let mut waiting = Box::pin(room(&*queue));
            let mut context = Context::from_waker(Waker::noop());
            let mut popped = 0;
            while waiting.as_mut().poll(&mut context).is_pending() {
                assert_eq!(queue.try_pop(&mut |_| ()), Ok(true), "nobody told who waits for room");
                popped += 1;
            }
            assert_eq!(popped, 3, "a quarter is left");
        }
    }

    /// Whatever is merged, replaced or put back on the way: an empty queue holds nothing.
    #[test]
    fn what_has_been_popped_takes_no_room() {
        for queue in queues() {
            for size in [BYTES / 10, BYTES / 3, BYTES / 20] {
                queue.add(object("a", size), Origin::Watch).expect("a key");
                queue.replace(vec![object("b", size)], &"9".into(), Origin::Relist).expect("keys");
                let gone = DeletedObject::Known(object("a", size * 2));
                queue.delete(gone, Origin::Watch).expect("a key");
                let mut again = true;
                let mut process = |popped: crate::queue::Popped| match popped.item {
                    crate::queue::Item::Deltas(deltas) if std::mem::take(&mut again) => Some(deltas),
                    _ => None,
                };
                while queue.try_pop_or_requeue(&mut process).expect("open") {}
            }
            assert!(queue.has_room());
            queue.add(object("b", BYTES - 1000), Origin::Watch).expect("a key");
            assert!(queue.has_room(), "something is left of what was popped");
        }
    }
}
