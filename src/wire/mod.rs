//! The Kubernetes wire formats: bytes to objects and back. Pure, no I/O.
//!
//! - [`ListSplitter`] and [`WatchSplitter`] cut a body that arrives in chunks into single values.
//! - `decode` makes objects of them, whether they are JSON, rows of a Table or Protocol Buffers.
//! - `status` maps a refusal to an error by its meaning.
//! - `discovery` reads the documents that describe a server's resources, [`openapi`] those that describe their fields.

mod age;
pub(crate) mod decode;
pub(crate) mod discovery;
pub(crate) mod frames;
pub(crate) mod list_type;
mod malformed;
pub mod openapi;
pub(crate) mod protobuf;
pub(crate) mod representation;
pub(crate) mod row_matcher;
pub(crate) mod status;
mod table;

pub use discovery::{DiscoveredResource, UnavailableGroup};
pub use frames::{Limits, ListSplitter, Piece, WatchSplitter};
pub use representation::{IncludeObject, Representation};
