//! A merged stream of events from many parts. Each part runs an informer; events are delivered in the order of arrival.

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use kdelta::informer::{
    HandlerOptions, InformerError, Notification, OnSlow, QueueKind, Registration, SharedIndexInformer,
    Subscription,
};
use kdelta::object::{DeletedFinalStateUnknown, DeletedObject, Origin};
use kdelta::reflector::ReflectorOptions;
use kdelta::store::Indexer;
use tokio::task::{JoinError, JoinSet};
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

use super::part_event::{EventSender, PartEvent, PartEventKind};
use super::resumed_watch;
use super::weighted_channel::{WeightedReceiver, weighted_channel};
use crate::session::PartSource;
use crate::settings::Flow;

/// The capacity of the queue between a reflector and its store: enough to keep reading while a batch is printed.
const QUEUE_CAPACITY: usize = 512;
/// The capacity of the channel between an informer and the stream.
const SUBSCRIPTION_CAPACITY: usize = 128;
/// The capacity of the channel between the parts and the printer.
const STREAM_CAPACITY: usize = 512;
/// Byte limits: of that channel, and of each part's queue and channel. With many parts the total is shared; one object
/// always fits.
const STREAM_BYTES: usize = 8 * MIB;
const PART_BYTES: RangeInclusive<usize> = MIB / 16..=8 * MIB;
const TOTAL_PART_BYTES: usize = 32 * MIB;
const MIB: usize = 1024 * 1024;
/// The time that a removed part is still read: if its namespace or type was deleted, the deletions of its objects are about
/// to arrive.
const DRAIN_TIME: Duration = Duration::from_secs(1);

/// The merged stream. It owns the tasks of its parts: [`MergedStream::stop`] waits for them, and dropping it aborts
/// them.
pub(super) struct MergedStream {
    /// Bounded: a slow printer blocks the parts, which block their queues, which block the server.
    receiver: WeightedReceiver<PartEvent>,
    sender: EventSender,
    /// One task per part. Finished tasks are reaped when a part is added.
    parts: JoinSet<()>,
    stop: CancellationToken,
    /// Cancelled to remove a part.
    leave: HashMap<usize, CancellationToken>,
}

impl MergedStream {
    /// Creates a stream without parts. Events in it can no longer be coalesced, so with coalescing its capacity is 1.
    pub(super) fn new(flow: &Flow) -> Self {
        let (sender, receiver) =
            weighted_channel(if flow.coalesce { 1 } else { STREAM_CAPACITY }, STREAM_BYTES);
        let sender = EventSender::new(sender);
        let stop = CancellationToken::new();
        Self { receiver, sender, parts: JoinSet::new(), stop, leave: HashMap::new() }
    }

    /// Starts a part, one of `part_count`, under a number that was never used before. Returns the registration that
    /// counts its merged deltas.
    pub(super) fn add(
        &mut self,
        part: usize,
        source: PartSource,
        options: ReflectorOptions,
        flow: &Flow,
        part_count: usize,
    ) -> Result<Registration, InformerError> {
        while let Some(ended) = self.parts.try_join_next() {
            propagate_panic(ended);
        }
        let bytes = (TOTAL_PART_BYTES / part_count.max(1)).clamp(*PART_BYTES.start(), *PART_BYTES.end());
        let informer = source
            .informer()
            .queue(QueueKind::Ordered)
            .queue_capacity(QUEUE_CAPACITY)
            .queue_bytes(bytes)
            .reflector(options)
            .resync_check_period(flow.resync)
            .build();
        let block = OnSlow::Block { capacity: SUBSCRIPTION_CAPACITY, bytes };
        let on_slow = if flow.coalesce { OnSlow::Coalesce } else { block };
        let subscription = informer
            .subscribe_with_options(HandlerOptions::default().resync(flow.resync).on_slow(on_slow))?;
        let registration = subscription.registration();
        let task = PartTask {
            part,
            subscription,
            indexer: informer.get_indexer(),
            sender: self.sender.clone(),
            stop: self.stop.child_token(),
            leave: CancellationToken::new(),
        };
        self.leave.insert(part, task.leave.clone());
        self.parts.spawn(task.run(informer));
        Ok(registration)
    }

