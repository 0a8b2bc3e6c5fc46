//! What is said and counted of the parts that are watched: losses and recoveries, on stderr.

use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use kdelta::informer::Registration;
use kdelta::listwatch::Error;
use kdelta::object::Origin;
use kdelta::reflector::{Observer, ReflectorEvent};
use tokio::sync::Notify;

use crate::exit::Report;
use crate::output::Messages;
use crate::session::{Part, PartSource, Session, StatusSignal};
use crate::view::{Crowd, Notices};

/// Listens to reflectors. Cheap to clone; clones count together.
#[derive(Clone)]
pub(crate) struct Watched {
    messages: Arc<Messages>,
    verbose: bool,
    counts: Arc<Counts>,
    /// A std mutex: held while a line is made.
    crowd: Arc<Mutex<Crowd>>,
}

/// The place of a part among all that are watched, for as long as it is.
struct Place {
    crowd: Arc<Mutex<Crowd>>,
    number: usize,
    messages: Arc<Messages>,
}

impl Place {
    fn line(&self, prefix: &str, event: &ReflectorEvent, own: Option<String>) -> Option<String> {
        let mut crowd = self.crowd.lock().unwrap_or_else(PoisonError::into_inner);
        crowd.line(prefix, self.number, event, own)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let line = self.crowd.lock().unwrap_or_else(PoisonError::into_inner).leave(self.number);
        if let Some(line) = line {
            self.messages.notice(&line);
        }
    }
}

/// Relaxed counters: numbers to look at, on which nothing hangs.
#[derive(Default)]
struct Counts {
    told: AtomicU64,
    printed: AtomicU64,
    suppressed: AtomicU64,
    relists: AtomicU64,
    reconnects: AtomicU64,
    /// Parts that were ever watched, which numbers them.
    parts: AtomicUsize,
    /// A std mutex: held for a look or a change.
    merged: Mutex<Merged>,
}

/// What was merged for a reader that is too slow.
#[derive(Default)]
struct Merged {
    /// Who knows it of the parts that run, by their numbers.
    told_by: HashMap<usize, Registration>,
    /// Of those that have gone.
    before: u64,
}

impl Watched {
    pub(crate) fn new(messages: Arc<Messages>, verbose: bool) -> Self {
        Self { messages, verbose, counts: Arc::default(), crowd: Arc::default() }
    }

    /// From now on SIGUSR1 is answered with what has been counted.
    ///
    /// # Errors
    /// The system does not let us listen.
    pub(crate) fn answers(&self) -> io::Result<StatusSignal> {
        let own = self.clone();
        StatusSignal::start(move || own.messages.notice(&own.summary()))
    }

    pub(super) fn messages(&self) -> &Messages {
        &self.messages
    }

    /// The source, which tells when the server can't select by the fields that were asked for: a field that does not
    /// exist selects nothing without a word otherwise.
    pub(super) fn source(&self, part: &Part, source: PartSource) -> PartSource {
        let (messages, title) = (Arc::clone(&self.messages), part.title());
        source.on_selector_refused(move |why| {
            messages.notice(&format!("{title}: selected here, not by the server: {why}"));
        })
    }

    /// Returns the observer of a command that asks once: it reports long waits, and not what a further try may mend.
    pub(super) fn one_shot_observer(&self, part: &Part) -> Observer {
        self.observer_with(part, Notices::of_one_shot(part.title(), self.verbose))
    }

    /// Who is told what happens to the watch of a part.
    pub(super) fn observer(&self, part: &Part) -> Observer {
        self.observer_with(part, Notices::of(part.title(), self.verbose))
    }

    fn observer_with(&self, part: &Part, notices: Notices) -> Observer {
        // A std mutex: one reflector speaks at a time, and a line is all that is made under it.
        let notices = Mutex::new(notices);
        let place = Place {
            crowd: Arc::clone(&self.crowd),
            number: self.counts.parts.fetch_add(1, Ordering::Relaxed),
            messages: Arc::clone(&self.messages),
        };
        let (watched, prefix) = (self.clone(), Arc::clone(&part.prefix));
        Arc::new(move |event| {
            watched.count(event);
            let own = notices.lock().unwrap_or_else(PoisonError::into_inner).line(event);
            let line = if watched.verbose { own } else { place.line(&prefix, event, own) };
            if let Some(line) = line {
                watched.messages.notice(&line);
            }
        })
    }

