//! The result of a create, update or patch: the stored object, and warnings.

use std::sync::Arc;

use crate::server::source::StoredObject;

/// A stored object and the warnings about its write.
pub(in crate::demo) struct WriteResult {
    pub(in crate::demo) stored: Arc<StoredObject>,
    /// Whether the write created the object.
    pub(in crate::demo) created: bool,
    /// The texts of `Warning` headers.
    pub(in crate::demo) warnings: Vec<String>,
}
