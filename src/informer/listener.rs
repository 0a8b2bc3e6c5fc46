//! The way to one handler: a bounded channel with two ends.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::vec;

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::Notification;
use super::progress::Progress;
use crate::object::{Object, Origin};
use crate::queue::Mark;

/// What goes through the channel.
enum Message {
    /// What the store held when the handler came: one item, whatever its size, made of `Arc`s that the store holds
    /// too. The mark is that of an informer that has synced before.
    Snapshot(Vec<Arc<Object>>, Option<Mark>),
    One(Notification),
}

/// What did not fit into the channel when the informer stopped, so that the stop waits for no reader. It holds no more
/// than the queue did, and is read after the channel.
type Tail = Arc<Mutex<VecDeque<Notification>>>;

/// The sending end (client-go: `processorListener`).
pub(super) struct ProcessorListener {
    /// Bounded, so that a handler that does not keep up presses back. Closed by dropping the listener when the
    /// informer has stopped, or by the receiving end when the handler is gone.
    sender: mpsc::Sender<Message>,
    tail: Tail,
    pub(super) progress: Arc<Progress>,
}

/// The receiving end: gives the snapshot object by object, then the rest in order.
pub(super) struct Inbox {
    receiver: mpsc::Receiver<Message>,
    tail: Tail,
    snapshot: vec::IntoIter<Arc<Object>>,
    mark: Option<Mark>,
}

/// Both ends of a channel that holds `capacity` notifications, at least one.
pub(super) fn channel(capacity: usize) -> (ProcessorListener, Inbox) {
    let (sender, receiver) = mpsc::channel(capacity.max(1));
    let tail = Tail::default();
    let listener = ProcessorListener { sender, tail: Arc::clone(&tail), progress: Arc::default() };
    (listener, Inbox { receiver, tail, snapshot: Vec::new().into_iter(), mark: None })
}

impl ProcessorListener {
    /// Puts what the store holds into the channel, before anything else.
    pub(super) fn replay(&self, objects: Vec<Arc<Object>>, synced: Option<Mark>) {
        self.progress.expect(objects.len());
        // The channel is new, so there is room.
        let _sent = self.sender.try_send(Message::Snapshot(objects, synced));
    }

    /// Sends; waits while the channel is full, until `hurry`. A handler that is gone is sent nothing.
    pub(super) async fn send(&self, notification: Notification, hurry: &CancellationToken) {
        if hurry.is_cancelled() {
            // Not into the channel, whatever room it has by now: the tail comes after it.
            return self.put_aside(notification);
        }
        tokio::select! {
            biased;
            permit = self.sender.reserve() => {
                if let Ok(permit) = permit {
                    permit.send(Message::One(notification));
                }
            }
            () = hurry.cancelled() => self.put_aside(notification),
        }
    }

    fn put_aside(&self, notification: Notification) {
        if !self.sender.is_closed() {
            self.tail.lock().unwrap_or_else(PoisonError::into_inner).push_back(notification);
        }
    }
}

impl Inbox {
    /// The next notification, or `None` when there will be no more. Dropping the future loses nothing.
    pub(super) async fn next(&mut self) -> Option<Notification> {
        loop {
            if let Some(next) = self.unpacked() {
                return Some(next);
            }
            match self.receiver.recv().await {
                Some(message) => {
                    if let Some(one) = self.unpack(message) {
                        return Some(one);
                    }
                }
                None => return self.tail.lock().unwrap_or_else(PoisonError::into_inner).pop_front(),
            }
        }
    }

    /// The next notification if it is there.
    pub(super) fn try_next(&mut self) -> Option<Notification> {
        loop {
            if let Some(next) = self.unpacked() {
                return Some(next);
            }
            match self.receiver.try_recv() {
                Ok(message) => {
                    if let Some(one) = self.unpack(message) {
                        return Some(one);
                    }
                }
                Err(mpsc::error::TryRecvError::Empty) => return None,
                Err(mpsc::error::TryRecvError::Disconnected) => {
                    return self.tail.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
                }
            }
        }
    }

    fn unpacked(&mut self) -> Option<Notification> {
        match self.snapshot.next() {
            Some(object) => {
                Some(Notification::Added { object, is_in_initial_list: true, origin: Origin::List })
            }
            None => self.mark.take().map(Notification::Mark),
        }
    }

    fn unpack(&mut self, message: Message) -> Option<Notification> {
        match message {
            Message::One(notification) => Some(notification),
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
    use crate::informer::fixtures::pod;

    fn added(version: u64) -> Notification {
        Notification::Added { object: pod("a", version), is_in_initial_list: false, origin: Origin::Watch }
    }

    #[tokio::test]
    async fn what_is_put_aside_comes_after_the_channel() {
        let hurry = CancellationToken::new();
        let (listener, mut inbox) = channel(1);
        listener.replay(vec![pod("b", 1)], Some(Mark::Synced { resource_version: "1".into() }));
        tokio::join!(listener.send(added(1), &hurry), async { hurry.cancel() });
        assert_eq!(inbox.try_next().map(|it| it.to_string()).as_deref(), Some("+b@1! list"));
        // There is room in the channel again, which must not be used.
        listener.send(added(2), &hurry).await;
        drop(listener);
        let mut rest = Vec::new();
        while let Some(next) = inbox.next().await {
            rest.push(next.to_string());
        }
        assert_eq!(rest, ["SYNCED 1", "+a@1 watch", "+a@2 watch"]);
    }

    #[tokio::test]
    async fn a_reader_that_is_gone_is_sent_nothing() {
        let hurry = CancellationToken::new();
        let (listener, inbox) = channel(1);
        listener.send(added(1), &hurry).await;
        drop(inbox);
        listener.send(added(2), &hurry).await;
        hurry.cancel();
        listener.send(added(3), &hurry).await;
        assert!(listener.tail.lock().expect("no panic").is_empty());
    }
}
