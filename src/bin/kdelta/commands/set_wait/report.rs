//! The report of how a wait ended: the result on stdout, and on stderr what was missing, with the last events.

use std::io::Write;

use kdelta::query::{WaitFailure, WaitMet};

use super::progress::WaitProgress;
use super::{description, last_events};
use crate::commands::reporter::Reporter;
use crate::exit::ExitCode;
use crate::output::{ResultObject, WaitResult};
use crate::session::Session;
use crate::settings::{OutputStream, SetWait};

/// The number of objects that are named when the time has passed, and of those whose events are printed.
const MAX_NAMED: usize = 10;
const MAX_WITH_EVENTS: usize = 3;

/// The parts of a report.
pub(super) struct Report<'a, W> {
    pub(super) session: &'a Session,
    pub(super) wait: &'a SetWait,
    pub(super) reporter: &'a Reporter,
    pub(super) progress: &'a WaitProgress,
    pub(super) stdout: OutputStream,
    pub(super) out: W,
}

impl<W: Write> Report<'_, W> {
    /// Reports a wait whose conditions hold.
    pub(super) fn met(&mut self, met: &WaitMet) -> anyhow::Result<ExitCode> {
        let result = description::met(self.wait, self.progress, met);
        if self.wait.json {
            self.write_json(&result)?;
        } else {
            result.write_text(&mut self.out)?;
        }
        Ok(ExitCode::Ok)
    }

    /// Reports a wait that has failed for good.
    pub(super) async fn failed(&mut self, failure: &WaitFailure) -> anyhow::Result<ExitCode> {
        let result = description::failed(self.wait, self.progress, failure);
        let on = match &result.by {
            Some(by) => format!(" on {}", self.title(by)),
            None => String::new(),
        };
        self.error(&format!("gave up waiting for the condition{on}: {}", failure.reason));
        if let (Some(by), Some(deciding)) = (&failure.by, &result.by) {
            self.print_events(by.part, deciding).await;
        }
        self.write_json(&result)?;
        Ok(ExitCode::Failed)
    }

    /// Reports a wait whose time has passed.
    pub(super) async fn timed_out(&mut self) -> anyhow::Result<ExitCode> {
        let result = description::timed_out(self.wait, self.progress);
        let (met, total) = (result.met, result.total);
        let parts: Vec<usize> = self.progress.machine.missing().map(|missing| missing.part).collect();
        let unknown = self.progress.targets().iter().filter(|target| !target.has_parts());
        let unknown: Vec<&str> = unknown.map(|target| target.title.as_str()).collect();
        for title in &unknown {
            self.error(&format!("{} on {title}: {}", self.unmet(), self.without_type()));
        }
        for (place, (part, object)) in parts.iter().zip(&result.missing).take(MAX_NAMED).enumerate() {
            let (title, reason) = (self.title(object), object.reason.as_deref().unwrap_or_default());
            self.error(&format!("{} on {title}: {reason}", self.unmet()));
            if place < MAX_WITH_EVENTS {
                self.print_events(*part, object).await;
            }
        }
        match parts.len() {
            0 if unknown.is_empty() => self.error(&self.without_objects(met, total)),
            count if count > MAX_NAMED => {
                let more = count - MAX_NAMED;
                self.reporter
                    .messages()
                    .notice(&format!("and {more} more: {met} of {total} meet the condition"));
            }
            _ => {}
        }
        self.write_json(&result)?;
        Ok(ExitCode::TimedOut)
    }

    /// Returns the message about a time-out for which no object is to blame.
    fn without_objects(&self, met: usize, total: usize) -> String {
        let reason = match self.progress.machine.held_since() {
            Some(since) => {
                let held = self.progress.elapsed().saturating_sub(since).as_secs();
                format!("it held for {held}s of {}s", self.wait.stable.as_secs())
            }
            None if total == 0 => "nothing matches".to_owned(),
            None => format!("{met} of {total} meet it"),
        };
        format!("{}: {reason}", self.unmet())
    }

    /// Returns the beginning of the messages about conditions that were not met.
    fn unmet(&self) -> &'static str {
        match self.wait.replay {
            Some(_) => "the range ended without the condition",
            None => "timed out waiting for the condition",
        }
    }

    /// Returns the possible reasons why a type was not found.
    fn without_type(&self) -> &'static str {
        match self.wait.replay {
            Some(_) => "the resource type was not recorded",
            None => "the server doesn't have the resource type, or did not respond",
        }
    }

    /// Returns the name of an object, as kubectl has it in the message, with its namespace if that varies.
    fn title(&self, object: &ResultObject) -> String {
        let name = object.name.as_deref().unwrap_or_default();
        let context = object.context.as_ref().map(|context| format!("{context}: ")).unwrap_or_default();
        let title = format!("{context}{}/{name}", object.resource);
        match &object.namespace {
            Some(namespace) if self.progress.varies().1 => format!("{title} in namespace {namespace}"),
            _ => title,
        }
    }

    async fn print_events(&self, part: usize, object: &ResultObject) {
        let Some(part) = self.progress.part(part) else { return };
        // The session serves the end of the recording, whose events may be later than the end of the wait.
        if self.wait.replay.is_some() {
            return;
        }
        let selection = &self.wait.selection;
        for line in last_events::lines(self.session, selection, self.reporter, part, object).await {
            self.reporter.messages().notice(&line);
        }
    }

    fn error(&self, message: &str) {
        self.reporter.messages().error(&[format!("error: {message}")], None);
    }

    fn write_json(&mut self, result: &WaitResult) -> anyhow::Result<()> {
        if self.wait.json {
            result.write_json(self.stdout.is_terminal, &mut self.out)?;
        }
        Ok(())
    }
}
