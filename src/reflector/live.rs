//! The live watch: opened at the last version, followed until it ends.

use std::time::{Duration, Instant};

use tokio::task::coop::consume_budget;

use super::event::ReflectorEvent;
use super::list::{refuse_table, silent};
use super::machine::Machine;
use super::sink::ReflectorStore;
use super::source_deadline::within_of_source;
use crate::clock::within;
use crate::listwatch::{Error, ListerWatcher, WatchEvent, WatchOptions, WatchStream};
use crate::object::{Object, Origin, ResourceVersion};

/// A watch that ends sooner, and without an event, has failed, whatever it says. One that stands for longer works.
const VERY_SHORT: Duration = Duration::from_secs(1);

/// A watch that is ended by so much before its timeout is ended early; by less, the clocks differ.
const EARLY: Duration = Duration::from_secs(15);

/// How long a watch may stay silent of a source that has shown that it sends bookmarks all the time. A Kubernetes
/// server sends one a minute: two have not come then. Without this a stream that stalls while its connection lives
/// would be noticed only at the end of its timeout.
const BOOKMARKED_SILENCE: Duration = Duration::from_mins(3);

/// Two bookmarks of one watch that are not farther apart show it.
const BOOKMARKED_PACE: Duration = Duration::from_secs(100);

/// A watch that stands.
pub(super) struct Live<W> {
    pub(super) stream: W,
    /// When it was asked for, without the time for which the source was held up.
    pub(super) opened: Instant,
    /// When the source is to end it, counted from then.
    pub(super) timeout: Duration,
    /// The version it was opened at.
    pub(super) from: ResourceVersion,
    /// It has brought an object, or the initial state.
    pub(super) delivered: bool,
    /// It was opened at no version, or any: the source tells first, in no order of versions, what is there. Until
    /// something else comes, what it brings does not move the last version.
    pub(super) synthetic: bool,
    /// When its last bookmark came.
    pub(super) bookmarked: Option<Instant>,
}

impl<W> Live<W> {
    /// A watch asked for with these options.
    pub(super) fn new(stream: W, options: WatchOptions, opened: Instant) -> Self {
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

    /// How long a silence that begins now may last. The source ends the watch at its timeout; but what it sent before
    /// may come late when the store has kept us from reading it.
    fn patience(&self, now: Instant, margin: Duration) -> Duration {
        self.left(now).saturating_add(margin)
    }

    /// How long it is until the source ends it.
    fn left(&self, now: Instant) -> Duration {
        self.timeout.saturating_sub(now.saturating_duration_since(self.opened))
    }
}

/// A time in which a watch was read from and nothing came. The turns of the loop that end in it for another reason, as
/// for a resync, are parts of it; what the store makes us wait is not.
#[derive(Default)]
struct Silence {
    lasted: Duration,
    /// How long it may last, settled as it begins.
    limit: Duration,
}

impl Silence {
    fn left(&self) -> Duration {
        self.limit.saturating_sub(self.lasted)
    }
}

/// How a watch ended.
pub(super) enum End {
    /// The source ended it.
    Clean {
        /// Well before it was to: a server that shuts down does so, and another may answer in its place.
        early: bool,
    },
    /// It ended before it was any use, and nothing says why.
    Wordless,
    /// It broke, or the source said why it can't go on.
    Broken {
        /// Why.
        error: Error,
    },
}

impl<L: ListerWatcher, S: ReflectorStore> Machine<L, S> {
    /// Starts a watch at the last version.
    pub(super) async fn open(&self) -> Result<Live<L::Watch>, Error> {
        let options = WatchOptions {
            resource_version: self.last_version(),
            allow_bookmarks: true,
            timeout: Some(self.options.watch_timeout()),
            ..WatchOptions::default()
        };
        // The response may take no longer to begin than the watch itself.
        let limit = options.timeout.unwrap_or_default().saturating_add(self.options.idle_margin);
        let started = self.start_watch(options, limit).await?;
        started.ok_or_else(|| silent("the start of the watch", limit))
    }

    /// Starts a watch; returns nothing if its response does not begin within the limit.
    pub(super) async fn start_watch(
        &self,
        options: WatchOptions,
        limit: Duration,
    ) -> Result<Option<Live<L::Watch>>, Error> {
        let (asked_at, before) = (self.options.clock.now(), self.source.external_wait());
        let answer =
            within_of_source(&*self.options.clock, &self.source, limit, self.source.watch(&options)).await;
        let Some(stream) = answer.transpose()? else { return Ok(None) };
        // A log-in may take longer than the watch, whose time the source counts from when it is asked.
        let external_wait = self.source.external_wait().saturating_sub(before);
        let opened = (asked_at + external_wait).min(self.options.clock.now());
        Ok(Some(Live::new(stream, options, opened)))
    }

