//! The state at one moment.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use jiff::Timestamp;

use super::catalog::Catalog;
use super::chains::{Chain, Chains, identity};
use super::order::{WithPrefix, sorted};
use super::resources::sorted_resources;
use super::segment_file::Segment;
use super::state_files::{EntryRef, Limit, StateFiles};
use crate::lines::{Mark, MarkKind};
use crate::object::{ApiResource, Ingest, Object};
use crate::recording::entry::{Item, Moment};
use crate::recording::error::RecordingError;
use crate::recording::files::FileError;
use crate::recording::last_state::with_row;
use crate::recording::payload::ingest;
use crate::recording::type_log::Timeline;

/// The state at one moment. Objects are read when they are requested, one resource at a time.
pub struct State {
    catalog: Arc<Catalog>,
    files: StateFiles,
}

impl State {
    pub(super) fn new(catalog: Arc<Catalog>, files: StateFiles) -> Self {
        Self { catalog, files }
    }

    /// Returns the state at a moment, if the recording has it.
    pub(super) fn at(catalog: &Arc<Catalog>, moment: Moment) -> Result<Self, RecordingError> {
        let state = Self::new(Arc::clone(catalog), catalog.files_at(moment)?);
        // Before the first list, some of its objects have their last versions, but not all are known.
        let has_list = state.files.keyframe.is_some() || state.files.late_lists.has_complete_list();
        if !has_list && state.resources()?.is_empty() {
            return Err(catalog.before_first_list());
        }
        Ok(state)
    }

    /// Returns the time of the moment; for the end and times after it, that of the last entry. `None` if nothing is
    /// recorded.
    #[must_use]
    pub fn time(&self) -> Option<Timestamp> {
        self.files.time
    }

    /// Returns the highest resourceVersion up to the moment; 0 if there is none.
    #[must_use]
    pub fn version(&self) -> u64 {
        let mut highest = self.files.keyframe.as_ref().map_or(0, |keyframe| keyframe.header().max_version);
        for segment in &self.files.segments {
            let header = segment.header();
            let is_whole = match self.files.limit {
                Limit::Entries(limit) => header.first + header.count <= limit,
                Limit::Version(version) => header.max_version <= version,
            };
            // The times of a whole segment are not read.
            let timeline = if is_whole { None } else { segment.timeline().ok() };
            let of_segment = timeline.map_or(header.max_version, |timeline| {
                let is_in = |(index, version): (u64, u64)| match self.files.limit {
                    Limit::Entries(limit) => header.first + index < limit,
                    Limit::Version(limit) => version <= limit,
                };
                let versions = (0u64..).zip(timeline.versions.iter().copied());
                let included = versions.filter(|entry| is_in(*entry)).map(|(_, version)| version);
                included.max().unwrap_or_default()
            });
            highest = highest.max(of_segment);
        }
        highest
    }

    /// Returns the objects of a resource, in one namespace or in all, sorted by namespace and name. They carry
    /// their rows, if those are recorded, with ages as of the moment.
    ///
    /// # Errors
    /// [`RecordingError`] when the files can't be read or are damaged.
    pub fn objects(
        &self,
        resource: &ApiResource,
        namespace: Option<&str>,
    ) -> Result<Vec<Arc<Object>>, RecordingError> {
        self.objects_with(resource, namespace, true, &ingest(resource.type_meta()))
    }

    /// Returns the objects of [`State::objects`], with or without their rows, with these properties.
    ///
    /// # Errors
    /// The same.
    pub(in crate::recording) fn objects_with(
        &self,
        resource: &ApiResource,
        namespace: Option<&str>,
        rows: bool,
        ingest: &Ingest,
    ) -> Result<Vec<Arc<Object>>, RecordingError> {
        let chains =
            Chains::collect(&self.files, resource, |key, length| in_namespace(key, length, namespace));
        let read = chains.and_then(|chains| self.read(resource, &chains, rows, ingest));
        read.map_err(|error| self.catalog.error(error))
    }

