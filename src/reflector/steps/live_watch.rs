//! The live watch: opened at the last version, and read until it ends.

use std::time::{Duration, Instant};

use tokio::task::coop::consume_budget;

use super::source_deadline::{silent, within_of_source};
use crate::clock::within;
use crate::listwatch::{Error, ListerWatcher, WatchEvent, WatchOptions, WatchStream};
use crate::object::{Object, Origin, ResourceVersion};
use crate::reflector::event::ReflectorEvent;
use crate::reflector::expected_type::refuse_table;
use crate::reflector::reflector_store::ReflectorStore;
use crate::reflector::run_context::RunContext;

/// A watch that ends sooner without an event has failed, even if it ends cleanly.
const MIN_WATCH_LIFETIME: Duration = Duration::from_secs(1);

/// A watch that ends at least this long before its timeout ended early. Smaller differences are those of the clocks.
const EARLY_END_MARGIN: Duration = Duration::from_secs(15);

/// The longest silence of a watch whose source sends bookmarks regularly. A Kubernetes server sends one a minute, so two are
/// missing then. Without this limit, a stream that stalls on a live connection would be noticed only at its timeout.
const BOOKMARK_SILENCE: Duration = Duration::from_mins(3);

/// The longest time between two bookmarks of one watch that shows a source to send them regularly.
const BOOKMARK_INTERVAL: Duration = Duration::from_secs(100);

/// An established watch.
pub(in crate::reflector) struct LiveWatch<W> {
    pub(in crate::reflector) stream: W,
    /// When it was requested, without the time that the source spent waiting for something else.
    pub(in crate::reflector) opened: Instant,
    /// The time after which the source ends it.
    pub(in crate::reflector) timeout: Duration,
    /// The version at which it was opened.
    pub(in crate::reflector) from: ResourceVersion,
    /// Whether it has delivered an object or the initial state.
    pub(in crate::reflector) delivered: bool,
    /// Whether it was opened without a version or at any version, so that the source first sends existing objects, in no order of
    /// versions. Until another event arrives, they do not change the last version.
    pub(in crate::reflector) synthetic: bool,
    /// When its last bookmark arrived.
    pub(in crate::reflector) bookmarked: Option<Instant>,
}

impl<W> LiveWatch<W> {
    /// Creates a watch that was requested with these options.
    pub(in crate::reflector) fn new(stream: W, options: WatchOptions, opened: Instant) -> Self {
        Self {
            stream,
            opened,
            timeout: options.timeout.unwrap_or_default(),
            synthetic: options.resource_version.is_unset() || options.resource_version.is_any(),
            from: options.resource_version,
            delivered: false,
            bookmarked: None,
        }
    }

    /// Returns the longest allowed silence from now on. The source ends the watch at its timeout, but its last events may be
    /// read late if the store delayed the reading.
    fn silence_limit(&self, now: Instant, margin: Duration) -> Duration {
        self.left(now).saturating_add(margin)
    }

    /// Returns the time until the source ends it.
    fn left(&self, now: Instant) -> Duration {
        self.timeout.saturating_sub(now.saturating_duration_since(self.opened))
    }
}

/// The time for which nothing arrived while the watch was being read. It spans turns of the loop that end for another reason,
/// such as a resync. Waits for the store do not count.
#[derive(Default)]
struct Silence {
    lasted: Duration,
    /// The limit, which is fixed when the silence begins.
    limit: Duration,
}

impl Silence {
    fn left(&self) -> Duration {
        self.limit.saturating_sub(self.lasted)
    }
}

/// The end of a watch.
pub(in crate::reflector) enum WatchEnd {
    /// The source ended it.
    Clean {
        /// Whether it ended well before its timeout, as when a server shuts down. Another server may take its place.
        early: bool,
    },
    /// It ended at once, without an event or an error.
    WithoutEvent,
    /// It broke, or the source ended it with an error.
    Broken {
        /// The error.
        error: Error,
    },
}

/// Starts a watch from the last version.
pub(in crate::reflector) async fn open<L: ListerWatcher, S: ReflectorStore>(
    context: &RunContext<L, S>,
) -> Result<LiveWatch<L::Watch>, Error> {
    let options = WatchOptions {
        resource_version: context.version_to_watch(),
        allow_bookmarks: true,
        timeout: Some(context.options.watch_timeout()),
        ..WatchOptions::default()
    };
    // The response must begin within the time of the watch.
    let limit = options.timeout.unwrap_or_default().saturating_add(context.options.idle_margin);
    let started = start_watch(context, options, limit).await?;
    started.ok_or_else(|| silent("the start of the watch", limit))
}

/// Starts a watch; returns nothing if its response does not begin within the limit.
pub(in crate::reflector) async fn start_watch<L: ListerWatcher, S: ReflectorStore>(
    context: &RunContext<L, S>,
    options: WatchOptions,
    limit: Duration,
) -> Result<Option<LiveWatch<L::Watch>>, Error> {
    let (requested_at, before) = (context.options.clock.now(), context.source.external_wait());
    let response =
        within_of_source(&*context.options.clock, &context.source, limit, context.source.watch(&options))
            .await;
    let Some(stream) = response.transpose()? else { return Ok(None) };
    // A log-in may take longer than the watch, whose time the source counts from the request.
    let external_wait = context.source.external_wait().saturating_sub(before);
    let opened = (requested_at + external_wait).min(context.options.clock.now());
    Ok(Some(LiveWatch::new(stream, options, opened)))
}

