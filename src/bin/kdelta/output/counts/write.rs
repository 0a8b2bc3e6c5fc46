//! The output of all groups of an index, in each format.

use std::io::{self, Write};

use kdelta::query::Number;

use super::bars::with_bars;
use super::group_count::{CountFormat, CountOptions, GroupColumns, GroupCount, GroupOrder, Measure};
use super::rows::write_names;
use super::{document, order, table};
use crate::output::columns::columns;
use crate::output::typed::TypedDocuments;
use crate::view::display_width;

/// Writes the groups, in tables with a header if requested. A document is written even without groups.
///
/// # Errors
/// `out` failed.
pub(crate) fn write_counts(
    group_columns: &GroupColumns,
    groups: Vec<GroupCount>,
    options: &CountOptions,
    out: &mut impl Write,
) -> io::Result<()> {
    let ordered = order::order_groups(groups, options);
    match &options.format {
        CountFormat::Documents { format, for_terminal } => {
            let document = document::document(group_columns, &ordered);
            TypedDocuments::new(*format, *for_terminal).document(&document, out)?;
        }
        CountFormat::Names => write_names(&ordered.groups, out)?,
        CountFormat::Table { bars_to, meaning } => {
            let table = table::text_table(group_columns, &ordered, Number::to_string);
            if group_columns.indices.len() == 1 {
                let measure =
                    if let GroupOrder::Measure(measure) = options.order { measure } else { Measure::Count };
                let sizes: Vec<u128> =
                    ordered.groups.iter().map(|group| order::size(group, measure)).collect();
                let bars = bars_to.map(|width| (width, sizes));
                write_table(&table, meaning.as_deref(), options.headers, bars, out)?;
            } else {
                write_table(&table, None, options.headers, None, out)?;
            }
        }
        CountFormat::Delimited(format) => {
            let table = table::text_table(group_columns, &ordered, table::delimited_number(*format));
            table.write_delimited(*format, options.headers, out)?;
        }
    }
    out.flush()
}

/// Writes a table, with bars up to a width for sizes of its rows.
fn write_table(
    table: &table::TextTable,
    meaning: Option<&str>,
    headers: bool,
    bars: Option<(usize, Vec<u128>)>,
    out: &mut impl Write,
) -> io::Result<()> {
    let heads = table.columns(meaning);
    let rows = table.rows.iter().cloned();
    let Some((width, sizes)) = bars else { return columns(&heads, rows, headers, out) };
    // The last column is right-aligned: all lines have the width of the header.
    let mut text = Vec::new();
    columns(&heads, rows, true, &mut text)?;
    let text = String::from_utf8_lossy(&text);
    let Some((header, rows)) = text.split_once('\n') else { return Ok(()) };
    if headers {
        writeln!(out, "{header}")?;
    }
    out.write_all(with_bars(rows, &sizes, display_width(header), width).as_bytes())
}
