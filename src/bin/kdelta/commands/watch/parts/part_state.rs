//! The state of one part of a watch.

use kdelta::listwatch::Error;

use crate::commands::watch::get_watch::WatchRefusal;
use crate::metrics::PartMetrics;
use crate::session::PlannedPart;

/// The state of a part.
pub(in crate::commands::watch) struct PartState {
    pub(in crate::commands::watch) planned: PlannedPart,
    pub(in crate::commands::watch) stage: Stage,
    /// Whether an object was received: a part for one name must have it.
    pub(in crate::commands::watch) has_object: bool,
    /// Whether the part was unavailable and is being retried silently.
    pub(in crate::commands::watch) is_retry: bool,
    pub(in crate::commands::watch) watch_refusal: WatchRefusal,
    /// The measurements, while the part runs and metrics are served.
    pub(in crate::commands::watch) metrics: Option<PartMetrics>,
}

/// The progress of a part.
pub(in crate::commands::watch) enum Stage {
    Started,
    Synced,
    /// Ended with an error, which has been printed.
    Failed,
    /// Unavailable for now, with an error that is printed only if it is final.
    Unavailable(Error),
}

impl PartState {
    pub(super) fn started(planned: PlannedPart, is_retry: bool) -> Self {
        let (watch_refusal, metrics) = (WatchRefusal::default(), None);
        Self { planned, stage: Stage::Started, has_object: false, is_retry, watch_refusal, metrics }
    }

    /// Returns the error of a named part that synced without its object, unless a pattern selected its namespace, or its type
    /// was awaited: the object may be created after the type.
    pub(in crate::commands::watch) fn missing(&self) -> Option<Error> {
        let is_synced = matches!(self.stage, Stage::Synced);
        let is_open = self.planned.open_namespace || self.planned.open_type;
        let is_missing = is_synced && !self.has_object && !is_open;
        self.planned.part.not_found().filter(|_| is_missing)
    }

    /// Whether the part has ended, for good or for now.
    pub(in crate::commands::watch) fn has_failed(&self) -> bool {
        matches!(self.stage, Stage::Failed | Stage::Unavailable(_))
    }
}
