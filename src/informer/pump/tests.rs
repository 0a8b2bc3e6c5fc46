//! Tests of the order in which deltas are applied and handlers are notified.

use std::collections::BTreeMap;
use std::sync::mpsc;
use std::thread;

use proptest::prelude::*;

use super::*;
use crate::informer::delivery::listener::{Inbox, channel};
use crate::informer::testing::fixtures::{Reader, labelled, pod, text_of};
use crate::object::Origin;
use crate::queue::{DeltaFifo, DeltaFifoOptions, KnownObjects, OrderedFifo, QueueOptions};
use crate::store::{Cache, IndexFunc, Indexers};

fn pump(ordered: bool, indexers: Indexers) -> Arc<Pump> {
    pump_of(ordered, true, indexers)
}

fn pump_of(ordered: bool, atomic_replace: bool, indexers: Indexers) -> Arc<Pump> {
    let store: Arc<dyn Indexer> = Arc::new(Cache::with_indexers(indexers));
    let known: KnownObjects = Arc::clone(&store) as _;
    let queue: Arc<dyn Queue> = if ordered {
        let options = QueueOptions::default().atomic_replace(atomic_replace);
        Arc::new(OrderedFifo::new(known, options))
    } else {
        let known_objects = Some(known);
        let options = DeltaFifoOptions::default()
            .known_objects(known_objects)
            .queue(QueueOptions::default().atomic_replace(atomic_replace));
        Arc::new(DeltaFifo::new(options))
    };
    Arc::new(Pump::new(queue, store, Arc::new(SharedProcessor::new(None, None)), None))
}

/// Registers a listener whose channel does not fill up during a test.
fn listen(pump: &Pump) -> Inbox {
    let (listener, inbox) = channel(10_000, usize::MAX);
    pump.register(listener, None, Instant::now(), &CancellationToken::new()).expect("not stopped");
    inbox
}

/// Pops once and sends the notifications.
async fn step(pump: &Pump) -> bool {
    let mut outbox = Outbox::new();
    let popped = pump.queue.try_pop(&mut |popped| pump.process(popped, &mut outbox));
    for (listener, notification) in outbox {
        listener.send(notification, &CancellationToken::new()).await;
    }
    popped == Ok(true)
}

fn read(inbox: &mut Inbox) -> Vec<String> {
    std::iter::from_fn(|| inbox.try_next()).map(|notification| notification.to_string()).collect()
}

fn stored(pump: &Pump) -> Vec<String> {
    let mut objects = pump.store.list();
    objects.sort_by(|one, other| one.key().cmp(other.key()));
    objects.iter().map(|object| text_of(object)).collect()
}

/// A list that is queued while an object moves from the queue to the store must find that object. Otherwise the object
/// would be written after the list found nothing to delete, and stay in the store.
#[tokio::test]
async fn a_list_finds_an_object_that_is_being_applied() {
    for ordered in [false, true] {
        // The index function runs between the pop and the write to the store.
        let (applying, is_applying) = mpsc::channel::<()>();
        let (replacing, is_replacing) = mpsc::channel::<()>();
        let (replaced, was_replaced) = mpsc::channel::<()>();
        let list = Mutex::new((is_replacing, was_replaced));
        let pause = IndexFunc::returning(move |_| {
            let _sent = applying.send(());
            // A replace that does not wait for the apply ends long before this loop does.
            let (is_replacing, was_replaced) = &*list.lock().expect("no panic");
            let _begun = is_replacing.recv();
            let overtaken = (0..10_000).any(|_| {
                thread::yield_now();
                was_replaced.try_recv().is_ok()
            });
            assert!(!overtaken, "a list was queued between the pop and the write");
            Ok(Vec::new())
        });
        let pump = pump(ordered, Indexers::from([("pause".to_owned(), pause)]));
        let mut inbox = listen(&pump);
        pump.queue.add(pod("ghost", 1), Origin::Watch).expect("a key");
        let list = thread::spawn({
            let queue = Arc::clone(&pump.queue);
            move || {
                is_applying.recv().expect("applied");
                let _sent = replacing.send(());
                queue.replace(Vec::new(), &"2".into(), Origin::Relist).expect("keys");
                let _sent = replaced.send(());
            }
        });
        assert!(step(&pump).await);
        list.join().expect("no panic");
        while step(&pump).await {}
        assert_eq!(stored(&pump), [""; 0], "a ghost");
        let mut received = read(&mut inbox);
        received.retain(|line| !line.starts_with("SYNCED"));
        assert_eq!(received, ["+ghost@1 watch", "-ghost@1? relist"]);
    }
}

