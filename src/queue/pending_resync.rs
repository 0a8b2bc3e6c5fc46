//! A resync in progress: keys of stored objects that are still to be delivered again.

use std::collections::{HashSet, VecDeque};

use super::{Change, Delta, KnownObjects};
use crate::object::{Key, Origin};

/// A resync in progress. A queue alternates between its own entries and the resync, so that a live event waits for at
/// most one object of a resync, however many objects the store holds.
///
/// It holds keys, not objects, so that each object is delivered in its current state. Bounded by the number of stored
/// objects.
#[derive(Default)]
pub(super) struct PendingResync {
    keys: VecDeque<Key>,
    /// Keys that were queued when the resync began: they are delivered by their own deltas.
    except: HashSet<Key>,
    known: Option<KnownObjects>,
    /// Whether the last pop came from the queue's own entries, so that the resync is next.
    is_next: bool,
}

impl PendingResync {
    /// Adds `keys` to those that are pending, each once, without those in `queued`.
    pub(super) fn start(&mut self, known: KnownObjects, keys: Vec<Key>, queued: HashSet<Key>) {
        if self.keys.is_empty() {
            self.keys = keys.into();
            self.except = queued;
        } else {
            let pending: HashSet<Key> = self.keys.iter().cloned().collect();
            self.keys.extend(keys.into_iter().filter(|key| !pending.contains(key)));
            self.except.extend(queued);
        }
        self.known = Some(known);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// The keys that are pending, in their order.
    pub(super) fn keys(&self) -> impl Iterator<Item = &Key> {
        self.keys.iter().filter(|key| !self.except.contains(*key))
    }

    /// Returns the next delta if it is the turn of the resync: after each entry of the queue, and when the queue is
    /// empty. Skips objects that have been deleted, and those that `is_queued`, whose queued state is newer.
    pub(super) fn take_turn(
        &mut self,
        is_queue_empty: bool,
        is_queued: impl Fn(&Key) -> bool,
    ) -> Option<Delta> {
        if !std::mem::replace(&mut self.is_next, true) && !is_queue_empty {
            return None;
        }
        let found = loop {
            let Some(key) = self.keys.pop_front() else { break None };
            if self.except.contains(&key) || is_queued(&key) {
                continue;
            }
            if let Some(object) = self.known.as_ref().and_then(|known| known.get_by_key(&key)) {
                break Some(Delta { change: Change::Sync(object), origin: Origin::Resync });
            }
        };
        self.is_next = false;
        if self.keys.is_empty() {
            *self = Self::default();
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::queue::testing::cases::{known, object, pop_all, pop_one};
    use crate::queue::{DeltaFifo, DeltaFifoOptions, OrderedFifo, Queue, QueueOptions};

    fn queues(names: &[&str]) -> [Box<dyn Queue>; 2] {
        let states: Vec<_> = names.iter().map(|name| (*name, 1)).collect();
        let [one, other] = [known(&states), known(&states)];
        let options = DeltaFifoOptions::default().known_objects(Some(one));
        let ordered = OrderedFifo::new(other, QueueOptions::default());
        [Box::new(DeltaFifo::new(options)), Box::new(ordered)]
    }

    #[test]
    fn live_event_waits_for_at_most_one_object_of_a_resync() {
        let names: Vec<String> = (0..10_000).map(|number| format!("n{number:05}")).collect();
        for queue in queues(&names.iter().map(String::as_str).collect::<Vec<_>>()) {
            queue.resync();
            queue.update(object("live", 2), Origin::Watch).expect("a key");
            let pops = std::iter::from_fn(|| pop_one(&*queue));
            let before = pops.take_while(|(deltas, _)| deltas != "U(live2)").count();
            assert!(before <= 1, "{before} pops before the live event");
        }
    }

    #[test]
    fn resync_and_queue_alternate() {
        for queue in queues(&["a", "b", "c"]) {
            queue.resync();
            for name in ["x", "y"] {
                queue.add(object(name, 2), Origin::Watch).expect("a key");
            }
            assert_eq!(pop_all(&*queue), ["A(x2)", "S(a1)", "A(y2)", "S(b1)", "S(c1)"]);
        }
    }

    #[test]
    fn resync_skips_objects_with_queued_deltas() {
        for queue in queues(&["a", "b"]) {
            queue.resync();
            queue.add(object("x", 2), Origin::Watch).expect("a key");
            queue.update(object("a", 2), Origin::Watch).expect("a key");
            assert_eq!(pop_all(&*queue), ["A(x2)", "S(b1)", "U(a2)"]);
        }
    }

    #[test]
    fn second_resync_keeps_the_rest_of_the_first() {
        for queue in queues(&["a", "b", "c"]) {
            queue.resync();
            assert_eq!(pop_one(&*queue).map(|(deltas, _)| deltas), Some("S(a1)".to_owned()));
            queue.resync();
            assert_eq!(pop_all(&*queue), ["S(b1)", "S(c1)", "S(a1)"]);
        }
    }

    #[test]
    fn resync_skips_deleted_objects() {
        let store = known(&[("a", 1), ("b", 1)]);
        let queue = OrderedFifo::new(Arc::clone(&store) as _, QueueOptions::default());
        queue.resync();
        store.0.lock().expect("no panic").remove("a");
        assert_eq!(pop_all(&queue), ["S(b1)"]);
    }
}
