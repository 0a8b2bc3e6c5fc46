//! The output of `kdelta history`.

use kdelta::lines::LineOptions;

use crate::output::{HistoryOptions, HistoryRows, RowWidth, WatchOutput, terminal_columns};
use crate::settings::{History, OutputStream};
use crate::view::Details;

/// Returns the output for the versions of `objects` objects.
pub(in crate::commands) fn history_output(
    history: &History,
    objects: usize,
    contexts: bool,
    stdout: OutputStream,
) -> WatchOutput {
    if history.json {
        return WatchOutput::json_lines(LineOptions::default().changes(true), stdout.is_terminal);
    }
    let is_clipped = stdout.is_terminal && !history.no_trunc;
    WatchOutput::history(HistoryRows::new(HistoryOptions {
        names: objects > 1,
        contexts,
        headers: history.headers,
        colour: stdout.colour,
        details: Details { noise: history.noise, secrets: history.secrets },
        width: if is_clipped { RowWidth::of(terminal_columns) } else { RowWidth::default() },
    }))
}
