//! The published JSON lines of a watch: one line per delta and mark, a superset of kubectl's `{"type","object"}`.
//!
//! [`LineWriter`] writes them and [`Line::read`] reads them. The schema of the lines is `schema/watch-line.schema.json`
//! in the repository. The order of the fields is that of [`FIELDS`]. A later version may add fields and types to
//! format 1; a line whose meaning changes has another format.

mod model;
mod reader;
#[cfg(test)]
mod tests;
mod writer;

pub use model::{Change, ChangeKind, Mark, MarkKind};
pub use reader::{Line, ReadError};
pub use writer::{LineOptions, LineWriter};

/// The format of the lines, their field `v`.
const FORMAT: u64 = 1;

/// The fields of a line, in order.
pub const FIELDS: [&str; 24] = [
    "v",
    "seq",
    "ts",
    "type",
    "origin",
    "resume",
    "context",
    "group",
    "version",
    "kind",
    "resource",
    "namespace",
    "name",
    "uid",
    "from",
    "to",
    "seconds",
    "resourceVersion",
    "object",
    "finalStateUnknown",
    "old",
    "changes",
    "manager",
    "subresource",
];
