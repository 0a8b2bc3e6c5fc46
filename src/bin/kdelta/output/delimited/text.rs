//! One row of cells as CSV or as Markdown. Pure.

use crate::view::escape_line;

/// A format with one row per line, whose columns have no widths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DelimitedFormat {
    /// Comma-separated values with the quotes of RFC 4180. Lines end with a newline.
    Csv,
    /// A table of GitHub's Markdown.
    Markdown,
}

impl DelimitedFormat {
    /// Appends the lines of the headings.
    pub(super) fn header<'a>(self, headings: impl Iterator<Item = &'a str> + Clone, out: &mut String) {
        self.row(headings.clone(), out);
        if self == Self::Markdown {
            headings.for_each(|_| out.push_str("| --- "));
            out.push_str("|\n");
        }
    }

    /// Appends a line. Control characters of the cells are escaped.
    pub(super) fn row<'a>(self, cells: impl Iterator<Item = &'a str>, out: &mut String) {
        for (number, cell) in cells.enumerate() {
            let cell = escape_line(cell);
            match self {
                Self::Csv => {
                    out.push_str(if number > 0 { "," } else { "" });
                    quote(&cell, out);
                }
                Self::Markdown => {
                    out.push_str("| ");
                    escape_markdown(&cell, out);
                    out.push(' ');
                }
            }
        }
        out.push_str(if self == Self::Markdown { "|\n" } else { "\n" });
    }
}

/// Appends a field, in quotes where RFC 4180 requires them.
fn quote(cell: &str, out: &mut String) {
    if !cell.contains([',', '"', '\n', '\r']) {
        return out.push_str(cell);
    }
    out.push('"');
    out.push_str(&cell.replace('"', "\"\""));
    out.push('"');
}

/// Appends a cell with a backslash before every character that would end it, or that Markdown would take for markup.
fn escape_markdown(cell: &str, out: &mut String) {
    let mut before = ' ';
    let mut rest = cell.chars().peekable();
    while let Some(c) = rest.next() {
        let is_markup = match c {
            '\\' | '|' | '<' | '>' | '[' | ']' | '*' | '`' | '~' | '&' => true,
            // Inside a word it is plain.
            '_' => !(before.is_alphanumeric() && rest.peek().is_some_and(|next| next.is_alphanumeric())),
            _ => false,
        };
        if is_markup {
            out.push('\\');
        }
        out.push(c);
        before = c;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(format: DelimitedFormat, cells: &[&str]) -> String {
        let mut out = String::new();
        format.row(cells.iter().copied(), &mut out);
        out
    }

    #[test]
    fn csv_fields_are_quoted_only_where_needed() {
        for (cells, expected) in [
            (&["a", "1/1", ""][..], "a,1/1,\n"),
            (&["a,b", "say \"no\"", " x "], "\"a,b\",\"say \"\"no\"\"\", x \n"),
            (&["two\nlines", "a\tb", "\x1b[31m", "=1+1"], "two\\nlines,a\\tb,^[[31m,=1+1\n"),
        ] {
            assert_eq!(row(DelimitedFormat::Csv, cells), expected);
        }
    }

    #[test]
    fn markdown_cells_have_no_markup() {
        for (cells, expected) in [
            (&["a", "<none>", ""][..], "| a | \\<none\\> |  |\n"),
            (&["a|b\\|c", "snake_case _x_"], "| a\\|b\\\\\\|c | snake_case \\_x\\_ |\n"),
            (&["[x](y) *b* `c` ~d~ &lt;"], "| \\[x\\](y) \\*b\\* \\`c\\` \\~d\\~ \\&lt; |\n"),
        ] {
            assert_eq!(row(DelimitedFormat::Markdown, cells), expected);
        }
        let mut out = String::new();
        DelimitedFormat::Markdown.header(["NAME", "AGE"].into_iter(), &mut out);
        assert_eq!(out, "| NAME | AGE |\n| --- | --- |\n");
    }
}
