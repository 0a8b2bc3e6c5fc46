//! The counters and the connection of a part, and the values that are read at each scrape.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use kdelta::clock::Clock;
use kdelta::informer::Notification;
use kdelta::object::Origin;
use kdelta::queue::{Mark, QueueSize};
use kdelta::reflector::ReflectorEvent;

use super::families::TypeLabels;
use super::type_counters::{TypeCounters, reason};

/// The values of a part that are read at each scrape.
pub(crate) trait PartReadings: Send + Sync {
    /// Returns the events that were received and are not handed to the output yet, and the bytes of their objects.
    fn queued(&self) -> QueueSize;

    /// Returns the time of the last event or bookmark since the Unix epoch.
    fn last_message(&self) -> Option<Duration>;

    /// Whether the part needs no initial state and has been connected.
    fn is_resumed(&self) -> bool;
}

/// The counters and the connection of a part, for its reflector and for the receiver of its events.
pub(crate) struct PartStatus {
    pub(super) labels: TypeLabels,
    pub(super) counters: Arc<TypeCounters>,
    clock: Arc<dyn Clock>,
    /// The time at which the part was added.
    since: Instant,
    /// A std mutex: held for a read or an update.
    state: Mutex<State>,
}

#[derive(Clone, Copy)]
struct State {
    is_synced: bool,
    patience: Patience,
    /// The current loss: the time at which it was noticed, and its reason.
    lost: Option<(Instant, &'static str)>,
}

/// The effect of a part on the readiness before it has synced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Patience {
    /// The command is not ready.
    None,
    /// The part was added later: it may take as long to sync as the command may be behind.
    Some,
    /// The part is tried again silently: it need not be there.
    Unlimited,
}

/// The readiness of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Readiness {
    Ready,
    NotSynced,
    /// The time since the loss was noticed, and its reason.
    Lost(Duration, &'static str),
}

impl PartStatus {
    pub(super) fn new(
        labels: TypeLabels,
        counters: Arc<TypeCounters>,
        clock: Arc<dyn Clock>,
        patience: Patience,
    ) -> Self {
        let state = State { is_synced: false, patience, lost: None };
        Self { labels, counters, since: clock.now(), clock, state: Mutex::new(state) }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes the part unnecessary for the readiness until it has synced.
    pub(super) fn mark_retried(&self) {
        self.lock().patience = Patience::Unlimited;
    }

    /// Records an event of the part's reflector.
    pub(crate) fn observe(&self, event: &ReflectorEvent) {
        match event {
            ReflectorEvent::Lost { phase, error } => {
                self.counters.count_failure(*phase, error);
                self.lose(reason(error));
            }
            ReflectorEvent::Relisting { .. } => self.lose("expired"),
            ReflectorEvent::WentBack { .. } => self.lose("went-back"),
            ReflectorEvent::Recovered { lasted, .. } => {
                self.counters.reconnects.inc();
                self.recover(*lasted);
            }
            ReflectorEvent::Listed { origin: Origin::Relist, lasted, .. } => {
                self.counters.relists.inc();
                self.recover(*lasted);
            }
            ReflectorEvent::Listed { .. } => self.lock().lost = None,
            _ => {}
        }
    }

    fn lose(&self, reason: &'static str) {
        let now = self.clock.now();
        let mut state = self.lock();
        let since = state.lost.map_or(now, |(since, _)| since);
        state.lost = Some((since, reason));
    }

    fn recover(&self, lasted: Duration) {
        self.counters.disconnected_seconds.inc_by(lasted.as_secs_f64());
        self.lock().lost = None;
    }

    pub(super) fn count(&self, notification: &Notification) {
        self.counters.count(notification);
        if matches!(notification, Notification::Mark(Mark::Synced { .. })) {
            self.lock().is_synced = true;
        }
    }

    /// Whether the initial state is complete.
    pub(super) fn is_synced(&self) -> bool {
        self.lock().is_synced
    }

    /// Returns the time since the current loss was noticed, or since the part was added if it has not synced.
    pub(super) fn behind(&self, is_synced: bool) -> Duration {
        let state = *self.lock();
        let since = match state.lost {
            Some((since, _)) if is_synced => since,
            _ if is_synced => return Duration::ZERO,
            _ => self.since,
        };
        self.clock.now().saturating_duration_since(since)
    }

    /// Returns whether the part is synced and not lost for longer than this.
    pub(super) fn readiness(&self, is_synced: bool, max_behind: Duration) -> Readiness {
        let behind = self.behind(is_synced);
        let state = *self.lock();
        match (is_synced, state.patience, state.lost) {
            (true, _, Some((_, reason))) if behind > max_behind => Readiness::Lost(behind, reason),
            (true, _, _) | (false, Patience::Unlimited, _) => Readiness::Ready,
            (false, Patience::Some, _) if behind <= max_behind => Readiness::Ready,
            (false, _, _) => Readiness::NotSynced,
        }
    }
}
