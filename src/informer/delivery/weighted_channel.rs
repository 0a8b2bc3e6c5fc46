//! A bounded channel that limits both the number and the total weight of its messages.
//!
//! The program compiles this file too: it is not part of the library's API.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};

use tokio::sync::{Notify, Semaphore, mpsc};

/// Creates a channel that holds at most `capacity` messages (at least one) and accepts messages while their total weight,
/// as given by the senders, is below `weight`.
///
/// A message is accepted whatever its weight if the total is below the limit, so one message can exceed it; so can several
/// senders that find room at the same time, by one message each.
///
/// The channel closes when every sender is dropped, or by [`WeightedReceiver::close`]. Messages sent before can still be
/// received.
#[must_use]
pub(crate) fn weighted_channel<T>(
    capacity: usize,
    weight: usize,
) -> (WeightedSender<T>, WeightedReceiver<T>) {
    // tokio panics on a larger capacity.
    let (sender, receiver) = mpsc::channel(capacity.clamp(1, Semaphore::MAX_PERMITS));
    let load = Arc::new(Load::new(weight.min(usize::MAX / 2)));
    let sender = WeightedSender { sender, load: Arc::clone(&load) };
    (sender, WeightedReceiver { receiver, load })
}

/// The sending half of a [`weighted_channel`]. Clones share its capacity.
#[derive(Debug)]
pub(crate) struct WeightedSender<T> {
    sender: mpsc::Sender<(T, usize)>,
    load: Arc<Load>,
}

/// The messages in a [`weighted_channel`] and their total weight, which can be read without keeping the channel open.
#[derive(Debug, Clone)]
pub(crate) struct ChannelLoad(Arc<Load>);

impl ChannelLoad {
    /// Returns the number of messages and their total weight.
    pub(crate) fn get(&self) -> (usize, usize) {
        (self.0.messages.load(Ordering::Relaxed), self.0.weight.load(Ordering::Relaxed))
    }
}

/// The receiving half of a [`weighted_channel`]. Receiving a message frees its capacity.
#[derive(Debug)]
pub(crate) struct WeightedReceiver<T> {
    /// Each message with its weight, so that exactly the weight that was added is removed.
    receiver: mpsc::Receiver<(T, usize)>,
    load: Arc<Load>,
}

/// Reserved capacity for one message. Dropping it releases the capacity.
#[derive(Debug)]
pub(crate) struct WeightedPermit<'a, T> {
    permit: mpsc::Permit<'a, (T, usize)>,
    load: &'a Load,
}

/// Heavier messages count as this, so that the sum over concurrent senders does not overflow.
const HEAVIEST: usize = usize::MAX / 1024;

/// The error of [`WeightedSender::try_send`]; contains the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TrySendError<T> {
    /// The channel is full.
    #[error("the channel is full")]
    Full(T),
    /// The receiver was closed or dropped.
    #[error("the channel is closed")]
    Closed(T),
}

impl<T> Clone for WeightedSender<T> {
    fn clone(&self) -> Self {
        Self { sender: self.sender.clone(), load: Arc::clone(&self.load) }
    }
}

impl<T> WeightedSender<T> {
    /// Returns the messages in the channel as a number that can be read later.
    pub(crate) fn load(&self) -> ChannelLoad {
        ChannelLoad(Arc::clone(&self.load))
    }

    /// Waits for capacity for one message. Returns `None` if the receiver was closed or dropped. Dropping the future
    /// gives up the position among the waiting senders.
    pub(crate) async fn reserve(&self) -> Option<WeightedPermit<'_, T>> {
        loop {
            if !self.load.has_room() {
                tokio::select! {
                    biased;
                    () = self.load.room() => {}
                    // A closed receiver frees no capacity.
                    () = self.sender.closed() => return None,
                }
            }
            let permit = self.sender.reserve().await.ok()?;
            // All waiting senders are woken at once, and an earlier one may have used the capacity.
            if self.load.has_room() {
                return Some(WeightedPermit { permit, load: &self.load });
            }
        }
    }

    /// Sends a message once there is capacity.
    ///
    /// # Errors
    /// The message, if the receiver was closed or dropped.
    #[allow(dead_code, reason = "only the program uses it")]
    pub(crate) async fn send(&self, message: T, weight: usize) -> Result<(), T> {
        match self.reserve().await {
            Some(permit) => {
                permit.send(message, weight);
                Ok(())
            }
            None => Err(message),
        }
    }

    /// Sends a message if there is capacity.
    ///
    /// # Errors
    /// [`TrySendError::Full`] or [`TrySendError::Closed`], with the message.
    pub(crate) fn try_send(&self, message: T, weight: usize) -> Result<(), TrySendError<T>> {
        match self.sender.try_reserve() {
            Err(mpsc::error::TrySendError::Closed(())) => Err(TrySendError::Closed(message)),
            Ok(permit) if self.load.has_room() => {
                WeightedPermit { permit, load: &self.load }.send(message, weight);
                Ok(())
            }
            Ok(_) | Err(mpsc::error::TrySendError::Full(())) => Err(TrySendError::Full(message)),
        }
    }
}

