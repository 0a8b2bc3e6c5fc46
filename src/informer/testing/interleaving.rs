//! Tests from the queue to the handlers under seeded interleavings: a source, the pump task, and handlers that block or
//! coalesce, are registered early or late, or are removed while they are stuck.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use tokio_util::sync::CancellationToken;

use super::fixtures::{Reader, pod, text_of};
use crate::informer::delivery::listener::{Inbox, ProcessorListener, channel, coalescing};
use crate::informer::delivery::processor::SharedProcessor;
use crate::informer::pump::Pump;
use crate::object::{DeletedObject, Origin};
use crate::queue::testing::schedule::{Preemptible, Schedule, step};
use crate::queue::{DeltaFifo, DeltaFifoOptions, KnownObjects, OrderedFifo, Queue, QueueOptions, room};
use crate::store::{Cache, Indexer};

const SCHEDULES: u64 = 600;
const EVENTS: u64 = 10;

fn pump(ordered: bool, capacity: usize) -> Arc<Pump> {
    let store: Arc<dyn Indexer> = Arc::new(Cache::new());
    let known: KnownObjects = Arc::clone(&store) as _;
    let queue: Arc<dyn Queue> = if ordered {
        let options = QueueOptions::default().atomic_replace(true).capacity(capacity);
        Arc::new(Preemptible(OrderedFifo::new(known, options)))
    } else {
        let known_objects = Some(known);
        let options = DeltaFifoOptions::default()
            .known_objects(known_objects)
            .queue(QueueOptions::default().atomic_replace(true).capacity(capacity));
        Arc::new(Preemptible(DeltaFifo::new(options)))
    };
    Arc::new(Pump::new(queue, store, Arc::new(SharedProcessor::new(None, None)), None))
}

/// Queues a list, events about three objects and another list, then ends like the informer: queue first, then `stopping`.
async fn run_source(pump: Arc<Pump>, schedule: Rc<Schedule>, stopping: CancellationToken) {
    let queue = &*pump.queue;
    let list = |version, origin| {
        queue.list_begin(origin, false);
        let listed = ["a", "b"].into_iter().filter_map(|name| queue.list_item(pod(name, version), origin));
        queue.replace(listed.collect(), &version.to_string().as_str().into(), origin).expect("keys");
    };
    list(1, Origin::List);
    for version in 2..2 + EVENTS {
        room(queue).await;
        let object = pod(["a", "b", "c"][schedule.below(3)], version);
        let queued = match schedule.below(4) {
            0 => queue.delete(DeletedObject::Known(object), Origin::Watch),
            _ => queue.update(object, Origin::Watch),
        };
        queued.expect("a key");
        if version == 2 + EVENTS / 2 {
            list(version, Origin::Relist);
        }
    }
    queue.close();
    step().await;
    stopping.cancel();
}

/// The final state of each reader.
type FinalStates = Rc<RefCell<Vec<Vec<String>>>>;

fn register(pump: &Pump, listener: ProcessorListener) -> bool {
    pump.register(listener, None, Instant::now(), &CancellationToken::new()).is_ok()
}

async fn read(mut inbox: Inbox, final_states: FinalStates) {
    let mut reader = Reader::default();
    while let Some(notification) = inbox.next().await {
        reader.read(notification);
        step().await;
    }
    final_states.borrow_mut().push(reader.lines());
}

/// Waits for some steps, registers, and reads to the end.
async fn register_late(
    pump: Arc<Pump>,
    steps: usize,
    (listener, inbox): (ProcessorListener, Inbox),
    final_states: FinalStates,
) {
    for _ in 0..steps {
        step().await;
    }
    if register(&pump, listener) {
        read(inbox, final_states).await;
    }
}

/// Reads one notification, then stops reading and is removed. After that, no sender waits for it.
async fn get_stuck(pump: Arc<Pump>, steps: usize, stuck: Rc<RefCell<Vec<Inbox>>>) {
    let (listener, mut inbox) = channel(1, 1);
    let progress = Arc::clone(&listener.progress);
    if !register(&pump, listener) {
        return;
    }
    inbox.next().await;
    for _ in 0..steps {
        step().await;
    }
    stuck.borrow_mut().push(inbox);
    pump.processor.remove(&progress);
}

#[test]
fn every_handler_reaches_the_state_of_the_store_in_all_interleavings() {
    for seed in 0..SCHEDULES {
        for ordered in [false, true] {
            let schedule = Schedule::new(seed);
            let pump = pump(ordered, 1 + schedule.below(3));
            let (stopping, final_states) = (CancellationToken::new(), FinalStates::default());
            // One channel is bounded by count, the other by bytes.
            let buffers = [channel(1, usize::MAX), coalescing(None), channel(4, 1 + schedule.below(800))];
            for (listener, inbox) in buffers {
                assert!(register(&pump, listener));
                schedule.spawn("a handler", read(inbox, Rc::clone(&final_states)));
            }
            for buffer in [channel(1, 1), coalescing(None)] {
                let late =
                    register_late(Arc::clone(&pump), schedule.below(40), buffer, Rc::clone(&final_states));
                schedule.spawn("a late handler", late);
            }
            let stuck = Rc::default();
            let sticking = get_stuck(Arc::clone(&pump), schedule.below(40), Rc::clone(&stuck));
            schedule.spawn("a stuck handler", sticking);
            schedule
                .spawn("the source", run_source(Arc::clone(&pump), Rc::clone(&schedule), stopping.clone()));
            let popping = Arc::clone(&pump);
            schedule.spawn("the pump", async move {
                popping.process_loop(&stopping).await;
                popping.processor.stop().await;
            });
            schedule.run();
            let mut stored: Vec<_> = pump.store.list().iter().map(|object| text_of(object)).collect();
            stored.sort();
            let final_states = final_states.borrow();
            assert!(
                final_states.len() >= 3 && final_states.iter().all(|lines| *lines == stored),
                "{seed} {ordered} {final_states:?}"
            );
            assert_eq!(pump.applied_version(), (1 + EVENTS).to_string().as_str().into());
        }
    }
}
