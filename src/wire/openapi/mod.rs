//! The `OpenAPI` documents of a server: the index of version 3, its documents of one group version each, and the single
//! document of version 2.
//!
//! Only what describes the fields of objects is kept: the schemas, and the kind behind each path. JSON nested deeper than
//! 128 levels is an error. References between schemas are not resolved here and may form circles.

mod enum_text;
mod index;
mod kind;
mod schema;
#[cfg(test)]
mod tests;
mod v2;
mod v3;

pub use index::OpenApiIndex;
pub use kind::GroupVersionKind;
pub use schema::{ExternalDocs, Schema};
pub use v2::OpenApiV2;
pub use v3::OpenApiV3;
