//! The measurements of a running part.

use std::sync::Arc;

use kdelta::informer::Notification;
use kdelta::lines::ChangeKind;

use super::measured_parts::MeasuredParts;
use super::part_status::{PartReadings, PartStatus};

/// The measurements of a running part. Dropping it removes the part from the gauges and from the health; its counters stay.
pub(crate) struct PartMetrics {
    pub(super) parts: Arc<MeasuredParts>,
    pub(super) number: u64,
    pub(super) status: Arc<PartStatus>,
}

impl PartMetrics {
    /// Returns the counters and the connection.
    pub(crate) fn status(&self) -> Arc<PartStatus> {
        Arc::clone(&self.status)
    }

    /// Makes the part unnecessary for the readiness until it has synced.
    pub(crate) fn retried(self) -> Self {
        self.status.mark_retried();
        self
    }

    /// Counts a notification that is handed to the output.
    pub(crate) fn count(&self, notification: &Notification) {
        self.status.count(notification);
    }

    /// Counts an event of a resumed watch that is handed to the output.
    pub(crate) fn count_resumed(&self, kind: ChangeKind) {
        self.status.counters.count_resumed(kind);
    }

    /// Sets the values that are read at each scrape.
    pub(crate) fn set_readings(&self, readings: impl PartReadings + 'static) {
        self.parts.set_readings(self.number, Box::new(readings));
    }
}

impl Drop for PartMetrics {
    fn drop(&mut self) {
        self.parts.remove(self.number);
    }
}
