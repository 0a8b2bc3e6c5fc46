//! The files of a recording at one moment.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

use jiff::Timestamp;

use super::segment_file::{JournalFile, KeptTables, Segment, SegmentFile};
use crate::recording::encryption::Cipher;
use crate::recording::error::{Damage, RecordingError};
use crate::recording::files::{self, FileError, Header, Kind, RandomAccess};
use crate::recording::keyframe::Keyframe;
use crate::recording::segment::read_header;

/// The number of times that the directory is listed again because a file vanished: a writer renames or drops few files
/// at a time.
const ATTEMPTS: usize = 10;

/// The length of a journal that justifies a thread, in bytes.
const MIN_BACKGROUND: u64 = 64 << 10;

/// The files of a recording.
#[derive(Debug)]
pub(in crate::recording) struct Catalog {
    pub(super) dir: PathBuf,
    /// `None` if the recording is not encrypted.
    pub(super) cipher: Option<Arc<Cipher>>,
    pub(super) context: Arc<str>,
    /// In order; each begins where the previous one ends.
    pub(super) segments: Vec<Arc<SegmentFile>>,
    /// The numbers of the keyframes, in order.
    pub(super) keyframes: Vec<u64>,
    /// The numbers of the entries before which the state is not known, in order.
    pub(super) losses: Vec<u64>,
    kept: Arc<KeptTables>,
}

impl Catalog {
    /// Lists a directory. Files that were known before and have not changed are not read again.
    pub(in crate::recording) fn list(
        dir: &Path,
        cipher: Option<&Arc<Cipher>>,
        previous: Option<&Self>,
    ) -> Result<Self, RecordingError> {
        let mut attempts = ATTEMPTS;
        loop {
            match Self::list_once(dir, cipher, previous) {
                Err(FileError::Io(_, error)) if error.kind() == io::ErrorKind::NotFound && attempts > 0 => {
                    attempts -= 1;
                }
                listed => return listed.map_err(plain_error),
            }
        }
    }

    /// Lists the directory again.
    pub(super) fn list_again(&self) -> Result<Self, RecordingError> {
        Self::list(&self.dir, self.cipher.as_ref(), Some(self))
    }

    fn list_once(
        dir: &Path,
        cipher: Option<&Arc<Cipher>>,
        previous: Option<&Self>,
    ) -> Result<Self, FileError> {
        let listed = files::list(dir);
        let listed = match listed {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(FileError::Foreign(dir.to_owned())),
            listed => listed.map_err(|error| FileError::Io(dir.to_owned(), error)),
        }?;
        if listed.is_empty() {
            return Err(FileError::Foreign(dir.to_owned()));
        }
        let kept = previous.map(|previous| Arc::clone(&previous.kept)).unwrap_or_default();
        let is_sealed = |number: u64| listed.contains(&(number, Kind::Segment));
        let mut segments = Vec::new();
        let (mut keyframes, mut losses) = (Vec::new(), Vec::new());
        for (number, kind) in &listed {
            let path = files::path_of(dir, *kind, *number);
            match kind {
                Kind::Keyframe => keyframes.push(*number),
                // The keyframe that refers to it opens it.
                Kind::Base => {}
                Kind::Loss => losses.push(*number),
                Kind::Segment => {
                    let known = previous.and_then(|previous| previous.sealed(*number));
                    let sealed = || Arc::new(SegmentFile::sealed(*number, path, cipher, &kept));
                    segments.push(known.unwrap_or_else(sealed));
                }
                // A segment is renamed into place before its journal is removed.
                Kind::Journal if is_sealed(*number) => {}
                Kind::Journal => {
                    let known = previous.and_then(|previous| previous.unchanged_journal(&path));
                    segments.extend(match known {
                        Some(known) => known,
                        None => {
                            SegmentFile::journal(*number, path, cipher)?.into_iter().map(Arc::new).collect()
                        }
                    });
                }
            }
        }
        let (dir, cipher) = (dir.to_owned(), cipher.cloned());
        let mut catalog = Self { dir, cipher, context: "".into(), segments, keyframes, losses, kept };
        catalog.drop_incomplete_beginning();
        catalog.context = catalog.read_context()?.into();
        Ok(catalog)
    }

    fn sealed(&self, number: u64) -> Option<Arc<SegmentFile>> {
        let found = self.segments.iter().find(|segment| segment.first() == number);
        found.filter(|segment| matches!(***segment, SegmentFile::Sealed { .. })).cloned()
    }

