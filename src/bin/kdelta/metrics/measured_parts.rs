//! The running parts, for the gauges of their types and for the health.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use kdelta::clock::Clock;
use kdelta::queue::QueueSize;

use super::families::{Families, TypeLabels};
use super::output_delay::OutputDelay;
use super::part_status::{PartReadings, PartStatus, Patience, Readiness};
use super::type_counters::TypeCounters;

/// The running parts by number.
pub(super) struct MeasuredParts {
    clock: Arc<dyn Clock>,
    output_delay: Arc<OutputDelay>,
    /// A std mutex: held for a scrape or an update.
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    next: u64,
    parts: BTreeMap<u64, Entry>,
    /// The counters of all types so far.
    types: HashMap<TypeLabels, Arc<TypeCounters>>,
}

struct Entry {
    status: Arc<PartStatus>,
    readings: Option<Box<dyn PartReadings>>,
}

impl Entry {
    fn is_synced(&self) -> bool {
        self.status.is_synced() || self.readings.as_ref().is_some_and(|readings| readings.is_resumed())
    }
}

/// The parts of one type, together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TypeState {
    pub(super) collections: usize,
    pub(super) is_synced: bool,
    pub(super) behind: Duration,
    pub(super) queued: QueueSize,
    pub(super) last_message: Option<Duration>,
}

impl MeasuredParts {
    pub(super) fn new(clock: Arc<dyn Clock>, output_delay: Arc<OutputDelay>) -> Self {
        Self { clock, output_delay, state: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a part. Returns its number and its status.
    pub(super) fn add(
        &self,
        labels: TypeLabels,
        families: &Families,
        patience: Patience,
    ) -> (u64, Arc<PartStatus>) {
        let mut state = self.lock();
        let counters = state.types.entry(labels.clone());
        let counters = counters.or_insert_with(|| Arc::new(TypeCounters::new(families, &labels)));
        let counters = Arc::clone(counters);
        let status = Arc::new(PartStatus::new(labels, counters, Arc::clone(&self.clock), patience));
        let number = state.next;
        state.next += 1;
        state.parts.insert(number, Entry { status: Arc::clone(&status), readings: None });
        (number, status)
    }

    pub(super) fn set_readings(&self, number: u64, readings: Box<dyn PartReadings>) {
        if let Some(entry) = self.lock().parts.get_mut(&number) {
            entry.readings = Some(readings);
        }
    }

    pub(super) fn remove(&self, number: u64) {
        // Dropped after the lock: the readings may own an informer.
        let removed = self.lock().parts.remove(&number);
        drop(removed);
    }

    /// Returns the types with running parts.
    pub(super) fn by_type(&self) -> BTreeMap<TypeLabels, TypeState> {
        let delay = self.output_delay.get();
        let mut types: BTreeMap<TypeLabels, TypeState> = BTreeMap::new();
        for entry in self.lock().parts.values() {
            let is_synced = entry.is_synced();
            let behind = entry.status.behind(is_synced).max(delay);
            let queued = entry.readings.as_ref().map(|readings| readings.queued()).unwrap_or_default();
            let last_message = entry.readings.as_ref().and_then(|readings| readings.last_message());
            let one = TypeState { collections: 1, is_synced, behind, queued, last_message };
            types.entry(entry.status.labels.clone()).and_modify(|all| *all = all.and(one)).or_insert(one);
        }
        types
    }

    /// Returns why the command is not ready, one line per type and reason.
    pub(super) fn not_ready(&self, max_behind: Duration) -> Vec<String> {
        let mut not_synced: BTreeMap<TypeLabels, usize> = BTreeMap::new();
        let mut lost: BTreeMap<TypeLabels, (Duration, &str)> = BTreeMap::new();
        for entry in self.lock().parts.values() {
            let labels = || entry.status.labels.clone();
            match entry.status.readiness(entry.is_synced(), max_behind) {
                Readiness::Ready => {}
                Readiness::NotSynced => *not_synced.entry(labels()).or_default() += 1,
                Readiness::Lost(lasted, reason) => {
                    let longest = lost.entry(labels()).or_default();
                    *longest = (*longest).max((lasted, reason));
                }
            }
        }
        let not_synced = not_synced.iter().map(|(labels, parts)| match parts {
            1 => format!("{}: the initial state is incomplete", labels.title()),
            parts => format!("{}: the initial state of {parts} collections is incomplete", labels.title()),
        });
        let lost = lost.iter().map(|(labels, (lasted, reason))| {
            format!("{}: no connection for {:.0}s ({reason})", labels.title(), lasted.as_secs_f64())
        });
        not_synced.chain(lost).collect()
    }
}

impl TypeState {
    fn and(self, other: Self) -> Self {
        Self {
            collections: self.collections + other.collections,
            is_synced: self.is_synced && other.is_synced,
            behind: self.behind.max(other.behind),
            queued: QueueSize {
                deltas: self.queued.deltas + other.queued.deltas,
                bytes: self.queued.bytes + other.queued.bytes,
            },
            last_message: self.last_message.max(other.last_message),
        }
    }
}
