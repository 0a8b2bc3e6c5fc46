//! A read-only Kubernetes API over a [`source::Source`]: discovery, lists with pages, watches, Tables, metadata-only
//! representations and `OpenAPI` documents.
//!
//! An owner that accepts writes gives the server a [`router::Handler`] for them. Without one, writes fail with 405.

pub(crate) mod alternate_versions;
pub(crate) mod api_error;
pub(crate) mod clock;
pub(crate) mod connections;
pub(crate) mod discovery;
pub(crate) mod http;
pub(crate) mod in_memory;
pub(crate) mod list;
mod metrics;
pub(crate) mod openapi;
pub(crate) mod representations;
pub(crate) mod resources;
pub(crate) mod router;
mod selectable_fields;
pub(crate) mod selection;
pub(crate) mod source;
pub(crate) mod target;
#[cfg(feature = "serve")]
pub(crate) mod tls;
mod watch;

#[cfg(test)]
mod memory_source;
