//! The pump task: pops a delta, applies it to the store and selects the recipients under the queue's lock, then notifies them
//! outside the lock.

#[cfg(test)]
mod tests;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::task::coop::consume_budget;
use tokio_util::sync::CancellationToken;

use super::apply::{Dispatch, apply, apply_all};
use super::delivery::listener::ProcessorListener;
use super::delivery::processor::{Outbox, SharedProcessor};
use super::delivery::progress::Synced;
use super::{InformerError, MutationDetector, Notification};
use crate::object::{DeletedObject, Object, ResourceVersion};
use crate::queue::{Change, Delta, Item, Mark, PoppedItem, Queue, pop};
use crate::store::Indexer;

/// A condition on the last states of deleted objects.
pub(super) type LastStateFilter = Box<dyn Fn(&Object) -> bool + Send + Sync>;

/// Applies the deltas of a queue to a store and notifies handlers (client-go: `processLoop` with the `HandleDeltas` of its
/// shared informer).
///
/// A delta is applied and its recipients are selected under the queue's lock. Therefore, whenever another task has the lock,
/// the store contains exactly the deltas that were popped. A list can then detect deletions, and a handler that registers
/// later starts from a snapshot of the store without missing or repeating a notification.
pub(super) struct Pump {
    pub(super) queue: Arc<dyn Queue>,
    pub(super) store: Arc<dyn Indexer>,
    pub(super) processor: Arc<SharedProcessor>,
    pub(super) synced: Arc<Synced>,
    pub(super) detector: Option<MutationDetector>,
    last_states: Option<LastStateFilter>,
    /// Whether handlers receive bookmarks.
    reports_bookmarks: bool,
    /// Whether handlers receive the stored objects.
    delivers_stored: bool,
    /// A std mutex: it is never held across an `.await`.
    applied: Mutex<Applied>,
}

#[derive(Default)]
struct Applied {
    /// The version up to which everything is in the store.
    version: ResourceVersion,
    /// Set once [`Mark::Synced`] has been popped.
    marked: bool,
}

impl Pump {
    pub(super) fn new(
        queue: Arc<dyn Queue>,
        store: Arc<dyn Indexer>,
        processor: Arc<SharedProcessor>,
        detector: Option<MutationDetector>,
    ) -> Self {
        let (synced, applied) = (Arc::new(Synced::new()), Mutex::default());
        Self {
            queue,
            store,
            processor,
            synced,
            detector,
            last_states: None,
            reports_bookmarks: false,
            delivers_stored: false,
            applied,
        }
    }

    /// Sets the condition on the last states of deleted objects.
    pub(super) fn with_last_states(mut self, last_states: Option<LastStateFilter>) -> Self {
        self.last_states = last_states;
        self
    }

    /// Sets whether handlers receive bookmarks.
    pub(super) fn with_bookmarks(mut self, reports_bookmarks: bool) -> Self {
        self.reports_bookmarks = reports_bookmarks;
        self
    }

    /// Sets whether handlers receive the stored objects.
    pub(super) fn with_stored_objects(mut self, delivers_stored: bool) -> Self {
        self.delivers_stored = delivers_stored;
        self
    }

    fn applied(&self) -> MutexGuard<'_, Applied> {
        self.applied.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the version up to which everything is in the store.
    pub(super) fn applied_version(&self) -> ResourceVersion {
        self.applied().version.clone()
    }

    /// Pops until the queue is closed and empty. Once `stopping` is cancelled, it waits for no handler.
    pub(super) async fn process_loop(&self, stopping: &CancellationToken) {
        let mut outbox = Outbox::new();
        let mut is_initial = false;
        while pop(&*self.queue, &mut |popped| {
            is_initial = popped.is_in_initial_list || matches!(popped.item, Item::Mark(Mark::Synced { .. }));
            self.process(popped, &mut outbox);
        })
        .await
        .is_ok()
        {
            if !self.synced.is_set() && self.queue.has_synced() {
                self.synced.set();
            }
            for (listener, notification) in outbox.drain(..) {
                if is_initial {
                    listener.send_initial(notification, &*self.store, stopping).await;
                } else {
                    listener.send(notification, stopping).await;
                }
            }
            // Without handlers nothing here waits: a queue that is never empty must not starve the runtime's other tasks.
            consume_budget().await;
        }
    }

