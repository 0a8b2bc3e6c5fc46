//! One segment of a recording: a sealed file, or a journal.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use crate::object::ApiResource;
use crate::recording::encryption::Cipher;
use crate::recording::entry::Item;
use crate::recording::files::{FileError, Header, Kind, RandomAccess};
use crate::recording::journal::{FirstGap, Journal, RawItem};
use crate::recording::segment::{Sealed, read_header};
use crate::recording::tables::Tables;
use crate::recording::type_log::{LogEntry, Payload, Place, Timeline, TypeLog};

/// A segment as the directory lists it. A sealed one is opened when it is needed.
#[derive(Debug)]
pub(super) enum SegmentFile {
    Sealed {
        first: u64,
        path: PathBuf,
        cipher: Option<Arc<Cipher>>,
        header: OnceLock<Header>,
    },
    Journal(Arc<Segment>),
    /// A journal whose header is damaged, with the reason.
    Unreadable {
        first: u64,
        path: PathBuf,
        reason: String,
    },
}

impl SegmentFile {
    pub(super) fn sealed(first: u64, path: PathBuf, cipher: Option<&Arc<Cipher>>) -> Self {
        Self::Sealed { first, path, cipher: cipher.cloned(), header: OnceLock::new() }
    }

    pub(super) fn journal(journal: Journal) -> Self {
        Self::Journal(Arc::new(Segment::Journal(JournalView::new(journal))))
    }

    /// Returns the number of the first entry.
    pub(super) fn first(&self) -> u64 {
        match self {
            Self::Sealed { first, .. } | Self::Unreadable { first, .. } => *first,
            Self::Journal(segment) => segment.header().first,
        }
    }

    pub(super) fn path(&self) -> &Path {
        match self {
            Self::Sealed { path, .. } | Self::Unreadable { path, .. } => path,
            Self::Journal(segment) => segment.path(),
        }
    }

    /// Returns the header; for a journal, the one that it would have as a sealed segment.
    pub(super) fn header(&self) -> Result<&Header, FileError> {
        match self {
            Self::Journal(segment) => Ok(segment.header()),
            Self::Unreadable { path, reason, .. } => Err(FileError::Damaged(path.clone(), 0, reason.clone())),
            Self::Sealed { path, cipher, header, .. } => {
                if let Some(header) = header.get() {
                    return Ok(header);
                }
                let access = RandomAccess::open(path.clone(), cipher.as_ref())?;
                let (read, _) = read_header(&access, Kind::Segment)?;
                Ok(header.get_or_init(|| read))
            }
        }
    }

    pub(super) fn open(&self) -> Result<Arc<Segment>, FileError> {
        match self {
            Self::Journal(segment) => Ok(Arc::clone(segment)),
            Self::Unreadable { path, reason, .. } => Err(FileError::Damaged(path.clone(), 0, reason.clone())),
            Self::Sealed { path, cipher, .. } => {
                Sealed::open(path.clone(), cipher.as_ref()).map(|sealed| Arc::new(Segment::Sealed(sealed)))
            }
        }
    }
}

/// A segment that is open.
#[derive(Debug)]
pub(super) enum Segment {
    Sealed(Sealed),
    Journal(JournalView),
}

/// A journal with the tables that a sealed segment has in its file.
#[derive(Debug)]
pub(super) struct JournalView {
    pub(super) journal: Journal,
    header: Header,
    timeline: Arc<Timeline>,
}

impl JournalView {
    fn new(journal: Journal) -> Self {
        let mut timeline = Timeline::default();
        let (mut min_version, mut max_version) = (u64::MAX, 0);
        let mut first_gap = FirstGap::new(&journal.header);
        for entry in journal.chunks.iter().flat_map(|chunk| &chunk.entries) {
            timeline.received.push(entry.received);
            timeline.versions.push(entry.version);
            max_version = max_version.max(entry.version);
            first_gap.add(entry);
            if let RawItem::Change(_) = entry.item {
                min_version = min_version.min(entry.version);
            }
        }
        let header = Header {
            count: journal.entries,
            first_time: timeline.received.first().copied().unwrap_or(journal.header.first_time),
            last_time: journal.last_time,
            first_gap: first_gap.time(),
            min_version,
            max_version,
            ..journal.header.clone()
        };
        Self { journal, header, timeline: Arc::new(timeline) }
    }

