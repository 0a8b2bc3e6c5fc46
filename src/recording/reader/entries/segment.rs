//! The entries of one segment in the order of time.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use super::log::{Keys, SelectedLog, States};
use crate::recording::entry::{Entry, EntryFilter, Item};
use crate::recording::files::FileError;
use crate::recording::flags::Flags;
use crate::recording::last_state::LastState;
use crate::recording::reader::bases::ChangeReader;
use crate::recording::reader::catalog::time_of;
use crate::recording::reader::parallel;
use crate::recording::reader::segment_file::Segment;

/// The number of entries that are decoded at a time: bodies are stored by object, and must be sorted by time.
const WINDOW: u32 = 4096;

/// The entries of one segment.
pub(super) struct SegmentEntries {
    segment: Arc<Segment>,
    context: Arc<str>,
    logs: Vec<SelectedLog>,
    items: VecDeque<(u32, Item)>,
    /// Whether objects get their rows.
    renders_rows: bool,
    /// The number in the segment of the first entry that was not decoded.
    next: u32,
    window: VecDeque<Entry>,
}

impl SegmentEntries {
    pub(super) fn open(
        segment: Arc<Segment>,
        context: &Arc<str>,
        filter: &EntryFilter,
    ) -> Result<Self, FileError> {
        let logs = SelectedLog::open(&segment, filter)?;
        let mut items = VecDeque::from(segment.items(context, true)?);
        items.retain(|(_, item)| match item {
            Item::Mark(mark) => filter.selects_resource(&mark.resource),
            Item::Bookmark { resource, .. } => filter.selects_resource(resource),
            _ => true,
        });
        let (context, window) = (Arc::clone(context), VecDeque::new());
        Ok(Self { segment, context, logs, items, renders_rows: true, next: 0, window })
    }

    /// Selects whether objects get their rows.
    pub(super) fn with_rows(self, renders_rows: bool) -> Self {
        Self { renders_rows, ..self }
    }

    pub(super) fn segment(&self) -> &Arc<Segment> {
        &self.segment
    }

    /// Collects the objects whose first change refers to a state that is not in `states` and that no earlier segment
    /// yields. `seen` has the objects of earlier segments.
    pub(super) fn collect_bases(&self, states: &States, seen: &mut Keys, missing: &mut Keys) {
        for SelectedLog { resource, log, objects } in &self.logs {
            let known = states.get(resource);
            let seen = seen.entry(Arc::clone(resource)).or_default();
            for object in objects {
                let (key, _) = log.log.names.get(*object);
                let first = log.log.entries.get(log.log.range(*object).start);
                let has_base = first.is_some_and(|entry| !entry.flags.has(Flags::WHOLE));
                let is_new = seen.insert(key.to_owned());
                if has_base && is_new && known.is_none_or(|known| !known.contains_key(key)) {
                    missing.entry(Arc::clone(resource)).or_default().insert(key.to_owned());
                }
            }
        }
    }

    /// Returns the next entry, given the states before it.
    pub(super) fn next(&mut self, states: &mut States) -> Option<Result<Entry, FileError>> {
        let count = u32::try_from(self.segment.header().count).unwrap_or(u32::MAX);
        while self.window.is_empty() && self.next < count {
            let end = self.next.saturating_add(WINDOW).min(count);
            if let Err(error) = self.decode_until(end, states) {
                return Some(Err(error));
            }
            self.next = end;
        }
        self.window.pop_front().map(Ok)
    }

    fn decode_until(&mut self, end: u32, states: &mut States) -> Result<(), FileError> {
        let logs: Vec<_> = self.logs.iter().map(|log| (log, take_states(states, log))).collect();
        let mut entries = Vec::new();
        let decoded = parallel::map(logs, |(selected, states)| self.decode_log(selected, states, end));
        for (selected, decoded) in self.logs.iter().zip(decoded) {
            let (of_type, after) = decoded?;
            entries.extend(of_type);
            states.insert(Arc::clone(&selected.resource), after);
        }
        let first = self.segment.header().first;
        let timeline = self.segment.timeline()?;
        while let Some((index, item)) = self.items.pop_front_if(|(index, _)| *index < end) {
            let received = time_of(timeline.received[index as usize]);
            entries.push(Entry { number: first + u64::from(index), received, item });
        }
        entries.sort_unstable_by_key(|entry| entry.number);
        self.window = entries.into();
        Ok(())
    }

    /// Decodes the changes of a type up to an entry, and returns them with the states after them.
    fn decode_log(
        &self,
        selected: &SelectedLog,
        mut states: HashMap<Arc<str>, LastState>,
        end: u32,
    ) -> Result<Decoded, FileError> {
        let SelectedLog { resource, log: segment_log, objects } = selected;
        let log = &segment_log.log;
        let reader = ChangeReader::new(&self.context, &self.segment, resource, segment_log);
        let mut reader = reader.with_rows(self.renders_rows);
        let mut entries = Vec::new();
        for object in objects {
            let range = log.range(*object);
            let of_object = &log.entries[range.clone()];
            let from = range.start + of_object.partition_point(|entry| entry.index < self.next);
            let to = range.start + of_object.partition_point(|entry| entry.index < end);
            if from == to {
                continue;
            }
            let (key, _) = log.names.get(*object);
            let known = states.remove_entry(key);
            let (key, mut state) =
                known.map_or_else(|| (key.into(), None), |(key, state)| (key, Some(state)));
            for (number, _) in log.numbered_in(from..to) {
                entries.push(reader.read(*object, number, &mut state)?);
            }
            states.extend(state.map(|state| (key, state)));
        }
        Ok((entries, states))
    }
}

/// The entries of a type, and the states of its objects after them.
type Decoded = (Vec<Entry>, HashMap<Arc<str>, LastState>);

fn take_states(states: &mut States, selected: &SelectedLog) -> HashMap<Arc<str>, LastState> {
    states.remove(&selected.resource).unwrap_or_default()
}
