//! The file of the lines whose calls all failed.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anyhow::Context;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::value::RawValue;

/// A file to which lines are appended.
pub(super) struct DeadLetters {
    path: PathBuf,
    file: File,
}

/// A line of the file.
#[derive(Serialize)]
struct DeadLetter<'a> {
    v: u8,
    ts: String,
    attempts: u32,
    /// The reason of the last failure.
    error: &'a str,
    /// The line that the calls had.
    line: &'a RawValue,
}

impl DeadLetters {
    /// Opens the file, which only its owner can read: it has objects of the cluster.
    ///
    /// # Errors
    /// Returns an error if the file can't be opened for appending.
    pub(super) fn open(path: &Path) -> anyhow::Result<Self> {
        let opened = OpenOptions::new().create(true).append(true).mode(0o600).open(path);
        let file = opened.with_context(|| format!("open {}", path.display()))?;
        Ok(Self { path: path.to_owned(), file })
    }

    /// Appends a line, and returns once it is on the disk.
    ///
    /// # Errors
    /// The file can't be written.
    pub(super) fn append(&mut self, line: &[u8], attempts: u32, error: &str) -> anyhow::Result<()> {
        self.write(line, attempts, error).with_context(|| format!("write {}", self.path.display()))
    }

    fn write(&mut self, line: &[u8], attempts: u32, error: &str) -> io::Result<()> {
        let line: &RawValue = serde_json::from_slice(line)?;
        let ts = Timestamp::now().to_string();
        let mut text = serde_json::to_vec(&DeadLetter { v: 1, ts, attempts, error, line })?;
        text.push(b'\n');
        self.file.write_all(&text)?;
        self.file.sync_data()
    }
}
