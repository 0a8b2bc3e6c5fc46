//! The values of a running part for the metrics.

use std::sync::Arc;
use std::time::Duration;

use kdelta::informer::{Registration, SharedIndexInformer};
use kdelta::queue::QueueSize;

use super::weighted_channel::ChannelLoad;
use crate::metrics::PartReadings;
use crate::session::ReceivedCount;

/// The buffers between the socket and the output.
pub(super) enum PartBuffers {
    /// The queue of an informer, and its subscription.
    Informer(SharedIndexInformer, Registration),
    /// The channel of a resumed watch.
    Channel(ChannelLoad),
}

impl PartBuffers {
    /// Returns the number of events and the bytes of their objects.
    fn size(&self) -> QueueSize {
        match self {
            Self::Informer(informer, registration) => {
                let (queued, unread) = (informer.queued(), registration.backlog());
                QueueSize { deltas: queued.deltas + unread.deltas, bytes: queued.bytes + unread.bytes }
            }
            Self::Channel(load) => {
                let (deltas, bytes) = load.get();
                QueueSize { deltas, bytes }
            }
        }
    }
}

/// The values of a part.
pub(super) struct Readings {
    pub(super) buffers: PartBuffers,
    pub(super) received: Arc<ReceivedCount>,
}

impl PartReadings for Readings {
    fn queued(&self) -> QueueSize {
        self.buffers.size()
    }

    fn last_message(&self) -> Option<Duration> {
        self.received.last_message()
    }

    fn is_resumed(&self) -> bool {
        matches!(self.buffers, PartBuffers::Channel(_)) && self.received.has_watch()
    }
}