    /// The same observer for a part whose type may come and go: that it is not there is not said, but has the types
    /// looked at.
    pub(super) fn without_missing(observer: Observer, look: Arc<Notify>) -> Observer {
        Arc::new(move |event| match event {
            ReflectorEvent::Lost { error: Error::NotFound(_), .. } => look.notify_one(),
            // It may be found missing next; where it is not, the new list is told.
            ReflectorEvent::Relisting { .. } => {}
            _ => observer(event),
        })
    }

    /// The same observer for a part that is tried again without a word, as often as need be: told once it is listed.
    pub(super) fn once_listed(observer: Observer) -> Observer {
        // Relaxed: one reflector speaks at a time.
        let listed = AtomicBool::new(false);
        Arc::new(move |event| {
            if matches!(event, ReflectorEvent::Listed { .. }) {
                listed.store(true, Ordering::Relaxed);
            }
            if listed.load(Ordering::Relaxed) {
                observer(event);
            }
        })
    }

    /// Says which contexts can't be used; answers whether there are any.
    pub(super) fn tell_unusable(&self, session: &Session) -> bool {
        for (context, error) in session.unusable() {
            self.tell_error(&format!("{context}: "), error);
        }
        !session.unusable().is_empty()
    }

    /// Says that a cluster can't be asked while others are; where there is but the one it is the end.
    ///
    /// # Errors
    /// The error, where there are no others.
    pub(super) fn tell_setback(&self, prefix: &str, error: anyhow::Error) -> anyhow::Result<()> {
        if prefix.is_empty() {
            return Err(error);
        }
        self.tell_error(prefix, &error);
        Ok(())
    }

    /// Says an error that is not the end, of what this prefix says.
    pub(super) fn tell_error(&self, prefix: &str, error: &anyhow::Error) {
        let report = Report::of(error, "");
        self.messages.error(&report.prefixed(prefix), report.hint.as_deref());
    }

    fn count(&self, event: &ReflectorEvent) {
        let counter = match event {
            ReflectorEvent::Recovered { .. } => &self.counts.reconnects,
            ReflectorEvent::Listed { origin: Origin::Relist, .. } => &self.counts.relists,
            _ => return,
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// From now on what is merged of that part is counted, too.
    pub(super) fn count_merged(&self, part: usize, registration: Registration) {
        let mut merged = self.counts.merged.lock().unwrap_or_else(PoisonError::into_inner);
        merged.told_by.insert(part, registration);
    }

    /// Nothing more is merged of that part.
    pub(super) fn end_merged(&self, part: usize) {
        let mut merged = self.counts.merged.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(registration) = merged.told_by.remove(&part) {
            merged.before += registration.coalesced();
        }
    }

    /// A delta was told.
    pub(super) fn count_told(&self) {
        self.counts.told.fetch_add(1, Ordering::Relaxed);
    }

    /// That delta was printed, or passed over because it shows nothing that was asked for.
    pub(super) fn count_shown(&self, printed: bool) {
        let counter = if printed { &self.counts.printed } else { &self.counts.suppressed };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// Deltas printed so far.
    pub(super) fn printed(&self) -> u64 {
        self.counts.printed.load(Ordering::Relaxed)
    }

    /// Says what was counted at an end that was asked for: to a person, and wherever a script should know that something
    /// was lost or merged on the way.
    pub(super) fn tell_end(&self) {
        let Counts { relists, reconnects, .. } = &*self.counts;
        let troubles = [relists, reconnects].map(|counter| counter.load(Ordering::Relaxed));
        if self.messages.has_reader() || troubles != [0, 0] || self.coalesced() > 0 {
            self.messages.notice(&self.summary());
        }
    }

    fn coalesced(&self) -> u64 {
        let merged = self.counts.merged.lock().unwrap_or_else(PoisonError::into_inner);
        merged.before + merged.told_by.values().map(Registration::coalesced).sum::<u64>()
    }

    /// All that was counted, on one line.
    pub(super) fn summary(&self) -> String {
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let coalesced = self.coalesced();
        let Counts { told, printed, suppressed, relists, reconnects, .. } = &*self.counts;
        format!(
            "{} received, {} printed, {} suppressed, {coalesced} coalesced, {}, {}",
            load(told) + coalesced,
            load(printed),
            load(suppressed),
            counted(load(reconnects), "reconnect"),
            counted(load(relists), "relist"),
        )
    }
}

/// `1 relist`, `2 relists`.
fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