/// Handlers that register while deltas are applied receive each change exactly once, in the snapshot or as a notification.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_late_handler_receives_every_change_exactly_once() {
    for ordered in [false, true] {
        let pump = pump(ordered, Indexers::new());
        let stopping = CancellationToken::new();
        let applying = tokio::spawn({
            let (pump, stopping) = (Arc::clone(&pump), stopping.clone());
            async move { pump.process_loop(&stopping).await }
        });
        let late = tokio::spawn({
            let pump = Arc::clone(&pump);
            async move {
                let mut inboxes = Vec::new();
                for _ in 0..50 {
                    inboxes.push(listen(&pump));
                    tokio::task::yield_now().await;
                }
                inboxes
            }
        });
        for version in 1..=2000 {
            let object = pod(&format!("p{}", version % 7), version);
            let queued = if version % 5 == 0 {
                pump.queue.delete(DeletedObject::Known(object), Origin::Watch)
            } else {
                pump.queue.update(object, Origin::Watch)
            };
            queued.expect("a key");
        }
        let inboxes = late.await.expect("no panic");
        pump.queue.close();
        applying.await.expect("no panic");
        for mut inbox in inboxes {
            let mut reader = Reader::default();
            while let Some(notification) = inbox.try_next() {
                reader.read(notification);
            }
            assert_eq!(reader.lines(), stored(&pump));
        }
    }
}

#[tokio::test]
async fn a_deleted_object_has_the_last_state_that_meets_the_condition() {
    let store: Arc<dyn Indexer> = Arc::new(Cache::new());
    let queue = Arc::new(OrderedFifo::new(Arc::clone(&store) as _, QueueOptions::default()));
    let even = |object: &Object| object.resource_version().to_string().ends_with(['2', '4']);
    let pump = Pump::new(queue, store, Arc::new(SharedProcessor::new(None, None)), None)
        .with_last_states(Some(Box::new(even)));
    let mut inbox = listen(&pump);
    for version in [3, 4] {
        pump.queue.add(pod("a", 2), Origin::Watch).expect("a key");
        pump.queue.delete(DeletedObject::Known(pod("a", version)), Origin::Watch).expect("a key");
    }
    pump.queue.delete(DeletedObject::Known(pod("a", 5)), Origin::Watch).expect("a key");
    while step(&pump).await {}
    assert_eq!(read(&mut inbox), ["+a@2 watch", "-a@3 watch", "+a@2 watch", "-a@4 watch"]);
    assert_eq!(stored(&pump), [""; 0]);
}

// F2
#[tokio::test]
async fn a_list_reports_the_difference() {
    for (ordered, atomic_replace) in [(false, false), (false, true), (true, false), (true, true)] {
        let pump = pump_of(ordered, atomic_replace, Indexers::new());
        let mut inbox = listen(&pump);
        for (list, expected) in [
            (vec![pod("pod-1", 1), pod("pod-3", 2)], vec!["+pod-1@1!", "+pod-3@2!"]),
            (vec![], vec!["-pod-1@1?", "-pod-3@2?"]),
            (vec![pod("pod-1", 3)], vec!["+pod-1@3"]),
            (vec![pod("pod-1", 3), pod("pod-2", 4)], vec!["+pod-2@4"]),
            (
                vec![pod("pod-1", 6), labelled("pod-2", "other", 7, ""), pod("pod-4", 8)],
                vec!["+pod-2@7", "+pod-4@8", "-pod-2@4?", "pod-1@3>6"],
            ),
        ] {
            let origin = if stored(&pump).is_empty() && expected[0].ends_with('!') {
                Origin::List
            } else {
                Origin::Relist
            };
            let listed: Vec<_> = list.iter().map(|object| text_of(object)).collect();
            pump.queue.replace(list, &"9".into(), origin).expect("keys");
            if atomic_replace && origin == Origin::Relist {
                assert!(step(&pump).await, "a list is one pop");
                assert_eq!(pump.store.last_store_sync_resource_version(), "9".into());
                assert!(!step(&pump).await, "a list is one pop");
            }
            while step(&pump).await {}
            let mut received: Vec<_> = read(&mut inbox);
            received.retain(|line| !line.starts_with("SYNCED"));
            received.sort();
            let expected: Vec<_> = expected.iter().map(|line| format!("{line} {origin}")).collect();
            assert_eq!(received, expected);
            assert_eq!(stored(&pump), listed);
            assert_eq!(pump.applied_version(), "9".into());
        }
    }
}

#[tokio::test]
async fn notifications_follow_from_the_store_and_not_from_the_event_type() {
    for ordered in [false, true] {
        let pump = pump(ordered, Indexers::new());
        let (queue, mut inbox) = (&pump.queue, listen(&pump));
        let deleted = |name, version| DeletedObject::Known(pod(name, version));
        queue.update(pod("a", 1), Origin::Watch).expect("a key");
        queue.add(pod("a", 2), Origin::Watch).expect("a key");
        queue.add(pod("a", 2), Origin::Watch).expect("a key");
        queue.add(labelled("a", "other", 3, ""), Origin::Watch).expect("a key");
        queue.delete(deleted("a", 4), Origin::Watch).expect("a key");
        queue.delete(deleted("b", 5), Origin::Watch).expect("a key");
        queue.delete(deleted("a", 6), Origin::Watch).expect("a key");
        while step(&pump).await {}
        let mut expected = vec!["+a@1 watch", "a@1>2 watch", "-a@2? watch", "+a@3 watch", "-a@4 watch"];
        if !ordered {
            // A `DeltaFifo` merges two consecutive deletes and keeps the first.
            expected.truncate(5);
        }
        assert_eq!(read(&mut inbox), expected);
        assert_eq!(pump.applied_version(), "6".into());
    }
}

