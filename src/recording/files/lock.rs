//! The lock that limits a recording to one writer.

use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;

use super::directory::private_file;

/// A lock of the operating system on the file `lock`. It ends with the process, so that a killed recorder leaves
/// none.
#[derive(Debug)]
pub(in crate::recording) struct Lock {
    /// Keeps the lock until it is dropped.
    _file: File,
}

impl Lock {
    /// Acquires the lock of a directory. Returns `None` if another process or writer holds it.
    pub(in crate::recording) fn acquire(dir: &Path) -> io::Result<Option<Self>> {
        let file = private_file().open(dir.join("lock"))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self { _file: file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}
