//! Opens a writer: creates a recording, or recovers its end.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;

use super::background::LastKeyframe;
use super::failure::Failure;
use super::positions::Positions;
use super::retention::drop_old;
use super::states::States;
use crate::object::ApiResource;
use crate::recording::document::Document;
use crate::recording::encryption::{Cipher, Encryption, Keyring};
use crate::recording::error::RecordingError;
use crate::recording::files::{self, Header, Kind, Lock};
use crate::recording::journal::{Journal, JournalChunks, JournalReader, JournalWriter, Outline};
use crate::recording::keyframe::Keyframe;
use crate::recording::last_state::LastState;
use crate::recording::options::WriterOptions;
use crate::recording::reader::{Catalog, Continued, ContinuedEnd};

/// A directory that was opened for writing.
pub(super) struct OpenedDirectory {
    pub(super) lock: Lock,
    pub(super) journal: JournalWriter,
    pub(super) end: End,
    /// The bytes of all sealed segments and keyframes.
    pub(super) total: u64,
    /// `None` if the recording is not encrypted.
    pub(super) cipher: Option<Arc<Cipher>>,
}

impl OpenedDirectory {
    /// Locks a directory, creating it if needed, recovers the end of its recording, and continues or creates a
    /// journal.
    pub(super) fn open(
        dir: &Path,
        context: &str,
        options: &WriterOptions,
        encryption: Option<&Encryption>,
        now: Timestamp,
    ) -> Result<Self, RecordingError> {
        let failed = |error: io::Error| Failure::new(dir, &error).error();
        files::create_private(dir).map_err(failed)?;
        let lock = Lock::acquire(dir).map_err(failed)?;
        let lock = lock.ok_or_else(|| RecordingError::Locked { path: dir.to_owned() })?;
        remove_interrupted(dir).map_err(failed)?;
        let cipher = match encryption {
            Some(encryption) => Some(encryption.open(dir)?),
            // Fails if the recording is encrypted.
            None => Keyring::default().cipher_of(dir)?,
        };
        let mut end = End::recover(dir, context, options, cipher.as_ref())?;
        let total = drop_old(dir, options, cipher.as_ref(), now).map_err(failed)?;
        let time = end.last_time.unwrap_or_else(|| now.as_millisecond());
        let journal = match end.journal.take() {
            Some(reader) => JournalWriter::resume(reader),
            None => JournalWriter::create(dir, context, end.next, time, cipher.as_ref()),
        };
        let journal = journal.map_err(failed)?;
        files::sync_directory(dir).map_err(failed)?;
        Ok(Self { lock, journal, end, total, cipher })
    }
}