const NAMES: [&str; 3] = ["a", "b", "c"];

#[derive(Debug, Clone)]
enum Step {
    /// The source creates or changes an object (the second number is its uid). The flag is false if the event is missed.
    Put(usize, usize, bool),
    /// The source deletes an object.
    Remove(usize, bool),
    List,
    BrokenList(usize),
    Resync,
    Pop,
    /// Registers another handler.
    Listen,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let name = 0..NAMES.len();
    let step = prop_oneof![
        4 => (name.clone(), 0..2usize, any::<bool>()).prop_map(|(name, uid, is_reported)| Step::Put(name, uid, is_reported)),
        2 => (name.clone(), any::<bool>()).prop_map(|(name, is_reported)| Step::Remove(name, is_reported)),
        1 => Just(Step::List),
        1 => name.prop_map(Step::BrokenList),
        1 => Just(Step::Resync),
        5 => Just(Step::Pop),
        1 => Just(Step::Listen),
    ];
    proptest::collection::vec(step, 0..60)
}

struct World {
    pump: Arc<Pump>,
    source: BTreeMap<&'static str, (usize, u64)>,
    version: u64,
    has_listed: bool,
    has_missed_events: bool,
    readers: Vec<(Inbox, Reader)>,
}

impl World {
    async fn step(&mut self, step: &Step) {
        match *step {
            Step::Put(name, uid, is_reported) => {
                self.version += 1;
                self.source.insert(NAMES[name], (uid, self.version));
                self.has_missed_events |= !is_reported;
                if is_reported && self.has_listed {
                    let object = self.object(NAMES[name]);
                    self.pump.queue.update(object, Origin::Watch).expect("a key");
                }
            }
            Step::Remove(name, is_reported) => {
                self.version += 1;
                self.source.remove(NAMES[name]);
                self.has_missed_events |= !is_reported;
                if is_reported && self.has_listed {
                    let deleted = DeletedObject::Known(pod(NAMES[name], self.version));
                    self.pump.queue.delete(deleted, Origin::Watch).expect("a key");
                }
            }
            Step::List => self.list(usize::MAX),
            Step::BrokenList(after) => self.list(after),
            Step::Resync => self.pump.queue.resync(),
            Step::Pop => {
                super::tests::step(&self.pump).await;
            }
            Step::Listen => self.readers.push((listen(&self.pump), Reader::default())),
        }
    }

    fn object(&self, name: &str) -> Arc<crate::object::Object> {
        let (uid, version) = self.source[name];
        labelled(name, &format!("{name}{uid}"), version, "")
    }

    fn list(&mut self, breaks_after: usize) {
        let origin = if self.has_listed { Origin::Relist } else { Origin::List };
        let queue = &self.pump.queue;
        queue.list_begin(origin, false);
        let taken = self.source.keys().take(breaks_after);
        let back = taken.filter_map(|name| queue.list_item(self.object(name), origin)).collect();
        if breaks_after == usize::MAX {
            queue.replace(back, &self.version.to_string().as_str().into(), origin).expect("keys");
            (self.has_listed, self.has_missed_events) = (true, false);
        }
    }

    async fn settle(mut self) {
        if self.has_missed_events || !self.has_listed {
            self.list(usize::MAX);
        }
        while super::tests::step(&self.pump).await {}
        let source: Vec<_> = self.source.keys().map(|name| text_of(&self.object(name))).collect();
        assert_eq!(stored(&self.pump), source);
        for (mut inbox, mut reader) in self.readers {
            while let Some(notification) = inbox.try_next() {
                reader.read(notification);
            }
            assert_eq!(reader.lines(), source);
        }
    }
}

proptest! {
    #[test]
    fn replayed_notifications_yield_the_state_of_the_source(
        steps in steps(),
        ordered in any::<bool>(),
        atomic_replace in any::<bool>(),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        runtime.block_on(async {
            let pump = pump_of(ordered, atomic_replace, Indexers::new());
            let readers = vec![(listen(&pump), Reader::default())];
            let source = BTreeMap::new();
            let mut world =
                World { pump, source, version: 0, has_listed: false, has_missed_events: false, readers };
            for step in &steps {
                world.step(step).await;
            }
            world.settle().await;
        });
    }
}
