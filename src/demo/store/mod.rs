//! The store: the collections, and a log of recent changes.
//!
//! One version counter covers all collections. Watches read the log of changes, and a list at an earlier version is
//! computed from it by undoing the changes since then. Changes that left the log are compacted: requests for them fail
//! as expired.

mod change_log;
mod random_names;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use tokio::sync::watch;
use tokio::time::Instant;

use super::{errors, kinds};
use crate::server::api_error::ApiError;
use crate::server::source::{
    Change, CollectionRange, Compacted, Kind, KindId, ObjectKey, Snapshot, StoredObject, object_key,
};

use change_log::ChangeLog;
pub(super) use random_names::{suffix, uuid};

/// The growth of the store, relative to its start, after which client writes are rejected.
const MAX_GROWTH: usize = 64 * MIB;

const MIB: usize = 1024 * 1024;

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
    log: ChangeLog,
    /// The size of the objects in `collections`.
    size: usize,
    /// The size from which client writes are rejected.
    limit: usize,
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
            log: ChangeLog::default(),
            size: 0,
            limit: MAX_GROWTH,
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
        let later = inner.log.since(version)?;
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
        let (changes, to) = inner.log.after(after, limit, inner.version)?;
        Ok((changes.filter(|change| change.kind == kind).cloned().collect(), to))
    }

    /// Returns changes like [`Store::changes`], of all resources.
    pub(super) fn all_changes(&self, after: u64, limit: usize) -> Result<(Vec<Change>, u64), Compacted> {
        let inner = self.lock();
        let (changes, to) = inner.log.after(after, limit, inner.version)?;
        Ok((changes.cloned().collect(), to))
    }

    /// Compacts all changes.
    pub(super) fn compact(&self) {
        self.lock().compact();
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
            inner.remove(kind, &key);
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
        inner.log.push(change, now);
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

    fn remove(&mut self, kind: KindId, key: &ObjectKey) {
        let before = self.collections[kind].remove(key);
        self.size -= before.map_or(0, |before| before.json.len());
    }

    fn compact(&mut self) {
        self.log.compact(self.version);
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
}

#[cfg(test)]
mod tests;
