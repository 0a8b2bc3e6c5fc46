//! A merged stream of events from many parts. Each part runs an informer; its notifications are read in their order, and
//! the parts in the order in which they have something to read.
//!
//! Between the socket and a printed row are two bounded buffers: the queue of the part's informer and its subscription, each
//! with at most 512 events, and with 8 MiB of objects or the part's share of 32 MiB. A slow printer leaves the subscription
//! full, which blocks the queue, which blocks the reading of the socket. The printer takes at most 8 MiB at a time.

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::future::poll_fn;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use kdelta::informer::{
    Builder, HandlerOptions, InformerError, OnSlow, QueueKind, Registration, SharedIndexInformer,
    Subscription,
};
use kdelta::listwatch::{Error, ListerWatcher};
use kdelta::reflector::ReflectorOptions;
use tokio::task::coop::{consume_budget, unconstrained};
use tokio::task::{JoinError, JoinSet};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::commands::watch::batch::Batch;
use crate::commands::watch::crossings::{CrossingTimer, Crossings};
use crate::commands::watch::part_event::{EventSender, PartEvent, PartEventKind};
use crate::commands::watch::ready_parts::ReadyParts;
use crate::commands::watch::resumed_watch;
use crate::commands::watch::running_part::{Progress, RunningPart};
use crate::commands::watch::weighted_channel::{ChannelLoad, WeightedReceiver, weighted_channel};
use crate::session::{KnownState, PartSource};
use crate::settings::Flow;

/// The capacity of the queue between a reflector and its store: enough to keep reading while a batch is printed.
const QUEUE_CAPACITY: usize = 512;
/// The capacity of the channel between an informer, or a resumed watch, and the stream.
const SUBSCRIPTION_CAPACITY: usize = 512;
/// Byte limits of each part's queue and of its channel. With many parts the total is shared; one object always fits.
const PART_BYTES: RangeInclusive<usize> = MIB / 16..=8 * MIB;
const TOTAL_PART_BYTES: usize = 32 * MIB;
/// The byte limit of a batch: reading it frees the buffers, which are filled again while it is printed.
const BATCH_BYTES: usize = 8 * MIB;
const MIB: usize = 1024 * 1024;
/// The time that a removed part is still read: if its namespace or type was deleted, the deletions of its objects are about
/// to arrive.
const DRAIN_TIME: Duration = Duration::from_secs(1);

/// The merged stream. It owns the tasks of its parts: [`MergedStream::stop`] waits for them, and dropping it aborts
/// them.
pub(super) struct MergedStream {
    parts: HashMap<usize, RunningPart>,
    ready: Arc<ReadyParts>,
    /// One task per part, and one per part that is being removed. Each is reaped when the stream is read.
    tasks: JoinSet<TaskEnd>,
    stop: CancellationToken,
    /// The events of resumed watches, which have no informer. Bounded: a slow printer blocks the watch.
    resumed: WeightedReceiver<PartEvent>,
    resumed_sender: EventSender,
    /// Unread deltas are merged, so only one is taken at a time.
    coalesces: bool,
    delivery: Delivery,
    /// Whether objects of any part may begin or cease to match a filter as time passes.
    has_crossings: bool,
    /// The timer of the next of them.
    crossing_timer: CrossingTimer,
}

/// The options of a part's informer.
struct InformerOptions {
    /// The byte limit of its queue.
    bytes: usize,
    options: ReflectorOptions,
    resync: Option<Duration>,
    delivery: Delivery,
}

/// What the informers of parts deliver.
#[derive(Clone, Copy, Default)]
struct Delivery {
    /// Whether they report bookmarks.
    bookmarks: bool,
    /// Whether they deliver the stored objects instead of the received ones.
    stored_objects: bool,
}

impl InformerOptions {
    fn build<L: ListerWatcher>(self, builder: Builder<L>) -> SharedIndexInformer {
        builder
            .queue(QueueKind::Ordered)
            .queue_capacity(QUEUE_CAPACITY)
            .queue_bytes(self.bytes)
            .reflector(self.options)
            .resync_check_period(self.resync)
            .bookmarks(self.delivery.bookmarks)
            .deliver_stored(self.delivery.stored_objects)
            .build()
    }
}

/// The end of a task.
enum TaskEnd {
    /// The informer of a part has ended.
    Informer(usize, Result<(), Error>),
    /// A resumed watch has sent its end, or the time limit of a removed part has passed.
    Other,
}

impl MergedStream {
    /// Creates a stream without parts.
    pub(super) fn new(flow: &Flow) -> Self {
        let (sender, resumed) = weighted_channel(SUBSCRIPTION_CAPACITY, *PART_BYTES.end());
        Self {
            parts: HashMap::new(),
            ready: Arc::default(),
            tasks: JoinSet::new(),
            stop: CancellationToken::new(),
            resumed,
            resumed_sender: EventSender::new(sender),
            coalesces: flow.coalesce,
            delivery: Delivery::default(),
            has_crossings: false,
            crossing_timer: CrossingTimer::default(),
        }
    }

    /// Makes the parts that are added from now on report bookmarks.
    pub(super) fn report_bookmarks(&mut self) {
        self.delivery.bookmarks = true;
    }

    /// Makes the parts that are added from now on deliver the stored objects, for a reader that keeps them.
    pub(super) fn deliver_stored(&mut self) {
        self.delivery.stored_objects = true;
    }

