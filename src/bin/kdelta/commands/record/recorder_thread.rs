//! The thread of a recording: applies messages to its writer, and flushes.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use kdelta::lines::{Change, Mark, MarkKind};
use kdelta::object::{Object, Origin};
use kdelta::recording::{Author, Position, RecordingError, Writer};

use super::comparison::{Comparison, Difference, elapsed};
use super::message::{Message, PartNumber};
use super::progress::Figures;
use super::shared_state::SharedState;
use crate::commands::Reporter;
use crate::session::{ContinuedTime, KnownState, Part};

/// The interval of flushes. Including the time of a flush, a kill loses at most the last second.
const FLUSH_INTERVAL: Duration = Duration::from_millis(700);

/// The use that a recorder makes of earlier entries.
#[derive(Debug, Clone, Copy)]
pub(super) struct RecorderOptions {
    /// Whether parts continue from their versions. Otherwise they list their objects, and the difference is recorded.
    pub(super) continues: bool,
    /// The time of the last entry of an earlier recorder.
    pub(super) since: Option<Timestamp>,
}

/// The state of the thread.
pub(super) struct RecorderThread {
    writer: Writer,
    receiver: Receiver<Message>,
    shared: Arc<SharedState>,
    /// Whether parts continue from their versions.
    continues: bool,
    /// The time of the last entry of an earlier recorder.
    since: Option<Timestamp>,
    parts: HashMap<PartNumber, RecordedPart>,
    /// The times at which parts of this recorder ended with an error.
    ended: HashMap<Part, Timestamp>,
    reporter: Reporter,
}

/// A part that runs.
struct RecordedPart {
    part: Part,
    /// The comparison of the initial state with the recorded objects, until it is complete.
    comparison: Option<Comparison>,
    /// The time of the last observation by an earlier recorder, until the server sends an event to this one: nothing was
    /// observed since then.
    unobserved_since: Option<Timestamp>,
    /// The start of a part that continues from its version, until the server has accepted its watch.
    starting: Option<StartingPart>,
}

/// A part whose watch the server has not accepted yet, and may refuse: it is not observed.
struct StartingPart {
    accepted: ContinuedTime,
    /// The SYNCED mark, which is recorded when the watch is accepted.
    synced: Option<MarkKind>,
}

impl RecordedPart {
    /// Returns the mark to record: a gap that follows no event begins with the last observation by an earlier recorder.
    fn mark_kind(&mut self, kind: MarkKind, received: Timestamp) -> MarkKind {
        match kind {
            MarkKind::Gap { from, to, lasted } => {
                let since = self.unobserved_since.take();
                MarkKind::Gap { from, to, lasted: lasted.max(elapsed(since, received)) }
            }
            kind => kind,
        }
    }
}

impl RecorderThread {
    pub(super) fn new(
        writer: Writer,
        receiver: Receiver<Message>,
        shared: Arc<SharedState>,
        options: RecorderOptions,
        reporter: Reporter,
    ) -> Self {
        let RecorderOptions { continues, since } = options;
        let (parts, ended) = (HashMap::new(), HashMap::new());
        Self { writer, receiver, shared, continues, since, parts, ended, reporter }
    }

