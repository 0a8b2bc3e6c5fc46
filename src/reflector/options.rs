//! The options of a reflector.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use super::default_observer::log_failures;
use super::event::ReflectorEvent;
use super::jitter::Jitter;
use super::recovery::backoff::{BackoffOptions, scaled};
use crate::clock::{Clock, TokioClock};
use crate::listwatch::Error;
use crate::object::ResourceVersion;

/// The smallest effective `min_watch_timeout`: shorter watches cost more to start than they save.
const SHORTEST_WATCH_TIMEOUT: Duration = Duration::from_mins(5);

/// Receives the events of a reflector, in order and on the reflector's task. It must not block.
pub type Observer = Arc<dyn Fn(&ReflectorEvent) + Send + Sync>;

/// Returns true for an error that ends a reflector before its first sync.
pub type GiveUp = Arc<dyn Fn(&Error) -> bool + Send + Sync>;

/// Returns true if a handler is due a resync.
pub type ShouldResync = Arc<dyn Fn() -> bool + Send + Sync>;

/// The options of a reflector. The defaults are client-go's, with limits where client-go has none.
///
/// ```
/// use std::time::Duration;
///
/// use kdelta::object::ResourceVersion;
/// use kdelta::reflector::{BackoffOptions, ReflectorOptions};
///
/// // Reads the most recent state, and retries more often than client-go.
/// let options = ReflectorOptions::default()
///     .first_version(ResourceVersion::UNSET)
///     .backoff(BackoffOptions::default().cap(Duration::from_secs(5)));
/// assert_eq!(options.backoff.start, Duration::from_millis(800));
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct ReflectorOptions {
    /// The version of the first list: "0" (the default) is any state in the source's memory, unset is the most recent one. In a
    /// watch, the most recent initial state is requested also for "0", because it costs the server no more.
    pub first_version: ResourceVersion,
    /// The version from which a run continues: the store receives the events since then, unchanged. `None` (the default) begins
    /// with the whole state.
    ///
    /// Without a stored state there is nothing to compare a list with, so the source is never listed, except for one item that
    /// shows its latest version. Errors that only a list could repair end the run, at any time:
    /// - [`Error::Expired`], at once: the source no longer has the events since the version;
    /// - [`Error::TooLargeResourceVersion`], at once if the source's latest version is known to be older, and at the fifth
    ///   refusal in a row if it is not: the source may lag for a while;
    /// - [`Error::Decode`], at once: the same watch would deliver the unreadable event again.
    ///
    /// Other errors are retried as usual.
    pub resume_from: Option<ResourceVersion>,
    /// Whether the first list returns a state that was received earlier, possibly from another source. The source's latest version
    /// is then requested with the first watch: if it is older than that of the list, the source is listed. Default: no.
    pub first_list_is_known: bool,
    /// The number of items in a page of a list; 0 is no limit. `None` (the default) is 500, but no limit for a list at a
    /// version, which a server serves from memory only without a limit, unless it has shown that it does not.
    pub page_size: Option<u32>,
    /// Whether a list precedes all other ways to the first state, and its pages are requested early: each as soon as the
    /// page before has sent its first object, so that the source produces up to three at a time. For one-shot readers of
    /// a source that serves pages from memory (a Kubernetes server since 1.34, KEP-4988). If the source refuses the list
    /// or it breaks off, the other ways are tried at once, and used from then on. If the source is unreachable, rejects
    /// the credentials or names a time when to try again, the list is retried as usual.
    /// [`Reflector::list_once`](super::Reflector::list_once) only requests pages early. Default: no.
    ///
    /// A Kubernetes server ignores the limit of a list at "0", so `first_version` must not be "0". A page that is
    /// requested early waits for up to two others, which counts for a source that limits the time of a response.
    pub pages_first: bool,
    /// Whether the initial state is requested in a watch (KEP-3157), if the source supports it. Default: yes.
    pub watch_list: bool,
    /// The limit for the start of a watch that sends the initial state, and then for each silence until the bookmark that ends
    /// the state; 10 s by default.
    /// Each added object restarts it. From the first event of another kind, which a server sends only after the initial state, it
    /// is not restarted. Waits for the store do not count. A source that exceeds it is listed from then on; it is extended
    /// while the source reads objects without delivering them
    /// ([`ListerWatcher::objects_read`](crate::listwatch::ListerWatcher::objects_read)).
    pub initial_events_deadline: Duration,
    /// The longest silence of a list, before its first item or between two items; 90 s by default. A Kubernetes server itself
    /// ends a list after 60 s. It is extended while the source reads objects without delivering them.
    pub list_idle_limit: Duration,
    /// The minimum timeout of a watch, which is uniform between this and twice this; at least 5 min, which is the default.
    pub min_watch_timeout: Duration,
    /// The time after its timeout at which a silent watch counts as broken; 30 s by default.
    pub idle_margin: Duration,
    /// The period of resyncs, which take place while a watch is established; `None` (the default) is never.
    pub resync_period: Option<Duration>,
    /// Is called before each resync, and returns whether it takes place; with `None`, every one does.
    pub should_resync: Option<ShouldResync>,
    /// The waits between lists and between watches, which grow separately.
    pub backoff: BackoffOptions,
    /// The clock of all waits.
    pub clock: Arc<dyn Clock>,
    /// The randomness of waits and of the timeouts of watches.
    pub jitter: Jitter,
    /// Is called with each event; by default [`log_failures`], and with `None` nothing is called.
    pub observer: Option<Observer>,
    /// Is called with each error before the first sync that would be retried; true ends the run with that error. With `None`, the
    /// reflector tries for ever.
    pub give_up: Option<GiveUp>,
    /// The same for the start of the first watch: listing may be allowed, but not watching.
    pub give_up_watch: Option<GiveUp>,
}

impl Default for ReflectorOptions {
    fn default() -> Self {
        Self {
            first_version: ResourceVersion::ANY,
            resume_from: None,
            first_list_is_known: false,
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

setters!(ReflectorOptions {
    first_version: ResourceVersion,
    resume_from: Option<ResourceVersion>,
    first_list_is_known: bool,
    page_size: Option<u32>,
    pages_first: bool,
    watch_list: bool,
    initial_events_deadline: Duration,
    list_idle_limit: Duration,
    min_watch_timeout: Duration,
    idle_margin: Duration,
    resync_period: Option<Duration>,
    should_resync: Option<ShouldResync>,
    backoff: BackoffOptions,
    clock: Arc<dyn Clock>,
    jitter: Jitter,
    observer: Option<Observer>,
    give_up: Option<GiveUp>,
    give_up_watch: Option<GiveUp>,
});

impl ReflectorOptions {
    /// Returns the timeout of a watch, in whole seconds as sources expect it.
    pub(super) fn watch_timeout(&self) -> Duration {
        let min = self.min_watch_timeout.max(SHORTEST_WATCH_TIMEOUT);
        Duration::from_secs(scaled(min, 1.0 + (self.jitter)()).as_secs())
    }

    pub(super) fn report(&self, event: &ReflectorEvent) {
        tracing::debug!(?event, "reflector");
        // A panic of the caller's observer must not end the run.
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
    fn watch_timeout_is_between_its_minimum_and_twice_that() {
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
