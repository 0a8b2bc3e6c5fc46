//! `kdelta wait` beyond kubectl: waits until a set of objects, which may grow and shrink, meets conditions.
//!
//! Each type is a target with a watch loop of its own, so that a type that does not exist yet does not delay the others. All
//! report to one state machine.

mod description;
mod last_events;
mod progress;
mod recorded;
mod report;
mod target_sink;

use std::cell::RefCell;
use std::io::Write;
use std::pin::Pin;
use std::rc::Rc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use kdelta::query::{WaitRules, WaitState};
use tokio::time::Instant;

use self::progress::{SharedProgress, WaitProgress};
use self::report::Report;
use self::target_sink::TargetSink;
use super::reporter::Reporter;
use super::watch::{PartSupervisor, Parts, WatchLoop, deadline, files, first_parts};
use crate::exit::ExitCode;
use crate::session::{ExitOnSignal, Interrupts, Session, TargetSet};
use crate::settings::{OutputStream, Selection, SetWait, Types, Watch};

/// The time after which the state is shown, and the interval at which it is shown again.
const FIRST_STATE: Duration = Duration::from_millis(300);
const STATE_INTERVAL: Duration = Duration::from_millis(250);

/// The watch of some of the requested objects.
struct Target {
    /// The words, for messages.
    title: String,
    watch: Watch,
    set: TargetSet,
}

/// Waits until the conditions are met or can't be met any more, or the time has passed.
///
/// # Errors
/// The configuration, the server or the output fails.
pub(crate) async fn run(
    session: &Session,
    wait: &SetWait,
    reporter: &Reporter,
    stdout: OutputStream,
    out: impl Write,
) -> anyhow::Result<ExitCode> {
    let end = Instant::now() + wait.timeout;
    let last = reporter.clone();
    let early = ExitOnSignal::after(move |end| last.messages().without_counts(end))?;
    reporter.report_unusable(session);
    let targets = targets(session, wait, reporter).await?;
    let titles = targets.iter().map(|target| target.title.clone()).collect();
    let progress = WaitProgress::new(wait.rules(), titles, !wait.selection.is_open());
    let progress = Rc::new(RefCell::new(progress));
    let interrupts = Interrupts::listen()?;
    drop(early);
    let (watches, sets): (Vec<Watch>, Vec<TargetSet>) =
        targets.into_iter().map(|target| (target.watch, target.set)).unzip();
    if let Some(replay) = &wait.replay {
        let targets = watches.iter().zip(sets).collect();
        let is_read = tokio::select! {
            biased;
            interrupt = interrupts.first() => return Ok(interrupt.into()),
            is_read = recorded::replay(session, replay, reporter, &progress, targets) => is_read?,
        };
        let end = if is_read { End::Decision } else { End::Failure(ExitCode::Error) };
        return report(session, wait, reporter, progress, end, stdout, out).await;
    }
    let mut loops: FuturesUnordered<Running<'_>> = FuturesUnordered::new();
    for (place, (watch, set)) in watches.iter().zip(sets).enumerate() {
        let sink = TargetSink::new(Rc::clone(&progress), place, &watch.selection.namespaces);
        loops.push(Box::pin(follow(session, watch, set, reporter, sink)));
    }
    let ended = {
        let waiting = decide(wait, reporter, &progress, end, &mut loops);
        tokio::select! {
            biased;
            interrupt = interrupts.first() => return Ok(interrupt.into()),
            ended = waiting => ended?,
        }
    };
    drop(loops);
    report(session, wait, reporter, progress, ended, stdout, out).await
}

/// Reports the end of a wait.
async fn report(
    session: &Session,
    wait: &SetWait,
    reporter: &Reporter,
    progress: SharedProgress,
    ended: End,
    stdout: OutputStream,
    out: impl Write,
) -> anyhow::Result<ExitCode> {
    let progress = progress.replace(WaitProgress::new(WaitRules::default(), Vec::new(), true));
    let mut report = Report { session, wait, reporter, progress: &progress, stdout, out };
    match (ended, progress.machine.state()) {
        (End::Failure(code), _) => Ok(code),
        (End::Decision, WaitState::Met(met)) => report.met(met),
        (End::Decision, WaitState::Failed(failure)) => report.failed(failure).await,
        (End::Time, _) | (End::Decision, WaitState::Pending) => report.timed_out().await,
    }
}

/// A running watch loop.
type Running<'a> = Pin<Box<dyn Future<Output = anyhow::Result<ExitCode>> + 'a>>;

