//! Prometheus metrics and the health of a command that watches, and the HTTP server for both.
//!
//! Counters are resolved once per type of objects: an event costs an increment. Values that follow from the state of the
//! command, such as the seconds behind the server, are computed at each scrape. Labels are bounded: contexts, types, and
//! words of the program; no namespaces and no names.

mod families;
mod measured_parts;
mod output_delay;
mod part_metrics;
mod part_status;
mod reading;
mod response;
mod server;
#[cfg(test)]
mod tests;
mod type_counters;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use kdelta::clock::Clock;
use kdelta::object::ApiResource;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::prometheus_text::encode;
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::registry::Registry;

use families::{Families, TypeLabels};
use measured_parts::MeasuredParts;
use output_delay::OutputDelay;
pub(crate) use part_metrics::PartMetrics;
use part_status::Patience;
pub(crate) use part_status::{PartReadings, PartStatus};
use reading::Reading;
pub(crate) use server::MetricsServer;

/// The time after which a command that is behind the server is no longer ready, unless the request of `/readyz` has its own.
pub(crate) const MAX_BEHIND: Duration = Duration::from_secs(30);

/// The number of reasons that `/readyz` lists.
const MAX_REASONS: usize = 20;

/// The metrics and the health of a command. Cheap to clone; clones share everything.
#[derive(Clone)]
pub(crate) struct Metrics(Arc<Shared>);

struct Shared {
    /// A std mutex: held for a scrape, and while the command starts.
    registry: Mutex<Registry>,
    families: Families,
    parts: Arc<MeasuredParts>,
    output_delay: Arc<OutputDelay>,
    request_retries: Counter,
    /// Whether the initial state of everything requested is complete. Relaxed: it orders nothing.
    is_synced: AtomicBool,
}

