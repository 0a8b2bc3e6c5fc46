//! Work that must not delay the receipt of changes: sealing, keyframes, retention.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use jiff::Timestamp;

use super::failure::Failure;
use super::retention::drop_old;
use crate::recording::encryption::Cipher;
use crate::recording::files::{self, FileError, Kind};
use crate::recording::keyframe::{self, Keyframe, Snapshot};
use crate::recording::options::WriterOptions;
use crate::recording::segment::{self, UnsealedJournal};

/// Journals to seal, and the keyframe after them if one is due.
pub(super) struct Job {
    pub(super) dir: PathBuf,
    /// The journals in their order, with the number of entries in each.
    pub(super) journals: Vec<(PathBuf, u64)>,
    pub(super) keyframe: Option<Snapshot>,
    pub(super) options: WriterOptions,
    pub(super) cipher: Option<Arc<Cipher>>,
    pub(super) now: Timestamp,
}

/// The last keyframe, or the segments with the initial state, which serve as one.
#[derive(Debug, Clone, Copy)]
pub(super) struct LastKeyframe {
    /// The size of the last keyframe that refers to no other one, in bytes.
    pub(super) whole_size: u64,
    /// The time of the state, in Unix milliseconds.
    pub(super) time: i64,
    /// The number of the last keyframe, if it refers to no other one: the next keyframe refers to it.
    pub(super) base: Option<u64>,
}

/// The result of a job.
#[derive(Debug, Clone, Copy, Default)]
struct JobResult {
    segment_bytes: u64,
    /// Whether a journal could not be read back whole.
    is_damaged: bool,
    keyframe: Option<LastKeyframe>,
    /// The bytes of all sealed segments, keyframes and journals that can't be read whole.
    total: u64,
}

/// The running job, and the results of previous ones.
#[derive(Debug, Default)]
pub(super) struct Background {
    /// A std thread, because the work computes for up to a second and writes files. There is one at a time. It ends
    /// with its job, and dropping the writer waits for it.
    running: Option<JoinHandle<Result<JobResult, Failure>>>,
    last_keyframe: Option<LastKeyframe>,
    /// The bytes of the segments since then.
    since_keyframe: u64,
    /// Whether the recording is new, and its first segments have the initial state.
    is_new: bool,
    /// Whether the journal that is being sealed belongs to the initial state.
    is_initial: bool,
    total: u64,
}

impl Background {
    /// Continues with the files of a recording.
    pub(super) fn continued(
        last_keyframe: Option<LastKeyframe>,
        since_keyframe: u64,
        total: u64,
        is_new: bool,
    ) -> Self {
        Self { running: None, last_keyframe, since_keyframe, is_new, is_initial: false, total }
    }

    pub(super) fn is_idle(&self) -> bool {
        self.running.is_none()
    }

    /// Returns the bytes of all sealed segments, keyframes and journals that can't be read whole.
    pub(super) fn bytes(&self) -> u64 {
        self.total
    }

    /// Returns whether a keyframe is due: when the segments since the last one are twice as large as a whole one, so that
    /// the time to read a state does not grow, or when retention needs one to drop the entries before it. The
    /// initial state must be complete.
    pub(super) fn is_keyframe_due(&mut self, journal: u64, time: i64, options: &WriterOptions) -> bool {
        let since = self.since_keyframe + journal;
        let Some(last) = self.last_keyframe else {
            if !self.is_new {
                return true;
            }
            // The segments so far contain the initial state and little else: they serve as the first keyframe.
            self.last_keyframe = Some(LastKeyframe { whole_size: since, time, base: None });
            (self.since_keyframe, self.is_initial) = (0, true);
            return false;
        };
        let age = u128::try_from(time.saturating_sub(last.time)).unwrap_or_default();
        since >= 2 * last.whole_size
            || options.max_size.is_some_and(|max| since >= max / 4)
            || options.keep.is_some_and(|keep| age >= keep.as_millis() / 4)
    }

    /// Starts a job, after the one that runs: two would remove the same files.
    pub(super) fn start(&mut self, job: Job) -> Result<(), Failure> {
        self.wait()?;
        let (dir, last) = (job.dir.clone(), self.last_keyframe);
        let spawned = thread::Builder::new().name("recording".to_owned()).spawn(move || job.run(last));
        self.running = Some(spawned.map_err(|error| Failure::new(&dir, &error))?);
        Ok(())
    }

