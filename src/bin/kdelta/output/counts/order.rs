//! The order and the selection of groups.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kdelta::query::Number;

use super::group_count::{CountOptions, GroupCount, GroupOrder, Measure};

/// The values of the indices that have the rows, in a scope.
pub(super) type RowKey = (usize, Box<[Option<Arc<str>>]>);

/// Groups in the order in which they are printed.
#[derive(Debug, Default)]
pub(super) struct OrderedGroups {
    /// The groups with a value of every index.
    pub(super) groups: Vec<GroupCount>,
    /// The rows of a table, each with its total.
    pub(super) rows: Vec<GroupCount>,
    /// The totals of the columns, in each scope.
    pub(super) columns: Vec<GroupCount>,
    /// The total of each scope.
    pub(super) totals: Vec<GroupCount>,
    /// The values of the last index in the order of the columns.
    pub(super) column_values: Vec<Arc<str>>,
}

/// Orders the groups of one index, or of several with their totals.
pub(super) fn order_groups(groups: Vec<GroupCount>, options: &CountOptions) -> OrderedGroups {
    let is_table = groups.iter().any(|group| group.key.values.len() > 1);
    if !is_table {
        return OrderedGroups { groups: selected(groups, options), ..OrderedGroups::default() };
    }
    let mut ordered = OrderedGroups::default();
    for group in groups {
        let (column, row) =
            group.key.values.split_last().map_or((false, false), |(column, rows)| {
                (column.is_some(), rows.iter().all(Option::is_some))
            });
        match (row, column) {
            (true, true) => ordered.groups.push(group),
            (true, false) => ordered.rows.push(group),
            (false, true) => ordered.columns.push(group),
            (false, false) => ordered.totals.push(group),
        }
    }
    ordered.rows = selected(ordered.rows, options);
    let mut columns: Vec<&GroupCount> = ordered.columns.iter().collect();
    if let GroupOrder::Measure(measure) = options.order {
        columns.sort_by_key(|group| Reverse(rank(group, measure)));
    }
    let mut seen = BTreeSet::new();
    let values = columns.iter().filter_map(|group| group.key.values.last()?.clone());
    ordered.column_values = values.filter(|value| seen.insert(Arc::clone(value))).collect();
    // Cells are in the order of their rows and columns.
    let rows = ordered.rows.iter().enumerate().map(|(at, row)| (row_key(row), at));
    let rows: BTreeMap<RowKey, usize> = rows.collect();
    let columns = ordered.column_values.iter().enumerate().map(|(at, value)| (Arc::clone(value), at));
    let columns: BTreeMap<Arc<str>, usize> = columns.collect();
    let place = |group: &GroupCount| {
        let column = group.key.values.last().and_then(Option::as_ref).and_then(|value| columns.get(value));
        Some((*rows.get(&row_key(group))?, column.copied()?))
    };
    ordered.groups.retain(|group| place(group).is_some());
    ordered.groups.sort_by_key(place);
    ordered
}

/// Returns the values of the row of a group.
pub(super) fn row_key(group: &GroupCount) -> RowKey {
    let rows = group.key.values.split_last().map_or(&[][..], |(_, rows)| rows);
    (group.key.scope, rows.into())
}

/// Selects the groups with the largest measure, and orders them. Groups come in the order of their keys.
fn selected(groups: Vec<GroupCount>, options: &CountOptions) -> Vec<GroupCount> {
    let mut groups: Vec<(usize, GroupCount)> = groups.into_iter().enumerate().collect();
    let measure = match options.order {
        GroupOrder::Measure(measure) => Some(measure),
        GroupOrder::Value => options.top.map(|_| Measure::Count),
    };
    if let Some(measure) = measure {
        // Stable: equal groups stay in the order of their values.
        groups.sort_by_key(|(_, group)| Reverse(rank(group, measure)));
        groups.truncate(options.top.unwrap_or(usize::MAX));
    }
    if options.order == GroupOrder::Value {
        groups.sort_by_key(|(place, _)| *place);
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

/// Returns the measure for comparisons; without a number it is the smallest.
fn rank(group: &GroupCount, measure: Measure) -> Option<i128> {
    match measure {
        Measure::Count => i128::try_from(group.count).ok(),
        Measure::Aggregate(at) => group.results.get(at).copied().flatten().map(Number::nanos),
    }
}

/// Returns the length of the bar of a group, in any unit.
pub(super) fn size(group: &GroupCount, measure: Measure) -> u128 {
    rank(group, measure).map_or(0, |rank| u128::try_from(rank).unwrap_or_default())
}