    /// Starts a part that resumes from the version in the options.
    pub(super) fn resume(&mut self, part: usize, source: PartSource, options: ReflectorOptions) {
        let (sender, stop) = (self.sender.clone(), self.stop.clone());
        self.parts.spawn(async move {
            let ended = resumed_watch::run(part, source, options, &sender, stop).await;
            sender.send(PartEvent::now(part, PartEventKind::Ended(ended))).await;
        });
    }

    /// Removes a part. Its pending events are still delivered for a moment, then a deletion of each remaining object,
    /// then [`PartEventKind::Left`]. A part that has ended sends nothing.
    pub(super) fn remove(&mut self, part: usize) {
        if let Some(leave) = self.leave.remove(&part) {
            leave.cancel();
        }
    }

    /// Waits for an event and appends all available events, up to `limit`. Cancel safe.
    ///
    /// # Panics
    /// If a part panicked: its silence would look like an idle watch.
    pub(super) async fn next_batch(&mut self, batch: &mut Vec<PartEvent>, limit: usize) {
        loop {
            tokio::select! {
                biased;
                () = self.receiver.recv_many(batch, limit) => return,
                Some(ended) = self.parts.join_next() => propagate_panic(ended),
            }
        }
    }

    /// Stops all parts and waits for them. Pending events are discarded.
    pub(super) async fn stop(mut self) {
        self.stop.cancel();
        self.receiver.close();
        while self.receiver.recv().await.is_some() {}
        while self.parts.join_next().await.is_some() {}
    }
}

/// Resumes the panic of a part's task.
fn propagate_panic(ended: Result<(), JoinError>) {
    if let Err(failed) = ended
        && failed.is_panic()
    {
        std::panic::resume_unwind(failed.into_panic());
    }
}

/// The task of a running part.
struct PartTask {
    part: usize,
    subscription: Subscription,
    indexer: Arc<dyn Indexer>,
    sender: EventSender,
    /// Stops the informer, alone or with the stream.
    stop: CancellationToken,
    leave: CancellationToken,
}

impl PartTask {
    async fn run(mut self, informer: SharedIndexInformer) {
        let run = informer.run(self.stop.clone());
        let (ended, is_left) = tokio::join!(run, self.forward());
        if !is_left {
            self.send(PartEventKind::Ended(ended)).await;
            return;
        }
        for object in self.indexer.list() {
            let key = object.key().clone();
            let object =
                DeletedObject::FinalStateUnknown(DeletedFinalStateUnknown { key, object: Some(object) });
            self.send(PartEventKind::Notification(Notification::Deleted { object, origin: Origin::Relist }))
                .await;
        }
        self.send(PartEventKind::Left).await;
    }

    /// Forwards the informer's notifications until it ends. Returns whether the part was removed; the index then
    /// matches the forwarded notifications exactly.
    async fn forward(&mut self) -> bool {
        loop {
            tokio::select! {
                biased;
                () = self.leave.cancelled() => break,
                event = self.subscription.recv() => match event {
                    Some(notification) => self.send(PartEventKind::Notification(notification)).await,
                    None => return false,
                },
            }
        }
        let until = Instant::now() + DRAIN_TIME;
        while !self.indexer.list_keys().is_empty() {
            let Ok(Some(notification)) = timeout_at(until, self.subscription.recv()).await else { break };
            self.send(PartEventKind::Notification(notification)).await;
        }
        self.stop.cancel();
        while let Some(notification) = self.subscription.recv().await {
            self.send(PartEventKind::Notification(notification)).await;
        }
        true
    }

    async fn send(&self, kind: PartEventKind) {
        self.sender.send(PartEvent::now(self.part, kind)).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    #[should_panic(expected = "a bug in a part")]
    async fn panic_of_part_is_propagated() {
        let mut stream = MergedStream::new(&Flow { from: None, resync: None, coalesce: false });
        stream.parts.spawn(async {});
        stream.parts.spawn(async { panic!("a bug in a part") });
        stream.next_batch(&mut Vec::new(), 1).await;
    }

    #[test]
    fn try_send_fails_when_full_but_not_when_closed() {
        let (sender, receiver) = weighted_channel(1, 1);
        let sender = EventSender::new(sender);
        let send = || sender.try_send(PartEvent::now(0, PartEventKind::Left));
        assert!(send().is_ok());
        assert!(send().is_err(), "full");
        drop(receiver);
        assert!(send().is_ok());
    }
}
