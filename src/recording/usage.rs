//! The sizes and counts of a recording.

use std::sync::Arc;

use jiff::Timestamp;

use super::entry::Gap;
use crate::object::ApiResource;

/// The figures of a running writer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Statistics {
    /// The objects of the current state.
    pub objects: u64,
    /// The changes that this writer has recorded.
    pub deltas: u64,
    /// The bytes of all files.
    pub bytes: u64,
    /// The gaps that this writer has recorded.
    pub gaps: u64,
}

/// The sizes and counts of a recording.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Usage {
    /// The number of files.
    pub files: u64,
    /// The bytes of all files.
    pub bytes: u64,
    /// The bytes of the journal.
    pub journal_bytes: u64,
    /// The bytes of marks, documents, headers and indices.
    pub other_bytes: u64,
    /// The entries of all kinds.
    pub entries: u64,
    /// The time of the first complete state, as [`Recording::beginning`](super::Recording::beginning) returns it.
    pub first: Option<Timestamp>,
    /// The time of the last entry.
    pub last: Option<Timestamp>,
    /// The figures of each type, sorted by group and name.
    pub types: Vec<TypeUsage>,
    /// The gaps, in order.
    pub gaps: Vec<Gap>,
}

/// The sizes and counts of one type.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TypeUsage {
    /// The resource.
    pub resource: Arc<ApiResource>,
    /// The recorded namespaces: an empty name for all, and none if no mark shows them.
    pub namespaces: Vec<Arc<str>>,
    /// The recorded versions.
    pub versions: u64,
    /// The objects at the end.
    pub objects: u64,
    /// The bytes of the bodies in sealed segments.
    pub body_bytes: u64,
    /// The bytes of the rows in sealed segments.
    pub row_bytes: u64,
    /// The bytes of the columns in sealed segments: order, kinds, authors, lengths, names.
    pub column_bytes: u64,
    /// Of these, the bytes of the names with their filters.
    pub name_bytes: u64,
    /// The bytes in keyframes.
    pub keyframe_bytes: u64,
    /// The share of the journal, whose types are compressed together: that of the texts before compression.
    pub journal_bytes: u64,
}
