//! The progress of a recording: the line on a terminal, and the summary at the end.

use std::fmt;

use jiff::Timestamp;
use kdelta::recording::Statistics;

use crate::view::{counted, human_size};

/// The figures of one or several recordings.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Figures {
    pub(super) objects: u64,
    pub(super) deltas: u64,
    pub(super) bytes: u64,
    pub(super) gaps: u64,
    /// The time of receipt of the last handled message; `None` if no message waits.
    pub(super) handled: Option<Timestamp>,
}

impl Figures {
    pub(super) fn of(statistics: Statistics) -> Self {
        let Statistics { objects, deltas, bytes, gaps, .. } = statistics;
        Self { objects, deltas, bytes, gaps, handled: None }
    }

    /// Returns the sum with the figures of another recording.
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            objects: self.objects + other.objects,
            deltas: self.deltas + other.deltas,
            bytes: self.bytes + other.bytes,
            gaps: self.gaps + other.gaps,
            handled: [self.handled, other.handled].into_iter().flatten().min(),
        }
    }

    /// Returns the text of the line on a terminal.
    pub(super) fn line(&self, now: Timestamp) -> String {
        let behind = self.handled.map_or(0, |handled| now.duration_since(handled).as_secs().max(0));
        format!("recording: {self}, {behind}s behind")
    }
}

/// Formats `3 deltas of 20 objects, 12 kB, 0 gaps`.
impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (deltas, objects) = (counted(self.deltas, "delta"), counted(self.objects, "object"));
        write!(f, "{deltas}, {objects}, {}, {}", human_size(self.bytes), counted(self.gaps, "gap"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_shows_the_age_of_what_waits() {
        let second = |second: i64| Timestamp::from_second(second).expect("in range");
        let figures = Figures { objects: 20, deltas: 1, bytes: 12_345, gaps: 2, handled: None };
        let waiting = Figures { handled: Some(second(97)), ..Figures::default() };
        assert_eq!(figures.line(second(100)), "recording: 1 delta, 20 objects, 12.3 kB, 2 gaps, 0s behind");
        assert_eq!(
            figures.and(waiting).line(second(100)),
            "recording: 1 delta, 20 objects, 12.3 kB, 2 gaps, 3s behind"
        );
    }
}
