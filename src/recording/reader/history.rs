//! The history of one object.

use std::fmt;
use std::io;
use std::iter::Flatten;
use std::sync::Arc;
use std::sync::mpsc::{self, TrySendError};
use std::thread::{self, JoinHandle};

use super::bases::{ChangeReader, last_state_of_object};
use super::catalog::Catalog;
use super::chains::SegmentLog;
use super::segment_file::{Segment, SegmentFile};
use crate::object::{ApiResource, Object};
use crate::recording::entry::{Entry, Item};
use crate::recording::error::RecordingError;
use crate::recording::files::FileError;
use crate::recording::flags::Flags;
use crate::recording::journal::WantedObject;
use crate::recording::type_log::{LogEntry, TypeLog};

/// The memory of the objects in a batch from which on it is sent, in bytes, and the capacity of the channel in batches. Reading
/// a version takes less time than printing it, so that few suffice; with more, the system would be asked for memory instead of
/// using that of the last versions again.
const BATCH: usize = 128 << 10;
const BATCHES: usize = 4;

/// The number of times that the files are listed again because one vanished.
const ATTEMPTS: usize = 10;

type Batch = Vec<Result<Entry, RecordingError>>;

/// The changes of one object in order, read while the first ones are used.
///
/// A damaged part is one error; the versions continue at the next keyframe.
pub struct Versions {
    /// Receives from the reading thread, which blocks while the channel is full and ends after the receiver is dropped.
    received: Flatten<mpsc::IntoIter<Batch>>,
    /// `None` once the thread was started.
    reader: Option<Reader>,
    /// The reading thread, until it has ended.
    thread: Option<JoinHandle<()>>,
}

impl Iterator for Versions {
    type Item = Result<Entry, RecordingError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.start();
        let next = self.received.next();
        // A panic of the thread must not look like the end.
        if next.is_none()
            && let Some(Err(panic)) = self.thread.take().map(JoinHandle::join)
        {
            std::panic::resume_unwind(panic);
        }
        next
    }
}

impl Versions {
    pub(super) fn of(catalog: &Arc<Catalog>, resource: &ApiResource, namespace: &str, name: &str) -> Self {
        let (sender, batches) = mpsc::sync_channel(BATCHES);
        let reader = Reader {
            catalog: Arc::clone(catalog),
            resource: resource.clone(),
            key: Object::named(resource.type_meta(), namespace, name).key().as_ref().into(),
            renders_rows: true,
            batch: Batch::new(),
            batch_weight: 0,
            sender,
            has_versions: false,
        };
        Self { received: batches.into_iter().flatten(), reader: Some(reader), thread: None }
    }

    /// Starts to read before the first version is requested. Of the newest entries, only the texts of this object are kept in
    /// memory: the first use of others decompresses them again.
    #[must_use]
    pub fn start_reading(mut self) -> Self {
        if let Some(Reader { catalog, resource, key, .. }) = &self.reader {
            for journal in catalog.journals() {
                let (resource, key) = (resource.clone(), key.clone());
                journal.keep_texts_of(Some(WantedObject { resource, key }));
            }
        }
        self.start();
        self
    }

    fn start(&mut self) {
        if let Some(mut reader) = self.reader.take() {
            // A std thread: it reads and decodes while the caller uses the first versions. It ends with the last version,
            // or with the next batch after the receiver is dropped.
            self.thread = Some(thread::spawn(move || reader.read()));
        }
    }

    /// Leaves out the rows of objects, which take time to read. Has no effect after reading has started.
    #[must_use]
    pub fn without_rows(mut self) -> Self {
        if let Some(reader) = &mut self.reader {
            reader.renders_rows = false;
        }
        self
    }
}

impl fmt::Debug for Versions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Versions").finish_non_exhaustive()
    }
}

/// Reads the versions of one object.
struct Reader {
    catalog: Arc<Catalog>,
    resource: ApiResource,
    key: Box<str>,
    renders_rows: bool,
    batch: Batch,
    /// The memory of its objects, in bytes.
    batch_weight: usize,
    sender: mpsc::SyncSender<Batch>,
    has_versions: bool,
}

/// The reason why reading ended early.
enum End {
    /// The receiver was dropped.
    Dropped,
    /// The entries from this number on can't be read.
    Failed(u64, FileError),
}

impl Reader {
    /// Sends the versions. Of a segment without any, only the tables are read.
    fn read(&mut self) {
        let mut from = Some(self.catalog.start());
        let mut attempts = ATTEMPTS;
        while let Some(start) = from {
            let Err(End::Failed(at, error)) = self.read_from(start) else { break };
            from = match error {
                FileError::Io(_, error) if error.kind() == io::ErrorKind::NotFound && attempts > 0 => {
                    attempts -= 1;
                    self.list_again(at)
                }
                error => {
                    let error = self.catalog.error(error);
                    let next = match &error {
                        RecordingError::Damaged(damage) => self.catalog.next_base(at, Some(&damage.file)),
                        _ => None,
                    };
                    if self.push(Err(error)).is_err() { None } else { next }
                }
            };
        }
        let _sent = self.flush();
    }

