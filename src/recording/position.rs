//! The positions at which watches continue.

use std::sync::Arc;

use crate::object::{ApiResource, ResourceVersion};

/// The version up to which a part of a recording is complete: where a watch continues.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Position {
    /// The watched resource.
    pub resource: Arc<ApiResource>,
    /// The watched namespace; empty for all namespaces and for cluster-scoped types.
    pub namespace: Arc<str>,
    /// The watched name, for the watch of a single object.
    pub name: Option<Arc<str>>,
    /// The version.
    pub version: ResourceVersion,
}