    /// Applies a popped item and selects the recipients of its notifications. Runs under the queue's lock.
    fn process(&self, popped: PoppedItem, outbox: &mut Outbox) {
        let PoppedItem { item, is_in_initial_list, up_to } = popped;
        let is_bookmark = self.reports_bookmarks && matches!(item, Item::Bookmark | Item::ReplacedAll(_));
        let mut dispatch = |mut dispatch| {
            self.replace_by_stored(&mut dispatch);
            self.track_mutations(&dispatch);
            self.processor.distribute(dispatch, outbox);
        };
        match item {
            Item::Deltas(deltas) => {
                for delta in deltas {
                    apply(&*self.store, self.with_last_state(delta), is_in_initial_list, &mut dispatch);
                }
            }
            Item::ReplacedAll(all) => {
                apply_all(&*self.store, all, up_to.as_ref(), self.processor.is_resync_due(), &mut dispatch);
            }
            Item::Mark(mark) => {
                self.applied().marked |= matches!(mark, Mark::Synced { .. });
                dispatch(Dispatch::All(Notification::Mark(mark)));
            }
            Item::Bookmark => {}
        }
        if is_bookmark && let Some(resource_version) = up_to.clone() {
            dispatch(Dispatch::All(Notification::Mark(Mark::Bookmark { resource_version })));
        }
        if let Some(version) = up_to {
            self.store.bookmark(&version);
            self.applied().version = version;
        }
    }

    /// Replaces the state of a deleted object that does not meet the condition by the stored one, at the version of the deletion.
    fn with_last_state(&self, delta: Delta) -> Delta {
        let (Some(filter), Change::Deleted(DeletedObject::Known(object))) =
            (&self.last_states, &delta.change)
        else {
            return delta;
        };
        match self.store.get(object) {
            Ok(Some(stored)) if !filter(object) => {
                // Rows have no version.
                let version = object.resource_version();
                let last =
                    if version.is_unset() { stored } else { Arc::new(stored.at_version(version.clone())) };
                Delta { change: Change::Deleted(DeletedObject::Known(last)), ..delta }
            }
            _ => delta,
        }
    }

    /// Replaces the new object of a notification by the stored one, which may be a compressed copy, if handlers receive that.
    fn replace_by_stored(&self, dispatch: &mut Dispatch) {
        let Dispatch::All(Notification::Added { object: new, .. } | Notification::Updated { new, .. }) =
            dispatch
        else {
            return;
        };
        // The store may have a later state: that of another delta in the same list.
        if self.delivers_stored
            && let Ok(Some(stored)) = self.store.get(new)
            && stored.same_state(new)
        {
            *new = stored;
        }
    }

    /// Adds the object that was just stored to the mutation detector.
    fn track_mutations(&self, dispatch: &Dispatch) {
        let Some(detector) = &self.detector else { return };
        if let Dispatch::All(Notification::Added { object: new, .. } | Notification::Updated { new, .. }) = dispatch
            // The stored object may be a compressed copy of the notification's object.
            && let Ok(Some(stored)) = self.store.get(new)
        {
            detector.add_object(&stored);
        }
    }

    /// Adds a listener between two deltas. Its first notifications are a snapshot of the store.
    pub(super) fn register(
        &self,
        mut listener: ProcessorListener,
        resync: Option<Duration>,
        now: Instant,
        removed: &CancellationToken,
    ) -> Result<(), InformerError> {
        listener.removed = removed.clone();
        let mut listener = Some(listener);
        let mut registered = Ok(());
        self.queue.under_lock(&mut || {
            let Some(listener) = listener.take() else { return };
            let objects = self.store.list();
            let synced = {
                let applied = self.applied();
                let version = applied.version.clone();
                applied.marked.then_some(Mark::Synced { resource_version: version })
            };
            if !objects.is_empty() || synced.is_some() {
                listener.replay(objects, synced);
            }
            registered = self.processor.add(listener, resync, now, removed);
        });
        registered
    }
}

/// Ends the waits for the sync of an informer that can't run any more.
impl Drop for Pump {
    fn drop(&mut self) {
        self.synced.end();
    }
}