    /// Returns the objects of chains, sorted by namespace and name, with or without their rows.
    pub(super) fn read(
        &self,
        resource: &ApiResource,
        chains: &Chains,
        with_rows: bool,
        ingest: &Ingest,
    ) -> Result<Vec<Arc<Object>>, FileError> {
        let rows = if with_rows { chains.templates(&self.files, resource)? } else { Vec::new() };
        let now = self.now();
        let objects = chains.decode(&self.files, resource, &|number, own, text| {
            let object = identity(&chains.objects[number], own).object(text, ingest)?;
            let row = rows.get(number).and_then(Option::as_ref);
            Some(WithPrefix::new(Arc::new(with_row(object, row, now)?)))
        })?;
        Ok(sorted(objects))
    }

    /// Returns the objects of a resource with only their names, versions and rows, without reading bodies. Returns
    /// `None` if an object has no recorded row, or one that needs its body, as events do: [`State::objects`]
    /// returns these.
    ///
    /// # Errors
    /// [`RecordingError`] when the files can't be read or are damaged.
    pub fn rows(
        &self,
        resource: &ApiResource,
        namespace: Option<&str>,
    ) -> Result<Option<Vec<Arc<Object>>>, RecordingError> {
        let read = || match self.chains_of_rows(resource, namespace)? {
            Some(chains) => chains.objects_of_rows(&self.files, resource, self.now()),
            None => Ok(None),
        };
        let rows: Result<_, FileError> = read();
        rows.map_err(|error| self.catalog.error(error))
    }

    /// Returns the chains of objects without their steps, unless an object has no row or its version is in its body.
    pub(super) fn chains_of_rows(
        &self,
        resource: &ApiResource,
        namespace: Option<&str>,
    ) -> Result<Option<Chains>, FileError> {
        let wanted = |key: &str, length| in_namespace(key, length, namespace);
        let chains = Chains::collect_latest(&self.files, resource, wanted)?;
        let has_row = |chain: &Chain| chain.row.is_some() && !chain.has_own_version;
        Ok(chains.objects.iter().all(has_row).then_some(chains))
    }

    /// Returns one object.
    ///
    /// # Errors
    /// [`RecordingError`] when the files can't be read or are damaged.
    pub fn object(
        &self,
        resource: &ApiResource,
        namespace: &str,
        name: &str,
    ) -> Result<Option<Arc<Object>>, RecordingError> {
        let wanted = Object::named(resource.type_meta(), namespace, name);
        let chains = Chains::of_object(&self.files, resource, wanted.key());
        let read =
            chains.and_then(|chains| self.read(resource, &chains, true, &ingest(resource.type_meta())));
        Ok(read.map_err(|error| self.catalog.error(error))?.pop())
    }

    /// Returns those of the objects with these namespaces and names that exist, without their rows. One call is much faster
    /// than one of [`State::object`] for each.
    ///
    /// # Errors
    /// [`RecordingError`] when the files can't be read or are damaged.
    pub fn objects_by_name(
        &self,
        resource: &ApiResource,
        names: &BTreeSet<(String, String)>,
    ) -> Result<Vec<Arc<Object>>, RecordingError> {
        let type_meta = resource.type_meta();
        let key_of = |(namespace, name): &(String, String)| {
            Object::named(Arc::clone(&type_meta), namespace, name).key().to_string()
        };
        let keys: HashSet<String> = names.iter().map(key_of).collect();
        let chains = Chains::collect(&self.files, resource, |key, _| keys.contains(key));
        let read = chains.and_then(|chains| self.read(resource, &chains, false, &ingest(type_meta)));
        read.map_err(|error| self.catalog.error(error))
    }

    /// Returns the latest document of each path.
    ///
    /// # Errors
    /// [`RecordingError`] when the files can't be read or are damaged.
    pub fn documents(&self) -> Result<BTreeMap<Arc<str>, Bytes>, RecordingError> {
        self.read_documents().map_err(|error| self.catalog.error(error))
    }

    pub(super) fn read_documents(&self) -> Result<BTreeMap<Arc<str>, Bytes>, FileError> {
        let mut documents = match &self.files.keyframe {
            Some(keyframe) => keyframe.items(true)?.1,
            None => BTreeMap::new(),
        };
        for segment in self.files.segments.iter().filter(|segment| segment.has_documents()) {
            let header = segment.header();
            let timeline = segment.timeline()?;
            for (index, item) in segment.items(&self.catalog.context, true)? {
                let is_in = match self.files.limit {
                    Limit::Entries(limit) => header.first + u64::from(index) < limit,
                    Limit::Version(version) => timeline.versions[index as usize] <= version,
                };
                if let Item::Document { path, body } = item
                    && is_in
                {
                    documents.insert(path, body);
                }
            }
        }
        Ok(documents)
    }

