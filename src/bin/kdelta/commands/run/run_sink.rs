//! The receiver of the watch's events: passes changes through the options that select them, and records the progress.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use jiff::Timestamp;
use kdelta::informer::Notification;
use kdelta::listwatch::Error;
use kdelta::object::{Key, Origin};
use kdelta::queue::Mark;
use tokio::sync::Notify;

use super::progress::{HandledState, InitialDifference, PartId, PartIndex, Progress, StateUpdate};
use super::queue::ObjectId;
use super::run_state::RunState;
use crate::commands::Reporter;
use crate::commands::watch::{DeltaPrinter, PartSink};
use crate::output::PrintError;
use crate::session::Part;

/// Passes on the changes of all parts.
pub(super) struct RunSink {
    /// Selects changes, and adds them to the queue of lines instead of printing them.
    printer: DeltaPrinter<io::Sink>,
    run_state: Rc<RefCell<RunState>>,
    room: Arc<Notify>,
    parts: HashMap<usize, SinkPart>,
    reporter: Reporter,
    /// Whether the parts of the checkpoint that the watch does not have were reported.
    is_unclaimed_reported: bool,
}

/// The state of a part.
struct SinkPart {
    title: String,
    /// The context and the type.
    collection: Arc<str>,
    /// The index of the part in the progress, if there is a progress.
    index: Option<PartIndex>,
    /// Set until the initial state is complete, if objects were handled before.
    difference: Option<InitialDifference>,
    /// The objects that the watch knows without their bodies.
    without_bodies: HashSet<Key>,
}

impl RunSink {
    pub(super) fn new(
        printer: DeltaPrinter<io::Sink>,
        run_state: Rc<RefCell<RunState>>,
        reporter: &Reporter,
    ) -> Self {
        let room = run_state.borrow().room();
        let (parts, reporter) = (HashMap::new(), reporter.clone());
        Self { printer, run_state, room, parts, reporter, is_unclaimed_reported: false }
    }

    /// Delivers a change. `is_old_known` is whether the earlier state of an update has its body.
    fn deliver(
        &mut self,
        number: usize,
        received: Timestamp,
        notification: Notification,
        is_old_known: bool,
    ) -> Result<(), PrintError> {
        let Some(part) = self.parts.get_mut(&number) else { return Ok(()) };
        let Some(key) = notification.key().cloned() else { return Ok(()) };
        let was_without_body = part.without_bodies.remove(&key);
        let (state, version, origin) = match &notification {
            Notification::Added { object, origin, .. }
            | Notification::Updated { new: object, origin, .. } => {
                (Some(HandledState::of(object)), Some(object.resource_version().clone()), *origin)
            }
            Notification::Deleted { object, origin } => {
                let known = object.object().filter(|_| !object.is_final_state_unknown());
                (None, known.map(|object| object.resource_version().clone()), *origin)
            }
            Notification::Mark(_) => return Ok(()),
        };
        let index = part.index;
        let update = index.map(|part| StateUpdate { part, key: key.clone(), state });
        let id = ObjectId { collection: Arc::clone(&part.collection), key };
        self.run_state.borrow_mut().offer(id, update);
        let passed = match notification {
            Notification::Updated { new, origin, .. } if was_without_body || !is_old_known => {
                self.printer.update(number, received, new, origin)
            }
            notification => self.printer.notification(number, received, notification),
        };
        let version = version.filter(|_| origin == Origin::Watch);
        self.run_state.borrow_mut().end_offer(index, version.as_ref());
        passed
    }

    /// Records a mark, and ends the initial state.
    fn mark(&mut self, number: usize, received: Timestamp, mark: Mark) -> Result<(), PrintError> {
        if matches!(mark, Mark::Synced { .. })
            && let Some(difference) = self.parts.get_mut(&number).and_then(|part| part.difference.take())
        {
            for deletion in difference.end() {
                self.deliver(number, received, deletion, true)?;
            }
        }
        let Some(part) = self.parts.get(&number) else { return Ok(()) };
        if let Mark::Gap { from, to, .. } = &mark {
            let text = format!(
                "{}: GAP: changes from {from} to {to} were missed, the net difference follows",
                part.title
            );
            self.reporter.messages().notice(&text);
        }
        if let Some(index) = part.index
            && let Some(progress) = &mut self.run_state.borrow_mut().progress
        {
            let progress = progress.get_mut(index);
            match &mark {
                Mark::Synced { resource_version } => progress.synced(resource_version),
                Mark::Bookmark { resource_version } => progress.received(resource_version),
                Mark::Gap { from, to, .. } => progress.gap(from, to),
                _ => {}
            }
        }
        self.printer.notification(number, received, Notification::Mark(mark))
    }

