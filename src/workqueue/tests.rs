//! client-go's test cases of the queue, named in a comment above each test, and a comparison with a simple model.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use proptest::prelude::*;
use tokio::task::{JoinSet, yield_now};

use super::{Fifo, ItemExponentialFailureRateLimiter, PendingItems, WorkQueue, WorkQueueOptions};
use crate::testing::FakeClock;

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// Returns the output of a future if it is ready.
fn now<T>(future: impl Future<Output = T>) -> Option<T> {
    match std::pin::pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => Some(output),
        Poll::Pending => None,
    }
}

/// Takes the next item, which must be pending.
fn take<T: Clone + Eq + std::hash::Hash>(queue: &WorkQueue<T>) -> T {
    now(queue.get()).flatten().expect("an item")
}

/// Shuts a queue down in one of the two ways.
async fn shut_down<T: Clone + Eq + std::hash::Hash>(queue: &WorkQueue<T>, with_drain: bool) {
    if with_drain {
        queue.shut_down_with_drain().await;
    } else {
        queue.shut_down();
    }
}

// TestBasic
#[tokio::test(start_paused = true)]
async fn every_added_item_is_processed_before_the_end() {
    for with_drain in [false, true] {
        let queue = Arc::new(WorkQueue::new());
        let mut producers = JoinSet::new();
        for item in 0..50 {
            let queue = Arc::clone(&queue);
            producers.spawn(async move {
                for _ in 0..50 {
                    queue.add(item);
                    tokio::time::sleep(ms(1)).await;
                }
            });
        }
        let processing = Arc::new(Mutex::new(BTreeSet::new()));
        let mut workers = JoinSet::new();
        for _ in 0..10 {
            let (queue, processing) = (Arc::clone(&queue), Arc::clone(&processing));
            workers.spawn(async move {
                let mut taken = BTreeSet::new();
                while let Some(item) = queue.get().await {
                    assert!(
                        processing.lock().expect("no panic").insert(item),
                        "{item} is processed twice at once"
                    );
                    tokio::time::sleep(ms(3)).await;
                    processing.lock().expect("no panic").remove(&item);
                    queue.done(&item);
                    taken.insert(item);
                }
                taken
            });
        }
        while let Some(ended) = producers.join_next().await {
            ended.expect("no panic");
        }
        shut_down(&queue, with_drain).await;
        queue.add(1000);
        let taken: BTreeSet<i32> = workers.join_all().await.into_iter().flatten().collect();
        assert_eq!(taken, (0..50).collect());
        assert_eq!(queue.len(), 0);
    }
}

