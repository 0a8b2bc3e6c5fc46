//! The rows and columns of groups: a row for each value of one index, or a cross table of several.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::Arc;

use kdelta::query::Number;

use super::group_count::{AggregateHeading, GroupColumns, GroupCount};
use super::order::{OrderedGroups, RowKey, row_key};
use crate::output::columns::Column;
use crate::output::delimited::{DelimitedFormat, write_rows};

/// The heading of the totals of rows, and the name of the row of the totals of columns.
const TOTAL: &str = "TOTAL";

/// The heading of the values of a single index.
const VALUE: &str = "VALUE";

/// The heading of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Heading {
    /// For a person who reads a table.
    short: String,
    /// For CSV and Markdown.
    full: String,
    is_number: bool,
}

/// A table of texts.
#[derive(Debug)]
pub(super) struct TextTable {
    headings: Vec<Heading>,
    pub(super) rows: Vec<Vec<String>>,
}

impl Heading {
    fn text(text: &str) -> Self {
        Self { short: text.to_owned(), full: text.to_owned(), is_number: false }
    }

    fn number(text: &str) -> Self {
        Self { is_number: true, ..Self::text(text) }
    }

    /// `SUM(MEMORY)`, and `sum(spec.containers[*].resources.requests.memory)`.
    fn aggregate(heading: &AggregateHeading, is_ambiguous: bool) -> Self {
        let name = heading.aggregate.name();
        let full = format!("{name}({})", heading.path);
        let last = if is_ambiguous { &heading.path } else { last_name(&heading.path) };
        Self { short: format!("{name}({last})").to_uppercase(), full, is_number: true }
    }
}

impl TextTable {
    /// Returns the columns of an aligned table. The values of an index are coloured by `meaning`.
    pub(super) fn columns<'a>(&'a self, meaning: Option<&'a str>) -> Vec<Column<'a>> {
        let is_value = |heading: &Heading| heading.short == VALUE;
        let column = |heading: &'a Heading| match meaning {
            _ if heading.is_number => Column::Number(&heading.short),
            Some(meaning) if is_value(heading) => Column::Coloured { heading: &heading.short, meaning },
            _ => Column::Text(&heading.short),
        };
        self.headings.iter().map(column).collect()
    }

    /// Writes the table as CSV or Markdown, with a header if `headers`.
    ///
    /// # Errors
    /// `out` failed.
    pub(super) fn write_delimited(
        &self,
        format: DelimitedFormat,
        headers: bool,
        out: &mut impl Write,
    ) -> io::Result<()> {
        let headings: Vec<&str> = self.headings.iter().map(|heading| &*heading.full).collect();
        let rows = self.rows.iter().map(|row| row.iter().map(String::as_str).collect());
        write_rows(format, &headings, rows, headers, out)
    }
}

/// Returns the format of numbers in CSV or Markdown: spreadsheets read no suffixes.
pub(super) fn delimited_number(format: DelimitedFormat) -> fn(&Number) -> String {
    match format {
        DelimitedFormat::Csv => |number| number.plain(),
        DelimitedFormat::Markdown => ToString::to_string,
    }
}

/// Returns the table of groups, with numbers as texts.
pub(super) fn text_table(
    columns: &GroupColumns,
    ordered: &OrderedGroups,
    number: impl Fn(&Number) -> String,
) -> TextTable {
    if columns.indices.len() == 1 {
        list(columns, &ordered.groups, number)
    } else {
        cross_table(columns, ordered, number)
    }
}

/// Returns a row for each group: its values, its count and the aggregates.
pub(super) fn list(
    columns: &GroupColumns,
    groups: &[GroupCount],
    number: impl Fn(&Number) -> String,
) -> TextTable {
    let is_ambiguous = |heading: &AggregateHeading| {
        let alike = columns.aggregates.iter().filter(|other| {
            other.aggregate == heading.aggregate && last_name(&other.path) == last_name(&heading.path)
        });
        alike.count() > 1
    };
    let aggregates =
        columns.aggregates.iter().map(|heading| Heading::aggregate(heading, is_ambiguous(heading)));
    let values = match columns.indices.as_slice() {
        [_] => vec![Heading::text(VALUE)],
        several => several.iter().map(|index| Heading::text(&heading_of(index))).collect(),
    };
    let context = columns.contexts.is_some().then(|| Heading::text("CONTEXT"));
    let headings = context.into_iter().chain(values).chain([Heading::number("COUNT")]);
    let headings = headings.chain(aggregates).collect();
    let row = |group: &GroupCount| {
        let values = group.key.values.iter().map(|value| text(value.as_ref()));
        let results = group.results.iter().map(|result| result.as_ref().map_or_else(String::new, &number));
        let count = std::iter::once(group.count.to_string());
        context_of(columns, group.key.scope)
            .into_iter()
            .chain(values)
            .chain(count)
            .chain(results)
            .collect::<Vec<_>>()
    };
    TextTable { headings, rows: groups.iter().map(row).collect() }
}

