//! The state that the watch and the calls share: the waiting lines and the progress.

use std::cell::RefCell;
use std::collections::HashSet;
use std::rc::Rc;
use std::sync::Arc;

use kdelta::lines::{Change, ChangeKind};
use kdelta::object::ResourceVersion;
use tokio::sync::Notify;

use super::change_line::ChangeLine;
use super::progress::{PartId, PartIndex, PendingChange, Progress, StateUpdate, handled_object};
use super::queue::{FinishedLine, ObjectId, RunQueue};
use crate::commands::watch::KnownStates;
use crate::output::ChangeReceiver;
use crate::session::{ContinuedTime, KnownState, Part};

/// The waiting lines and the progress.
pub(super) struct RunState {
    pub(super) queue: RunQueue<ChangeLine, Option<PendingChange>>,
    /// Kept only for a checkpoint.
    pub(super) progress: Option<Progress>,
    /// The types of change that are run; empty selects all.
    on: Vec<ChangeKind>,
    /// The number of lines so far.
    seq: u64,
    /// The change that was passed to the printer, which passes it on if it is selected.
    offered: Option<OfferedChange>,
    /// Wakes the watch when there is room.
    room: Arc<Notify>,
    /// The parts that continue from their version.
    continued: HashSet<PartIndex>,
}

/// A change that is offered to the options that select changes.
struct OfferedChange {
    id: ObjectId,
    /// Set if there is a progress.
    update: Option<StateUpdate>,
}

impl RunState {
    pub(super) fn new(
        queue: RunQueue<ChangeLine, Option<PendingChange>>,
        progress: Option<Progress>,
        on: Vec<ChangeKind>,
    ) -> Self {
        Self { queue, progress, on, seq: 0, offered: None, room: Arc::default(), continued: HashSet::new() }
    }

    /// Returns the signal that a line was finished.
    pub(super) fn room(&self) -> Arc<Notify> {
        Arc::clone(&self.room)
    }

    pub(super) fn is_continued(&self, part: PartIndex) -> bool {
        self.continued.contains(&part)
    }

    /// Begins a change, which [`RunState::accept`] takes if it is selected.
    pub(super) fn offer(&mut self, id: ObjectId, update: Option<StateUpdate>) {
        self.offered = Some(OfferedChange { id, update });
    }

    /// Takes the offered change. Returns `false` if its type is not selected.
    fn accept(&mut self, change: &Change, resume: Option<&ResourceVersion>) -> bool {
        if !self.on.is_empty() && !self.on.contains(&change.kind) {
            return false;
        }
        let Some(OfferedChange { id, update }) = self.offered.take() else { return false };
        self.seq += 1;
        let line = ChangeLine { change: change.clone(), resume: resume.cloned(), seq: self.seq };
        let pending = match (&mut self.progress, update) {
            (Some(progress), Some(update)) => Some(progress.add_pending(update)),
            _ => None,
        };
        let merged = self.queue.push(id, line, pending).flatten();
        if let (Some(progress), Some(merged)) = (&mut self.progress, merged) {
            progress.merge(&merged);
        }
        true
    }

    /// Ends the offered change: one that was not selected is handled once the earlier ones of its object are. `version` is set if
    /// every change up to it has been received.
    pub(super) fn end_offer(&mut self, part: Option<PartIndex>, version: Option<&ResourceVersion>) {
        let Some(progress) = &mut self.progress else {
            self.offered = None;
            return;
        };
        if let Some(OfferedChange { id, update: Some(update) }) = self.offered.take() {
            match self.queue.last_completion(&id) {
                Some(Some(pending)) => pending.update = update,
                _ => progress.apply(update),
            }
        }
        if let (Some(part), Some(version)) = (part, version) {
            progress.get_mut(part).received(version);
        }
    }

    /// Records lines that will not be run again.
    pub(super) fn complete(&mut self, finished: FinishedLine<ChangeLine, Option<PendingChange>>) {
        if let (Some(progress), Some(pending)) = (&mut self.progress, finished.completion) {
            progress.finish(pending);
        }
        self.room.notify_one();
    }
}

/// Receives the selected changes from the printer of deltas.
pub(super) struct SelectedChanges(pub(super) Rc<RefCell<RunState>>);

impl ChangeReceiver for SelectedChanges {
    fn change(&mut self, change: &Change, resume: Option<&ResourceVersion>) -> bool {
        self.0.borrow_mut().accept(change, resume)
    }
}

/// The states from which parts continue.
pub(super) struct HandledStates(pub(super) Rc<RefCell<RunState>>);

impl KnownStates for HandledStates {
    fn known_state(&self, part: &Part) -> Option<KnownState> {
        let mut run_state = self.0.borrow_mut();
        let run_state = &mut *run_state;
        let progress = run_state.progress.as_mut()?;
        let index = progress.part(&PartId::of(part));
        let handled = progress.get(index);
        let version = handled.version()?.clone();
        let type_meta = part.resource.type_meta();
        let objects =
            handled.states().iter().filter_map(|(key, state)| handled_object(&type_meta, key, state));
        let objects = objects.map(Arc::new).collect();
        run_state.continued.insert(index);
        let watched_from = version.clone();
        Some(KnownState { version, watched_from, objects, continued: ContinuedTime::default() })
    }
}
