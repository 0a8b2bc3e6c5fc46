//! The course of a watch: what is told is printed, parts join and leave and fail, and at some point it ends.

use std::io::Write;
use std::time::Duration;

use jiff::Timestamp;
use kdelta::informer::Notification;
use kdelta::listwatch::Error;
use kdelta::queue::Mark;
use tokio::time::{Instant, sleep_until, timeout_at};

use super::at;
use super::left_out::Turn;
use super::printer::Printer;
use super::roster::{Roster, Stage};
use super::setbacks::Setbacks;
use super::stream::{Told, What};
use crate::commands::forbidden;
use crate::commands::walk::is_missing;
use crate::commands::watched::Watched;
use crate::exit::ExitCode;
use crate::session::{Interrupt, TargetFailure, is_unreachable};
use crate::settings::{Format, Watch};

/// What is printed between two flushes, at most.
const BATCH: usize = 256;
/// How long the lines of an initial state wait for each other, and how many of them.
const GATHERED: Duration = Duration::from_millis(100);
const GATHERED_LINES: usize = 1000;
/// And how much of them.
const GATHERED_BYTES: usize = 8 * 1024 * 1024;

/// What has been printed, and what has failed.
pub(super) struct Course<'a, W> {
    watch: &'a Watch,
    watched: &'a Watched,
    roster: Roster<'a>,
    printer: Printer<W>,
    /// Whether all that was asked for has been told once: what joins from now on is new.
    begun: bool,
    /// Whether anything that was asked for has failed, but for names that are missing.
    partial: bool,
    /// Whether a name is missing.
    lacks_name: bool,
    setbacks: Setbacks<'a>,
    /// When what was left out is tried next.
    again: Turn,
}

impl<'a, W: Write> Course<'a, W> {
    /// `partial` is whether anything has failed before.
    pub(super) fn new(
        watch: &'a Watch,
        watched: &'a Watched,
        roster: Roster<'a>,
        printer: Printer<W>,
        partial: bool,
    ) -> Self {
        Self {
            watch,
            watched,
            roster,
            printer,
            begun: false,
            partial,
            lacks_name: false,
            setbacks: Setbacks::new(watched),
            again: Turn::first(Instant::now()),
        }
    }

    /// Prints what the stream tells, until there is a reason to end.
    pub(super) async fn follow(&mut self) -> anyhow::Result<ExitCode> {
        self.call()?;
        let mut batch = Vec::with_capacity(BATCH);
        if let Some(ended) = self.gather(&mut batch).await? {
            return Ok(ended);
        }
        loop {
            for told in batch.drain(..) {
                if let Some(ended) = self.told(told).transpose() {
                    self.printer.flush()?;
                    return ended;
                }
            }
            if self.begun {
                self.setbacks.tell_forbidden_soon();
            }
            self.printer.flush()?;
            tokio::select! {
                news = self.roster.survey.next() => if let Some(ended) = self.learned(news)? {
                    return Ok(ended);
                },
                () = self.roster.stream.next_batch(&mut batch, BATCH) => {}
                () = at(self.setbacks.tell_at()) => self.setbacks.tell_forbidden(),
                () = sleep_until(self.again.at()), if self.roster.has_left_out() => self.try_left_out()?,
            }
        }
    }

    /// Rights, or a server, may have come.
    fn try_left_out(&mut self) -> anyhow::Result<()> {
        let limit = self.again.take(Instant::now());
        self.roster.try_left_out(limit);
        self.call()
    }

    /// The beginning: an initial state that comes in at once has the widths of all its lines, and in a table its kinds
    /// stand together; one that takes long is shown as it comes.
    async fn gather(&mut self, batch: &mut Vec<Told>) -> anyhow::Result<Option<ExitCode>> {
        let mut until = None;
        loop {
            if let Some(ended) = self.ended()? {
                return Ok(Some(ended));
            }
            let complete = batch.iter().filter(|told| told.ends_list()).count() >= self.roster.members.len();
            if batch.len() > GATHERED_LINES
                || batch.iter().map(Told::weight).sum::<usize>() > GATHERED_BYTES
                || (complete && !batch.is_empty() && self.roster.survey.is_settled())
            {
                break;
            }
            // It counts from the first line.
            let more = async {
                let next = self.roster.stream.next_batch(batch, BATCH);
                if let Some(until) = until {
                    timeout_at(until, next).await.is_ok()
                } else {
                    next.await;
                    true
                }
            };
            tokio::select! {
                news = self.roster.survey.next() => if let Some(ended) = self.learned(news)? {
                    return Ok(Some(ended));
                },
                is_more = more => if !is_more {
                    break;
                },
            }
            if !batch.is_empty() {
                until = until.or_else(|| Some(Instant::now() + GATHERED));
            }
        }
        if matches!(self.watch.print.format, Format::Table { .. }) {
            // Stable: the lines of one part stay in their order, which is all the order there is between them.
            batch.sort_by_cached_key(|told| (self.roster.first_of_kind(told.part), told.part));
        }
        Ok(None)
    }