/// The reason why waiting ended.
enum End {
    /// The conditions are met, or will not be.
    Decision,
    /// The time has passed.
    Time,
    /// A target can't be watched, for reasons that have been reported.
    Failure(ExitCode),
}

/// Runs the watch loops until the wait is over.
async fn decide(
    wait: &SetWait,
    reporter: &Reporter,
    progress: &SharedProgress,
    end: Instant,
    loops: &mut FuturesUnordered<Running<'_>>,
) -> anyhow::Result<End> {
    let changed = progress.borrow().changed();
    let messages = reporter.messages();
    let mut status = messages.status_line();
    let mut show_at = messages.has_reader().then(|| Instant::now() + FIRST_STATE);
    let end = (!wait.timeout.is_zero()).then_some(end);
    loop {
        let next = {
            let progress = progress.borrow();
            match progress.machine.state() {
                WaitState::Pending if end.is_none() && progress.is_complete() => return Ok(End::Time),
                WaitState::Pending => progress.next_check(),
                _ => return Ok(End::Decision),
            }
        };
        tokio::select! {
            biased;
            () = changed.notified() => {}
            () = deadline::reached(next) => progress.borrow_mut().advance(),
            () = deadline::reached(end) => return Ok(End::Time),
            () = deadline::reached(show_at) => {
                status.show(&description::state(wait, &progress.borrow()));
                show_at = Some(Instant::now() + STATE_INTERVAL);
            }
            Some(ended) = loops.next() => return ended.map(End::Failure),
        }
    }
}

/// Returns the targets: one for each type, or one for the objects of files.
async fn targets(session: &Session, wait: &SetWait, reporter: &Reporter) -> anyhow::Result<Vec<Target>> {
    let watch_of = |selection: Selection| Watch::of_wait(selection, wait.by.clone(), wait.reads_body());
    if let Some(files) = &wait.files {
        let watch = watch_of(wait.selection.clone());
        let (set, _) = files::targets(session, &watch, files, reporter).await?;
        return Ok(vec![Target { title: "the files".to_owned(), watch, set }]);
    }
    let each = wait.selection.targets.iter().map(|target| {
        let title = match &target.types {
            Types::Word(text) | Types::Matching { text, .. } => text.clone(),
            Types::All => "all types".to_owned(),
        };
        let watch = watch_of(Selection { targets: vec![target.clone()], ..wait.selection.clone() });
        let set = if wait.awaits_types() {
            TargetSet::start_awaiting(session, &watch.selection)
        } else {
            TargetSet::start(session, &watch.selection, false)
        };
        Target { title, watch, set }
    });
    Ok(each.collect())
}

/// Watches a target until all of its parts have failed.
async fn follow(
    session: &Session,
    watch: &Watch,
    mut targets: TargetSet,
    reporter: &Reporter,
    sink: TargetSink<'_>,
) -> anyhow::Result<ExitCode> {
    let mut is_partial = false;
    if !first_parts(session, watch, &mut targets, reporter, &mut is_partial).await? {
        return Ok(ExitCode::Error);
    }
    let parts = Parts::new(session, watch, reporter.clone(), targets).with_stored_objects();
    let supervisor = PartSupervisor::new(watch, reporter, parts, sink, is_partial);
    WatchLoop::new(watch, reporter, supervisor).run().await
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use clap::Parser;

    use super::*;
    use crate::args::Cli;
    use crate::output::Messages;
    use crate::settings::{Environment, Settings, Task};

    #[tokio::test]
    #[should_panic(expected = "a bug in a handler")]
    async fn panic_of_a_target_ends_the_wait() {
        let cli = Cli::try_parse_from(["kdelta", "wait", "pods", "--for", "ready", "--any"]).expect("a wait");
        let settings = Settings::read(&cli, &Environment::default()).expect("settings");
        let Task::SetWait(wait) = settings.task else { panic!("not a wait for a set") };
        let reporter = Reporter::new(Arc::new(Messages::stderr(false, false)), false);
        let progress = WaitProgress::new(wait.rules(), vec!["pods".to_owned()], true);
        let progress = Rc::new(RefCell::new(progress));
        let mut loops: FuturesUnordered<Running<'_>> = FuturesUnordered::new();
        loops.push(Box::pin(std::future::pending()));
        loops.push(Box::pin(async { panic!("a bug in a handler") }));
        let end = Instant::now() + wait.timeout;
        let _ended = decide(&wait, &reporter, &progress, end, &mut loops).await;
    }
}