// TestAddWhileProcessing
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn item_added_while_it_is_processed_is_processed_again() {
    for with_drain in [false, true] {
        let queue = Arc::new(WorkQueue::new());
        for item in 0..50 {
            queue.add(item);
        }
        let processed = Arc::new(AtomicUsize::new(0));
        let mut workers = JoinSet::new();
        for _ in 0..10 {
            let (queue, processed) = (Arc::clone(&queue), Arc::clone(&processed));
            workers.spawn(async move {
                let mut counts = HashMap::new();
                while let Some(item) = queue.get().await {
                    let count: &mut usize = counts.entry(item).or_default();
                    *count += 1;
                    if *count < 2 {
                        queue.add(item);
                    }
                    queue.done(&item);
                    processed.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        while processed.load(Ordering::Relaxed) < 100 {
            yield_now().await;
        }
        shut_down(&queue, with_drain).await;
        workers.join_all().await;
        assert_eq!(queue.len(), 0);
    }
}

// TestLen, TestReinsert
#[test]
fn equal_items_are_one() {
    let queue = WorkQueue::new();
    for item in ["foo", "bar", "foo"] {
        queue.add(item);
    }
    assert_eq!(queue.len(), 2);
    let foo = take(&queue);
    queue.add(foo);
    assert_eq!(queue.len(), 1, "it is being processed");
    queue.done(&foo);
    assert_eq!([take(&queue), take(&queue)], ["bar", "foo"]);
    for item in ["bar", "foo"] {
        queue.done(&item);
    }
    assert!(queue.is_empty());
    queue.done(&"foo");
    assert!(queue.is_empty(), "an item that no worker took is not done");
}

/// Pending items, and a record of those that were touched.
#[derive(Default)]
struct Touched(Fifo<&'static str>, Arc<Mutex<Vec<&'static str>>>);

impl PendingItems<&'static str> for Touched {
    fn push(&mut self, item: &'static str) {
        self.0.push(item);
    }

    fn pop(&mut self) -> Option<&'static str> {
        self.0.pop()
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn touch(&mut self, item: &&'static str) {
        self.1.lock().expect("no panic").push(item);
    }
}

// TestCollapse, TestCollapseWhileProcessing
#[test]
fn only_pending_items_are_touched() {
    let pending = Touched::default();
    let touched = Arc::clone(&pending.1);
    let queue = WorkQueue::with_options(WorkQueueOptions {
        pending: Box::new(pending),
        ..WorkQueueOptions::default()
    });
    queue.add("bar");
    queue.add("bar");
    queue.done(&take(&queue));
    assert_eq!(queue.len(), 0);
    assert_eq!(std::mem::take(&mut *touched.lock().expect("no panic")), ["bar"]);
    queue.add("foo");
    assert_eq!(take(&queue), "foo");
    queue.add("foo");
    queue.add("foo");
    assert_eq!(now(queue.get()), None, "another worker waits");
    queue.done(&"foo");
    queue.done(&take(&queue));
    assert_eq!(queue.len(), 0);
    assert!(touched.lock().expect("no panic").is_empty());
}

// TestQueueDrainageUsingShutDownWithDrain, TestForceQueueShutdownUsingShutDown
#[test]
fn drain_waits_for_items_that_are_processed_until_a_plain_shutdown() {
    for is_forced in [false, true] {
        let queue = WorkQueue::new();
        for item in ["foo", "bar"] {
            queue.add(item);
        }
        let taken = [take(&queue), take(&queue)];
        let mut drain = std::pin::pin!(queue.shut_down_with_drain());
        assert_eq!(now(drain.as_mut()), None);
        assert_eq!(now(queue.get()), Some(None), "workers end meanwhile");
        queue.done(&taken[0]);
        assert_eq!(now(drain.as_mut()), None);
        if is_forced {
            queue.shut_down();
        } else {
            queue.done(&taken[1]);
        }
        assert_eq!(now(drain), Some(()));
        assert!(queue.is_shutting_down());
    }
}

// TestNoQueueDrainageUsingShutDown
#[test]
fn plain_shutdown_delivers_pending_items_and_drops_delayed_ones() {
    let queue = WorkQueue::new();
    for item in ["foo", "bar"] {
        queue.add(item);
    }
    queue.add_after("later", ms(1));
    assert_eq!(take(&queue), "foo");
    queue.shut_down();
    queue.add("new");
    queue.add_after("new", ms(1));
    assert_eq!(now(queue.get()), Some(Some("bar")));
    assert_eq!(now(queue.get()), Some(None));
}

// TestQueueDrainageUsingShutDownWithDrainWithDirtyItem
#[test]
fn drain_waits_for_an_item_that_was_added_while_it_was_processed() {
    let queue = WorkQueue::new();
    queue.add("foo");
    let foo = take(&queue);
    queue.add(foo);
    let mut drain = std::pin::pin!(queue.shut_down_with_drain());
    assert_eq!(now(drain.as_mut()), None);
    assert_eq!(now(queue.get()), Some(None));
    queue.done(&foo);
    assert_eq!(now(drain.as_mut()), None);
    queue.done(&take(&queue));
    assert_eq!(now(queue.get()), Some(None));
    assert_eq!(now(drain), Some(()));
}

// TestGarbageCollection
#[test]
fn processed_item_is_dropped() {
    let queue = WorkQueue::new();
    let item = Arc::new("large");
    queue.add(Arc::clone(&item));
    queue.add_after(Arc::clone(&item), ms(0));
    let taken = take(&queue);
    queue.done(&taken);
    drop(taken);
    assert_eq!(Arc::strong_count(&item), 1);
}

fn queue_on(clock: &Arc<FakeClock>) -> WorkQueue<&'static str> {
    WorkQueue::with_options(WorkQueueOptions { clock: Arc::clone(clock) as _, ..WorkQueueOptions::default() })
}

// TestSimpleQueue
#[test]
fn delayed_item_is_added_once() {
    let clock = Arc::new(FakeClock::new());
    let queue = queue_on(&clock);
    queue.add_after("foo", ms(50));
    assert_eq!(queue.len(), 0);
    clock.advance(ms(60));
    assert_eq!(queue.len(), 1);
    queue.done(&take(&queue));
    clock.advance(Duration::from_secs(10));
    assert_eq!(queue.len(), 0);
}

// TestDeduping
#[test]
fn earliest_of_several_delays_holds() {
    let clock = Arc::new(FakeClock::new());
    let queue = queue_on(&clock);
    for delays in [[50, 70], [50, 30]] {
        for delay in delays {
            queue.add_after("foo", ms(delay));
        }
        clock.advance(ms(*delays.iter().min().expect("two") - 1));
        assert_eq!(queue.len(), 0);
        clock.advance(ms(1));
        assert_eq!(queue.len(), 1);
        queue.done(&take(&queue));
        clock.advance(ms(100));
        assert_eq!(queue.len(), 0, "the other delay was dropped");
    }
}

// TestAddTwoFireEarly, TestCopyShifting
#[test]
fn delayed_items_are_taken_in_the_order_of_their_times() {
    let clock = Arc::new(FakeClock::new());
    let queue = queue_on(&clock);
    for (item, delay) in [("first", 1000), ("second", 500), ("third", 250)] {
        queue.add_after(item, ms(delay));
    }
    clock.advance(ms(300));
    assert_eq!((queue.len(), take(&queue)), (1, "third"));
    queue.done(&"third");
    queue.add_after("third", ms(2000));
    clock.advance(ms(2000));
    assert_eq!([(); 3].map(|()| take(&queue)), ["second", "first", "third"]);
    queue.add_after("never", Duration::MAX);
    clock.advance(Duration::from_hours(1));
    assert_eq!(queue.len(), 0);
}

#[tokio::test(start_paused = true)]
async fn waiting_worker_gets_a_delayed_item_at_its_time() {
    let queue = Arc::new(WorkQueue::new());
    queue.add_after("late", Duration::from_mins(1));
    let mut workers = JoinSet::new();
    for _ in 0..2 {
        let queue = Arc::clone(&queue);
        workers.spawn(async move {
            let item = queue.get().await;
            (item, tokio::time::Instant::now())
        });
    }
    let began = tokio::time::Instant::now();
    yield_now().await;
    queue.add_after("early", ms(10));
    let mut taken = workers.join_all().await;
    taken.sort_by_key(|(_, time)| *time);
    let taken: Vec<_> = taken.into_iter().map(|(item, time)| (item, time - began)).collect();
    assert_eq!(taken, [(Some("early"), ms(10)), (Some("late"), Duration::from_mins(1))]);
}

#[test]
fn dropped_get_loses_no_item_and_no_wakeup() {
    let queue = WorkQueue::new();
    let mut waiting = [Box::pin(queue.get()), Box::pin(queue.get())];
    for get in &mut waiting {
        assert_eq!(now(get.as_mut()), None);
    }
    queue.add("foo");
    let [woken, mut other] = waiting;
    drop(woken);
    assert_eq!(now(other.as_mut()), Some(Some("foo")));
}

// TestRateLimitingQueue
#[test]
fn rate_limiter_determines_the_delay() {
    let clock = Arc::new(FakeClock::new());
    let limiter = ItemExponentialFailureRateLimiter::new(ms(1), ms(1000));
    let queue = WorkQueue::with_options(WorkQueueOptions {
        rate_limiter: Box::new(limiter),
        clock: Arc::clone(&clock) as _,
        ..WorkQueueOptions::default()
    });
    let delay = |item| {
        queue.add_rate_limited(item);
        let mut waited = 0;
        while queue.is_empty() {
            clock.advance(ms(1));
            waited += 1;
        }
        queue.done(&take(&queue));
        waited
    };
    assert_eq!([delay("one"), delay("one")], [1, 2]);
    assert_eq!(queue.num_requeues(&"one"), 2);
    assert_eq!([delay("two"), delay("two")], [1, 2]);
    queue.forget(&"one");
    assert_eq!(queue.num_requeues(&"one"), 0);
    assert_eq!(delay("one"), 1);
}

#[derive(Debug, Clone)]
enum Call {
    Add(u8),
    AddAfter(u8, u64),
    Get,
    Done(u8),
    Advance(u64),
}

fn calls() -> impl Strategy<Value = Vec<Call>> {
    let item = 0..4_u8;
    let call = prop_oneof![
        3 => item.clone().prop_map(Call::Add),
        2 => (item.clone(), 1..9_u64).prop_map(|(item, delay)| Call::AddAfter(item, delay)),
        4 => Just(Call::Get),
        4 => item.prop_map(Call::Done),
        1 => (1..9_u64).prop_map(Call::Advance),
    ];
    proptest::collection::vec(call, 0..80)
}

/// A simple queue with the same guarantees.
#[derive(Default)]
struct Model {
    pending: Vec<u8>,
    /// The items to add once they are done.
    dirty: BTreeSet<u8>,
    processing: BTreeSet<u8>,
    /// The due time of each item, and the number of its call, which orders equal times.
    delayed: BTreeMap<u8, (u64, usize)>,
}

impl Model {
    fn add(&mut self, item: u8) {
        if self.processing.contains(&item) {
            self.dirty.insert(item);
        } else if !self.pending.contains(&item) {
            self.pending.push(item);
        }
    }

    fn add_due(&mut self, now: u64) {
        while let Some((item, _)) =
            self.delayed.clone().into_iter().filter(|(_, time)| time.0 <= now).min_by_key(|(_, time)| *time)
        {
            self.delayed.remove(&item);
            self.add(item);
        }
    }
}

proptest! {
    #[test]
    fn queue_equals_its_model(calls in calls()) {
        let clock = Arc::new(FakeClock::new());
        let options = WorkQueueOptions { clock: Arc::clone(&clock) as _, ..WorkQueueOptions::default() };
        let queue = WorkQueue::with_options(options);
        let (mut model, mut time) = (Model::default(), 0);
        for (number, call) in calls.into_iter().enumerate() {
            match call {
                Call::Add(item) => {
                    queue.add(item);
                    model.add(item);
                }
                Call::AddAfter(item, delay) => {
                    queue.add_after(item, ms(delay));
                    let due = (time + delay, number);
                    if model.delayed.get(&item).is_none_or(|known| due.0 < known.0) {
                        model.delayed.insert(item, due);
                    }
                }
                Call::Get => {
                    let item = (!model.pending.is_empty()).then(|| model.pending.remove(0));
                    model.processing.extend(item);
                    prop_assert_eq!(now(queue.get()).flatten(), item);
                }
                Call::Done(item) => {
                    queue.done(&item);
                    if model.processing.remove(&item) && model.dirty.remove(&item) {
                        model.pending.push(item);
                    }
                }
                Call::Advance(millis) => {
                    clock.advance(ms(millis));
                    time += millis;
                    model.add_due(time);
                }
            }
            prop_assert_eq!(queue.len(), model.pending.len());
        }
    }
}
