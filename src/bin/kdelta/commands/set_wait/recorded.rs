//! A wait on a recording: finds the first time in a range at which the conditions held.

use std::rc::Rc;

use jiff::Timestamp;
use kdelta::query::WaitState;

use super::progress::SharedProgress;
use super::target_sink::TargetSink;
use crate::commands::replay::RecordedWatch;
use crate::commands::reporter::Reporter;
use crate::commands::watch::first_parts;
use crate::session::{Session, TargetSet};
use crate::settings::{Replay, Watch};

/// Replays the watches of all targets in one order of time until the wait is decided or the range ends. Returns `false`
/// if a target can't be read; the error has been reported.
///
/// # Errors
/// A recording can't be read.
pub(super) async fn replay(
    session: &Session,
    replay: &Replay,
    reporter: &Reporter,
    progress: &SharedProgress,
    targets: Vec<(&Watch, TargetSet)>,
) -> anyhow::Result<bool> {
    let mut recorded = Vec::new();
    for (place, (watch, mut set)) in targets.into_iter().enumerate() {
        let mut is_partial = false;
        if !first_parts(session, watch, &mut set, reporter, &mut is_partial).await? {
            return Ok(false);
        }
        let sink = TargetSink::new(Rc::clone(progress), place, &watch.selection.namespaces);
        let own = RecordedWatch::open(session, watch, replay, reporter, set.parts())?;
        recorded.push((own, sink));
    }
    let beginnings = recorded.iter().filter_map(|(own, _)| own.beginning());
    progress.borrow_mut().begin_at(beginnings.min().unwrap_or_default());
    for (own, sink) in &mut recorded {
        own.begin(sink, true)?;
    }
    while is_pending(progress) {
        let next = recorded.iter_mut().filter_map(|(own, sink)| Some((own.next_time()?, own, sink)));
        let Some((time, own, sink)) = next.min_by_key(|(time, ..)| *time) else { break };
        if !is_decided_before(progress, time) {
            own.next(sink, 1).await?;
        }
    }
    let end = recorded.iter().filter_map(|(own, _)| own.end()).max();
    if let Some(end) = end.filter(|_| is_pending(progress)) {
        is_decided_before(progress, end);
    }
    Ok(!recorded.iter().any(|(own, _)| own.is_partial()))
}

fn is_pending(progress: &SharedProgress) -> bool {
    *progress.borrow().machine.state() == WaitState::Pending
}

/// Advances the time of the wait, with the checks that are due on the way. Returns whether one of them decides it.
fn is_decided_before(progress: &SharedProgress, time: Timestamp) -> bool {
    loop {
        let mut progress = progress.borrow_mut();
        let Some(check) = progress.next_recorded_check().filter(|check| *check <= time) else {
            progress.set_time(time);
            return false;
        };
        progress.set_time(check);
        progress.advance();
        if *progress.machine.state() != WaitState::Pending {
            return true;
        }
        // A check that is due again at the same time would repeat without end.
        if progress.next_recorded_check().is_some_and(|check| check <= progress.now().wall) {
            progress.set_time(time);
            return false;
        }
    }
}
