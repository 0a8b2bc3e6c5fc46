//! Seeded schedules: tasks are polled by hand in random order, and preempted in the middle of a poll.
//!
//! A task on a runtime may be preempted by another thread at any point. Here a task that calls a [`Preemptible`] queue
//! may be: before and after each call, other ready tasks may be polled first, and these may be preempted in turn. Other
//! tasks can therefore run between a check of the queue and the wait for its signal. If a task is never woken again,
//! the run fails and names the task.

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Wake, Waker};

use crate::object::{DeletedObject, KeyError, Object, Origin, ResourceVersion};
use crate::queue::{FifoClosedError, Mark, PopProcessFunc, Queue, QueueControl, RequeueFunc, Transformer};

/// The maximum number of tasks in the middle of a poll.
const DEPTH: usize = 4;

thread_local! {
    static CURRENT: RefCell<Option<Rc<Schedule>>> = const { RefCell::new(None) };
}

struct WakeFlag(AtomicBool);

impl Wake for WakeFlag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}

type TaskFuture = Pin<Box<dyn Future<Output = ()>>>;

struct Task {
    name: String,
    wake_flag: Arc<WakeFlag>,
    /// `None` while the task is being polled.
    future: Option<TaskFuture>,
    is_finished: bool,
}

/// The tasks of one thread, and the random generator that selects the next one.
pub(crate) struct Schedule {
    tasks: RefCell<Vec<Task>>,
    random: RefCell<fastrand::Rng>,
    depth: RefCell<usize>,
}

impl Schedule {
    pub(crate) fn new(seed: u64) -> Rc<Self> {
        let random = RefCell::new(fastrand::Rng::with_seed(seed));
        Rc::new(Self { tasks: RefCell::default(), random, depth: RefCell::default() })
    }

    /// Returns a random number below `end`.
    pub(crate) fn below(&self, end: usize) -> usize {
        self.random.borrow_mut().usize(..end)
    }

    pub(crate) fn spawn(&self, name: &str, future: impl Future<Output = ()> + 'static) {
        let wake_flag = Arc::new(WakeFlag(AtomicBool::new(true)));
        let task =
            Task { name: name.to_owned(), wake_flag, future: Some(Box::pin(future)), is_finished: false };
        self.tasks.borrow_mut().push(task);
    }

    /// Polls until every task has ended.
    ///
    /// # Panics
    /// Panics if every remaining task waits, and names these tasks.
    pub(crate) fn run(self: &Rc<Self>) {
        CURRENT.set(Some(Rc::clone(self)));
        while self.poll_one() {}
        CURRENT.set(None);
        let tasks = self.tasks.borrow();
        let stuck: Vec<_> = tasks.iter().filter(|task| !task.is_finished).map(|task| &task.name).collect();
        assert!(stuck.is_empty(), "never woken again: {stuck:?}");
    }

    /// Polls one of the ready tasks. Returns false if there is none.
    fn poll_one(&self) -> bool {
        let ready: Vec<usize> = {
            let tasks = self.tasks.borrow();
            let is_ready = |task: &Task| task.future.is_some() && task.wake_flag.0.load(Ordering::SeqCst);
            (0..tasks.len()).filter(|at| is_ready(&tasks[*at])).collect()
        };
        if ready.is_empty() {
            return false;
        }
        let at = ready[self.below(ready.len())];
        let (mut future, wake_flag) = {
            let task = &mut self.tasks.borrow_mut()[at];
            (task.future.take().expect("it is ready"), Arc::clone(&task.wake_flag))
        };
        wake_flag.0.store(false, Ordering::SeqCst);
        let waker = Waker::from(wake_flag);
        *self.depth.borrow_mut() += 1;
        let is_finished = future.as_mut().poll(&mut Context::from_waker(&waker)).is_ready();
        *self.depth.borrow_mut() -= 1;
        let task = &mut self.tasks.borrow_mut()[at];
        task.is_finished = is_finished;
        task.future = (!is_finished).then_some(future);
        true
    }

    fn preempt(&self) {
        while *self.depth.borrow() < DEPTH && self.below(3) == 0 && self.poll_one() {}
    }
}

