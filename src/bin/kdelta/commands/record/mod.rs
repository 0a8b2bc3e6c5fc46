//! `kdelta record`: the current objects, then every change, in files.
//!
//! The watch delivers changes to a sink, which hands them to a thread for each recording. Only that thread touches the files.

mod comparison;
pub(super) mod documents;
mod encryption;
mod failure;
mod message;
mod progress;
mod record_sink;
mod recorder;
mod recorder_thread;
mod recorders;
mod redaction_key;
mod selectors;
mod served_metrics;
mod shared_state;

pub(crate) use encryption::encryption;
pub(crate) use served_metrics::register;

use std::cell::RefCell;
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use kdelta::recording::{Redaction, SecretValues};
use tokio::time::Instant;

use self::documents::Documents;
use self::record_sink::RecordSink;
use self::recorders::Recorders;
use super::reporter::Reporter;
use super::watch::{self, PartSink, PartSupervisor, Parts, WatchLoop, deadline};
use crate::exit::{ExitCode, Usage};
use crate::session::{EndSignals, ExitOnSignal, Filter, Interrupt, Session, TargetSet};
use crate::settings::{Record, Redacted, UsageError, Watch};

/// The interval at which the progress on a terminal is updated.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(500);

/// The time limit for the documents of the server after the initial state.
pub(super) const DOCUMENTS_LIMIT: Duration = Duration::from_secs(20);

/// Records until interrupted, until a limit is reached, or until every part has failed.
pub(crate) async fn run(session: &Session, record: &Record, reporter: &Reporter) -> anyhow::Result<ExitCode> {
    let watch = &Watch::of_record(record);
    check_filter(session, watch, UsageError::RecordedAges)?;
    let redaction = redaction(&record.redacted, &record.to)?;
    let encryption = encryption(&record.encrypt_to, session.keyring(), &record.to)?;
    let last = reporter.clone();
    let early = ExitOnSignal::after(move |end| last.messages().without_counts(end))?;
    let end = watch.until.duration.map(|duration| Instant::now() + duration);
    let mut targets =
        TargetSet::start_recording(session, &watch.selection, watch.ignore_not_found, &record.to);
    let mut is_partial = reporter.report_unusable(session);
    tokio::select! {
        is_there = watch::first_parts(session, watch, &mut targets, reporter, &mut is_partial) => if !is_there? {
            return Ok(ExitCode::Error);
        },
        () = deadline::reached(end) => {
            return Ok(if is_partial { ExitCode::Partial } else { ExitCode::Ok });
        }
    }
    // Each flush is complete, so the process may end at any time.
    let signals = EndSignals::listen(|| ())?;
    drop(early);
    let recorders = Recorders::open(session, record, encryption, reporter)?;
    if let Some(served) = reporter.metrics() {
        register(&recorders.states(session), served);
    }
    let documents = RefCell::new(Documents::default());
    let sink = RecordSink::new(&recorders, &documents, reporter);
    let mut parts = Parts::new(session, watch, reporter.clone(), targets)
        .with_bookmarks()
        .with_stored_objects()
        .with_redaction(redaction);
    // With `--until-synced`, the parts list the current objects: a part that continues from a version would end before it
    // receives the changes since then.
    if !watch.until.synced {
        parts = parts.with_known_states(&recorders);
    }
    let supervisor = PartSupervisor::new(watch, reporter, parts, sink, is_partial);
    let mut watch_loop = WatchLoop::new(watch, reporter, supervisor);
    let ended = {
        let recording = RunningRecording { session, reporter, recorders: &recorders, documents: &documents };
        recording.until_end(&mut watch_loop, &signals, end).await
    };
    let code = match ended {
        End::Watch(ended) => ended,
        End::DurationPassed => Ok(watch_loop.timed_out()),
        End::Interrupted(interrupt) => Ok(watch_loop.interrupted(interrupt)),
        // `Recorders::finish` returns the error.
        End::RecorderFailed => Ok(ExitCode::Error),
    };
    watch_loop.stop().await;
    // Runs after an error of the watch too, which has precedence as the error of the command.
    let finished = recorders.finish(reporter).await;
    let code = code?;
    finished?;
    Ok(code)
}

/// Rejects filters that depend on the time: an object can cease to match them without a change.
pub(super) fn check_filter(session: &Session, watch: &Watch, error: UsageError) -> anyhow::Result<()> {
    let filter = Filter::by(&watch.by, session.expression_errors()).context(Usage)?;
    if filter.and_conditions(&watch.selection.filter).depends_on_time() {
        return Err(anyhow::Error::new(error).context(Usage));
    }
    Ok(())
}

/// Returns the redaction of confidential values; `None` if nothing is redacted.
///
/// # Errors
/// There is no usable key.
pub(super) fn redaction(redacted: &Redacted, recordings: &Path) -> anyhow::Result<Option<Arc<Redaction>>> {
    if redacted.secrets == SecretValues::Keep && redacted.paths.is_empty() {
        return Ok(None);
    }
    let key = redaction_key::read_or_create(redacted.key_file.as_deref(), recordings)?;
    Ok(Some(Arc::new(Redaction::new(&key, redacted.secrets, redacted.paths.clone()))))
}

/// The reason why a recording ended.
enum End {
    Watch(anyhow::Result<ExitCode>),
    DurationPassed,
    Interrupted(Interrupt),
    RecorderFailed,
}

/// The work that runs next to the watch: the recorders, the requests for documents, and the line that shows the progress.
struct RunningRecording<'a> {
    session: &'a Session,
    reporter: &'a Reporter,
    recorders: &'a Recorders,
    documents: &'a RefCell<Documents>,
}

impl RunningRecording<'_> {
    /// Runs the watch until there is a reason to end.
    async fn until_end<P: PartSink>(
        &self,
        watch_loop: &mut WatchLoop<'_, P>,
        signals: &EndSignals,
        end: Option<Instant>,
    ) -> End {
        let messages = self.reporter.messages();
        let mut watching = pin!(watch_loop.run());
        let mut following =
            pin!(documents::follow(self.session, self.recorders, self.documents, self.reporter));
        let mut line = messages.status_line();
        let mut show_at = messages.has_reader().then(|| Instant::now() + PROGRESS_INTERVAL);
        let ended = loop {
            tokio::select! {
                biased;
                () = self.recorders.failed() => return End::RecorderFailed,
                interrupt = signals.first() => return End::Interrupted(interrupt),
                () = deadline::reached(end) => return End::DurationPassed,
                () = deadline::reached(show_at) => {
                    line.show(&self.recorders.progress());
                    show_at = Some(Instant::now() + PROGRESS_INTERVAL);
                }
                ended = &mut watching => break ended,
                () = &mut following => {}
            }
        };
        if ended.is_err() || documents::are_complete(self.documents) {
            return End::Watch(ended);
        }
        let documents = async {
            tokio::select! {
                () = documents::complete(self.documents) => {}
                () = &mut following => {}
            }
        };
        tokio::select! {
            biased;
            () = self.recorders.failed() => End::RecorderFailed,
            interrupt = signals.first() => End::Interrupted(interrupt),
            () = documents => End::Watch(ended),
            // Without the documents, the recording lacks discovery and schemas only.
            () = deadline::reached(Some(Instant::now() + DOCUMENTS_LIMIT)) => End::Watch(ended),
        }
    }
}
