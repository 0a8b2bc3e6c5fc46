//! The events of parts and the channel that carries them to the merged stream.

use std::sync::Arc;
use std::time::SystemTime;

use jiff::Timestamp;
use kdelta::informer::Notification;
use kdelta::lines::ChangeKind;
use kdelta::listwatch::Error;
use kdelta::object::Object;
use kdelta::queue::Mark;

use super::weighted_channel::{ChannelLoad, TrySendError, WeightedSender};

/// An event of one part.
pub(super) struct PartEvent {
    /// The number of the part, as given to `MergedStream::add`.
    pub(super) part: usize,
    /// The time at which the informer delivered it, not that at which the printer read it.
    pub(super) received: Timestamp,
    pub(super) kind: PartEventKind,
}

pub(super) enum PartEventKind {
    Notification(Notification),
    /// An event of a watch that resumed from a version.
    Resumed(ResumedEvent),
    /// The part has ended. Only errors that the user must fix end a part.
    Ended(Result<(), Error>),
    /// The part was removed; this is its last event.
    Left,
}

/// An event as the server sent it.
pub(in crate::commands) struct ResumedEvent {
    pub(super) kind: ChangeKind,
    pub(super) object: Arc<Object>,
    /// The state before an update, if an event since the version had it.
    pub(super) old: Option<Arc<Object>>,
}

impl ResumedEvent {
    /// Returns the bytes of the objects in the event.
    pub(super) fn weight(&self) -> usize {
        self.object.weight() + self.old.as_ref().map_or(0, |old| old.weight())
    }
}

impl PartEvent {
    /// Returns whether the initial state of the part is complete with this event, or will never be.
    pub(super) fn ends_list(&self) -> bool {
        match &self.kind {
            PartEventKind::Ended(_) | PartEventKind::Left => true,
            PartEventKind::Notification(notification) => {
                matches!(notification, Notification::Mark(Mark::Synced { .. }))
            }
            PartEventKind::Resumed(_) => false,
        }
    }

    /// Returns the bytes of the objects in the event.
    pub(super) fn weight(&self) -> usize {
        match &self.kind {
            PartEventKind::Notification(notification) => notification.weight(),
            PartEventKind::Resumed(event) => event.weight(),
            PartEventKind::Ended(_) | PartEventKind::Left => 0,
        }
    }

    /// Creates the event of a notification that was delivered at this time.
    pub(super) fn delivered(part: usize, notification: Notification, time: SystemTime) -> Self {
        // Only fails for a year above 9999.
        let received = Timestamp::try_from(time).unwrap_or(Timestamp::MAX);
        Self { part, received, kind: PartEventKind::Notification(notification) }
    }

    pub(super) fn now(part: usize, kind: PartEventKind) -> Self {
        Self { part, received: Timestamp::now(), kind }
    }
}

/// The sending half of the stream.
#[derive(Clone)]
pub(super) struct EventSender {
    sender: WeightedSender<PartEvent>,
}

/// The channel had no room for an event.
#[derive(Debug, thiserror::Error)]
#[error("an event was lost because the channel was full")]
pub(super) struct ChannelFull;

impl EventSender {
    pub(super) fn new(sender: WeightedSender<PartEvent>) -> Self {
        Self { sender }
    }

    /// Returns the unread events as a number that can be read later.
    pub(super) fn load(&self) -> ChannelLoad {
        self.sender.load()
    }

    /// Waits for room for one event. Returns at once if the stream is closed.
    pub(super) async fn ready(&self) {
        drop(self.sender.reserve().await);
    }

    /// Sends an event once there is room.
    pub(super) async fn send(&self, event: PartEvent) {
        let weight = event.weight();
        // Only fails if the stream is closed.
        let _ = self.sender.send(event, weight).await;
    }

    /// Sends an event without waiting, for a sole sender that has waited for room. A closed stream is no error.
    ///
    /// # Errors
    /// Returns an error if the channel is full.
    pub(super) fn try_send(&self, event: PartEvent) -> Result<(), ChannelFull> {
        let weight = event.weight();
        match self.sender.try_send(event, weight) {
            Ok(()) | Err(TrySendError::Closed(_)) => Ok(()),
            Err(TrySendError::Full(_)) => Err(ChannelFull),
        }
    }
}