/// A label: its name and its value.
pub(crate) type Label = (&'static str, String);

impl Metrics {
    /// Creates the metrics of this process.
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Self {
        let families = Families::default();
        let output_delay = Arc::new(OutputDelay::default());
        let parts = Arc::new(MeasuredParts::new(clock, Arc::clone(&output_delay)));
        let (mut registry, request_retries) = (Registry::default(), Counter::default());
        families.register(&mut registry);
        registry.register(
            "kdelta_request_retries",
            "Requests that the client repeated after a pause, because the server was busy or a connection failed; failures that a watch recovers from are in kdelta_failures_total",
            request_retries.clone(),
        );
        let is_synced = AtomicBool::new(false);
        let shared = Shared {
            registry: Mutex::new(registry),
            families,
            parts,
            output_delay,
            request_retries,
            is_synced,
        };
        let metrics = Self(Arc::new(shared));
        metrics.register_process();
        metrics.register_parts();
        metrics
    }

    /// Registers the start and the version of this process.
    fn register_process(&self) {
        let started = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
        let help = "Start of the process since the Unix epoch in seconds";
        self.register_gauge("process_start_time_seconds", help, move || {
            [(Vec::<Label>::new(), started)].into()
        });
        let version = || vec![(vec![("version", env!("CARGO_PKG_VERSION").to_owned())], 1.0)];
        self.register_gauge("kdelta_build_info", "The version of kdelta; the value is always 1", version);
    }

    /// Registers the gauges of the watched types.
    fn register_parts(&self) {
        type Value = fn(&measured_parts::TypeState) -> Option<f64>;
        const GAUGES: [(&str, &str, Value); 6] = [
            (
                "kdelta_synced",
                "1 if the initial state of all collections of the type is complete, otherwise 0",
                |state| Some(f64::from(u8::from(state.is_synced))),
            ),
            (
                "kdelta_behind_seconds",
                "Time that the output is behind the server, as far as it is known: since a loss of the connection was noticed, or since the oldest event that is not written yet was received; 0 if there is neither",
                |state| Some(state.behind.as_secs_f64()),
            ),
            (
                "kdelta_last_message_timestamp_seconds",
                "Time of the last event or bookmark of the server since the Unix epoch in seconds; a server sends a bookmark about once a minute",
                |state| Some(state.last_message?.as_secs_f64()),
            ),
            (
                "kdelta_queue_items",
                "Events that were received and are not handed to the output yet",
                |state| Some(as_f64(state.queued.deltas)),
            ),
            ("kdelta_queue_bytes", "Bytes of the objects of the events in kdelta_queue_items", |state| {
                Some(as_f64(state.queued.bytes))
            }),
            ("kdelta_collections", "Collections that are watched", |state| Some(as_f64(state.collections))),
        ];
        for (name, help, value) in GAUGES {
            let parts = Arc::clone(&self.0.parts);
            self.register_gauge(name, help, move || {
                let states = parts.by_type().into_iter();
                states.filter_map(|(labels, state)| Some((labels, value(&state)?))).collect()
            });
        }
    }

    /// Registers a counter that is read at each scrape. `name` has no `_total`.
    pub(crate) fn register_counter<L: EncodeLabelSet + 'static>(
        &self,
        name: &'static str,
        help: &str,
        read: impl Fn() -> Vec<(L, f64)> + Send + Sync + 'static,
    ) {
        self.register(Reading::new(name, help, MetricType::Counter, read));
    }

    /// Registers a gauge that is read at each scrape.
    pub(crate) fn register_gauge<L: EncodeLabelSet + 'static>(
        &self,
        name: &'static str,
        help: &str,
        read: impl Fn() -> Vec<(L, f64)> + Send + Sync + 'static,
    ) {
        self.register(Reading::new(name, help, MetricType::Gauge, read));
    }

    fn register<L: EncodeLabelSet + 'static>(&self, reading: Reading<L>) {
        let mut registry = self.0.registry.lock().unwrap_or_else(PoisonError::into_inner);
        registry.register_collector(Box::new(reading));
    }

    /// Adds a part: a collection that is about to be watched.
    pub(crate) fn add_part(&self, context: &str, resource: &ApiResource) -> PartMetrics {
        let labels = TypeLabels::new(context, resource);
        let is_late = self.0.is_synced.load(Ordering::Relaxed);
        let patience = if is_late { Patience::Some } else { Patience::None };
        let (number, status) = self.0.parts.add(labels, &self.0.families, patience);
        PartMetrics { parts: Arc::clone(&self.0.parts), number, status }
    }

    /// Counts a request that the client repeats.
    pub(crate) fn count_retry(&self) {
        self.0.request_retries.inc();
    }

    /// Records that the initial state of everything requested is complete. Parts that are added later may take as long to
    /// sync as the command may be behind.
    pub(crate) fn mark_synced(&self) {
        self.0.is_synced.store(true, Ordering::Relaxed);
    }

    /// Returns the time at which the oldest event that is not written yet was received.
    pub(crate) fn output_delay(&self) -> &OutputDelay {
        &self.0.output_delay
    }

    /// Returns the metrics in the text format.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        let registry = self.0.registry.lock().unwrap_or_else(PoisonError::into_inner);
        // Writing to a String can't fail.
        let _ = encode(&mut text, &registry);
        text
    }

    /// Returns why the command is not ready: its initial state is incomplete, or it is behind the server for longer than this.
    /// Without a reason, it is ready.
    pub(crate) fn not_ready(&self, max_behind: Duration) -> Vec<String> {
        let mut reasons = Vec::new();
        let delay = self.0.output_delay.get();
        if delay > max_behind {
            reasons.push(format!("the output is {:.0}s behind: its reader is slow", delay.as_secs_f64()));
        }
        reasons.extend(self.0.parts.not_ready(max_behind));
        if reasons.is_empty() && !self.0.is_synced.load(Ordering::Relaxed) {
            reasons.push("the initial state is incomplete".to_owned());
        }
        let left_out = reasons.len().saturating_sub(MAX_REASONS);
        reasons.truncate(MAX_REASONS);
        if left_out > 0 {
            reasons.push(format!("{left_out} more"));
        }
        reasons
    }
}

/// Counts are far below the numbers that lose precision.
#[expect(clippy::cast_precision_loss, reason = "a count of this size is no exact number for anyone")]
fn as_f64(count: usize) -> f64 {
    count as f64
}
