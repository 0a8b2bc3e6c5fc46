//! Many parts, one stream: each part is an informer of its own, and what they tell comes out in the order in which it
//! arrived.

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use kdelta::informer::{
    HandlerOptions, InformerError, Notification, OnSlow, QueueKind, Registration, SharedIndexInformer,
    Subscription, TrySendError, WeighedReceiver, WeighedSender, weighed_channel,
};
use kdelta::listwatch::Error;
use kdelta::object::{DeletedFinalStateUnknown, DeletedObject, Origin};
use kdelta::queue::Mark;
use kdelta::reflector::ReflectorOptions;
use kdelta::store::Indexer;
use tokio::task::{JoinError, JoinSet};
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

use super::resumed::{self, Event};
use crate::session::PartSource;
use crate::settings::Flow;

/// Deltas between one reflector and its store: enough to keep reading while a batch is printed.
const QUEUED: usize = 512;
/// Notifications between one informer and the stream.
const SUBSCRIBED: usize = 128;
/// Notifications between the parts and the printer.
const MERGED: usize = 512;
/// Bytes of objects there, and of one part in its queue and in its channel. Of all parts, which share them, where there
/// are many; one object always goes through.
const MERGED_BYTES: usize = 8 * MIB;
const BYTES: RangeInclusive<usize> = MIB / 16..=8 * MIB;
const BYTES_OF_ALL: usize = 32 * MIB;
const MIB: usize = 1024 * 1024;
/// How long a part that leaves is read on: where its namespace or its type was deleted, the deletions of its objects
/// are on their way.
const LEAVING: Duration = Duration::from_secs(1);

/// What one part tells.
pub(super) struct Told {
    /// Which part, as it was called in [`Stream::add`].
    pub(super) part: usize,
    /// When it was taken from the informer.
    pub(super) received: Timestamp,
    pub(super) what: What,
}

pub(super) enum What {
    Notification(Notification),
    /// Of a watch that goes on from a version.
    Event(Event),
    /// The part has ended; only what a person has to mend ends one by itself.
    Ended(Result<(), Error>),
    /// The part was removed, and this is the last that is told of it.
    Left,
}

/// The merged stream. It owns the tasks of its parts: [`Stream::stop`] waits for them, dropping it aborts them.
pub(super) struct Stream {
    /// Bounded: a printer that is held up holds up the parts, those their queues, and those the server.
    receiver: WeighedReceiver<Told>,
    outlet: Outlet,
    /// One task for each part; those that have ended are taken out when one is added.
    parts: JoinSet<()>,
    stop: CancellationToken,
    /// Cancelled to remove a part.
    leave: HashMap<usize, CancellationToken>,
}

impl Stream {
    /// A stream without parts. What waits in it is not coalesced any more, so then next to nothing does.
    pub(super) fn new(flow: &Flow) -> Self {
        let (sender, receiver) = weighed_channel(if flow.coalesce { 1 } else { MERGED }, MERGED_BYTES);
        let outlet = Outlet { sender };
        let stop = CancellationToken::new();
        Self { receiver, outlet, parts: JoinSet::new(), stop, leave: HashMap::new() }
    }

    /// Starts a part, which is told of under this number; no other part has ever had it. It is one of so many. Returns
    /// who knows how much of it was merged.
    pub(super) fn add(
        &mut self,
        part: usize,
        source: PartSource,
        options: ReflectorOptions,
        flow: &Flow,
        of: usize,
    ) -> Result<Registration, InformerError> {
        while let Some(ended) = self.parts.try_join_next() {
            go_on(ended);
        }
        let bytes = (BYTES_OF_ALL / of.max(1)).clamp(*BYTES.start(), *BYTES.end());
        let informer = source
            .informer()
            .queue(QueueKind::Ordered)
            .queue_capacity(QUEUED)
            .queue_bytes(bytes)
            .reflector(options)
            .resync_check_period(flow.resync)
            .build();
        let block = OnSlow::Block { capacity: SUBSCRIBED, bytes };
        let on_slow = if flow.coalesce { OnSlow::Coalesce } else { block };
        let subscription =
            informer.subscribe_with_options(HandlerOptions { resync: flow.resync, on_slow })?;
        let registration = subscription.registration();
        let member = Member {
            part,
            subscription,
            indexer: informer.get_indexer(),
            outlet: self.outlet.clone(),
            stop: self.stop.child_token(),
            leave: CancellationToken::new(),
        };
        self.leave.insert(part, member.leave.clone());
        self.parts.spawn(member.run(informer));
        Ok(registration)
    }

    /// Starts a part that goes on from the version that the options say.
    pub(super) fn resume(&mut self, part: usize, source: PartSource, options: ReflectorOptions) {
        let (outlet, stop) = (self.outlet.clone(), self.stop.clone());
        self.parts.spawn(async move {
            let ended = resumed::run(part, source, options, &outlet, stop).await;
            outlet.tell(Told::now(part, What::Ended(ended))).await;
        });
    }

    /// Ends a part. It tells what it still hears within a moment; then each object that it knows is deleted to the
    /// reader, and [`What::Left`] is told. Nothing is told of one that has ended.
    pub(super) fn remove(&mut self, part: usize) {
        if let Some(leave) = self.leave.remove(&part) {
            leave.cancel();
        }
    }