/// Removes the files of a write that was interrupted.
fn remove_interrupted(dir: &Path) -> io::Result<()> {
    for file in fs::read_dir(dir)? {
        let path = file?.path();
        if path.extension().is_some_and(|extension| extension == "tmp") {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

/// The end of a recording.
#[derive(Default)]
pub(super) struct End {
    pub(super) next: u64,
    pub(super) last_time: Option<i64>,
    pub(super) states: States,
    pub(super) positions: Positions,
    pub(super) max_version: u64,
    pub(super) last_keyframe: Option<LastKeyframe>,
    pub(super) since_keyframe: u64,
    pub(super) torn_bytes: u64,
    /// Whether the state was lost, until all watches are synced again.
    pub(super) is_lost: bool,
    /// The time of the first entry of the journal that is continued, in Unix milliseconds.
    pub(super) created: Option<i64>,
    /// The other journals that the last writer left, with the number of entries in each.
    pub(super) unsealed: Vec<(PathBuf, u64)>,
    journal: Option<JournalReader>,
}

impl End {
    /// Reads the state at the end. Of the journals that the last writer left, the last is continued if it is short, and the
    /// others are to be sealed.
    fn recover(
        dir: &Path,
        context: &str,
        options: &WriterOptions,
        cipher: Option<&Arc<Cipher>>,
    ) -> Result<Self, RecordingError> {
        let mut end = Self::default();
        let io_failed = |error: io::Error| Failure::new(dir, &error).error();
        end.torn_bytes += remove_useless_journals(dir, cipher)?;
        if files::list(dir).map_err(io_failed)?.is_empty() {
            return Ok(end);
        }
        let catalog = Arc::new(Catalog::list(dir, cipher, None)?);
        if **catalog.context() != *context {
            let (path, context) = (dir.to_owned(), catalog.context().to_string());
            return Err(RecordingError::OtherContext { path, context });
        }
        let mut journals = readable_journals(dir, cipher)?;
        (end.next, end.last_time) = catalog.next_entry(&journals)?;
        let mut continued = Self::default();
        match catalog.continuation(end.last_time, &mut continued) {
            Ok(()) => {
                end.is_lost = catalog.is_end_lost();
                (end.states, end.positions) = (continued.states, continued.positions);
                end.max_version = continued.max_version;
                end.journal = journals.pop_if(|reader| is_short(reader.journal(), options));
            }
            // Recording continues without a state: the watches list again.
            Err(RecordingError::Damaged(damage)) => {
                tracing::warn!(
                    %damage,
                    "the recorded state can't be read: the damaged part stays in its file, and all objects are listed again"
                );
                end.is_lost = true;
                end.write_loss(dir, context, cipher).map_err(io_failed)?;
            }
            Err(error) => return Err(error),
        }
        for reader in journals.iter().chain(&end.journal).filter(|reader| !reader.is_broken()) {
            let (from, to) = reader.torn();
            end.torn_bytes += to - from;
        }
        // A damaged journal is kept: readers report the damage and return its readable entries.
        for reader in journals.iter().filter(|reader| !reader.is_broken()) {
            truncate_torn(reader).map_err(|error| Failure::new(reader.path(), &error).error())?;
            end.unsealed.push((reader.path().to_owned(), reader.journal().entries));
        }
        end.created = end.journal.as_ref().map(|reader| reader.journal().header.first_time);
        end.find_keyframe(dir, cipher).map_err(io_failed)?;
        Ok(end)
    }

    /// Finds the size and the time of the last keyframe, and the size of the sealed segments after it. There is
    /// none if a state was lost since then.
    fn find_keyframe(&mut self, dir: &Path, cipher: Option<&Arc<Cipher>>) -> io::Result<()> {
        let listed = files::list(dir)?;
        let last = |kind: Kind| listed.iter().rfind(|(_, of)| *of == kind).map(|(number, _)| *number);
        let Some(number) = last(Kind::Keyframe).filter(|number| last(Kind::Loss) <= Some(*number)) else {
            return Ok(());
        };
        let length =
            |kind: Kind, number: u64| Ok::<_, io::Error>(files::path_of(dir, kind, number).metadata()?.len());
        for (segment, kind) in &listed {
            if *kind == Kind::Segment && *segment >= number {
                self.since_keyframe += length(*kind, *segment)?;
            }
        }
        // Without a keyframe that can be read, the next one is due at once and refers to no other one.
        let last = Keyframe::open(dir, number, cipher).ok();
        self.last_keyframe = last.map(|last| LastKeyframe {
            whole_size: last.base().unwrap_or(&last).len(),
            time: last.header().first_time,
            base: last.header().base.is_none().then_some(number),
        });
        Ok(())
    }

    /// Marks the state before the next entry as unknown, so that readers do not need the damaged part for later
    /// entries.
    fn write_loss(&self, dir: &Path, context: &str, cipher: Option<&Arc<Cipher>>) -> io::Result<()> {
        let path = files::path_of(dir, Kind::Loss, self.next);
        let time = self.last_time.unwrap_or_default();
        let header = Header {
            context: context.to_owned(),
            first: self.next,
            first_time: time,
            last_time: time,
            time_before: time,
            first_gap: i64::MAX,
            ..Header::default()
        };
        let mut bytes = Vec::new();
        header.put(Kind::Loss, files::cipher_of(&path, cipher).as_ref(), &mut bytes)?;
        files::replace(&path, &[bytes])
    }
}

impl ContinuedEnd for End {
    fn receive(&mut self, part: Continued) {
        match part {
            Continued::State(resource, state) => self.states.insert(&resource, state),
            Continued::Deleted(resource, key) => self.states.remove(&resource, &key),
            Continued::Position(position) => self.positions.insert(&position),
            Continued::Complete(resource) => self.positions.insert_complete(&resource),
            Continued::Step(step) => self.positions.step(step),
            Continued::Document(path, body) => {
                self.states.documents.insert(path, Document::new(&body));
            }
            Continued::Version(version) => self.max_version = self.max_version.max(version),
        }
    }

    fn state(&self, resource: &ApiResource, key: &str) -> Option<LastState> {
        self.states.last_state(resource, key)
    }
}

/// Returns whether a journal is continued, because its segment would be small.
fn is_short(journal: &Journal, options: &WriterOptions) -> bool {
    journal.entries < options.seal_entries as u64 && journal.text_len < options.seal_bytes as u64
}

/// Truncates the incomplete end of a journal: further entries follow in another one.
fn truncate_torn(reader: &JournalReader) -> io::Result<()> {
    let (from, to) = reader.torn();
    if from < to { files::append_to(reader.path(), from)?.sync_all() } else { Ok(()) }
}

/// Opens the journals whose header is readable, in order.
fn readable_journals(dir: &Path, cipher: Option<&Arc<Cipher>>) -> Result<Vec<JournalReader>, RecordingError> {
    let failed = |error: io::Error| Failure::new(dir, &error).error();
    let mut journals = Vec::new();
    for (number, kind) in files::list(dir).map_err(failed)? {
        if kind != Kind::Journal {
            continue;
        }
        let chunks = JournalChunks::open(files::path_of(dir, kind, number), cipher);
        // Of the entries, only the objects are kept: a decoded journal can take as much memory as all states.
        match chunks.and_then(JournalChunks::into_objects) {
            Ok(reader) => journals.push(reader),
            Err(files::FileError::Io(_, error)) => return Err(failed(error)),
            // A damaged file, which the catalog reports. The catalog has already rejected files of a newer format.
            Err(_) => {}
        }
    }
    Ok(journals)
}

/// Removes journals that have a sealed segment, and those without an entry. Returns the number of incomplete bytes
/// at the end of the latter.
fn remove_useless_journals(dir: &Path, cipher: Option<&Arc<Cipher>>) -> Result<u64, RecordingError> {
    let failed = |error: io::Error| Failure::new(dir, &error).error();
    let listed = files::list(dir).map_err(failed)?;
    let mut torn = 0;
    for (number, kind) in &listed {
        if *kind != Kind::Journal {
            continue;
        }
        let path = files::path_of(dir, Kind::Journal, *number);
        let is_sealed = listed.contains(&(*number, Kind::Segment));
        let read = fs::read(&path).map_err(|error| files::FileError::Io(path.clone(), error));
        let is_empty = match read.and_then(|bytes| Outline::read(&path, &bytes, cipher)) {
            Ok(outline) => {
                let (from, to) = outline.torn;
                let is_empty = outline.entries == 0 && !outline.is_broken;
                torn += if is_empty { to - from } else { 0 };
                is_empty
            }
            // A longer file has entries, although its header can't be read.
            Err(files::FileError::Damaged(..)) => {
                let length = path.metadata().map_or(0, |file| file.len());
                let is_empty = length <= files::MAX_EMPTY_JOURNAL;
                torn += if is_empty { length } else { 0 };
                is_empty
            }
            // A file of a newer or a foreign format is reported when the recording is read.
            Err(_) => false,
        };
        if is_sealed || is_empty {
            fs::remove_file(&path).map_err(failed)?;
        }
    }
    Ok(torn)
}
