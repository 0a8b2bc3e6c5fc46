//! The counters of one type, resolved once: counting an event takes no look-up and no allocation.

use std::sync::OnceLock;

use kdelta::informer::Notification;
use kdelta::lines::ChangeKind;
use kdelta::listwatch::Error;
use kdelta::object::Origin;
use kdelta::queue::Mark;
use kdelta::reflector::Phase;
use prometheus_client::metrics::counter::Counter;

use super::families::{DeltaLabels, FailureLabels, Families, Seconds, TypeLabels};

/// The origins of deltas, in the order of their counters.
const ORIGINS: [Origin; 5] = [Origin::List, Origin::Watch, Origin::Relist, Origin::Resync, Origin::Filter];

/// The types of deltas, in the order of their counters.
const TYPES: [&str; 4] = ["added", "modified", "deleted", "sync"];

/// The counters of a type of objects.
pub(super) struct TypeCounters {
    labels: TypeLabels,
    families: Families,
    /// By type and origin. Those of watches exist from the start, the others from their first delta on.
    deltas: [[OnceLock<Counter>; ORIGINS.len()]; TYPES.len()],
    gaps: Counter,
    gap_seconds: Seconds,
    pub(super) relists: Counter,
    pub(super) reconnects: Counter,
    pub(super) disconnected_seconds: Seconds,
}

impl TypeCounters {
    pub(super) fn new(families: &Families, labels: &TypeLabels) -> Self {
        let counters = Self {
            labels: labels.clone(),
            families: families.clone(),
            deltas: Default::default(),
            gaps: families.gaps.get_or_create_owned(labels),
            gap_seconds: families.gap_seconds.get_or_create_owned(labels),
            relists: families.relists.get_or_create_owned(labels),
            reconnects: families.reconnects.get_or_create_owned(labels),
            disconnected_seconds: families.disconnected_seconds.get_or_create_owned(labels),
        };
        for kind in [ChangeKind::Added, ChangeKind::Modified, ChangeKind::Deleted] {
            counters.delta(kind, Origin::Watch);
        }
        counters
    }

    /// Counts a notification.
    pub(super) fn count(&self, notification: &Notification) {
        let (kind, origin) = match notification {
            Notification::Added { origin, .. } => (ChangeKind::Added, *origin),
            Notification::Updated { origin: Origin::Resync, .. } => (ChangeKind::Sync, Origin::Resync),
            Notification::Updated { origin, .. } => (ChangeKind::Modified, *origin),
            Notification::Deleted { origin, .. } => (ChangeKind::Deleted, *origin),
            Notification::Mark(Mark::Gap { lasted, .. }) => {
                self.gaps.inc();
                self.gap_seconds.inc_by(lasted.as_secs_f64());
                return;
            }
            Notification::Mark(_) => return,
        };
        self.delta(kind, origin).inc();
    }

    /// Counts an event of a resumed watch.
    pub(super) fn count_resumed(&self, kind: ChangeKind) {
        self.delta(kind, Origin::Watch).inc();
    }

    fn delta(&self, kind: ChangeKind, origin: Origin) -> &Counter {
        let at = match kind {
            ChangeKind::Added => 0,
            ChangeKind::Modified => 1,
            ChangeKind::Deleted => 2,
            ChangeKind::Sync => 3,
        };
        let from = ORIGINS.iter().position(|other| *other == origin).unwrap_or_default();
        self.deltas[at][from].get_or_init(|| {
            let labels = DeltaLabels { of: self.labels.clone(), r#type: TYPES[at], origin: origin.as_str() };
            self.families.deltas.get_or_create_owned(&labels)
        })
    }

    /// Counts a failure.
    pub(super) fn count_failure(&self, phase: Phase, error: &Error) {
        let (phase, reason) = (phase_word(phase), reason(error));
        let labels = FailureLabels { of: self.labels.clone(), phase, reason };
        self.families.failures.get_or_create(&labels).inc();
    }
}

/// Returns the word for a step of a reflector.
fn phase_word(phase: Phase) -> &'static str {
    match phase {
        Phase::List => "list",
        Phase::WatchList => "watch-list",
        Phase::Check => "check",
        Phase::Open => "open",
        _ => "watch",
    }
}

/// Returns the word for an error. The text of an error would be a label without bounds.
pub(super) fn reason(error: &Error) -> &'static str {
    match error {
        Error::Expired(_) => "expired",
        Error::TooLargeResourceVersion(_) => "too-large-version",
        Error::TooManyRequests { .. } => "too-many-requests",
        Error::Unavailable { .. } => "unavailable",
        Error::Internal(_) => "internal",
        Error::Unauthorized(_) => "unauthorized",
        Error::Forbidden(_) => "forbidden",
        Error::NotFound(_) => "not-found",
        Error::NotSupported(_) => "not-supported",
        Error::Invalid(_) | Error::UnsupportedFieldSelector(_) => "invalid",
        Error::Refused(_) => "refused",
        Error::Tls(_) | Error::TlsAlert(_) => "tls",
        Error::Transport(_) => "connection",
        Error::Timeout(_) => "timeout",
        Error::Decode(_) => "decode",
        Error::NotStored(_) => "not-stored",
        _ => "other",
    }
}