    /// Handles messages until the queue is closed, then ends the recording.
    ///
    /// # Errors
    /// A file can't be written.
    pub(super) fn run(mut self) -> Result<(), RecordingError> {
        let mut flush_at = Instant::now() + FLUSH_INTERVAL;
        let mut last_received = None;
        loop {
            match self.receiver.recv_timeout(flush_at.saturating_duration_since(Instant::now())) {
                Ok(message) => {
                    let weight = message.weight();
                    last_received = message.received().or(last_received);
                    self.handle(message)?;
                    self.shared.handled(weight);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if Instant::now() >= flush_at {
                self.continue_accepted()?;
                self.writer.flush(Timestamp::now())?;
                let handled = last_received.filter(|_| self.shared.has_waiting());
                self.shared.set_figures(Figures { handled, ..Figures::of(self.writer.statistics()) });
                flush_at = Instant::now() + FLUSH_INTERVAL;
            }
        }
        self.continue_accepted()?;
        self.writer.flush(Timestamp::now())?;
        self.shared.set_figures(Figures::of(self.writer.statistics()));
        self.writer.finish(Timestamp::now())
    }

    fn handle(&mut self, message: Message) -> Result<(), RecordingError> {
        match message {
            Message::Begin(number, part) => self.begin(number, part),
            Message::Known(part, response) => {
                let known = self.known_state(&part);
                // Fails only if the watch has ended.
                let _ = response.send(known);
            }
            Message::Change(number, change, author) => self.change(number, *change, author)?,
            Message::Mark(number, kind, received) => self.mark(number, kind, received)?,
            Message::Refused(part, kind, received) => self.writer.mark(&mark_of(&part, kind, received))?,
            Message::Bookmark(number, version, received) => {
                self.continue_part(number, received)?;
                // A bookmark is about a whole collection, not about a named object.
                if let Some(RecordedPart { part, unobserved_since, .. }) = self.parts.get_mut(&number) {
                    *unobserved_since = None;
                    if part.name.is_some() {
                        return Ok(());
                    }
                    self.writer.bookmark(&part.resource, &part.namespace, &version, received)?;
                }
            }
            Message::Document(path, body, received) => self.writer.document(&path, &body, received)?,
            Message::End(number) => {
                self.parts.remove(&number);
            }
        }
        Ok(())
    }

    /// Begins a part. Its initial state is compared with the recorded objects, if there are any.
    fn begin(&mut self, number: PartNumber, part: Part) {
        let version = self.position_of(&part).map(|position| position.state_version);
        let since = self.ended.remove(&part).or(self.since);
        let is_continued = self.continues && version.is_some();
        let recorded = self.recorded_objects(&part, is_continued);
        let comparison = (version.is_some() || !recorded.is_empty()).then(|| {
            if is_continued {
                return Comparison::of_continued(recorded);
            }
            let mut complete = self.writer.complete_lists(&part.resource);
            complete.retain(|(namespace, _)| {
                namespace.is_empty() || part.namespace.is_empty() || *namespace == part.namespace
            });
            let before = self.writer.before_unfinished_gap(&part.resource, &part.namespace);
            Comparison::of_list(recorded, version, since)
                .with_complete_lists(complete)
                .after_unfinished_gap(before)
        });
        let unobserved_since = since.filter(|_| is_continued);
        self.parts.insert(number, RecordedPart { part, comparison, unobserved_since, starting: None });
    }

    /// Records the SYNCED marks of the parts whose watches the server has accepted.
    fn continue_accepted(&mut self) -> Result<(), RecordingError> {
        let accepted = |(number, recorded): (&PartNumber, &RecordedPart)| {
            Some((*number, recorded.starting.as_ref()?.accepted.get()?))
        };
        let accepted: Vec<_> = self.parts.iter().filter_map(accepted).collect();
        accepted.into_iter().try_for_each(|(number, time)| self.continue_part(number, time))
    }

    /// Records the SYNCED mark that waits for the server, if the informer has sent it.
    fn continue_part(&mut self, number: PartNumber, received: Timestamp) -> Result<(), RecordingError> {
        let Some(recorded) = self.parts.get_mut(&number) else { return Ok(()) };
        let Some(synced) = recorded.starting.as_mut().and_then(|starting| starting.synced.take()) else {
            return Ok(());
        };
        recorded.starting = None;
        self.writer.mark(&mark_of(&recorded.part, synced, received))
    }

    /// Returns the recorded objects that belong to a part; `shared` if its informer continues with them.
    fn recorded_objects(&mut self, part: &Part, shared: bool) -> Vec<Arc<Object>> {
        let namespace = (!part.namespace.is_empty()).then_some(&*part.namespace);
        let mut objects = if shared {
            self.writer.share_objects(&part.resource, namespace)
        } else {
            self.writer.objects(&part.resource, namespace)
        };
        objects.retain(|object| part.includes_name(object.name()));
        objects
    }

    /// Returns the position of a part, or of a collection that includes it.
    fn position_of(&self, part: &Part) -> Option<Position> {
        let covers = |position: &Position| {
            *position.resource == *part.resource
                && (position.namespace.is_empty() || position.namespace == part.namespace)
                && (position.name.is_none() || position.name == part.name)
        };
        let extent = |position: &Position| (position.name.is_none(), position.namespace.is_empty());
        self.writer.positions().into_iter().filter(covers).min_by_key(extent)
    }

    fn known_state(&mut self, part: &Part) -> Option<KnownState> {
        let position = self.position_of(part)?;
        let Position { version: watched_from, state_version: version, .. } = position;
        let continued = ContinuedTime::default();
        let mut recorded = self.parts.values_mut().filter(|recorded| recorded.part == *part);
        if let Some(recorded) = recorded.next() {
            recorded.starting = Some(StartingPart { accepted: continued.clone(), synced: None });
        }
        Some(KnownState { version, watched_from, objects: self.recorded_objects(part, true), continued })
    }

    fn change(
        &mut self,
        number: PartNumber,
        change: Change,
        author: Option<Author>,
    ) -> Result<(), RecordingError> {
        if change.origin != Origin::List {
            self.continue_part(number, change.received)?;
        }
        let mut part = self.parts.get_mut(&number);
        if let Some(part) = part.as_mut().filter(|_| change.origin == Origin::Watch) {
            part.unobserved_since = None;
        }
        match part.and_then(|part| part.comparison.as_mut()) {
            None => self.writer.change(&change, author.as_ref()),
            Some(comparison) => {
                if comparison.take_unchanged(&change) {
                    self.writer.share_unchanged(&change.resource, &change.object);
                    return Ok(());
                }
                match comparison.change(change, author) {
                    Some((change, author)) => self.writer.change(&change, author.as_ref()),
                    None => Ok(()),
                }
            }
        }
    }

    /// Records a mark. The end of the initial state also records the difference to what was recorded before.
    fn mark(
        &mut self,
        number: PartNumber,
        kind: MarkKind,
        received: Timestamp,
    ) -> Result<(), RecordingError> {
        if matches!(kind, MarkKind::Gap { .. }) {
            self.continue_part(number, received)?;
        }
        let Some(recorded) = self.parts.get_mut(&number) else { return Ok(()) };
        let kind = recorded.mark_kind(kind, received);
        let RecordedPart { part, comparison, starting, .. } = recorded;
        if let MarkKind::Synced { version } = &kind
            && let Some(Difference { gap, changes }) =
                comparison.take().and_then(|comparison| comparison.end(part, version, received))
        {
            self.reporter.messages().notice(&gap_notice(part, &gap));
            self.writer.mark(&mark_of(part, gap, received))?;
            for (change, author) in changes {
                self.writer.change(&change, author.as_ref())?;
            }
        }
        match (&kind, starting.as_mut()) {
            (MarkKind::Synced { .. }, Some(starting)) if starting.accepted.get().is_none() => {
                starting.synced = Some(kind);
                return Ok(());
            }
            (MarkKind::Error(_), _) => {
                self.ended.insert(part.clone(), received);
            }
            _ => {}
        }
        *starting = None;
        self.writer.mark(&mark_of(part, kind, received))
    }
}

/// Returns a mark of a part, with the name of a part that has one.
fn mark_of(part: &Part, kind: MarkKind, received: Timestamp) -> Mark {
    let Part { context, resource, namespace, name, .. } = part.clone();
    Mark { kind, resource, context, namespace, name, received }
}

/// Returns the message about a gap.
pub(super) fn gap_notice(part: &Part, kind: &MarkKind) -> String {
    let title = part.title();
    match kind {
        MarkKind::Gap { from, to, .. } => {
            format!("{title}: GAP: changes from {from} to {to} were missed, the net difference follows")
        }
        _ => title,
    }
}
