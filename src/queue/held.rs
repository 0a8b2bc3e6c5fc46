//! The lock that every queue stands behind, and who is woken when.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::population::Population;
use super::{Deltas, FifoClosedError, Popped, RequeueFunc, Signals};
use crate::object::ResourceVersion;

/// What is queued, as one queue orders it. Plain data: [`Held`] holds it.
pub(super) trait Line {
    /// Takes the next out.
    fn take(&mut self) -> Option<Popped>;

    /// How much of the capacity is used.
    fn used(&self) -> usize;

    /// How much of the initial state has been popped.
    fn population(&self) -> &Population;
}

/// A line under its lock.
pub(super) struct Held<L> {
    /// A std mutex: nothing under it waits. It is held while a popped delta is applied, so that store and queue can
    /// be compared (see [`super::Queue::try_pop`]).
    state: Mutex<State<L>>,
    capacity: usize,
    signals: Signals,
}

struct State<L> {
    line: L,
    closed: bool,
}

impl<L: Line> Held<L> {
    /// At least one delta has room, whatever the capacity: where none ever had, whoever waits for room would wait for
    /// ever.
    pub(super) fn new(line: L, capacity: usize) -> Self {
        let state = Mutex::new(State { line, closed: false });
        Self { state, capacity: capacity.max(1), signals: Signals::default() }
    }

    fn lock(&self) -> MutexGuard<'_, State<L>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks at the line, or changes what nobody waits for.
    pub(super) fn look<T>(&self, look: impl FnOnce(&mut L) -> T) -> T {
        look(&mut self.lock().line)
    }

    /// Changes what is queued, and wakes whom that concerns.
    pub(super) fn change<T>(&self, change: impl FnOnce(&mut L) -> T) -> T {
        let mut state = self.lock();
        let before = state.line.used();
        let answer = change(&mut state.line);
        let used = state.line.used();
        drop(state);
        self.signals.filled();
        if used < before {
            self.freed(used, false);
        }
        answer
    }

    /// Wakes whoever waits for room, once half of it is free: to be woken for each single delta would cost more than
    /// the delta. Where deltas are put back that half may never become free, and any room counts.
    fn freed(&self, used: usize, put_back: bool) {
        if used <= self.capacity / 2 || (put_back && used < self.capacity) {
            self.signals.freed();
        }
    }

    /// `requeue` puts back what `process` wants to see again, with what would have been news in it. Not into a closed
    /// queue, which would never come to its end.
    pub(super) fn try_pop(
        &self,
        process: &mut RequeueFunc<'_>,
        requeue: impl FnOnce(&mut L, Deltas, Option<ResourceVersion>),
    ) -> Result<bool, FifoClosedError> {
        let mut state = self.lock();
        let Some(popped) = state.line.take() else {
            // What was passed over has made room too.
            self.freed(state.line.used(), false);
            return if state.closed { Err(FifoClosedError) } else { Ok(false) };
        };
        let up_to = popped.up_to.clone();
        let again = process(popped).filter(|_| !state.closed);
        let put_back = again.is_some();
        if let Some(deltas) = again {
            requeue(&mut state.line, deltas, up_to);
        }
        self.freed(state.line.used(), put_back);
        Ok(true)
    }

    pub(super) fn under_lock(&self, work: &mut dyn FnMut()) {
        let _state = self.lock();
        work();
    }

    pub(super) fn has_room(&self) -> bool {
        let state = self.lock();
        state.closed || state.line.used() < self.capacity
    }

    pub(super) fn has_synced(&self) -> bool {
        self.lock().line.population().has_synced()
    }

    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.signals.closed();
    }

    pub(super) fn signals(&self) -> &Signals {
        &self.signals
    }
}
