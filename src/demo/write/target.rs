//! The target and the result of a write.

use std::sync::Arc;

use crate::demo::kinds::{Kind, KindId};
use crate::demo::store::StoredObject;

/// The target of a request.
#[derive(Debug, Clone)]
pub(in crate::demo) struct Target {
    pub(in crate::demo) id: KindId,
    pub(in crate::demo) kind: Arc<Kind>,
    /// Empty for a cluster-scoped object.
    pub(in crate::demo) namespace: String,
    pub(in crate::demo) name: String,
    /// `status` or `scale`.
    pub(in crate::demo) subresource: Option<String>,
}

/// The result of a write.
pub(in crate::demo) struct Written {
    pub(in crate::demo) stored: Arc<StoredObject>,
    pub(in crate::demo) created: bool,
    /// Warnings for the client.
    pub(in crate::demo) warnings: Vec<String>,
}
