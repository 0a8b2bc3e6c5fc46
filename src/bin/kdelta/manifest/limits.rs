//! The limits for texts that anyone may have written.

/// The largest text of a source, in bytes: the whole state of a large cluster.
pub(super) const TEXT_LIMIT: usize = 64 << 20;

/// The deepest nesting of a document. The objects of the API are a tenth of it.
pub(super) const DEPTH: usize = 100;
