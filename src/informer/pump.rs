//! The pump task: pops a delta, applies it to the store and selects the recipients under the queue's lock, then notifies them
//! outside the lock.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::task::coop::consume_budget;
use tokio_util::sync::CancellationToken;

use super::apply::{Dispatch, apply, apply_all};
use super::delivery::listener::ProcessorListener;
use super::delivery::processor::{Outbox, SharedProcessor};
use super::delivery::progress::Synced;
use super::{InformerError, MutationDetector, Notification};
use crate::object::{DeletedObject, Object, ResourceVersion};
use crate::queue::{Change, Delta, Item, Mark, PoppedItem, Queue, pop};
use crate::store::Indexer;

/// A condition on the last states of deleted objects.
pub(super) type LastStateFilter = Box<dyn Fn(&Object) -> bool + Send + Sync>;

/// Applies the deltas of a queue to a store and notifies handlers (client-go: `processLoop` with the `HandleDeltas` of its
/// shared informer).
///
/// A delta is applied and its recipients are selected under the queue's lock. Therefore, whenever another task has the lock,
/// the store contains exactly the deltas that were popped. A list can then detect deletions, and a handler that registers
/// later starts from a snapshot of the store without missing or repeating a notification.
pub(super) struct Pump {
    pub(super) queue: Arc<dyn Queue>,
    pub(super) store: Arc<dyn Indexer>,
    pub(super) processor: Arc<SharedProcessor>,
    pub(super) synced: Arc<Synced>,
    pub(super) detector: Option<MutationDetector>,
    last_states: Option<LastStateFilter>,
    /// Whether handlers receive bookmarks.
    reports_bookmarks: bool,
    /// Whether handlers receive the stored objects.
    delivers_stored: bool,
    /// A std mutex: it is never held across an `.await`.
    applied: Mutex<Applied>,
}

#[derive(Default)]
struct Applied {
    /// The version up to which everything is in the store.
    version: ResourceVersion,
    /// Set once [`Mark::Synced`] has been popped.
    marked: bool,
}

impl Pump {
    pub(super) fn new(
        queue: Arc<dyn Queue>,
        store: Arc<dyn Indexer>,
        processor: Arc<SharedProcessor>,
        detector: Option<MutationDetector>,
    ) -> Self {
        let (synced, applied) = (Arc::new(Synced::new()), Mutex::default());
        Self {
            queue,
            store,
            processor,
            synced,
            detector,
            last_states: None,
            reports_bookmarks: false,
            delivers_stored: false,
            applied,
        }
    }

    /// Sets the condition on the last states of deleted objects.
    pub(super) fn with_last_states(mut self, last_states: Option<LastStateFilter>) -> Self {
        self.last_states = last_states;
        self
    }

    /// Sets whether handlers receive bookmarks.
    pub(super) fn with_bookmarks(mut self, reports_bookmarks: bool) -> Self {
        self.reports_bookmarks = reports_bookmarks;
        self
    }

    /// Sets whether handlers receive the stored objects.
    pub(super) fn with_stored_objects(mut self, delivers_stored: bool) -> Self {
        self.delivers_stored = delivers_stored;
        self
    }

    fn applied(&self) -> MutexGuard<'_, Applied> {
        self.applied.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the version up to which everything is in the store.
    pub(super) fn applied_version(&self) -> ResourceVersion {
        self.applied().version.clone()
    }

    /// Pops until the queue is closed and empty. Once `stopping` is cancelled, it waits for no handler.
    pub(super) async fn process_loop(&self, stopping: &CancellationToken) {
        let mut outbox = Outbox::new();
        let mut is_initial = false;
        while pop(&*self.queue, &mut |popped| {
            is_initial = popped.is_in_initial_list || matches!(popped.item, Item::Mark(Mark::Synced { .. }));
            self.process(popped, &mut outbox);
        })
        .await
        .is_ok()
        {
            if !self.synced.is_set() && self.queue.has_synced() {
                self.synced.set();
            }
            for (listener, notification) in outbox.drain(..) {
                if is_initial {
                    listener.send_initial(notification, &*self.store, stopping).await;
                } else {
                    listener.send(notification, stopping).await;
                }
            }
            // Without handlers nothing here waits: a queue that is never empty must not starve the runtime's other tasks.
            consume_budget().await;
        }
    }

