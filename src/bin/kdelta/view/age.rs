//! Ages in kubectl's format.

use jiff::Timestamp;

/// The source of the AGE cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Age {
    /// The age in the server's row, as kubectl prints it: correct for a row that is printed as it arrives. The time is
    /// needed only for objects without cells.
    AsSent {
        /// The current time.
        now: Timestamp,
    },
    /// The age computed from the creation time: for rows that have been kept in an index, such as the last known state
    /// of an object whose deletion was missed.
    Fresh {
        /// The current time.
        now: Timestamp,
    },
}

impl Age {
    pub(super) fn now(self) -> Timestamp {
        match self {
            Self::AsSent { now } | Self::Fresh { now } => now,
        }
    }
}
