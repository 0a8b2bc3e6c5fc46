//! The performance targets of kdelta, and whether this run meets them.

use std::fmt;

use crate::contender::{CURL, CURL_WHOLE, DYNAMIC, KDELTA, KUBE_RS, KUBECTL, PIPE, TYPED, Task};
use crate::live::Live;
use crate::report::{Medians, Table, megabytes};

type Figure = fn(&Medians) -> f64;

const TIME: (&str, Figure) = ("time", |row| row.done);
const CPU: (&str, Figure) = ("CPU", |row| row.cpu);
const MEMORY: (&str, Figure) = ("memory", |row| row.peak);

/// The maximum ratio to another contender's figure in one task.
const BARS: [(Task, (&str, Figure), &str, f64); 23] = [
    (Task::Sync, TIME, CURL, 1.10),
    (Task::Sync, TIME, CURL_WHOLE, 1.10),
    (Task::Sync, CPU, CURL, 2.2),
    (Task::Sync, MEMORY, TYPED, 1.0 / 8.0),
    (Task::Sync, MEMORY, DYNAMIC, 1.0 / 25.0),
    (Task::Sync, TIME, DYNAMIC, 1.0 / 4.0),
    (Task::Sync, MEMORY, KUBE_RS, 1.0 / 30.0),
    (Task::TableOfAll, TIME, KUBECTL, 1.0 / 12.0),
    (Task::TableOfAll, MEMORY, KUBECTL, 1.0 / 25.0),
    (Task::TableOfOne, TIME, KUBECTL, 1.0 / 25.0),
    (Task::Names, TIME, KUBECTL, 1.0 / 50.0),
    (Task::Json, TIME, KUBECTL, 1.0 / 6.0),
    (Task::Json, MEMORY, KUBECTL, 1.0 / 40.0),
    (Task::JsonPath, TIME, KUBECTL, 1.0 / 6.0),
    (Task::JsonPath, MEMORY, KUBECTL, 1.0 / 40.0),
    (Task::Columns, TIME, KUBECTL, 1.0 / 6.0),
    (Task::Columns, MEMORY, KUBECTL, 1.0 / 40.0),
    (Task::Sorted, TIME, KUBECTL, 1.0 / 6.0),
    (Task::Sorted, MEMORY, KUBECTL, 1.0 / 15.0),
    (Task::Where, TIME, PIPE, 1.0 / 6.0),
    (Task::Where, MEMORY, PIPE, 1.0 / 40.0),
    (Task::By, TIME, PIPE, 1.0 / 6.0),
    (Task::By, MEMORY, PIPE, 1.0 / 40.0),
];

/// A target and its result in this run.
pub(crate) struct TargetResult {
    task: String,
    what: String,
    ratio: f64,
    bar: f64,
    pub(crate) holds: bool,
}

impl TargetResult {
    pub(crate) fn at_most(task: impl Into<String>, what: String, ratio: f64, bar: f64) -> Self {
        Self { task: task.into(), what, ratio, bar, holds: ratio <= bar }
    }
}

impl fmt::Display for TargetResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let label = if self.holds { "holds" } else { "MISSED" };
        let Self { task, what, ratio, bar, .. } = self;
        write!(f, "{label:6}  {task:<12} {ratio:.3} of the {what} (bar {bar:.3})")
    }
}

/// Returns a result for each target whose contenders ran.
pub(crate) fn of(tables: &[Table], json_bytes: u64) -> Vec<TargetResult> {
    let mut results = Vec::new();
    for (task, (what, figure), other, bar) in BARS {
        let Some(table) = tables.iter().find(|table| table.task == task) else { continue };
        let (Some(ours), Some(theirs)) = (table.row(KDELTA), table.row(other)) else { continue };
        let ratio = figure(ours) / figure(theirs);
        results.push(TargetResult::at_most(task.name(), format!("{what} of {other}"), ratio, bar));
    }
    let sync = tables.iter().find(|table| table.task == Task::Sync).and_then(|table| table.row(KDELTA));
    results.extend(sync.map(|ours| {
        let what = "bytes of the bodies as memory".to_owned();
        TargetResult::at_most(Task::Sync.name(), what, ours.peak / megabytes(json_bytes), 0.5)
    }));
    results
}

/// Returns the results for live events: no later than curl, cheaper than client-go, and none missing. Comparisons with
/// a contender that has ended are void.
pub(crate) fn of_live(live: &Live) -> Vec<TargetResult> {
    let mut results = Vec::new();
    let Some(ours) = live.cost(KDELTA) else { return results };
    let task = format!("live {}/s", live.target_rate);
    let is_running = |name| live.cost(name).is_some_and(|cost| cost.memory.is_some());
    if let Some(limit) = live.cost(CURL) {
        for (what, share) in [("p50", 0.5), ("p99", 0.99)] {
            let [ours, limit] = [ours, limit].map(|cost| cost.delay(share).as_secs_f64());
            let result = TargetResult::at_most(&task, format!("{what} of {CURL}"), ours / limit, 1.1);
            results.push(TargetResult { holds: result.holds && is_running(CURL), ..result });
        }
    }
    if let Some(dynamic) = live.cost(DYNAMIC) {
        let ratio = ours.for_a_thousand() / dynamic.for_a_thousand();
        let holds = ratio < 1.0 && is_running(DYNAMIC);
        results.push(TargetResult {
            holds,
            ..TargetResult::at_most(&task, format!("CPU of {DYNAMIC}"), ratio, 1.0)
        });
    }
    let share = live.share_of_events(ours);
    let what = "events that any contender received".to_owned();
    let holds = share >= 1.0 && is_running(KDELTA);
    results.push(TargetResult { holds, ..TargetResult::at_most(&task, what, share, 1.0) });
    results
}
