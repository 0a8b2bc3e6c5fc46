//! The connection from the pump, which sends notifications, to one handler: a bounded channel, or a buffer that merges
//! notifications per object.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::SystemTime;
use std::vec;

use tokio::sync::mpsc::error::TryRecvError;
use tokio_util::sync::CancellationToken;

use super::coalesce::{Next, Pending};
use super::overflow::Overflow;
use super::progress::Progress;
use super::weighted_channel::{
    ChannelLoad, TrySendError, WeightedReceiver, WeightedSender, weighted_channel,
};
use crate::informer::Notification;
use crate::object::{Compressor, Object, Origin};
use crate::queue::Mark;
use crate::store::Indexer;

/// A message in the channel.
enum Message {
    /// The store's objects at the registration of the handler: one message of any size, made of `Arc`s that the store
    /// holds too. The mark is set if the informer had already synced.
    Snapshot(Vec<Arc<Object>>, Option<Mark>),
    /// A notification, with the time at which it was sent.
    One(Notification, SystemTime),
}

/// The sending end (client-go: `processorListener`).
pub(in crate::informer) struct ProcessorListener {
    buffer: BufferSender,
    pub(in crate::informer) progress: Arc<Progress>,
    /// Cancelled when the handler is removed: from then on no sender waits for it, even if it is stuck in a call.
    pub(in crate::informer) removed: CancellationToken,
}

enum BufferSender {
    Channel {
        /// Bounded: a slow handler must push back on the pump. Closed by dropping the listener when the informer has
        /// stopped, or by the receiving end when the handler has ended.
        sender: WeightedSender<Message>,
        overflow: Arc<Overflow>,
        /// Set if the initial state goes to the overflow when the channel is full, instead of waiting for the reader.
        has_unbounded_initial_state: bool,
    },
    Pending(Arc<Pending>),
}

/// A view of a buffer's contents, which keeps neither end open.
#[derive(Clone)]
pub(in crate::informer) enum Backlog {
    Channel(ChannelLoad, Arc<Overflow>),
    Pending(Arc<Pending>),
}

impl Backlog {
    /// Returns the number of unread notifications and the bytes of their objects.
    pub(in crate::informer) fn size(&self) -> (usize, usize) {
        match self {
            Self::Channel(load, overflow) => {
                let (channel, overflow) = (load.get(), overflow.size());
                (channel.0 + overflow.0, channel.1 + overflow.1)
            }
            Self::Pending(pending) => pending.size(),
        }
    }
}

/// Dropping the sender closes the buffer, like the channel.
impl Drop for BufferSender {
    fn drop(&mut self) {
        if let Self::Pending(pending) = self {
            pending.close();
        }
    }
}

/// The receiving end: returns the snapshot object by object, then all later notifications in order.
pub(in crate::informer) struct Inbox {
    receiver: BufferReceiver,
    snapshot: vec::IntoIter<Arc<Object>>,
    mark: Option<Mark>,
}

enum BufferReceiver {
    Channel { receiver: WeightedReceiver<Message>, overflow: Arc<Overflow> },
    Pending(Arc<Pending>),
}

impl Drop for BufferReceiver {
    fn drop(&mut self) {
        match self {
            Self::Channel { receiver, overflow } => {
                receiver.close();
                overflow.close();
            }
            Self::Pending(pending) => pending.abandon(),
        }
    }
}

impl BufferReceiver {
    /// Polls for the next message; `None` if the buffer is closed and empty.
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Message>> {
        match self {
            Self::Channel { receiver, overflow } => {
                let waker = context.waker().clone();
                overflow.next_after(Some(&waker), || receiver.poll_recv(context), Message::one)
            }
            Self::Pending(pending) => pending.poll_take(context).map(Message::from_next),
        }
    }

    /// Returns the next message if one is available.
    fn try_next(&mut self) -> Option<Message> {
        match self {
            Self::Channel { receiver, overflow } => {
                let received = || match receiver.try_recv() {
                    Ok(message) => Poll::Ready(Some(message)),
                    Err(TryRecvError::Empty) => Poll::Pending,
                    Err(TryRecvError::Disconnected) => Poll::Ready(None),
                };
                match overflow.next_after(None, received, Message::one) {
                    Poll::Ready(message) => message,
                    Poll::Pending => None,
                }
            }
            Self::Pending(pending) => Message::from_next(pending.take()),
        }
    }
}

