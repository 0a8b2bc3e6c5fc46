//! Reading of a recording ahead of its summary.

use std::sync::mpsc;
use std::thread;

use kdelta::recording::{Entries, Entry, RecordingError};

/// The number of entries that are passed on together, and of such groups that may wait. They bound the memory: the
/// reader waits for the caller.
const GROUP: usize = 256;
const MAX_WAITING: usize = 8;

/// Passes all entries to `receive` in order, while another thread decodes the following ones.
pub(super) fn for_each(entries: Entries, mut receive: impl FnMut(Result<Entry, RecordingError>)) {
    let (sender, groups) = mpsc::sync_channel(MAX_WAITING);
    // A scoped std thread: decoding only computes. It ends with the entries, or when `receive` panics, because then it
    // can send no more.
    thread::scope(|scope| {
        scope.spawn(move || {
            let mut entries = entries;
            loop {
                let group: Vec<_> = entries.by_ref().take(GROUP).collect();
                if group.is_empty() || sender.send(group).is_err() {
                    return;
                }
            }
        });
        groups.into_iter().flatten().for_each(&mut receive);
    });
}
