//! The state from which a writer continues a recording.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;

use super::bases::each_state;
use super::catalog::Catalog;
use super::resources::sorted_resources;
use super::segment_file::Segment;
use super::state::State;
use super::state_files::{Limit, StateFiles};
use crate::lines::ChangeKind;
use crate::object::{ApiResource, Origin};
use crate::recording::entry::Item;
use crate::recording::error::RecordingError;
use crate::recording::files::FileError;
use crate::recording::flags::Flags;
use crate::recording::last_state::LastState;
use crate::recording::names::split_key;
use crate::recording::position::Position;
use crate::recording::segment::Footer;

/// The parts of an entry that affect the positions of watches.
pub(in crate::recording) enum Step {
    Item(Item),
    /// A change of the object with this namespace and name.
    Change {
        resource: Arc<ApiResource>,
        namespace: String,
        name: String,
        kind: ChangeKind,
        origin: Origin,
        version: u64,
    },
}

/// The end of a recording, a part at a time: a large recording in memory at once would take many times the memory of a
/// recorder.
pub(in crate::recording) enum Continued {
    /// The state of an object of a type.
    State(Arc<ApiResource>, LastState),
    /// A position of the last keyframe.
    Position(Position),
    /// A type with objects in the last keyframe.
    Complete(Arc<ApiResource>),
    /// An entry after it.
    Step(Step),
    /// The latest document of each path, and the highest version.
    End { documents: BTreeMap<Arc<str>, Bytes>, max_version: u64 },
}

impl State {
    /// Returns the positions of watches in the last keyframe, and the entries after it.
    pub(in crate::recording) fn steps(&self) -> Result<(Vec<Position>, Vec<Step>), RecordingError> {
        let (catalog, files) = (self.catalog(), self.files());
        let read = || {
            let of_keyframe = files.keyframe.as_ref().map(|keyframe| keyframe.items(false)).transpose()?;
            let mut steps = Vec::new();
            catalog.steps(files, &mut |step| steps.push(step))?;
            Ok((of_keyframe.unwrap_or_default().0, steps))
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

    /// Reads the states at the end: all, or those since a state was lost. After an error, the parts that were received are not
    /// complete.
    pub(in crate::recording) fn continuation(
        self: &Arc<Self>,
        receive: &mut dyn FnMut(Continued),
    ) -> Result<(), RecordingError> {
        let failed = |error| self.error(error);
        let files = self.files_before(self.end().map_err(failed)?, self.end_time()).map_err(failed)?;
        // The memory that more threads would need is not returned to the system.
        let state = State::new(Arc::clone(self), StateFiles { threads: 1, ..files });
        receive(Continued::End { documents: state.documents()?, max_version: state.version() });
        let (files, mut resources) = (state.files(), state.resources()?);
        // The types that need most memory to be read come first, when few states are in memory.
        resources.sort_by_cached_key(|resource| Reverse(entries_of(files, resource)));
        let read = || {
            for resource in resources {
                each_state(files, &resource, &mut |state| {
                    receive(Continued::State(Arc::clone(&resource), state));
                })?;
            }
            if let Some(keyframe) = &files.keyframe {
                for position in keyframe.items(false)?.0 {
                    receive(Continued::Position(position));
                }
                let complete = keyframe.types_with_objects();
                complete.for_each(|resource| receive(Continued::Complete(Arc::clone(resource))));
            }
            self.steps(files, &mut |step| receive(Continued::Step(step)))
        };
        let read: Result<_, FileError> = read();
        read.map_err(|error| self.error(error))
    }

    /// Reads the entries of a state, a segment at a time.
    fn steps(&self, files: &StateFiles, receive: &mut dyn FnMut(Step)) -> Result<(), FileError> {
        files.segments.iter().try_for_each(|segment| self.steps_of(segment, files.limit, receive))
    }

    fn steps_of(
        &self,
        segment: &Segment,
        limit: Limit,
        receive: &mut dyn FnMut(Step),
    ) -> Result<(), FileError> {
        let timeline = segment.timeline()?;
        let first = segment.header().first;
        let is_in = |index: u32| match limit {
            Limit::Entries(limit) => first + u64::from(index) < limit,
            Limit::Version(version) => timeline.versions[index as usize] <= version,
        };
        let mut logs = Vec::new();
        for resource in sorted_resources(segment.tables().resources.iter()) {
            logs.extend(segment.log(&resource)?.map(|log| (resource, log)));
        }
        // There are many: the names are copied one at a time, when the change is received.
        let mut changes = Vec::new();
        for (at, (_, log)) in logs.iter().enumerate() {
            for object in 0..log.names.len() {
                let entries = log.entries[log.range(object)].iter().filter(|entry| is_in(entry.index));
                changes.extend(entries.map(|entry| (entry.index, entry.flags, at, object)));
            }
        }
        changes.sort_unstable_by_key(|(index, ..)| *index);
        let items = segment.items(&self.context, false)?;
        let mut items = items.into_iter().filter(|(index, _)| is_in(*index)).peekable();
        for (index, flags, at, object) in changes {
            while let Some((_, item)) = items.next_if(|(earlier, _)| *earlier < index) {
                receive(Step::Item(item));
            }
            let (resource, log) = &logs[at];
            receive(change_step(resource, log.names.get(object), flags, timeline.versions[index as usize]));
        }
        for (_, item) in items {
            receive(Step::Item(item));
        }
        Ok(())
    }
}

/// Returns the number of objects and changes of a type in sealed files.
fn entries_of(files: &StateFiles, resource: &ApiResource) -> u64 {
    let sealed = files.segments.iter().filter_map(|segment| segment.sealed_footer());
    let footers = sealed.chain(files.keyframe.as_ref().map(|keyframe| keyframe.footer()));
    let of_footer = |footer: &Footer| {
        let number = footer.tables.resource(resource)?;
        footer
            .types
            .iter()
            .find(|of_type| of_type.resource == number)
            .map(|of_type| u64::from(of_type.entries))
    };
    footers.filter_map(of_footer).sum()
}

/// Returns the step of a change of the object with this key and length of its namespace.
fn change_step(
    resource: &Arc<ApiResource>,
    (key, namespace_len): (&str, u16),
    flags: Flags,
    version: u64,
) -> Step {
    let (namespace, name) = split_key(key, namespace_len);
    let (namespace, name) = (namespace.to_owned(), name.to_owned());
    let (resource, kind, origin) = (Arc::clone(resource), flags.kind(), flags.origin());
    Step::Change { resource, namespace, name, kind, origin, version }
}
