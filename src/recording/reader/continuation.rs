//! What a writer needs to continue a recording.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use bytes::Bytes;

use super::bases::tracked;
use super::catalog::Catalog;
use super::cut::Cut;
use super::state::{State, sorted_resources};
use crate::object::{ApiResource, Origin};
use crate::recording::entry::{Item, Moment};
use crate::recording::error::RecordingError;
use crate::recording::files::{self, FileError, Kind};
use crate::recording::position::Position;
use crate::recording::tracked::Tracked;

/// An entry as far as the positions of watches depend on it.
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
type TrackedObjects = HashMap<Arc<str>, Tracked>;

/// The end of a recording.
#[derive(Default)]
pub(in crate::recording) struct Continuation {
    pub(in crate::recording) states: Vec<(Arc<ApiResource>, TrackedObjects)>,
    pub(in crate::recording) documents: BTreeMap<Arc<str>, Bytes>,
    /// The positions of the last keyframe, and the entries after it.
    pub(in crate::recording) positions: Vec<Position>,
    pub(in crate::recording) steps: Vec<Step>,
    pub(in crate::recording) max_version: u64,
}

impl Catalog {
    /// Returns the number of the next entry, and the time of the last one in Unix milliseconds.
    pub(in crate::recording) fn next_entry(&self) -> Result<(u64, Option<i64>), RecordingError> {
        let end = self.end().map_err(|error| self.error(error))?;
        Ok((end, self.end_time().map(jiff::Timestamp::as_millisecond)))
    }

    pub(in crate::recording) fn context(&self) -> &Arc<str> {
        &self.context
    }

    /// Returns the number of the first entry of the last keyframe's state, and the sizes of the keyframe and of the sealed
    /// segments after it.
    pub(in crate::recording) fn last_keyframe(&self) -> Option<(u64, i64, u64)> {
        let number = *self.keyframes.last()?;
        let time = self.keyframe_header(number).ok()?.first_time;
        let length =
            |kind, number| files::path_of(&self.dir, kind, number).metadata().map_or(0, |file| file.len());
        let after = self.segments.iter().filter(|segment| segment.first() >= number);
        let since = after.map(|segment| length(Kind::Segment, segment.first())).sum();
        Some((length(Kind::Keyframe, number), time, since))
    }

    /// Reads the state at the end.
    pub(in crate::recording) fn continuation(self: &Arc<Self>) -> Result<Continuation, RecordingError> {
        let state = State::new(Arc::clone(self), self.cut(Moment::End)?);
        let documents = state.documents()?;
        let max_version = state.version();
        let (cut, resources) = (state.cut(), state.resources()?);
        let mut continuation = Continuation { documents, max_version, ..Continuation::default() };
        let read = || {
            for resource in resources {
                let objects = tracked(cut, &resource, |_| true)?;
                continuation.states.push((resource, objects));
            }
            if let Some(keyframe) = &cut.keyframe {
                continuation.positions = keyframe.items(false)?.0;
            }
            continuation.steps = self.steps(cut)?;
            Ok(())
        };
        let read: Result<_, FileError> = read();
        read.map_err(|error| self.error(error))?;
        Ok(continuation)
    }

    fn steps(&self, cut: &Cut) -> Result<Vec<Step>, FileError> {
        let mut all = Vec::new();
        for segment in &cut.segments {
            let timeline = segment.timeline()?;
            let mut steps = Vec::new();
            for resource in sorted_resources(segment.tables().resources.iter()) {
                let Some(log) = segment.log(&resource)? else { continue };
                for object in 0..log.names.len() {
                    let (key, namespace_len) = log.names.get(object);
                    let (namespace, name) = key.split_at_checked(namespace_len.into()).unwrap_or(("", key));
                    let name = name.strip_prefix('/').filter(|_| namespace_len > 0).unwrap_or(name);
                    for entry in &log.entries[log.range(object)] {
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
            let items = segment.items(&self.context, false)?;
            steps.extend(items.into_iter().map(|(index, item)| (index, Step::Item(item))));
            steps.sort_by_key(|(index, _)| *index);
            all.extend(steps.into_iter().map(|(_, step)| step));
        }
        Ok(all)
    }
}
