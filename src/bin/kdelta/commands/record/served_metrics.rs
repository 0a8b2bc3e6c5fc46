//! The figures of recordings, among the metrics that the command serves.

use std::sync::Arc;

use super::progress::Figures;
use super::shared_state::SharedState;
use crate::metrics::{Label, Metrics};

/// A recording and the name of its context.
pub(crate) type RecordedContext = (Arc<str>, Arc<SharedState>);

/// Selects a figure.
type Figure = fn(&Figures) -> u64;

const GAUGES: [(&str, &str, Figure); 2] = [
    ("kdelta_recording_bytes", "Bytes of all files of a recording", |figures| figures.bytes),
    ("kdelta_recording_objects", "Objects of the recorded state", |figures| figures.objects),
];

/// Adds the figures of recordings to the metrics. They are those of the last flush.
pub(crate) fn register(recordings: &[RecordedContext], metrics: &Metrics) {
    for (name, help, figure) in GAUGES {
        metrics.register_gauge(name, help, reading(recordings, figure));
    }
    let help = "Changes that were written to a recording since the start";
    metrics.register_counter("kdelta_recorded_deltas", help, reading(recordings, |figures| figures.deltas));
}

#[expect(clippy::cast_precision_loss, reason = "2^53 bytes are 9 petabytes")]
fn reading(
    recordings: &[RecordedContext],
    figure: Figure,
) -> impl Fn() -> Vec<(Vec<Label>, f64)> + Send + Sync + use<> {
    let recordings = recordings.to_vec();
    move || {
        let one = |(context, state): &RecordedContext| {
            (vec![("context", context.to_string())], figure(&state.figures()) as f64)
        };
        recordings.iter().map(one).collect()
    }
}
