//! The printer of a watch: converts events of parts to output lines, and to marks in formats that have them.

mod changed_results;
mod delta_selection;
mod line_items;
mod part_sink;
#[cfg(test)]
mod tests;

pub(in crate::commands) use changed_results::ChangedResults;
pub(in crate::commands) use delta_selection::DeltaSelection;
pub(in crate::commands) use line_items::{change_of, error_of};
pub(in crate::commands) use part_sink::PartSink;

use std::cmp::Ordering;
use std::collections::HashMap;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{self, AtomicBool};

use jiff::Timestamp;
use kdelta::informer::Notification;
use kdelta::lines::{Change, ChangeKind, MarkKind};
use kdelta::listwatch::Error;
use kdelta::object::{Object, Origin, ResourceVersion};
use kdelta::queue;
use tokio::time::Instant;

use self::line_items::{change, mark};
use crate::commands::reporter::Reporter;
use crate::commands::watch::collections::Collections;
use crate::commands::watch::part_event::ResumedEvent;
use crate::output::{PrintError, WatchOutput};
use crate::session::Part;

/// Prints and counts deltas.
pub(in crate::commands) struct DeltaPrinter<W> {
    stream: WatchOutput,
    /// The parts by number.
    parts: HashMap<usize, PrintedPart>,
    /// Whether each part applies the field selector locally. Relaxed: it is set before the first object is sent through
    /// a channel.
    selects_locally: HashMap<usize, Arc<AtomicBool>>,
    collections: Collections,
    selected: DeltaSelection,
    /// The number of objects of the initial state.
    listed: u64,
    reporter: Reporter,
    /// Whether an expression failed on an object, which was reported.
    has_failures: bool,
    out: W,
}

/// The printing state of a part.
struct PrintedPart {
    part: Part,
    /// Whether its initial state is printed.
    initial: bool,
    /// The last printed version to resume from.
    resume: Option<ResourceVersion>,
}

impl<W: Write> DeltaPrinter<W> {
    pub(in crate::commands) fn new(
        stream: WatchOutput,
        selected: DeltaSelection,
        reporter: &Reporter,
        out: W,
    ) -> Self {
        let collections = Collections::default();
        let (parts, selects_locally) = (HashMap::new(), HashMap::new());
        let (reporter, has_failures) = (reporter.clone(), false);
        let listed = 0;
        Self { stream, parts, selects_locally, collections, selected, listed, reporter, has_failures, out }
    }

    /// Whether an expression failed on an object.
    pub(in crate::commands::watch) fn has_failures(&self) -> bool {
        self.has_failures
    }

    /// Adds a part before its first event. `initial` is whether its initial state is printed.
    pub(in crate::commands::watch) fn add_part(&mut self, number: usize, part: &Part, initial: bool) {
        self.collections.add(number, part);
        self.parts.insert(number, PrintedPart { part: part.clone(), initial, resume: None });
    }

    /// Records that a part runs, with the flag for local selection.
    pub(in crate::commands::watch) fn started(&mut self, number: usize, selects_locally: Arc<AtomicBool>) {
        self.selects_locally.insert(number, selects_locally);
    }

    /// Removes a part after its last event.
    pub(in crate::commands::watch) fn remove_part(&mut self, number: usize) {
        self.collections.remove(number);
        self.selects_locally.remove(&number);
        self.parts.remove(&number);
    }

    /// Prints a notification of a part.
    pub(in crate::commands::watch) fn notification(
        &mut self,
        part: usize,
        received: Timestamp,
        notification: Notification,
    ) -> Result<(), PrintError> {
        let Some(PrintedPart { part: own, .. }) = self.parts.get(&part) else { return Ok(()) };
        match change_of(own, received, notification) {
            Ok(change) => self.delta(part, &change),
            Err(mark) => Ok(self.mark_notification(part, received, mark)?),
        }
    }

    /// Prints an event of a resumed watch.
    pub(in crate::commands::watch) fn event(
        &mut self,
        part: usize,
        received: Timestamp,
        event: ResumedEvent,
    ) -> Result<(), PrintError> {
        let Some(PrintedPart { part: own, .. }) = self.parts.get(&part) else { return Ok(()) };
        let ResumedEvent { kind, object, old } = event;
        let change = change(own, received, kind, object, Origin::Watch);
        self.delta(part, &Change { old, ..change })
    }

    /// Prints an update whose earlier state is unknown.
    pub(in crate::commands) fn update(
        &mut self,
        part: usize,
        received: Timestamp,
        object: Arc<Object>,
        origin: Origin,
    ) -> Result<(), PrintError> {
        let Some(PrintedPart { part: own, .. }) = self.parts.get(&part) else { return Ok(()) };
        let change = change(own, received, ChangeKind::Modified, object, origin);
        self.delta(part, &change)
    }

    fn delta(&mut self, part: usize, change: &Change) -> Result<(), PrintError> {
        let initial = self.parts.get(&part).is_some_and(|printed_part| printed_part.initial);
        if change.origin == Origin::List && !initial {
            return Ok(());
        }
        self.listed += u64::from(change.origin == Origin::List);
        self.reporter.count_received();
        if !self.selected.passes(change) || !self.is_in_scope(change)? {
            self.reporter.count_shown(false);
            return Ok(());
        }
        // A watch delivers in order, so its delta is a point to resume from. A list does not, and an inferred delete
        // shows an old state. A resync repeats known state between the deltas and does not invalidate the last point.
        let is_in_order = change.origin == Origin::Watch && !change.final_state_unknown;
        let is_resumable = self.is_resumable(part);
        let printed_part = self.parts.get_mut(&part).filter(|_| is_resumable);
        let resume = printed_part.and_then(|printed_part| {
            if is_in_order {
                let version = change.object.resource_version();
                printed_part.resume = Some(later_version(printed_part.resume.take(), version));
            }
            printed_part.resume.as_ref().filter(|_| is_in_order || change.origin == Origin::Resync)
        });
        // A line must be counted before a reader can see it, so lines that are written at once are counted first.
        let leaves_at_once = self.stream.writes_at_once();
        if leaves_at_once {
            self.reporter.count_shown(true);
        }
        let printed = match self.stream.change(change, resume, &mut self.out) {
            Err(PrintError::Jq(failure)) if failure.is_of_object => {
                self.has_failures = true;
                self.reporter.messages().error(&[format!("error: {failure}")], None);
                true
            }
            printed => printed?,
        };
        if !leaves_at_once {
            self.reporter.count_shown(printed);
        }
        Ok(())
    }