    /// Starts a part, one of `part_count`, under a number that was never used before, from a known state if there is one.
    /// Returns its informer, and the registration that counts its merged deltas.
    pub(super) fn add(
        &mut self,
        part: usize,
        source: PartSource,
        known: Option<KnownState>,
        options: ReflectorOptions,
        flow: &Flow,
        part_count: usize,
    ) -> Result<(SharedIndexInformer, Registration), InformerError> {
        let bytes = (TOTAL_PART_BYTES / part_count.max(1)).clamp(*PART_BYTES.start(), *PART_BYTES.end());
        let crossings = source.time_filter().map(Crossings::new);
        let delivery = self.delivery;
        let options = options.first_list_is_known(known.is_some());
        let informer_options = InformerOptions { bytes, options, resync: flow.resync, delivery };
        let informer = match known {
            Some(known) => informer_options.build(source.continued_informer(known)),
            None => informer_options.build(source.informer()),
        };
        let block = OnSlow::Block { capacity: SUBSCRIPTION_CAPACITY, bytes };
        let on_slow = if flow.coalesce { OnSlow::Coalesce } else { block };
        let subscription = informer
            .subscribe_with_options(HandlerOptions::default().resync(flow.resync).on_slow(on_slow))?;
        let registration = subscription.registration();
        self.run(part, informer.clone(), subscription, crossings);
        Ok((informer, registration))
    }

    /// Runs the informer of a part.
    fn run(
        &mut self,
        part: usize,
        informer: SharedIndexInformer,
        subscription: Subscription,
        crossings: Option<Crossings>,
    ) {
        let (stop, waker, indexer) = (self.stop.child_token(), self.ready.add(part), informer.get_indexer());
        self.has_crossings |= crossings.is_some();
        let running = RunningPart::new(part, subscription, indexer, waker, stop.clone());
        self.parts.insert(part, running.with_crossings(crossings));
        self.tasks.spawn(async move { TaskEnd::Informer(part, informer.run(stop).await) });
    }

    /// Starts a part that resumes from the version in the options. Returns its unread events.
    pub(super) fn resume(
        &mut self,
        part: usize,
        source: PartSource,
        options: ReflectorOptions,
    ) -> ChannelLoad {
        let (sender, stop) = (self.resumed_sender.clone(), self.stop.clone());
        self.tasks.spawn(async move {
            let ended = resumed_watch::run(part, source, options, &sender, stop).await;
            sender.send(PartEvent::now(part, PartEventKind::Ended(ended))).await;
            TaskEnd::Other
        });
        self.resumed_sender.load()
    }

    /// Removes a part. Its events are still delivered for a moment, then a deletion of each remaining object, then
    /// [`PartEventKind::Left`]. A part that has ended sends nothing.
    pub(super) fn remove(&mut self, part: usize) {
        let Some(stop) = self.parts.get_mut(&part).and_then(RunningPart::leave) else { return };
        self.tasks.spawn(async move {
            let _is_stopped = timeout(DRAIN_TIME, stop.cancelled()).await;
            stop.cancel();
            TaskEnd::Other
        });
    }

    /// Waits for an event and appends all available events, up to `limit` or [`BATCH_BYTES`]. The deletions of a removed part
    /// may exceed both. Cancel safe.
    ///
    /// # Panics
    /// If a part panicked: its silence would look like an idle watch.
    pub(super) async fn next_batch(&mut self, batch: &mut Vec<PartEvent>, limit: usize) {
        let limit = if self.coalesces { 1 } else { limit };
        // One unit for the batch instead of one for each event, which would split it.
        consume_budget().await;
        let mut batch = Batch::new(batch, limit, BATCH_BYTES);
        unconstrained(poll_fn(|context| self.poll_batch(context, &mut batch))).await;
    }

    fn poll_batch(&mut self, context: &mut Context<'_>, batch: &mut Batch<'_>) -> Poll<()> {
        self.reap_tasks(context);
        self.wake_due(context);
        while batch.has_room()
            && let Poll::Ready(Some(event)) = self.resumed.poll_recv(context)
        {
            batch.push(event);
        }
        while batch.has_room()
            && let Some(number) = self.ready.next(context.waker())
        {
            let Some(part) = self.parts.get_mut(&number) else { continue };
            if part.read(batch) == Progress::Ended {
                self.parts.remove(&number);
            }
        }
        if !batch.is_empty() {
            return Poll::Ready(());
        }
        // Again, because objects that were read and are not in the batch may cross soon.
        self.wake_due(context);
        Poll::Pending
    }

    /// Queues the parts with objects that begin or cease to match now, and sets the timer for the next of them.
    fn wake_due(&mut self, context: &mut Context<'_>) {
        if !self.has_crossings {
            return;
        }
        let wait = self.parts.values().filter_map(RunningPart::crossing_wait).min();
        if self.crossing_timer.poll(wait, context) {
            self.parts.values().for_each(RunningPart::wake_if_due);
        }
    }

    /// Hands the results of ended informers to their parts, and resumes the panics of tasks.
    fn reap_tasks(&mut self, context: &mut Context<'_>) {
        while let Poll::Ready(Some(ended)) = self.tasks.poll_join_next(context) {
            if let Some(TaskEnd::Informer(number, result)) = propagate_panic(ended)
                && let Some(part) = self.parts.get_mut(&number)
            {
                part.ended(result);
            }
        }
    }

    /// Stops all parts and waits for them. Pending events are discarded.
    pub(super) async fn stop(mut self) {
        self.stop.cancel();
        self.parts.clear();
        self.resumed.close();
        while self.resumed.recv().await.is_some() {}
        while self.tasks.join_next().await.is_some() {}
    }
}

/// Resumes the panic of a task. Returns `None` for a cancelled one.
fn propagate_panic(ended: Result<TaskEnd, JoinError>) -> Option<TaskEnd> {
    match ended {
        Ok(end) => Some(end),
        Err(failed) if failed.is_panic() => std::panic::resume_unwind(failed.into_panic()),
        Err(_) => None,
    }
}
