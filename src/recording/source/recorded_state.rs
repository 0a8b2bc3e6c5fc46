//! A recording at one moment, and from there on if it is replayed.

use std::sync::{Arc, Mutex, PoisonError, RwLock};

use bytes::Bytes;
use jiff::Timestamp;

use super::change_log::{ChangeLog, Replayed};
use super::collection::{Collection, Items};
use super::documents::Documents;
use super::kinds::{Origin, RecordedKinds, ServedVersions};
use super::stored::{Rows, stored};
use crate::lines;
use crate::listwatch::DirectContents;
use crate::object::{ApiResource, Ingest, Object};
use crate::recording::entry::{Moment, Unobserved};
use crate::recording::error::RecordingError;
use crate::recording::reader::{Recording, State};
use crate::server::source::{
    Change, CollectionRange, Compacted, Kind, ReadError, Snapshot, StoredObject, Unreadable, object_key,
};

/// The collections of a recording at one moment. Their files are read within requests, which take as long as the
/// reads.
pub(super) struct RecordedState {
    recording: Recording,
    kinds: RecordedKinds,
    /// A std lock, held for a look-up; written when a replay reaches another version of a document.
    documents: RwLock<Documents>,
    /// The resource of the recorded definitions of custom resources.
    definitions: Option<Arc<ApiResource>>,
    now: Reading,
    /// The version that was selected as the moment.
    selected: Option<u64>,
    /// The last requested version among those before the moment. A std mutex, held for a look-up or an exchange.
    earlier: Mutex<Option<Arc<Reading>>>,
    /// What was not observed at the last time for which that was read. A std mutex, held while it is read.
    unobserved: Mutex<Option<(Timestamp, Unobserved)>>,
    /// The changes of each collection since the moment; `None` if the moment stands still.
    replayed: Option<Vec<ChangeLog>>,
}

/// The collections at one version.
struct Reading {
    version: u64,
    state: State,
    collections: Vec<Collection>,
    /// The resources that were recorded up to the version.
    resources: Vec<Arc<ApiResource>>,
}

impl Reading {
    fn new(
        state: State,
        resources: Vec<Arc<ApiResource>>,
        version: u64,
        kinds: &RecordedKinds,
        rows: Rows,
    ) -> Self {
        let collections = kinds
            .recorded
            .iter()
            .map(|(resource, kind)| Collection::new(Arc::clone(resource), Arc::clone(kind), rows));
        Self { version, collections: collections.collect(), resources, state }
    }

    /// Returns whether a collection was recorded up to the version.
    fn has(&self, position: usize) -> bool {
        let collection = self.collections.get(position);
        collection.is_some_and(|collection| self.resources.iter().any(|one| collection.is_of(one)))
    }
}

impl RecordedState {
    /// Opens a recording at a moment that stands still.
    pub(super) fn open(
        recording: Recording,
        moment: Moment,
        versions: ServedVersions,
    ) -> Result<Self, RecordingError> {
        let state = recording.state(moment)?;
        let resources = state.resources()?;
        let selected = if let Moment::Version(version) = moment { Some(version) } else { None };
        let opened = Self::new(recording, state, &resources, Rows::Recorded, versions)?;
        Ok(Self { selected, ..opened })
    }

    /// Opens a recording for a replay that starts at a moment, with alternate versions. Types that are recorded later
    /// exist from the beginning.
    pub(super) fn replayed(recording: Recording, moment: Moment) -> Result<Self, RecordingError> {
        let state = recording.state(moment)?;
        let resources = recording.resources()?;
        // Recorded rows have the ages of the moment.
        let state = Self::new(recording, state, &resources, Rows::Computed, ServedVersions::WithAlternates)?;
        let logs = state.now.collections.iter().map(|_| ChangeLog::new(state.now.version)).collect();
        Ok(Self { replayed: Some(logs), ..state })
    }

    fn new(
        recording: Recording,
        state: State,
        resources: &[Arc<ApiResource>],
        rows: Rows,
        versions: ServedVersions,
    ) -> Result<Self, RecordingError> {
        let documents = state.documents()?;
        let kinds = RecordedKinds::read(&documents, resources, Origin::Recording, versions);
        let kinds = kinds.of_recording(&recording);
        let is_definitions = |resource: &&Arc<ApiResource>| {
            resource.group == "apiextensions.k8s.io" && resource.resource == "customresourcedefinitions"
        };
        let definitions = resources.iter().find(is_definitions).cloned();
        // Version 0 means any version in a request.
        let version = state.version().max(1);
        Ok(Self {
            documents: RwLock::new(Documents::new(documents, &kinds)),
            definitions,
            now: Reading::new(state, resources.to_vec(), version, &kinds, rows),
            earlier: Mutex::default(),
            unobserved: Mutex::default(),
            recording,
            kinds,
            selected: None,
            replayed: None,
        })
    }

    /// Returns the time of the moment.
    pub(super) fn time(&self) -> Option<Timestamp> {
        self.now.state.time()
    }

    /// Returns whether a type was recorded up to the moment.
    pub(super) fn has_types(&self) -> bool {
        !self.now.collections.is_empty()
    }

