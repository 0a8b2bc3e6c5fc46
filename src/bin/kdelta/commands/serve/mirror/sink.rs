//! The receiver of the watch's events: hands them to the mirrors.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::io;

use bytes::Bytes;
use jiff::Timestamp;
use kdelta::informer::Notification;
use kdelta::listwatch::Error;
use kdelta::queue::Mark;
use kdelta::recording::Mirror;
use tokio::sync::Notify;

use crate::commands::Reporter;
use crate::commands::record::documents::{DocumentSink, Documents};
use crate::commands::watch::{PartSink, change_of};
use crate::output::PrintError;
use crate::session::{Part, Session};

/// The mirrors by the position of their cluster in the session.
pub(super) struct Mirrors(pub(super) BTreeMap<usize, Mirror>);

impl Mirrors {
    /// Creates an empty mirror for each usable cluster.
    pub(super) fn new(session: &Session) -> Self {
        Self(session.clusters().map(|cluster| (cluster.index(), Mirror::new())).collect())
    }

    fn of(&self, part: &Part) -> Option<&Mirror> {
        self.0.get(&part.cluster)
    }
}

impl DocumentSink for Mirrors {
    fn document(&self, cluster: usize, path: &str, body: &Bytes) {
        if let Some(mirror) = self.0.get(&cluster) {
            mirror.set_document(path, body);
        }
    }
}

/// Hands the events of all parts to the mirrors of their clusters.
pub(super) struct MirrorSink<'a> {
    mirrors: &'a Mirrors,
    documents: &'a RefCell<Documents>,
    parts: HashMap<usize, Part>,
    /// Notified when the initial state of all parts is complete.
    synced: &'a Notify,
    reporter: Reporter,
}

impl<'a> MirrorSink<'a> {
    pub(super) fn new(
        mirrors: &'a Mirrors,
        documents: &'a RefCell<Documents>,
        synced: &'a Notify,
        reporter: &Reporter,
    ) -> Self {
        Self { mirrors, documents, parts: HashMap::new(), synced, reporter: reporter.clone() }
    }
}

impl PartSink for MirrorSink<'_> {
    fn add_part(&mut self, number: usize, part: &Part, _initial: bool) {
        if let Some(mirror) = self.mirrors.of(part) {
            mirror.begin(number, &part.resource);
        }
        self.documents.borrow_mut().add_type(part);
        self.parts.insert(number, part.clone());
    }

    fn remove_part(&mut self, number: usize) {
        if let Some(mirror) = self.parts.remove(&number).and_then(|part| self.mirrors.of(&part)) {
            mirror.end(number);
        }
    }

    fn notification(
        &mut self,
        number: usize,
        received: Timestamp,
        notification: Notification,
    ) -> Result<(), PrintError> {
        let Some(part) = self.parts.get(&number) else { return Ok(()) };
        let Some(mirror) = self.mirrors.of(part) else { return Ok(()) };
        match change_of(part, received, notification) {
            Ok(change) => {
                self.reporter.count_received();
                self.reporter.count_shown(true);
                mirror.apply(number, &change);
            }
            Err(Mark::Synced { resource_version }) => mirror.synced(number, &resource_version),
            // A bookmark is about a whole collection, not about a named object.
            Err(Mark::Bookmark { resource_version }) if part.name.is_none() => {
                mirror.advance(number, &resource_version);
            }
            // The changes after a gap carry their own versions.
            Err(_) => {}
        }
        Ok(())
    }

    fn ended(&mut self, number: usize, _received: Timestamp, _error: &Error) -> io::Result<()> {
        // Its objects are not known any more.
        if let Some(mirror) = self.parts.get(&number).and_then(|part| self.mirrors.of(part)) {
            mirror.end(number);
        }
        Ok(())
    }

    fn end_initial(&mut self) -> Result<(), PrintError> {
        self.synced.notify_one();
        Ok(())
    }
}
