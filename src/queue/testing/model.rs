//! Property tests of both queues: the replayed deltas equal the source, and versions are reported in time.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use proptest::prelude::*;

use super::cases::{Known, known, object};
use crate::object::{DeletedObject, Object, Origin, meta_namespace_key};
use crate::queue::{
    Change, DeltaFifo, DeltaFifoOptions, Item, KnownObjects, OrderedFifo, PoppedItem, Queue, QueueOptions,
    key_of, pop,
};

const NAMES: [&str; 4] = ["a", "b", "c", "d"];

#[derive(Debug, Clone)]
enum Step {
    /// The source adds or changes an object and reports it.
    Put(usize),
    /// The source deletes an object and reports it.
    Remove(usize),
    /// The source changes without an event, as while a watch is down.
    Miss(usize, bool),
    /// A complete list of the source.
    List,
    /// A list that breaks off after this number of objects.
    BrokenList(usize),
    Resync,
    Pop,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let name = 0..NAMES.len();
    let step = prop_oneof![
        3 => name.clone().prop_map(Step::Put),
        2 => name.clone().prop_map(Step::Remove),
        2 => (name.clone(), any::<bool>()).prop_map(|(name, put)| Step::Miss(name, put)),
        1 => Just(Step::List),
        1 => name.prop_map(Step::BrokenList),
        1 => Just(Step::Resync),
        4 => Just(Step::Pop),
    ];
    proptest::collection::vec(step, 0..60)
}

/// The source, a queue and its store, and a replica that replays the deltas.
struct Simulation {
    queue: Box<dyn Queue>,
    store: Arc<Known>,
    source: BTreeMap<&'static str, u32>,
    version: u32,
    /// The replica: all deltas replayed on an empty map.
    replayed: BTreeMap<String, u32>,
    is_listed: bool,
    /// Whether the source changed without an event since the last list.
    has_missed_change: bool,
}

impl Simulation {
    fn new(queue: Box<dyn Queue>, store: Arc<Known>) -> Self {
        Self {
            queue,
            store,
            source: BTreeMap::new(),
            version: 0,
            replayed: BTreeMap::new(),
            is_listed: false,
            has_missed_change: false,
        }
    }

    fn change(&mut self, name: &'static str, put: bool) -> u32 {
        self.version += 1;
        if put {
            self.source.insert(name, self.version);
        } else {
            self.source.remove(name);
        }
        self.version
    }

    fn step(&mut self, step: &Step) {
        match *step {
            // Before the first list there is no watch, so no event reports the change.
            Step::Put(name) | Step::Remove(name) if !self.is_listed => {
                self.change(NAMES[name], matches!(step, Step::Put(_)));
            }
            Step::Put(name) => {
                let had = self.source.contains_key(NAMES[name]);
                let state = self.change(NAMES[name], true);
                let object = object(NAMES[name], state);
                let queued = if had {
                    self.queue.update(object, Origin::Watch)
                } else {
                    self.queue.add(object, Origin::Watch)
                };
                queued.expect("a key");
            }
            Step::Remove(name) => {
                let state = self.change(NAMES[name], false);
                let deleted = DeletedObject::Known(object(NAMES[name], state));
                self.queue.delete(deleted, Origin::Watch).expect("a key");
            }
            Step::Miss(name, put) => {
                self.change(NAMES[name], put);
                self.has_missed_change = true;
            }
            Step::List => self.list(usize::MAX),
            Step::BrokenList(after) => self.list(after),
            Step::Resync => self.queue.resync(),
            Step::Pop => {
                self.pop();
            }
        }
    }

    fn list(&mut self, breaks_after: usize) {
        let origin = if self.is_listed { Origin::Relist } else { Origin::List };
        self.queue.list_begin(origin, false);
        let mut back = Vec::new();
        for (at, (name, state)) in self.source.iter().enumerate() {
            if at == breaks_after {
                return;
            }
            back.extend(self.queue.list_item(object(name, *state), origin));
        }
        if breaks_after == usize::MAX {
            self.queue.replace(back, &self.version.to_string().as_str().into(), origin).expect("keys");
            self.is_listed = true;
            self.has_missed_change = false;
        }
    }

    fn pop(&mut self) -> bool {
        let Self { queue, store, replayed, .. } = self;
        let state = |object: &Object| object.resource_version().to_string().parse().expect("a number");
        let process = &mut |popped: PoppedItem| {
            let deltas = match popped.item {
                Item::Deltas(deltas) => vec![deltas],
                Item::ReplacedAll(all) => all,
                Item::Mark(_) | Item::Bookmark => return,
            };
            assert!(deltas.iter().all(|deltas| !deltas.is_empty()));
            let keys: BTreeSet<_> =
                deltas.iter().filter_map(|deltas| key_of(deltas, meta_namespace_key).ok()).collect();
            assert_eq!(keys.len(), deltas.len(), "each object once");
            for delta in deltas.iter().flat_map(|deltas| &**deltas) {
                store.apply(delta);
                if let Change::Deleted(deleted) = &delta.change {
                    replayed.remove(&**deleted.key());
                } else {
                    let object = delta.object().expect("a state");
                    replayed.insert(object.name().to_owned(), state(object));
                }
            }
        };
        queue.try_pop(process).expect("open")
    }