impl Message {
    fn one(notification: Notification) -> Self {
        Self::One(notification, SystemTime::now())
    }

    fn from_next(next: Next) -> Option<Self> {
        match next {
            Next::Snapshot((objects, mark)) => Some(Self::Snapshot(objects, mark)),
            Next::One(notification) => Some(Self::one(notification)),
            Next::End | Next::Empty => None,
        }
    }
}

/// Returns both ends of a buffer that merges unread notifications per object, so that senders never wait.
pub(in crate::informer) fn coalescing(compressor: Option<Arc<Compressor>>) -> (ProcessorListener, Inbox) {
    let pending = Arc::new(Pending::new(compressor));
    let buffer = BufferSender::Pending(Arc::clone(&pending));
    (ProcessorListener::new(buffer), Inbox::new(BufferReceiver::Pending(pending)))
}

/// Returns both ends of a channel that is bounded by `capacity` notifications and by `bytes` of objects. A handler that reads
/// the initial state slowly delays the sync.
pub(in crate::informer) fn channel(capacity: usize, bytes: usize) -> (ProcessorListener, Inbox) {
    channel_with_overflow(capacity, bytes, false)
}

/// Returns both ends of a channel as [`channel`] does, for a reader that may start after the informer has synced: the part of
/// the initial state that exceeds the bounds goes to the overflow, as references to objects in the store.
pub(in crate::informer) fn subscription(capacity: usize, bytes: usize) -> (ProcessorListener, Inbox) {
    channel_with_overflow(capacity, bytes, true)
}

fn channel_with_overflow(
    capacity: usize,
    bytes: usize,
    has_unbounded_initial_state: bool,
) -> (ProcessorListener, Inbox) {
    let (sender, receiver) = weighted_channel(capacity, bytes);
    let overflow = Arc::<Overflow>::default();
    let buffer =
        BufferSender::Channel { sender, overflow: Arc::clone(&overflow), has_unbounded_initial_state };
    (ProcessorListener::new(buffer), Inbox::new(BufferReceiver::Channel { receiver, overflow }))
}

impl ProcessorListener {
    fn new(buffer: BufferSender) -> Self {
        Self { buffer, progress: Arc::default(), removed: CancellationToken::new() }
    }

    /// Returns a view of the unread notifications.
    pub(in crate::informer) fn backlog(&self) -> Backlog {
        match &self.buffer {
            BufferSender::Channel { sender, overflow, .. } => {
                Backlog::Channel(sender.load(), Arc::clone(overflow))
            }
            BufferSender::Pending(pending) => Backlog::Pending(Arc::clone(pending)),
        }
    }

    /// Sends the store's objects, and `synced` after them. Must be called before any other send.
    pub(in crate::informer) fn replay(&self, objects: Vec<Arc<Object>>, synced: Option<Mark>) {
        self.progress.expect(objects.len());
        match &self.buffer {
            // The channel is new, so it has room. The weight is 0: the store holds these objects anyway.
            BufferSender::Channel { sender, .. } => {
                drop(sender.try_send(Message::Snapshot(objects, synced), 0));
            }
            BufferSender::Pending(pending) => pending.replay((objects, synced)),
        }
    }

    /// Sends a notification. Waits while the channel is full, until `stopping` is cancelled. A handler that has ended or was
    /// removed receives nothing.
    pub(in crate::informer) async fn send(&self, notification: Notification, stopping: &CancellationToken) {
        let (sender, overflow) = match &self.buffer {
            BufferSender::Channel { sender, overflow, .. } => (sender, overflow),
            BufferSender::Pending(pending) => return pending.put(notification, &self.progress),
        };
        if stopping.is_cancelled() {
            // Not into the channel, even if it has room by now: the overflow is read after the channel.
            return overflow.push(notification);
        }
        let permit = async {
            overflow.emptied(&self.removed).await;
            sender.reserve().await
        };
        tokio::select! {
            biased;
            permit = permit => {
                if let Some(permit) = permit {
                    let weight = notification.weight();
                    permit.send(Message::one(notification), weight);
                }
            }
            () = self.removed.cancelled() => {}
            () = stopping.cancelled() => overflow.push(notification),
        }
    }

