//! The rows of a watch: one for each visible change, with the changed fields below it.

use std::io::{self, Write};

use kdelta::lines::{Change, ChangeKind};

use crate::output::changes::{ChangeLine, ChangeOptions};
use crate::output::table::{Extent, RowWidth, Table};
use crate::view::{Age, Cells, Layout, RowTimes};

/// Table rows of changes.
pub(crate) struct ChangeRows {
    table: Table,
    options: RowOptions,
    /// The cells of the last two compared states, reused for their capacity.
    compared: [Cells; 2],
}

/// The rows to print, their form, and the details below them.
#[derive(Debug, Clone, Default)]
pub(crate) struct RowOptions {
    /// Whether to print rows of updates that are not visible in the table.
    pub(crate) all: bool,
    /// The options of the changes below each row; `None` prints none.
    pub(crate) changes: Option<ChangeOptions>,
    /// The width to which rows and changes are clipped.
    pub(crate) width: RowWidth,
    /// The times in front of rows.
    pub(crate) times: Option<RowTimes>,
    /// Whether a line marks the end of the initial state.
    pub(crate) marks_sync: bool,
}

impl ChangeRows {
    pub(super) fn new(layout: Layout, headers: bool, colour: bool, options: RowOptions) -> Self {
        let table = Table::new(layout, headers, Extent::Endless, colour)
            .clipped(options.width)
            .with_front(options.times.as_ref().map(RowTimes::heading));
        Self { table, options, compared: Default::default() }
    }

    /// Prints a change. Returns `false` if it is suppressed because its row is unchanged.
    ///
    /// # Errors
    /// `out` failed.
    pub(super) fn change(&mut self, change: &Change, out: &mut impl Write) -> io::Result<bool> {
        let Change { object, resource, received: now, .. } = change;
        let layout = self.table.layout();
        let mut below = Vec::new();
        if let Some(old) = change.old.as_ref().filter(|_| change.kind == ChangeKind::Modified) {
            if let Some(options) = self.options.changes {
                below = options.lines(old, object, resource);
            }
            if !self.options.all
                && below.is_empty()
                && layout.looks_same(old, object, resource, *now, &mut self.compared)
            {
                return Ok(false);
            }
        }
        // The state has been in the index since it was received, perhaps for hours.
        let is_old = change.final_state_unknown || change.kind == ChangeKind::Sync;
        let age = if is_old { Age::Fresh { now: *now } } else { Age::AsSent { now: *now } };
        let of = (resource, &*change.context);
        let cells = self.table.spare_cells();
        if let Some(times) = &mut self.options.times {
            let time = times.cell(*now);
            self.table.set_front(time);
        }
        let line = self.table.layout().line(object, of, Some(change.kind), age, cells);
        self.table.line(line, out)?;
        for ChangeLine { text, colour, is_whole } in &below {
            self.table.remark(text, *colour, *is_whole);
        }
        Ok(true)
    }

    /// Marks the end of an initial state of that many objects, if the rows have such a mark. `ends` is whether nothing
    /// follows; then only an empty state is marked.
    pub(super) fn mark_initial_state(&mut self, objects: u64, ends: bool) {
        if self.options.marks_sync && (objects == 0 || !ends) {
            let noun = if objects == 1 { "object" } else { "objects" };
            let line = format!("synced, {objects} {noun}");
            self.table.note(&if objects == 0 { line } else { format!("── {line} ──") });
        }
    }

    /// Writes buffered rows.
    ///
    /// # Errors
    /// `out` failed.
    pub(super) fn flush(&mut self, out: &mut impl Write) -> io::Result<()> {
        self.table.flush(out)
    }
}
