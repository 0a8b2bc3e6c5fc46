//! What is said and counted of the parts that are watched: losses and recoveries, on stderr.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use kdelta::informer::Registration;
use kdelta::object::Origin;
use kdelta::reflector::{Observer, ReflectorEvent};

use crate::output::Messages;
use crate::session::{Part, Source};
use crate::view::Notices;

/// Listens to reflectors. Cheap to clone; clones count together.
#[derive(Clone)]
pub(crate) struct Watched {
    messages: Arc<Messages>,
    verbose: bool,
    counts: Arc<Counts>,
}

/// Relaxed counters: numbers to look at, on which nothing hangs.
#[derive(Default)]
struct Counts {
    told: AtomicU64,
    printed: AtomicU64,
    suppressed: AtomicU64,
    relists: AtomicU64,
    reconnects: AtomicU64,
    /// Those who know what was merged. A std mutex: held for a look or a push.
    told_by: Mutex<Vec<Registration>>,
}

impl Watched {
    pub(crate) fn new(messages: Arc<Messages>, verbose: bool) -> Self {
        Self { messages, verbose, counts: Arc::default() }
    }

    pub(super) fn messages(&self) -> &Messages {
        &self.messages
    }

    /// The source, which tells when the server can't select by the fields that were asked for: a field that does not
    /// exist selects nothing without a word otherwise.
    pub(super) fn source(&self, part: &Part, source: Source) -> Source {
        let (messages, title) = (Arc::clone(&self.messages), part.title());
        source.on_refusal(move |why| {
            messages.notice(&format!("{title}: selected here, not by the server: {why}"));
        })
    }

    /// Who is told what happens to the watch of a part.
    pub(super) fn observer(&self, part: &Part) -> Observer {
        // A std mutex: one reflector speaks at a time, and a line is all that is made under it.
        let notices = Mutex::new(Notices::of(part.title(), self.verbose));
        let watched = self.clone();
        Arc::new(move |event| {
            watched.count(event);
            let line = notices.lock().unwrap_or_else(PoisonError::into_inner).line(event);
            if let Some(line) = line {
                watched.messages.notice(&line);
            }
        })
    }

    fn count(&self, event: &ReflectorEvent) {
        let counter = match event {
            ReflectorEvent::Recovered { .. } => &self.counts.reconnects,
            ReflectorEvent::Listed { origin: Origin::Relist, .. } => &self.counts.relists,
            _ => return,
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// From now on what is merged there is counted, too.
    pub(super) fn count_merged(&self, registration: Registration) {
        self.counts.told_by.lock().unwrap_or_else(PoisonError::into_inner).push(registration);
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

    /// All that was counted, on one line.
    pub(super) fn summary(&self) -> String {
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let told_by = self.counts.told_by.lock().unwrap_or_else(PoisonError::into_inner);
        let coalesced: u64 = told_by.iter().map(Registration::coalesced).sum();
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
