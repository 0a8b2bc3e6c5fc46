//! The sending end of a watch of the fake source.

use tokio::sync::mpsc;

use crate::listwatch::{Error, WatchEvent};

/// The sending end of a watch.
pub(super) struct Channel {
    /// An unbounded channel: a test must be able to send while the reader is stopped. It contains only what that test
    /// sends, and closes when the source ends the watch.
    pub(super) events: mpsc::UnboundedSender<Result<WatchEvent, Error>>,
    pub(super) bookmarks: bool,
    /// Only events of later versions are sent.
    pub(super) after: u64,
}

impl Channel {
    pub(super) fn send(&self, event: Result<WatchEvent, Error>) {
        // The watch may have been dropped by its reader.
        let _ = self.events.send(event);
    }

    /// Ends the watch after the events already sent.
    pub(super) fn end(self) {
        drop(self);
    }

    pub(super) fn is_open(&self) -> bool {
        !self.events.is_closed()
    }
}
