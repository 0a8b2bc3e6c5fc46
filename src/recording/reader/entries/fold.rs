//! The changes of each object, folded to a value.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use super::Entries;
use super::log::{Keys, SelectedLog, States};
use crate::lines::ChangeKind;
use crate::object::ApiResource;
use crate::recording::entry::Entry;
use crate::recording::error::RecordingError;
use crate::recording::files::FileError;
use crate::recording::flags::Flags;
use crate::recording::last_state::LastState;
use crate::recording::reader::bases::ChangeReader;
use crate::recording::reader::parallel;
use crate::recording::reader::segment_file::Segment;
use crate::recording::type_log::{LogEntry, TypeLog};

/// The number of segments whose tables are read together: the states before them are loaded at once.
const SEGMENTS: usize = 8;

/// The values of the objects that changed in a range of time.
#[derive(Debug)]
pub struct Folded<T> {
    /// The values, in no particular order.
    pub values: Vec<T>,
    /// The damaged parts, whose changes are missing.
    pub errors: Vec<RecordingError>,
}

/// The values by resource and key.
type Values<T> = HashMap<Arc<ApiResource>, HashMap<Arc<str>, T>>;

/// The functions and the range of a fold.
struct Fold<'a, T> {
    reads_deleted: &'a (dyn Fn(&ApiResource) -> bool + Sync),
    apply: &'a (dyn Fn(&mut T, Entry) + Sync),
    /// The numbers of the entries of the range.
    range: Range<u64>,
}

impl Entries {
    /// Applies `fold` to the changes of each object in order, with a value of the object's own, on several threads.
    ///
    /// Because the objects are independent of each other, this takes a fraction of the time of the iterator. Deleted objects
    /// of the resources for which `reads_deleted` returns false have only their names. Entries that are not changes are left
    /// out.
    pub fn fold_objects<T: Default + Send>(
        mut self,
        reads_deleted: &(dyn Fn(&ApiResource) -> bool + Sync),
        fold: &(dyn Fn(&mut T, Entry) + Sync),
    ) -> Folded<T> {
        let fold = Fold { reads_deleted, apply: fold, range: self.from..self.to };
        let mut values = Values::new();
        let mut errors = Vec::new();
        while self.next < self.to.min(self.catalog.end().unwrap_or(u64::MAX)) {
            match self.open_batch(&fold) {
                Ok(batch) => errors.extend(self.fold_batch(&batch, &fold, &mut values)),
                Err(error) => errors.push(self.failed(error)),
            }
        }
        let values = values.into_values().flat_map(HashMap::into_values).collect();
        Folded { values, errors }
    }

    /// Opens the next segments and loads the states before them.
    fn open_batch<T>(&mut self, fold: &Fold<'_, T>) -> Result<Vec<Part>, FileError> {
        let first = self.next;
        let mut batch = vec![Part::open(self.open_segment(first)?, self)?];
        let mut next = batch[0].end();
        while batch.len() < SEGMENTS && next < self.to {
            // The error is returned when that segment is the first one.
            let Ok(segment) = self.open_segment(next) else { break };
            let Ok(part) = Part::open(segment, self) else { break };
            next = part.end();
            batch.push(part);
        }
        // Backwards, because later changes determine which earlier ones are read.
        let mut bases = Keys::new();
        for part in batch.iter_mut().rev() {
            part.plan(fold, &mut bases);
            if self.catalog.losses.contains(&part.first()) {
                bases.clear();
            }
        }
        for (resource, keys) in &mut bases {
            if let Some(known) = self.states.get(resource) {
                keys.retain(|key| !known.contains_key(&**key));
            }
        }
        bases.retain(|_, keys| !keys.is_empty());
        self.renders_rows = false;
        self.load_states(first, bases)?;
        Ok(batch)
    }

