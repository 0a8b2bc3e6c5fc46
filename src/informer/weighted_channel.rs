//! A channel that is bounded by what waits in it twice over: by how many things, and by how large they are. A channel of
//! the runtime counts things only.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};

use tokio::sync::{Notify, Semaphore, mpsc};

/// Both ends of a channel in which so many messages wait at most, at least one, with so much weight as whoever sends
/// says they have. One message is always let in, whatever its weight; and several senders that find room for one at the
/// same time may all use it.
///
/// It is closed when every sender is gone, or by the receiver; what was sent before can still be read.
///
/// ```
/// # use kdelta::informer::weighted_channel;
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let (sender, mut receiver) = weighted_channel(100, 10);
/// assert!(sender.try_send("heavy", 5000).is_ok());
/// assert!(sender.try_send("light", 1).is_err(), "there is no room beside it");
/// assert_eq!(receiver.recv().await, Some("heavy"));
/// assert!(sender.send("light", 1).await.is_ok());
/// # }
/// ```
#[must_use]
pub fn weighted_channel<T>(capacity: usize, weight: usize) -> (WeightedSender<T>, WeightedReceiver<T>) {
    // What is more than the runtime can count is no bound.
    let (sender, receiver) = mpsc::channel(capacity.clamp(1, Semaphore::MAX_PERMITS));
    let load = Arc::new(Load::new(weight.min(usize::MAX / 2)));
    let sender = WeightedSender { sender, load: Arc::clone(&load) };
    (sender, WeightedReceiver { receiver, load, batch: Vec::new() })
}

/// The sending end of a [`weighted_channel`]. Clones share the room.
#[derive(Debug)]
pub struct WeightedSender<T> {
    sender: mpsc::Sender<(T, usize)>,
    load: Arc<Load>,
}

/// The receiving end of a [`weighted_channel`], which makes room by what it reads.
#[derive(Debug)]
pub struct WeightedReceiver<T> {
    /// Each message with its weight, so that exactly what was put on the load is taken off it.
    receiver: mpsc::Receiver<(T, usize)>,
    load: Arc<Load>,
    /// Of [`WeightedReceiver::recv_many`], empty in between.
    batch: Vec<(T, usize)>,
}

/// Room for one message. Dropping it gives it back.
#[derive(Debug)]
pub struct WeightedPermit<'a, T> {
    permit: mpsc::Permit<'a, (T, usize)>,
    load: &'a Load,
}

/// What is heavier counts as this, so that what several senders let in at once can be added up.
const HEAVIEST: usize = usize::MAX / 1024;

/// Why a message was not sent, with the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TrySendError<T> {
    /// There is no room for it now.
    #[error("the channel is full")]
    Full(T),
    /// Nobody reads any more.
    #[error("the channel is closed")]
    Closed(T),
}

impl<T> Clone for WeightedSender<T> {
    fn clone(&self) -> Self {
        Self { sender: self.sender.clone(), load: Arc::clone(&self.load) }
    }
}

impl<T> WeightedSender<T> {
    /// Waits for room for one message; `None` where nobody reads any more. Dropping the future gives up the place in
    /// line.
    pub async fn reserve(&self) -> Option<WeightedPermit<'_, T>> {
        loop {
            if !self.load.has_room() {
                tokio::select! {
                    biased;
                    () = self.load.room() => {}
                    // Then nobody makes room.
                    () = self.sender.closed() => return None,
                }
            }
            let permit = self.sender.reserve().await.ok()?;
            // All that wait for room are woken at once, and those that go on first may fill it again.
            if self.load.has_room() {
                return Some(WeightedPermit { permit, load: &self.load });
            }
        }
    }

    /// Sends once there is room.
    ///
    /// # Errors
    /// The message, where nobody reads any more.
    pub async fn send(&self, message: T, weight: usize) -> Result<(), T> {
        match self.reserve().await {
            Some(permit) => {
                permit.send(message, weight);
                Ok(())
            }
            None => Err(message),
        }
    }

    /// Sends if there is room.
    ///
    /// # Errors
    /// The message, with why it was not sent.
    pub fn try_send(&self, message: T, weight: usize) -> Result<(), TrySendError<T>> {
        match self.sender.try_reserve() {
            Err(mpsc::error::TrySendError::Closed(())) => Err(TrySendError::Closed(message)),
            Ok(permit) if self.load.has_room() => {
                WeightedPermit { permit, load: &self.load }.send(message, weight);
                Ok(())
            }
            Ok(_) | Err(mpsc::error::TrySendError::Full(())) => Err(TrySendError::Full(message)),
        }
    }

    /// Whether nobody reads any more.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.sender.is_closed()
    }
}

