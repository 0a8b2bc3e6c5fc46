//! The table of one task: the medians of each contender, and their ratios to kdelta's.

use std::fmt;
use std::time::Duration;

use comfy_table::{CellAlignment, Table as TextTable, presets};

use crate::contender::{KDELTA, Task};
use crate::round::{Runs, Sample};

/// The medians of one contender.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Medians {
    pub(crate) name: &'static str,
    /// Seconds.
    pub(crate) first: f64,
    pub(crate) done: f64,
    /// The minimum and the maximum of the seconds to the end.
    spread: [f64; 2],
    pub(crate) cpu: f64,
    /// MB, of a million bytes.
    pub(crate) peak: f64,
    pub(crate) wire: f64,
}

/// The results of a task by contender, curl first.
pub(crate) struct Table {
    pub(crate) task: Task,
    pub(crate) rows: Vec<Medians>,
}

impl Table {
    pub(crate) fn of(task: Task, runs: &[Runs]) -> Self {
        Self { task, rows: runs.iter().map(medians).collect() }
    }

    pub(crate) fn row(&self, name: &str) -> Option<&Medians> {
        self.rows.iter().find(|row| row.name == name)
    }
}

fn medians(runs: &Runs) -> Medians {
    let median_of = |figure: fn(&Sample) -> f64| median(runs.samples.iter().map(figure).collect());
    let times = || runs.samples.iter().map(|sample| sample.done.as_secs_f64());
    Medians {
        name: runs.name,
        first: median_of(|sample| sample.first.as_secs_f64()),
        done: median_of(|sample| sample.done.as_secs_f64()),
        spread: [times().fold(f64::INFINITY, f64::min), times().fold(0.0, f64::max)],
        cpu: median_of(|sample| sample.cpu.as_secs_f64()),
        peak: median_of(|sample| megabytes(sample.peak)),
        wire: megabytes(runs.wire),
    }
}

/// Returns the middle figure, or the upper of the two in the middle; 0 without figures.
pub(crate) fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or_default()
}

#[expect(clippy::cast_precision_loss, reason = "a figure of three digits is shown")]
pub(crate) fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

/// Formats milliseconds with one decimal.
pub(crate) fn milliseconds(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1e3)
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.task.title())?;
        let mut table = TextTable::new();
        table.load_style(presets::NOTHING);
        table.set_header([
            "",
            "first byte",
            "done",
            "least to most",
            "CPU",
            "peak memory",
            "wire",
            "time, CPU, memory relative to kdelta",
        ]);
        let ours = self.row(KDELTA);
        for row in &self.rows {
            let times = ours.filter(|_| row.name != KDELTA).map_or_else(String::new, |ours| {
                let times = [row.done / ours.done, row.cpu / ours.cpu, row.peak / ours.peak];
                times.map(|times| format!("{times:.2} x")).join(", ")
            });
            table.add_row([
                row.name.to_owned(),
                format!("{:.3} s", row.first),
                format!("{:.3} s", row.done),
                format!("{:.3} to {:.3}", row.spread[0], row.spread[1]),
                format!("{:.2} s", row.cpu),
                format!("{:.0} MB", row.peak),
                format!("{:.1} MB", row.wire),
                times,
            ]);
        }
        for column in table.column_iter_mut().skip(1) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        writeln!(f, "{}", table.trim_fmt())
    }
}
