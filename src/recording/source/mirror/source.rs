//! A mirror as the source of a server.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::{Map, Value};
use tokio::sync::watch;

use super::collection::{Collection, Page};
use super::mirrored::stored_objects;
use super::shared::Shared;
use crate::recording::source::documents::server_version;
use crate::recording::source::kinds::Origin;
use crate::server::clock::Clock;
use crate::server::source::{
    Change, CollectionRange, Compacted, Kind, KindId, ReadError, Snapshot, Source, StoredObject, Unreadable,
};

/// The source over the state of a mirror.
pub(super) struct MirrorSource {
    shared: Arc<Shared>,
    /// Empty: the documents have the schemas.
    schemas: Map<String, Value>,
}

impl MirrorSource {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self { shared, schemas: Map::new() }
    }

    /// Returns the objects of a page in the form that the server stores. Does not need the lock.
    fn snapshot(&self, kind: Option<Arc<Kind>>, page: Page, has_json: bool) -> Snapshot {
        let Page { version, objects, more } = page;
        let items = kind.map(|kind| stored_objects(&kind, &objects, has_json, self.shared.clock.now()));
        Snapshot { version, items: items.unwrap_or_default(), more }
    }
}

impl Source for MirrorSource {
    fn kinds(&self) -> Vec<Arc<Kind>> {
        self.shared.lock().served().kinds.all.clone()
    }

    fn find(&self, group: &str, version: &str, plural: &str) -> Option<(KindId, Arc<Kind>)> {
        self.shared.lock().served().find(group, version, plural)
    }

    fn serves(&self, kind: KindId) -> bool {
        let state = self.shared.lock();
        state.collections.get(kind).is_some_and(Collection::is_served)
    }

    fn version(&self, kind: KindId) -> u64 {
        let state = self.shared.lock();
        state.collections.get(kind).map_or(1, Collection::position)
    }

    fn subscribe(&self) -> watch::Receiver<u64> {
        self.shared.progress.subscribe()
    }

    fn get(
        &self,
        kind: KindId,
        namespace: &str,
        name: &str,
    ) -> Result<Option<Arc<StoredObject>>, Unreadable> {
        let (definition, object) = {
            let mut state = self.shared.lock();
            let definition = state.served().kind(kind).cloned();
            let object = state.collections.get(kind).and_then(|one| one.get(namespace, name)).cloned();
            (definition, object)
        };
        let Some((definition, object)) = definition.zip(object) else { return Ok(None) };
        Ok(stored_objects(&definition, &[object], true, self.shared.clock.now()).pop())
    }

    fn now(&self, range: &CollectionRange<'_>) -> Result<Snapshot, Unreadable> {
        let (kind, page) = {
            let mut state = self.shared.lock();
            let page = state.collections.get(range.kind).map(|collection| collection.now(range));
            (state.served().kind(range.kind).cloned(), page)
        };
        let empty = || Page { version: 1, objects: Vec::new(), more: 0 };
        Ok(self.snapshot(kind, page.unwrap_or_else(empty), range.data.has_json()))
    }

    fn at(&self, range: &CollectionRange<'_>, version: u64) -> Result<Snapshot, ReadError> {
        let (kind, page) = {
            let mut state = self.shared.lock();
            let page = state.collections.get(range.kind).map(|collection| collection.at(range, version));
            (state.served().kind(range.kind).cloned(), page)
        };
        let page = page.unwrap_or(Err(Compacted { oldest: 1 }))?;
        Ok(self.snapshot(kind, page, range.data.has_json()))
    }

    fn changes(&self, kind: KindId, after: u64, limit: usize) -> Result<(Vec<Change>, u64), Compacted> {
        let (definition, changes) = {
            let mut state = self.shared.lock();
            let changes = state.collections.get(kind).map(|collection| collection.after(after, limit));
            (state.served().kind(kind).cloned(), changes)
        };
        let (changes, to) = changes.unwrap_or(Err(Compacted { oldest: 1 }))?;
        let Some(definition) = definition else { return Ok((Vec::new(), to)) };
        let now = self.shared.clock.now();
        Ok((changes.iter().filter_map(|change| change.stored(kind, &definition, now)).collect(), to))
    }

    fn clock(&self) -> &Clock {
        &self.shared.clock
    }

    fn schemas(&self) -> &Map<String, Value> {
        &self.schemas
    }

    fn server_version(&self) -> Value {
        server_version(self, Origin::Mirror)
    }

    fn document(&self, path: &str) -> Option<Bytes> {
        self.shared.lock().served().documents.get(path)
    }

    fn unavailable_reason(&self, group: &str, version: &str, plural: &str) -> Option<String> {
        self.shared.lock().served().kinds.unavailable_reason(group, version, plural)
    }

    fn write_refusal(&self) -> Option<&'static str> {
        Some(Origin::Mirror.write_refusal())
    }

    fn subresource_refusal(&self, kind: &Kind, name: &str) -> Option<String> {
        Origin::Mirror.subresource_refusal(&kind.group, &kind.plural, name)
    }
}
