//! The counters of a run, among the metrics that the command serves.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use super::queue::RunMetrics;
use crate::metrics::{Label, Metrics};

/// Adds the counters of a run to the metrics. They are read at each scrape.
pub(crate) fn register(run: &Arc<RunMetrics>, metrics: &Metrics) {
    let by_result = |results: &'static [(&'static str, Count)]| {
        let run = Arc::clone(run);
        move || {
            let one =
                |&(result, count): &(&str, Count)| (vec![("result", result.to_owned())], load(count(&run)));
            results.iter().map(one).collect()
        }
    };
    metrics.register_counter(
        "kdelta_run_calls",
        "Calls of the command of a run that have ended, by their result: succeeded, failed, or timed_out",
        by_result(&[
            ("succeeded", |run| &run.calls_succeeded),
            ("failed", |run| &run.calls_failed),
            ("timed_out", |run| &run.calls_timed_out),
        ]),
    );
    metrics.register_counter(
        "kdelta_run_lines",
        "Lines of a run by what became of them: handled, given_up after the last retry, or merged into a later one",
        by_result(&[
            ("handled", |run| &run.lines_handled),
            ("given_up", |run| &run.lines_given_up),
            ("merged", |run| &run.lines_merged),
        ]),
    );
    let retries = Arc::clone(run);
    let help = "Lines of failed calls that were queued for another call";
    metrics.register_counter("kdelta_run_retries", help, move || unlabelled(load(&retries.retries)));
    for (name, help, value) in GAUGES {
        let run = Arc::clone(run);
        metrics.register_gauge(name, help, move || unlabelled(as_f64(value(&run).load(Ordering::Relaxed))));
    }
}

/// Selects the count of a result.
type Count = fn(&RunMetrics) -> &AtomicU64;

/// Selects the value of a gauge.
type Gauge = fn(&RunMetrics) -> &AtomicUsize;

const GAUGES: [(&str, &str, Gauge); 3] = [
    ("kdelta_run_calls_running", "Calls that are being run", |run| &run.calls_running),
    ("kdelta_run_queue_lines", "Lines that wait for a call or are being run", |run| &run.queued_lines),
    ("kdelta_run_queue_bytes", "Bytes of the objects of the lines in kdelta_run_queue_lines", |run| {
        &run.queued_bytes
    }),
];

fn unlabelled(value: f64) -> Vec<(Vec<Label>, f64)> {
    vec![(Vec::new(), value)]
}

#[expect(clippy::cast_precision_loss, reason = "2^53 calls take years")]
fn load(counter: &AtomicU64) -> f64 {
    counter.load(Ordering::Relaxed) as f64
}

#[expect(clippy::cast_precision_loss, reason = "the queue is bounded far below 2^53")]
fn as_f64(count: usize) -> f64 {
    count as f64
}
