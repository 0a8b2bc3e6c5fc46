//! `kdelta watch`: the initial state, then every delta, for ever.

mod collections;
mod printer;
mod resumed;
mod stream;

use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use kdelta::diff::Scope;
use kdelta::informer::Notification;
use kdelta::listwatch::Error;
use kdelta::object::{FieldPath, PathError};
use kdelta::queue::Mark;
use kdelta::reflector::ReflectorOptions;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

use super::format;
use super::needs;
use super::watched::Watched;
use crate::exit::{ExitCode, Report, Several, Usage};
use crate::output::ReaderWatch;
use crate::session::{Answers, Filter, Interrupt, Interrupts, Part, Session, reflector_options};
use crate::settings::{Format, Lines, Watch};
use printer::{Printer, Selected};
use stream::{Stream, Told, What};

/// What is printed between two flushes, at most.
const BATCH: usize = 256;
/// How long the lines of an initial state wait for each other, and how many of them.
const GATHERED: Duration = Duration::from_millis(100);
const GATHERED_LINES: usize = 1000;

/// Prints until it is told to end, or until every part has ended with an error.
pub(crate) async fn run<W: Write>(
    session: &Session,
    watch: &Watch,
    watched: &Watched,
    colour: bool,
    out: W,
) -> anyhow::Result<ExitCode> {
    let scope = scope(&watch.lines).context(Usage)?;
    let answering = watched.clone();
    let _answers = Answers::with(move || answering.messages().notice(&answering.summary()))?;
    let end = watch.until.duration.map(|duration| Instant::now() + duration);
    let parts = tokio::select! {
        parts = session.parts(&watch.selection) => parts?,
        () = at(end) => return Ok(ExitCode::Ok),
    };
    if watch.flow.from.is_some() && parts.len() != 1 {
        return Err(anyhow::Error::new(NotOneCollection(parts.len())).context(Usage));
    }
    // Not before there is something to sum up: until then a signal ends the process by itself.
    let interrupts = Interrupts::listen()?;
    let mut stream = Stream::new(&watch.flow);
    for (place, part) in parts.iter().enumerate() {
        let filter = Filter::by(&watch.by).context(Usage)?;
        let indices = watch.by.iter().map(|by| &by.index);
        let representation = needs::of_lines(watch.print.format, indices, &watch.lines);
        let source =
            session.source(part, &watch.selection, &watch.print, representation, filter).context(Usage)?;
        let source = watched.source(part, source);
        let options = ReflectorOptions {
            give_up: Some(source.gives_up(true)),
            ..reflector_options(&watch.selection, &source, Some(watched.observer(part)))
        };
        match &watch.flow.from {
            Some(version) => {
                let options = ReflectorOptions { resume_from: Some(version.as_str().into()), ..options };
                stream.resume(place, source.selected_by_the_server(), options);
            }
            None => watched.count_merged(stream.add(place, source, options, &watch.flow)?),
        }
    }
    let gone = Arc::new(Notify::new());
    let tell = Arc::clone(&gone);
    let _reader = ReaderWatch::start(move || tell.notify_one())?;

    let output = format::stream(&watch.print, &watch.lines, &watch.selection, &parts, colour);
    let selected = Selected { initial: watch.initial, scope, in_order: !watch.flow.coalesce };
    let context = Arc::clone(session.context());
    let printer = Printer::new(output, parts.clone(), context, selected, watched, out);
    let mut course = Course::new(watch, watched, parts, printer);
    let ended = tokio::select! {
        biased;
        () = gone.notified() => Ok(ExitCode::BrokenPipe),
        interrupt = interrupts.first() => Ok(course.interrupted(interrupt)),
        () = at(end) => Ok(course.done()),
        ended = course.follow(&mut stream) => ended,
    };
    stream.stop().await;
    ended
}

/// What has to change so that an update counts.
fn scope(lines: &Lines) -> Result<Scope, PathError> {
    let paths = |texts: &[String]| texts.iter().map(|text| FieldPath::parse(text)).collect::<Result<_, _>>();
    Ok(Scope { only: paths(&lines.only)?, ignored: paths(&lines.ignore)? })
}

/// A version says nothing of several collections.
#[derive(Debug, thiserror::Error)]
#[error(
    "--resource-version is the version of one collection, and this is {0} of them: give one type, and one namespace, -A or one name"
)]
struct NotOneCollection(usize);

/// Waits until then, or for ever.
async fn at(end: Option<Instant>) {
    match end {
        Some(end) => tokio::time::sleep_until(end).await,
        None => std::future::pending().await,
    }
}

/// Where each part stands, and what has been printed of it.
struct Course<'a, W> {
    watch: &'a Watch,
    watched: &'a Watched,
    parts: Vec<PartCourse>,
    printer: Printer<W>,
}

