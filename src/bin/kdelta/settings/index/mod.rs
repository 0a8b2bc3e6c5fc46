//! The validated arguments of `kdelta index`.

#[cfg(test)]
pub(crate) mod tests;

use std::time::Duration;

use kdelta::query::Aggregate;

use super::by::{By, Condition};
use super::selection::Selection;
use super::{UsageError, duration};
use crate::args::{AggregateArgs, CountOrder, IndexArgs, OneShotArgs, PlanForm};

/// The `-o` values of `kdelta index`.
pub(crate) const INDEX_FORMATS: &str = "csv,json,kyaml,markdown,name,yaml";

/// `kdelta index`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct Index {
    pub(crate) selection: Selection,
    /// At least one. With several, the last one has the columns of a table. None is [`Condition::Absent`].
    pub(crate) by: Vec<By>,
    pub(crate) aggregates: Vec<AggregateColumn>,
    pub(crate) format: IndexFormat,
    /// The order of the values. An aggregate is one of `aggregates`.
    pub(crate) order: CountOrder,
    /// The number of values to print, those with the largest counts or aggregates; `None` prints all.
    pub(crate) top: Option<usize>,
    /// Whether values from the data of Secrets are shown.
    pub(crate) show_secrets: bool,
    pub(crate) headers: bool,
    /// Whether an empty result is a failure.
    pub(crate) fail_if_empty: bool,
    /// Whether statistics are printed.
    pub(crate) stats: bool,
    /// The form of the plan that is printed instead of the groups.
    pub(crate) explain: Option<PlanForm>,
    /// Whether the groups are kept up to date.
    pub(crate) watch: bool,
    /// The time after which a watch ends.
    pub(crate) duration: Option<Duration>,
}

/// An aggregate of the numbers at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AggregateColumn {
    pub(crate) aggregate: Aggregate,
    /// Unparsed, for the library's `FieldPath`.
    pub(crate) path: String,
}

/// The `-o` value of `kdelta index`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IndexFormat {
    Table,
    Json,
    Yaml,
    Kyaml,
    Name,
    Csv,
    Markdown,
}

impl IndexFormat {
    /// Whether a document can have several aggregates of each combination of values.
    fn is_document(self) -> bool {
        matches!(self, Self::Json | Self::Yaml | Self::Kyaml)
    }

    fn read(text: &str) -> Result<Self, UsageError> {
        Ok(match text.to_lowercase().as_str() {
            "" => Self::Table,
            "json" => Self::Json,
            "yaml" => Self::Yaml,
            "kyaml" => Self::Kyaml,
            "name" => Self::Name,
            "csv" => Self::Csv,
            "markdown" => Self::Markdown,
            _ => {
                return Err(UsageError::OutputFormat { format: text.to_owned(), allowed: INDEX_FORMATS });
            }
        })
    }
}

impl Index {
    pub(super) fn read(args: &IndexArgs, selection: Selection) -> Result<Self, UsageError> {
        let by = By::parse_all(&args.by)?;
        if let Some(absent) = by.iter().find(|by| by.condition == Condition::Absent) {
            return Err(UsageError::NoValues(absent.to_string()));
        }
        let format = IndexFormat::read(args.output.as_deref().unwrap_or_default())?;
        let aggregates = aggregates(&args.aggregates);
        if by.len() > 1 && aggregates.len() > 1 && !format.is_document() {
            return Err(UsageError::SeveralAggregates);
        }
        let order = args.sort_by.unwrap_or(CountOrder::Value);
        if let Some(missing) =
            aggregate_of(order).filter(|order| !aggregates.iter().any(|column| column.aggregate == *order))
        {
            return Err(UsageError::SortedAggregate(missing.name()));
        }
        let OneShotArgs { fail_if_empty, stats } = args.one_shot;
        match () {
            () if args.watch && fail_if_empty => return Err(UsageError::WatchIsNeverEmpty),
            () if args.watch && stats => return Err(UsageError::StatsOfAWatch),
            () if !args.watch && args.duration.is_some() => return Err(UsageError::NeedsWatch("duration")),
            () => {}
        }
        Ok(Self {
            selection: selection.with_conditions(&by),
            by,
            aggregates,
            format,
            order: if args.top.is_some() && args.sort_by.is_none() { CountOrder::Count } else { order },
            top: args.top.map(|top| usize::try_from(top).unwrap_or(usize::MAX)),
            show_secrets: args.show_secrets,
            headers: !args.no_headers,
            fail_if_empty,
            stats,
            explain: args.plan.explain,
            watch: args.watch,
            duration: args.duration.as_deref().map(duration::parse_seconds).transpose()?,
        })
    }

    /// Returns the position of the aggregate that orders the values.
    pub(crate) fn ordering_aggregate(&self) -> Option<usize> {
        let aggregate = aggregate_of(self.order)?;
        self.aggregates.iter().position(|column| column.aggregate == aggregate)
    }
}

/// Returns the aggregates in the order of their columns.
fn aggregates(args: &AggregateArgs) -> Vec<AggregateColumn> {
    let AggregateArgs { sum, avg, min, max } = args;
    let of = |aggregate, paths: &Vec<String>| {
        paths.iter().map(|path| AggregateColumn { aggregate, path: path.clone() }).collect::<Vec<_>>()
    };
    [of(Aggregate::Sum, sum), of(Aggregate::Avg, avg), of(Aggregate::Min, min), of(Aggregate::Max, max)]
        .concat()
}

fn aggregate_of(order: CountOrder) -> Option<Aggregate> {
    match order {
        CountOrder::Value | CountOrder::Count => None,
        CountOrder::Sum => Some(Aggregate::Sum),
        CountOrder::Avg => Some(Aggregate::Avg),
        CountOrder::Min => Some(Aggregate::Min),
        CountOrder::Max => Some(Aggregate::Max),
    }
}
