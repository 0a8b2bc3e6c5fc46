//! The groups of an index as they are printed, and the options of the output.

use std::sync::Arc;

use kdelta::query::{Aggregate, Group, GroupKey, Number};

use crate::output::delimited::DelimitedFormat;
use crate::output::typed::TypedFormat;

/// The meaning of the values and results of groups.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct GroupColumns {
    /// The indices as they are typed, at least one. With several, the last one has the columns of a table.
    pub(crate) indices: Vec<String>,
    pub(crate) aggregates: Vec<AggregateHeading>,
    /// The names of the contexts by scope; `None` if there is only one.
    pub(crate) contexts: Option<Vec<String>>,
}

/// An aggregate of each group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AggregateHeading {
    pub(crate) aggregate: Aggregate,
    /// The path as it is typed.
    pub(crate) path: String,
}

/// A group with its count and the results of the aggregates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GroupCount {
    pub(crate) key: GroupKey,
    pub(crate) count: usize,
    /// One for each aggregate; `None` without a number.
    pub(crate) results: Vec<Option<Number>>,
}

impl GroupCount {
    /// Creates a group of a single index without aggregates.
    pub(crate) fn of_value(scope: usize, value: &str, count: usize) -> Self {
        let values = Box::new([Some(Arc::from(value))]);
        Self { key: GroupKey { scope, values }, count, results: Vec::new() }
    }

    /// Computes the aggregates of a group. `paths` has the position of the path of each.
    pub(crate) fn of(key: &GroupKey, group: &Group, columns: &GroupColumns, paths: &[usize]) -> Self {
        let results = columns.aggregates.iter().zip(paths);
        let results = results.map(|(heading, path)| group.aggregate(heading.aggregate, *path)).collect();
        Self { key: key.clone(), count: group.count(), results }
    }
}

/// The order of groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum GroupOrder {
    /// By context, then by value.
    #[default]
    Value,
    /// By a measure, the largest first.
    Measure(Measure),
}

/// A number of each group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Measure {
    #[default]
    Count,
    /// The aggregate at this position.
    Aggregate(usize),
}

/// The selection, order and format of groups.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CountOptions {
    pub(crate) order: GroupOrder,
    /// The number of values, or rows of a table, with the largest measure.
    pub(crate) top: Option<usize>,
    pub(crate) format: CountFormat,
    pub(crate) headers: bool,
}

/// The format of counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CountFormat {
    /// A table.
    Table {
        /// The width of the terminal, up to which bars are drawn; `None` draws none.
        bars_to: Option<usize>,
        /// The heading that decides which values are coloured; `None` colours none.
        meaning: Option<String>,
    },
    /// One document: `{"index": "node", "values": [{"count": 3, "value": "a"}]}`.
    Documents { format: TypedFormat, for_terminal: bool },
    /// The values alone, one on each line; the values of several indices are separated by tabs.
    Names,
    /// CSV or Markdown.
    Delimited(DelimitedFormat),
}