    /// Returns the resources.
    pub(super) fn kinds(&self) -> &RecordedKinds {
        &self.kinds
    }

    /// Returns the document at a path.
    pub(super) fn document(&self, path: &str) -> Option<Bytes> {
        self.documents.read().unwrap_or_else(PoisonError::into_inner).get(path)
    }

    /// Returns the number of a collection.
    pub(super) fn position(&self, group: &str, version: &str, plural: &str) -> Option<usize> {
        self.now.collections.iter().position(|one| one.is(group, version, plural))
    }

    /// Returns a readable resource, and the number of its collection.
    pub(super) fn find(&self, group: &str, version: &str, plural: &str) -> Option<(usize, Arc<Kind>)> {
        match self.position(group, version, plural) {
            Some(position) => Some((position, self.kind(position)?)),
            None => self.kinds.alternate(group, version, plural),
        }
    }

    /// Returns the group, the version and the plural of a collection.
    pub(super) fn names(&self, position: usize) -> Option<[String; 3]> {
        self.now.collections.get(position).map(Collection::names)
    }

    /// Returns why the objects of a collection may differ from those of the server at a time. A damaged recording has no
    /// warnings: reads of the damaged part fail.
    pub(super) fn warnings(&self, position: usize, namespace: Option<&str>, time: Timestamp) -> Vec<String> {
        let Some(collection) = self.now.collections.get(position) else { return Vec::new() };
        let mut last = self.unobserved.lock().unwrap_or_else(PoisonError::into_inner);
        if last.as_ref().is_none_or(|(of, _)| *of != time) {
            let read = match self.selected {
                Some(version) => self.recording.unobserved_at_version(version),
                None => self.recording.unobserved_at(time),
            };
            match read {
                Ok(unobserved) => *last = Some((time, unobserved)),
                Err(error) => {
                    tracing::debug!(%error, "whether this moment was observed can't be read");
                    return Vec::new();
                }
            }
        }
        last.as_ref()
            .map_or_else(Vec::new, |(_, unobserved)| unobserved.warnings(collection.resource(), namespace))
    }

    /// Returns the kind of a collection, whose definition is that of the moment.
    pub(super) fn kind(&self, position: usize) -> Option<Arc<Kind>> {
        let collection = self.now.collections.get(position)?;
        Some(collection.kind(&self.now.state, self.definitions.as_deref()))
    }

    /// Returns the version of the moment.
    pub(super) fn version_at_moment(&self) -> u64 {
        self.now.version
    }

    /// Returns the objects of a resource at the moment as they are recorded, or `None` if they are served in another form.
    ///
    /// # Errors
    /// The recording can't be read.
    pub(super) fn objects(
        &self,
        resource: &ApiResource,
        namespace: Option<&str>,
        contents: DirectContents,
        ingest: &Ingest,
    ) -> Result<Option<Vec<Arc<Object>>>, Unreadable> {
        let ApiResource { group, version, resource, .. } = resource;
        let position = self.position(group, version, resource).filter(|_| self.replayed.is_none());
        let Some(collection) = position.and_then(|position| self.now.collections.get(position)) else {
            return Ok(None);
        };
        collection.recorded(&self.now.state, namespace, contents, ingest)
    }

    /// Returns the latest version of a collection.
    pub(super) fn version(&self, position: usize) -> u64 {
        self.log(position).map_or(self.now.version, ChangeLog::position)
    }

    fn log(&self, position: usize) -> Option<&ChangeLog> {
        self.replayed.as_ref()?.get(position)
    }

    /// Returns the current state of an object.
    pub(super) fn get(
        &self,
        position: usize,
        namespace: &str,
        name: &str,
    ) -> Result<Option<Arc<StoredObject>>, Unreadable> {
        match self.log(position).map(|log| log.get(&object_key(namespace, name))) {
            Some(Replayed::Changed(object)) => return Ok(Some(object)),
            Some(Replayed::Deleted) => return Ok(None),
            Some(Replayed::Unchanged) | None => {}
        }
        let (Some(collection), Some(kind)) = (self.now.collections.get(position), self.kind(position)) else {
            return Ok(None);
        };
        collection.item(&self.now.state, &kind, namespace, name)
    }

    /// Returns a part of a collection at a version, or at the latest one.
    pub(super) fn list(
        &self,
        position: usize,
        range: &CollectionRange<'_>,
        version: Option<u64>,
    ) -> Result<Snapshot, ReadError> {
        if let Some(log) = self.log(position) {
            let items = self.items(&self.now, position, range)?;
            let (items, version) = log.apply(&items, version)?;
            return Ok(part(&items, range, version));
        }
        match version {
            Some(version) if version > self.now.version => Err(Compacted { oldest: self.now.version }.into()),
            Some(version) if version < self.now.version => {
                let reading = self.reading(version)?;
                // A type is not recorded before its first list.
                if !reading.has(position) {
                    return Err(Compacted { oldest: self.now.version }.into());
                }
                Ok(part(&self.items(&reading, position, range)?, range, version))
            }
            _ => Ok(part(&self.items(&self.now, position, range)?, range, self.now.version)),
        }
    }