    fn log(&self, resource: &ApiResource) -> Option<TypeLog> {
        let number = self.journal.tables.resource(resource)?;
        let objects = self.journal.objects();
        let mut log = TypeLog::default();
        // The objects of the type in the order of their first change in this journal.
        let mut places: HashMap<u32, usize> = HashMap::new();
        let mut of_objects: Vec<Vec<LogEntry>> = Vec::new();
        let mut index = 0;
        for (block, chunk) in (0u32..).zip(&self.journal.chunks) {
            for entry in &chunk.entries {
                if let RawItem::Change(change) = &entry.item
                    && let object = objects[change.object as usize]
                    && object.resource as usize == number
                {
                    let place = *places.entry(change.object).or_insert_with(|| {
                        log.names.push(&object.key, object.namespace_len);
                        of_objects.push(Vec::new());
                        of_objects.len() - 1
                    });
                    let (row, body) = (change.row, change.body);
                    of_objects[place].push(LogEntry {
                        index,
                        flags: change.flags,
                        author: change.author,
                        body: Place { block, at: body.at, len: body.len },
                        row: Place { block, at: row.at, len: row.len },
                    });
                }
                index += 1;
            }
        }
        for entries in of_objects {
            log.entries.extend(entries);
            log.ends.push(u32::try_from(log.entries.len()).unwrap_or(u32::MAX));
        }
        Some(log)
    }
}

/// The bytes of a block of payloads.
pub(super) enum PayloadBytes<'a> {
    Read(Vec<u8>),
    Journal(&'a [u8]),
}

impl std::ops::Deref for PayloadBytes<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Read(bytes) => bytes,
            Self::Journal(bytes) => bytes,
        }
    }
}

impl Segment {
    pub(super) fn path(&self) -> &Path {
        match self {
            Self::Sealed(sealed) => sealed.path(),
            Self::Journal(view) => &view.journal.path,
        }
    }

    pub(super) fn header(&self) -> &Header {
        match self {
            Self::Sealed(sealed) => sealed.header(),
            Self::Journal(view) => &view.header,
        }
    }

    pub(super) fn tables(&self) -> &Tables {
        match self {
            Self::Sealed(sealed) => &sealed.footer().tables,
            Self::Journal(view) => &view.journal.tables,
        }
    }

    /// Returns whether whole texts are differences from the previous one in their block.
    pub(super) fn has_chained_whole_texts(&self) -> bool {
        matches!(self, Self::Sealed(_))
    }

    pub(super) fn timeline(&self) -> Result<Arc<Timeline>, FileError> {
        match self {
            Self::Sealed(sealed) => sealed.timeline(),
            Self::Journal(view) => Ok(Arc::clone(&view.timeline)),
        }
    }

    /// Returns whether an entry is a document.
    pub(super) fn has_documents(&self) -> bool {
        match self {
            Self::Sealed(sealed) => !sealed.footer().documents.is_empty(),
            Self::Journal(view) => {
                let mut entries = view.journal.chunks.iter().flat_map(|chunk| &chunk.entries);
                entries.any(|entry| matches!(&entry.item, RawItem::Other(item) if matches!(**item, Item::Document { .. })))
            }
        }
    }

    /// Returns the changes of one type.
    pub(super) fn log(&self, resource: &ApiResource) -> Result<Option<TypeLog>, FileError> {
        match self {
            Self::Sealed(sealed) => sealed.log(resource),
            Self::Journal(view) => Ok(view.log(resource)),
        }
    }

    /// Returns the changes of an object, and possibly others of its type. `None` if there are none of the object.
    pub(super) fn log_of(&self, resource: &ApiResource, key: &str) -> Result<Option<TypeLog>, FileError> {
        match self {
            Self::Sealed(sealed) => sealed.log_of(resource, key),
            Self::Journal(view) => Ok(view.log(resource)),
        }
    }

    pub(super) fn payload(
        &self,
        resource: &ApiResource,
        payload: Payload,
        block: u32,
    ) -> Result<PayloadBytes<'_>, FileError> {
        match self {
            Self::Sealed(sealed) => sealed.payload(resource, payload, block).map(PayloadBytes::Read),
            Self::Journal(view) => {
                let chunk = view.journal.chunks.get(block as usize);
                Ok(PayloadBytes::Journal(chunk.map(|chunk| &*chunk.bytes).unwrap_or_default()))
            }
        }
    }

    /// Returns the error of a payload that can't be decoded.
    pub(super) fn invalid(
        &self,
        resource: &ApiResource,
        payload: Payload,
        block: u32,
        what: &str,
    ) -> FileError {
        match self {
            Self::Sealed(sealed) => sealed.invalid(sealed.payload_offset(resource, payload, block), what),
            Self::Journal(view) => FileError::Damaged(view.journal.path.clone(), 0, what.to_owned()),
        }
    }

    /// Returns the items that are not changes, with their numbers in the segment.
    pub(super) fn items(
        &self,
        context: &Arc<str>,
        with_documents: bool,
    ) -> Result<Vec<(u32, Item)>, FileError> {
        match self {
            Self::Sealed(sealed) => sealed.items(context, with_documents),
            Self::Journal(view) => {
                let entries = view.journal.chunks.iter().flat_map(|chunk| &chunk.entries);
                let items = (0u32..).zip(entries).filter_map(|(index, entry)| match &entry.item {
                    RawItem::Other(item) => Some((index, (**item).clone())),
                    RawItem::Change(_) => None,
                });
                Ok(items.collect())
            }
        }
    }
}