    /// Pops everything, after a final list if a change was missed, and checks that store and replica equal the source.
    fn settle(&mut self) -> Result<(), TestCaseError> {
        if self.has_missed_change || !self.is_listed {
            self.list(usize::MAX);
        }
        while self.pop() {}
        prop_assert!(self.queue.has_synced());
        let source: BTreeMap<String, u32> =
            self.source.iter().map(|(name, state)| ((*name).to_owned(), *state)).collect();
        prop_assert_eq!(&self.replayed, &source);
        let store: BTreeMap<String, u32> = self
            .store
            .0
            .lock()
            .expect("no panic")
            .iter()
            .map(|(key, object)| {
                (key.to_string(), object.resource_version().to_string().parse().expect("a number"))
            })
            .collect();
        prop_assert_eq!(store, source);
        Ok(())
    }
}

proptest! {
    #[test]
    fn replayed_deltas_equal_the_source(
        steps in steps(),
        ordered in any::<bool>(),
        atomic_replace in any::<bool>(),
    ) {
        let store = known(&[]);
        let known_objects = Arc::clone(&store) as KnownObjects;
        let queue: Box<dyn Queue> = if ordered {
            let options = QueueOptions::default().atomic_replace(atomic_replace);
            Box::new(OrderedFifo::new(known_objects, options))
        } else {
            let known_objects = Some(known_objects);
            let options = QueueOptions::default().atomic_replace(atomic_replace);
            let options = DeltaFifoOptions::default().known_objects(known_objects).queue(options);
            Box::new(DeltaFifo::new(options))
        };
        let mut simulation = Simulation::new(queue, store);
        for step in &steps {
            simulation.step(step);
        }
        simulation.settle()?;
    }
}

proptest! {
    /// `up_to` is reported only after every delta up to that version was popped, and finally the newest version is
    /// reported.
    #[test]
    fn version_is_reported_only_after_all_earlier_deltas(
        steps in proptest::collection::vec((0..NAMES.len(), 0..5_u8), 0..60),
        ordered in any::<bool>(),
    ) {
        let store = known(&[]);
        let known_objects = Arc::clone(&store) as KnownObjects;
        let queue: Box<dyn Queue> = if ordered {
            Box::new(OrderedFifo::new(known_objects, QueueOptions::default()))
        } else {
            let known_objects = Some(known_objects);
            Box::new(DeltaFifo::new(DeltaFifoOptions::default().known_objects(known_objects)))
        };
        // The versions queued for each name, and the newest version reported.
        let queued = Mutex::new(BTreeMap::<String, Vec<u32>>::new());
        let reported = AtomicU32::new(0);
        let pop = || {
            let process = &mut |popped: PoppedItem| {
                if let Item::Deltas(deltas) = &popped.item {
                    let name = deltas[0].object().expect("a state").name().to_owned();
                    let mut queued = queued.lock().expect("no panic");
                    let versions = queued.get_mut(&name).expect("queued");
                    versions.drain(..if ordered { 1 } else { versions.len() });
                    deltas.iter().for_each(|delta| store.apply(delta));
                }
                if let Some(version) = popped.up_to {
                    let version: u32 = version.to_string().parse().expect("a number");
                    assert!(reported.load(Ordering::Relaxed) <= version, "{version} after {reported:?}");
                    let left = queued.lock().expect("no panic").values().flatten().copied().min();
                    assert!(left.is_none_or(|left| version < left), "{version} reported, but {left:?} is queued");
                    reported.store(version, Ordering::Relaxed);
                }
            };
            queue.try_pop(process).expect("open")
        };
        let mut version = 0;
        for (name, action) in steps {
            let name = NAMES[name];
            if action >= 3 {
                pop();
                continue;
            }
            version += 1;
            let object = object(name, version);
            let exists = queued.lock().expect("no panic").get(name).is_some_and(|versions| !versions.is_empty())
                || store.0.lock().expect("no panic").contains_key(name);
            if action != 2 || exists || ordered {
                queued.lock().expect("no panic").entry(name.to_owned()).or_default().push(version);
            }
            match action {
                2 => queue.delete(DeletedObject::Known(object), Origin::Watch),
                _ => queue.update(object, Origin::Watch),
            }
            .expect("a key");
        }
        while pop() {}
        prop_assert_eq!(reported.load(Ordering::Relaxed), version);
    }
}

// B1
#[tokio::test]
async fn deltas_of_each_producer_keep_their_order() {
    let ordered = OrderedFifo::new(known(&[]) as KnownObjects, QueueOptions::default());
    let queues: [Arc<dyn Queue>; 2] =
        [Arc::new(ordered), Arc::new(DeltaFifo::new(DeltaFifoOptions::default()))];
    for queue in queues {
        for producer in ["a", "b"] {
            let queue = Arc::clone(&queue);
            tokio::spawn(async move {
                for at in 1..=300 {
                    queue.add(object(&format!("{producer}{at}"), at), Origin::Watch).expect("a key");
                    tokio::task::yield_now().await;
                }
            });
        }
        let mut last = BTreeMap::new();
        for _ in 0..600 {
            let mut seen = None;
            pop(&*queue, &mut |popped| {
                if let Item::Deltas(deltas) = popped.item {
                    seen = deltas.newest().and_then(|delta| delta.object()).cloned();
                }
            })
            .await
            .expect("open");
            let seen = seen.expect("a state");
            let number: u32 = seen.resource_version().to_string().parse().expect("a number");
            let before = last.insert(seen.name().as_bytes()[0], number);
            assert!(before.is_none_or(|before| before < number));
        }
    }
}