    /// Sends a notification of the initial state. For a subscription this never waits: if the channel is full, the notification
    /// goes to the overflow, with the object as it is in `store`, which may be compressed.
    pub(in crate::informer) async fn send_initial(
        &self,
        notification: Notification,
        store: &dyn Indexer,
        stopping: &CancellationToken,
    ) {
        let BufferSender::Channel { sender, overflow, has_unbounded_initial_state: true } = &self.buffer
        else {
            return self.send(notification, stopping).await;
        };
        let mut notification = notification;
        if overflow.is_empty() && !stopping.is_cancelled() {
            let weight = notification.weight();
            match sender.try_send(Message::one(notification), weight) {
                Err(TrySendError::Full(Message::One(full, _))) => notification = full,
                // Sent, or the receiving end was dropped.
                _ => return,
            }
        }
        overflow.push(as_stored(notification, store));
    }
}

/// Replaces the added object by the stored one of the same state.
fn as_stored(notification: Notification, store: &dyn Indexer) -> Notification {
    match notification {
        Notification::Added { object, is_in_initial_list, origin } => {
            let stored = store.get(&object).ok().flatten().filter(|stored| stored.same_state(&object));
            Notification::Added { object: stored.unwrap_or(object), is_in_initial_list, origin }
        }
        other => other,
    }
}

impl Inbox {
    fn new(receiver: BufferReceiver) -> Self {
        Self { receiver, snapshot: Vec::new().into_iter(), mark: None }
    }

    /// Returns the next notification, or `None` if the buffer is closed and empty. Cancel safe.
    pub(in crate::informer) async fn next(&mut self) -> Option<Notification> {
        poll_fn(|context| self.poll_next(context)).await.map(|(notification, _)| notification)
    }