    /// Returns at most `limit` changes of a collection after a version, and the version up to which they are complete.
    pub(super) fn changes(
        &self,
        position: usize,
        after: u64,
        limit: usize,
    ) -> Result<(Vec<Change>, u64), Compacted> {
        match self.log(position) {
            Some(log) => log.after(after, limit),
            None if after == self.now.version => Ok((Vec::new(), after)),
            None => Err(Compacted { oldest: self.now.version }),
        }
    }

    /// Applies a recorded change, and returns whether its type is served.
    pub(super) fn apply(&self, change: &lines::Change) -> bool {
        let ApiResource { group, version, resource, .. } = &*change.resource;
        let position = self.position(group, version, resource);
        let Some((position, kind, log)) = position.and_then(|at| Some((at, self.kind(at)?, self.log(at)?)))
        else {
            return false;
        };
        let stored_one = |object: &Arc<_>| stored(&kind, vec![Arc::clone(object)], Rows::Computed).pop();
        let Some(new) = stored_one(&change.object) else { return false };
        let old = change.old.as_ref().and_then(stored_one);
        let deleted = change.kind == lines::ChangeKind::Deleted;
        log.append(Change { version: new.version, kind: position, old, new, deleted });
        true
    }

    /// Replaces a document by a later version.
    pub(super) fn set_document(&self, path: &Arc<str>, body: &Bytes) {
        let mut documents = self.documents.write().unwrap_or_else(PoisonError::into_inner);
        documents.set(path, body, &self.kinds);
    }

    /// Returns the collections at a version before the moment.
    fn reading(&self, version: u64) -> Result<Arc<Reading>, ReadError> {
        let lock = || self.earlier.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(reading) = lock().as_ref().filter(|reading| reading.version == version) {
            return Ok(Arc::clone(reading));
        }
        let read = || {
            let state = self.recording.state(Moment::Version(version))?;
            let resources = state.resources()?;
            Ok((state, resources))
        };
        let (state, resources) = read().map_err(|error: RecordingError| match error {
            RecordingError::BeforeBeginning { .. } => Compacted { oldest: self.now.version }.into(),
            error => ReadError::Unreadable(Unreadable(error.to_string())),
        })?;
        let reading = Arc::new(Reading::new(state, resources, version, &self.kinds, Rows::Recorded));
        *lock() = Some(Arc::clone(&reading));
        Ok(reading)
    }

    /// Returns the objects of a collection. The definition of their kind is that of the moment, even for earlier
    /// versions.
    fn items(
        &self,
        reading: &Reading,
        position: usize,
        range: &CollectionRange<'_>,
    ) -> Result<Items, Unreadable> {
        let (Some(collection), Some(kind)) = (reading.collections.get(position), self.kind(position)) else {
            return Ok(Items::from(Vec::new()));
        };
        collection.items(&reading.state, &kind, range.namespace, range.data)
    }
}

/// Returns the part of a collection that is in a range.
fn part(items: &Items, range: &CollectionRange<'_>, version: u64) -> Snapshot {
    let (mut start, mut end) = (0, items.len());
    if let Some(namespace) = range.namespace {
        start = items.partition_point(|item| *item.namespace < *namespace);
        end = items.partition_point(|item| *item.namespace <= *namespace);
    }
    if let Some((namespace, name)) = range.after {
        let after = (&**namespace, &**name);
        start = items.partition_point(|item| (&*item.namespace, &*item.name) <= after).clamp(start, end);
    }
    let found = &items[start..start.saturating_add(range.limit).min(end)];
    Snapshot { version, items: found.to_vec(), more: end - start - found.len() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::server::source::{ObjectData, object_key};

    proptest! {
        #[test]
        fn part_has_the_objects_that_the_range_contains(
            names in prop::collection::btree_set(("[a-c\\-]{0,2}", "[a-c]{1,2}"), 0..30),
            namespace in prop::option::of("[a-c\\-]{0,2}"),
            after in prop::option::of(("[a-c\\-]{0,2}", "[a-c]{1,2}")),
            limit in prop_oneof![0..40usize, Just(usize::MAX)],
        ) {
            let item = |(namespace, name): &(String, String)| {
                let names = [namespace.as_str().into(), name.as_str().into(), Box::default()];
                Arc::new(StoredObject::of_text(names, "", 1, Vec::new(), 0))
            };
            let items: Items = names.iter().map(item).collect();
            let after = after.map(|(namespace, name)| object_key(&namespace, &name));
            let range = CollectionRange {
                kind: 0,
                namespace: namespace.as_deref(),
                after: after.as_ref(),
                limit,
                data: ObjectData::Rows,
            };
            let expected: Vec<_> = items.iter().filter(|item| range.contains(item)).collect();
            let Snapshot { items: found, more, .. } = part(&items, &range, 1);
            prop_assert_eq!(found.len() + more, expected.len());
            prop_assert!(found.len() == limit.min(expected.len()));
            prop_assert!(found.iter().eq(expected.into_iter().take(limit)));
        }
    }
}
