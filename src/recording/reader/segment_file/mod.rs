//! One segment of a recording: a sealed file, or a journal.

mod journal_file;
mod journal_view;
mod kept_tables;
mod segment;

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

pub(super) use journal_file::JournalFile;
pub(super) use kept_tables::KeptTables;
pub(super) use segment::{PayloadBytes, Segment};

use crate::object::ApiResource;
use crate::recording::encryption::Cipher;
use crate::recording::files::{FileError, Header, Kind, MAX_EMPTY_JOURNAL, RandomAccess};
use crate::recording::segment::{FileTables, Sealed, read_header};

/// A segment as the directory lists it. It is read when it is needed.
#[derive(Debug)]
pub(super) enum SegmentFile {
    Sealed {
        first: u64,
        path: PathBuf,
        cipher: Option<Arc<Cipher>>,
        header: OnceLock<Header>,
        /// Kept from the first reading, because a history reads them twice. A std cell: if two threads read them, the first
        /// result is kept.
        tables: OnceLock<Arc<FileTables>>,
        /// Bounds the tables that are kept.
        kept: Arc<KeptTables>,
    },
    Journal(JournalFile),
    /// A journal whose header is damaged, or the entries of one after the damage, with the reason.
    Unreadable {
        first: u64,
        path: PathBuf,
        /// The position of the damage in the file.
        offset: u64,
        reason: String,
    },
}

impl SegmentFile {
    pub(super) fn sealed(
        first: u64,
        path: PathBuf,
        cipher: Option<&Arc<Cipher>>,
        kept: &Arc<KeptTables>,
    ) -> Self {
        let (cipher, kept) = (cipher.cloned(), Arc::clone(kept));
        Self::Sealed { first, path, cipher, header: OnceLock::new(), tables: OnceLock::new(), kept }
    }

    /// Returns a journal. Unreadable entries follow the others as a file of their own. Returns no file if the journal ends
    /// within its header, because its writer was killed before the first entry.
    pub(super) fn journal(
        first: u64,
        path: PathBuf,
        cipher: Option<&Arc<Cipher>>,
    ) -> Result<Vec<Self>, FileError> {
        let unreadable =
            |path, offset, reason: String| vec![Self::Unreadable { first, path, offset, reason }];
        let file = match JournalFile::open(path, cipher) {
            Ok(file) => file,
            Err(FileError::Damaged(path, offset, reason)) => {
                let length = path.metadata().map_or(0, |file| file.len());
                return Ok(if length > MAX_EMPTY_JOURNAL {
                    unreadable(path, offset, reason)
                } else {
                    Vec::new()
                });
            }
            // The name is that of a journal, so other content is damage.
            Err(FileError::Foreign(path)) => {
                return Ok(unreadable(path, 0, "the header is that of another file".to_owned()));
            }
            Err(error) => return Err(error),
        };
        let broken = file.is_broken().then(|| Self::Unreadable {
            first: file.first() + file.count(),
            path: file.path().to_owned(),
            offset: file.outline().torn.0,
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
            Self::Unreadable { path, offset, reason, .. } => {
                Err(FileError::Damaged(path.clone(), *offset, reason.clone()))
            }
            Self::Sealed { path, cipher, header, tables, .. } => {
                if let Some(header) = tables.get().map(|tables| &tables.header).or(header.get()) {
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
            Self::Unreadable { path, offset, reason, .. } => {
                Err(FileError::Damaged(path.clone(), *offset, reason.clone()))
            }
            Self::Sealed { path, cipher, tables, kept, .. } => {
                let access = RandomAccess::open(path.clone(), cipher.as_ref())?;
                let tables = kept.read(tables, &access)?;
                Ok(Arc::new(Segment::Sealed(Sealed::new(access, tables))))
            }
        }
    }

    /// Returns the resources of the entries, and possibly others. A sealed segment is not kept open.
    pub(super) fn resources(&self) -> Result<Vec<Arc<ApiResource>>, FileError> {
        let Self::Sealed { path, cipher, tables, kept, .. } = self else {
            return Ok(self.open()?.tables().resources.clone());
        };
        if let Some(tables) = tables.get() {
            return Ok(tables.footer.tables.resources.clone());
        }
        let access = RandomAccess::open(path.clone(), cipher.as_ref())?;
        Ok(kept.read(tables, &access)?.footer.tables.resources.clone())
    }

    pub(super) fn is_sealed(&self) -> bool {
        matches!(self, Self::Sealed { .. })
    }
}
