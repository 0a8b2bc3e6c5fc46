//! The conditions that end a watch.

use std::time::Duration;

use super::usage::first_flag;
use super::{UsageError, duration};
use crate::args::UntilArgs;

/// The conditions that end a watch with exit code 0; without one it runs until interrupted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Until {
    /// The number of printed deltas, at least 1.
    pub(crate) count: Option<u64>,
    pub(crate) duration: Option<Duration>,
    pub(crate) synced: bool,
}

impl Until {
    pub(super) fn read(args: &UntilArgs) -> Result<Self, UsageError> {
        let duration = args.duration.as_deref().map(duration::parse_seconds).transpose()?;
        Ok(Self { count: args.count, duration, synced: args.until_synced })
    }

    /// Returns the first given flag, which needs a watch.
    pub(super) fn first_flag(args: &UntilArgs) -> Option<&'static str> {
        let UntilArgs { count, duration, until_synced } = args;
        first_flag([
            (count.is_some(), "count"),
            (duration.is_some(), "duration"),
            (*until_synced, "until-synced"),
        ])
    }
}