    /// Lists the files after one vanished, and returns the number of the entry from which to continue. If a writer has
    /// dropped entries after the first versions were read, one error takes their place.
    fn list_again(&mut self, at: u64) -> Option<u64> {
        let listed = match self.catalog.list_again() {
            Ok(listed) => Arc::new(listed),
            Err(error) => {
                let _sent = self.push(Err(error));
                return None;
            }
        };
        self.catalog = listed;
        let start = self.catalog.start();
        if start <= at {
            return Some(at);
        }
        if self.has_versions
            && let Some(beginning) = self.catalog.beginning()
        {
            self.push(Err(RecordingError::BeforeBeginning { beginning, version: None })).ok()?;
        }
        Some(start)
    }

    /// Adds a version or an error, and sends a full batch.
    fn push(&mut self, version: Result<Entry, RecordingError>) -> Result<(), End> {
        if let Ok(Entry { item: Item::Change { change, .. }, .. }) = &version {
            self.batch_weight += change.object.weight();
            self.has_versions = true;
        }
        self.batch.push(version);
        if self.batch_weight >= BATCH { self.flush() } else { Ok(()) }
    }

    /// Sends the batch unless the receiver has others to use first.
    fn offer(&mut self) -> Result<(), End> {
        if self.batch.is_empty() {
            return Ok(());
        }
        match self.sender.try_send(std::mem::take(&mut self.batch)) {
            Ok(()) => self.batch_weight = 0,
            Err(TrySendError::Full(batch)) => self.batch = batch,
            Err(TrySendError::Disconnected(_)) => return Err(End::Dropped),
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), End> {
        if self.batch.is_empty() {
            return Ok(());
        }
        self.batch_weight = 0;
        self.sender.send(std::mem::take(&mut self.batch)).map_err(|_| End::Dropped)
    }

    /// Sends the versions from an entry on, before which the state is known.
    fn read_from(&mut self, start: u64) -> Result<(), End> {
        let catalog = Arc::clone(&self.catalog);
        let at = |number| move |error| End::Failed(number, error);
        let mut state = None;
        if start > 0 {
            let files = catalog.files_before(start, catalog.beginning()).map_err(at(start))?;
            let last = last_state_of_object(&files, &self.resource, &self.key, self.renders_rows);
            state = last.map_err(at(start))?;
        }
        let mut next = start;
        for file in catalog.segments.iter().filter(|segment| segment.first() >= start) {
            if file.first() != next {
                // The missing segment may have changes of the object.
                catalog.open_segments(next, file.first()).map_err(at(next))?;
            }
            let part = Part::read(file, &self.resource, &self.key, self.renders_rows);
            let Part { segment, log } = part.map_err(at(file.first()))?;
            next = file.first() + segment.header().count;
            if catalog.losses.contains(&file.first()) {
                state = None;
            }
            let Some((own, object, log)) = log else {
                self.offer()?;
                continue;
            };
            let changes = ChangeReader::new(&catalog.context, &segment, &own, &log);
            let mut changes = changes.with_rows(self.renders_rows);
            for (number, _) in log.log.numbered(object) {
                let version = changes.read(object, number, &mut state).map_err(at(file.first()))?;
                self.push(Ok(version))?;
            }
            self.offer()?;
        }
        Ok(())
    }
}

/// A segment with the changes of one object.
struct Part {
    segment: Arc<Segment>,
    /// The recorded resource, the number of the object in the log, and the log. `None` without changes of the object.
    log: Option<(Arc<ApiResource>, usize, SegmentLog)>,
}

impl Part {
    fn read(
        file: &SegmentFile,
        resource: &ApiResource,
        key: &str,
        with_rows: bool,
    ) -> Result<Self, FileError> {
        let segment = file.open()?;
        let own = segment.tables().resources.iter().find(|own| ***own == *resource).cloned();
        let mut log = None;
        if let Some(own) = own
            && let Some(of_type) = segment.log_of(resource, key, with_rows)?
            && let Some(object) = of_type.find(key)
        {
            let times = segment.times_of(needed_entries(&of_type, object))?;
            log = Some((own, object, SegmentLog { log: of_type, times }));
        }
        Ok(Self { segment, log })
    }
}

/// Returns the numbers of the entries of an object, and of those from which its whole texts are decoded.
fn needed_entries(log: &TypeLog, object: usize) -> impl Iterator<Item = u32> {
    let range = log.range(object);
    let is_whole = |entry: &&LogEntry| entry.flags.has(Flags::WHOLE);
    let last_whole = log.entries[range.clone()].iter().rposition(|entry| is_whole(&entry));
    let before = last_whole.map_or(0, |last| range.start + last);
    let whole = log.entries[..before].iter().filter(is_whole);
    whole.chain(&log.entries[range]).map(|entry| entry.index)
}
