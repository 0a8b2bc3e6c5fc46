//! The writer of a recording.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use jiff::Timestamp;

use super::background::{Background, Job};
use super::failure::Failure;
use super::open::OpenedDirectory;
use super::positions::Positions;
use super::states::States;
use crate::lines::{Change, Mark, MarkKind};
use crate::object::{ApiResource, Object, ResourceVersion};
use crate::recording::bytes::put_number;
use crate::recording::document::Document;
use crate::recording::encryption::{Cipher, Encryption};
use crate::recording::entry::{Author, Item};
use crate::recording::error::RecordingError;
use crate::recording::files::{Lock, context_directory};
use crate::recording::flags::Flags;
use crate::recording::frame;
use crate::recording::journal::{JournalWriter, NewChange};
use crate::recording::keyframe::Snapshot;
use crate::recording::names::MAX_KEY;
use crate::recording::options::WriterOptions;
use crate::recording::position::Position;
use crate::recording::usage::Statistics;

/// The length of appended records at which they are written before the next flush.
const MAX_PENDING: usize = 1 << 20;

/// The number of segments for which a keyframe waits until the differences after a gap are complete. A recorder that was started
/// again compares a list within the first ones; one of other types never does.
const MAX_POSTPONED: usize = 3;

/// The one writer of a recording.
///
/// It appends to the journal and flushes when [`Writer::flush`] is called. After an error of a method that writes,
/// the recording has ended: all further calls return the same error, and all data that was flushed before stays
/// readable. Resyncs ([`ChangeKind::Sync`](crate::lines::ChangeKind::Sync)) are not changes and are not recorded.
#[derive(Debug)]
pub struct Writer {
    dir: PathBuf,
    context: Arc<str>,
    options: WriterOptions,
    /// `None` if the recording is not encrypted.
    cipher: Option<Arc<Cipher>>,
    journal: JournalWriter,
    /// The time of the journal's creation, in Unix milliseconds of the caller's clock.
    created: i64,
    states: States,
    positions: Positions,
    /// The time of the last entry, in Unix milliseconds.
    last_time: i64,
    max_version: u64,
    /// Whether the state was lost, until all watches are synced again and a keyframe is written.
    is_lost: bool,
    background: Background,
    failure: Option<Failure>,
    /// The number of segments for which a keyframe was postponed.
    postponed: usize,
    torn_bytes: u64,
    deltas: u64,
    gaps: u64,
    /// The last field, so that it is dropped after the work in the background ends.
    _lock: Lock,
}

fn check_length(what: &str, length: usize, limit: usize) -> Result<(), RecordingError> {
    if length > limit {
        return Err(RecordingError::TooLarge { what: what.to_owned(), length, limit });
    }
    Ok(())
}

impl Writer {
    /// Returns the directory of the recording of a context within a directory of recordings.
    #[must_use]
    pub fn directory(dir: &Path, context: &str) -> PathBuf {
        dir.join(context_directory(context))
    }

    /// Creates a recording in a directory, or continues it. The incomplete end that a killed recorder left is
    /// truncated.
    ///
    /// # Errors
    /// [`RecordingError`] when the directory is locked, has the recording of another context or an encrypted one, or can't
    /// be read or written.
    pub fn open(
        dir: &Path,
        context: &str,
        options: WriterOptions,
        now: Timestamp,
    ) -> Result<Self, RecordingError> {
        Self::open_with(dir, context, options, None, now)
    }

    /// Creates a recording as [`Writer::open`] does, or continues it: an encrypted one if there is an encryption.
    ///
    /// # Errors
    /// Those of [`Writer::open`], [`RecordingError::NotEncrypted`] when the directory has a recording that is not
    /// encrypted, and [`RecordingError::Encrypted`] and [`RecordingError::Key`] when its key is not known.
    pub fn open_with(
        dir: &Path,
        context: &str,
        options: WriterOptions,
        encryption: Option<&Encryption>,
        now: Timestamp,
    ) -> Result<Self, RecordingError> {
        let OpenedDirectory { lock, journal, mut end, total, cipher } =
            OpenedDirectory::open(dir, context, &options, encryption, now)?;
        let unsealed = std::mem::take(&mut end.unsealed);
        let mut writer = Self {
            dir: dir.to_owned(),
            context: context.into(),
            options,
            cipher,
            journal,
            created: end.created.unwrap_or_else(|| now.as_millisecond()),
            is_lost: end.is_lost,
            states: end.states,
            positions: end.positions,
            last_time: end.last_time.unwrap_or_else(|| now.as_millisecond()),
            max_version: end.max_version,
            background: Background::continued(end.last_keyframe, end.since_keyframe, total, end.next == 0),
            failure: None,
            postponed: 0,
            torn_bytes: end.torn_bytes,
            deltas: 0,
            gaps: 0,
            _lock: lock,
        };
        if !unsealed.is_empty() {
            // In the background, so that a recorder that is killed again soon has recorded in the meantime. It starts before
            // the flush, which would seal a journal that is due at the same time.
            writer.seal_in_background(unsealed, None, now)?;
        }
        let received = writer.advance(now);
        writer.append(&Item::Started, received)?;
        writer.flush(now)?;
        Ok(writer)
    }

