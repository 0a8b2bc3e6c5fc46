//! Writes a checkpoint from time to time, without a moment at which the file is incomplete.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::Instant;

use super::{Coverage, text};
use crate::commands::Reporter;
use crate::commands::run::progress::Progress;

/// The shortest time between two writes.
const INTERVAL: Duration = Duration::from_secs(1);
/// The share of the time that may be spent on the text of the file.
const MAX_SHARE: u32 = 20;

/// The error of a checkpoint that another run uses.
#[derive(Debug, thiserror::Error)]
#[error("another run uses it: give another file, or end that run")]
struct Locked;

/// The writer of a run's checkpoint.
pub(in crate::commands::run) struct CheckpointWriter {
    path: PathBuf,
    coverage: Coverage,
    /// The time of the next write.
    next_at: Instant,
    /// The write that is under way.
    writing: Option<JoinHandle<io::Result<()>>>,
    /// Whether a failure was reported.
    is_failing: bool,
    _lock: CheckpointLock,
}

/// A file lock next to the checkpoint, because each write replaces the checkpoint itself. The kernel releases it when the
/// process ends, so that a killed run leaves no lock.
pub(in crate::commands::run) struct CheckpointLock {
    /// Holds the lock until it is dropped.
    _file: File,
}

impl CheckpointLock {
    /// Acquires the lock of a checkpoint, before it is read.
    ///
    /// # Errors
    /// Another run holds the lock, or the lock file can't be created.
    pub(in crate::commands::run) fn acquire(checkpoint: &Path) -> anyhow::Result<Self> {
        let mut path = checkpoint.as_os_str().to_owned();
        path.push(".lock");
        let lock = || -> anyhow::Result<File> {
            let file = OpenOptions::new().create(true).append(true).mode(0o600).open(&path)?;
            match file.try_lock() {
                Ok(()) => Ok(file),
                Err(TryLockError::WouldBlock) => Err(Locked.into()),
                Err(TryLockError::Error(error)) => Err(error.into()),
            }
        };
        let file = lock().with_context(|| format!("checkpoint {}", checkpoint.display()))?;
        Ok(Self { _file: file })
    }
}

impl CheckpointWriter {
    /// Creates the writer, and writes the file once.
    ///
    /// # Errors
    /// The file can't be written.
    pub(in crate::commands::run) fn start(
        path: &Path,
        lock: CheckpointLock,
        coverage: Coverage,
        progress: &Progress,
    ) -> anyhow::Result<Self> {
        let written = write(path, &text(&coverage, progress)?);
        written.with_context(|| format!("write checkpoint {}", path.display()))?;
        let next_at = Instant::now() + INTERVAL;
        Ok(Self { path: path.to_owned(), coverage, next_at, writing: None, is_failing: false, _lock: lock })
    }

    /// Returns the time of the next write.
    pub(in crate::commands::run) fn next_at(&self) -> Instant {
        self.next_at
    }

    /// Starts a write if the progress has changed. The rename is the moment at which the file has the new content.
    ///
    /// A failure is reported once: the run continues, and its end writes again.
    pub(in crate::commands::run) async fn write_if_changed(
        &mut self,
        progress: &mut Progress,
        reporter: &Reporter,
    ) {
        if let Err(error) = self.wait().await
            && !std::mem::replace(&mut self.is_failing, true)
        {
            reporter.messages().warning(&format!("{error:#}"));
        }
        let started = Instant::now();
        if progress.take_changed()
            && let Ok(text) = text(&self.coverage, progress)
        {
            let path = self.path.clone();
            self.writing = Some(spawn_blocking(move || write(&path, &text)));
        }
        let pause = INTERVAL.max(started.elapsed() * MAX_SHARE);
        self.next_at = Instant::now() + pause;
    }

    /// Writes the final progress.
    ///
    /// # Errors
    /// The file can't be written; it still has an earlier progress.
    pub(in crate::commands::run) async fn finish(mut self, progress: &Progress) -> anyhow::Result<()> {
        // Only the final write below decides the result.
        let _ = self.wait().await;
        let text = text(&self.coverage, progress)?;
        let path = self.path.clone();
        self.writing = Some(spawn_blocking(move || write(&path, &text)));
        self.wait().await
    }

    /// Waits for the write that is under way.
    async fn wait(&mut self) -> anyhow::Result<()> {
        let Some(writing) = self.writing.take() else { return Ok(()) };
        writing.await?.with_context(|| format!("write checkpoint {}", self.path.display()))
    }
}

/// Replaces the file: a temporary file is written and flushed to the disk, then renamed.
///
/// # Errors
/// The file keeps its content.
pub(super) fn write(path: &Path, text: &[u8]) -> io::Result<()> {
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(".tmp");
    let temporary = PathBuf::from(temporary);
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&temporary)?;
    file.write_all(text)?;
    file.sync_all()?;
    drop(file);
    std::fs::rename(&temporary, path)?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // The rename itself must reach the disk, too.
    File::open(folder)?.sync_all()
}