/// Returns a row for each combination of the values of all indices but the last, and a column for each value of the last.
/// The cells have the only aggregate, or else the count.
fn cross_table(
    columns: &GroupColumns,
    ordered: &OrderedGroups,
    number: impl Fn(&Number) -> String,
) -> TextTable {
    let cell = |group: Option<&GroupCount>| match group {
        Some(group) if columns.aggregates.is_empty() => group.count.to_string(),
        Some(group) => group.results.first().copied().flatten().as_ref().map_or_else(String::new, &number),
        None if columns.aggregates.is_empty() => "0".to_owned(),
        None => String::new(),
    };
    let row_indices = columns.indices.split_last().map_or(&[][..], |(_, rows)| rows);
    let headings = columns.contexts.is_some().then(|| Heading::text("CONTEXT")).into_iter();
    let headings = headings.chain(row_indices.iter().map(|index| Heading::text(&heading_of(index))));
    let headings = headings.chain(ordered.column_values.iter().map(|value| Heading::number(value)));
    let headings = headings.chain([Heading::number(TOTAL)]).collect();

    let by_cell = |group: &GroupCount| (row_key(group), group.key.values.last().cloned().flatten());
    let all = ordered.groups.iter().chain(&ordered.columns);
    let cells: BTreeMap<(RowKey, Option<Arc<str>>), &GroupCount> =
        all.map(|group| (by_cell(group), group)).collect();
    let row = |total: &GroupCount| {
        let key = row_key(total);
        let names = total.key.values.iter().take(row_indices.len());
        // The row of the totals of columns has no values.
        let names = names.enumerate().map(|(at, value)| match value {
            None if at == 0 => TOTAL.to_owned(),
            value => text(value.as_ref()),
        });
        let numbers = ordered
            .column_values
            .iter()
            .map(|value| cell(cells.get(&(key.clone(), Some(Arc::clone(value)))).copied()));
        let end = std::iter::once(cell(Some(total)));
        context_of(columns, total.key.scope)
            .into_iter()
            .chain(names)
            .chain(numbers)
            .chain(end)
            .collect::<Vec<_>>()
    };
    // The total of each context is below its rows, unless their order mixes the contexts.
    let mut rows: Vec<&GroupCount> = ordered.rows.iter().collect();
    let is_grouped = rows.is_sorted_by_key(|row| row.key.scope);
    if is_grouped {
        rows.extend(&ordered.totals);
        rows.sort_by_key(|row| (row.key.scope, row.key.values.first().is_none_or(Option::is_none)));
    } else {
        rows.extend(&ordered.totals);
    }
    TextTable { headings, rows: rows.into_iter().map(row).collect() }
}

fn context_of(columns: &GroupColumns, scope: usize) -> Option<String> {
    columns.contexts.as_ref().map(|contexts| contexts.get(scope).cloned().unwrap_or_default())
}

fn text(value: Option<&Arc<str>>) -> String {
    value.map_or_else(String::new, ToString::to_string)
}

/// Returns the heading of an index: the last name of a path or key, as kubectl's `-L` has it.
fn heading_of(index: &str) -> String {
    let name = match index.split_once(':') {
        Some(("field", path)) => last_name(path),
        Some((_, key)) => key.rsplit('/').next().unwrap_or(key),
        None => index,
    };
    name.to_uppercase()
}

/// Returns the last name of a path, without brackets.
fn last_name(path: &str) -> &str {
    let path = path.trim_end_matches(['}', ')', ']', '*', '[', '.', '\'', '"']);
    path.rsplit(['.', '[', '\'', '"', '/']).next().unwrap_or(path)
}
