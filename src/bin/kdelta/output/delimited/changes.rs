//! The rows of a watch, each after its event.

use std::io::{self, Write};

use kdelta::lines::{Change, ChangeKind};

use super::rows::DelimitedRows;
use super::text::DelimitedFormat;
use crate::view::{Age, Cells, Layout};

/// The rows of changes.
pub(crate) struct DelimitedChanges {
    rows: DelimitedRows,
    /// Whether to print rows of updates that are not visible in the table.
    all: bool,
    /// The cells of the last two compared states, reused for their capacity.
    compared: [Cells; 2],
}

impl DelimitedChanges {
    /// Creates rows with these columns, with headers if `headers`; `all` prints unchanged rows too.
    pub(crate) fn new(format: DelimitedFormat, layout: Layout, headers: bool, all: bool) -> Self {
        Self { rows: DelimitedRows::new(format, layout, headers), all, compared: Default::default() }
    }

    /// Writes the row of a change. Returns `false` if it is suppressed because the row is unchanged.
    ///
    /// # Errors
    /// `out` failed.
    pub(crate) fn change(&mut self, change: &Change, out: &mut impl Write) -> io::Result<bool> {
        let Change { object, resource, received: now, .. } = change;
        let old = change.old.as_ref().filter(|_| change.kind == ChangeKind::Modified && !self.all);
        if let Some(old) = old
            && self.rows.layout().looks_same(old, object, resource, *now, &mut self.compared)
        {
            return Ok(false);
        }
        // The state has been in the index since it was received, perhaps for hours.
        let is_old = change.final_state_unknown || change.kind == ChangeKind::Sync;
        let age = if is_old { Age::Fresh { now: *now } } else { Age::AsSent { now: *now } };
        let of = (resource, &*change.context);
        let line = self.rows.layout().line(object, of, Some(change.kind), age, Cells::default());
        self.rows.line(&line, out)?;
        out.flush()?;
        Ok(true)
    }
}
