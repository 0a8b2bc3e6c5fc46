//! The output of `kdelta changes`: a table that fits a screen, a document, or a short text.

mod document;
mod range;

use std::io::{self, Write};
use std::sync::Arc;

use kdelta::object::{ApiResource, Column};

pub(crate) use range::SummaryRange;

use super::json;
use super::table::{Extent, RowWidth, Table};
use crate::view::summary::{ChangeSummary, brief};
use crate::view::{Cells, Layout, Line, escape_line};

/// The maximum size of a short text: what chat channels and language models take without folding it.
const BRIEF_BYTES: usize = 2048;

/// The lines around the table: two for the range and the groups that are left out, one for the headings, and one for the
/// prompt.
const OTHER_LINES: usize = 4;

/// The minimum number of printed groups, even on a terminal with few lines.
const FEWEST_GROUPS: usize = 5;

/// The form of a table of changes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SummaryTable {
    pub(crate) headers: bool,
    pub(crate) colour: bool,
    pub(crate) width: RowWidth,
    /// The number of lines that the output may have; `None` for all groups.
    pub(crate) lines: Option<usize>,
}

/// Writes a table of the groups, the most important first.
///
/// # Errors
/// `out` failed.
pub(crate) fn write_summary(
    range: &SummaryRange,
    summary: &ChangeSummary,
    form: SummaryTable,
    out: &mut impl Write,
) -> io::Result<()> {
    let head = range.head(summary);
    let mut table =
        Table::new(Layout::default(), form.headers, Extent::Endless, form.colour).clipped(form.width);
    for line in &head {
        table.note(line);
    }
    let (resource, columns) = (Arc::new(no_resource()), columns());
    let room = form
        .lines
        .map_or(usize::MAX, |lines| lines.saturating_sub(head.len() - 1 + OTHER_LINES).max(FEWEST_GROUPS));
    for group in summary.groups.iter().take(room) {
        let cells: Cells = [
            escape_line(&group.namespace),
            group.title(),
            group.importance().as_str().to_owned(),
            group.phrases().join("; "),
        ]
        .into_iter()
        .collect();
        let (resource, columns) = (Arc::clone(&resource), Arc::clone(&columns));
        table.line(Line { resource, columns, cells }, out)?;
    }
    if summary.groups.len() > room {
        let rest = summary.groups.len() - room;
        table.note(&format!("and {rest} more groups; -o json prints all"));
    }
    table.flush(out)
}

/// Writes one JSON document on one line.
///
/// # Errors
/// `out` failed.
pub(crate) fn write_summary_json(
    range: &SummaryRange,
    summary: &ChangeSummary,
    for_terminal: bool,
    out: &mut impl Write,
) -> io::Result<()> {
    let mut text = document::document(range, summary).to_string().into_bytes();
    text.push(b'\n');
    json::write(&text, for_terminal, out)?;
    out.flush()
}

/// Writes the most important groups of several recordings in 2 KB altogether.
///
/// # Errors
/// `out` failed.
pub(crate) fn write_brief(
    summaries: &[(SummaryRange, ChangeSummary)],
    out: &mut impl Write,
) -> io::Result<()> {
    let limit = BRIEF_BYTES / summaries.len().max(1);
    for (range, summary) in summaries {
        out.write_all(brief(&range.head(summary), summary, limit).as_bytes())?;
    }
    out.flush()
}

/// Returns an empty type for the rows, which belong to no resource type.
fn no_resource() -> ApiResource {
    let [group, version, resource, kind] = [const { String::new() }; 4];
    ApiResource { group, version, resource, kind, namespaced: false }
}

fn columns() -> Arc<[Column]> {
    let column = |name: &str| Column { name: name.into(), format: String::new(), priority: 0 };
    ["Namespace", "Owner", "State", "What"].map(column).into()
}

#[cfg(test)]
mod tests;
