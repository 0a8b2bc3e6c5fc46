//! The kind that a schema or an operation is for.

use std::fmt;

use serde::Deserialize;

/// A kind with its group and version (`x-kubernetes-group-version-kind`). Prints as Go's `GroupVersionKind`:
/// `apps/v1, Kind=Deployment`, and `/v1, Kind=Pod` in the core group.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct GroupVersionKind {
    /// The group; empty for the core group.
    pub group: String,
    /// The version within the group.
    pub version: String,
    /// `Pod`, `Deployment`, …
    pub kind: String,
}

impl fmt::Display for GroupVersionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}, Kind={}", self.group, self.version, self.kind)
    }
}
