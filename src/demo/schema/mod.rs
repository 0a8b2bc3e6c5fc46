//! Schemas of built-in resources, from a committed file, and of custom resources, from their definitions.
//!
//! They serve the `OpenAPI` documents, the detection of unknown and missing fields, and the keys of list elements.

mod built_in;
mod check;
mod custom;
mod node;
mod required;
mod resources;

pub(super) use check::check;
pub(super) use custom::invalid;
pub(super) use node::Node;
pub(super) use required::missing;
pub(super) use resources::{built_in_schemas, of};