    /// Returns the files of a journal if it has the same length as before.
    fn unchanged_journal(&self, path: &Path) -> Option<Vec<Arc<SegmentFile>>> {
        let known = || self.segments.iter().filter(|segment| segment.path() == path);
        let length = known().find_map(|segment| match &**segment {
            SegmentFile::Journal(journal) => Some(journal.outline().torn.1),
            _ => None,
        })?;
        let is_same = path.metadata().is_ok_and(|file| file.len() == length);
        is_same.then(|| known().cloned().collect())
    }

    /// Begins to decode the journals on a thread of its own, while the caller reads other files. The first use of one
    /// waits for it. The texts of those that begin after `moment` are not kept.
    pub(super) fn decode_journals(self: &Arc<Self>, moment: Option<Timestamp>) {
        for journal in self.journals() {
            // The time at which a journal begins is that of the entry before it.
            if moment.is_some_and(|moment| moment <= time_of(journal.outline().header.first_time)) {
                journal.keep_texts_of(None);
            }
        }
        if self.journals().all(|journal| journal.outline().torn.1 < MIN_BACKGROUND) {
            return;
        }
        let catalog = Arc::clone(self);
        // A std thread, which ends with the last journal. Without it, the first use decodes them.
        let _started = thread::Builder::new().spawn(move || {
            for journal in catalog.journals() {
                // The error is returned by the first use.
                let _decoded = journal.segment();
            }
        });
    }

    /// Returns the journals.
    pub(super) fn journals(&self) -> impl Iterator<Item = &JournalFile> {
        self.segments.iter().filter_map(|segment| match &**segment {
            SegmentFile::Journal(journal) => Some(journal),
            _ => None,
        })
    }

    /// Drops the segments before the first complete state: a writer may be removing them.
    fn drop_incomplete_beginning(&mut self) {
        if self.segments.first().is_some_and(|segment| segment.first() == 0) {
            return;
        }
        if let Some(first) = self.keyframes.first() {
            self.segments.retain(|segment| segment.first() >= *first);
        }
    }

