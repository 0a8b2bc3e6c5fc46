//! Moves the moment of a served recording.

use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use tokio::task::JoinSet;

use super::kinds::ServedVersions;
use super::movable::MovableState;
use super::opener::RecordingOpener;
use super::recorded_state::RecordedState;
use super::replay::{ReplaySpeed, replay};
use crate::recording::entry::{Gap, Moment};
use crate::recording::error::RecordingError;
use crate::server::source::Source;

/// A served recording whose moment can be moved.
pub(super) struct Mover {
    opener: RecordingOpener,
    speed: Option<ReplaySpeed>,
    source: Arc<MovableState>,
    /// The task of the replay, at most one. Dropping the set aborts the task. A std mutex, held while the moment and the
    /// task are exchanged, so that of concurrent moves the last one determines both.
    replay: Mutex<JoinSet<()>>,
}

/// The moment that is served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServedMoment {
    /// The kubeconfig context of the recording.
    pub context: String,
    /// The time of the moment. `None` if nothing is recorded.
    pub time: Option<Timestamp>,
    /// The times of the first complete state and of the last entry.
    pub range: Option<(Timestamp, Timestamp)>,
    /// The gap that the time lies in.
    pub gap: Option<Gap>,
}

impl Mover {
    /// Opens a recording at a moment. With a speed, it is replayed from there on.
    pub(super) fn start(
        opener: RecordingOpener,
        moment: Moment,
        speed: Option<ReplaySpeed>,
    ) -> Result<Self, RecordingError> {
        let state = opened(&opener, moment, speed)?;
        let source = Arc::new(MovableState::new(state).with_warnings());
        let mover = Self { opener, speed, source, replay: Mutex::default() };
        mover.replay(MovableState::current);
        Ok(mover)
    }

    pub(super) fn source(&self) -> &Arc<MovableState> {
        &self.source
    }

    /// Moves to another moment, which may be one that was recorded since the recording was opened. Watches end as
    /// expired.
    pub(super) fn move_to(&self, moment: Moment) -> Result<(), RecordingError> {
        let state = opened(&self.opener, moment, self.speed)?;
        self.replay(|source| source.move_to(state));
        Ok(())
    }

    /// Returns whether a moment lies after the last entry.
    pub(super) fn is_after_end(&self, moment: Moment) -> Result<bool, RecordingError> {
        let recording = self.opener.open()?;
        match moment {
            Moment::Time(time) => Ok(recording.end().is_some_and(|end| end < time)),
            Moment::Version(version) => Ok(recording.state(Moment::End)?.version() < version),
            Moment::End => Ok(false),
        }
    }

    /// Selects a moment and starts the replay from it, in place of the running one.
    fn replay(&self, select: impl FnOnce(&MovableState) -> Arc<RecordedState>) {
        let mut tasks = self.replay.lock().unwrap_or_else(PoisonError::into_inner);
        let state = select(&self.source);
        let Some(speed) = self.speed else { return };
        let (source, opener) = (Arc::clone(&self.source), self.opener.clone());
        *tasks = JoinSet::new();
        tasks.spawn(async move { replay(source, state, &opener, speed).await });
    }

    /// Returns the moment that is served.
    ///
    /// # Errors
    /// The files can't be read or are damaged.
    pub(super) fn moment(&self) -> Result<ServedMoment, RecordingError> {
        let state = self.source.current();
        // Opened again: a recorder may have appended entries.
        let recording = self.opener.open()?;
        let time = state.time().map(|_| self.source.clock().now());
        Ok(ServedMoment {
            context: recording.context().to_owned(),
            time,
            range: recording.beginning().zip(recording.end()),
            gap: time.map_or(Ok(None), |time| recording.gap_at(time))?,
        })
    }
}

fn opened(
    opener: &RecordingOpener,
    moment: Moment,
    speed: Option<ReplaySpeed>,
) -> Result<RecordedState, RecordingError> {
    let recording = opener.open()?;
    if speed.is_none() {
        return RecordedState::open(recording, moment, ServedVersions::WithAlternates);
    }
    // The state at a version does not correspond to a prefix of the entries.
    let moment = match moment {
        Moment::Version(_) => recording.state(moment)?.time().map_or(Moment::End, Moment::Time),
        moment => moment,
    };
    RecordedState::replayed(recording, moment)
}