/// Writes the events of a watch to the store until it ends.
pub(in crate::reflector) async fn follow<L: ListerWatcher, S: ReflectorStore>(
    context: &mut RunContext<L, S>,
    live: &mut LiveWatch<L::Watch>,
) -> WatchEnd {
    let clock = context.options.clock.clone();
    let began = clock.now();
    let mut silence = Silence::default();
    loop {
        consume_budget().await;
        context.store.ready().await;
        let now = clock.now();
        let settled = (began + MIN_WATCH_LIFETIME).saturating_duration_since(now);
        if settled.is_zero() {
            recovered(context, live, now);
        }
        let resync = resync_if_due(context, now);
        if silence.lasted.is_zero() {
            silence.limit = silence_limit(context, live, now);
        }
        let unsettled = if context.recovery.loss.is_some() { settled } else { Duration::MAX };
        let wake = silence.left().min(resync).min(unsettled);
        let read = context.source.objects_read();
        match within(&*clock, wake, live.stream.next()).await {
            None if context.source.objects_read() != read => silence = Silence::default(),
            None => {
                silence.lasted = silence.lasted.saturating_add(wake);
                if silence.left().is_zero() {
                    let error = silent("the watch", silence.limit);
                    return WatchEnd::Broken { error };
                }
            }
            Some(Some(Ok(event))) => {
                silence = Silence::default();
                if let Err(error) = apply(context, live, event) {
                    return WatchEnd::Broken { error };
                }
                recovered(context, live, now);
            }
            Some(end) => {
                // Measured from the request, as client-go does: an event that is read late does not make the watch
                // short.
                let stood = clock.now().saturating_duration_since(live.opened);
                let at_once = !live.delivered && stood < MIN_WATCH_LIFETIME;
                return match end {
                    Some(Err(error)) => WatchEnd::Broken { error },
                    _ if at_once => WatchEnd::WithoutEvent,
                    _ => WatchEnd::Clean { early: live.left(clock.now()) > EARLY_END_MARGIN },
                };
            }
        }
    }
}

/// Returns the longest allowed silence of the watch from now on.
fn silence_limit<L: ListerWatcher, S: ReflectorStore>(
    context: &RunContext<L, S>,
    live: &LiveWatch<L::Watch>,
    now: Instant,
) -> Duration {
    let silence_limit = live.silence_limit(now, context.options.idle_margin);
    if context.recovery.traits.sends_bookmarks { silence_limit.min(BOOKMARK_SILENCE) } else { silence_limit }
}

/// Writes one event to the store.
fn apply<L: ListerWatcher, S: ReflectorStore>(
    context: &mut RunContext<L, S>,
    live: &mut LiveWatch<L::Watch>,
    event: WatchEvent,
) -> Result<(), Error> {
    let deleted = match &event {
        WatchEvent::Deleted(object) if context.is_repeated(object) => return Ok(()),
        WatchEvent::Deleted(object) => Some(object.key().clone()),
        _ => None,
    };
    let (object, write, is_live): (_, fn(&S, _, _) -> _, _) = match event {
        WatchEvent::Bookmark { resource_version, .. } => {
            live.synthetic = false;
            let now = context.options.clock.now();
            let before = live.bookmarked.replace(now);
            context.recovery.traits.sends_bookmarks |=
                before.is_some_and(|before| now - before <= BOOKMARK_INTERVAL);
            context.store.bookmark(&resource_version);
            context.received(&resource_version, None);
            watch_delivered(context);
            return Ok(());
        }
        WatchEvent::Added(object) => (object, S::add, false),
        WatchEvent::Modified(object) => (object, S::update, true),
        WatchEvent::Deleted(object) => (object, S::delete, true),
    };
    refuse_table(&object)?;
    if context.expected.refuses(&object, &context.options) {
        return Ok(());
    }
    live.synthetic &= !is_live;
    let version = Object::resource_version(&object).clone();
    let written = write(&context.store, object, Origin::Watch);
    context.report_store_error(written);
    if !live.synthetic {
        context.received(&version, deleted);
    }
    live.delivered = true;
    watch_delivered(context);
    Ok(())
}

/// Resets the counts of failures in a row. The back-offs continue, so that a source that fails after each event is not
/// requested at the shortest wait for ever.
fn watch_delivered<L: ListerWatcher, S: ReflectorStore>(context: &mut RunContext<L, S>) {
    context.recovery.expired_watches = 0;
    context.recovery.early_watches = 0;
    context.recovery.short_watches = 0;
}

/// Reports once that a lost watch is established again.
fn recovered<L: ListerWatcher, S: ReflectorStore>(
    context: &mut RunContext<L, S>,
    live: &LiveWatch<L::Watch>,
    now: Instant,
) {
    if let Some(loss) = context.recovery.loss.take() {
        let version = live.from.clone();
        context.options.report(&ReflectorEvent::Recovered { version, lasted: now - loss.since });
    }
}

/// Resyncs the store if it is due, and returns the time until the next resync. Resyncs that were missed while there was no
/// watch are made up for by one.
fn resync_if_due<L: ListerWatcher, S: ReflectorStore>(
    context: &mut RunContext<L, S>,
    now: Instant,
) -> Duration {
    let Some(period) = context.options.resync_period.filter(|period| !period.is_zero()) else {
        return Duration::MAX;
    };
    // A period beyond the clock's range never ends.
    let Some(next) = now.checked_add(period) else { return Duration::MAX };
    let due = *context.recovery.next_resync.get_or_insert(next);
    if now < due {
        return due - now;
    }
    context.recovery.next_resync = Some(next);
    if context.options.should_resync.as_ref().is_none_or(|should| should()) {
        let resynced = context.store.resync();
        context.report_store_error(resynced);
    }
    period
}
