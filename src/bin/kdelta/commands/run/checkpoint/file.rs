//! The format of a checkpoint file, version 1: one JSON object.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::commands::run::progress::PartId;

const FORMAT: &str = "kdelta-run-checkpoint";
const VERSION: u64 = 1;
/// The size of the largest file that is read: four million objects.
const MAX_BYTES: u64 = 1 << 30;

/// The objects that a checkpoint covers: the clusters and the selection.
pub(in crate::commands::run) type Coverage = BTreeMap<String, Vec<String>>;

/// The content of the file.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Document {
    format: String,
    v: u64,
    /// The time at which it was written, for people.
    written: String,
    pub(super) covers: Coverage,
    pub(super) parts: Vec<SavedPart>,
}

/// The progress of one part.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SavedPart {
    #[serde(flatten)]
    pub(super) id: PartId,
    /// The version up to which every change was handled; missing before the initial state was.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(super) resource_version: Option<String>,
    /// The uid and the version in which each object was handled, by key.
    pub(super) objects: BTreeMap<String, [String; 2]>,
}

/// The fields that every version has.
#[derive(Deserialize)]
struct Head {
    format: String,
    v: u64,
}

/// A file that is not a checkpoint of this version.
#[derive(Debug, thiserror::Error)]
pub(super) enum ReadError {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("it is no checkpoint: remove it, or give another file")]
    Malformed,
    #[error("it has version {0}, and this program reads version {VERSION}")]
    Version(u64),
    #[error("it is larger than {MAX_BYTES} bytes")]
    Large,
}

impl Document {
    pub(super) fn new(covers: Coverage, written: Timestamp, parts: Vec<SavedPart>) -> Self {
        Self { format: FORMAT.to_owned(), v: VERSION, written: written.to_string(), covers, parts }
    }
}

/// Reads the file; `None` if it does not exist.
///
/// # Errors
/// Returns an error if the file can't be read, or is no checkpoint of this version.
pub(super) fn read(path: &Path) -> Result<Option<Document>, ReadError> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let mut text = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut text)?;
    if text.len() as u64 > MAX_BYTES {
        return Err(ReadError::Large);
    }
    let Head { format, v } = serde_json::from_slice(&text).map_err(|_| ReadError::Malformed)?;
    match v {
        _ if format != FORMAT => Err(ReadError::Malformed),
        VERSION => serde_json::from_slice(&text).map(Some).map_err(|_| ReadError::Malformed),
        v => Err(ReadError::Version(v)),
    }
}
