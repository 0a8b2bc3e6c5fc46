//! The progress of a recording, for its reader at a terminal and for the summary at the end.

use std::fmt;

use jiff::Timestamp;
use kdelta::recording::Statistics;

use crate::commands::reporter::counted;

/// The figures of one or several recordings.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Figures {
    pub(super) objects: u64,
    pub(super) deltas: u64,
    pub(super) bytes: u64,
    pub(super) gaps: u64,
    /// The time at which the last handled message was received, while others wait.
    pub(super) handled: Option<Timestamp>,
}

impl Figures {
    pub(super) fn of(statistics: Statistics) -> Self {
        let Statistics { objects, deltas, bytes, gaps, .. } = statistics;
        Self { objects, deltas, bytes, gaps, handled: None }
    }

    /// Returns the figures of both.
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
        write!(f, "{deltas}, {objects}, {}, {}", size(self.bytes), counted(self.gaps, "gap"))
    }
}

/// Formats `12 bytes`, `1.5 MB`.
fn size(bytes: u64) -> String {
    let mut unit = ("bytes", 1);
    for next in [("kB", 1000), ("MB", 1_000_000), ("GB", 1_000_000_000), ("TB", 1_000_000_000_000)] {
        if bytes >= next.1 {
            unit = next;
        }
    }
    match unit {
        ("bytes", _) => counted(bytes, "byte"),
        (name, size) => format!("{}.{} {name}", bytes / size, bytes % size * 10 / size),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_one_decimal() {
        for (bytes, expected) in
            [(0, "0 bytes"), (1, "1 byte"), (999, "999 bytes"), (1000, "1.0 kB"), (1_990_000, "1.9 MB")]
        {
            assert_eq!(size(bytes), expected);
        }
        assert_eq!(size(u64::MAX), "18446744.0 TB");
    }

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
