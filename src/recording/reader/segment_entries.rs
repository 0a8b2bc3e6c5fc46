//! The entries of one segment in the order of time.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use super::bases::ChangeReader;
use super::catalog::time_of;
use super::chains::SegmentLog;
use super::segment_file::Segment;
use crate::object::ApiResource;
use crate::recording::entry::{Entry, EntryFilter, Item};
use crate::recording::files::FileError;
use crate::recording::flags::Flags;
use crate::recording::last_state::LastState;

/// The number of entries that are decoded at a time: bodies are stored by object, and must be sorted by time.
const WINDOW: u32 = 4096;

/// The states of the objects that were read so far, by resource.
pub(super) type States = HashMap<Arc<ApiResource>, HashMap<Arc<str>, LastState>>;

/// The keys of objects whose states are needed, by resource.
pub(super) type Missing = HashMap<Arc<ApiResource>, HashSet<String>>;

/// The selected changes of one type.
pub(super) struct SelectedLog {
    resource: Arc<ApiResource>,
    log: SegmentLog,
    /// The numbers of the selected objects.
    objects: Vec<usize>,
}

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
        let mut logs = Vec::new();
        for resource in &segment.tables().resources {
            if !filter.selects_resource(resource) {
                continue;
            }
            let Some(log) = segment.log(resource)? else { continue };
            let is_selected = |object: &usize| {
                let (key, namespace_len) = log.names.get(*object);
                filter.selects_namespace(key.get(..namespace_len.into()).unwrap_or_default())
            };
            let objects = (0..log.names.len()).filter(is_selected).collect();
            let log = SegmentLog { log, timeline: segment.timeline()? };
            logs.push(SelectedLog { resource: Arc::clone(resource), log, objects });
        }
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

    /// Collects the objects whose first change refers to a state that is neither in `states` nor one after an
    /// earlier segment. `seen` has the objects of earlier segments.
    pub(super) fn collect_bases(
        &self,
        states: &States,
        seen: &mut HashSet<(Arc<ApiResource>, String)>,
        missing: &mut Missing,
    ) {
        for SelectedLog { resource, log, objects } in &self.logs {
            let known = states.get(resource);
            for object in objects {
                let (key, _) = log.log.names.get(*object);
                let first = log.log.entries.get(log.log.range(*object).start);
                let has_base = first.is_some_and(|entry| !entry.flags.has(Flags::WHOLE));
                let is_new = seen.insert((Arc::clone(resource), key.to_owned()));
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
        let take = |selected| Work { selected, states: take_states(states, selected), entries: Vec::new() };
        let mut entries = Vec::new();
        for work in self.decode_logs(self.logs.iter().map(take).collect(), end)? {
            states.insert(Arc::clone(&work.selected.resource), work.states);
            entries.extend(work.entries);
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

    /// Decodes the changes of all types up to an entry, on two threads.
    fn decode_logs<'a>(&'a self, logs: Vec<Work<'a>>, end: u32) -> Result<Vec<Work<'a>>, FileError> {
        // A std mutex, held while a type is taken: the types are independent of each other.
        let waiting = Mutex::new(logs);
        let run = || -> Result<Vec<Work<'a>>, FileError> {
            let mut done = Vec::new();
            loop {
                let next = waiting.lock().unwrap_or_else(PoisonError::into_inner).pop();
                let Some(mut work) = next else { return Ok(done) };
                self.decode_log(&mut work, end)?;
                done.push(work);
            }
        };
        // A scoped std thread: decoding only computes. It ends with this call.
        thread::scope(|scope| {
            let other = scope.spawn(run);
            let mut done = run()?;
            done.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?);
            Ok(done)
        })
    }

    fn decode_log(&self, work: &mut Work<'_>, end: u32) -> Result<(), FileError> {
        let SelectedLog { resource, log: segment_log, objects } = work.selected;
        let log = &segment_log.log;
        let reader = ChangeReader::new(&self.context, &self.segment, resource, segment_log);
        let mut reader = reader.with_rows(self.renders_rows);
        for object in objects {
            let range = log.range(*object);
            let of_object = &log.entries[range.clone()];
            let from = range.start + of_object.partition_point(|entry| entry.index < self.next);
            let to = range.start + of_object.partition_point(|entry| entry.index < end);
            if from == to {
                continue;
            }
            let (key, _) = log.names.get(*object);
            let known = work.states.remove_entry(key);
            let (key, mut state) =
                known.map_or_else(|| (key.into(), None), |(key, state)| (key, Some(state)));
            for (number, _) in log.numbered_in(from..to) {
                work.entries.push(reader.read(*object, number, &mut state)?);
            }
            work.states.extend(state.map(|state| (key, state)));
        }
        Ok(())
    }
}

/// The changes of one type that are decoded together.
struct Work<'a> {
    selected: &'a SelectedLog,
    /// The states of the objects of the type.
    states: HashMap<Arc<str>, LastState>,
    entries: Vec<Entry>,
}

fn take_states(states: &mut States, selected: &SelectedLog) -> HashMap<Arc<str>, LastState> {
    states.remove(&selected.resource).unwrap_or_default()
}
