//! The tables of sealed segments that are kept in memory.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use crate::recording::files::{FileError, RandomAccess};
use crate::recording::segment::FileTables;

/// The length of the texts of all tables that are kept. In memory, they take up to some 40 times as much.
const MAX_KEPT: usize = 4 << 20;

/// The tables that are kept in memory, for all segments of a recording.
#[derive(Debug, Default)]
pub(in crate::recording::reader) struct KeptTables {
    /// The length of their texts. An atomic: any thread may keep tables. It only grows, even if files are dropped.
    text_len: AtomicUsize,
}

impl KeptTables {
    /// Returns the tables of a segment, which are read unless they were kept.
    pub(super) fn read(
        &self,
        tables: &OnceLock<Arc<FileTables>>,
        access: &RandomAccess,
    ) -> Result<Arc<FileTables>, FileError> {
        if let Some(tables) = tables.get() {
            return Ok(Arc::clone(tables));
        }
        let read = Arc::new(FileTables::read(access)?);
        let add = |kept: usize| kept.checked_add(read.text_len).filter(|kept| *kept <= MAX_KEPT);
        if self.text_len.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add).is_ok() {
            tables.get_or_init(|| Arc::clone(&read));
        }
        Ok(read)
    }
}