    /// Returns the resources that had been recorded at the moment, sorted by group and name.
    ///
    /// # Errors
    /// [`RecordingError`] when the files can't be read or are damaged.
    pub fn resources(&self) -> Result<Vec<Arc<ApiResource>>, RecordingError> {
        self.read_resources().map_err(|error| self.catalog.error(error))
    }

    pub(super) fn read_resources(&self) -> Result<Vec<Arc<ApiResource>>, FileError> {
        let mut all = Vec::new();
        if let Some(keyframe) = &self.files.keyframe {
            all.extend(keyframe.footer().tables.resources.iter().cloned());
        }
        for segment in &self.files.segments {
            let found = self.resources_of(segment, &all)?;
            all.extend(found);
        }
        Ok(sorted_resources(all.iter()))
    }

    /// Returns the resources of the entries of a segment up to the moment that are not known yet.
    fn resources_of(
        &self,
        segment: &Segment,
        known: &[Arc<ApiResource>],
    ) -> Result<Vec<Arc<ApiResource>>, FileError> {
        let header = segment.header();
        let is_new = |resource: &&Arc<ApiResource>| !known.contains(resource);
        let new: Vec<_> = segment.tables().resources.iter().filter(is_new).collect();
        let is_whole = match self.files.limit {
            Limit::Entries(limit) => header.first + header.count <= limit,
            Limit::Version(limit) => header.max_version <= limit && self.files.late_lists.is_empty(),
        };
        if is_whole || new.is_empty() {
            return Ok(new.into_iter().cloned().collect());
        }
        let timeline = segment.timeline()?;
        let is_in = |index: u32| match self.files.limit {
            Limit::Entries(limit) => header.first + u64::from(index) < limit,
            Limit::Version(limit) => timeline.versions[index as usize] <= limit,
        };
        // The version of an error is that of the entry before it, which may be of another type. A bookmark may have a lower version
        // than the mark before it that the list is complete.
        let is_at_version = matches!(self.files.limit, Limit::Version(_));
        let mut found = Vec::new();
        for (index, item) in segment.items(&self.catalog.context, false)? {
            match item {
                Item::Mark(Mark { kind: MarkKind::Error(_), .. }) | Item::Bookmark { .. }
                    if is_at_version => {}
                Item::Mark(Mark { resource, .. }) | Item::Bookmark { resource, .. } if is_in(index) => {
                    found.push(resource);
                }
                _ => {}
            }
        }
        for resource in new {
            if !found.contains(resource) && self.has_change_of(segment, &timeline, resource)? {
                found.push(Arc::clone(resource));
            }
        }
        Ok(found)
    }

    /// Returns whether the state contains a change of a resource in a segment.
    fn has_change_of(
        &self,
        segment: &Segment,
        timeline: &Timeline,
        resource: &ApiResource,
    ) -> Result<bool, FileError> {
        let Some(log) = segment.log(resource)? else { return Ok(false) };
        let first = segment.header().first;
        Ok((0..log.names.len()).any(|object| {
            let (key, namespace_len) = log.names.get(object);
            log.entries[log.range(object)].iter().any(|entry| {
                let number = first + u64::from(entry.index);
                let version = timeline.versions[entry.index as usize];
                let origin = entry.flags.origin();
                self.files.includes(&EntryRef { resource, key, namespace_len, number, version, origin })
            })
        }))
    }

    pub(super) fn catalog(&self) -> &Arc<Catalog> {
        &self.catalog
    }

    pub(super) fn files(&self) -> &StateFiles {
        &self.files
    }

    /// Returns the time that ages are relative to.
    pub(in crate::recording) fn now(&self) -> Timestamp {
        self.files.time.unwrap_or(Timestamp::UNIX_EPOCH)
    }
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("State")
            .field("time", &self.files.time)
            .field("limit", &self.files.limit)
            .finish_non_exhaustive()
    }
}

/// Returns whether an object with this key and length of its namespace is in a namespace; `None` is all.
pub(super) fn in_namespace(key: &str, namespace_len: u16, namespace: Option<&str>) -> bool {
    namespace.is_none_or(|namespace| key.get(..namespace_len.into()) == Some(namespace))
}
