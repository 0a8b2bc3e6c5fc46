//! From what a part tells to what is printed: a line for each delta, marks where the format has them.

use std::collections::HashMap;
use std::io::{self, Write};
use std::sync::Arc;

use jiff::Timestamp;
use kdelta::informer::Notification;
use kdelta::listwatch::{Error, Status};
use kdelta::object::{DeletedObject, Object, Origin, ResourceVersion};
use kdelta::queue;

use super::collections::Collections;
use crate::output::Stream;
use crate::session::Part;
use crate::view::{Change, ChangeKind, Mark, MarkKind};

/// Prints deltas and counts them.
pub(super) struct Printer<W> {
    stream: Stream,
    /// The parts by their number, each with whether its initial state is printed.
    parts: HashMap<usize, (Part, bool)>,
    collections: Collections,
    out: W,
    received: u64,
    printed: u64,
}

impl<W: Write> Printer<W> {
    pub(super) fn new(stream: Stream, out: W) -> Self {
        let collections = Collections::default();
        Self { stream, parts: HashMap::new(), collections, out, received: 0, printed: 0 }
    }

    /// A part joins, before anything is told of it. `initial` is whether its initial state is printed.
    pub(super) fn join(&mut self, place: usize, part: &Part, initial: bool) {
        self.collections.join(place, part);
        self.parts.insert(place, (part.clone(), initial));
    }

    /// A part leaves: nothing more is told of it.
    pub(super) fn leave(&mut self, place: usize) {
        self.collections.leave(place);
        self.parts.remove(&place);
    }

    /// Deltas told so far, and how many of them were printed.
    pub(super) fn counts(&self) -> (u64, u64) {
        (self.received, self.printed)
    }

    /// Prints what a part tells.
    pub(super) fn notification(
        &mut self,
        part: usize,
        received: Timestamp,
        notification: Notification,
    ) -> io::Result<()> {
        let Some((own, initial)) = self.parts.get(&part).cloned() else { return Ok(()) };
        let (kind, object, origin, inferred) = match notification {
            Notification::Mark(mark) => return self.told_mark(part, received, mark),
            Notification::Added { object, origin, .. } => (ChangeKind::Added, object, origin, false),
            Notification::Updated { new, origin: Origin::Resync, .. } => {
                (ChangeKind::Sync, new, Origin::Resync, false)
            }
            Notification::Updated { new, origin, .. } => (ChangeKind::Modified, new, origin, false),
            Notification::Deleted { object, origin } => {
                let inferred = object.is_final_state_unknown();
                (ChangeKind::Deleted, last_state(&own, &object), origin, inferred)
            }
        };
        self.received += 1;
        if origin == Origin::List && !initial {
            return Ok(());
        }
        let change = Change {
            kind,
            object,
            old: None,
            origin,
            final_state_unknown: inferred,
            resource: own.resource,
            context: own.context,
            received,
        };
        self.printed += 1;
        // A watch tells everything in order, so its delta says up to where all has been told. A list does not; nor does
        // the watch of one name say anything of the others.
        let all_told = change.origin == Origin::Watch && self.collections.is_whole(part);
        let resume = all_told.then(|| change.object.resource_version());
        self.stream.change(&change, resume, &mut self.out)
    }

    /// A part has ended with an error: the last line of its stream.
    pub(super) fn ended(&mut self, part: usize, received: Timestamp, error: &Error) -> io::Result<()> {
        let spoken = || Status { message: error.to_string(), ..Status::default() };
        let status = error.status().cloned().unwrap_or_else(spoken);
        self.mark(part, received, MarkKind::Error { status }, None)?;
        match self.collections.ended(part) {
            Some(version) => self.synced(part, received, version),
            None => Ok(()),
        }
    }

    /// Writes what waits to be written; for the end of a batch.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.stream.flush(&mut self.out)
    }

    fn told_mark(&mut self, part: usize, received: Timestamp, mark: queue::Mark) -> io::Result<()> {
        match mark {
            queue::Mark::Synced { resource_version } => {
                match self.collections.synced(part, &resource_version) {
                    Some(version) => self.synced(part, received, version),
                    None => Ok(()),
                }
            }
            queue::Mark::Gap { from, to, lasted } => {
                self.mark(part, received, MarkKind::Gap { from, to, lasted }, None)
            }
        }
    }

    /// The collection of a part has synced.
    fn synced(&mut self, part: usize, received: Timestamp, version: ResourceVersion) -> io::Result<()> {
        let resume = self.collections.is_whole(part).then(|| version.clone());
        self.mark(part, received, MarkKind::Synced { version }, resume.as_ref())
    }

    fn mark(
        &mut self,
        part: usize,
        received: Timestamp,
        kind: MarkKind,
        resume: Option<&ResourceVersion>,
    ) -> io::Result<()> {
        let Some((Part { context, resource, namespace, .. }, _)) = self.parts.get(&part).cloned() else {
            return Ok(());
        };
        let mark = Mark { kind, resource, context, namespace, received };
        self.stream.mark(&mark, resume, &mut self.out)
    }
}

/// What a delete shows: the last state that is known, or the name alone.
fn last_state(part: &Part, deleted: &DeletedObject) -> Arc<Object> {
    if let Some(object) = deleted.object() {
        return Arc::clone(object);
    }
    let key = deleted.key();
    let (namespace, name) = key.split_once('/').unwrap_or(("", key));
    Arc::new(Object::named(part.resource.type_meta(), namespace, name))
}
