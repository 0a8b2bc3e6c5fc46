//! The waiting lines of one object.

use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Instant;

use super::line::Line;

/// The lines of one object, in the order of arrival.
pub(super) struct ObjectQueue<L, C> {
    /// The waiting lines; the first one is being run in [`Stage::Running`].
    pub(super) entries: VecDeque<Entry<L, C>>,
    pub(super) stage: Stage,
    /// The number of failed calls with the first line.
    pub(super) tries: u32,
    /// Whether the first line must be the only one of its call, because a call with others failed.
    pub(super) is_alone: bool,
    /// The time of the last line.
    pub(super) changed_at: Instant,
    /// The time at which the first line became the first.
    pub(super) first_at: Instant,
}

/// The stage of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// The object has had no line yet.
    Idle,
    /// The object waits in the queue of objects, perhaps for a delay.
    Queued,
    /// The first line of the object is being run.
    Running,
}

/// A waiting line.
pub(super) struct Entry<L, C> {
    pub(super) line: Rc<L>,
    pub(super) completion: C,
    pub(super) weight: usize,
    pub(super) received: Instant,
}

impl<L: Line, C> Entry<L, C> {
    pub(super) fn new(line: L, completion: C, received: Instant) -> Self {
        Self { weight: line.weight(), line: Rc::new(line), completion, received }
    }

    /// Replaces the line by one that was merged from it. Returns its completion.
    pub(super) fn replace(&mut self, line: L, completion: C) -> C {
        self.weight = line.weight();
        self.line = Rc::new(line);
        std::mem::replace(&mut self.completion, completion)
    }
}

impl<L: Line, C> ObjectQueue<L, C> {
    pub(super) fn new(now: Instant) -> Self {
        Self {
            entries: VecDeque::with_capacity(1),
            stage: Stage::Idle,
            tries: 0,
            is_alone: false,
            changed_at: now,
            first_at: now,
        }
    }

    /// Returns the last line, unless it is being run.
    pub(super) fn mergeable_tail(&mut self) -> Option<&mut Entry<L, C>> {
        let is_running = self.stage == Stage::Running && self.entries.len() == 1;
        self.entries.back_mut().filter(|_| !is_running)
    }

    /// Resets the number of failed calls after the last line was replaced, if that line is also the first.
    pub(super) fn restart_tries(&mut self) {
        if self.entries.len() == 1 {
            self.tries = 0;
        }
    }
}
