//! The groups of an index with their counts and aggregates: tables, with bars on a terminal, documents, names, CSV and
//! Markdown.

mod bars;
mod document;
mod group_count;
mod live;
mod order;
mod rows;
mod table;
#[cfg(test)]
mod tests;
mod write;

pub(crate) use group_count::{
    AggregateHeading, CountFormat, CountOptions, GroupColumns, GroupCount, GroupOrder, Measure,
};
pub(crate) use live::{LiveCounts, ReadMember};
pub(crate) use write::write_counts;