    /// Whether a reader can resume from this part: a watch of one name does not cover the others.
    fn is_resumable(&self, part: usize) -> bool {
        let selects_locally =
            self.selects_locally.get(&part).is_some_and(|here| here.load(atomic::Ordering::Relaxed));
        self.selected.resumable && !selects_locally && self.collections.is_whole(part)
    }

    /// Whether the change affects selected fields. A change on which an expression fails, which is reported, does.
    fn is_in_scope(&mut self, change: &Change) -> Result<bool, PrintError> {
        match self.selected.is_in_scope(change) {
            Err(PrintError::Jq(failure)) if failure.is_of_object => {
                self.has_failures = true;
                self.reporter.messages().error(&[format!("error: {failure}")], None);
                Ok(true)
            }
            included => included,
        }
    }

    /// Prints the error mark that ends a part.
    pub(in crate::commands::watch) fn ended(
        &mut self,
        part: usize,
        received: Timestamp,
        error: &Error,
    ) -> io::Result<()> {
        self.mark(part, received, error_of(error), None)?;
        self.finish_part(part, received)
    }

    /// Stops waiting for the sync of a part that is unavailable.
    pub(in crate::commands::watch) fn finish_part(
        &mut self,
        part: usize,
        received: Timestamp,
    ) -> io::Result<()> {
        match self.collections.ended(part) {
            Some(version) => self.synced(part, received, version),
            None => Ok(()),
        }
    }

    /// Prints the error mark of a part that was replaced by parts per namespace, which can't be listed either.
    pub(in crate::commands::watch) fn refused(
        &mut self,
        part: &Part,
        received: Timestamp,
        error: &Error,
    ) -> io::Result<()> {
        let mark = mark(part, received, error_of(error));
        self.stream.mark(&mark, None, &mut self.out)
    }

    /// Ends the initial state, which the output may hold back until it is complete.
    pub(in crate::commands::watch) fn end_initial(&mut self) -> Result<(), PrintError> {
        self.stream.end_initial(&mut self.out)
    }

    /// Marks the end of the initial state of all parts; `ends` is whether nothing follows.
    pub(in crate::commands::watch) fn mark_initial_state(&mut self, ends: bool) {
        self.stream.mark_initial_state(self.listed, ends);
    }

    /// Returns the time at which the output wants to be flushed again.
    pub(in crate::commands::watch) fn redraw_at(&self) -> Option<Instant> {
        self.stream.redraw_at()
    }

    /// Leaves the last state on the screen. Write errors are ignored: the watch ends anyway.
    pub(in crate::commands::watch) fn end_screen(&mut self) {
        let _ = self.stream.end_screen(&mut self.out);
    }

    /// Writes buffered output at the end of a batch.
    pub(in crate::commands::watch) fn flush(&mut self) -> io::Result<()> {
        self.stream.flush(&mut self.out)
    }

    fn mark_notification(&mut self, part: usize, received: Timestamp, mark: queue::Mark) -> io::Result<()> {
        match mark {
            queue::Mark::Synced { resource_version } => {
                match self.collections.synced(part, &resource_version) {
                    Some(version) => self.synced(part, received, version),
                    None => Ok(()),
                }
            }
            queue::Mark::Gap { from, to, lasted } => {
                // The server no longer has that version, and the difference is not printed yet.
                if let Some(printed_part) = self.parts.get_mut(&part) {
                    printed_part.resume = None;
                }
                self.mark(part, received, MarkKind::Gap { from, to, lasted }, None)
            }
            // The published line has no other marks.
            _ => Ok(()),
        }
    }

    /// Prints the sync of a part's collection.
    fn synced(&mut self, part: usize, received: Timestamp, version: ResourceVersion) -> io::Result<()> {
        let resume = self.is_resumable(part).then(|| version.clone());
        if let Some(printed_part) = self.parts.get_mut(&part) {
            printed_part.resume.clone_from(&resume);
        }
        self.mark(part, received, MarkKind::Synced { version }, resume.as_ref())
    }

    fn mark(
        &mut self,
        part: usize,
        received: Timestamp,
        kind: MarkKind,
        resume: Option<&ResourceVersion>,
    ) -> io::Result<()> {
        let Some(PrintedPart { part, .. }) = self.parts.get(&part) else { return Ok(()) };
        self.stream.mark(&mark(part, received, kind), resume, &mut self.out)
    }
}

/// Returns the version to resume from after an event. It never decreases: a server may send a delete with the version
/// of the object's last update, and resuming there would repeat printed events. A version without an order does not
/// replace an ordered one.
pub(in crate::commands) fn later_version(
    resume: Option<ResourceVersion>,
    version: &ResourceVersion,
) -> ResourceVersion {
    let is_ordered = |version: &ResourceVersion| version.compare(version).is_ok();
    match resume {
        Some(resume) if is_ordered(&resume) && resume.compare(version) != Ok(Ordering::Less) => resume,
        _ => version.clone(),
    }
}
