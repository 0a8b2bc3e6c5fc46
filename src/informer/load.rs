//! How much waits in a channel: a channel counts what waits in it, and not how large that is.

use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Notify;

/// The bytes that wait in a channel, with a bound on them.
///
/// Whoever sends waits for [`Load::room`] and then [puts](Load::put) the weight of what it sends; whoever receives
/// [takes](Load::take) it off. What is sent into a channel without load has room whatever its weight, and several
/// senders that find room at the same time all have it. A receiver that goes takes nothing off any more: who waits for
/// room waits for its end too.
///
/// ```
/// # use kdelta::informer::Load;
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let load = Load::new(1000);
/// load.put(5000);
/// assert!(!load.has_room());
/// load.take(5000);
/// load.room().await;
/// # }
/// ```
#[derive(Debug)]
pub struct Load {
    /// Relaxed: what is sent is handed over by the channel. That a look which found no room is followed by a wake-up,
    /// the notification below sees to, whose count is changed after this one.
    bytes: AtomicUsize,
    limit: usize,
    /// Told each time the load falls below the limit, by the one who has it fall.
    lighter: Notify,
}

impl Load {
    /// None, with room for so many bytes; at least one.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self { bytes: AtomicUsize::new(0), limit: limit.max(1), lighter: Notify::new() }
    }

    /// Whether fewer bytes wait than may.
    #[must_use]
    pub fn has_room(&self) -> bool {
        self.bytes.load(Ordering::Relaxed) < self.limit
    }

    /// Waits until fewer bytes wait than may. Nobody is promised that room.
    pub async fn room(&self) {
        while !self.has_room() {
            let lighter = self.lighter.notified();
            if self.has_room() {
                return;
            }
            lighter.await;
        }
    }

    /// So many bytes more wait: to be said before they are sent.
    pub fn put(&self, weight: usize) {
        self.bytes.fetch_add(weight, Ordering::Relaxed);
    }

    /// So many bytes wait no longer.
    pub fn take(&self, weight: usize) {
        let before = self.bytes.fetch_sub(weight, Ordering::Relaxed);
        if before >= self.limit && before - weight < self.limit {
            self.lighter.notify_waiters();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    use tokio::sync::mpsc;

    use super::*;

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn senders_and_a_reader_that_overtake_each_other_come_to_an_end_with_no_load() {
        const SENDERS: usize = 3;
        const EACH: usize = 20_000;
        let load = Arc::new(Load::new(100));
        let too_much = Arc::new(AtomicBool::new(false));
        let (sender, mut receiver) = mpsc::channel(1000);
        for _ in 0..SENDERS {
            let (load, sender, too_much) = (Arc::clone(&load), sender.clone(), Arc::clone(&too_much));
            tokio::spawn(async move {
                for at in 0..EACH {
                    load.room().await;
                    let weight = 1 + at % 150;
                    load.put(weight);
                    // Each of them may have found the last byte free.
                    let most = 100 + SENDERS * 150;
                    too_much.fetch_or(load.bytes.load(Ordering::Relaxed) > most, Ordering::Relaxed);
                    sender.send(weight).await.expect("it is read");
                }
            });
        }
        drop(sender);
        let mut count = 0;
        while let Some(weight) = receiver.recv().await {
            load.take(weight);
            count += 1;
        }
        assert_eq!((count, load.bytes.load(Ordering::Relaxed)), (SENDERS * EACH, 0));
        assert!(!too_much.load(Ordering::Relaxed));
    }
}
