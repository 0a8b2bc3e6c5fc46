//! The buffer of a coalescing handler: unread notifications are merged per object.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use super::progress::Progress;
use crate::informer::Notification;
use crate::object::{Compressor, DeletedObject, Key, Object, Origin};
use crate::queue::Mark;

/// The store's objects at the registration of the handler; see [`Pending::replay`].
pub(in crate::informer) type Snapshot = (Vec<Arc<Object>>, Option<Mark>);

/// The unread notifications of one handler: at most two for each object, a delete and the notification after it, and one
/// mark of each kind. The buffer is therefore bounded by the number of objects, and a sender never waits.
///
/// The merged notifications keep the promises of the module: replayed from an empty state they yield the same state, and
/// each object is added once, updated from the previously delivered state, and deleted. An object keeps its position.
#[derive(Default)]
pub(in crate::informer) struct Pending {
    /// A std mutex: it is never held across an `.await`.
    state: Mutex<State>,
    /// The bytes that were put in since the buffer was last empty. Relaxed: a rough measure of how far behind the reader is.
    bytes_since_empty: AtomicUsize,
    /// Compresses objects for a reader that is far behind: there may be as many as in the store, and they must not take more
    /// space than there.
    compressor: Option<Arc<Compressor>>,
}

/// The bytes that are buffered uncompressed.
const UNCOMPRESSED_BYTES: usize = 8 * 1024 * 1024;

#[derive(Default)]
struct State {
    snapshot: Option<Snapshot>,
    next_position: u64,
    order: BTreeMap<u64, Slot>,
    objects: HashMap<Key, PendingObject>,
    /// The position of the gap mark.
    gap_position: Option<u64>,
    /// The waker of the reader, if it found nothing. Registered under the same lock as the check, so that no wake-up is
    /// lost.
    reader: Option<Waker>,
    /// Set once the sender was dropped.
    closed: bool,
    /// Set once the reader was dropped.
    abandoned: bool,
}

enum Slot {
    Object(Key),
    Mark(Mark),
}

/// The notifications of one object: first `delete`, then `latest`.
struct PendingObject {
    position: u64,
    delete: Option<Notification>,
    latest: Option<Notification>,
}

/// The effect of merging one notification.
#[derive(Default)]
struct MergeResult {
    /// The number of notifications that will not be delivered.
    coalesced: u64,
    /// Set if one of them was initial.
    removed_initial: bool,
}

/// The next item for the reader.
pub(in crate::informer) enum Next {
    Snapshot(Snapshot),
    One(Notification),
    /// Nothing to read now.
    Empty,
    /// The sender was dropped and everything was read.
    End,
}

impl Pending {
    pub(in crate::informer) fn new(compressor: Option<Arc<Compressor>>) -> Self {
        Self { compressor, ..Self::default() }
    }

    /// Returns the number of unread notifications or snapshots, and the bytes that were put in since the buffer was last
    /// empty, those of merged notifications included.
    pub(in crate::informer) fn size(&self) -> (usize, usize) {
        let state = self.lock();
        let items = state.order.len() + usize::from(state.snapshot.is_some());
        (items, if items == 0 { 0 } else { self.bytes_since_empty.load(Ordering::Relaxed) })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts the store's objects before everything else, as one item that is not merged with later notifications.
    pub(in crate::informer) fn replay(&self, snapshot: Snapshot) {
        self.change(|state| state.snapshot = Some(snapshot));
    }

    /// Changes the state, then releases the lock and wakes the reader.
    fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let (result, reader) = {
            let mut state = self.lock();
            (change(&mut state), state.reader.take())
        };
        if let Some(reader) = reader {
            reader.wake();
        }
        result
    }

