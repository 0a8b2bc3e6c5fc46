//! Reports and counters about watched parts on stderr: losses, recoveries, errors and the final summary.

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
use crate::metrics::{Metrics, PartMetrics, PartStatus};
use crate::output::{Level, Messages};
use crate::session::{Part, PartSource, Session, StatusSignal, TargetFailure};
use crate::settings::Selection;
use crate::view::{LossSummary, Notices, counted, notice_word};

/// Observes reflectors. Cheap to clone; clones share the counters.
#[derive(Clone)]
pub(crate) struct Reporter {
    messages: Arc<Messages>,
    verbose: bool,
    counts: Arc<Counts>,
    /// A std mutex: held while a line is formatted.
    loss_summary: Arc<Mutex<LossSummary>>,
    metrics: Option<Metrics>,
}

/// The slot of a watched part in the loss summary, freed on drop.
struct PartSlot {
    loss_summary: Arc<Mutex<LossSummary>>,
    number: usize,
    messages: Arc<Messages>,
}

impl PartSlot {
    fn line(&self, prefix: &str, event: &ReflectorEvent, own: Option<String>) -> Option<String> {
        let mut loss_summary = self.loss_summary.lock().unwrap_or_else(PoisonError::into_inner);
        loss_summary.line(prefix, self.number, event, own)
    }
}

impl Drop for PartSlot {
    fn drop(&mut self) {
        let line = self.loss_summary.lock().unwrap_or_else(PoisonError::into_inner).remove(self.number);
        if let Some(line) = line {
            self.messages.notice(&line);
        }
    }
}

/// Counters for display only, hence relaxed.
#[derive(Default)]
struct Counts {
    received: AtomicU64,
    printed: AtomicU64,
    suppressed: AtomicU64,
    relists: AtomicU64,
    reconnects: AtomicU64,
    /// The number of parts watched so far, used to number them.
    parts: AtomicUsize,
    /// A std mutex: held for a read or an update.
    merged: Mutex<Merged>,
}

/// Deltas merged because the reader is too slow.
#[derive(Default)]
struct Merged {
    /// The registrations of running parts by number; each counts its merged deltas.
    registrations: HashMap<usize, Registration>,
    /// The count of parts that have ended.
    before: u64,
}

impl Reporter {
    pub(crate) fn new(messages: Arc<Messages>, verbose: bool) -> Self {
        Self { messages, verbose, counts: Arc::default(), loss_summary: Arc::default(), metrics: None }
    }

    /// Measures parts and output.
    pub(crate) fn with_metrics(self, metrics: Option<Metrics>) -> Self {
        if let Some(metrics) = &metrics {
            let reporter = self.clone();
            let help = "Changes by what became of them: printed, suppressed by flags of the user, or coalesced with later ones because the reader is slow";
            metrics.register_counter("kdelta_output_deltas", help, move || reporter.results());
        }
        Self { metrics, ..self }
    }

    /// Returns the metrics, if they are served.
    pub(super) fn metrics(&self) -> Option<&Metrics> {
        self.metrics.as_ref()
    }

    /// Returns the counters of the output, with their labels.
    #[expect(clippy::cast_precision_loss, reason = "2^53 deltas take thousands of years")]
    fn results(&self) -> Vec<([(&'static str, &'static str); 1], f64)> {
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let (printed, suppressed) = (load(&self.counts.printed), load(&self.counts.suppressed));
        let results = [("printed", printed), ("suppressed", suppressed), ("coalesced", self.coalesced())];
        results.map(|(result, count)| ([("result", result)], count as f64)).into()
    }

    /// Starts measuring a part. `is_retry` is whether it is tried again silently.
    pub(super) fn part_metrics(&self, part: &Part, is_retry: bool) -> Option<PartMetrics> {
        let metrics = self.metrics.as_ref()?.add_part(&part.context, &part.resource);
        Some(if is_retry { metrics.retried() } else { metrics })
    }

    /// Starts printing the summary on SIGUSR1.
    ///
    /// # Errors
    /// The system refuses the signal handler.
    pub(crate) fn report_on_signal(&self) -> io::Result<StatusSignal> {
        let reporter = self.clone();
        StatusSignal::start(move || reporter.messages.notice(&reporter.summary()))
    }

    pub(super) fn messages(&self) -> &Messages {
        &self.messages
    }

    /// Makes the source report when the server does not support the field selector of the user: a misspelled field would
    /// silently select nothing. Without one, the selector was derived from conditions that are correct on any server.
    pub(super) fn source(&self, part: &Part, selection: &Selection, source: PartSource) -> PartSource {
        if selection.field_selector.is_none() {
            return source;
        }
        let (messages, title) = (Arc::clone(&self.messages), part.title());
        source.on_selector_refused(move |why| {
            messages.notice(&format!("{title}: field selector applied by kdelta, not by the server: {why}"));
        })
    }

    /// Returns the observer of a one-shot command: it reports long waits, but no loss that a retry may fix.
    pub(super) fn one_shot_observer(&self, part: &Part) -> Observer {
        self.observer_with(part, Notices::of_one_shot(part.title(), self.verbose))
    }

    /// Returns the observer of the watch of a part.
    pub(super) fn observer(&self, part: &Part) -> Observer {
        self.observer_with(part, Notices::of(part.title(), self.verbose))
    }