    /// Polls for the next notification and the time at which it entered the channel; see [`Inbox::next`]. If it was not in the
    /// channel, the time is that of the call.
    pub(in crate::informer) fn poll_next(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Option<(Notification, SystemTime)>> {
        loop {
            if let Some(next) = self.next_of_snapshot() {
                return Poll::Ready(Some((next, SystemTime::now())));
            }
            let Some(message) = ready!(self.receiver.poll_next(context)) else { return Poll::Ready(None) };
            if let Some(one) = self.accept(message) {
                return Poll::Ready(Some(one));
            }
        }
    }

    /// Returns the next notification if one is available.
    pub(in crate::informer) fn try_next(&mut self) -> Option<Notification> {
        loop {
            if let Some(next) = self.next_of_snapshot() {
                return Some(next);
            }
            let message = self.receiver.try_next()?;
            if let Some((one, _)) = self.accept(message) {
                return Some(one);
            }
        }
    }

    /// Returns the next notification of the snapshot being delivered: its objects, then its mark.
    fn next_of_snapshot(&mut self) -> Option<Notification> {
        match self.snapshot.next() {
            Some(object) => {
                Some(Notification::Added { object, is_in_initial_list: true, origin: Origin::List })
            }
            None => self.mark.take().map(Notification::Mark),
        }
    }

    /// Returns the notification of a message, or keeps a snapshot for [`Inbox::next_of_snapshot`].
    fn accept(&mut self, message: Message) -> Option<(Notification, SystemTime)> {
        match message {
            Message::One(notification, sent) => Some((notification, sent)),
            Message::Snapshot(objects, mark) => {
                self.snapshot = objects.into_iter();
                self.mark = mark;
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::informer::testing::fixtures::pod;

    fn added(version: u64) -> Notification {
        Notification::Added { object: pod("a", version), is_in_initial_list: false, origin: Origin::Watch }
    }

    #[test]
    fn send_does_not_wait_for_a_removed_handler() {
        let stopping = CancellationToken::new();
        // One channel is full by the number of its notifications, the other by their bytes.
        for (capacity, bytes) in [(1, usize::MAX), (100, 1)] {
            let (listener, _unread) = channel(capacity, bytes);
            assert!(now(listener.send(added(1), &stopping)).is_some());
            assert!(now(listener.send(added(2), &stopping)).is_none(), "the channel is full");
            listener.removed.cancel();
            assert!(now(listener.send(added(2), &stopping)).is_some());
        }
    }

    #[test]
    fn dropped_reader_ends_a_waiting_send() {
        let stopping = CancellationToken::new();
        for (capacity, bytes) in [(1, usize::MAX), (100, 1)] {
            let (listener, inbox) = channel(capacity, bytes);
            assert!(now(listener.send(added(1), &stopping)).is_some());
            let mut waiting = Box::pin(listener.send(added(2), &stopping));
            assert!(now(waiting.as_mut()).is_none(), "the channel is full");
            drop(inbox);
            assert!(now(waiting).is_some());
        }
    }

    #[test]
    fn a_channel_is_bounded_by_count_and_by_bytes() {
        let stopping = CancellationToken::new();
        let weight = added(1).weight();
        for (bytes, expected) in [(usize::MAX, 100), (10 * weight, 10), (1, 1)] {
            let (listener, mut inbox) = channel(100, bytes);
            let mut sent = 0;
            while sent < 1000 && now(listener.send(added(1), &stopping)).is_some() {
                sent += 1;
            }
            assert_eq!(sent, expected, "at most {bytes} bytes");
            // Reading makes room, with either method.
            for round in 0..50 {
                let read = if round % 2 == 0 { inbox.try_next() } else { now(inbox.next()).flatten() };
                assert!(read.is_some());
                assert!(now(listener.send(added(1), &stopping)).is_some(), "{bytes} bytes, round {round}");
            }
        }
    }

    /// Polls a future once and returns its output if it is ready.
    fn now<T>(future: impl Future<Output = T>) -> Option<T> {
        let mut context = Context::from_waker(std::task::Waker::noop());
        match std::pin::pin!(future).poll(&mut context) {
            Poll::Ready(done) => Some(done),
            Poll::Pending => None,
        }
    }

    #[test]
    fn a_notification_keeps_the_time_at_which_it_entered_the_channel() {
        let (listener, mut inbox) = channel(1, usize::MAX);
        let before = SystemTime::now();
        assert!(now(listener.send(added(1), &CancellationToken::new())).is_some());
        let after = SystemTime::now();
        while SystemTime::now() <= after {}
        let mut context = Context::from_waker(std::task::Waker::noop());
        let Poll::Ready(Some((_, sent))) = inbox.poll_next(&mut context) else { panic!("it was sent") };
        assert!((before..=after).contains(&sent), "{before:?} {sent:?} {after:?}");
    }

    #[test]
    fn a_backlog_counts_the_channel_and_the_overflow_until_they_are_read() {
        let (listener, mut inbox) = channel(1, usize::MAX);
        let backlog = listener.backlog();
        let stopping = CancellationToken::new();
        assert!(now(listener.send(added(1), &stopping)).is_some());
        stopping.cancel();
        assert!(now(listener.send(added(2), &stopping)).is_some(), "to the overflow");
        assert_eq!(backlog.size(), (2, added(1).weight() + added(2).weight()));
        assert!(inbox.try_next().is_some() && inbox.try_next().is_some());
        assert_eq!(backlog.size(), (0, 0));
        let (merging, mut inbox) = coalescing(None);
        let backlog = merging.backlog();
        assert!(now(merging.send(added(1), &stopping)).is_some());
        assert_eq!(backlog.size(), (1, added(1).weight()));
        assert!(inbox.try_next().is_some());
        assert_eq!(backlog.size(), (0, 0));
    }

    #[tokio::test]
    async fn the_overflow_is_read_after_the_channel() {
        let stopping = CancellationToken::new();
        let (listener, mut inbox) = channel(1, usize::MAX);
        listener.replay(vec![pod("b", 1)], Some(Mark::Synced { resource_version: "1".into() }));
        tokio::join!(listener.send(added(1), &stopping), async { stopping.cancel() });
        assert_eq!(inbox.try_next().map(|it| it.to_string()).as_deref(), Some("+b@1! list"));
        // The channel has room again, but a send after the stop must still go to the overflow.
        listener.send(added(2), &stopping).await;
        drop(listener);
        let mut rest = Vec::new();
        while let Some(next) = inbox.next().await {
            rest.push(next.to_string());
        }
        assert_eq!(rest, ["SYNCED 1", "+a@1 watch", "+a@2 watch"]);
    }

    #[tokio::test]
    async fn nothing_is_sent_to_a_dropped_reader() {
        let stopping = CancellationToken::new();
        let (listener, inbox) = channel(1, usize::MAX);
        listener.send(added(1), &stopping).await;
        drop(inbox);
        listener.send(added(2), &stopping).await;
        stopping.cancel();
        listener.send(added(3), &stopping).await;
        let BufferSender::Channel { overflow, .. } = &listener.buffer else { panic!("a channel") };
        assert!(overflow.is_empty());
    }
}
