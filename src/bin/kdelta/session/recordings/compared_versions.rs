//! The recorded versions of an object, compared on a thread of their own.

use std::iter::Flatten;
use std::sync::Arc;
use std::sync::mpsc;
use std::thread::{self, JoinHandle};

use kdelta::recording::{Entry, Item, RecordingError, Versions};

use crate::view::{Comparer, Comparison, Details};

/// The number of versions that are sent at once, and the capacity of the channel in such batches. Compared versions have no
/// bodies and take about 2 KB each.
const BATCH: usize = 64;
const BATCHES: usize = 16;

/// A version or an error, and how the version differs from the one before it.
type ComparedVersion = (Result<Entry, RecordingError>, Comparison);

/// The versions of an object in order, without bodies, compared while the first ones are used.
pub(super) struct ComparedVersions {
    /// Receives from the comparing thread, which blocks while the channel is full and ends after the receiver is dropped.
    received: Flatten<mpsc::IntoIter<Vec<ComparedVersion>>>,
    /// The comparing thread, until it has ended.
    thread: Option<JoinHandle<()>>,
}

impl ComparedVersions {
    /// Starts to compare.
    pub(super) fn start(versions: Versions, details: Details) -> Self {
        let (sender, batches) = mpsc::sync_channel(BATCHES);
        // A std thread: it compares while others read and print. It ends with the last version, or with the next batch after
        // the receiver is dropped.
        let thread = thread::spawn(move || compare(versions, details, &sender));
        Self { received: batches.into_iter().flatten(), thread: Some(thread) }
    }
}

impl Iterator for ComparedVersions {
    type Item = ComparedVersion;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.received.next();
        // A panic of the thread must not look like the end.
        if next.is_none()
            && let Some(Err(panic)) = self.thread.take().map(JoinHandle::join)
        {
            std::panic::resume_unwind(panic);
        }
        next
    }
}

/// Compares the versions and sends them, until the receiver is dropped.
fn compare(versions: Versions, details: Details, sender: &mpsc::SyncSender<Vec<ComparedVersion>>) {
    let mut comparer = Comparer::new(details);
    let mut batch = Vec::with_capacity(BATCH);
    for mut version in versions {
        let mut comparison = Comparison::default();
        if let Ok(Entry { item: Item::Change { change, .. }, .. }) = &mut version {
            comparison = comparer.compare(change);
            change.object = Arc::new(change.object.without_body());
            change.old = change.old.take().map(|_| Arc::clone(&change.object));
        }
        batch.push((version, comparison));
        if batch.len() >= BATCH
            && sender.send(std::mem::replace(&mut batch, Vec::with_capacity(BATCH))).is_err()
        {
            return;
        }
    }
    let _sent = sender.send(batch);
}