    /// Folds the changes of segments, up to the first one that is damaged.
    fn fold_batch<T: Default + Send>(
        &mut self,
        batch: &[Part],
        fold: &Fold<'_, T>,
        values: &mut Values<T>,
    ) -> Option<RecordingError> {
        for part in batch {
            if self.catalog.losses.contains(&part.first()) {
                self.states.clear();
            }
            if let Err(error) = part.fold(&self.catalog.context, fold, &mut self.states, values) {
                return Some(self.skip_damage(part.first(), error));
            }
            self.next = part.end();
        }
        None
    }
}

/// A segment with the selected changes.
struct Part {
    segment: Arc<Segment>,
    logs: Vec<SelectedLog>,
    /// For each log and each of its selected objects.
    plans: Vec<Vec<Plan>>,
}

/// The changes of an object that are decoded: the numbers of their entries in the log.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Plan {
    entries: Range<usize>,
    /// Whether the first one refers to the state before the segment.
    has_base: bool,
}

impl Part {
    fn open(segment: Arc<Segment>, entries: &Entries) -> Result<Self, FileError> {
        let logs = SelectedLog::open(&segment, &entries.filter)?;
        Ok(Self { segment, logs, plans: Vec::new() })
    }

    fn first(&self) -> u64 {
        self.segment.header().first
    }

    fn end(&self) -> u64 {
        self.first() + self.segment.header().count
    }

    /// Selects the changes to decode. On entry, `bases` has the objects whose state after the segment is needed; on return,
    /// those whose state before the segment is needed.
    fn plan<T>(&mut self, fold: &Fold<'_, T>, bases: &mut Keys) {
        let first = self.first();
        self.plans = Vec::with_capacity(self.logs.len());
        for SelectedLog { resource, log, objects } in &self.logs {
            let bases = bases.entry(Arc::clone(resource)).or_default();
            let reads_deleted = (fold.reads_deleted)(resource);
            let mut plans = Vec::with_capacity(objects.len());
            for object in objects {
                let (key, _) = log.log.names.get(*object);
                let is_read = |entry: &LogEntry| {
                    fold.range.contains(&(first + u64::from(entry.index)))
                        && (reads_deleted || entry.flags.kind() != ChangeKind::Deleted)
                };
                let plan = Plan::of(&log.log, *object, is_read, bases.remove(key));
                if plan.has_base {
                    bases.insert(key.to_owned());
                }
                plans.push(plan);
            }
            self.plans.push(plans);
        }
    }

    fn fold<T: Default + Send>(
        &self,
        context: &Arc<str>,
        fold: &Fold<'_, T>,
        states: &mut States,
        values: &mut Values<T>,
    ) -> Result<(), FileError> {
        let mut tasks = Vec::new();
        for (selected, plans) in self.logs.iter().zip(&self.plans) {
            let states = states.entry(Arc::clone(&selected.resource)).or_default();
            let values = values.entry(Arc::clone(&selected.resource)).or_default();
            tasks.extend(Self::tasks(selected, plans, states, values));
        }
        let mut failure = None;
        for (resource, objects, error) in parallel::map(tasks, |task| self.run(context, fold, task)) {
            failure = failure.or(error);
            let (Some(states), Some(values)) = (states.get_mut(resource), values.get_mut(resource)) else {
                continue;
            };
            for Work { key, state, value, .. } in objects {
                values.extend(value.map(|value| (Arc::clone(&key), value)));
                states.extend(state.map(|state| (key, state)));
            }
        }
        failure.map_or(Ok(()), Err)
    }