    fn observer_with(&self, part: &Part, notices: Notices) -> Observer {
        // A std mutex: held while a line is formatted, by one reflector.
        let notices = Mutex::new(notices);
        let slot = PartSlot {
            loss_summary: Arc::clone(&self.loss_summary),
            number: self.counts.parts.fetch_add(1, Ordering::Relaxed),
            messages: Arc::clone(&self.messages),
        };
        let (reporter, prefix) = (self.clone(), Arc::clone(&part.prefix));
        let named = if self.messages.is_json() { named(part) } else { Vec::new() };
        Arc::new(move |event| {
            reporter.count(event);
            let own = notices.lock().unwrap_or_else(PoisonError::into_inner).line(event);
            let line = if reporter.verbose { own } else { slot.line(&prefix, event, own) };
            let Some(line) = line else { return };
            let word = notice_word(event);
            let level = if matches!(word, "lost" | "refused") { Level::Warning } else { Level::Info };
            let fields = named.iter().map(|(name, value)| (*name, value.as_str()));
            let fields: Vec<_> = fields.chain([("event", word)]).collect();
            reporter.messages.event(level, &line, &fields);
        })
    }

    /// Makes an observer ignore a missing type and trigger discovery instead, for types that come and go.
    pub(super) fn ignoring_missing(observer: Observer, recheck: Arc<Notify>) -> Observer {
        Arc::new(move |event| match event {
            ReflectorEvent::Lost { error: Error::NotFound(_), .. } => recheck.notify_one(),
            // The type may turn out to be missing next; otherwise the new list is reported.
            ReflectorEvent::Relisting { .. } => {}
            _ => observer(event),
        })
    }

    /// Makes an observer measure the part too.
    pub(super) fn measured(observer: Observer, status: Option<Arc<PartStatus>>) -> Observer {
        let Some(status) = status else { return observer };
        Arc::new(move |event| {
            status.observe(event);
            observer(event);
        })
    }

    /// Makes an observer silent until the part is listed, for parts that are retried silently.
    pub(super) fn after_first_list(observer: Observer) -> Observer {
        // Relaxed: one reflector calls at a time.
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

    /// Reports the contexts that can't be used; returns whether there are any.
    pub(super) fn report_unusable(&self, session: &Session) -> bool {
        for (context, error) in session.unusable() {
            self.report_error(&format!("{context}: "), error);
        }
        !session.unusable().is_empty()
    }

    /// Reports a failure of the targets that does not end the command. Types that can't be listed per namespace are not
    /// reported: each command reports their refusals in its own way.
    ///
    /// # Errors
    /// The only cluster can't be used.
    pub(super) fn report_target_failure(&self, failure: TargetFailure) -> anyhow::Result<()> {
        match failure {
            TargetFailure::Cluster { prefix, error } if prefix.is_empty() => return Err(error),
            TargetFailure::Cluster { prefix, error } | TargetFailure::NamespacePatterns { prefix, error } => {
                self.report_error(&prefix, &error);
            }
            TargetFailure::MissingType { prefix, message } => {
                self.messages.notice(&format!("{prefix}{message} yet"));
            }
            TargetFailure::Namespaces { .. } => {}
        }
        Ok(())
    }

    /// Reports an error that does not end the command, with a prefix.
    pub(super) fn report_error(&self, prefix: &str, error: &anyhow::Error) {
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

    /// Starts counting the merged deltas of a part.
    pub(super) fn count_merged(&self, part: usize, registration: Registration) {
        let mut merged = self.counts.merged.lock().unwrap_or_else(PoisonError::into_inner);
        merged.registrations.insert(part, registration);
    }

    /// Stops counting the merged deltas of a part.
    pub(super) fn end_merged(&self, part: usize) {
        let mut merged = self.counts.merged.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(registration) = merged.registrations.remove(&part) {
            merged.before += registration.coalesced();
        }
    }

    /// Counts a received delta.
    pub(super) fn count_received(&self) {
        self.counts.received.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a delta as printed or as suppressed by the user's options.
    pub(super) fn count_shown(&self, printed: bool) {
        let counter = if printed { &self.counts.printed } else { &self.counts.suppressed };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the number of printed deltas.
    pub(super) fn printed(&self) -> u64 {
        self.counts.printed.load(Ordering::Relaxed)
    }

    /// Reports the summary at a regular end: on a terminal, and to scripts if connections were lost or deltas merged.
    pub(super) fn report_summary(&self) {
        let Counts { relists, reconnects, .. } = &*self.counts;
        let troubles = [relists, reconnects].map(|counter| counter.load(Ordering::Relaxed));
        if self.messages.has_reader() || troubles != [0, 0] || self.coalesced() > 0 {
            self.messages.notice(&self.summary());
        }
    }

    fn coalesced(&self) -> u64 {
        let merged = self.counts.merged.lock().unwrap_or_else(PoisonError::into_inner);
        merged.before + merged.registrations.values().map(Registration::coalesced).sum::<u64>()
    }

    /// Returns all counters on one line.
    pub(super) fn summary(&self) -> String {
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let coalesced = self.coalesced();
        let Counts { received, printed, suppressed, relists, reconnects, .. } = &*self.counts;
        format!(
            "{} received, {} printed, {} suppressed, {coalesced} coalesced, {}, {}",
            load(received) + coalesced,
            load(printed),
            load(suppressed),
            counted(load(reconnects), "reconnect"),
            counted(load(relists), "relist"),
        )
    }
}

/// Returns the fields of messages about a part.
fn named(part: &Part) -> Vec<(&'static str, String)> {
    let resource = part.resource.group_resource();
    let mut fields = vec![("resource", resource)];
    let optional = [("context", &part.context), ("namespace", &part.namespace)];
    let name = part.name.as_ref().map(|name| ("name", name));
    let given = optional.into_iter().chain(name).filter(|(_, value)| !value.is_empty());
    fields.extend(given.map(|(name, value)| (name, value.to_string())));
    fields
}