    /// Ends every part.
    pub(super) async fn stop(self) {
        self.roster.stream.stop().await;
    }

    /// Has the parts join and leave that the survey comes to.
    fn call(&mut self) -> anyhow::Result<()> {
        let joined = self.roster.call();
        for number in self.roster.dismissed.drain(..) {
            self.printer.leave(number);
        }
        // All of them before the first runs: the names of one collection are told as one.
        for (number, part) in &joined {
            self.printer.join(*number, part, self.watch.initial || self.begun);
        }
        for (number, _) in joined {
            let selects_locally = self.roster.start(number, self.begun)?;
            self.printer.started(number, selects_locally);
        }
        Ok(())
    }

    /// Takes news of the clusters; answers when they are the last.
    fn learned(&mut self, news: Result<(), TargetFailure>) -> anyhow::Result<Option<ExitCode>> {
        match news {
            Ok(()) => {
                for prefix in self.roster.survey.take_recovered() {
                    self.watched.messages().notice(&format!("{prefix}the server answers now"));
                }
            }
            Err(TargetFailure::Cluster { prefix, error }) => {
                self.watched.tell_setback(&prefix, error)?;
                self.partial = true;
            }
            Err(TargetFailure::NamespacePatterns { prefix, error }) => {
                self.watched.tell_error(&prefix, &error);
                self.partial = true;
            }
            Err(TargetFailure::Namespaces { cluster }) => {
                for (planned, error) in self.setbacks.take_refused(cluster) {
                    self.printer.refused(&planned.part, Timestamp::now(), &error)?;
                    if planned.open_type {
                        self.setbacks.forbid(planned.part, error);
                    } else {
                        self.setbacks.fail(planned.part, forbidden::everywhere(error));
                    }
                }
                self.partial = true;
            }
        }
        self.call()?;
        self.setbacks.retain_refused(|part| self.roster.survey.is_split(part));
        self.ended()
    }

    /// Takes one thing that was told; answers when it is the last.
    fn told(&mut self, told: Told) -> anyhow::Result<Option<ExitCode>> {
        let Told { part: number, received, what } = told;
        let is_leaving = self.roster.is_leaving(number);
        let (is_full, is_sure) = (self.is_full(), self.misses_names());
        let Some(member) = self.roster.members.get_mut(&number).filter(|member| !member.has_failed()) else {
            return Ok(None);
        };
        match what {
            What::Ended(Err(error)) if !is_leaving => self.fail(number, received, error)?,
            What::Ended(_) | What::Left => {
                self.printer.leave(number);
                self.roster.strike(number);
                self.call()?;
            }
            What::Notification(Notification::Mark(mark)) => {
                if matches!(mark, Mark::Synced { .. }) {
                    member.stage = Stage::Synced;
                }
                let missing = member.missing();
                if let Some(part) = self.roster.admit(number) {
                    // Others may be let in with it.
                    self.again = Turn::first(Instant::now());
                    self.setbacks.allow(part);
                }
                match missing.filter(|_| is_sure) {
                    Some(error) => self.fail(number, received, error)?,
                    // A mark would say that all before it has been printed.
                    None if is_full => {}
                    None => self.printer.notification(number, received, Notification::Mark(mark))?,
                }
            }
            What::Event(event) => {
                member.found = true;
                self.printer.event(number, received, event)?;
            }
            What::Notification(_) if is_full => member.found = true,
            What::Notification(notification) => {
                member.found = true;
                self.printer.notification(number, received, notification)?;
            }
        }
        self.ended()
    }

