//! A journal as a file of a recording, decoded when its entries are first needed.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::journal_view::{JournalView, StoredJournal};
use super::segment::Segment;
use crate::recording::encryption::Cipher;
use crate::recording::files::FileError;
use crate::recording::journal::{JournalReader, Outline, WantedObject};

/// A journal up to its length when it was listed.
pub(in crate::recording::reader) struct JournalFile {
    path: PathBuf,
    cipher: Option<Arc<Cipher>>,
    outline: Outline,
    /// The content, until it is decoded: a writer may remove the file. A std mutex, held while the bytes are taken.
    bytes: Mutex<Vec<u8>>,
    /// The entries, or the reason why they can't be decoded. A std cell: other threads wait for the one that
    /// decodes.
    segment: OnceLock<Result<Arc<Segment>, String>>,
    /// The object whose texts are kept when the entries are decoded, or that no texts are. Empty: all are kept. A std cell: the
    /// first choice counts.
    wanted: OnceLock<Option<WantedObject>>,
}

impl JournalFile {
    /// Reads a file and the outline of its entries. One that is damaged is decoded at once, to find how far it is
    /// readable.
    pub(super) fn open(path: PathBuf, cipher: Option<&Arc<Cipher>>) -> Result<Self, FileError> {
        let bytes = fs::read(&path).map_err(|error| FileError::Io(path.clone(), error))?;
        let mut outline = Outline::read(&path, &bytes, cipher)?;
        let segment = OnceLock::new();
        if outline.is_broken {
            let reader = JournalReader::of_bytes(path.clone(), &bytes, cipher)?;
            outline.torn = reader.torn();
            let (journal, _) = reader.into_journal();
            outline.entries = journal.entries;
            segment.get_or_init(|| Ok(segment_of(JournalView::new(journal))));
        }
        let (cipher, bytes, wanted) = (cipher.cloned(), Mutex::new(bytes), OnceLock::new());
        Ok(Self { path, cipher, outline, bytes, segment, wanted })
    }

    /// Keeps only the texts of one object, or none, when the entries are decoded, unless something else was chosen before. Other
    /// texts are decompressed again if they are needed.
    pub(in crate::recording::reader) fn keep_texts_of(&self, object: Option<WantedObject>) {
        let _first = self.wanted.set(object);
    }

    pub(in crate::recording::reader) fn path(&self) -> &Path {
        &self.path
    }

    pub(in crate::recording::reader) fn outline(&self) -> &Outline {
        &self.outline
    }

    /// Returns the number of the first entry.
    pub(super) fn first(&self) -> u64 {
        self.outline.header.first
    }

    /// Returns the number of readable entries.
    pub(super) fn count(&self) -> u64 {
        self.outline.entries
    }

    /// Returns whether unreadable entries follow the readable ones.
    pub(super) fn is_broken(&self) -> bool {
        self.outline.is_broken
    }

    /// Returns the decoded entries. The first call decodes them.
    pub(in crate::recording::reader) fn segment(&self) -> Result<&Arc<Segment>, FileError> {
        let decoded = self.segment.get_or_init(|| {
            let bytes = std::mem::take(&mut *self.bytes.lock().unwrap_or_else(PoisonError::into_inner));
            self.decode(bytes)
        });
        decoded.as_ref().map_err(|reason| FileError::Damaged(self.path.clone(), 0, reason.clone()))
    }

    fn decode(&self, bytes: Vec<u8>) -> Result<Arc<Segment>, String> {
        let stored = StoredJournal { path: self.path.clone(), bytes, cipher: self.cipher.clone() };
        let view = match self.wanted.get() {
            Some(object) => JournalView::for_object(stored, object.clone()),
            None => stored.read().map(JournalView::new),
        };
        view.map(segment_of)
    }
}

fn segment_of(view: JournalView) -> Arc<Segment> {
    Arc::new(Segment::Journal(Box::new(view)))
}

impl fmt::Debug for JournalFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JournalFile").field("path", &self.path).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::files::{Kind, path_of};
    use crate::recording::journal::journal_of;

    #[test]
    fn entries_that_cant_be_decoded_are_damage_though_their_checksum_is_valid() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = path_of(dir.path(), Kind::Journal, 0);
        // The start of a recorder, and a record of an unknown kind.
        let (start, unknown): (&[u8], &[u8]) = (&[6, 0, 5], &[99, 0, 0]);
        for (texts, is_valid) in [(vec![(start, 1)], true), (vec![(start, 1), (unknown, 1)], false)] {
            fs::write(&path, journal_of(&texts).expect("a journal")).expect("written");
            let file = JournalFile::open(path.clone(), None).expect("a journal");
            assert_eq!((file.count(), file.is_broken()), (texts.len() as u64, false));
            for _ in 0..2 {
                match file.segment() {
                    Ok(segment) => assert!(is_valid && segment.header().count == 1),
                    Err(FileError::Damaged(of, ..)) => assert!(!is_valid && of == path),
                    Err(error) => panic!("{error:?}"),
                }
            }
        }
    }
}
