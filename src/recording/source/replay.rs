//! The replay of a recording: its entries are applied at their times.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use super::movable::MovableState;
use super::opener::RecordingOpener;
use super::recorded_state::RecordedState;
use crate::recording::entry::{Entry, EntryFilter, Item, Moment};
use crate::recording::error::RecordingError;
use crate::server::source::Source;

/// The speed of a replay.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ReplaySpeed {
    /// A multiple of the recorded speed. Must be above 0.
    Times(f64),
    /// As fast as the entries can be read. A watch that falls behind ends as expired.
    Max,
}

/// The interval at which the shown time advances between entries.
const TICK: Duration = Duration::from_secs(1);

/// The number of entries that are applied without a pause. At the highest speed a pause follows, so that clients
/// can read.
const BATCH: u32 = 128;
const BATCH_PAUSE: Duration = Duration::from_millis(5);

/// The pause after the last entry before the recording is read again. Reading it decodes the segment from its
/// beginning.
const END_PAUSE: Duration = Duration::from_secs(15);

/// Applies the entries after the moment of `state`, and those that a recorder still appends, until the moment is moved.
///
/// After a damaged part it continues with the state after that part, and watches end.
pub(super) async fn replay(
    target: Arc<MovableState>,
    state: Arc<RecordedState>,
    opener: &RecordingOpener,
    speed: ReplaySpeed,
) {
    let start = state.time().unwrap_or(Timestamp::UNIX_EPOCH);
    let mut replay = Replay {
        pace: Pace { start, began: target.clock().elapsed(), speed, applied: 0 },
        target,
        state,
        applied: AppliedEntries::Until(start),
        is_behind_damage: false,
    };
    loop {
        if let Err(error) = replay.read(opener).await {
            tracing::warn!(%error, "the recording can't be replayed further");
        }
        let clock = replay.target.clock();
        clock.reaches(clock.elapsed() + END_PAUSE).await;
    }
}

/// The entries that were applied.
#[derive(Clone, Copy)]
enum AppliedEntries {
    /// The changes up to a state: received at this time or before.
    Until(Timestamp),
    /// The changes up to this number, the last one received at this time.
    Through(u64, Timestamp),
}

impl AppliedEntries {
    fn includes(self, entry: &Entry) -> bool {
        match self {
            Self::Until(time) => entry.received <= time,
            Self::Through(number, _) => entry.number <= number,
        }
    }

    fn time(self) -> Timestamp {
        match self {
            Self::Until(time) | Self::Through(_, time) => time,
        }
    }
}

struct Replay {
    target: Arc<MovableState>,
    state: Arc<RecordedState>,
    pace: Pace,
    applied: AppliedEntries,
    is_behind_damage: bool,
}

impl Replay {
    /// Applies the entries that have been recorded so far.
    async fn read(&mut self, opener: &RecordingOpener) -> Result<(), RecordingError> {
        let recording = opener.open()?;
        if recording.end().is_none_or(|end| end < self.applied.time()) {
            return Ok(());
        }
        for entry in recording.entries(Some(self.applied.time()), None, EntryFilter::default())? {
            match entry {
                Ok(entry) if self.applied.includes(&entry) => {}
                Ok(entry) => {
                    self.pace.reach(&self.target, &self.state, entry.received).await;
                    self.apply(opener, &entry)?;
                }
                Err(error) => {
                    tracing::warn!(%error, "a damaged part is not replayed");
                    self.is_behind_damage = true;
                }
            }
        }
        Ok(())
    }

    /// Applies an entry; after a damaged part, the state at its time.
    fn apply(&mut self, opener: &RecordingOpener, entry: &Entry) -> Result<(), RecordingError> {
        if std::mem::take(&mut self.is_behind_damage) {
            let state = RecordedState::replayed(opener.open()?, Moment::Time(entry.received))?;
            if let Some(state) = self.target.continue_from(&self.state, state) {
                self.state = state;
            }
            self.applied = AppliedEntries::Until(entry.received);
            return Ok(());
        }
        self.applied = AppliedEntries::Through(entry.number, entry.received);
        match &entry.item {
            Item::Change { change, .. } if self.state.apply(change) => self.target.has_changed(),
            Item::Document { path, body } => self.state.set_document(path, body),
            _ => {}
        }
        Ok(())
    }
}

/// The clock of a replay.
struct Pace {
    start: Timestamp,
    /// The time since the creation of the target's clock at which the replay began.
    began: Duration,
    speed: ReplaySpeed,
    applied: u32,
}

impl Pace {
    /// Waits until an entry is due, and shows its time.
    async fn reach(&mut self, target: &MovableState, state: &Arc<RecordedState>, received: Timestamp) {
        self.applied = (self.applied + 1) % BATCH;
        let clock = target.clock();
        match self.speed {
            ReplaySpeed::Times(factor) => {
                let due = self.began + self.real_time(received, factor);
                let mut now = clock.elapsed();
                while now < due {
                    clock.reaches(due.min(now + TICK)).await;
                    now = clock.elapsed();
                    target.show(state, self.shown(now, factor).min(received));
                }
                if self.applied == 0 {
                    tokio::task::yield_now().await;
                }
            }
            ReplaySpeed::Max if self.applied == 0 => clock.reaches(clock.elapsed() + BATCH_PAUSE).await,
            ReplaySpeed::Max => {}
        }
        target.show(state, received);
    }

    /// Returns the real time from the start of the replay to a recorded time.
    fn real_time(&self, time: Timestamp, factor: f64) -> Duration {
        let recorded = time.duration_since(self.start).as_secs_f64().max(0.0);
        Duration::try_from_secs_f64(recorded / factor).unwrap_or(Duration::MAX / 2)
    }

    /// Returns the recorded time to show at this real time.
    fn shown(&self, now: Duration, factor: f64) -> Timestamp {
        let real = now.saturating_sub(self.began).as_secs_f64();
        let recorded = Duration::try_from_secs_f64(real * factor).unwrap_or(Duration::MAX);
        self.start.checked_add(recorded).unwrap_or(Timestamp::MAX)
    }
}
