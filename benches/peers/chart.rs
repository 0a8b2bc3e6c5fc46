//! The results as an SVG chart: a group of bars per task and for live events, time on the left and memory on the right.
//!
//! Each group has its own scale, linear from zero.

use std::fmt::Write as _;

use crate::contender::KDELTA;
use crate::live::{Live, Row};
use crate::report::{Table, megabytes};

const LINE: usize = 22;
const HEAD: usize = 34;
const GAP: usize = 18;
const LABELS: u16 = 150;
const BAR: f64 = 210.0;
const COLUMN: u16 = 330;
const WIDTH: u16 = LABELS + 2 * COLUMN;

/// Colours that are readable on white and on black.
const STYLE: &str = "text{font:13px system-ui,sans-serif;fill:#888}.title{font-weight:600;fill:#4a90d9}.other{fill:#9aa4ae}.ours{fill:#e8743b}";

/// A title, and per contender its name and the figures of its two bars, in seconds and MB; the memory is `None` if it
/// had ended.
struct Group {
    title: String,
    rows: Vec<(&'static str, f64, Option<f64>)>,
}

/// Returns an SVG of the tables and of the live results.
pub(crate) fn draw(tables: &[Table], live: &[Live], pods: usize) -> String {
    let groups: Vec<_> = tables.iter().map(of_table).chain(live.iter().map(of_live)).collect();
    let height: usize = HEAD + groups.iter().map(|group| HEAD + group.rows.len() * LINE + GAP).sum::<usize>();
    let groups: String = groups.iter().scan(HEAD, |top, group| Some(draw_group(group, top))).collect();
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"kdelta and its peers\">\n\
         <style>{STYLE}</style>\n\
         <text class=\"title\" x=\"0\" y=\"18\">{pods} pods on one kube-apiserver: seconds and peak memory, shorter is better</text>\n\
         {groups}</svg>\n"
    )
}

fn of_table(table: &Table) -> Group {
    let rows = table.rows.iter().map(|row| (row.name, row.done, Some(row.peak)));
    Group { title: table.task.title().to_owned(), rows: rows.collect() }
}

/// CPU time instead of elapsed time, which for live events is the server's.
fn of_live(live: &Live) -> Group {
    let memory = |row: &Row| row.cost.memory.map(megabytes);
    let rows = live.rows.iter().map(|row| (row.name, row.cost.for_a_thousand(), memory(row)));
    Group {
        title: format!(
            "live, {} changes a second: processor time for 1,000 events, memory at the end",
            live.rate()
        ),
        rows: rows.collect(),
    }
}

fn draw_group(group: &Group, top: &mut usize) -> String {
    let mut drawn = format!("<text class=\"title\" x=\"0\" y=\"{}\">{}</text>\n", *top + 20, group.title);
    let most = |figures: &mut dyn Iterator<Item = f64>| figures.fold(f64::MIN_POSITIVE, f64::max);
    let longest = most(&mut group.rows.iter().map(|row| row.1));
    let largest = most(&mut group.rows.iter().filter_map(|row| row.2));
    for (at, (name, time, memory)) in group.rows.iter().enumerate() {
        let y = *top + HEAD + at * LINE;
        let class = if *name == KDELTA { "ours" } else { "other" };
        let _written = writeln!(drawn, "<text x=\"0\" y=\"{}\">{name}</text>", y + 13);
        let bars = [
            (LABELS, time / longest, format!("{time:.2} s")),
            (
                LABELS + COLUMN,
                memory.unwrap_or_default() / largest,
                memory.map_or("ended".to_owned(), |memory| format!("{memory:.0} MB")),
            ),
        ];
        for (x, share, figure) in bars {
            let width = (share * BAR).max(1.0);
            let _written = writeln!(
                drawn,
                "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width:.1}\" height=\"16\" rx=\"2\"/><text x=\"{:.1}\" y=\"{}\">{figure}</text>",
                width + 6.0 + f64::from(x),
                y + 13
            );
        }
    }
    *top += HEAD + group.rows.len() * LINE + GAP;
    drawn
}
