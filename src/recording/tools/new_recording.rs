//! A new recording, written from the entries of others.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::selectors::{self, FurtherRedaction, SELECTORS_PATH};
use crate::lines::MarkKind;
use crate::object::{ApiResource, Object};
use crate::recording::encryption::Encryption;
use crate::recording::entry::Item;
use crate::recording::error::RecordingError;
use crate::recording::files::{self, Lock};
use crate::recording::options::WriterOptions;
use crate::recording::position::{Position, Watch};
use crate::recording::writer::Writer;

/// The number of entries after which they are flushed. A flush decides whether to seal the journal, and sealing
/// needs all of its entries in memory.
const FLUSH: usize = 1024;

/// A new recording. It is written to a hidden directory next to its own and renamed when it is finished, so that an
/// interrupted one can't be mistaken for a recording. Unless it is finished, it is removed.
#[derive(Debug)]
pub(super) struct NewRecording {
    dir: PathBuf,
    /// The directory until the recording is finished.
    hidden: PathBuf,
    context: Arc<str>,
    /// `None` for one that is not encrypted.
    encryption: Option<Encryption>,
    /// What the entries lack that the original had.
    redaction: Option<FurtherRedaction>,
    /// The selectors' document of entries that have none of their own.
    selectors: Option<String>,
    /// `None` before the first entry, whose time is that of the beginning.
    writer: Option<Writer>,
    /// The watches of the last recorder that no error has ended.
    running: HashSet<Watch>,
    unflushed: usize,
    last: Timestamp,
}

impl NewRecording {
    /// Prepares a recording in a directory that does not exist or is empty.
    pub(super) fn create(
        dir: &Path,
        context: &str,
        encryption: Option<&Encryption>,
    ) -> Result<Self, RecordingError> {
        let failed = |source| RecordingError::Io { path: dir.to_owned(), source };
        match files::list(dir) {
            Ok(files) if !files.is_empty() => return Err(RecordingError::Exists { path: dir.to_owned() }),
            Ok(_) if fs::read_dir(dir).map_err(failed)?.next().is_some() => {
                return Err(failed(ErrorKind::DirectoryNotEmpty.into()));
            }
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(failed(error)),
            _ => {}
        }
        Ok(Self {
            dir: dir.to_owned(),
            hidden: files::hidden_directory(dir),
            context: context.into(),
            encryption: encryption.cloned(),
            redaction: None,
            selectors: None,
            writer: None,
            running: HashSet::new(),
            unflushed: 0,
            last: Timestamp::MIN,
        })
    }

    /// Sets what the entries lack that the original had.
    pub(super) fn set_redaction(&mut self, redaction: Option<FurtherRedaction>) {
        self.redaction = redaction;
    }

    /// Sets the selectors' document of entries that have none of their own.
    pub(super) fn set_selectors(&mut self, document: String) {
        self.selectors = Some(document);
    }

    /// Returns the recorder's selectors of this recording, given those of the original.
    fn selectors(&self, document: Option<&[u8]>) -> BTreeMap<String, Value> {
        let recipients = self.encryption.as_ref().map(Encryption::recipients);
        selectors::of_copy(document, recipients, self.redaction.as_ref())
    }

    /// Creates the writer. What an interrupted run has left is replaced.
    fn open_writer(&self, received: Timestamp) -> Result<Writer, RecordingError> {
        let failed = |source| RecordingError::Io { path: self.hidden.clone(), source };
        if self.hidden.exists() {
            let lock = Lock::acquire(&self.hidden).map_err(failed)?;
            lock.ok_or_else(|| RecordingError::Locked { path: self.hidden.clone() })?;
            fs::remove_dir_all(&self.hidden).map_err(failed)?;
        }
        // The files are synchronized when they are sealed.
        let options = WriterOptions::default().sync(false);
        Writer::open_with(&self.hidden, &self.context, options, self.encryption.as_ref(), received)
    }

    /// Returns the current state of an object.
    pub(super) fn current(&self, resource: &ApiResource, key: &str) -> Option<Arc<Object>> {
        self.writer.as_ref()?.current(resource, key)
    }