/// A point at which other tasks may run.
pub(crate) fn preemption_point() {
    let current = CURRENT.with_borrow(Clone::clone);
    if let Some(schedule) = current {
        schedule.preempt();
    }
}

/// Yields once: ends the poll and wakes its task at once.
pub(crate) async fn step() {
    let mut is_first = true;
    std::future::poll_fn(|context| {
        if std::mem::take(&mut is_first) {
            context.waker().wake_by_ref();
            return std::task::Poll::Pending;
        }
        std::task::Poll::Ready(())
    })
    .await;
}

/// A queue whose caller may be preempted before and after each call.
pub(crate) struct Preemptible<Q>(pub(crate) Q);

impl<Q: Queue> Preemptible<Q> {
    fn call<T>(&self, call: impl FnOnce(&Q) -> T) -> T {
        preemption_point();
        let result = call(&self.0);
        preemption_point();
        result
    }
}

impl<Q: Queue> Queue for Preemptible<Q> {
    fn add(&self, object: Arc<Object>, origin: Origin) -> Result<(), KeyError> {
        self.call(|queue| queue.add(object, origin))
    }

    fn update(&self, object: Arc<Object>, origin: Origin) -> Result<(), KeyError> {
        self.call(|queue| queue.update(object, origin))
    }

    fn delete(&self, deleted: DeletedObject, origin: Origin) -> Result<(), KeyError> {
        self.call(|queue| queue.delete(deleted, origin))
    }

    fn replace(
        &self,
        objects: Vec<Arc<Object>>,
        version: &ResourceVersion,
        origin: Origin,
    ) -> Result<(), KeyError> {
        self.call(|queue| queue.replace(objects, version, origin))
    }

    fn list_begin(&self, origin: Origin, may_be_unrelated: bool) {
        self.call(|queue| queue.list_begin(origin, may_be_unrelated));
    }

    fn list_item(&self, object: Arc<Object>, origin: Origin) -> Option<Arc<Object>> {
        self.call(|queue| queue.list_item(object, origin))
    }

    fn flush(&self) {
        self.call(Queue::flush);
    }

    fn resync(&self) {
        self.call(Queue::resync);
    }

    fn mark(&self, mark: Mark) {
        self.call(|queue| queue.mark(mark));
    }

    fn bookmark(&self, version: &ResourceVersion) {
        self.call(|queue| queue.bookmark(version));
    }

    fn try_pop(&self, process: &mut PopProcessFunc<'_>) -> Result<bool, FifoClosedError> {
        self.call(|queue| queue.try_pop(process))
    }

    fn try_pop_or_requeue(&self, process: &mut RequeueFunc<'_>) -> Result<bool, FifoClosedError> {
        self.call(|queue| queue.try_pop_or_requeue(process))
    }

    fn under_lock(&self, work: &mut dyn FnMut()) {
        self.call(|queue| queue.under_lock(work));
    }

    fn has_room(&self) -> bool {
        self.call(Queue::has_room)
    }

    fn has_synced(&self) -> bool {
        self.call(Queue::has_synced)
    }

    fn set_transformer(&self, transformer: Transformer) {
        self.call(|queue| queue.set_transformer(transformer));
    }

    fn close(&self) {
        self.call(Queue::close);
    }

    fn control(&self) -> &dyn QueueControl {
        self.0.control()
    }
}

mod tests {
    use std::cell::Cell;
    use std::collections::HashMap;
    use std::sync::Mutex;

    use super::*;
    use crate::object::meta_namespace_key;
    use crate::queue::size::QueueSize;
    use crate::queue::testing::cases::{known, object};
    use crate::queue::{
        Change, DeltaFifo, DeltaFifoOptions, Fifo, Item, OrderedFifo, QueueOptions, pop_or_requeue, room,
    };

    const SCHEDULES: u64 = 1500;
    const PRODUCERS: usize = 2;
    const EVENTS: usize = 8;

    fn queues(capacity: usize, bytes: usize) -> [Arc<dyn Queue>; 3] {
        let options = QueueOptions::default().capacity(capacity).bytes(bytes);
        let delta = DeltaFifo::new(DeltaFifoOptions::default().queue(options.clone()));
        [
            Arc::new(Preemptible(delta)),
            Arc::new(Preemptible(OrderedFifo::new(known(&[]) as _, options))),
            Arc::new(Preemptible(Fifo::with_limits(
                meta_namespace_key,
                QueueSize { deltas: capacity, bytes },
            ))),
        ]
    }

