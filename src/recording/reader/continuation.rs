//! The state from which a writer continues a recording.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use bytes::Bytes;

use super::bases::last_states;
use super::catalog::Catalog;
use super::resources::sorted_resources;
use super::state::State;
use super::state_files::{Limit, StateFiles};
use crate::object::{ApiResource, Origin};
use crate::recording::entry::Item;
use crate::recording::error::RecordingError;
use crate::recording::files::FileError;
use crate::recording::last_state::LastState;
use crate::recording::position::Position;

/// The parts of an entry that affect the positions of watches.
pub(in crate::recording) enum Step {
    Item(Item),
    /// A change of the object with this namespace and name.
    Change {
        resource: Arc<ApiResource>,
        namespace: String,
        name: String,
        origin: Origin,
        version: u64,
    },
}

/// The states of objects by key.
type TrackedObjects = HashMap<Arc<str>, LastState>;

/// The end of a recording.
#[derive(Default)]
pub(in crate::recording) struct Continuation {
    pub(in crate::recording) states: Vec<(Arc<ApiResource>, TrackedObjects)>,
    pub(in crate::recording) documents: BTreeMap<Arc<str>, Bytes>,
    /// The positions of the last keyframe, and the entries after it.
    pub(in crate::recording) positions: Vec<Position>,
    /// The resources with objects in the last keyframe.
    pub(in crate::recording) complete: Vec<Arc<ApiResource>>,
    pub(in crate::recording) steps: Vec<Step>,
    pub(in crate::recording) max_version: u64,
}

impl State {
    /// Returns the positions of watches in the last keyframe, and the entries after it.
    pub(in crate::recording) fn steps(&self) -> Result<(Vec<Position>, Vec<Step>), RecordingError> {
        let (catalog, files) = (self.catalog(), self.files());
        let read = || {
            let of_keyframe = files.keyframe.as_ref().map(|keyframe| keyframe.items(false)).transpose()?;
            Ok((of_keyframe.unwrap_or_default().0, catalog.steps(files)?))
        };
        let steps: Result<_, FileError> = read();
        steps.map_err(|error| catalog.error(error))
    }
}

impl Catalog {
    /// Returns the number of the next entry, and the time of the last one in Unix milliseconds.
    pub(in crate::recording) fn next_entry(&self) -> Result<(u64, Option<i64>), RecordingError> {
        let time = self.end_time().map(jiff::Timestamp::as_millisecond);
        match self.end().map_err(|error| self.error(error)) {
            Ok(end) => Ok((end, time)),
            // The last file has at most as many entries as bytes.
            Err(RecordingError::Damaged(damage)) => {
                let first = self.segments.last().map_or(0, |segment| segment.first());
                let length = damage.file.metadata().map_or(0, |file| file.len());
                Ok((first + length.max(1), time))
            }
            Err(error) => Err(error),
        }
    }

    pub(in crate::recording) fn context(&self) -> &Arc<str> {
        &self.context
    }

    /// Returns whether the state at the end is incomplete.
    pub(in crate::recording) fn is_end_lost(&self) -> bool {
        let last = self.keyframes.last();
        self.losses.last().is_some_and(|loss| last.is_none_or(|keyframe| keyframe < loss))
    }

    /// Reads the states at the end: all, or those since a state was lost.
    pub(in crate::recording) fn continuation(self: &Arc<Self>) -> Result<Continuation, RecordingError> {
        let failed = |error| self.error(error);
        let files = self.files_before(self.end().map_err(failed)?, self.end_time()).map_err(failed)?;
        let state = State::new(Arc::clone(self), files);
        let documents = state.documents()?;
        let max_version = state.version();
        let (files, resources) = (state.files(), state.resources()?);
        let mut continuation = Continuation { documents, max_version, ..Continuation::default() };
        let read = || {
            for resource in resources {
                let objects = last_states(files, &resource, |_| true, true)?;
                continuation.states.push((resource, objects));
            }
            if let Some(keyframe) = &files.keyframe {
                continuation.positions = keyframe.items(false)?.0;
                let with_objects = keyframe.footer().types.iter().filter(|of_type| of_type.objects > 0);
                let resources = &keyframe.footer().tables.resources;
                continuation.complete =
                    with_objects.filter_map(|of_type| resources.get(of_type.resource).cloned()).collect();
            }
            continuation.steps = self.steps(files)?;
            Ok(())
        };
        let read: Result<_, FileError> = read();
        read.map_err(|error| self.error(error))?;
        Ok(continuation)
    }

    fn steps(&self, files: &StateFiles) -> Result<Vec<Step>, FileError> {
        let mut all = Vec::new();
        for segment in &files.segments {
            let timeline = segment.timeline()?;
            let first = segment.header().first;
            let is_in = |index: u32| match files.limit {
                Limit::Entries(limit) => first + u64::from(index) < limit,
                Limit::Version(version) => timeline.versions[index as usize] <= version,
            };
            let mut steps = Vec::new();
            for resource in sorted_resources(segment.tables().resources.iter()) {
                let Some(log) = segment.log(&resource)? else { continue };
                for object in 0..log.names.len() {
                    let (key, namespace_len) = log.names.get(object);
                    let (namespace, name) = key.split_at_checked(namespace_len.into()).unwrap_or(("", key));
                    let name = name.strip_prefix('/').filter(|_| namespace_len > 0).unwrap_or(name);
                    for entry in log.entries[log.range(object)].iter().filter(|entry| is_in(entry.index)) {
                        let step = Step::Change {
                            resource: Arc::clone(&resource),
                            namespace: namespace.to_owned(),
                            name: name.to_owned(),
                            origin: entry.flags.origin(),
                            version: timeline.versions[entry.index as usize],
                        };
                        steps.push((entry.index, step));
                    }
                }
            }
            let items = segment.items(&self.context, false)?.into_iter().filter(|(index, _)| is_in(*index));
            steps.extend(items.map(|(index, item)| (index, Step::Item(item))));
            steps.sort_by_key(|(index, _)| *index);
            all.extend(steps.into_iter().map(|(_, step)| step));
        }
        Ok(all)
    }
}