    fn read_context(&self) -> Result<String, FileError> {
        let mut failure = None;
        for segment in self.segments.iter().rev() {
            match segment.context() {
                Ok(context) => return Ok(context.to_owned()),
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        for number in self.keyframes.iter().rev() {
            match self.keyframe_header(*number) {
                Ok(header) => return Ok(header.context),
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        Err(failure.unwrap_or_else(|| FileError::Foreign(self.dir.clone())))
    }

    pub(super) fn keyframe_header(&self, number: u64) -> Result<Header, FileError> {
        let access =
            RandomAccess::open(files::path_of(&self.dir, Kind::Keyframe, number), self.cipher.as_ref())?;
        read_header(&access, Kind::Keyframe).map(|(header, _)| header)
    }

    pub(super) fn open_keyframe(&self, number: u64) -> Result<Keyframe, FileError> {
        Keyframe::open(&self.dir, number, self.cipher.as_ref())
    }

    /// Returns the last keyframe up to an entry, and the number of the entry from which segments lead to the state
    /// before it. That is later than the keyframe if a state was lost since then: entries after a loss refer to
    /// nothing before it.
    pub(super) fn base(&self, number: u64) -> (Option<u64>, u64) {
        let last = |numbers: &[u64]| numbers.iter().rev().find(|before| **before <= number).copied();
        let keyframe = last(&self.keyframes);
        match last(&self.losses) {
            Some(loss) if keyframe.is_none_or(|keyframe| keyframe < loss) => (None, loss),
            _ => (keyframe, keyframe.unwrap_or_default()),
        }
    }

    /// Returns the number of the next entry after `number` from which on entries do not refer to the damaged file.
    pub(super) fn next_base(&self, number: u64, damaged: Option<&Path>) -> Option<u64> {
        let is_readable = |keyframe: &&u64| damaged.is_none_or(|file| !self.refers_to(**keyframe, file));
        let keyframe = self.keyframes.iter().filter(|after| **after > number).find(is_readable);
        let loss = self.losses.iter().find(|after| **after > number);
        keyframe.into_iter().chain(loss).min().copied()
    }

    /// Returns whether a file is the base of a keyframe.
    fn refers_to(&self, keyframe: u64, file: &Path) -> bool {
        let base = self.keyframe_header(keyframe).ok().and_then(|header| header.base);
        let is_of_kind = |kind| base.is_some_and(|base| files::path_of(&self.dir, kind, base) == file);
        is_of_kind(Kind::Keyframe) || is_of_kind(Kind::Base)
    }

    /// Returns the error of a state after a loss and before the next keyframe.
    pub(super) fn lost(&self, loss: u64) -> FileError {
        let path = files::path_of(&self.dir, Kind::Loss, loss);
        FileError::Damaged(path, 0, "the state before it was damaged when the recorder started".to_owned())
    }

    /// Returns the number of the entry after the last one.
    pub(super) fn end(&self) -> Result<u64, FileError> {
        match self.segments.last() {
            Some(segment) => Ok(segment.first() + segment.count()?),
            None => Ok(self.keyframes.last().copied().unwrap_or_default()),
        }
    }

    /// Returns the number of the first entry whose state before it is complete.
    pub(super) fn start(&self) -> u64 {
        match self.segments.first() {
            Some(segment) if segment.first() == 0 => 0,
            _ => self.keyframes.first().copied().unwrap_or_default(),
        }
    }

    /// Opens the segments of the entries from `from` to before `to`, in order. No entry between them may be missing,
    /// because a difference is decoded with the state before it.
    pub(super) fn open_segments(&self, from: u64, to: u64) -> Result<Vec<Arc<Segment>>, FileError> {
        let start = self.segments.partition_point(|segment| segment.first() < from);
        let mut next = from;
        let mut opened = Vec::new();
        for file in &self.segments[start..] {
            if next >= to {
                break;
            }
            if file.first() != next {
                break;
            }
            let segment = file.open()?;
            let header = segment.header();
            if header.first != next {
                return Err(FileError::Damaged(
                    file.path().to_owned(),
                    0,
                    "the file has another name".to_owned(),
                ));
            }
            next += header.count;
            opened.push(segment);
        }
        if next < to { Err(self.missing_segment(next)) } else { Ok(opened) }
    }

    /// Returns the error of a missing segment with this first entry.
    pub(super) fn missing_segment(&self, first: u64) -> FileError {
        let missing = files::path_of(&self.dir, Kind::Segment, first);
        FileError::Damaged(missing, 0, "the segment is missing".to_owned())
    }

    /// Converts an error. Damage gets the range of time that it makes unreadable: from the damaged file to the next
    /// keyframe.
    pub(super) fn error(&self, error: FileError) -> RecordingError {
        match error {
            FileError::Damaged(path, offset, what) => {
                RecordingError::Damaged(self.damage(path, offset, what))
            }
            error => plain_error(error),
        }
    }

    pub(super) fn damage(&self, file: PathBuf, offset: u64, what: String) -> Damage {
        let number = self.first_unreadable(&file);
        let known_times = |headers: &mut dyn Iterator<Item = Option<i64>>| headers.flatten().next();
        let before =
            &mut self.segments.iter().rev().filter(|segment| segment.first() <= number).map(|segment| {
                let header = segment.header().ok()?;
                Some(if header.first < number { header.last_time } else { header.first_time })
            });
        let from = known_times(before).map(time_of).or_else(|| self.beginning());
        let after = &mut self
            .keyframes
            .iter()
            .filter(|keyframe| **keyframe > number && !self.refers_to(**keyframe, &file))
            .map(|keyframe| self.keyframe_header(*keyframe).ok().map(|header| header.first_time));
        let last =
            || self.segments.last().and_then(|segment| segment.header().ok()).map(|header| header.last_time);
        let until = known_times(after).or_else(last).map(time_of);
        Damage { file, offset, what, from, until: until.max(from.filter(|_| until.is_some())) }
    }

    /// Returns the number of the first entry that damage in a file makes unreadable.
    fn first_unreadable(&self, file: &Path) -> u64 {
        let unreadable = self.segments.iter().find_map(|segment| match &**segment {
            SegmentFile::Unreadable { first, path, .. } if path == file => Some(*first),
            _ => None,
        });
        let named = || u64::from_str_radix(&file.file_stem()?.to_string_lossy(), 16).ok();
        unreadable.or_else(named).unwrap_or_default()
    }
}

/// Returns a time from Unix milliseconds. Those of files were checked when they were read; other values are clamped.
pub(super) fn time_of(milliseconds: i64) -> Timestamp {
    Timestamp::from_millisecond(milliseconds).unwrap_or(if milliseconds < 0 {
        Timestamp::MIN
    } else {
        Timestamp::MAX
    })
}

/// Converts an error whose range of time is unknown.
fn plain_error(error: FileError) -> RecordingError {
    match error {
        FileError::Io(path, source) => RecordingError::Io { path, source },
        FileError::Foreign(path) => RecordingError::NotARecording { path },
        FileError::Newer(path, version) => RecordingError::Newer { path, version },
        FileError::Damaged(file, offset, what) => {
            RecordingError::Damaged(Damage { file, offset, what, from: None, until: None })
        }
    }
}