impl<T> WeightedPermit<'_, T> {
    /// Sends a message of this weight.
    pub fn send(self, message: T, weight: usize) {
        let weight = weight.min(HEAVIEST);
        self.load.put(weight);
        self.permit.send((message, weight));
    }
}

impl<T> WeightedReceiver<T> {
    /// The next message, once there is one; `None` when there will be no more. Dropping the future loses nothing.
    pub async fn recv(&mut self) -> Option<T> {
        std::future::poll_fn(|context| self.poll_recv(context)).await
    }

    /// The same for whoever polls.
    pub fn poll_recv(&mut self, context: &mut Context<'_>) -> Poll<Option<T>> {
        let received = ready!(self.receiver.poll_recv(context));
        Poll::Ready(received.map(|(message, weight)| {
            self.load.take(weight);
            message
        }))
    }

    /// The next message if it is there.
    ///
    /// # Errors
    /// Whether there is none yet, or will be none any more.
    pub fn try_recv(&mut self) -> Result<T, mpsc::error::TryRecvError> {
        let (message, weight) = self.receiver.try_recv()?;
        self.load.take(weight);
        Ok(message)
    }

    /// Waits for a message and takes what else is there, up to `limit`; adds nothing to `batch` when there will be no
    /// more. Dropping the future loses nothing.
    pub async fn recv_many(&mut self, batch: &mut Vec<T>, limit: usize) {
        self.receiver.recv_many(&mut self.batch, limit).await;
        let mut taken = 0;
        batch.extend(self.batch.drain(..).map(|(message, weight)| {
            taken += weight;
            message
        }));
        self.load.take(taken);
    }

    /// Lets nobody send any more. What was sent, or has room already, can still be read.
    pub fn close(&mut self) {
        self.receiver.close();
    }
}

/// How much waits in a channel, with a bound on it.
///
/// Whoever sends waits for [`Load::room`] and then [puts](Load::put) the weight of what it sends; whoever receives
/// [takes](Load::take) that weight off. A receiver that goes takes nothing off any more: who waits for room waits for its
/// end too.
#[derive(Debug)]
struct Load {
    /// Relaxed: what is sent is handed over by the channel. That a look which found no room is followed by a wake-up,
    /// the notification below sees to, whose count is changed after this one.
    weight: AtomicUsize,
    limit: usize,
    /// Told each time the load falls below the limit, by the one who has it fall.
    lighter: Notify,
}

impl Load {
    /// None, with room for so much weight; at least one.
    fn new(limit: usize) -> Self {
        Self { weight: AtomicUsize::new(0), limit: limit.max(1), lighter: Notify::new() }
    }

    /// Whether less waits than may.
    fn has_room(&self) -> bool {
        self.weight.load(Ordering::Relaxed) < self.limit
    }

    /// Waits until less waits than may. Nobody is promised that room.
    async fn room(&self) {
        while !self.has_room() {
            let lighter = self.lighter.notified();
            if self.has_room() {
                return;
            }
            lighter.await;
        }
    }

    /// So much more waits: to be said before it is sent.
    fn put(&self, weight: usize) {
        self.weight.fetch_add(weight, Ordering::Relaxed);
    }