    /// Returns the current objects of a resource, in one namespace or in all.
    pub(super) fn objects(&self, resource: &ApiResource, namespace: Option<&str>) -> Vec<Arc<Object>> {
        self.writer.as_ref().map_or_else(Vec::new, |writer| writer.objects(resource, namespace))
    }

    /// Appends an entry. The recorder's selectors become those of this recording.
    pub(super) fn append(&mut self, received: Timestamp, item: &Item) -> Result<(), RecordingError> {
        self.follow(item);
        let selectors = match item {
            Item::Document { path, body } if &**path == SELECTORS_PATH => Some(self.selectors(Some(body))),
            _ => None,
        };
        let Some(writer) = &mut self.writer else {
            let mut writer = self.open_writer(received)?;
            // A later recorder must have them, whether or not the entries have selectors.
            let own = self.selectors(self.selectors.as_ref().map(String::as_bytes));
            if !own.is_empty() {
                writer.document(SELECTORS_PATH, json!(own).to_string().as_bytes(), received)?;
            }
            self.writer = Some(writer);
            self.last = received;
            // The writer has appended its own start.
            return if matches!(item, Item::Started) { Ok(()) } else { self.append(received, item) };
        };
        match item {
            Item::Change { change, author } => writer.change(change, author.as_ref())?,
            Item::Mark(mark) => writer.mark(mark)?,
            Item::Bookmark { resource, namespace, version } => {
                writer.bookmark(resource, namespace, version, received)?;
            }
            Item::Document { path, body } => {
                let selectors = selectors.map(|selectors| json!(selectors).to_string());
                writer.document(path, selectors.as_ref().map_or(&**body, String::as_bytes), received)?;
            }
            Item::Started => writer.started(received)?,
        }
        self.last = self.last.max(received);
        self.unflushed += 1;
        if self.unflushed >= FLUSH {
            self.unflushed = 0;
            writer.flush(self.last)?;
            // Entries may arrive faster than they are sealed.
            writer.settle()?;
        }
        Ok(())
    }

    /// Follows which watches run.
    fn follow(&mut self, item: &Item) {
        match item {
            Item::Mark(mark) => {
                let watch = Watch::of_mark(mark);
                if let MarkKind::Error(_) = mark.kind {
                    self.running.remove(&watch);
                } else {
                    self.running.insert(watch);
                }
            }
            Item::Bookmark { resource, namespace, .. } => {
                self.running.insert(Watch::of_collection(resource, namespace));
            }
            Item::Started => self.running.clear(),
            _ => {}
        }
    }

    /// Extends the observed time to a moment: unless there is an entry as late, appends a bookmark with the known version of a
    /// watch that runs, which changes no state. A recording without one is left as it is.
    pub(super) fn observe(&mut self, until: Timestamp) -> Result<(), RecordingError> {
        let is_late = self.last.as_millisecond() >= until.as_millisecond();
        let Some(writer) = self.writer.as_ref().filter(|_| !is_late) else { return Ok(()) };
        let is_running = |position: &Position| {
            let watch = Watch::of_collection(&position.resource, &position.namespace);
            position.name.is_none() && self.running.contains(&watch)
        };
        let position = writer.positions().into_iter().find(is_running);
        let Some(Position { resource, namespace, version, .. }) = position else { return Ok(()) };
        self.append(until, &Item::Bookmark { resource, namespace, version })
    }

    /// Completes the recording. Without an entry, nothing is created.
    pub(super) fn finish(mut self) -> Result<(), RecordingError> {
        let Some(writer) = self.writer.take() else { return Ok(()) };
        let finished = writer.finish_sealed(self.last).and_then(|()| {
            files::rename_directory(&self.hidden, &self.dir)
                .map_err(|source| RecordingError::Io { path: self.dir.clone(), source })
        });
        if finished.is_err() {
            self.remove();
        }
        finished
    }

    fn remove(&self) {
        // Best effort: the failure that led here is reported.
        let _ = fs::remove_dir_all(&self.hidden);
    }
}

impl Drop for NewRecording {
    fn drop(&mut self) {
        if self.writer.take().is_some() {
            self.remove();
        }
    }
}