    /// Carries the events of one watch into the store until it ends.
    pub(super) async fn follow(&mut self, live: &mut Live<L::Watch>) -> End {
        let clock = self.options.clock.clone();
        let began = clock.now();
        let mut silence = Silence::default();
        loop {
            consume_budget().await;
            self.store.ready().await;
            let now = clock.now();
            let settled = (began + VERY_SHORT).saturating_duration_since(now);
            if settled.is_zero() {
                self.recovered(live, now);
            }
            let resync = self.resync_if_due(now);
            if silence.lasted.is_zero() {
                silence.limit = self.patience(live, now);
            }
            let unsettled = if self.memory.loss.is_some() { settled } else { Duration::MAX };
            let wake = silence.left().min(resync).min(unsettled);
            let read = self.source.objects_read();
            match within(&*clock, wake, live.stream.next()).await {
                None if self.source.objects_read() != read => silence = Silence::default(),
                None => {
                    silence.lasted = silence.lasted.saturating_add(wake);
                    if silence.left().is_zero() {
                        let error = silent("the watch", silence.limit);
                        return End::Broken { error };
                    }
                }
                Some(Some(Ok(event))) => {
                    silence = Silence::default();
                    if let Err(error) = self.apply(live, event) {
                        return End::Broken { error };
                    }
                    self.recovered(live, now);
                }
                Some(end) => {
                    // From when it was asked for, as client-go does: what is read late may have stood for long.
                    let stood = clock.now().saturating_duration_since(live.opened);
                    let at_once = !live.delivered && stood < VERY_SHORT;
                    return match end {
                        Some(Err(error)) => End::Broken { error },
                        _ if at_once => End::Wordless,
                        _ => End::Clean { early: live.left(clock.now()) > EARLY },
                    };
                }
            }
        }
    }

    /// How long the watch may be silent from now on.
    fn patience(&self, live: &Live<L::Watch>, now: Instant) -> Duration {
        let patience = live.patience(now, self.options.idle_margin);
        if self.memory.learned.sends_bookmarks { patience.min(BOOKMARKED_SILENCE) } else { patience }
    }

    /// Writes one event.
    fn apply(&mut self, live: &mut Live<L::Watch>, event: WatchEvent) -> Result<(), Error> {
        let (object, write, is_live): (_, fn(&S, _, _) -> _, _) = match event {
            WatchEvent::Bookmark { resource_version, .. } => {
                live.synthetic = false;
                let now = self.options.clock.now();
                let before = live.bookmarked.replace(now);
                self.memory.learned.sends_bookmarks |=
                    before.is_some_and(|before| now - before <= BOOKMARKED_PACE);
                self.store.bookmark(&resource_version);
                self.received(&resource_version);
                self.watch_delivered();
                return Ok(());
            }
            WatchEvent::Added(object) => (object, S::add, false),
            WatchEvent::Modified(object) => (object, S::update, true),
            WatchEvent::Deleted(object) => (object, S::delete, true),
        };
        refuse_table(&object)?;
        if self.expected.refuses(&object, &self.options) {
            return Ok(());
        }
        live.synthetic &= !is_live;
        let version = Object::resource_version(&object).clone();
        let written = write(&self.store, object, Origin::Watch);
        self.report(written);
        if !live.synthetic {
            self.received(&version);
        }
        live.delivered = true;
        self.watch_delivered();
        Ok(())
    }

    /// Forgets the failures that only count in a row. The back-offs go on: a source that fails after one event each time
    /// must not be asked at the shortest wait for ever.
    fn watch_delivered(&mut self) {
        self.memory.expired_watches = 0;
        self.memory.early_watches = 0;
        self.memory.short_watches = 0;
    }

    /// Tells, once, that a watch that had been lost stands again.
    fn recovered(&mut self, live: &Live<L::Watch>, now: Instant) {
        if let Some(loss) = self.memory.loss.take() {
            let version = live.from.clone();
            self.options.tell(&ReflectorEvent::Recovered { version, lasted: now - loss.since });
        }
    }

    /// Has the store repeat itself when it is time, and answers how long it is until the next time. A time that
    /// passed while there was no watch is made up for once.
    fn resync_if_due(&mut self, now: Instant) -> Duration {
        let Some(period) = self.options.resync_period.filter(|period| !period.is_zero()) else {
            return Duration::MAX;
        };
        // One that ends beyond all time is never.
        let Some(next) = now.checked_add(period) else { return Duration::MAX };
        let due = *self.memory.next_resync.get_or_insert(next);
        if now < due {
            return due - now;
        }
        self.memory.next_resync = Some(next);
        if self.options.should_resync.as_ref().is_none_or(|should| should()) {
            let resynced = self.store.resync();
            self.report(resynced);
        }
        period
    }
}
