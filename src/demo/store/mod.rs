//! The store: the collections, and a log of recent changes.
//!
//! One version counter covers all collections. Watches read the log of changes, and a list at an earlier version is
//! computed from it by undoing the changes since then. Changes that left the log are compacted: requests for them fail
//! as expired.

mod random_names;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::sync::watch;
use tokio::time::Instant;

use super::{errors, kinds};
use crate::server::api_error::ApiError;
use crate::server::source::{
    Change, CollectionRange, Compacted, Kind, KindId, ObjectKey, Snapshot, StoredObject, object_key,
};

pub(super) use random_names::{suffix, uuid};

/// The maximum length of the log, which bounds the memory of a busy server.
const MAX_LOG_LENGTH: usize = 8192;

/// The maximum size of the objects in the log, before and after each change.
const MAX_LOG_SIZE: usize = 64 * MIB;

/// The growth of the store, relative to its start, after which client writes are rejected.
const MAX_GROWTH: usize = 64 * MIB;

const MIB: usize = 1024 * 1024;

/// The maximum age of changes in the log, as on a real server.
const MAX_LOG_AGE: Duration = Duration::from_mins(5);

/// All collections and the log, behind one lock.
pub(super) struct Store {
    /// A std mutex, held for a look-up, one change, or cloning `Arc`s, never across an await.
    inner: Mutex<Inner>,
    /// The latest version. A watch channel: waiters need only the latest version, not each. It closes with the store.
    latest: watch::Sender<u64>,
}

struct Inner {
    version: u64,
    kinds: Vec<Arc<Kind>>,
    /// Resources that are no longer served.
    retired: BTreeSet<KindId>,
    /// One collection per resource, at its number.
    collections: Vec<BTreeMap<ObjectKey, Arc<StoredObject>>>,
    log: VecDeque<LogEntry>,
    /// The size of the objects in `log`.
    log_size: usize,
    /// The size of the objects in `collections`.
    size: usize,
    /// The size from which client writes are rejected.
    limit: usize,
    /// The version up to which changes are compacted.
    compacted: u64,
    rng: fastrand::Rng,
}

/// An edit whose new value is not known yet. It holds the lock of the store.
struct StartedEdit<'a> {
    at: Instant,
    inner: MutexGuard<'a, Inner>,
    kind: KindId,
    key: ObjectKey,
    old: Arc<StoredObject>,
    before: Value,
    value: Value,
}

/// A change in the log.
struct LogEntry {
    change: Change,
    /// The time of the change by tokio's clock, which tests can pause.
    at: Instant,
}

impl LogEntry {
    fn size(&self) -> usize {
        self.change.new.json.len() + self.change.old.as_ref().map_or(0, |old| old.json.len())
    }
}

/// The outcome of an edit.
#[derive(Clone, Copy)]
pub(super) enum Edit {
    /// Store the changed value, if it differs.
    Keep,
    /// Remove the object in the state of the value.
    Remove,
    /// Store nothing.
    Discard,
}

