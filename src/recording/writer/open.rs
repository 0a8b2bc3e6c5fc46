//! Opens a writer: creates a recording, or recovers its end.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;

use super::background::seal;
use super::failure::Failure;
use super::positions::Positions;
use super::retention::drop_old;
use super::states::States;
use crate::recording::error::RecordingError;
use crate::recording::files::{self, Kind, Lock};
use crate::recording::journal::{JournalReader, JournalWriter};
use crate::recording::keyframe::{self, Snapshot};
use crate::recording::options::WriterOptions;
use crate::recording::reader::{Catalog, Continuation, Step};

/// A directory that was opened for writing.
pub(super) struct Opened {
    pub(super) lock: Lock,
    pub(super) journal: JournalWriter,
    pub(super) end: End,
    /// The bytes of all sealed segments and keyframes.
    pub(super) total: u64,
}

impl Opened {
    /// Locks a directory, which it creates if needed, recovers the end of its recording, and creates a journal.
    pub(super) fn open(
        dir: &Path,
        context: &str,
        options: &WriterOptions,
        now: Timestamp,
    ) -> Result<Self, RecordingError> {
        let failed = |error: io::Error| Failure::new(dir, &error).error();
        files::create_private(dir).map_err(failed)?;
        let lock = Lock::acquire(dir).map_err(failed)?;
        let lock = lock.ok_or_else(|| RecordingError::Locked { path: dir.to_owned() })?;
        remove_interrupted(dir).map_err(failed)?;
        let end = End::recover(dir, context)?;
        let total = drop_old(dir, options, now).map_err(failed)?;
        let time = end.last_time.unwrap_or_else(|| now.as_millisecond());
        let journal = JournalWriter::create(dir, context, end.next, time).map_err(failed)?;
        files::sync_directory(dir).map_err(failed)?;
        Ok(Self { lock, journal, end, total })
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
    pub(super) last_keyframe: Option<(u64, i64)>,
    pub(super) since_keyframe: u64,
    pub(super) torn_bytes: u64,
}

impl End {
    /// Reads the state at the end, and seals the journals that the last writer left: a compressed stream can't be continued.
    fn recover(dir: &Path, context: &str) -> Result<Self, RecordingError> {
        let mut end = Self::default();
        let io_failed = |error: io::Error| Failure::new(dir, &error).error();
        end.torn_bytes += remove_useless_journals(dir)?;
        if files::list(dir).map_err(io_failed)?.is_empty() {
            return Ok(end);
        }
        let mut journals = Vec::new();
        let catalog = Arc::new(Catalog::list(dir, &mut journals, None)?);
        if **catalog.context() != *context {
            let (path, context) = (dir.to_owned(), catalog.context().to_string());
            return Err(RecordingError::OtherContext { path, context });
        }
        (end.next, end.last_time) = catalog.next_entry()?;
        match catalog.continuation() {
            Ok(continuation) => end.continue_with(continuation),
            // The recording goes on, from nothing: the watches list again.
            Err(RecordingError::Damaged(damage)) => {
                tracing::warn!(%damage, "the recorded state can't be read");
                end.write_empty_keyframe(dir, context).map_err(io_failed)?;
            }
            Err(error) => return Err(error),
        }
        for reader in &journals {
            let (from, to) = reader.torn();
            end.torn_bytes += to - from;
            seal(dir, reader).map_err(|failure| failure.error())?;
        }
        let last_keyframe = Catalog::list(dir, &mut Vec::new(), None)?.last_keyframe();
        end.last_keyframe = last_keyframe.map(|(size, time, _)| (size, time));
        end.since_keyframe = last_keyframe.map_or(0, |(.., since)| since);
        Ok(end)
    }

    fn continue_with(&mut self, continuation: Continuation) {
        for (resource, objects) in continuation.states {
            self.states.insert(&resource, objects);
        }
        self.states.documents = continuation.documents;
        continuation.positions.into_iter().for_each(|position| self.positions.insert(position));
        for step in continuation.steps {
            match step {
                Step::Item(item) => self.positions.item(&item),
                Step::Change { resource, namespace, name, origin, version } => {
                    self.positions.change(&resource, &namespace, &name, origin, version);
                }
            }
        }
        self.max_version = continuation.max_version;
    }

    /// Marks that the state before the next entry is unknown, so that readers do not need the damaged part for later ones.
    fn write_empty_keyframe(&self, dir: &Path, context: &str) -> io::Result<()> {
        let mut snapshot = Snapshot {
            context: context.to_owned(),
            next: self.next,
            time: self.last_time.unwrap_or_default(),
            max_version: self.max_version,
            types: Vec::new(),
            documents: BTreeMap::new(),
            positions: Vec::new(),
        };
        files::replace(&files::path_of(dir, Kind::Keyframe, self.next), &keyframe::write(&mut snapshot))
    }
}

/// Removes journals that have a sealed segment, and those without an entry, and returns the bytes that were cut from the
/// latter.
fn remove_useless_journals(dir: &Path) -> Result<u64, RecordingError> {
    let failed = |error: io::Error| Failure::new(dir, &error).error();
    let listed = files::list(dir).map_err(failed)?;
    let mut torn = 0;
    for (number, kind) in &listed {
        if *kind != Kind::Journal {
            continue;
        }
        let path = files::path_of(dir, Kind::Journal, *number);
        let is_sealed = listed.contains(&(*number, Kind::Segment));
        let is_empty = match JournalReader::open(path.clone()) {
            Ok(reader) => {
                let (from, to) = reader.torn();
                let is_empty = reader.journal().entries == 0;
                torn += if is_empty { to - from } else { 0 };
                is_empty
            }
            Err(files::FileError::Damaged(..)) => {
                torn += path.metadata().map_or(0, |file| file.len());
                true
            }
            // A newer or foreign file is reported when the recording is read.
            Err(_) => false,
        };
        if is_sealed || is_empty {
            fs::remove_file(&path).map_err(failed)?;
        }
    }
    Ok(torn)
}