    /// So much of what was put waits no longer.
    fn take(&self, weight: usize) {
        let before = self.weight.fetch_sub(weight, Ordering::Relaxed);
        // A sum beyond all sums has gone round, and comes back here.
        if before >= self.limit && before.wrapping_sub(weight) < self.limit {
            self.lighter.notify_waiters();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_beyond_all_bounds_is_none() {
        let (sender, mut receiver) = weighted_channel(usize::MAX, usize::MAX);
        assert_eq!(sender.try_send("a", 1), Ok(()));
        assert_eq!(receiver.try_recv(), Ok("a"));
    }

    #[test]
    fn what_is_too_heavy_to_be_counted_fills_the_channel_and_no_more() {
        let (sender, mut receiver) = weighted_channel(10, 10);
        assert_eq!((sender.try_send("a", 1), sender.try_send("b", usize::MAX)), (Ok(()), Ok(())));
        assert_eq!(sender.try_send("c", 1), Err(TrySendError::Full("c")));
        assert_eq!((receiver.try_recv(), receiver.try_recv()), (Ok("a"), Ok("b")));
        assert_eq!(sender.try_send("d", 10), Ok(()));
        assert_eq!(sender.try_send("e", 1), Err(TrySendError::Full("e")));
    }

    #[test]
    fn what_is_not_sent_comes_back_and_weighs_nothing() {
        let (sender, mut receiver) = weighted_channel(2, 10);
        assert_eq!(sender.try_send("a", 10), Ok(()));
        assert_eq!(sender.try_send("b", 1), Err(TrySendError::Full("b")), "by its weight");
        assert_eq!(receiver.try_recv(), Ok("a"));
        assert_eq!((sender.try_send("c", 1), sender.try_send("d", 1)), (Ok(()), Ok(())));
        assert_eq!(sender.try_send("e", 1), Err(TrySendError::Full("e")), "by its number");
        receiver.close();
        assert_eq!(sender.try_send("f", 1), Err(TrySendError::Closed("f")));
        assert_eq!((receiver.try_recv(), receiver.try_recv()), (Ok("c"), Ok("d")));
        assert!(sender.is_closed());
    }

    #[test]
    fn who_waited_for_a_place_and_then_finds_no_room_beside_another_goes_on_waiting() {
        let (sender, mut receiver) = weighted_channel(2, 10);
        assert_eq!((sender.try_send(0, 1), sender.try_send(1, 1)), (Ok(()), Ok(())));
        let mut waiting = [2, 3].map(|number| Box::pin(sender.send(number, 10)));
        let mut context = Context::from_waker(std::task::Waker::noop());
        let mut sent = |at: usize| waiting[at].as_mut().poll(&mut context).is_ready();
        assert_eq!((sent(0), sent(1)), (false, false));
        assert_eq!((receiver.try_recv(), receiver.try_recv()), (Ok(0), Ok(1)));
        assert_eq!((sent(0), sent(1)), (true, false), "there are places for both");
        assert_eq!(receiver.try_recv(), Ok(2));
        assert!(sent(1));
        assert_eq!(receiver.try_recv(), Ok(3));
    }

    #[tokio::test]
    async fn nobody_waits_for_the_weight_of_a_reader_that_is_gone() {
        let (sender, receiver) = weighted_channel(100, 1);
        assert_eq!(sender.send("a", 7).await, Ok(()));
        let mut waiting = Box::pin(sender.send("b", 7));
        let mut context = Context::from_waker(std::task::Waker::noop());
        assert!(waiting.as_mut().poll(&mut context).is_pending());
        drop(receiver);
        assert_eq!(waiting.await, Err("b"));
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn senders_and_a_reader_that_overtake_each_other_come_to_an_end_with_no_load() {
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
        let mut batch = Vec::new();
        let mut count = 0;
        // By each way of reading.
        while receiver.recv().await.is_some() {
            count += 1;
            count += usize::from(receiver.try_recv().is_ok());
            batch.clear();
            receiver.recv_many(&mut batch, 7).await;
            count += batch.len();
        }
        assert_eq!((count, receiver.load.weight.load(Ordering::Relaxed)), (SENDERS * EACH, 0));
        // Each of them may have found the last byte free.
        assert!(most.load(Ordering::Relaxed) <= 100 + SENDERS * HEAVIEST);
    }
}
