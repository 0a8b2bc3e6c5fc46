//! A mutex that can be closed: `close` waits for the holder and fails later callers.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A mutex for threads that may block.
pub(super) struct ClosableMutex {
    /// A std mutex: held only to read and change the state.
    state: Mutex<State>,
    /// Notified when the mutex is unlocked or closed.
    changed: Condvar,
}

struct State {
    is_locked: bool,
    is_closed: bool,
}

impl ClosableMutex {
    pub(super) const fn new() -> Self {
        Self { state: Mutex::new(State { is_locked: false, is_closed: false }), changed: Condvar::new() }
    }

    /// Waits for the lock and holds it until the guard is dropped; `None` when the mutex is closed.
    pub(super) fn lock(&self) -> Option<Guard<'_>> {
        let waits = |state: &mut State| state.is_locked && !state.is_closed;
        let mut state = self.changed.wait_while(self.state(), waits).unwrap_or_else(PoisonError::into_inner);
        if state.is_closed {
            return None;
        }
        state.is_locked = true;
        Some(Guard(self))
    }

    /// Waits for that time, or until the mutex is closed.
    pub(super) fn wait(&self, time: Duration) {
        // A poisoned lock and an elapsed time need no different handling: the caller tries again.
        let _ = self.changed.wait_timeout_while(self.state(), time, |state| !state.is_closed);
    }

    /// Closes the mutex: later calls of `lock` fail. Waits for the holder and returns whether it finished in time.
    pub(super) fn close(&self, limit: Duration) -> bool {
        let mut state = self.state();
        state.is_closed = true;
        self.changed.notify_all();
        let waited = self.changed.wait_timeout_while(state, limit, |state| state.is_locked);
        !waited.unwrap_or_else(PoisonError::into_inner).0.is_locked
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The holder of the mutex.
pub(super) struct Guard<'a>(&'a ClosableMutex);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        self.0.state().is_locked = false;
        self.0.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn close_waits_for_the_holder_and_fails_later_callers() {
        let mutex = ClosableMutex::new();
        drop(mutex.lock().unwrap());
        let guard = mutex.lock().unwrap();
        thread::scope(|scope| {
            let next = scope.spawn(|| mutex.lock().is_some());
            assert!(!mutex.close(Duration::ZERO), "it is locked");
            let closed = scope.spawn(|| mutex.close(Duration::from_mins(1)));
            assert!(!next.join().unwrap(), "it was closed first");
            drop(guard);
            assert!(closed.join().unwrap());
        });
        assert!(mutex.lock().is_none());
        mutex.wait(Duration::MAX);
    }
}