impl<T> WeightedPermit<'_, T> {
    /// Sends a message with this weight.
    pub(crate) fn send(self, message: T, weight: usize) {
        let weight = weight.min(HEAVIEST);
        self.load.add(weight);
        self.permit.send((message, weight));
    }
}

impl<T> WeightedReceiver<T> {
    /// Waits for the next message. Returns `None` once the channel is closed and empty. Cancel safe.
    #[allow(dead_code, reason = "only the program uses it")]
    pub(crate) async fn recv(&mut self) -> Option<T> {
        std::future::poll_fn(|context| self.poll_recv(context)).await
    }

    /// Polls for the next message; see [`WeightedReceiver::recv`].
    pub(crate) fn poll_recv(&mut self, context: &mut Context<'_>) -> Poll<Option<T>> {
        let received = ready!(self.receiver.poll_recv(context));
        Poll::Ready(received.map(|(message, weight)| {
            self.load.remove(weight);
            message
        }))
    }

    /// Returns the next message if one is available.
    ///
    /// # Errors
    /// `Empty` if there is no message now, `Disconnected` if the channel is closed and empty.
    #[allow(dead_code, reason = "only the library uses it")]
    pub(crate) fn try_recv(&mut self) -> Result<T, mpsc::error::TryRecvError> {
        let (message, weight) = self.receiver.try_recv()?;
        self.load.remove(weight);
        Ok(message)
    }

    /// Closes the channel. Messages that were sent or for which capacity was reserved can still be received.
    pub(crate) fn close(&mut self) {
        self.receiver.close();
    }
}

/// The total weight of the messages in a channel, with a limit.
///
/// A sender waits for [`Load::room`], then [adds](Load::add) the weight of its message; the receiver
/// [removes](Load::remove) it. A dropped receiver removes nothing: senders that wait for room must also wait for the
/// channel to close.
#[derive(Debug)]
struct Load {
    /// Relaxed: the channel synchronizes the messages, and `fell_below_limit`, which is notified after each change of this
    /// value, ensures that a sender which found no room is woken.
    weight: AtomicUsize,
    /// The number of messages. Relaxed: it is only displayed.
    messages: AtomicUsize,
    limit: usize,
    /// Notified by the receiver each time the weight falls below the limit.
    fell_below_limit: Notify,
}

impl Load {
    /// Creates an empty load with this limit, at least one.
    fn new(limit: usize) -> Self {
        let (weight, messages) = Default::default();
        Self { weight, messages, limit: limit.max(1), fell_below_limit: Notify::new() }
    }

    /// Returns true if the weight is below the limit.
    fn has_room(&self) -> bool {
        self.weight.load(Ordering::Relaxed) < self.limit
    }

    /// Waits until the weight is below the limit. Reserves nothing.
    async fn room(&self) {
        while !self.has_room() {
            let notified = self.fell_below_limit.notified();
            if self.has_room() {
                return;
            }
            notified.await;
        }
    }

    /// Adds the weight of a message, before it is sent.
    fn add(&self, weight: usize) {
        self.weight.fetch_add(weight, Ordering::Relaxed);
        self.messages.fetch_add(1, Ordering::Relaxed);
    }