impl Store {
    /// Creates an empty store with the built-in resources at this version. Equal seeds give equal UIDs.
    pub(super) fn new(seed: u64, version: u64) -> Self {
        let kinds: Vec<_> = kinds::built_in().map(Arc::new).collect();
        let collections = kinds.iter().map(|_| BTreeMap::new()).collect();
        let rng = fastrand::Rng::with_seed(seed);
        let inner = Inner {
            version,
            kinds,
            retired: BTreeSet::new(),
            collections,
            log: VecDeque::new(),
            log_size: 0,
            size: 0,
            limit: MAX_GROWTH,
            compacted: 0,
            rng,
        };
        Self { inner: Mutex::new(inner), latest: watch::channel(version).0 }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns every served resource with its number.
    pub(super) fn kinds(&self) -> Vec<(KindId, Arc<Kind>)> {
        self.lock().served().map(|(id, kind)| (id, Arc::clone(kind))).collect()
    }

    /// Returns the resource with this group, version and plural.
    pub(super) fn find(&self, group: &str, version: &str, plural: &str) -> Option<(KindId, Arc<Kind>)> {
        let is_match =
            |kind: &Arc<Kind>| kind.group == group && kind.version == version && kind.plural == plural;
        self.lock().served().find(|(_, kind)| is_match(kind)).map(|(id, kind)| (id, Arc::clone(kind)))
    }

    /// Returns the resource with this number.
    pub(super) fn kind(&self, id: KindId) -> Arc<Kind> {
        Arc::clone(&self.lock().kinds[id])
    }

    /// Returns the number of a resource by group and plural.
    pub(super) fn id(&self, group: &str, plural: &str) -> Option<KindId> {
        let inner = self.lock();
        let mut served = inner.served();
        served.find(|(_, kind)| kind.group == group && kind.plural == plural).map(|(id, _)| id)
    }

    /// Defines or redefines a resource.
    pub(super) fn define(&self, kind: Kind) {
        let mut inner = self.lock();
        let is_match = |own: &Arc<Kind>| own.group == kind.group && own.plural == kind.plural;
        if let Some(id) = inner.kinds.iter().position(is_match) {
            inner.kinds[id] = Arc::new(kind);
            inner.retired.remove(&id);
        } else {
            inner.kinds.push(Arc::new(kind));
            inner.collections.push(BTreeMap::new());
        }
    }

    /// Stops serving a resource, whose objects must have been removed. Its number is kept for a later redefinition.
    pub(super) fn undefine(&self, kind: KindId) {
        self.lock().retired.insert(kind);
        // Wakes the resource's watches.
        self.latest.send_modify(|_| {});
    }

    /// Returns whether a resource is served.
    pub(super) fn serves(&self, kind: KindId) -> bool {
        !self.lock().retired.contains(&kind)
    }

    /// Returns a receiver of the latest version.
    pub(super) fn subscribe(&self) -> watch::Receiver<u64> {
        self.latest.subscribe()
    }

    pub(super) fn version(&self) -> u64 {
        self.lock().version
    }

    pub(super) fn get(&self, kind: KindId, namespace: &str, name: &str) -> Option<Arc<StoredObject>> {
        self.lock().collections.get(kind)?.get(&object_key(namespace, name)).cloned()
    }

    /// Returns the objects in a namespace that the owner with this UID controls, sorted by name.
    pub(super) fn owned(&self, kind: KindId, namespace: &str, uid: &str) -> Vec<Arc<StoredObject>> {
        let inner = self.lock();
        let all = inner.range(&CollectionRange::all(kind, Some(namespace)));
        all.map(|(_, item)| item).filter(|item| *item.owner == *uid).cloned().collect()
    }

    /// Returns a part of the current collection.
    pub(super) fn now(&self, range: &CollectionRange<'_>) -> Snapshot {
        let inner = self.lock();
        inner.snapshot(range, inner.version, &BTreeMap::new())
    }

    /// Returns a part of the collection at an earlier version.
    pub(super) fn at(&self, range: &CollectionRange<'_>, version: u64) -> Result<Snapshot, Compacted> {
        let inner = self.lock();
        if version < inner.compacted {
            return Err(Compacted { oldest: inner.compacted });
        }
        let later =
            inner.log.iter().map(|entry| &entry.change).rev().take_while(|change| change.version > version);
        let own_changes = later.filter(|change| change.kind == range.kind && range.contains(&change.new));
        // In reverse order, so that the state before the first of several changes remains.
        let past_states = own_changes.map(|change| (change.new.key(), change.old.clone())).collect();
        Ok(inner.snapshot(range, version, &past_states))
    }

    /// Returns at most `limit` changes of a resource after a version, and the version up to which they are complete.
    pub(super) fn changes(
        &self,
        kind: KindId,
        after: u64,
        limit: usize,
    ) -> Result<(Vec<Change>, u64), Compacted> {
        let inner = self.lock();
        let (changes, to) = inner.after(after, limit)?;
        Ok((changes.filter(|change| change.kind == kind).cloned().collect(), to))
    }

    /// Returns changes like [`Store::changes`], of all resources.
    pub(super) fn all_changes(&self, after: u64, limit: usize) -> Result<(Vec<Change>, u64), Compacted> {
        let inner = self.lock();
        let (changes, to) = inner.after(after, limit)?;
        Ok((changes.cloned().collect(), to))
    }

    /// Compacts all changes.
    pub(super) fn compact(&self) {
        let mut inner = self.lock();
        inner.compact();
    }

    /// Sets the size limit for writes of clients, relative to the current size.
    pub(super) fn allow_growth(&self) {
        let mut inner = self.lock();
        inner.limit = inner.size + MAX_GROWTH;
    }

    /// Checks that the store accepts writes of clients. The last accepted write can exceed the limit.
    ///
    /// # Errors
    /// The size limit is reached.
    pub(super) fn check_room(&self) -> Result<(), ApiError> {
        let inner = self.lock();
        if inner.size < inner.limit { Ok(()) } else { Err(errors::full(MAX_GROWTH / MIB)) }
    }

    /// Stores pre-existing objects, until `make` returns `None` for a version: no watch receives them, and earlier
    /// versions are not available.
    pub(super) fn load(&self, kind: KindId, mut make: impl FnMut(u64) -> Option<StoredObject>) {
        let mut inner = self.lock();
        while let Some(stored) = make(inner.version + 1) {
            inner.version += 1;
            inner.put(kind, Arc::new(stored));
        }
        inner.compact();
        self.latest.send_replace(inner.version);
    }

    /// Returns a new UID.
    pub(super) fn uid(&self) -> String {
        uuid(&mut self.lock().rng)
    }

    /// Returns a suffix for a generated name.
    pub(super) fn suffix(&self) -> String {
        suffix(&mut self.lock().rng)
    }

    /// Creates an object, which has its names and UID.
    ///
    /// # Errors
    /// An object with that name exists.
    pub(super) fn create(&self, kind: KindId, value: Value) -> Result<Arc<StoredObject>, ApiError> {
        let at = Instant::now();
        let mut inner = self.lock();
        let version = inner.version + 1;
        let definition = Arc::clone(&inner.kinds[kind]);
        let stored = Arc::new(StoredObject::new(&definition, value, version));
        if inner.collections[kind].contains_key(&stored.key()) {
            return Err(ApiError::already_exists(&definition, &stored.name));
        }
        inner.put(kind, Arc::clone(&stored));
        self.commit(inner, at, Change { version, kind, old: None, new: Arc::clone(&stored), deleted: false });
        Ok(stored)
    }

    /// Changes an object under the lock: `edit` receives the latest state, and no other write can intervene. An edit
    /// without effect creates no version. Returns the resulting or removed object.
    ///
    /// # Errors
    /// The object does not exist, or `edit` fails.
    pub(super) fn edit(
        &self,
        kind: KindId,
        namespace: &str,
        name: &str,
        edit: impl FnOnce(&mut Value) -> Result<Edit, ApiError>,
    ) -> Result<Arc<StoredObject>, ApiError> {
        let mut started = self.start_edit(kind, namespace, name)?;
        let edit = edit(&mut started.value)?;
        Ok(self.finish_edit(started, edit))
    }

    // Not generic, unlike `edit`, so that its many callers share the code.
    fn start_edit(&self, kind: KindId, namespace: &str, name: &str) -> Result<StartedEdit<'_>, ApiError> {
        let at = Instant::now();
        let inner = self.lock();
        let key = object_key(namespace, name);
        let old = inner.collections[kind].get(&key).cloned();
        let old = old.ok_or_else(|| ApiError::not_found(&inner.kinds[kind], name))?;
        let before = old.value();
        Ok(StartedEdit { at, inner, kind, key, old, value: before.clone(), before })
    }

