//! One segment of a recording: a sealed file, or a journal.

mod journal_file;
mod journal_view;

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

pub(super) use journal_file::JournalFile;
use journal_view::JournalView;

use crate::object::ApiResource;
use crate::recording::encryption::Cipher;
use crate::recording::entry::Item;
use crate::recording::files::{FileError, Header, Kind, MAX_EMPTY_JOURNAL, RandomAccess};
use crate::recording::journal::RawItem;
use crate::recording::segment::{Sealed, read_header};
use crate::recording::tables::Tables;
use crate::recording::type_log::{Payload, Timeline, Times, TypeLog};

/// A segment as the directory lists it. It is read when it is needed.
#[derive(Debug)]
pub(super) enum SegmentFile {
    Sealed {
        first: u64,
        path: PathBuf,
        cipher: Option<Arc<Cipher>>,
        header: OnceLock<Header>,
    },
    Journal(JournalFile),
    /// A journal whose header is damaged, or the entries of one after the damage, with the reason.
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

    /// Returns a journal. Unreadable entries follow the others as a file of their own. Returns no file if the journal ends
    /// within its header, because its writer was killed before the first entry.
    pub(super) fn journal(
        first: u64,
        path: PathBuf,
        cipher: Option<&Arc<Cipher>>,
    ) -> Result<Vec<Self>, FileError> {
        let unreadable = |path, reason: String| vec![Self::Unreadable { first, path, reason }];
        let file = match JournalFile::open(path, cipher) {
            Ok(file) => file,
            Err(FileError::Damaged(path, _, reason)) => {
                let length = path.metadata().map_or(0, |file| file.len());
                return Ok(if length > MAX_EMPTY_JOURNAL { unreadable(path, reason) } else { Vec::new() });
            }
            // The file's name determines what it must be.
            Err(FileError::Foreign(path)) => {
                return Ok(unreadable(path, "the header is that of another file".to_owned()));
            }
            Err(error) => return Err(error),
        };
        let broken = file.is_broken().then(|| Self::Unreadable {
            first: file.first() + file.count(),
            path: file.path().to_owned(),
            reason: "the checksum of a part differs".to_owned(),
        });
        let mut files = Vec::new();
        if file.count() > 0 || broken.is_none() {
            files.push(Self::Journal(file));
        }
        files.extend(broken);
        Ok(files)
    }

    /// Returns the number of the first entry.
    pub(super) fn first(&self) -> u64 {
        match self {
            Self::Sealed { first, .. } | Self::Unreadable { first, .. } => *first,
            Self::Journal(file) => file.first(),
        }
    }

    /// Returns the number of entries.
    pub(super) fn count(&self) -> Result<u64, FileError> {
        match self {
            Self::Journal(file) => Ok(file.count()),
            _ => Ok(self.header()?.count),
        }
    }

    /// Returns a time at which the segment had begun, in Unix milliseconds, no earlier than the end of the previous
    /// segment.
    pub(super) fn first_time(&self) -> Result<i64, FileError> {
        match self {
            Self::Journal(file) => Ok(file.outline().header.first_time),
            _ => Ok(self.header()?.first_time),
        }
    }

    /// Returns the name of the context.
    pub(super) fn context(&self) -> Result<&str, FileError> {
        match self {
            Self::Journal(file) => Ok(&file.outline().header.context),
            _ => Ok(&self.header()?.context),
        }
    }

    pub(super) fn path(&self) -> &Path {
        match self {
            Self::Sealed { path, .. } | Self::Unreadable { path, .. } => path,
            Self::Journal(file) => file.path(),
        }
    }

    /// Returns the header; for a journal, which it decodes, the one that it would have as a sealed segment.
    pub(super) fn header(&self) -> Result<&Header, FileError> {
        match self {
            Self::Journal(file) => Ok(file.segment()?.header()),
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
            Self::Journal(file) => file.segment().cloned(),
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

    /// Returns the times and versions of some entries, and possibly of others.
    pub(super) fn times_of(&self, entries: impl Iterator<Item = u32>) -> Result<Times, FileError> {
        match self {
            Self::Sealed(sealed) => sealed.times_of(entries),
            Self::Journal(view) => Ok(Times::All(Arc::clone(&view.timeline))),
        }
    }

    /// Returns the number of entries that were received up to a time, in Unix milliseconds.
    pub(super) fn entries_until(&self, time: i64) -> Result<u64, FileError> {
        match self {
            Self::Sealed(sealed) => sealed.entries_until(time),
            Self::Journal(view) => {
                Ok(view.timeline.received.partition_point(|received| *received <= time) as u64)
            }
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