    /// Returns the bytes that [`Writer::open`] cut from an incomplete end.
    #[must_use]
    pub fn torn_bytes(&self) -> u64 {
        self.torn_bytes
    }

    /// Returns the version to continue from, for each watched collection or object.
    #[must_use]
    pub fn positions(&self) -> Vec<Position> {
        self.positions.all()
    }

    /// Returns the version before a gap whose differences an earlier recorder did not record completely, for the objects of a
    /// resource in one namespace or, if it is empty, in all. Since that version, no recorded state was that of the server.
    #[must_use]
    pub fn before_unfinished_gap(&self, resource: &ApiResource, namespace: &str) -> Option<ResourceVersion> {
        self.positions.before_unfinished_gap(resource, namespace)
    }

    /// Returns the watches of a resource whose list was recorded completely once: the namespace, empty for all, and the name if
    /// a single object was watched. Objects that no such watch includes may have existed before they are recorded.
    #[must_use]
    pub fn complete_lists(&self, resource: &ApiResource) -> Vec<(Arc<str>, Option<Arc<str>>)> {
        self.positions.complete(resource)
    }

    /// Returns the recorded current objects of a resource, in one namespace or in all, sorted by namespace and name.
    #[must_use]
    pub fn objects(&self, resource: &ApiResource, namespace: Option<&str>) -> Vec<Arc<Object>> {
        self.states.objects(resource, namespace, self.last_time())
    }

    /// Returns the objects as [`Writer::objects`] does, and keeps the returned ones, so that the store of an informer that
    /// continues with them takes no further memory.
    #[must_use]
    pub fn share_objects(&mut self, resource: &ApiResource, namespace: Option<&str>) -> Vec<Arc<Object>> {
        self.states.share_objects(resource, namespace, self.last_time())
    }

    /// Keeps this object in place of the recorded one with the same content, so that a store that has listed it takes no further
    /// memory.
    pub fn share_unchanged(&mut self, resource: &ApiResource, object: &Arc<Object>) {
        self.states.share_unchanged(resource, object);
    }

    /// Appends a change. Its old state is the recorded one.
    ///
    /// # Errors
    /// [`RecordingError::TooLarge`] for an object that is left out, and others when the journal can't be written.
    pub fn change(&mut self, change: &Change, author: Option<&Author>) -> Result<(), RecordingError> {
        self.check()?;
        let Some(flags) = Flags::of(change) else { return Ok(()) };
        let object = &change.object;
        let key = object.key();
        // Checked first, so that the journal gets no definitions for an object that is left out.
        check_length("the name of an object", key.len(), MAX_KEY)?;
        check_length(key, object.json_len(), frame::MAX_LEN)?;
        let received = self.advance(change.received);
        let resource = self.journal.resource(&change.resource);
        let number = self.journal.object(resource, key, object.namespace().len(), object.workload());
        let author = author.map_or(0, |author| self.journal.author(author));
        let version = self.positions.version_of(change).unwrap_or_else(|| self.journal.version());
        let encoded = self.states.encode(change, flags, version, received);
        let mut row = Vec::new();
        if let Some((columns, template)) = self.states.new_row(&encoded) {
            let columns = self.journal.columns(columns);
            put_number(&mut row, columns as u64);
            row.extend_from_slice(template);
        }
        self.journal.change(&NewChange {
            received: received.as_millisecond(),
            version,
            object: number,
            flags: encoded.flags,
            author,
            row: &row,
            body: &encoded.body,
        });
        self.states.apply(change, version, encoded);
        let of_change = (change.kind, change.origin);
        self.positions.change(&change.resource, (object.namespace(), object.name()), of_change, version);
        self.max_version = self.max_version.max(version);
        self.deltas += 1;
        self.write_if_long()
    }