    /// Takes the result of a job that has ended.
    pub(super) fn poll(&mut self) -> Result<(), Failure> {
        match &self.running {
            Some(running) if running.is_finished() => self.wait(),
            _ => Ok(()),
        }
    }

    /// Waits for the job that runs.
    pub(super) fn wait(&mut self) -> Result<(), Failure> {
        let Some(running) = self.running.take() else { return Ok(()) };
        let done = match running.join() {
            Ok(done) => done?,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        if !std::mem::take(&mut self.is_initial) {
            self.since_keyframe += done.segment_bytes;
        }
        if done.keyframe.is_some() {
            self.last_keyframe = done.keyframe;
            self.since_keyframe = 0;
        } else if done.is_damaged {
            // Makes a keyframe due: readers continue there after the damage.
            (self.last_keyframe, self.is_new) = (None, false);
        }
        self.total = done.total;
        Ok(())
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        if let Some(running) = self.running.take() {
            // A failure leaves the journal, which the next writer seals.
            let _ = running.join();
        }
    }
}

impl Job {
    fn run(mut self, last: Option<LastKeyframe>) -> Result<JobResult, Failure> {
        let mut done = JobResult::default();
        for (journal, entries) in &self.journals {
            self.seal(journal, *entries, &mut done)?;
        }
        if let Some(snapshot) = self.keyframe.take() {
            done.keyframe = Some(self.write_keyframe(snapshot, last)?);
        }
        done.total = drop_old(&self.dir, &self.options, self.cipher.as_ref(), self.now)
            .map_err(|error| Failure::new(&self.dir, &error))?;
        Ok(done)
    }

    /// Writes a keyframe. It refers to the last one if all states of that are whole: a state is then read from two keyframes at
    /// most.
    fn write_keyframe(
        &self,
        snapshot: Snapshot,
        last: Option<LastKeyframe>,
    ) -> Result<LastKeyframe, Failure> {
        let (number, time) = (snapshot.next, snapshot.time);
        let path = files::path_of(&self.dir, Kind::Keyframe, number);
        let cipher = files::cipher_of(&path, self.cipher.as_ref());
        // All states are whole if the last one can't be read.
        let base = last.and_then(|last| {
            let base = Keyframe::open(&self.dir, last.base?, self.cipher.as_ref()).ok()?;
            Some((last, base))
        });
        let written = keyframe::write(snapshot, base.as_ref().map(|(_, base)| base), &path, cipher);
        let length = complete(&self.dir, &path, written)?;
        Ok(match base {
            Some((last, _)) => LastKeyframe { time, base: None, ..last },
            None => LastKeyframe { whole_size: length, time, base: Some(number) },
        })
    }

    /// Seals a journal. One that can't be read back whole is kept, and readers report the damage.
    fn seal(&self, path: &Path, entries: u64, done: &mut JobResult) -> Result<(), Failure> {
        let journal = read_journal(path, entries, self.cipher.as_ref())?;
        if journal.is_broken || journal.journal.entries != entries {
            tracing::warn!(journal = %path.display(), "a journal can't be read back");
            done.segment_bytes += journal.journal.length;
            done.is_damaged = true;
        } else {
            done.segment_bytes += seal(&self.dir, journal, self.cipher.as_ref())?;
        }
        Ok(())
    }
}

/// Reads a journal with that many entries to seal it.
fn read_journal(path: &Path, entries: u64, cipher: Option<&Arc<Cipher>>) -> Result<UnsealedJournal, Failure> {
    UnsealedJournal::read(path.to_owned(), entries, cipher).map_err(|error| match error {
        FileError::Io(path, error) => Failure::new(&path, &error),
        _ => Failure::new(path, &io::Error::other("the journal was changed")),
    })
}

/// Makes the name of a new file durable.
fn complete(dir: &Path, path: &Path, written: io::Result<u64>) -> Result<u64, Failure> {
    let written = written.and_then(|length| files::sync_directory(dir).map(|()| length));
    written.map_err(|error| Failure::new(path, &error))
}

/// Seals a whole journal with at least one entry, removes it, and returns the size of the segment.
fn seal(dir: &Path, journal: UnsealedJournal, cipher: Option<&Arc<Cipher>>) -> Result<u64, Failure> {
    let source = journal.journal.path.clone();
    let path = files::path_of(dir, Kind::Segment, journal.journal.header.first);
    let length = complete(dir, &path, segment::seal(journal, &path, files::cipher_of(&path, cipher)))?;
    fs::remove_file(&source).map_err(|error| Failure::new(&source, &error))?;
    Ok(length)
}