    fn finish_edit(&self, started: StartedEdit<'_>, edit: Edit) -> Arc<StoredObject> {
        let StartedEdit { at, mut inner, kind, key, old, before, value } = started;
        let definition = Arc::clone(&inner.kinds[kind]);
        let deleted = match edit {
            Edit::Keep if value == before => return old,
            Edit::Discard => return Arc::new(StoredObject::new(&definition, value, old.version)),
            Edit::Keep => false,
            Edit::Remove => true,
        };
        let version = inner.version + 1;
        let new = Arc::new(StoredObject::new(&definition, value, version));
        if deleted {
            inner.take(kind, &key);
        } else {
            inner.put(kind, Arc::clone(&new));
        }
        self.commit(inner, at, Change { version, kind, old: Some(old), new: Arc::clone(&new), deleted });
        new
    }

    /// Removes an object, if it exists.
    pub(super) fn remove(&self, kind: KindId, namespace: &str, name: &str) -> Option<Arc<StoredObject>> {
        self.edit(kind, namespace, name, |_| Ok(Edit::Remove)).ok()
    }

    fn commit(&self, mut inner: MutexGuard<'_, Inner>, now: Instant, change: Change) {
        inner.version = change.version;
        let entry = LogEntry { change, at: now };
        inner.log_size += entry.size();
        inner.log.push_back(entry);
        let is_old = |entry: &LogEntry| now.duration_since(entry.at) > MAX_LOG_AGE;
        while inner.log.len() > MAX_LOG_LENGTH
            || inner.log_size > MAX_LOG_SIZE
            || inner.log.front().is_some_and(is_old)
        {
            let Some(dropped) = inner.log.pop_front() else { break };
            inner.log_size -= dropped.size();
            inner.compacted = dropped.change.version;
        }
        self.latest.send_replace(inner.version);
    }
}

