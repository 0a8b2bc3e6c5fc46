//! Finite tables of the program itself, such as the values of an index: laid out at once, without borders.

use std::io::{self, Write};

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

use super::table::MAX_WIDTH;
use crate::view::escape_cell;

/// A column of such a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Column {
    /// Left-aligned text.
    Text(&'static str),
    /// A right-aligned number.
    Number(&'static str),
}

impl Column {
    fn heading(self) -> &'static str {
        match self {
            Self::Text(heading) | Self::Number(heading) => heading,
        }
    }

    fn cell(self, text: &str) -> String {
        match self {
            Self::Text(_) => {
                let cell = escape_cell(text);
                // Every other line is padded to the widest cell.
                match cell.char_indices().nth(MAX_WIDTH) {
                    Some((end, _)) => format!("{}...", &cell[..end]),
                    None => format!("{cell:<3}"),
                }
            }
            Self::Number(_) => text.to_owned(),
        }
    }
}

/// Writes all rows; nothing if there are none. Cells are escaped; each row has one cell per column.
///
/// # Errors
/// `out` failed.
pub(crate) fn columns(
    columns: &[Column],
    rows: impl IntoIterator<Item = Vec<String>>,
    headers: bool,
    out: &mut impl Write,
) -> io::Result<()> {
    let mut table = Table::new();
    // Lines are never wrapped to the terminal width, as in kubectl.
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    if headers {
        table.set_header(columns.iter().map(|column| column.heading()));
    }
    table.add_rows(
        // Columns are at least as wide as kubectl's.
        rows.into_iter()
            .map(|row| row.iter().zip(columns).map(|(cell, column)| column.cell(cell)).collect::<Vec<_>>()),
    );
    if table.is_empty() {
        return Ok(());
    }
    for (column, drawn) in columns.iter().zip(table.column_iter_mut()) {
        drawn.set_padding((0, 3));
        if matches!(column, Column::Number(_)) {
            drawn.set_cell_alignment(CellAlignment::Right);
        }
    }
    for line in table.lines() {
        writeln!(out, "{}", line.trim_end())?;
    }
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(rows: &[(&str, u32)], headers: bool) -> String {
        let mut out = Vec::new();
        let rows = rows.iter().map(|(value, count)| vec![(*value).to_owned(), count.to_string()]);
        columns(&[Column::Text("VALUE"), Column::Number("COUNT")], rows, headers, &mut out)
            .expect("a Vec takes all");
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn numbers_are_right_aligned() {
        assert_eq!(
            drawn(&[("kube-system", 12), ("shop", 3412), ("", 1)], true),
            "VALUE         COUNT\nkube-system      12\nshop           3412\n                  1\n"
        );
        assert_eq!(drawn(&[("shop", 1)], false), "shop   1\n");
    }

    #[test]
    fn text_columns_have_kubectls_minimum_width() {
        assert_eq!(drawn(&[("a", 1)], false), "a     1\n");
    }

    #[test]
    fn huge_value_is_cut() {
        let huge = "x".repeat(1_000_000);
        let text = drawn(&[(&huge, 1), ("a", 2)], false);
        assert_eq!(text.len(), 2 * (MAX_WIDTH + "...".len() + 3 + 1 + 1));
        assert!(text.starts_with(&format!("{}...   1\n", &huge[..MAX_WIDTH])));
    }

    #[test]
    fn header_needs_rows() {
        assert_eq!(drawn(&[], true), "");
    }

    #[test]
    fn cells_are_escaped() {
        assert_eq!(drawn(&[("\x1b[31mred\nx", 1)], false), "^[[31mred...   1\n");
    }
}
