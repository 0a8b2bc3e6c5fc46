//! The rows of a table as CSV and Markdown: the same columns and cells, each row written as it arrives.

mod changes;
mod rows;
mod text;

pub(crate) use changes::DelimitedChanges;
pub(crate) use rows::{DelimitedRows, write_rows};
pub(crate) use text::DelimitedFormat;