    /// Divides the changes of a type where another block of texts begins.
    fn tasks<'a, T>(
        selected: &'a SelectedLog,
        plans: &'a [Plan],
        states: &mut HashMap<Arc<str>, LastState>,
        values: &mut HashMap<Arc<str>, T>,
    ) -> Vec<Task<'a, T>> {
        let log = &selected.log.log;
        let mut tasks: Vec<Task<'a, T>> = Vec::new();
        let mut current = Task { selected, objects: Vec::new() };
        let mut last_block = None;
        for (object, plan) in selected.objects.iter().zip(plans) {
            let block = log.entries.get(log.range(*object).start).map(|entry| entry.body.block);
            if block != last_block {
                tasks.push(std::mem::replace(&mut current, Task { selected, objects: Vec::new() }));
                last_block = block;
            }
            let (name, _) = log.names.get(*object);
            let (state, value) = (states.remove_entry(name), values.remove_entry(name));
            let known = state.as_ref().map(|(key, _)| key).or(value.as_ref().map(|(key, _)| key));
            let key = known.map_or_else(|| name.into(), Arc::clone);
            let (state, value) = (state.map(|(_, state)| state), value.map(|(_, value)| value));
            current.objects.push(Work { object: *object, plan, key, state, value });
        }
        tasks.push(current);
        tasks
    }

    /// Folds the changes of the objects of a task. Returns them with the first error.
    fn run<'a, T: Default>(
        &self,
        context: &Arc<str>,
        fold: &Fold<'_, T>,
        task: Task<'a, T>,
    ) -> (&'a Arc<ApiResource>, Vec<Work<'a, T>>, Option<FileError>) {
        let Task { selected, mut objects } = task;
        let SelectedLog { resource, log, .. } = selected;
        let mut reader = ChangeReader::new(context, &self.segment, resource, log).with_rows(false);
        let mut failure = None;
        for work in &mut objects {
            if let Err(error) = self.fold_object(&mut reader, fold, &log.log, work) {
                failure = failure.or(Some(error));
                work.state = None;
            }
        }
        (resource, objects, failure)
    }

    fn fold_object<T: Default>(
        &self,
        reader: &mut ChangeReader<'_>,
        fold: &Fold<'_, T>,
        log: &TypeLog,
        work: &mut Work<'_, T>,
    ) -> Result<(), FileError> {
        let planned = &work.plan.entries;
        if !work.plan.has_base {
            work.state = None;
        }
        for (number, entry) in log.numbered(work.object) {
            let is_in_range = fold.range.contains(&(self.first() + u64::from(entry.index)));
            let entry = if planned.contains(&(number as usize)) {
                reader.read(work.object, number, &mut work.state)?
            } else if is_in_range {
                // A deletion, after which nothing refers to the state.
                reader.without_body(work.object, number)
            } else {
                continue;
            };
            if is_in_range {
                (fold.apply)(work.value.get_or_insert_default(), entry);
            }
        }
        if planned.end < log.range(work.object).end {
            work.state = None;
        }
        Ok(())
    }
}

/// Objects of a type whose changes are folded by one thread.
struct Task<'a, T> {
    selected: &'a SelectedLog,
    objects: Vec<Work<'a, T>>,
}

/// An object whose changes are folded.
struct Work<'a, T> {
    /// The number of the object in the log.
    object: usize,
    plan: &'a Plan,
    key: Arc<str>,
    /// The state before the changes, then the one after them, if it is known.
    state: Option<LastState>,
    value: Option<T>,
}

impl Plan {
    /// Selects the entries of an object from the whole text that the first change to read is based on, up to the last one to
    /// read. `is_base` is whether a later segment refers to the state after this one.
    fn of(log: &TypeLog, object: usize, is_read: impl Fn(&LogEntry) -> bool, is_base: bool) -> Self {
        let range = log.range(object);
        let entries = &log.entries[range.clone()];
        let first = entries.iter().position(&is_read);
        let last = if is_base { entries.len().checked_sub(1) } else { entries.iter().rposition(&is_read) };
        let Some(last) = last else { return Self { entries: range.start..range.start, has_base: is_base } };
        let is_whole = |entry: &LogEntry| entry.flags.has(Flags::WHOLE);
        let whole = entries[..=first.unwrap_or(last)].iter().rposition(is_whole);
        let start = range.start + whole.unwrap_or_default();
        Self { entries: start..range.start + last + 1, has_base: whole.is_none() }
    }
}
