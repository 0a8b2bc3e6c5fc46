//! Many parts, one stream: each part is an informer of its own, and what they tell comes out in the order in which it
//! arrived.

use jiff::Timestamp;
use kdelta::informer::{InformerError, Notification, QueueKind, Subscription};
use kdelta::listwatch::Error;
use kdelta::queue::Mark;
use kdelta::reflector::ReflectorOptions;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::session::Source;

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
    /// A stream without parts.
    pub(super) fn new() -> Self {
        let (sender, receiver) = mpsc::channel(MERGED);
        Self { receiver, sender, parts: JoinSet::new(), stop: CancellationToken::new() }
    }

    /// Starts a part.
    pub(super) fn add(
        &mut self,
        part: usize,
        source: Source,
        options: ReflectorOptions,
    ) -> Result<(), InformerError> {
        let informer =
            source.informer().queue(QueueKind::Ordered).queue_capacity(QUEUED).reflector(options).build();
        let subscription = informer.subscribe(SUBSCRIBED, None)?;
        let run = informer.run(self.stop.clone());
        let sender = self.sender.clone();
        self.parts.spawn(async move {
            let (ended, ()) = tokio::join!(run, forward(part, subscription, &sender));
            // Fails when nobody reads the stream any more.
            let _ = sender.send(Told::now(part, What::Ended(ended))).await;
        });
        Ok(())
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

    fn now(part: usize, what: What) -> Self {
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
