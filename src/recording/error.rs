//! The errors of recordings, one variant for each way in which the caller can react.

use std::io;
use std::net::SocketAddr;
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
    /// The directory for a new recording already holds one.
    #[error("{}: there is a recording already", path.display())]
    Exists {
        /// The directory.
        path: PathBuf,
    },
    /// A line can't be imported.
    #[error("line {number}: {reason}")]
    Line {
        /// The number of the line, from 1.
        number: u64,
        /// The reason.
        reason: String,
    },
    /// The directory holds no recording.
    #[error("{}: not a recording", path.display())]
    NotARecording {
        /// The directory or file.
        path: PathBuf,
    },
    /// The directory holds the recording of another context.
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
    /// The recording is encrypted, and no key for it is known.
    #[error("{}: the recording is encrypted, and there is no key for it", path.display())]
    Encrypted {
        /// The directory.
        path: PathBuf,
    },
    /// The directory holds a recording that is not encrypted.
    #[error("{}: the recording is not encrypted", path.display())]
    NotEncrypted {
        /// The directory.
        path: PathBuf,
    },
    /// The file of a key can't be used.
    #[error("{}: {reason}", path.display())]
    Key {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: &'static str,
    },
    /// A text is no age recipient.
    #[error("{text:?} is no recipient of age: {reason}")]
    Recipient {
        /// The text.
        text: String,
        /// The reason.
        reason: &'static str,
    },
    /// A line is no age identity. It is not part of the error, because it may be confidential.
    #[error("line {line} is no identity of age: {reason}")]
    Identity {
        /// The number of the line, from 1.
        line: u64,
        /// The reason.
        reason: &'static str,
    },
    /// The program or library was built without the feature `age`.
    #[error("this build has no encryption: it lacks the cargo feature `age`")]
    WithoutAge,
    /// An object or a document is too large to be recorded.
    #[error("{what}: {length} bytes are too many to be recorded; the limit is {limit}")]
    TooLarge {
        /// The key of the object, or the path of the document.
        what: String,
        /// The length of its text in bytes.
        length: usize,
        /// The longest text.
        limit: usize,
    },
    /// A server can't listen on an address.
    #[error("can't listen on {address}: {source}")]
    Listen {
        /// The requested address.
        address: SocketAddr,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A part that is needed is damaged.
    #[error("{0}")]
    Damaged(Damage),
    /// The moment lies before the first complete state.
    #[error("the recording begins at {beginning}{}", version.map(|version| format!(", with rv:{version}")).unwrap_or_default())]
    BeforeBeginning {
        /// The time of the first complete state.
        beginning: Timestamp,
        /// The version of the first complete state, if the moment is a version, and it is known.
        version: Option<u64>,
    },
}

/// A damaged part of a recording.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: damaged at byte {offset} ({what}): {} can't be read", file.display(), versions(*from, *until))]
pub struct Damage {
    /// The file.
    pub file: PathBuf,
    /// The position of the damaged part.
    pub offset: u64,
    /// The damaged part and the reason.
    pub what: String,
    /// The time of the first version that can't be read; `None` if no version before the damage can be read either.
    pub from: Option<Timestamp>,
    /// The time of the next keyframe, or of the end of the recording; `None` if the end can't be read.
    pub until: Option<Timestamp>,
}

fn versions(from: Option<Timestamp>, until: Option<Timestamp>) -> String {
    match (from, until) {
        (Some(from), Some(until)) => format!("versions from {from} to {until}"),
        (Some(from), None) => format!("versions from {from} on"),
        (None, Some(until)) => format!("versions until {until}"),
        (None, None) => "all versions".to_owned(),
    }
}