struct PartCourse {
    part: Part,
    synced: bool,
    /// Whether an object has been seen: a part that is one name must have it.
    found: bool,
    /// Whether it has ended, with an error.
    failed: bool,
    /// The error, until it is told.
    failure: Option<Error>,
}

impl<'a, W: Write> Course<'a, W> {
    fn new(watch: &'a Watch, watched: &'a Watched, parts: Vec<Part>, printer: Printer<W>) -> Self {
        let course = |part| PartCourse { part, synced: false, found: false, failed: false, failure: None };
        Self { watch, watched, parts: parts.into_iter().map(course).collect(), printer }
    }

    /// Prints what the stream tells, until there is a reason to end.
    async fn follow(&mut self, stream: &mut Stream) -> anyhow::Result<ExitCode> {
        let mut batch = self.gathered(stream).await;
        loop {
            for told in batch.drain(..) {
                if let Some(ended) = self.told(told).transpose() {
                    self.printer.flush()?;
                    return ended;
                }
            }
            self.printer.flush()?;
            stream.next_batch(&mut batch, BATCH).await;
        }
    }

    /// The beginning: an initial state that comes in at once has the widths of all its lines, and in a table its kinds
    /// stand together; one that takes long is shown as it comes.
    async fn gathered(&self, stream: &mut Stream) -> Vec<Told> {
        let mut batch = Vec::with_capacity(BATCH);
        stream.next_batch(&mut batch, BATCH).await;
        let until = Instant::now() + GATHERED;
        while batch.len() <= GATHERED_LINES
            && batch.iter().filter(|told| told.ends_list()).count() < self.parts.len()
        {
            if timeout_at(until, stream.next_batch(&mut batch, BATCH)).await.is_err() {
                break;
            }
        }
        if matches!(self.watch.print.format, Format::Table { .. }) {
            // Stable: the lines of one part stay in their order, which is all the order there is between them.
            batch.sort_by_key(|told| told.part);
        }
        batch
    }

    /// Takes one thing that was told; answers when it is the last.
    fn told(&mut self, told: Told) -> anyhow::Result<Option<ExitCode>> {
        let Told { part: place, received, what } = told;
        if self.parts[place].failed {
            return Ok(None);
        }
        match what {
            What::Ended(Ok(())) => return Ok(None),
            What::Ended(Err(error)) => self.fail(place, received, error)?,
            What::Notification(Notification::Mark(mark)) => {
                let part = &mut self.parts[place];
                part.synced |= matches!(mark, Mark::Synced { .. });
                match part.missing().filter(|_| !self.watch.ignore_not_found) {
                    Some(error) => self.fail(place, received, error)?,
                    None => self.printer.notification(place, received, Notification::Mark(mark))?,
                }
            }
            What::Notification(notification) => {
                self.parts[place].found = true;
                self.printer.notification(place, received, notification)?;
            }
            What::Event(event) => self.printer.event(place, received, event)?,
        }
        self.ended()
    }

    fn fail(&mut self, place: usize, received: jiff::Timestamp, error: Error) -> anyhow::Result<()> {
        self.printer.ended(place, received, &error)?;
        let part = &mut self.parts[place];
        part.failed = true;
        part.failure = Some(part.part.asked_for(&self.watch.selection, error));
        if self.parts.iter().any(|part| !part.failed) {
            self.tell_failures();
        }
        Ok(())
    }

    /// Says the errors of parts that failed while others go on: their end may be far away.
    fn tell_failures(&mut self) {
        for error in self.parts.iter_mut().filter_map(|part| part.failure.take()) {
            self.watched.messages().error(&Report::of(&error.into(), "").text, None);
        }
    }

    /// Whether what has been printed so far is all that was asked for, or an error where no part is left.
    fn ended(&mut self) -> anyhow::Result<Option<ExitCode>> {
        if self.parts.iter().all(|part| part.failed) {
            let failures = self.parts.iter_mut().filter_map(|part| part.failure.take());
            return Err(Several(failures.map(anyhow::Error::from).collect()).into());
        }
        let until = &self.watch.until;
        let counted = until.count.is_some_and(|count| self.watched.printed() >= count);
        let synced = until.synced && self.parts.iter().all(|part| part.synced || part.failed);
        Ok((counted || synced).then(|| self.done()))
    }

    /// The end that was asked for. Parts that failed on the way were passed over then.
    fn done(&self) -> ExitCode {
        if self.parts.iter().any(|part| part.failed) { ExitCode::Partial } else { ExitCode::Ok }
    }

    fn interrupted(&self, interrupt: Interrupt) -> ExitCode {
        self.watched.messages().notice(&self.watched.summary());
        match interrupt {
            Interrupt::Interrupt => ExitCode::Interrupted,
            Interrupt::Terminate => ExitCode::Terminated,
        }
    }
}

impl PartCourse {
    /// The error of a part that is one name, when the whole state has been seen without it.
    fn missing(&self) -> Option<Error> {
        self.part.not_found().filter(|_| self.synced && !self.found)
    }
}
