//! Finite tables of the program itself, such as the values of an index: laid out at once, without borders.

use std::io::{self, Write};

use super::table::MAX_WIDTH;
use crate::view::{GAP, PLAIN, display_width, escape_cell, severity};

/// The narrowest text column, as in kubectl.
const NARROWEST: usize = 3;

/// A column of such a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Column<'a> {
    /// Left-aligned text.
    Text(&'a str),
    /// Left-aligned text, whose abnormal cells are coloured.
    Coloured {
        heading: &'a str,
        /// The heading that decides which cells are abnormal.
        meaning: &'a str,
    },
    /// A right-aligned number.
    Number(&'a str),
}

impl Column<'_> {
    /// Returns the heading, which may be a value of an object.
    fn heading(self) -> String {
        let (Self::Text(heading) | Self::Coloured { heading, .. } | Self::Number(heading)) = self;
        clipped(heading)
    }

    fn cell(self, text: &str) -> String {
        match self {
            Self::Text(_) | Self::Coloured { .. } => clipped(text),
            Self::Number(_) => text.to_owned(),
        }
    }

    /// Returns the sequences around a cell.
    fn colour(self, cell: &str) -> (&'static str, &'static str) {
        match self {
            Self::Coloured { meaning, .. } => {
                severity(meaning, cell).map_or(("", ""), |severity| (severity.colour().start(), PLAIN))
            }
            Self::Text(_) | Self::Number(_) => ("", ""),
        }
    }

    /// Appends a cell in a column of that width, and the gap after it.
    fn draw(self, cell: &str, width: usize, colour: (&str, &str), line: &mut String) {
        let blanks = " ".repeat(width - display_width(cell));
        let (start, end) = colour;
        let texts = match self {
            Self::Number(_) => [&*blanks, cell, ""],
            Self::Text(_) | Self::Coloured { .. } => [start, cell, end],
        };
        line.extend(texts);
        if !matches!(self, Self::Number(_)) {
            line.push_str(&blanks);
        }
        line.push_str(&" ".repeat(GAP));
    }
}

/// Returns the text of a cell on one line. Every other line is padded to the widest cell.
fn clipped(text: &str) -> String {
    let cell = escape_cell(text);
    match cell.char_indices().nth(MAX_WIDTH) {
        Some((end, _)) => format!("{}...", &cell[..end]),
        None => cell.into_owned(),
    }
}

/// Writes all rows; nothing if there are none. Headings and cells are escaped; each row has one cell per column.
///
/// # Errors
/// `out` failed.
pub(crate) fn columns(
    columns: &[Column<'_>],
    rows: impl IntoIterator<Item = Vec<String>>,
    headers: bool,
    out: &mut impl Write,
) -> io::Result<()> {
    aligned(columns, rows, headers, &mut Vec::new(), out)
}

/// Writes rows as [`columns`] does, in columns of at least these widths, which grow to those of the rows.
///
/// # Errors
/// `out` failed.
pub(crate) fn aligned(
    columns: &[Column<'_>],
    rows: impl IntoIterator<Item = Vec<String>>,
    headers: bool,
    widths: &mut Vec<usize>,
    out: &mut impl Write,
) -> io::Result<()> {
    let cells = |row: Vec<String>| row.iter().zip(columns).map(|(cell, column)| column.cell(cell)).collect();
    let rows: Vec<Vec<String>> = rows.into_iter().map(cells).collect();
    if rows.is_empty() {
        return Ok(());
    }
    widths.resize(columns.len(), 0);
    for (at, (column, width)) in columns.iter().zip(widths.iter_mut()).enumerate() {
        let heading = if headers { display_width(&column.heading()) } else { 0 };
        let narrowest = if matches!(column, Column::Number(_)) { 0 } else { NARROWEST };
        let cells = rows.iter().filter_map(|row| row.get(at)).map(|cell| display_width(cell));
        *width = cells.chain([heading, narrowest, *width]).max().unwrap_or_default();
    }
    if headers {
        let headings: Vec<String> = columns.iter().map(|column| column.heading()).collect();
        write_row(columns, widths, &headings, |_, _| ("", ""), out)?;
    }
    for row in &rows {
        write_row(columns, widths, row, Column::colour, out)?;
    }
    out.flush()
}

fn write_row<'c>(
    columns: &[Column<'c>],
    widths: &[usize],
    cells: &[String],
    colour: impl Fn(Column<'c>, &str) -> (&'static str, &'static str),
    out: &mut impl Write,
) -> io::Result<()> {
    let mut line = String::new();
    for ((column, width), cell) in columns.iter().zip(widths).zip(cells) {
        column.draw(cell, *width, colour(*column, cell), &mut line);
    }
    writeln!(out, "{}", line.trim_end())
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
    fn abnormal_values_are_coloured_without_a_change_of_widths() {
        let mut out = Vec::new();
        let heads = [Column::Coloured { heading: "VALUE", meaning: "PHASE" }, Column::Number("COUNT")];
        let rows = ["Failed", "Running"].map(|value| vec![value.to_owned(), "3".to_owned()]);
        columns(&heads, rows, true, &mut out).expect("a Vec takes all");
        assert_eq!(
            String::from_utf8(out).expect("text"),
            "VALUE     COUNT\n\x1b[31mFailed\x1b[0m        3\nRunning       3\n"
        );
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
