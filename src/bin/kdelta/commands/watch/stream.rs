//! Many parts, one stream: each part is an informer of its own, and what they tell comes out in the order in which it
//! arrived.

use jiff::Timestamp;
use kdelta::informer::{
    HandlerOptions, InformerError, Notification, OnSlow, QueueKind, Registration, Subscription,
};
use kdelta::listwatch::Error;
use kdelta::queue::Mark;
use kdelta::reflector::ReflectorOptions;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::resumed::{self, Event};
use crate::session::Source;
use crate::settings::Flow;

/// Deltas between one reflector and its store: enough to keep reading while a batch is printed.
const QUEUED: usize = 512;
/// Notifications between one informer and the stream.
const SUBSCRIBED: usize = 128;
/// Notifications between the parts and the printer.
const MERGED: usize = 512;

/// What one part tells.
pub(super) struct Told {
    /// Which part: its place in the order of [`Stream::add`].
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
}

/// The merged stream. It owns the tasks of its parts: [`Stream::stop`] waits for them, dropping it aborts them.
pub(super) struct Stream {
    /// Bounded: a printer that is held up holds up the parts, those their queues, and those the server.
    receiver: mpsc::Receiver<Told>,
    sender: mpsc::Sender<Told>,
    /// One task for each part.
    parts: JoinSet<()>,
    stop: CancellationToken,
}

impl Stream {
    /// A stream without parts. What waits in it is not coalesced any more, so then next to nothing does.
    pub(super) fn new(flow: &Flow) -> Self {
        let (sender, receiver) = mpsc::channel(if flow.coalesce { 1 } else { MERGED });
        Self { receiver, sender, parts: JoinSet::new(), stop: CancellationToken::new() }
    }

    /// Starts a part; answers who knows how much of it was merged.
    pub(super) fn add(
        &mut self,
        part: usize,
        source: Source,
        options: ReflectorOptions,
        flow: &Flow,
    ) -> Result<Registration, InformerError> {
        let informer = source
            .informer()
            .queue(QueueKind::Ordered)
            .queue_capacity(QUEUED)
            .reflector(options)
            .resync_check_period(flow.resync)
            .build();
        let block = OnSlow::Block { capacity: SUBSCRIBED };
        let on_slow = if flow.coalesce { OnSlow::Coalesce } else { block };
        let subscription =
            informer.subscribe_with_options(HandlerOptions { resync: flow.resync, on_slow })?;
        let registration = subscription.registration();
        let run = informer.run(self.stop.clone());
        let sender = self.sender.clone();
        self.parts.spawn(async move {
            let (ended, ()) = tokio::join!(run, forward(part, subscription, &sender));
            // Fails when nobody reads the stream any more.
            let _ = sender.send(Told::now(part, What::Ended(ended))).await;
        });
        Ok(registration)
    }

    /// Starts a part that goes on from the version that the options say.
    pub(super) fn resume(&mut self, part: usize, source: Source, options: ReflectorOptions) {
        let (sender, stop) = (self.sender.clone(), self.stop.clone());
        self.parts.spawn(async move {
            let ended = resumed::run(part, source, options, &sender, stop).await;
            // As above.
            let _ = sender.send(Told::now(part, What::Ended(ended))).await;
        });
    }

    /// Waits for something to be told and takes what else is there, up to `limit`. Dropping the future loses nothing.
    pub(super) async fn next_batch(&mut self, batch: &mut Vec<Told>, limit: usize) {
        self.receiver.recv_many(batch, limit).await;
    }

    /// Ends every part and waits for their ends; what was still to be told is not told.
    pub(super) async fn stop(mut self) {
        self.stop.cancel();
        self.receiver.close();
        while self.receiver.recv().await.is_some() {}
        while self.parts.join_next().await.is_some() {}
    }
}

impl Told {
    /// Whether the initial state of its part is complete with it, or will never be.
    pub(super) fn ends_list(&self) -> bool {
        matches!(&self.what, What::Ended(_) | What::Notification(Notification::Mark(Mark::Synced { .. })))
    }

    pub(super) fn now(part: usize, what: What) -> Self {
        Self { part, received: Timestamp::now(), what }
    }
}

async fn forward(part: usize, mut subscription: Subscription, sender: &mpsc::Sender<Told>) {
    while let Some(notification) = subscription.recv().await {
        if sender.send(Told::now(part, What::Notification(notification))).await.is_err() {
            return;
        }
    }
}
