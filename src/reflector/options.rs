//! What can be set about a reflector.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use super::backoff::{BackoffOptions, scaled};
use super::default_observer::log_failures;
use super::event::ReflectorEvent;
use crate::clock::{Clock, TokioClock};
use crate::listwatch::Error;
use crate::object::ResourceVersion;

/// Below this a watch is not worth its start: a shorter `min_watch_timeout` counts as this.
const SHORTEST_WATCH_TIMEOUT: Duration = Duration::from_mins(5);

/// A number in `[0, 1)`, another one at each call.
pub type Jitter = Arc<dyn Fn() -> f64 + Send + Sync>;

/// Is told what happens, in order and on the reflector's own task: it must not block.
pub type Observer = Arc<dyn Fn(&ReflectorEvent) + Send + Sync>;

/// Whether an error ends a reflector that has not synced yet.
pub type GiveUp = Arc<dyn Fn(&Error) -> bool + Send + Sync>;

/// Whether somebody is due a resync.
pub type ShouldResync = Arc<dyn Fn() -> bool + Send + Sync>;

/// What can be set about a reflector. The defaults are client-go's, and the limits it lacks.
#[derive(Clone)]
pub struct ReflectorOptions {
    /// The version of the first list: "0" (the default) is any state the source has at hand, unset is the most
    /// recent. A watch that sends the initial state is asked for the most recent also where this says "0": it costs
    /// the server no more.
    pub first_version: ResourceVersion,
    /// Go on after this version: the store is told what happened since, in the source's own words. `None` (the default)
    /// begins with the whole state.
    ///
    /// There is no state to compare a list with, so nothing is ever listed but one item, to learn how far the source has
    /// come. What only a list could mend ends the run with its error, before the first event or after any:
    /// - [`Error::Expired`], at once: the source no longer knows what happened after the version;
    /// - [`Error::TooLargeResourceVersion`], at once where the source says that its latest version is an older one, and
    ///   at the fifth refusal in a row where it says no more than that this one is too large: it may lag for a while;
    /// - [`Error::Decode`], at once: the same watch would bring the event that can't be read again.
    ///
    /// Everything else is as without: what passes is waited for.
    pub resume_from: Option<ResourceVersion>,
    /// Items of a list's page; 0 is all in one. `None` (the default) is 500, but all in one where a version is asked
    /// for, because a server answers that from memory only without a limit; unless it has shown that it can't.
    pub page_size: Option<u32>,
    /// Whether the first state is asked for by a list before any other way, and each of its pages as soon as an object of
    /// the one before has come and says how, while the others still come in. For who asks once, and a source that answers
    /// pages from memory (a Kubernetes server since 1.34, KEP-4988): it makes up to three at a time. Where the source refuses it,
    /// or it breaks off, the other ways are taken at once and from then on; where the source can't be reached, does not know
    /// who asks or wants to be asked later, it is as with any list. [`Reflector::list_once`](super::Reflector::list_once) only
    /// asks for pages early. Default: no.
    ///
    /// There are pages only where `first_version` is not "0", of which a Kubernetes server ignores the limit. A page that is
    /// asked for early comes in before its turn, and has up to two others to come before it: a source that bounds how long an
    /// answer may take bounds that too.
    pub pages_first: bool,
    /// Whether to ask for the initial state through a watch (KEP-3157) of a source that supports it. Default: yes.
    pub watch_list: bool,
    /// How long to wait for the watch that is to send the initial state to start, and then for the bookmark that ends it
    /// once its events stop arriving, 10 s by default.
    /// The clock starts anew with each object that comes in as added; from the first event of another kind, which a
    /// server sends only after the initial state, it runs on. Time spent waiting for the store does not count. A
    /// source that lets it run out is listed from then on; one that has read objects meanwhile without handing them on
    /// ([`ListerWatcher::objects_read`](crate::listwatch::ListerWatcher::objects_read)) has as long again.
    pub initial_events_deadline: Duration,
    /// How long a list may stay silent, before its first item or between two, until it counts as broken; 90 s by
    /// default: a Kubernetes server ends a list itself after 60 s. A source that has read objects meanwhile without
    /// handing them on has as long again.
    pub list_idle_limit: Duration,
    /// A watch ends after a time spread over this and twice this; 5 min by default and at least.
    pub min_watch_timeout: Duration,
    /// How much longer than its own timeout a watch may stay silent until it counts as broken; 30 s by default.
    pub idle_margin: Duration,
    /// How often the store repeats what it holds, while a watch stands; `None` (the default) is never.
    pub resync_period: Option<Duration>,
    /// Asked before each resync; without it every one takes place.
    pub should_resync: Option<ShouldResync>,
    /// The growth of the waits between tries, of lists and of watches separately.
    pub backoff: BackoffOptions,
    /// Where the time comes from.
    pub clock: Arc<dyn Clock>,
    /// Where chance comes from.
    pub jitter: Jitter,
    /// Is called with each event; by default [`log_failures`], and with `None` nothing is called.
    pub observer: Option<Observer>,
    /// Asked about each error before the first sync that would else be waited out: yes ends the run with that error.
    /// Without it the reflector tries for ever.
    pub give_up: Option<GiveUp>,
    /// The same of the start of a watch where none has stood yet: what was listed may not be allowed to be watched.
    pub give_up_watch: Option<GiveUp>,
}

impl Default for ReflectorOptions {
    fn default() -> Self {
        Self {
            first_version: ResourceVersion::ANY,
            resume_from: None,
            page_size: None,
            pages_first: false,
            watch_list: true,
            initial_events_deadline: Duration::from_secs(10),
            list_idle_limit: Duration::from_secs(90),
            min_watch_timeout: SHORTEST_WATCH_TIMEOUT,
            idle_margin: Duration::from_secs(30),
            resync_period: None,
            should_resync: None,
            backoff: BackoffOptions::default(),
            clock: Arc::new(TokioClock),
            jitter: Arc::new(fastrand::f64),
            observer: Some(Arc::new(log_failures)),
            give_up: None,
            give_up_watch: None,
        }
    }
}

impl ReflectorOptions {
    /// The timeout of one watch, in whole seconds: sources count in those.
    pub(super) fn watch_timeout(&self) -> Duration {
        let min = self.min_watch_timeout.max(SHORTEST_WATCH_TIMEOUT);
        Duration::from_secs(scaled(min, 1.0 + (self.jitter)()).as_secs())
    }

    pub(super) fn tell(&self, event: &ReflectorEvent) {
        tracing::debug!(?event, "reflector");
        // An observer is the caller's: its panic must not end the run.
        if let Some(observer) = &self.observer
            && catch_unwind(AssertUnwindSafe(|| observer(event))).is_err()
        {
            tracing::error!(
                ?event,
                "the observer of a reflector panicked; it is called again with the next event"
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // G25
    #[test]
    fn a_watch_lasts_between_its_minimum_and_twice_that() {
        for (option, low, high) in [(1, 300, 600), (300, 300, 600), (1800, 1800, 3600)] {
            for jitter in [0.0, 0.5, 0.999_999] {
                let options = ReflectorOptions {
                    min_watch_timeout: Duration::from_secs(option),
                    jitter: Arc::new(move || jitter),
                    ..ReflectorOptions::default()
                };
                assert!((low..high).contains(&options.watch_timeout().as_secs()));
            }
        }
    }
}