    /// Appends a mark.
    ///
    /// # Errors
    /// [`RecordingError`] when the journal can't be written.
    pub fn mark(&mut self, mark: &Mark) -> Result<(), RecordingError> {
        self.check()?;
        let received = self.advance(mark.received);
        self.gaps += u64::from(matches!(mark.kind, MarkKind::Gap { .. }));
        self.append(&Item::Mark(Mark { received, ..mark.clone() }), received)
    }

    /// Appends a bookmark.
    ///
    /// # Errors
    /// [`RecordingError`] when the journal can't be written.
    pub fn bookmark(
        &mut self,
        resource: &Arc<ApiResource>,
        namespace: &Arc<str>,
        version: &ResourceVersion,
        received: Timestamp,
    ) -> Result<(), RecordingError> {
        self.check()?;
        let received = self.advance(received);
        let (resource, namespace) = (Arc::clone(resource), Arc::clone(namespace));
        self.append(&Item::Bookmark { resource, namespace, version: version.clone() }, received)
    }

    /// Appends a document, unless it equals the last one of its path.
    ///
    /// # Errors
    /// [`RecordingError`] when the journal can't be written.
    pub fn document(&mut self, path: &str, body: &[u8], received: Timestamp) -> Result<(), RecordingError> {
        self.check()?;
        if self.states.documents.get(path).is_some_and(|known| known.has_body(body)) {
            return Ok(());
        }
        check_length(path, body.len(), frame::MAX_LEN)?;
        let received = self.advance(received);
        let (path, body): (Arc<str>, _) = (path.into(), Bytes::copy_from_slice(body));
        self.states.documents.insert(Arc::clone(&path), Document::new(&body));
        self.append(&Item::Document { path, body }, received)
    }

    fn append(&mut self, item: &Item, received: Timestamp) -> Result<(), RecordingError> {
        self.journal.item(item, received.as_millisecond());
        self.positions.item(item);
        self.max_version = self.max_version.max(self.journal.version());
        self.write_if_long()
    }

    /// Returns the time of the next entry: not before that of the last one, whatever the clock does.
    fn advance(&mut self, received: Timestamp) -> Timestamp {
        self.last_time = self.last_time.max(received.as_millisecond());
        Timestamp::from_millisecond(self.last_time).unwrap_or(received)
    }

    fn check(&self) -> Result<(), RecordingError> {
        self.failure.as_ref().map_or(Ok(()), |failure| Err(failure.error()))
    }

    /// Ends the recording after a failure.
    fn fail(&mut self, failure: Failure) -> RecordingError {
        let error = failure.error();
        self.failure = Some(failure);
        error
    }

    /// Writes the appended records once they are long, so that a long list needs little memory between two flushes.
    fn write_if_long(&mut self) -> Result<(), RecordingError> {
        if self.journal.pending_len() < MAX_PENDING {
            return Ok(());
        }
        let written = self.journal.write();
        written.map_err(|error| self.fail(Failure::new(self.journal.path(), &error)))?;
        // An initial state is sealed in small parts: it arrives all at once, and nothing in it refers to earlier
        // parts.
        let parts = if self.positions.is_synced() { 1 } else { 4 };
        let limit = self.options.seal_bytes as u64 / parts;
        if self.journal.text_len() >= 2 * limit {
            self.background.wait().map_err(|failure| self.fail(failure))?;
        }
        if self.journal.text_len() >= limit && self.background.is_idle() {
            self.seal(self.last_time())?;
        }
        Ok(())
    }

    /// Writes everything appended to disk, and seals a segment, writes a keyframe and drops old segments when due.
    /// The caller calls it once per second.
    ///
    /// # Errors
    /// [`RecordingError`] when a file can't be written.
    pub fn flush(&mut self, now: Timestamp) -> Result<(), RecordingError> {
        self.check()?;
        let mut written = self.journal.write();
        if self.options.sync {
            written = written.and_then(|()| self.journal.sync());
        }
        written.map_err(|error| self.fail(Failure::new(self.journal.path(), &error)))?;
        self.background.poll().map_err(|failure| self.fail(failure))?;
        let age = now.as_millisecond().saturating_sub(self.created);
        let is_due = u128::try_from(age).is_ok_and(|age| age >= self.options.seal_after.as_millis())
            || self.journal.entries() >= self.options.seal_entries as u64
            || self.journal.text_len() >= self.options.seal_bytes as u64
            || self.is_lost && self.positions.is_synced();
        // While the previous journal is still being sealed, this one grows.
        if is_due && self.journal.entries() > 0 && self.background.is_idle() {
            self.seal(now)?;
        }
        Ok(())
    }

