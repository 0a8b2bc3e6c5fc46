//! A recording as the source of a server, at a moment that can be moved.

use std::sync::{Arc, Mutex, PoisonError, RwLock};

use bytes::Bytes;
use jiff::Timestamp;
use serde_json::{Map, Value};
use tokio::sync::watch;

use super::documents::server_version;
use super::kinds::Origin;
use super::recorded_state::RecordedState;
use crate::server::clock::Clock;
use crate::server::source::{
    Change, CollectionRange, Compacted, Kind, KindId, ReadError, Snapshot, Source, StoredObject, Unreadable,
};

/// A recording as the source of a server. Its moment can be moved.
pub(super) struct MovableState {
    /// A std lock, held for a copy or an exchange.
    current: RwLock<Current>,
    /// The group, version and plural of each collection, whose number stays the same at all moments. A std mutex,
    /// held for a look-up or an insertion; bounded by the recorded resources.
    collections: Mutex<Vec<[String; 3]>>,
    /// Counts changes and moves, and wakes watches.
    progress: watch::Sender<u64>,
    clock: Clock,
    schemas: Map<String, Value>,
    /// Whether responses warn of what was not observed.
    warns: bool,
}

struct Current {
    state: Arc<RecordedState>,
    /// The number of moves.
    epoch: u64,
}

impl MovableState {
    pub(super) fn new(state: RecordedState) -> Self {
        Self {
            clock: Clock::stopped(state.time().unwrap_or(Timestamp::UNIX_EPOCH)),
            current: RwLock::new(Current { state: Arc::new(state), epoch: 0 }),
            collections: Mutex::default(),
            progress: watch::channel(0).0,
            schemas: Map::new(),
            warns: false,
        }
    }

    /// Warns clients of what was not observed, for clients that read the recording by no other way.
    pub(super) fn with_warnings(self) -> Self {
        Self { warns: true, ..self }
    }

    /// Returns the recording at its current moment.
    pub(super) fn current(&self) -> Arc<RecordedState> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner).state)
    }

    /// Moves to another moment. Watches end.
    pub(super) fn move_to(&self, state: RecordedState) -> Arc<RecordedState> {
        let state = Arc::new(state);
        self.exchange(&mut self.current.write().unwrap_or_else(PoisonError::into_inner), &state);
        self.has_changed();
        state
    }

    /// Moves as [`MovableState::move_to`], unless the moment was moved since `from` was current.
    pub(super) fn continue_from(
        &self,
        from: &Arc<RecordedState>,
        state: RecordedState,
    ) -> Option<Arc<RecordedState>> {
        let state = Arc::new(state);
        {
            let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
            if !Arc::ptr_eq(&current.state, from) {
                return None;
            }
            self.exchange(&mut current, &state);
        }
        self.has_changed();
        Some(state)
    }

    fn exchange(&self, current: &mut Current, state: &Arc<RecordedState>) {
        current.state = Arc::clone(state);
        current.epoch += 1;
        self.clock.set(state.time().unwrap_or(Timestamp::UNIX_EPOCH));
    }

    /// Sets the shown time, unless the moment was moved since `state` was current.
    pub(super) fn show(&self, state: &Arc<RecordedState>, time: Timestamp) {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        if Arc::ptr_eq(&current.state, state) {
            self.clock.set(time);
        }
    }

    /// Wakes the watches.
    pub(super) fn has_changed(&self) {
        self.progress.send_modify(|count| *count += 1);
    }

    /// Returns the current state and the number of a collection in it.
    fn locate(&self, kind: KindId) -> (Arc<RecordedState>, Option<usize>) {
        let state = self.current();
        let collections = self.collections.lock().unwrap_or_else(PoisonError::into_inner);
        let names = collections.get(kind);
        let position = names.and_then(|[group, version, plural]| state.position(group, version, plural));
        (state, position)
    }
}

impl Source for MovableState {
    fn kinds(&self) -> Vec<Arc<Kind>> {
        self.current().kinds().all.clone()
    }

    fn find(&self, group: &str, version: &str, plural: &str) -> Option<(KindId, Arc<Kind>)> {
        let state = self.current();
        let (position, kind) = state.find(group, version, plural)?;
        // An alternate version shares the collection of the recorded one.
        let names = state.names(position)?;
        let mut collections = self.collections.lock().unwrap_or_else(PoisonError::into_inner);
        let known = collections.iter().position(|known| *known == names);
        let id = known.unwrap_or_else(|| {
            collections.push(names);
            collections.len() - 1
        });
        Some((id, kind))
    }

    fn serves(&self, _: KindId) -> bool {
        true
    }

    fn version(&self, kind: KindId) -> u64 {
        let (state, position) = self.locate(kind);
        position.map_or(1, |position| state.version(position))
    }

    fn epoch(&self) -> u64 {
        self.current.read().unwrap_or_else(PoisonError::into_inner).epoch
    }

    fn subscribe(&self) -> watch::Receiver<u64> {
        self.progress.subscribe()
    }

    fn get(
        &self,
        kind: KindId,
        namespace: &str,
        name: &str,
    ) -> Result<Option<Arc<StoredObject>>, Unreadable> {
        let (state, position) = self.locate(kind);
        position.map_or(Ok(None), |position| state.get(position, namespace, name))
    }

    fn now(&self, range: &CollectionRange<'_>) -> Result<Snapshot, Unreadable> {
        match self.list(range, None) {
            Ok(snapshot) => Ok(snapshot),
            Err(ReadError::Unreadable(reason)) => Err(reason),
            Err(ReadError::Compacted(_)) => Ok(empty(1)),
        }
    }

    fn at(&self, range: &CollectionRange<'_>, version: u64) -> Result<Snapshot, ReadError> {
        self.list(range, Some(version))
    }

    fn changes(&self, kind: KindId, after: u64, limit: usize) -> Result<(Vec<Change>, u64), Compacted> {
        let (state, position) = self.locate(kind);
        position.map_or(Err(Compacted { oldest: 1 }), |position| state.changes(position, after, limit))
    }

    fn clock(&self) -> &Clock {
        &self.clock
    }

    fn schemas(&self) -> &Map<String, Value> {
        &self.schemas
    }

    fn server_version(&self) -> Value {
        server_version(self, Origin::Recording)
    }

    fn document(&self, path: &str) -> Option<Bytes> {
        self.current().document(path)
    }

    fn warnings(&self, kind: KindId, namespace: Option<&str>) -> Vec<String> {
        let (state, position) = self.locate(kind);
        let position = position.filter(|_| self.warns);
        position.map_or_else(Vec::new, |position| state.warnings(position, namespace, self.clock.now()))
    }

    fn unavailable_reason(&self, group: &str, version: &str, plural: &str) -> Option<String> {
        self.current().kinds().unavailable_reason(group, version, plural)
    }

    fn write_refusal(&self) -> Option<&'static str> {
        Some(Origin::Recording.write_refusal())
    }

    fn subresource_refusal(&self, kind: &Kind, name: &str) -> Option<String> {
        Origin::Recording.subresource_refusal(&kind.group, &kind.plural, name)
    }
}

impl MovableState {
    /// Returns a part of a collection. One that is not recorded at the moment is empty.
    fn list(&self, range: &CollectionRange<'_>, version: Option<u64>) -> Result<Snapshot, ReadError> {
        let (state, position) = self.locate(range.kind);
        position.map_or_else(|| Ok(empty(1)), |position| state.list(position, range, version))
    }
}

fn empty(version: u64) -> Snapshot {
    Snapshot { version, items: Vec::new(), more: 0 }
}