    /// Removes the weight of a received message.
    fn remove(&self, weight: usize) {
        self.messages.fetch_sub(1, Ordering::Relaxed);
        let before = self.weight.fetch_sub(weight, Ordering::Relaxed);
        // Wrapping: the counter may have overflowed, and then wraps back here.
        if before >= self.limit && before.wrapping_sub(weight) < self.limit {
            self.fell_below_limit.notify_waiters();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maximal_limits_do_not_panic() {
        let (sender, mut receiver) = weighted_channel(usize::MAX, usize::MAX);
        assert_eq!(sender.try_send("a", 1), Ok(()));
        assert_eq!(receiver.try_recv(), Ok("a"));
    }

    #[test]
    fn a_message_of_maximal_weight_does_not_overflow() {
        let (sender, mut receiver) = weighted_channel(10, 10);
        assert_eq!((sender.try_send("a", 1), sender.try_send("b", usize::MAX)), (Ok(()), Ok(())));
        assert_eq!(sender.try_send("c", 1), Err(TrySendError::Full("c")));
        assert_eq!((receiver.try_recv(), receiver.try_recv()), (Ok("a"), Ok("b")));
        assert_eq!(sender.try_send("d", 10), Ok(()));
        assert_eq!(sender.try_send("e", 1), Err(TrySendError::Full("e")));
    }

    #[test]
    fn a_rejected_message_is_returned_and_adds_no_weight() {
        let (sender, mut receiver) = weighted_channel(2, 10);
        assert_eq!(sender.try_send("a", 10), Ok(()));
        assert_eq!(sender.try_send("b", 1), Err(TrySendError::Full("b")), "limited by weight");
        let load = sender.load();
        assert_eq!(load.get(), (1, 10));
        assert_eq!(receiver.try_recv(), Ok("a"));
        assert_eq!(load.get(), (0, 0));
        assert_eq!((sender.try_send("c", 1), sender.try_send("d", 1)), (Ok(()), Ok(())));
        assert_eq!(sender.try_send("e", 1), Err(TrySendError::Full("e")), "limited by count");
        receiver.close();
        assert_eq!(sender.try_send("f", 1), Err(TrySendError::Closed("f")));
        assert_eq!((receiver.try_recv(), receiver.try_recv()), (Ok("c"), Ok("d")));
        assert!(sender.sender.is_closed());
    }

    #[test]
    fn a_woken_sender_keeps_waiting_if_another_used_the_room() {
        let (sender, mut receiver) = weighted_channel(2, 10);
        assert_eq!((sender.try_send(0, 1), sender.try_send(1, 1)), (Ok(()), Ok(())));
        let mut waiting = [2, 3].map(|number| Box::pin(sender.send(number, 10)));
        let mut context = Context::from_waker(std::task::Waker::noop());
        let mut sent = |at: usize| waiting[at].as_mut().poll(&mut context).is_ready();
        assert_eq!((sent(0), sent(1)), (false, false));
        assert_eq!((receiver.try_recv(), receiver.try_recv()), (Ok(0), Ok(1)));
        assert_eq!((sent(0), sent(1)), (true, false), "only one fits by weight");
        assert_eq!(receiver.try_recv(), Ok(2));
        assert!(sent(1));
        assert_eq!(receiver.try_recv(), Ok(3));
    }

    #[tokio::test]
    async fn dropping_the_receiver_ends_a_wait_for_room() {
        let (sender, receiver) = weighted_channel(100, 1);
        assert_eq!(sender.send("a", 7).await, Ok(()));
        let mut waiting = Box::pin(sender.send("b", 7));
        let mut context = Context::from_waker(std::task::Waker::noop());
        assert!(waiting.as_mut().poll(&mut context).is_pending());
        drop(receiver);
        assert_eq!(waiting.await, Err("b"));
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn concurrent_senders_and_a_receiver_end_with_no_load() {
        const SENDERS: usize = 3;
        const EACH: usize = 20_000;
        const HEAVIEST: usize = 150;
        let (sender, mut receiver) = weighted_channel(1000, 100);
        let most = Arc::new(AtomicUsize::new(0));
        for _ in 0..SENDERS {
            let (sender, most) = (sender.clone(), Arc::clone(&most));
            tokio::spawn(async move {
                for at in 0..EACH {
                    sender.send((), 1 + at % HEAVIEST).await.expect("it is read");
                    most.fetch_max(sender.load.weight.load(Ordering::Relaxed), Ordering::Relaxed);
                }
            });
        }
        drop(sender);
        let mut count = 0;
        // Uses every receiving method.
        while receiver.recv().await.is_some() {
            count += 1;
            count += usize::from(receiver.try_recv().is_ok());
        }
        assert_eq!((count, ChannelLoad(Arc::clone(&receiver.load)).get()), (SENDERS * EACH, (0, 0)));
        // Each sender may have exceeded the limit by one message.
        assert!(most.load(Ordering::Relaxed) <= 100 + SENDERS * HEAVIEST);
    }
}