    /// Returns whether a keyframe that is due is not written yet: its state would be one that the server never had.
    fn postpones_keyframe(&mut self) -> bool {
        let postpones = self.positions.has_unfinished_gap() && self.postponed < MAX_POSTPONED;
        self.postponed = if postpones { self.postponed + 1 } else { 0 };
        postpones
    }

    /// Begins another journal, and seals the last one in the background.
    fn seal(&mut self, now: Timestamp) -> Result<(), RecordingError> {
        let first = self.journal.next();
        let cipher = self.cipher.as_ref();
        let created = JournalWriter::create(&self.dir, &self.context, first, self.last_time, cipher);
        let journal = created.map_err(|error| self.fail(Failure::new(&self.dir, &error)))?;
        let sealed = std::mem::replace(&mut self.journal, journal);
        self.created = now.as_millisecond();
        let is_keyframe_due = self.positions.is_synced()
            && self.background.is_keyframe_due(sealed.len(), self.last_time, &self.options)
            && !self.postpones_keyframe();
        let keyframe = is_keyframe_due.then(|| {
            self.states.snapshot(
                &self.context,
                first,
                self.last_time,
                self.max_version,
                self.positions.active(),
            )
        });
        self.is_lost &= !is_keyframe_due;
        let (journal, entries) = (sealed.path().to_owned(), sealed.entries());
        drop(sealed);
        self.seal_in_background(vec![(journal, entries)], keyframe, now)
    }

    fn seal_in_background(
        &mut self,
        journals: Vec<(PathBuf, u64)>,
        keyframe: Option<Snapshot>,
        now: Timestamp,
    ) -> Result<(), RecordingError> {
        let (dir, options, cipher) = (self.dir.clone(), self.options.clone(), self.cipher.clone());
        let job = Job { dir, journals, keyframe, options, cipher, now };
        self.background.start(job).map_err(|failure| self.fail(failure))
    }

    /// Appends the start of a recorder. A copy has the starts of its original.
    pub(in crate::recording) fn started(&mut self, received: Timestamp) -> Result<(), RecordingError> {
        self.check()?;
        let received = self.advance(received);
        self.append(&Item::Started, received)
    }

    /// Returns the recorded current state of an object.
    pub(in crate::recording) fn current(&self, resource: &ApiResource, key: &str) -> Option<Arc<Object>> {
        self.states.object(resource, key, self.last_time())
    }

    /// Returns the time of the last entry.
    fn last_time(&self) -> Timestamp {
        Timestamp::from_millisecond(self.last_time).unwrap_or(Timestamp::UNIX_EPOCH)
    }

    /// Waits for the work in the background.
    ///
    /// # Errors
    /// [`RecordingError`] when a file can't be written.
    #[doc(hidden)]
    pub fn settle(&mut self) -> Result<(), RecordingError> {
        self.background.wait().map_err(|failure| self.fail(failure))
    }

    /// Returns the figures of the recording.
    #[must_use]
    pub fn statistics(&self) -> Statistics {
        Statistics {
            objects: self.states.len(),
            deltas: self.deltas,
            bytes: self.background.bytes() + self.journal.len(),
            gaps: self.gaps,
        }
    }

    /// Finishes a recording that is complete: seals the journal, so that all files have their final form.
    pub(in crate::recording) fn finish_sealed(mut self, now: Timestamp) -> Result<(), RecordingError> {
        self.flush(now)?;
        self.settle()?;
        if self.journal.entries() > 0 {
            self.seal(now)?;
            self.settle()?;
        }
        let path = self.journal.path().to_owned();
        fs::remove_file(&path).map_err(|error| self.fail(Failure::new(&path, &error)))
    }

    /// Writes everything appended to disk, waits for the work in the background, and releases the lock.
    ///
    /// # Errors
    /// [`RecordingError`] when a file can't be written.
    pub fn finish(mut self, now: Timestamp) -> Result<(), RecordingError> {
        self.flush(now)?;
        self.background.wait().map_err(|failure| self.fail(failure))
    }
}