    /// A part has ended with an error.
    fn fail(&mut self, number: usize, received: Timestamp, error: Error) -> anyhow::Result<()> {
        let Some(member) = self.roster.members.get_mut(&number) else { return Ok(()) };
        let (planned, synced) = (member.planned.clone(), matches!(member.stage, Stage::Synced));
        let is_forbidden = matches!(error, Error::Forbidden(_));
        let is_resumed = self.watch.flow.from.is_some();
        let is_open = planned.open_type || planned.open_namespace;
        // Of several clusters the others go on, and this one may come.
        let may_come =
            if is_forbidden { is_open } else { !planned.part.prefix.is_empty() && is_unreachable(&error) };
        if may_come && member.again {
            self.roster.leave_out(number, error);
            return Ok(());
        }
        // What has been told of all namespaces would be told again by each.
        if is_forbidden && !is_resumed && !synced && self.roster.survey.split_by_namespace(&planned.part) {
            self.printer.leave(number);
            self.roster.strike(number);
            self.setbacks.refuse(planned, error);
            return self.call();
        }
        // As with `get`, where one context is all there is.
        if planned.part.name.is_some() && planned.part.prefix.is_empty() && is_missing(&error) {
            self.lacks_name = true;
        } else {
            self.partial = true;
        }
        // One that may be listed and not watched would be told from the beginning each time.
        if may_come && !synced {
            self.printer.left_out(number, received)?;
            self.again.add(Instant::now(), !self.roster.has_left_out());
            self.roster.leave_out(number, error.clone());
        } else {
            self.printer.ended(number, received, &error)?;
            self.roster.fail(number);
        }
        if is_forbidden && is_open {
            self.setbacks.forbid(planned.part, error);
        } else {
            let error = planned.part.with_request_context(&self.watch.selection, error);
            self.setbacks.fail(planned.part, error.into());
        }
        Ok(())
    }

    /// Whether what has been printed so far is all that was asked for, or an error where no part is left.
    fn ended(&mut self) -> anyhow::Result<Option<ExitCode>> {
        if (self.roster.has_failed() && !(self.begun && self.roster.survey.is_open()))
            || (self.setbacks.are_news(self.begun) && self.roster.is_empty())
        {
            return self.failed().map(Some);
        }
        self.setbacks.tell_failures();
        if self.roster.is_synced() {
            if !std::mem::replace(&mut self.begun, true) {
                self.tell_missing();
            }
            self.setbacks.tell_forbidden();
        }
        // A name that is missing is not to hang on which of them answers first.
        let counted = self.is_full() && !(self.misses_names() && self.roster.awaits_names());
        let synced = self.watch.until.synced && self.begun;
        Ok((counted || synced).then(|| self.done()))
    }

    /// Whether as many deltas have been printed as were asked for.
    fn is_full(&self) -> bool {
        self.watch.until.count.is_some_and(|count| self.watched.printed() >= count)
    }

    /// Whether a name that is not told of is missing, and that is an error. With a filter nothing may be let through of
    /// what is there.
    fn misses_names(&self) -> bool {
        !self.watch.ignore_not_found && self.watch.by.is_empty()
    }

    /// Says once, when all that is there has been told, that something that was asked for is not.
    fn tell_missing(&mut self) {
        let named_in_matching = if self.misses_names() { self.roster.sought_in_vain() } else { Vec::new() };
        for (prefix, error) in &named_in_matching {
            self.watched.messages().notice(&format!("{prefix}{error} at the moment"));
        }
        if named_in_matching.is_empty() && self.roster.is_empty() {
            self.watched.messages().notice("Nothing matches at the moment.");
        }
    }

    /// No part is left.
    fn failed(&mut self) -> anyhow::Result<ExitCode> {
        // Nobody is there to have them join.
        for (number, member) in &self.roster.members {
            if let Stage::LeftOut(error) = &member.stage {
                self.printer.ended(*number, Timestamp::now(), error)?;
            }
        }
        self.setbacks.end()
    }

    /// The end that was asked for. Parts that failed on the way were passed over then.
    pub(super) fn done(&mut self) -> ExitCode {
        self.setbacks.tell_failures();
        self.setbacks.tell_forbidden();
        self.watched.tell_end();
        match (self.partial, self.lacks_name) {
            (true, _) => ExitCode::Partial,
            (false, true) => ExitCode::Error,
            (false, false) => ExitCode::Ok,
        }
    }

    pub(super) fn interrupted(&mut self, interrupt: Interrupt) -> ExitCode {
        self.setbacks.tell_forbidden();
        self.watched.messages().notice(&self.watched.summary());
        match interrupt {
            Interrupt::Interrupt => ExitCode::Interrupted,
            Interrupt::Terminate => ExitCode::Terminated,
        }
    }
}