impl Inner {
    fn served(&self) -> impl Iterator<Item = (KindId, &Arc<Kind>)> {
        self.kinds.iter().enumerate().filter(|(id, _)| !self.retired.contains(id))
    }

    fn put(&mut self, kind: KindId, object: Arc<StoredObject>) {
        self.size += object.json.len();
        let before = self.collections[kind].insert(object.key(), object);
        self.size -= before.map_or(0, |before| before.json.len());
    }

    fn take(&mut self, kind: KindId, key: &ObjectKey) {
        let before = self.collections[kind].remove(key);
        self.size -= before.map_or(0, |before| before.json.len());
    }

    fn compact(&mut self) {
        self.compacted = self.version;
        self.log.clear();
        self.log_size = 0;
    }

    fn range<'a>(
        &'a self,
        range: &CollectionRange<'_>,
    ) -> impl Iterator<Item = (&'a ObjectKey, &'a Arc<StoredObject>)> + use<'a> {
        let first = object_key(range.namespace.unwrap_or_default(), "");
        let from = match range.after {
            Some(after) if *after >= first => Bound::Excluded(after.clone()),
            _ => Bound::Included(first),
        };
        let namespace = range.namespace.map(Box::<str>::from);
        let all = self.collections[range.kind].range((from, Bound::Unbounded));
        all.take_while(move |(key, _)| namespace.as_ref().is_none_or(|namespace| key.0 == *namespace))
    }

    /// Returns the current part with the states of `past_states` at their keys.
    fn snapshot(
        &self,
        range: &CollectionRange<'_>,
        version: u64,
        past_states: &BTreeMap<ObjectKey, Option<Arc<StoredObject>>>,
    ) -> Snapshot {
        let unchanged =
            self.range(range).filter(|(key, _)| !past_states.contains_key(*key)).map(|(_, item)| item);
        let mut unchanged = unchanged.peekable();
        let mut items = Vec::new();
        for changed in past_states.values().flatten() {
            let before = |item: &&Arc<StoredObject>| item.is_before(changed);
            while items.len() < range.limit
                && let Some(item) = unchanged.next_if(before)
            {
                items.push(Arc::clone(item));
            }
            if items.len() == range.limit {
                break;
            }
            items.push(Arc::clone(changed));
        }
        while items.len() < range.limit
            && let Some(item) = unchanged.next()
        {
            items.push(Arc::clone(item));
        }
        let total = self.range(range).filter(|(key, _)| !past_states.contains_key(*key)).count();
        let more = total + past_states.values().flatten().count() - items.len();
        Snapshot { version, items, more }
    }

    fn after(&self, after: u64, limit: usize) -> Result<(impl Iterator<Item = &Change>, u64), Compacted> {
        if after < self.compacted {
            return Err(Compacted { oldest: self.compacted });
        }
        let from = self.log.partition_point(|entry| entry.change.version <= after);
        let to = self.log.len().min(from + limit);
        let last = if to == self.log.len() { self.version } else { self.log[to].change.version - 1 };
        Ok((self.log.range(from..to).map(|entry| &entry.change), last.max(after)))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn filled(names: &[&str]) -> (Store, KindId) {
        let store = Store::new(1, 1);
        let kind = store.id("", "configmaps").expect("configmaps");
        for name in names {
            store.create(kind, json!({"metadata": {"name": name, "namespace": "n"}})).expect("new");
        }
        (store, kind)
    }

    fn names(snapshot: &Snapshot) -> Vec<&str> {
        snapshot.items.iter().map(|item| &*item.name).collect()
    }

    #[test]
    fn earlier_versions_are_reconstructed() {
        let (store, kind) = filled(&["a", "b", "c"]);
        let past_version = store.version();
        store.remove(kind, "n", "b").expect("b");
        store.create(kind, json!({"metadata": {"name": "d", "namespace": "n"}})).expect("new");
        let edit = |value: &mut Value| {
            value["data"] = json!({"x": "y"});
            Ok(Edit::Keep)
        };
        store.edit(kind, "n", "a", edit).expect("a");
        let all = CollectionRange::all(kind, None);
        assert_eq!(names(&store.now(&all)), ["a", "c", "d"]);
        let past = store.at(&all, past_version).expect("not compacted");
        assert_eq!(names(&past), ["a", "b", "c"]);
        assert_eq!(past.items[0].value().get("data"), None);
        let after = object_key("n", "a");
        let rest = CollectionRange { namespace: Some("n"), after: Some(&after), ..all };
        assert_eq!(names(&store.at(&rest, past_version).expect("then")), ["b", "c"]);
        for (limit, expected, more) in [(1, &["a"][..], 2), (2, &["a", "b"], 1), (3, &["a", "b", "c"], 0)] {
            let page = store.at(&CollectionRange { limit, ..all }, past_version).expect("then");
            assert_eq!((names(&page).as_slice(), page.more), (expected, more));
        }
        assert_eq!(names(&store.now(&CollectionRange::all(kind, Some("other")))), [""; 0]);
    }

    #[test]
    fn changes_after_a_version_are_complete_until_compaction() {
        let (store, kind) = filled(&["a", "b"]);
        let (changes, to) = store.changes(kind, 1, 100).expect("all");
        assert_eq!((changes.len(), to), (2, store.version()));
        let (changes, to) = store.changes(kind, 1, 1).expect("one");
        assert_eq!((changes.len(), to), (1, 2));
        store.compact();
        assert_eq!(store.changes(kind, 1, 1).map(|_| ()), Err(Compacted { oldest: 3 }));
        assert_eq!(store.changes(kind, 3, 1).map(|(changes, to)| (changes.len(), to)), Ok((0, 3)));
        assert!(store.at(&CollectionRange::all(kind, None), 2).is_err());
    }

    #[test]
    fn log_length_is_bounded() {
        let (store, kind) = filled(&["a"]);
        for round in 0..=MAX_LOG_LENGTH {
            let edit = |value: &mut Value| {
                value["data"] = json!(round);
                Ok(Edit::Keep)
            };
            store.edit(kind, "n", "a", edit).expect("a");
        }
        assert_eq!(store.changes(kind, 2, 1).map(|_| ()), Err(Compacted { oldest: 3 }));
    }

    #[test]
    fn log_is_bounded_in_bytes() {
        let (store, kind) = filled(&["a"]);
        let rounds = MAX_LOG_SIZE / MIB;
        for round in 0..rounds {
            let edit = |value: &mut Value| {
                value["data"] = json!({"round": round.to_string(), "text": "x".repeat(MIB)});
                Ok(Edit::Keep)
            };
            store.edit(kind, "n", "a", edit).expect("a");
        }
        let size = store.lock().log_size;
        let compacted = store.lock().compacted;
        assert!(size <= MAX_LOG_SIZE, "{size}");
        // Each change keeps the object before and after it.
        let (remembered, _) = store.changes(kind, compacted, rounds).expect("the log");
        assert_eq!(remembered.len(), rounds / 2 - 1);
        store.compact();
        assert_eq!(store.lock().log_size, 0);
    }

    #[test]
    fn client_writes_fail_at_the_size_limit_until_deletions() {
        let (store, kind) = filled(&[]);
        let map = |name: &str| json!({"metadata": {"name": name, "namespace": "n"}, "data": {"text": "x".repeat(MIB)}});
        store.create(kind, map("before")).expect("new");
        store.allow_growth();
        for at in 0..MAX_GROWTH / MIB {
            store.check_room().expect("room");
            store.create(kind, map(&format!("a{at}"))).expect("new");
        }
        assert_eq!(store.check_room().map_err(|error| error.code), Err(507));
        store.remove(kind, "n", "a0");
        assert_eq!(store.check_room(), Ok(()));
    }

    #[tokio::test(start_paused = true)]
    async fn old_changes_are_compacted() {
        let (store, kind) = filled(&["a"]);
        let past_version = store.version();
        for round in 0..3 {
            tokio::time::advance(Duration::from_mins(2)).await;
            let edit = |value: &mut Value| {
                value["data"] = json!(round);
                Ok(Edit::Keep)
            };
            store.edit(kind, "n", "a", edit).expect("a");
        }
        assert_eq!(
            store.changes(kind, past_version - 1, 1).map(|_| ()),
            Err(Compacted { oldest: past_version })
        );
        assert_eq!(store.changes(kind, past_version, 10).map(|(changes, _)| changes.len()), Ok(3));
    }

    #[test]
    fn edits_without_effect_create_no_version() {
        let (store, kind) = filled(&["a"]);
        let before = store.version();
        store.edit(kind, "n", "a", |_| Ok(Edit::Keep)).expect("a");
        assert_eq!(store.version(), before);
        assert!(store.edit(kind, "n", "x", |_| Ok(Edit::Keep)).is_err());
        assert!(store.create(kind, json!({"metadata": {"name": "a", "namespace": "n"}})).is_err());
    }

    #[test]
    fn deletions_have_their_own_version() {
        let (store, kind) = filled(&["a"]);
        let removed = store.remove(kind, "n", "a").expect("a");
        assert_eq!(removed.version, store.version());
        assert_eq!(removed.value()["metadata"]["resourceVersion"], store.version().to_string());
        let (changes, _) = store.changes(kind, 2, 10).expect("changes");
        assert!(changes[0].deleted && changes[0].old.is_some());
    }

    #[test]
    fn uids_are_uuids_and_repeat_with_the_seed() {
        let uid = Store::new(7, 1).uid();
        assert_eq!(uid, Store::new(7, 1).uid());
        assert_eq!((uid.len(), uid.as_bytes()[14]), (36, b'4'));
    }
}
