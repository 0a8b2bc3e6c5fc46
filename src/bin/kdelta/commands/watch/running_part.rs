//! A running part of the merged stream: the subscription to its informer, read until the informer has ended.

use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use kdelta::informer::{Notification, Subscription};
use kdelta::listwatch::Error;
use kdelta::object::{DeletedFinalStateUnknown, DeletedObject, Origin};
use kdelta::store::Indexer;
use tokio_util::sync::CancellationToken;

use super::batch::Batch;
use super::crossings::Crossings;
use super::part_event::{PartEvent, PartEventKind};

/// The reading end of a part.
pub(super) struct RunningPart {
    number: usize,
    subscription: Subscription,
    indexer: Arc<dyn Indexer>,
    /// Set if objects may begin or cease to match without a change.
    crossings: Option<Crossings>,
    /// Queues the part for the reader.
    waker: Waker,
    /// Stops the informer, alone or with the stream.
    stop: CancellationToken,
    /// Whether the part is being removed.
    is_leaving: bool,
    /// The result of the informer, once its task has ended.
    result: Option<Result<(), Error>>,
}

/// The progress of a part after an event.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// The part queues itself when it has more.
    Continues,
    /// The last event was returned.
    Ended,
}

impl RunningPart {
    pub(super) fn new(
        number: usize,
        subscription: Subscription,
        indexer: Arc<dyn Indexer>,
        waker: Waker,
        stop: CancellationToken,
    ) -> Self {
        Self { number, subscription, indexer, crossings: None, waker, stop, is_leaving: false, result: None }
    }

    /// Sets the filter that is evaluated again as time passes.
    pub(super) fn with_crossings(self, crossings: Option<Crossings>) -> Self {
        Self { crossings, ..self }
    }

    /// Returns the time to the next crossing of its filter.
    pub(super) fn crossing_wait(&self) -> Option<Duration> {
        self.crossings.as_ref()?.wait()
    }

    /// Queues the part for the reader if a crossing is due.
    pub(super) fn wake_if_due(&self) {
        if self.crossing_wait().is_some_and(|wait| wait.is_zero()) {
            self.waker.wake_by_ref();
        }
    }

    /// Starts the removal. The informer is stopped once its index is empty, or by the returned token; then a deletion of
    /// each remaining object follows, and [`PartEventKind::Left`]. Returns `None` if the part is being removed already.
    pub(super) fn leave(&mut self) -> Option<CancellationToken> {
        if std::mem::replace(&mut self.is_leaving, true) {
            return None;
        }
        self.waker.wake_by_ref();
        Some(self.stop.clone())
    }

    /// Stores the result of the informer, whose last notifications may still be unread.
    pub(super) fn ended(&mut self, result: Result<(), Error>) {
        self.result = Some(result);
        self.waker.wake_by_ref();
    }

    /// Appends the available events to `batch`, while it has room.
    pub(super) fn read(&mut self, batch: &mut Batch<'_>) -> Progress {
        let waker = self.waker.clone();
        let mut context = Context::from_waker(&waker);
        while batch.has_room() {
            match self.subscription.poll_recv_with_time(&mut context) {
                Poll::Ready(Some((notification, time))) => {
                    let notification = match &mut self.crossings {
                        Some(crossings) => crossings.apply(notification),
                        None => Some(notification),
                    };
                    if let Some(notification) = notification {
                        batch.push(PartEvent::delivered(self.number, notification, time));
                    }
                }
                Poll::Ready(None) => return self.end(batch),
                Poll::Pending => {
                    self.read_crossings(batch);
                    if self.is_leaving && self.indexer.list_keys().is_empty() {
                        self.stop.cancel();
                    }
                    return Progress::Continues;
                }
            }
        }
        self.waker.wake_by_ref();
        Progress::Continues
    }

    /// Appends the crossings that are due, once all notifications are read.
    fn read_crossings(&mut self, batch: &mut Batch<'_>) {
        let Some(crossings) = &mut self.crossings else { return };
        for crossing in crossings.take_due(&*self.indexer) {
            batch.push(PartEvent::now(self.number, PartEventKind::Notification(crossing)));
        }
    }

    /// Appends the last events, once the result of the informer is known. The index then matches the returned
    /// notifications exactly.
    fn end(&mut self, batch: &mut Batch<'_>) -> Progress {
        let Some(result) = self.result.take() else { return Progress::Continues };
        let number = self.number;
        if !self.is_leaving {
            batch.push(PartEvent::now(number, PartEventKind::Ended(result)));
            return Progress::Ended;
        }
        for object in self.indexer.list() {
            let key = object.key().clone();
            if self.crossings.as_ref().is_some_and(|crossings| !crossings.is_shown(&key)) {
                continue;
            }
            let object =
                DeletedObject::FinalStateUnknown(DeletedFinalStateUnknown { key, object: Some(object) });
            let deleted = Notification::Deleted { object, origin: Origin::Relist };
            batch.push(PartEvent::now(number, PartEventKind::Notification(deleted)));
        }
        batch.push(PartEvent::now(number, PartEventKind::Left));
        Progress::Ended
    }
}