    /// Applies a popped item and selects the recipients of its notifications. Runs under the queue's lock.
    fn process(&self, popped: PoppedItem, outbox: &mut Outbox) {
        let PoppedItem { item, is_in_initial_list, up_to } = popped;
        let is_bookmark = self.reports_bookmarks && matches!(item, Item::Bookmark | Item::ReplacedAll(_));
        let mut dispatch = |mut dispatch| {
            self.replace_by_stored(&mut dispatch);
            self.track_mutations(&dispatch);
            self.processor.distribute(dispatch, outbox);
        };
        match item {
            Item::Deltas(deltas) => {
                for delta in deltas {
                    apply(&*self.store, self.with_last_state(delta), is_in_initial_list, &mut dispatch);
                }
            }
            Item::ReplacedAll(all) => {
                apply_all(&*self.store, all, up_to.as_ref(), self.processor.is_resync_due(), &mut dispatch);
            }
            Item::Mark(mark) => {
                self.applied().marked |= matches!(mark, Mark::Synced { .. });
                dispatch(Dispatch::All(Notification::Mark(mark)));
            }
            Item::Bookmark => {}
        }
        if is_bookmark && let Some(resource_version) = up_to.clone() {
            dispatch(Dispatch::All(Notification::Mark(Mark::Bookmark { resource_version })));
        }
        if let Some(version) = up_to {
            self.store.bookmark(&version);
            self.applied().version = version;
        }
    }

    /// Replaces the state of a deleted object that does not meet the condition by the stored one, at the version of the deletion.
    fn with_last_state(&self, delta: Delta) -> Delta {
        let (Some(filter), Change::Deleted(DeletedObject::Known(object))) =
            (&self.last_states, &delta.change)
        else {
            return delta;
        };
        match self.store.get(object) {
            Ok(Some(stored)) if !filter(object) => {
                // Rows have no version.
                let version = object.resource_version();
                let last =
                    if version.is_unset() { stored } else { Arc::new(stored.at_version(version.clone())) };
                Delta { change: Change::Deleted(DeletedObject::Known(last)), ..delta }
            }
            _ => delta,
        }
    }

    /// Replaces the new object of a notification by the stored one, which may be a compressed copy, if handlers receive that.
    fn replace_by_stored(&self, dispatch: &mut Dispatch) {
        let Dispatch::All(Notification::Added { object: new, .. } | Notification::Updated { new, .. }) =
            dispatch
        else {
            return;
        };
        // The store may have a later state: that of another delta in the same list.
        if self.delivers_stored
            && let Ok(Some(stored)) = self.store.get(new)
            && stored.same_state(new)
        {
            *new = stored;
        }
    }

    /// Adds the object that was just stored to the mutation detector.
    fn track_mutations(&self, dispatch: &Dispatch) {
        let Some(detector) = &self.detector else { return };
        if let Dispatch::All(Notification::Added { object: new, .. } | Notification::Updated { new, .. }) = dispatch
            // The stored object may be a compressed copy of the notification's object.
            && let Ok(Some(stored)) = self.store.get(new)
        {
            detector.add_object(&stored);
        }
    }

    /// Adds a listener between two deltas. Its first notifications are a snapshot of the store.
    pub(super) fn register(
        &self,
        mut listener: ProcessorListener,
        resync: Option<Duration>,
        now: Instant,
        removed: &CancellationToken,
    ) -> Result<(), InformerError> {
        listener.removed = removed.clone();
        let mut listener = Some(listener);
        let mut registered = Ok(());
        self.queue.under_lock(&mut || {
            let Some(listener) = listener.take() else { return };
            let objects = self.store.list();
            let synced = {
                let applied = self.applied();
                let version = applied.version.clone();
                applied.marked.then_some(Mark::Synced { resource_version: version })
            };
            if !objects.is_empty() || synced.is_some() {
                listener.replay(objects, synced);
            }
            registered = self.processor.add(listener, resync, now, removed);
        });
        registered
    }
}

/// Ends the waits for the sync of an informer that can't run any more.
impl Drop for Pump {
    fn drop(&mut self) {
        self.synced.end();
    }
}

#[cfg(test)]
mod tests {
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
}