    /// Merges a notification into the buffer and counts the notifications that will not be delivered.
    pub(in crate::informer) fn put(&self, notification: Notification, progress: &Progress) {
        let waited = self.bytes_since_empty.fetch_add(notification.weight(), Ordering::Relaxed);
        let notification = match &self.compressor {
            Some(compressor) if waited > UNCOMPRESSED_BYTES => compressed(compressor, notification),
            _ => notification,
        };
        let merged = self.change(|state| (!state.abandoned).then(|| state.put(notification)));
        let Some(merged) = merged else { return };
        progress.add_coalesced(merged.coalesced);
        if merged.removed_initial {
            progress.handled_one();
        }
    }

    pub(in crate::informer) fn close(&self) {
        self.change(|state| state.closed = true);
    }

    /// Drops the contents and all later notifications, because the reader was dropped.
    pub(in crate::informer) fn abandon(&self) {
        let contents = std::mem::replace(&mut *self.lock(), State { abandoned: true, ..State::default() });
        // Dropped after the lock is released: it may contain the last references to objects.
        drop(contents);
    }

    /// Takes the next item.
    pub(in crate::informer) fn take(&self) -> Next {
        self.next(&mut self.lock())
    }

    fn next(&self, state: &mut State) -> Next {
        let next = state.next();
        if state.order.is_empty() {
            self.bytes_since_empty.store(0, Ordering::Relaxed);
        }
        next
    }

    /// Polls for the next item; never returns [`Next::Empty`].
    pub(in crate::informer) fn poll_take(&self, context: &mut Context<'_>) -> Poll<Next> {
        let mut state = self.lock();
        match self.next(&mut state) {
            Next::Empty => {
                state.reader = Some(context.waker().clone());
                Poll::Pending
            }
            next => Poll::Ready(next),
        }
    }
}

/// Returns the notification with compressed bodies.
fn compressed(compressor: &Compressor, notification: Notification) -> Notification {
    match notification {
        Notification::Added { object, is_in_initial_list, origin } => {
            Notification::Added { object: compressor.compress(object), is_in_initial_list, origin }
        }
        Notification::Updated { old, new, origin } => {
            Notification::Updated { old: compressor.compress(old), new: compressor.compress(new), origin }
        }
        Notification::Deleted { object: DeletedObject::Known(object), origin } => {
            Notification::Deleted { object: DeletedObject::Known(compressor.compress(object)), origin }
        }
        // The object of a tombstone comes from the store, which compressed it.
        other @ (Notification::Deleted { .. } | Notification::Mark(_)) => other,
    }
}

impl State {
    fn next(&mut self) -> Next {
        if let Some(snapshot) = self.snapshot.take() {
            return Next::Snapshot(snapshot);
        }
        match self.take() {
            Some(notification) => Next::One(notification),
            None if self.closed => Next::End,
            None => Next::Empty,
        }
    }

    fn put(&mut self, notification: Notification) -> MergeResult {
        let key = match &notification {
            Notification::Mark(_) => return self.put_mark(notification),
            Notification::Added { object, .. } | Notification::Updated { new: object, .. } => {
                object.key().clone()
            }
            Notification::Deleted { object, .. } => object.key().clone(),
        };
        if let Some(waiting) = self.objects.get_mut(&key) {
            let merged = waiting.merge(notification);
            if waiting.delete.is_none() && waiting.latest.is_none() {
                self.order.remove(&waiting.position);
                self.objects.remove(&key);
            }
            return merged;
        }
        let position = self.append(Slot::Object(key.clone()));
        let (delete, latest) = match notification {
            Notification::Deleted { .. } => (Some(notification), None),
            _ => (None, Some(notification)),
        };
        self.objects.insert(key, PendingObject { position, delete, latest });
        MergeResult::default()
    }

    fn put_mark(&mut self, notification: Notification) -> MergeResult {
        let Notification::Mark(mark) = notification else { return MergeResult::default() };
        let waiting = self.gap_position.and_then(|position| self.order.get_mut(&position));
        match (waiting, mark) {
            // Two gaps become one, with the sum of their durations.
            (Some(Slot::Mark(Mark::Gap { to, lasted, .. })), Mark::Gap { to: later, lasted: longer, .. }) => {
                *to = later;
                *lasted = lasted.saturating_add(longer);
                MergeResult { coalesced: 1, removed_initial: false }
            }
            (_, mark) => {
                let is_gap = matches!(mark, Mark::Gap { .. });
                let position = self.append(Slot::Mark(mark));
                self.gap_position = if is_gap { Some(position) } else { self.gap_position };
                MergeResult::default()
            }
        }
    }