    /// Waits for something to be told and takes what else is there, up to `limit`. Dropping the future loses nothing.
    ///
    /// # Panics
    /// Where a part did: its silence would look like peace.
    pub(super) async fn next_batch(&mut self, batch: &mut Vec<Told>, limit: usize) {
        loop {
            tokio::select! {
                biased;
                () = self.receiver.recv_many(batch, limit) => return,
                Some(ended) = self.parts.join_next() => go_on(ended),
            }
        }
    }

    /// Ends every part and waits for their ends; what was still to be told is not told.
    pub(super) async fn stop(mut self) {
        self.stop.cancel();
        self.receiver.close();
        while self.receiver.recv().await.is_some() {}
        while self.parts.join_next().await.is_some() {}
    }
}

/// How the task of a part ended says nothing that it has not told, unless it panicked: then so do we.
fn go_on(ended: Result<(), JoinError>) {
    if let Err(failed) = ended
        && failed.is_panic()
    {
        std::panic::resume_unwind(failed.into_panic());
    }
}

impl Told {
    /// Whether the initial state of its part is complete with it, or will never be.
    pub(super) fn ends_list(&self) -> bool {
        match &self.what {
            What::Ended(_) | What::Left => true,
            What::Notification(notification) => {
                matches!(notification, Notification::Mark(Mark::Synced { .. }))
            }
            What::Event(_) => false,
        }
    }

    /// The bytes of the objects in it.
    pub(super) fn weight(&self) -> usize {
        match &self.what {
            What::Notification(notification) => notification.weight(),
            What::Event(event) => event.weight(),
            What::Ended(_) | What::Left => 0,
        }
    }

    pub(super) fn now(part: usize, what: What) -> Self {
        Self { part, received: Timestamp::now(), what }
    }
}

/// The way into the stream.
#[derive(Clone)]
pub(super) struct Outlet {
    sender: WeighedSender<Told>,
}

/// An event had nowhere to go.
#[derive(Debug, thiserror::Error)]
#[error("an event was not told: it came before there was room for it")]
pub(super) struct NoRoom;

impl Outlet {
    /// Waits for room for one more. Where nobody reads the stream any more, there is nothing to wait for.
    pub(super) async fn ready(&self) {
        drop(self.sender.reserve().await);
    }

    /// Tells once there is room, if anybody reads.
    pub(super) async fn tell(&self, told: Told) {
        let weight = told.weight();
        // Who does not read any more is told nothing.
        let _ = self.sender.send(told, weight).await;
    }

    /// Tells at once, if anybody reads: for the one who has waited for room and shares it with nobody.
    ///
    /// # Errors
    /// There is no room.
    pub(super) fn tell_now(&self, told: Told) -> Result<(), NoRoom> {
        let weight = told.weight();
        match self.sender.try_send(told, weight) {
            Ok(()) | Err(TrySendError::Closed(_)) => Ok(()),
            Err(TrySendError::Full(_)) => Err(NoRoom),
        }
    }
}

/// One running part.
struct Member {
    part: usize,
    subscription: Subscription,
    indexer: Arc<dyn Indexer>,
    outlet: Outlet,
    /// Ends the informer: with the stream, or by itself.
    stop: CancellationToken,
    leave: CancellationToken,
}

impl Member {
    async fn run(mut self, informer: SharedIndexInformer) {
        let run = informer.run(self.stop.clone());
        let (ended, is_left) = tokio::join!(run, self.forward());
        if !is_left {
            self.tell(What::Ended(ended)).await;
            return;
        }
        for object in self.indexer.list() {
            let key = object.key().clone();
            let object =
                DeletedObject::FinalStateUnknown(DeletedFinalStateUnknown { key, object: Some(object) });
            self.tell(What::Notification(Notification::Deleted { object, origin: Origin::Relist })).await;
        }
        self.tell(What::Left).await;
    }

    /// Passes on what the informer tells, to its end; answers whether the part was removed. Then everything that was
    /// told is in the index, and nothing else.
    async fn forward(&mut self) -> bool {
        loop {
            tokio::select! {
                biased;
                () = self.leave.cancelled() => break,
                told = self.subscription.recv() => match told {
                    Some(notification) => self.tell(What::Notification(notification)).await,
                    None => return false,
                },
            }
        }
        let until = Instant::now() + LEAVING;
        while !self.indexer.list_keys().is_empty() {
            let Ok(Some(notification)) = timeout_at(until, self.subscription.recv()).await else { break };
            self.tell(What::Notification(notification)).await;
        }
        self.stop.cancel();
        while let Some(notification) = self.subscription.recv().await {
            self.tell(What::Notification(notification)).await;
        }
        true
    }

    async fn tell(&self, what: What) {
        self.outlet.tell(Told::now(self.part, what)).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    #[should_panic(expected = "a mistake of ours")]
    async fn a_part_that_panics_is_not_missed_in_silence() {
        let mut stream = Stream::new(&Flow { from: None, resync: None, coalesce: false });
        stream.parts.spawn(async {});
        stream.parts.spawn(async { panic!("a mistake of ours") });
        stream.next_batch(&mut Vec::new(), 1).await;
    }

    #[test]
    fn an_event_without_room_is_an_error_and_one_without_a_reader_is_none() {
        let (sender, receiver) = weighed_channel(1, 1);
        let outlet = Outlet { sender };
        let tell = || outlet.tell_now(Told::now(0, What::Left));
        assert!(tell().is_ok());
        assert!(tell().is_err(), "it would have been lost");
        drop(receiver);
        assert!(tell().is_ok());
    }
}
