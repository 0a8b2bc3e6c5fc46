//! A new recording, written from the entries of others.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;

use crate::object::{ApiResource, Object};
use crate::recording::entry::Item;
use crate::recording::error::RecordingError;
use crate::recording::files;
use crate::recording::options::WriterOptions;
use crate::recording::writer::Writer;

/// The number of entries after which they are flushed. A flush decides whether to seal the journal, and sealing
/// needs all of its entries in memory.
const FLUSH: usize = 1024;

/// A new recording. Unless it is finished, its directory is removed.
#[derive(Debug)]
pub(super) struct NewRecording {
    dir: PathBuf,
    context: Arc<str>,
    /// `None` before the first entry, whose time is that of the beginning.
    writer: Option<Writer>,
    /// Whether this created the directory.
    is_own_directory: bool,
    unflushed: usize,
    last: Timestamp,
}

impl NewRecording {
    /// Prepares a recording in a directory that has none.
    pub(super) fn create(dir: &Path, context: &str) -> Result<Self, RecordingError> {
        let is_empty = match files::list(dir) {
            Ok(files) => files.is_empty(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => true,
            Err(source) => return Err(RecordingError::Io { path: dir.to_owned(), source }),
        };
        if !is_empty {
            return Err(RecordingError::Exists { path: dir.to_owned() });
        }
        Ok(Self {
            dir: dir.to_owned(),
            context: context.into(),
            writer: None,
            is_own_directory: !dir.exists(),
            unflushed: 0,
            last: Timestamp::MIN,
        })
    }

    /// Returns the current state of an object.
    pub(super) fn current(&self, resource: &ApiResource, key: &str) -> Option<Arc<Object>> {
        self.writer.as_ref()?.current(resource, key)
    }

    /// Returns the current objects of a resource, in one namespace or in all.
    pub(super) fn objects(&self, resource: &ApiResource, namespace: Option<&str>) -> Vec<Arc<Object>> {
        self.writer.as_ref().map_or_else(Vec::new, |writer| writer.objects(resource, namespace))
    }

    /// Appends an entry.
    pub(super) fn append(&mut self, received: Timestamp, item: &Item) -> Result<(), RecordingError> {
        let Some(writer) = &mut self.writer else {
            // The files are synchronized when they are sealed. An incomplete recording is removed.
            let options = WriterOptions::default().sync(false);
            self.writer = Some(Writer::open(&self.dir, &self.context, options, received)?);
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
            Item::Document { path, body } => writer.document(path, body, received)?,
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

    /// Completes the recording. Without an entry, nothing is created.
    pub(super) fn finish(mut self) -> Result<(), RecordingError> {
        let Some(writer) = self.writer.take() else { return Ok(()) };
        let finished = writer.finish_sealed(self.last);
        if finished.is_err() {
            self.remove();
        }
        finished
    }

    fn remove(&self) {
        if self.is_own_directory {
            // Best effort: the failure that led here is reported.
            let _ = fs::remove_dir_all(&self.dir);
        }
    }
}

impl Drop for NewRecording {
    fn drop(&mut self) {
        if self.writer.take().is_some() {
            self.remove();
        }
    }
}
