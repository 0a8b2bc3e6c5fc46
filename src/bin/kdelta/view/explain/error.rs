//! The reasons why a schema can't be explained.

use kdelta::wire::openapi::GroupVersionKind;

/// The reason why a resource or field can't be explained. The messages are kubectl's where it has one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ExplainError {
    /// No path of the document belongs to the resource.
    #[error("GVR ({group}/{version}, Resource={resource}) not found in OpenAPI schema")]
    NoResource { group: String, version: String, resource: String },
    /// No schema describes the kind.
    #[error("GVK map[group:{} kind:{} version:{}] not found in OpenAPI schema", .0.group, .0.kind, .0.version)]
    NoKind(GroupVersionKind),
    /// No schema on the path of fields has the field.
    #[error("field \"{0}\" does not exist")]
    NoField(String),
    /// The schemas are nested too deeply, for example in a circle.
    #[error("the server's schemas are nested too deeply to be explained")]
    TooDeep,
    /// The text would be too long.
    #[error("the server's schemas are too large to be explained")]
    TooLong,
}