    fn append(&mut self, slot: Slot) -> u64 {
        self.next_position += 1;
        self.order.insert(self.next_position, slot);
        self.next_position
    }

    fn take(&mut self) -> Option<Notification> {
        let (position, first) = self.order.pop_first()?;
        let key = match first {
            Slot::Mark(mark) => return Some(Notification::Mark(mark)),
            Slot::Object(key) => key,
        };
        let PendingObject { delete, latest, .. } = self.objects.remove(&key)?;
        if delete.is_some() && latest.is_some() {
            // `latest` stays in the buffer at the same position.
            self.order.insert(position, Slot::Object(key.clone()));
            self.objects.insert(key, PendingObject { position, delete: None, latest });
            return delete;
        }
        delete.or(latest)
    }
}

impl PendingObject {
    fn merge(&mut self, notification: Notification) -> MergeResult {
        let coalesced = |coalesced| MergeResult { coalesced, removed_initial: false };
        match (self.latest.take(), notification) {
            (None, deleted @ Notification::Deleted { .. }) => {
                self.delete = Some(deleted);
                coalesced(0)
            }
            (None, next) => {
                self.latest = Some(next);
                coalesced(0)
            }
            // The add was not delivered, so neither notification is.
            (Some(Notification::Added { is_in_initial_list, .. }), Notification::Deleted { .. }) => {
                MergeResult { coalesced: 2, removed_initial: is_in_initial_list }
            }
            (Some(_), deleted @ Notification::Deleted { .. }) => {
                self.delete = Some(deleted);
                coalesced(1)
            }
            (Some(before), Notification::Updated { origin: Origin::Resync, .. }) => {
                self.latest = Some(before);
                coalesced(1)
            }
            (
                Some(Notification::Added { is_in_initial_list, origin, .. }),
                Notification::Updated { new: object, .. },
            ) => {
                self.latest = Some(Notification::Added { object, is_in_initial_list, origin });
                coalesced(1)
            }
            (Some(Notification::Updated { old, .. }), Notification::Updated { new, origin, .. }) => {
                self.latest = Some(Notification::Updated { old, new, origin });
                coalesced(1)
            }
            (Some(_), next) => {
                self.latest = Some(next);
                coalesced(1)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;
    use tokio_util::sync::CancellationToken;

    use super::*;
    use crate::informer::delivery::listener::coalescing;
    use crate::informer::testing::fixtures::{Reader, labelled, pod};
    use crate::object::{DeletedFinalStateUnknown, Ingest, TypeMeta};

    fn added(object: &Arc<Object>, is_in_initial_list: bool) -> Notification {
        let origin = if is_in_initial_list { Origin::List } else { Origin::Watch };
        Notification::Added { object: Arc::clone(object), is_in_initial_list, origin }
    }

    fn updated(old: &Arc<Object>, new: &Arc<Object>) -> Notification {
        let origin = if old.same_state(new) { Origin::Resync } else { Origin::Watch };
        Notification::Updated { old: Arc::clone(old), new: Arc::clone(new), origin }
    }

    fn deleted(object: &Arc<Object>) -> Notification {
        Notification::Deleted { object: DeletedObject::Known(Arc::clone(object)), origin: Origin::Watch }
    }

    fn read_all(pending: &Pending) -> Vec<String> {
        let mut lines = Vec::new();
        while let Next::One(notification) = pending.take() {
            lines.push(notification.to_string());
        }
        lines
    }

    fn merged(notifications: Vec<Notification>) -> (Vec<String>, u64) {
        let (pending, progress) = (Pending::default(), Progress::default());
        for notification in notifications {
            if notification.is_initial() {
                progress.expect(1);
            }
            pending.put(notification, &progress);
        }
        (read_all(&pending), progress.coalesced())
    }

    /// Returns an object that shares most of its text with the others.
    fn large(name: &str, version: usize) -> Arc<Object> {
        let text = "some words that come again and again, ".repeat(2000);
        let json =
            format!(r#"{{"metadata":{{"name":"{name}","resourceVersion":"{version}"}},"text":"{text}"}}"#);
        let ingest = Ingest::of(Arc::new(TypeMeta { api_version: "v1".into(), kind: "Pod".into() }));
        Arc::new(Object::from_json(json.as_bytes(), &ingest).expect("an object"))
    }

    #[test]
    fn notifications_are_compressed_only_for_a_reader_that_is_far_behind() {
        const OBJECTS: usize = 500;
        let (pending, progress) = (Pending::new(Some(Arc::new(Compressor::new()))), Progress::default());
        for at in 0..OBJECTS {
            let old = large(&format!("n{at}"), 1);
            let notification = if at % 5 == 0 { deleted(&old) } else { updated(&old, &large(old.name(), 2)) };
            pending.put(notification, &progress);
        }
        let (mut bytes, mut versions) = (0, Vec::new());
        while let Next::One(notification) = pending.take() {
            bytes += notification.weight();
            versions.push(notification.to_string());
        }
        assert!(bytes < 2 * UNCOMPRESSED_BYTES, "{bytes} of {} bytes", OBJECTS * large("n", 1).weight());
        assert_eq!(versions.len(), OBJECTS);
        assert_eq!(versions[..2], ["-n0@1 watch", "n1@1>2 watch"]);
        // The reader has caught up, so the next object stays uncompressed.
        pending.put(added(&large("n", 3), false), &progress);
        let Next::One(Notification::Added { object, .. }) = pending.take() else { panic!("an add") };
        assert!(!object.is_compressed());
    }

    #[test]
    fn notifications_are_merged_per_object_and_counted() {
        let [a1, a2, a3, b1] = [pod("a", 1), pod("a", 2), pod("a", 3), pod("b", 1)];
        let recreated = labelled("a", "other", 9, "");
        for (notifications, expected, coalesced) in [
            (vec![added(&a1, true), updated(&a1, &a2), updated(&a2, &a3)], vec!["+a@3! list"], 2),
            (
                vec![added(&a1, true), added(&b1, true), updated(&a1, &a2)],
                vec!["+a@2! list", "+b@1! list"],
                1,
            ),
            (vec![updated(&a1, &a2), updated(&a2, &a3)], vec!["a@1>3 watch"], 1),
            (vec![updated(&a1, &a2), updated(&a2, &a2)], vec!["a@1>2 watch"], 1),
            (vec![updated(&a1, &a1), updated(&a1, &a2)], vec!["a@1>2 watch"], 1),
            (vec![updated(&a1, &a1), updated(&a1, &a1)], vec!["a@1>1 resync"], 1),
            (vec![added(&a1, false), deleted(&a2)], vec![], 2),
            (vec![updated(&a1, &a2), deleted(&a3)], vec!["-a@3 watch"], 1),
            (vec![deleted(&a2), added(&recreated, false)], vec!["-a@2 watch", "+a@9 watch"], 0),
            (vec![deleted(&a2), added(&recreated, false), deleted(&recreated)], vec!["-a@2 watch"], 2),
        ] {
            let expected: Vec<_> = expected.into_iter().map(str::to_owned).collect();
            assert_eq!(merged(notifications), (expected, coalesced));
        }
    }

    #[test]
    fn marks_keep_their_position_and_gaps_merge() {
        let gap = |from: &str, to: &str| {
            let lasted = Duration::from_secs(2);
            Notification::Mark(Mark::Gap { from: from.into(), to: to.into(), lasted })
        };
        let synced = Notification::Mark(Mark::Synced { resource_version: "1".into() });
        let all =
            vec![added(&pod("a", 1), true), synced, gap("1", "5"), added(&pod("b", 5), false), gap("6", "9")];
        let expected = ["+a@1! list", "SYNCED 1", "GAP 1 9", "+b@5 watch"].map(str::to_owned);
        assert_eq!(merged(all), (expected.to_vec(), 1));
    }

    #[test]
    fn objects_added_and_deleted_between_reads_use_no_space() {
        let (pending, progress) = (Pending::default(), Progress::default());
        for number in 0..1000 {
            let object = pod(&format!("p{number}"), number + 1);
            progress.expect(1);
            pending.put(added(&object, true), &progress);
            pending.put(deleted(&object), &progress);
        }
        let state = pending.lock();
        assert_eq!((state.order.len(), state.objects.len(), progress.is_done()), (0, 0, true));
    }

    /// The reader checks and then waits while the sender puts a notification: no wake-up may be lost.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_reader_on_another_thread_receives_every_merged_notification() {
        for _ in 0..50 {
            let (listener, mut inbox) = coalescing(None);
            let sending = tokio::spawn(async move {
                let stopping = CancellationToken::new();
                let mut before = pod("a", 1);
                listener.send(added(&before, false), &stopping).await;
                for version in 2..=200 {
                    let next = pod("a", version);
                    listener.send(updated(&before, &next), &stopping).await;
                    before = next;
                    if version % 10 == 0 {
                        tokio::task::yield_now().await;
                    }
                }
                listener.progress.coalesced()
            });
            let (mut reader, mut read) = (Reader::default(), 0);
            while let Some(notification) = inbox.next().await {
                reader.read(notification);
                read += 1;
            }
            assert_eq!(reader.lines(), ["a@200"]);
            assert_eq!(read + sending.await.expect("no panic"), 200);
        }
    }

    proptest! {
        #[test]
        fn replayed_notifications_yield_the_state_whenever_they_are_read(
            steps in proptest::collection::vec((0..3_usize, 0..5_u8), 0..80),
        ) {
            let (pending, progress) = (Pending::default(), Progress::default());
            let mut state: [Option<Arc<Object>>; 3] = Default::default();
            let mut reader = Reader::default();
            for (version, (at, operation)) in (1..).zip(steps) {
                let name = ["a", "b", "c"][at];
                let next = |uid: &str| labelled(name, uid, version, "");
                match (state[at].clone(), operation) {
                    (_, 4) => {
                        if let Next::One(notification) = pending.take() {
                            reader.read(notification);
                        }
                    }
                    (None, _) => {
                        let object = next(&version.to_string());
                        pending.put(added(&object, false), &progress);
                        state[at] = Some(object);
                    }
                    (Some(old), 0) => {
                        pending.put(deleted(&old), &progress);
                        state[at] = None;
                    }
                    (Some(old), 1) => pending.put(updated(&old, &old), &progress),
                    (Some(old), 2) => {
                        // Deleted and created again, unseen.
                        let tombstone = DeletedFinalStateUnknown { key: old.key().clone(), object: Some(old) };
                        let object = DeletedObject::FinalStateUnknown(tombstone);
                        pending.put(Notification::Deleted { object, origin: Origin::Relist }, &progress);
                        let object = next(&version.to_string());
                        pending.put(added(&object, false), &progress);
                        state[at] = Some(object);
                    }
                    (Some(old), _) => {
                        let uid = old.uid().to_string();
                        let object = next(&uid);
                        pending.put(updated(&old, &object), &progress);
                        state[at] = Some(object);
                    }
                }
                let slots = pending.lock().order.len();
                prop_assert!(slots <= 3, "{slots} slots for three objects");
            }
            while let Next::One(notification) = pending.take() {
                reader.read(notification);
            }
            let expected: Vec<_> = state.iter().flatten().map(|object| crate::informer::testing::fixtures::text_of(object)).collect();
            prop_assert_eq!(reader.lines(), expected);
        }
    }
}
