//! Ages, as kubectl writes them.

use jiff::Timestamp;

/// Where the cell of a column called Age comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Age {
    /// The server computed it when it sent the row: right for a row that is printed as it arrives, and what kubectl
    /// prints. Only what came without cells needs to know the time.
    AsSent {
        /// The time.
        now: Timestamp,
    },
    /// It is computed anew, where the object says when it was created: for a row that has lain in an index, such as
    /// the last known state of an object whose deletion was missed.
    Fresh {
        /// The time.
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