    /// Adds, changes and deletes three objects of its own at random.
    async fn produce(queue: Arc<dyn Queue>, schedule: Rc<Schedule>, producer: usize) {
        for at in 0..EVENTS {
            room(&*queue).await;
            let version = u32::try_from(at + 1).expect("few");
            let object = object(&format!("{producer}{}", ["a", "b", "c"][schedule.below(3)]), version);
            let queued = match schedule.below(3) {
                0 => queue.add(object, Origin::Watch),
                1 => queue.update(object, Origin::Watch),
                _ => queue.delete(DeletedObject::Known(object), Origin::Watch),
            };
            queued.expect("a key");
        }
    }

    /// The newest version popped for each object.
    type NewestVersions = Arc<Mutex<HashMap<String, u64>>>;

    /// Pops until the queue is closed and empty; requeues the first `failures` deltas.
    async fn consume(queue: Arc<dyn Queue>, seen: NewestVersions, mut failures: usize, in_order: bool) {
        let mut process = |popped: crate::queue::PoppedItem| {
            let Item::Deltas(deltas) = popped.item else { return Vec::new() };
            if failures > 0 {
                failures -= 1;
                return vec![deltas];
            }
            for delta in deltas {
                let object = match &delta.change {
                    Change::Deleted(deleted) => deleted.object().expect("it was seen"),
                    _ => delta.object().expect("a state"),
                };
                let version = object.resource_version().to_string().parse().expect("a number");
                let before = seen.lock().expect("no panic").insert(object.name().to_owned(), version);
                assert!(!in_order || before.is_none_or(|before| before < version), "{}", object.name());
            }
            Vec::new()
        };
        while pop_or_requeue(&*queue, &mut process).await.is_ok() {}
    }

    #[test]
    fn no_task_waits_forever_under_any_schedule() {
        for seed in 0..SCHEDULES {
            for at in 0..3 {
                let schedule = Schedule::new(seed);
                // With 1 or 400 bytes a second or third object has no room.
                let bytes = [usize::MAX, 1, 400][schedule.below(3)];
                let queue = queues(1 + schedule.below(4), bytes).into_iter().nth(at).expect("three");
                let (seen, left) = (NewestVersions::default(), Rc::new(Cell::new(PRODUCERS)));
                for producer in 0..PRODUCERS {
                    let produced = produce(Arc::clone(&queue), Rc::clone(&schedule), producer);
                    let (queue, left) = (Arc::clone(&queue), Rc::clone(&left));
                    schedule.spawn("a producer", async move {
                        produced.await;
                        left.set(left.get() - 1);
                        if left.get() == 0 {
                            queue.close();
                        }
                    });
                }
                let failures = schedule.below(5);
                // An ordered queue requeues deltas behind newer ones.
                let in_order = at != 1 || failures == 0;
                for _ in 0..=schedule.below(2) {
                    let consumed = consume(Arc::clone(&queue), Arc::clone(&seen), failures, in_order);
                    schedule.spawn("a consumer", consumed);
                }
                schedule.run();
            }
        }
    }

    /// The schedules detect the error they exist for: a task that checks the queue before it registers for a wake-up.
    #[test]
    fn check_before_registering_is_detected() {
        let is_stuck = |seed| {
            let schedule = Schedule::new(seed);
            let [queue, ..] = queues(1, usize::MAX);
            let waiting = Arc::clone(&queue);
            schedule.spawn("checks first", async move {
                while !waiting.try_pop(&mut |_| ()).expect("open") {
                    waiting.signals().item.notified().await;
                }
            });
            schedule.spawn("a producer", async move {
                step().await;
                queue.add(object("a", 1), Origin::Watch).expect("a key");
            });
            let run = std::panic::AssertUnwindSafe(|| schedule.run());
            std::panic::catch_unwind(run).is_err()
        };
        let found = (0..100).filter(|seed| is_stuck(*seed)).count();
        assert!(found > 0, "no schedule got stuck");
    }
}
