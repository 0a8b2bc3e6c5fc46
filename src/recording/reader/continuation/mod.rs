//! The state from which a writer continues a recording.

mod journal_states;
mod parts;

use std::cmp::Reverse;
use std::sync::Arc;

use jiff::Timestamp;

pub(in crate::recording) use parts::{Continued, ContinuedEnd, Step};

use self::journal_states::apply_journal;
use self::parts::change_step;
use super::bases::each_state;
use super::catalog::{Catalog, time_of};
use super::resources::sorted_resources;
use super::segment_file::{Segment, SegmentFile};
use super::state::State;
use super::state_files::{Limit, StateFiles};
use crate::object::ApiResource;
use crate::recording::error::RecordingError;
use crate::recording::files::FileError;
use crate::recording::journal::JournalReader;
use crate::recording::position::Position;
use crate::recording::segment::Footer;

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
    /// Returns the number of the next entry, and the time of the last one in Unix milliseconds, given the journals, which are not
    /// decoded again.
    pub(in crate::recording) fn next_entry(
        &self,
        journals: &[JournalReader],
    ) -> Result<(u64, Option<i64>), RecordingError> {
        let last_time = |segment: &Arc<SegmentFile>| match &**segment {
            SegmentFile::Journal(file) => {
                let reader = journals.iter().find(|reader| reader.path() == file.path())?;
                Some(reader.journal()).filter(|journal| journal.entries > 0).map(|journal| journal.last_time)
            }
            _ => segment.header().ok().filter(|header| header.count > 0).map(|header| header.last_time),
        };
        let time = self.end_time_of(|segment| last_time(segment).map(time_of));
        let time = time.map(Timestamp::as_millisecond);
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

    /// Reads the states at the end: all, or those since a state was lost. `time` is that of the last entry, in Unix
    /// milliseconds. After an error, the parts that were received are not complete.
    ///
    /// The states are those before the last journals. The changes of these are applied to them, a part of a journal at a time: a
    /// decoded journal can take as much memory as all states.
    pub(in crate::recording) fn continuation(
        self: &Arc<Self>,
        time: Option<i64>,
        end: &mut dyn ContinuedEnd,
    ) -> Result<(), RecordingError> {
        let time = time.map(time_of);
        let mut read = || {
            let number = self.end()?;
            let journals = self.last_journals(number);
            let first = journals.first().map_or(number, |journal| journal.first());
            self.states_before(self.files_before(first, time)?, end)?;
            let mut next = first;
            for journal in journals {
                if journal.first() != next {
                    return Err(self.missing_segment(next));
                }
                let SegmentFile::Journal(file) = &**journal else {
                    return journal.open().map(drop);
                };
                next += journal.count()?;
                apply_journal(self, file.path(), time, end)?;
            }
            if next == number { Ok(()) } else { Err(self.missing_segment(next)) }
        };
        let read: Result<_, FileError> = read();
        read.map_err(|error| self.error(error))
    }

    /// Reads the states before the last journals.
    fn states_before(
        self: &Arc<Self>,
        files: StateFiles,
        end: &mut dyn ContinuedEnd,
    ) -> Result<(), FileError> {
        // The memory that more threads would need is not returned to the system.
        let state = State::new(Arc::clone(self), StateFiles { threads: 1, ..files });
        for (path, body) in state.read_documents()? {
            end.receive(Continued::Document(path, body));
        }
        end.receive(Continued::Version(state.version()));
        let files = state.files();
        if let Some(keyframe) = &files.keyframe {
            for position in keyframe.items(false)?.0 {
                end.receive(Continued::Position(position));
            }
            let complete = keyframe.types_with_objects();
            complete.for_each(|resource| end.receive(Continued::Complete(Arc::clone(resource))));
        }
        self.steps(files, &mut |step| end.receive(Continued::Step(step)))?;
        let mut resources = state.read_resources()?;
        // The types that need most memory to be read come first, when few states are in memory.
        resources.sort_by_cached_key(|resource| Reverse(entries_of(files, resource)));
        for resource in resources {
            each_state(files, &resource, &mut |state| {
                end.receive(Continued::State(Arc::clone(&resource), state));
            })?;
        }
        Ok(())
    }

    /// Returns the journals after the last sealed segment that lead to the state before an entry.
    fn last_journals(&self, number: u64) -> &[Arc<SegmentFile>] {
        let (_, from) = self.base(number);
        let is_other = |segment: &Arc<SegmentFile>| segment.is_sealed() || segment.first() < from;
        &self.segments[self.segments.iter().rposition(is_other).map_or(0, |last| last + 1)..]
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
