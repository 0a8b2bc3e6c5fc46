//! The result as a picture: for each task a group of bars, time to the left and memory to the right.
//!
//! Each group has a scale of its own, linear from zero: a bar twice as long is twice as much.

use std::fmt::Write as _;

use crate::contender::KDELTA;
use crate::report::{Medians, Table};

const ROW: usize = 22;
const HEAD: usize = 34;
const GAP: usize = 18;
const LABELS: u16 = 150;
const BAR: f64 = 210.0;
const COLUMN: u16 = 330;
const WIDTH: u16 = LABELS + 2 * COLUMN;

/// Colours that stand on a white page and on a black one.
const STYLE: &str = "text{font:13px system-ui,sans-serif;fill:#888}.title{font-weight:600;fill:#4a90d9}.other{fill:#9aa4ae}.ours{fill:#e8743b}";

/// An SVG of these tables.
pub(crate) fn draw(tables: &[Table], pods: usize) -> String {
    let groups: String = tables.iter().scan(HEAD, |top, table| Some(group(table, top))).collect();
    let height: usize = HEAD + tables.iter().map(|table| HEAD + table.rows.len() * ROW + GAP).sum::<usize>();
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"kdelta beside its peers\">\n\
         <style>{STYLE}</style>\n\
         <text class=\"title\" x=\"0\" y=\"18\">{pods} pods on one kube-apiserver: seconds and peak memory, shorter is better</text>\n\
         {groups}</svg>\n"
    )
}

fn group(table: &Table, top: &mut usize) -> String {
    let mut drawn =
        format!("<text class=\"title\" x=\"0\" y=\"{}\">{}</text>\n", *top + 20, table.task.title());
    let most = |figure: fn(&Medians) -> f64| table.rows.iter().map(figure).fold(f64::MIN_POSITIVE, f64::max);
    let (longest, largest) = (most(|row| row.done), most(|row| row.peak));
    for (at, row) in table.rows.iter().enumerate() {
        let y = *top + HEAD + at * ROW;
        let class = if row.name == KDELTA { "ours" } else { "other" };
        let _written = writeln!(drawn, "<text x=\"0\" y=\"{}\">{}</text>", y + 13, row.name);
        let time = format!("{:.2} s", row.done);
        let memory = format!("{:.0} MB", row.peak);
        for (x, share, figure) in
            [(LABELS, row.done / longest, time), (LABELS + COLUMN, row.peak / largest, memory)]
        {
            let width = (share * BAR).max(1.0);
            let _written = writeln!(
                drawn,
                "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width:.1}\" height=\"16\" rx=\"2\"/><text x=\"{:.1}\" y=\"{}\">{figure}</text>",
                width + 6.0 + f64::from(x),
                y + 13
            );
        }
    }
    *top += HEAD + table.rows.len() * ROW + GAP;
    drawn
}
