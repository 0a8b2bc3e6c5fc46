//! A source in memory for tests: a base state and the changes since then.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use serde_json::{Map, Value, json};
use tokio::sync::watch;

use super::clock::Clock;
use super::source::{
    Change, CollectionRange, Compacted, Kind, KindId, ObjectKey, ReadError, Snapshot, Source, StoredObject,
    Unreadable, object_key,
};

/// The number of the collection of config maps.
pub(super) const CONFIG_MAPS: KindId = 0;

/// A namespaced resource of the core group.
pub(super) fn core(plural: &str, kind: &str) -> Kind {
    Kind {
        group: String::new(),
        version: "v1".into(),
        plural: plural.into(),
        singular: kind.to_lowercase(),
        kind: kind.into(),
        namespaced: true,
        short_names: Vec::new(),
        categories: Vec::new(),
        subresources: vec!["status".into()],
        verbs: &["get", "list", "watch"],
        custom: None,
        conversion: None,
    }
}

/// The source. Unlike the demo's store, it computes a state forwards, from the base.
pub(super) struct MemorySource {
    kinds: Vec<Arc<Kind>>,
    state: Mutex<State>,
    latest: watch::Sender<u64>,
    clock: Clock,
    schemas: Map<String, Value>,
}

#[derive(Default)]
struct State {
    /// The objects at the version `compacted`.
    base: BTreeMap<(KindId, ObjectKey), Arc<StoredObject>>,
    compacted: u64,
    log: Vec<Change>,
    retired: BTreeSet<KindId>,
}

impl State {
    fn version(&self) -> u64 {
        self.log.last().map_or(self.compacted, |change| change.version)
    }

    fn objects(&self, version: u64) -> BTreeMap<(KindId, ObjectKey), Arc<StoredObject>> {
        let mut objects = self.base.clone();
        for change in self.log.iter().filter(|change| change.version <= version) {
            let key = (change.kind, change.new.key());
            if change.deleted {
                objects.remove(&key);
            } else {
                objects.insert(key, Arc::clone(&change.new));
            }
        }
        objects
    }

    fn snapshot(&self, range: &CollectionRange<'_>, version: u64) -> Snapshot {
        let all = self.objects(version);
        let own = all.iter().filter(|((kind, _), item)| *kind == range.kind && range.contains(item));
        let mut items: Vec<_> = own.map(|(_, item)| Arc::clone(item)).collect();
        let more = items.len().saturating_sub(range.limit);
        items.truncate(range.limit);
        Snapshot { version, items, more }
    }
}

impl MemorySource {
    /// Creates a source of config maps and pods at version 1.
    pub(super) fn new() -> Self {
        Self {
            kinds: vec![Arc::new(core("configmaps", "ConfigMap")), Arc::new(core("pods", "Pod"))],
            state: Mutex::new(State { compacted: 1, ..State::default() }),
            latest: watch::channel(1).0,
            clock: Clock::new(Timestamp::UNIX_EPOCH),
            schemas: Map::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Creates or replaces a config map in namespace `n`.
    pub(super) fn put(&self, name: &str, labels: &Value, text: &str) {
        let map = json!({
            "metadata": {"name": name, "namespace": "n", "labels": labels}, "data": {"text": text},
        });
        self.change(name, |kind, version, _| (StoredObject::new(kind, map, version), false));
    }

    /// Deletes a config map of namespace `n`.
    pub(super) fn remove(&self, name: &str) {
        self.change(name, |kind, version, old| (old.expect("an object to delete").at(kind, version), true));
    }

    fn change(
        &self,
        name: &str,
        change: impl FnOnce(&Kind, u64, Option<&StoredObject>) -> (StoredObject, bool),
    ) {
        let key = object_key("n", name);
        let mut state = self.lock();
        let version = state.version() + 1;
        let latest = state.log.iter().rev().find(|change| change.new.key() == key);
        let old = match latest {
            Some(change) => Some(&change.new).filter(|_| !change.deleted).cloned(),
            None => state.base.get(&(CONFIG_MAPS, key)).cloned(),
        };
        let (new, deleted) = change(&self.kinds[CONFIG_MAPS], version, old.as_deref());
        let (kind, new) = (CONFIG_MAPS, Arc::new(new));
        state.log.push(Change { version, kind, old, new, deleted });
        self.latest.send_replace(version);
    }

    /// Makes the latest version the oldest one.
    pub(super) fn compact(&self) {
        let mut state = self.lock();
        let version = state.version();
        state.base = state.objects(version);
        state.compacted = version;
        state.log.clear();
    }

    /// Stops serving the config maps.
    pub(super) fn retire(&self) {
        self.lock().retired.insert(CONFIG_MAPS);
        self.latest.send_modify(|_| {});
    }
}

impl Source for MemorySource {
    fn kinds(&self) -> Vec<Arc<Kind>> {
        self.kinds.clone()
    }

    fn find(&self, group: &str, version: &str, plural: &str) -> Option<(KindId, Arc<Kind>)> {
        let is_match = |kind: &Kind| kind.group == group && kind.version == version && kind.plural == plural;
        let id = self.kinds.iter().position(|kind| is_match(kind))?;
        Some((id, Arc::clone(&self.kinds[id])))
    }

    fn serves(&self, kind: KindId) -> bool {
        !self.lock().retired.contains(&kind)
    }

    fn version(&self, _: KindId) -> u64 {
        self.lock().version()
    }

    fn subscribe(&self) -> watch::Receiver<u64> {
        self.latest.subscribe()
    }

    fn get(
        &self,
        kind: KindId,
        namespace: &str,
        name: &str,
    ) -> Result<Option<Arc<StoredObject>>, Unreadable> {
        let state = self.lock();
        Ok(state.objects(state.version()).remove(&(kind, object_key(namespace, name))))
    }

    fn now(&self, range: &CollectionRange<'_>) -> Result<Snapshot, Unreadable> {
        let state = self.lock();
        Ok(state.snapshot(range, state.version()))
    }

    fn at(&self, range: &CollectionRange<'_>, version: u64) -> Result<Snapshot, ReadError> {
        let state = self.lock();
        if version < state.compacted {
            return Err(Compacted { oldest: state.compacted }.into());
        }
        Ok(state.snapshot(range, version))
    }

    fn changes(&self, kind: KindId, after: u64, limit: usize) -> Result<(Vec<Change>, u64), Compacted> {
        let state = self.lock();
        if after < state.compacted {
            return Err(Compacted { oldest: state.compacted });
        }
        let later = state.log.iter().filter(|change| change.version > after && change.kind == kind);
        let changes: Vec<_> = later.take(limit).cloned().collect();
        let is_full = changes.len() == limit;
        let to = changes.last().filter(|_| is_full).map_or(state.version().max(after), |last| last.version);
        Ok((changes, to))
    }

    fn clock(&self) -> &Clock {
        &self.clock
    }

    fn schemas(&self) -> &Map<String, Value> {
        &self.schemas
    }

    fn server_version(&self) -> Value {
        json!({"major": "1", "minor": "36", "gitVersion": "v1.36.0"})
    }
}
