//! A door that one at a time goes through, and that can be shut.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Threads that may wait go through it.
pub(super) struct Door {
    /// A std mutex: held to look and to change it.
    state: Mutex<State>,
    /// Told by whoever comes out, and when it is shut.
    changed: Condvar,
}

struct State {
    is_taken: bool,
    is_shut: bool,
}

impl Door {
    pub(super) const fn open() -> Self {
        Self { state: Mutex::new(State { is_taken: false, is_shut: false }), changed: Condvar::new() }
    }

    /// Goes through until what is answered is dropped, after whoever came before; nothing where it is shut.
    pub(super) fn enter(&self) -> Option<Inside<'_>> {
        let waits = |state: &mut State| state.is_taken && !state.is_shut;
        let mut state = self.changed.wait_while(self.state(), waits).unwrap_or_else(PoisonError::into_inner);
        if state.is_shut {
            return None;
        }
        state.is_taken = true;
        Some(Inside(self))
    }

    /// Waits for that long in front of it, or until it is shut.
    pub(super) fn pause(&self, time: Duration) {
        // Who waited knows no more than before, also where a thread has died of something else.
        let _ = self.changed.wait_timeout_while(self.state(), time, |state| !state.is_shut);
    }

    /// Shuts it: nobody goes through any more. Waits for whoever is inside, and answers whether that was done in time.
    pub(super) fn close(&self, limit: Duration) -> bool {
        let mut state = self.state();
        state.is_shut = true;
        self.changed.notify_all();
        let waited = self.changed.wait_timeout_while(state, limit, |state| state.is_taken);
        !waited.unwrap_or_else(PoisonError::into_inner).0.is_taken
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Somebody is going through.
pub(super) struct Inside<'a>(&'a Door);

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        self.0.state().is_taken = false;
        self.0.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn a_door_is_shut_behind_whoever_is_going_through_and_nobody_follows() {
        let door = Door::open();
        drop(door.enter().unwrap());
        let inside = door.enter().unwrap();
        thread::scope(|scope| {
            let next = scope.spawn(|| door.enter().is_some());
            assert!(!door.close(Duration::ZERO), "somebody is in it");
            let closed = scope.spawn(|| door.close(Duration::from_mins(1)));
            assert!(!next.join().unwrap(), "it was shut before");
            drop(inside);
            assert!(closed.join().unwrap());
        });
        assert!(door.enter().is_none());
        door.pause(Duration::MAX);
    }
}
