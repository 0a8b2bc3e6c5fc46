//! The main loop of a watch of a recording.

use std::io::Write;

use super::printer::{DeltaPrinter, PartSink};
use crate::commands::replay::RecordedWatch;
use crate::commands::reporter::Reporter;
use crate::exit::ExitCode;
use crate::session::Interrupt;
use crate::settings::Watch;

/// A running replay.
pub(super) struct ReplayLoop<'a, W> {
    pub(super) watch: &'a Watch,
    pub(super) reporter: &'a Reporter,
    pub(super) recorded: RecordedWatch<'a>,
    pub(super) printer: DeltaPrinter<W>,
    /// Whether a context can't be read, which was reported.
    pub(super) is_partial: bool,
}

impl<W: Write> ReplayLoop<'_, W> {
    /// Prints the state at the beginning of the range, then each entry, to the end of the range or until there is another
    /// reason to end.
    pub(super) async fn run(&mut self) -> anyhow::Result<ExitCode> {
        let count = self.watch.until.count;
        self.recorded.begin(&mut self.printer, self.watch.initial)?;
        if self.watch.until.synced {
            return self.ended(true);
        }
        let is_reached = |reporter: &Reporter| count.is_some_and(|count| reporter.printed() >= count);
        loop {
            if is_reached(self.reporter) {
                return self.ended(true);
            }
            // With a limit, entries are taken one by one: none is printed after the last requested one.
            let batch = if count.is_some() { 1 } else { RecordedWatch::BATCH };
            if self.recorded.next(&mut self.printer, batch).await?.is_none() {
                return self.ended(count.is_none());
            }
        }
    }

    /// Ends the replay. `is_done` is whether everything that was requested has been printed.
    pub(super) fn ended(&mut self, is_done: bool) -> anyhow::Result<ExitCode> {
        PartSink::flush(&mut self.printer)?;
        let requires_names = !self.watch.ignore_not_found && !self.watch.filters();
        let missing: Vec<_> = self.recorded.missing_names().filter(|_| requires_names).collect();
        let has_missing = !missing.is_empty();
        for error in missing {
            self.reporter.report_error("", &error.into());
        }
        self.reporter.report_summary();
        Ok(match () {
            () if self.is_partial || self.recorded.is_partial() => ExitCode::Partial,
            () if has_missing || PartSink::has_failures(&self.printer) => ExitCode::Error,
            () if !is_done && self.watch.until.count.is_some() => ExitCode::TimedOut,
            () => ExitCode::Ok,
        })
    }

    /// Ends the replay because of a signal.
    pub(super) fn interrupted(&mut self, interrupt: Interrupt) -> ExitCode {
        self.reporter.messages().notice(&self.reporter.summary());
        interrupt.into()
    }
}
