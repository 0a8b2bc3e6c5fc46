//! The errors of recordings, by what the caller can do.

use std::io;
use std::path::PathBuf;

use jiff::Timestamp;

/// The reasons why a recording can't be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordingError {
    /// A file can't be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The disk is full. Everything that was flushed before stays readable.
    #[error("{}: the disk is full", path.display())]
    Full {
        /// The file that could not be written.
        path: PathBuf,
    },
    /// Another recorder writes to the directory.
    #[error("{}: another recorder writes to this directory", path.display())]
    Locked {
        /// The directory.
        path: PathBuf,
    },
    /// The directory has no recording.
    #[error("{}: not a recording", path.display())]
    NotARecording {
        /// The directory or file.
        path: PathBuf,
    },
    /// The directory has the recording of another context.
    #[error("{}: this is a recording of the context {context:?}", path.display())]
    OtherContext {
        /// The directory.
        path: PathBuf,
        /// The context of the recording.
        context: String,
    },
    /// A newer version of the program wrote the recording.
    #[error("{}: format {version} is newer than this program; update kdelta to read it", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// The major version of its format.
        version: u16,
    },
    /// A part that is needed is damaged.
    #[error("{0}")]
    Damaged(Damage),
    /// The moment lies before the first complete state.
    #[error("the recording begins at {beginning}")]
    BeforeBeginning {
        /// The time of the first complete state.
        beginning: Timestamp,
    },
}

/// A damaged part of a recording.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: damaged at byte {offset} ({what}): versions from {from} to {until} can't be read", file.display())]
pub struct Damage {
    /// The file.
    pub file: PathBuf,
    /// The position of the damaged part.
    pub offset: u64,
    /// The damaged part and the reason.
    pub what: String,
    /// The time of the first version that can't be read.
    pub from: Timestamp,
    /// The time of the next keyframe, or of the end of the recording.
    pub until: Timestamp,
}
