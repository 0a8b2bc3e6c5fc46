//! The result of a write.

use std::sync::Arc;

use crate::server::source::StoredObject;

/// The result of a write.
pub(in crate::demo) struct Written {
    pub(in crate::demo) stored: Arc<StoredObject>,
    pub(in crate::demo) created: bool,
    /// Warnings for the client.
    pub(in crate::demo) warnings: Vec<String>,
}
