//! The receiver of the watch's events: hands them to the recordings.

use std::cell::RefCell;
use std::collections::HashMap;
use std::io;

use jiff::Timestamp;
use kdelta::informer::Notification;
use kdelta::lines::{ChangeKind, MarkKind};
use kdelta::listwatch::{Error, Status};
use kdelta::object::Origin;
use kdelta::queue::Mark;
use kdelta::recording::Author;

use super::documents::Documents;
use super::message::Message;
use super::recorder_thread::gap_notice;
use super::recorders::Recorders;
use crate::commands::Reporter;
use crate::commands::watch::{PartSink, change_of, error_of};
use crate::output::PrintError;
use crate::session::Part;

/// Hands the events of all parts to the recordings of their contexts.
pub(super) struct RecordSink<'a> {
    recorders: &'a Recorders,
    documents: &'a RefCell<Documents>,
    parts: HashMap<usize, SinkPart>,
    reporter: Reporter,
}

/// The state of a part.
struct SinkPart {
    part: Part,
    /// Whether its initial state is complete and it has not ended, so that its recorded state is that of the server.
    is_current: bool,
}

impl<'a> RecordSink<'a> {
    pub(super) fn new(
        recorders: &'a Recorders,
        documents: &'a RefCell<Documents>,
        reporter: &Reporter,
    ) -> Self {
        Self { recorders, documents, parts: HashMap::new(), reporter: reporter.clone() }
    }

    fn mark(&mut self, number: usize, received: Timestamp, mark: Mark) {
        let Some(SinkPart { part, is_current }) = self.parts.get_mut(&number) else { return };
        let message = match mark {
            Mark::Synced { resource_version: version } => {
                *is_current = true;
                Message::Mark(number, MarkKind::Synced { version }, received)
            }
            Mark::Gap { from, to, lasted } => {
                let kind = MarkKind::Gap { from, to, lasted };
                self.reporter.messages().notice(&gap_notice(part, &kind));
                Message::Mark(number, kind, received)
            }
            Mark::Bookmark { resource_version } => Message::Bookmark(number, resource_version, received),
            _ => return,
        };
        self.recorders.send(part.cluster, message);
    }
}

/// Returns the author of a change, if the notification shows it: an object of a list may have been written at any time, and
/// by several authors since its last state.
fn author_of(notification: &Notification) -> Option<Author> {
    let (manager, subresource) = match notification {
        Notification::Added { object, origin: Origin::Watch, .. } => object.author_since(None),
        Notification::Updated { old, new, origin: Origin::Watch } => new.author_since(Some(old)),
        Notification::Added { .. }
        | Notification::Updated { .. }
        | Notification::Deleted { .. }
        | Notification::Mark(_) => None,
    }?;
    Some(Author { manager, subresource })
}

impl PartSink for RecordSink<'_> {
    fn add_part(&mut self, number: usize, part: &Part, _initial: bool) {
        self.recorders.send(part.cluster, Message::Begin(number, part.clone()));
        self.documents.borrow_mut().add_type(part);
        self.parts.insert(number, SinkPart { part: part.clone(), is_current: false });
    }

    fn remove_part(&mut self, number: usize) {
        let Some(SinkPart { part, is_current }) = self.parts.remove(&number) else { return };
        if is_current {
            let message = "the type or namespace is not selected any more".to_owned();
            let kind = MarkKind::Error(Status { message, ..Status::default() });
            self.recorders.send(part.cluster, Message::Mark(number, kind, Timestamp::now()));
        }
        self.recorders.send(part.cluster, Message::End(number));
    }

    fn notification(
        &mut self,
        number: usize,
        received: Timestamp,
        notification: Notification,
    ) -> Result<(), PrintError> {
        let Some(SinkPart { part, .. }) = self.parts.get(&number) else { return Ok(()) };
        let author = author_of(&notification);
        match change_of(part, received, notification) {
            Err(mark) => self.mark(number, received, mark),
            Ok(change) if change.kind == ChangeKind::Sync => {}
            Ok(change) => {
                self.reporter.count_received();
                self.reporter.count_shown(true);
                self.recorders.send(part.cluster, Message::Change(number, Box::new(change), author));
            }
        }
        Ok(())
    }

    fn ended(&mut self, number: usize, received: Timestamp, error: &Error) -> io::Result<()> {
        if let Some(SinkPart { part, is_current }) = self.parts.get_mut(&number) {
            *is_current = false;
            self.recorders.send(part.cluster, Message::Mark(number, error_of(error), received));
        }
        Ok(())
    }

    fn refused(&mut self, part: &Part, received: Timestamp, error: &Error) -> io::Result<()> {
        self.recorders.send(part.cluster, Message::Refused(part.clone(), error_of(error), received));
        Ok(())
    }

    async fn ready(&self) {
        self.recorders.ready().await;
    }

    fn end_initial(&mut self) -> Result<(), PrintError> {
        Ok(())
    }
}