    /// Reports the objects of the checkpoint that no part watches: their deletion can't be noticed.
    fn report_unclaimed(&mut self) {
        if std::mem::replace(&mut self.is_unclaimed_reported, true) {
            return;
        }
        let run_state = self.run_state.borrow();
        let claimed: HashSet<usize> =
            self.parts.values().filter_map(|part| part.index).map(PartIndex::number).collect();
        let unclaimed = run_state.progress.iter().flat_map(Progress::parts);
        for (index, id, part) in unclaimed {
            let count = part.states().len();
            if count > 0 && !claimed.contains(&index.number()) {
                let PartId { resource, namespace, .. } = id;
                self.reporter.messages().notice(&format!(
                    "{count} {resource} of the checkpoint are not watched now (namespace {namespace:?}): their deletions are not noticed"
                ));
            }
        }
    }
}

impl PartSink for RunSink {
    fn add_part(&mut self, number: usize, part: &Part, initial: bool) {
        let mut run_state = self.run_state.borrow_mut();
        let index = run_state.progress.as_mut().map(|progress| progress.part(&PartId::of(part)));
        let handled = match (index, &run_state.progress) {
            (Some(index), Some(progress)) if !progress.get(index).is_empty() => {
                Some(progress.get(index).states().clone())
            }
            _ => None,
        };
        let without_bodies = handled.iter().flat_map(|states| states.keys()).cloned().collect();
        let difference = handled.map(|states| InitialDifference::new(part.resource.type_meta(), states));
        let collection = format!("{}|{}", part.context, part.resource.group_resource()).into();
        let title = part.title();
        self.parts.insert(number, SinkPart { title, collection, index, difference, without_bodies });
        self.printer.add_part(number, part, initial);
    }

    fn started(&mut self, number: usize, selects_locally: Arc<AtomicBool>) {
        if let Some(part) = self.parts.get_mut(&number)
            && !part.index.is_some_and(|index| self.run_state.borrow().is_continued(index))
        {
            // It lists the objects.
            part.without_bodies = HashSet::new();
        }
        self.printer.started(number, selects_locally);
    }

    fn remove_part(&mut self, number: usize) {
        self.parts.remove(&number);
        self.printer.remove_part(number);
    }

    fn notification(
        &mut self,
        part: usize,
        received: Timestamp,
        notification: Notification,
    ) -> Result<(), PrintError> {
        if let Notification::Mark(mark) = notification {
            return self.mark(part, received, mark);
        }
        let difference = self.parts.get_mut(&part).and_then(|part| part.difference.as_mut());
        let Some(difference) = difference else { return self.deliver(part, received, notification, true) };
        let is_live = !matches!(&notification, Notification::Added { origin: Origin::List, .. });
        for notification in difference.apply(notification) {
            self.deliver(part, received, notification, is_live)?;
        }
        Ok(())
    }

    fn ended(&mut self, part: usize, received: Timestamp, error: &Error) -> io::Result<()> {
        self.printer.ended(part, received, error)
    }

    fn finish_part(&mut self, part: usize, received: Timestamp) -> io::Result<()> {
        self.printer.finish_part(part, received)
    }

    fn refused(&mut self, part: &Part, received: Timestamp, error: &Error) -> io::Result<()> {
        self.printer.refused(part, received, error)
    }

    async fn ready(&self) {
        while !self.run_state.borrow().queue.has_room() {
            self.room.notified().await;
        }
    }

    fn end_initial(&mut self) -> Result<(), PrintError> {
        self.report_unclaimed();
        self.printer.end_initial()
    }

    fn flush(&mut self) -> io::Result<()> {
        self.printer.flush()
    }

    fn has_failures(&self) -> bool {
        self.printer.has_failures()
    }
}
