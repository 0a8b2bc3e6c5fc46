//! The loop of a run: reads the watch, starts calls as their objects become ready, and records their results.

use std::cell::RefCell;
use std::future::Future;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use anyhow::anyhow;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use tokio::sync::Notify;
use tokio::time::Instant;

use super::call::{CallOptions, CallResult};
use super::change_line::ChangeLine;
use super::checkpoint::CheckpointWriter;
use super::child_output::ChildOutput;
use super::dead_letters::DeadLetters;
use super::process_groups::ProcessGroups;
use super::queue::{Call, RunMetrics};
use super::run_state::RunState;
use crate::commands::Reporter;
use crate::commands::watch::{PartSink, WatchLoop, deadline};
use crate::exit::ExitCode;
use crate::session::{EndSignals, Interrupt};

/// The calls of a run, and the files that record their results.
pub(super) struct Calls<'a> {
    pub(super) options: CallOptions,
    pub(super) jobs: usize,
    pub(super) groups: ProcessGroups,
    /// Set if calls run at the same time.
    pub(super) output: Option<ChildOutput<'a>>,
    pub(super) run_state: Rc<RefCell<RunState>>,
    pub(super) metrics: Arc<RunMetrics>,
    pub(super) dead_letters: Option<DeadLetters>,
    pub(super) checkpoint: Option<CheckpointWriter>,
    pub(super) reporter: &'a Reporter,
}

/// The events that end a run before the watch does.
pub(super) struct RunEndEvents {
    pub(super) signals: EndSignals,
    /// The end of `--duration`.
    pub(super) at: Option<Instant>,
    /// Notified when the reader of standard output closes.
    pub(super) reader_closed: Arc<Notify>,
}

/// The reason why the watch delivers no more changes.
enum WatchEnd {
    Ended(anyhow::Result<ExitCode>),
    DurationPassed,
    Interrupted(Interrupt),
    ReaderClosed,
}

impl WatchEnd {
    /// Whether waiting lines are not run any more.
    fn drops_waiting(&self) -> bool {
        matches!(self, Self::Interrupted(_) | Self::ReaderClosed)
    }
}

impl<'a> Calls<'a> {
    /// Runs the watch and its calls until both have ended. Returns the exit code of the watch.
    ///
    /// # Errors
    /// The watch failed, the command can't be run, or a line can't be written to the file of failed lines.
    pub(super) async fn run<P: PartSink>(
        &mut self,
        watch_loop: &mut WatchLoop<'_, P>,
        ends: &RunEndEvents,
    ) -> anyhow::Result<ExitCode> {
        match self.until_idle(watch_loop, ends).await? {
            WatchEnd::Ended(ended) => ended,
            WatchEnd::DurationPassed => Ok(watch_loop.timed_out()),
            WatchEnd::Interrupted(interrupt) => Ok(watch_loop.interrupted(interrupt)),
            WatchEnd::ReaderClosed => Ok(ExitCode::BrokenPipe),
        }
    }

    async fn until_idle<P: PartSink>(
        &mut self,
        watch_loop: &mut WatchLoop<'_, P>,
        ends: &RunEndEvents,
    ) -> anyhow::Result<WatchEnd> {
        let ready = self.run_state.borrow().queue.ready();
        let mut watching = pin!(watch_loop.run());
        let (mut recorder, caller) = self.divide();
        // Dropping the futures kills their processes.
        let mut running = FuturesUnordered::new();
        let mut watch_end: Option<WatchEnd> = None;
        loop {
            let drops_waiting = watch_end.as_ref().is_some_and(WatchEnd::drops_waiting);
            if let Some(end) = watch_end.take_if(|_| {
                running.is_empty() && (drops_waiting || recorder.run_state.borrow().queue.len() == 0)
            }) {
                return Ok(end);
            }
            let is_watching = watch_end.is_none();
            let next_write = recorder.checkpoint.as_ref().map(CheckpointWriter::next_at);
            tokio::select! {
                biased;
                interrupt = ends.signals.second(), if drops_waiting => {
                    return Ok(WatchEnd::Interrupted(interrupt));
                }
                interrupt = ends.signals.first(), if !drops_waiting => {
                    if !running.is_empty() {
                        recorder.reporter.messages().notice(
                            "ending: waiting for the commands that are running; another signal kills them",
                        );
                    }
                    watch_end = Some(WatchEnd::Interrupted(interrupt));
                }
                () = ends.reader_closed.notified(), if !drops_waiting => watch_end = Some(WatchEnd::ReaderClosed),
                Some((call, result)) = running.next(), if !running.is_empty() => {
                    recorder.record(&call, result)?;
                }
                () = deadline::reached(next_write) => recorder.write_checkpoint().await,
                id = ready.get(), if !drops_waiting && running.len() < caller.jobs => {
                    let call = id.and_then(|id| recorder.run_state.borrow_mut().queue.take(id));
                    running.extend(call.map(|call| caller.start(call)));
                }
                () = deadline::reached(ends.at), if is_watching => watch_end = Some(WatchEnd::DurationPassed),
                ended = &mut watching, if is_watching => watch_end = Some(WatchEnd::Ended(ended)),
            }
        }
    }

