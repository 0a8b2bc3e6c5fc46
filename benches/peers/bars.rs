//! The bars that kdelta has set itself, and whether this run is over them.

use std::fmt::Write as _;

use crate::contender::{CURL, DYNAMIC, KDELTA, KUBE_RS, KUBECTL, TYPED, Task};
use crate::live::Live;
use crate::report::{Medians, Table, megabytes};

type Figure = fn(&Medians) -> f64;

const TIME: (&str, Figure) = ("time", |row| row.done);
const CPU: (&str, Figure) = ("CPU", |row| row.cpu);
const MEMORY: (&str, Figure) = ("memory", |row| row.peak);

/// At most that many times what the other needs, on one task.
const BARS: [(Task, (&str, Figure), &str, f64); 12] = [
    (Task::Sync, TIME, CURL, 1.10),
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
];

/// One line for each bar whose contenders ran.
pub(crate) fn of(tables: &[Table], json_bytes: u64) -> String {
    let mut lines = String::new();
    for (task, (what, figure), other, bar) in BARS {
        let Some(table) = tables.iter().find(|table| table.task == task) else { continue };
        let (Some(ours), Some(theirs)) = (table.row(KDELTA), table.row(other)) else { continue };
        line(&mut lines, task.name(), &format!("{what} of {other}"), figure(ours) / figure(theirs), bar);
    }
    let sync = tables.iter().find(|table| table.task == Task::Sync).and_then(|table| table.row(KDELTA));
    if let Some(ours) = sync {
        line(
            &mut lines,
            Task::Sync.name(),
            "bytes of the bodies as memory",
            ours.peak / megabytes(json_bytes),
            0.5,
        );
    }
    lines
}

/// Of a live event: no later than curl has it, and cheaper than for client-go.
pub(crate) fn of_live(live: &Live) -> String {
    let mut lines = String::new();
    let Some(ours) = live.cost(KDELTA) else { return lines };
    if let Some(limit) = live.cost(CURL) {
        for (what, share) in [("p50", 0.5), ("p99", 0.99)] {
            let [ours, limit] = [ours, limit].map(|cost| cost.delay(share).as_secs_f64());
            line(&mut lines, "live", &format!("{what} of {CURL}"), ours / limit, 1.1);
        }
    }
    if let Some(dynamic) = live.cost(DYNAMIC) {
        let ratio = ours.for_a_thousand() / dynamic.for_a_thousand();
        line(&mut lines, "live", &format!("CPU of {DYNAMIC}"), ratio, 1.0);
    }
    lines
}

fn line(lines: &mut String, task: &str, what: &str, ratio: f64, bar: f64) {
    let verdict = if ratio <= bar { "holds" } else { "MISSED" };
    let _written = writeln!(lines, "{verdict:6}  {task:<12} {ratio:.3} of the {what} (bar {bar:.3})");
}