    /// Divides the calls into the recorder of their results and the caller, which running calls borrow.
    fn divide(&mut self) -> (Recorder<'_>, Caller<'_, 'a>) {
        let Self { options, jobs, groups, output, run_state, metrics, dead_letters, checkpoint, reporter } =
            self;
        let recorder = Recorder { options, run_state, metrics, dead_letters, checkpoint, reporter };
        (recorder, Caller { options, jobs: *jobs, groups, output: output.as_ref(), metrics })
    }

    /// Writes the final checkpoint.
    ///
    /// # Errors
    /// The file can't be written.
    pub(super) async fn finish(self) -> anyhow::Result<()> {
        let Self { checkpoint, run_state, .. } = self;
        let Some(checkpoint) = checkpoint else { return Ok(()) };
        // Taken out, because nothing may be borrowed while the file is written.
        let progress = run_state.borrow_mut().progress.take().unwrap_or_default();
        checkpoint.finish(&progress).await
    }
}

/// Starts calls.
struct Caller<'r, 'a> {
    options: &'r CallOptions,
    jobs: usize,
    groups: &'r ProcessGroups,
    output: Option<&'r ChildOutput<'a>>,
    metrics: &'r RunMetrics,
}

impl<'r, 'a> Caller<'r, 'a> {
    fn start(
        &self,
        call: Call<ChangeLine>,
    ) -> impl Future<Output = (Call<ChangeLine>, CallResult)> + use<'r, 'a> {
        let Self { options, groups, output, metrics, .. } = *self;
        metrics.calls_running.fetch_add(1, Ordering::Relaxed);
        async move {
            let result = options.run(&call, groups, output).await;
            metrics.calls_running.fetch_sub(1, Ordering::Relaxed);
            (call, result)
        }
    }
}

/// Records the results of calls.
struct Recorder<'a> {
    options: &'a CallOptions,
    run_state: &'a RefCell<RunState>,
    metrics: &'a RunMetrics,
    dead_letters: &'a mut Option<DeadLetters>,
    checkpoint: &'a mut Option<CheckpointWriter>,
    reporter: &'a Reporter,
}

impl Recorder<'_> {
    /// Records the result of a call. Lines that are given up are reported and written to the file of failed lines before the
    /// progress covers them.
    fn record(&mut self, call: &Call<ChangeLine>, result: CallResult) -> anyhow::Result<()> {
        let (counter, failure) = match result {
            CallResult::Succeeded => (&self.metrics.calls_succeeded, None),
            CallResult::Failed(reason) => (&self.metrics.calls_failed, Some(reason)),
            CallResult::TimedOut(limit) => {
                let reason = format!("it took longer than {:.1}s", limit.as_secs_f64());
                (&self.metrics.calls_timed_out, Some(reason))
            }
            CallResult::NotStarted(error) => {
                let command = self.options.command.first().map(|word| word.to_string_lossy());
                return Err(anyhow!("run {:?}: {error}", command.unwrap_or_default()));
            }
        };
        counter.fetch_add(1, Ordering::Relaxed);
        let finished = self.run_state.borrow_mut().queue.finish(call, failure.is_none());
        for line in finished {
            if line.is_given_up {
                let reason = failure.as_deref().unwrap_or_default();
                self.give_up(&line.line, line.attempts, reason)?;
            }
            self.run_state.borrow_mut().complete(line);
        }
        Ok(())
    }

    fn give_up(&mut self, line: &ChangeLine, attempts: u32, reason: &str) -> anyhow::Result<()> {
        let (title, kind) = (line.title(), line.change.kind.as_str());
        let calls = if attempts == 1 { "call" } else { "calls" };
        self.reporter
            .messages()
            .notice(&format!("{title}: {kind} given up after {attempts} {calls}: {reason}"));
        if let Some(dead_letters) = self.dead_letters {
            let mut text = Vec::new();
            line.write(self.options.masks_secrets, &mut text);
            dead_letters.append(&text, attempts, reason)?;
        }
        Ok(())
    }

    async fn write_checkpoint(&mut self) {
        let Some(checkpoint) = self.checkpoint else { return };
        // Taken out, because nothing may be borrowed while an earlier write is waited for.
        let Some(mut progress) = self.run_state.borrow_mut().progress.take() else { return };
        checkpoint.write_if_changed(&mut progress, self.reporter).await;
        self.run_state.borrow_mut().progress = Some(progress);
    }
}
