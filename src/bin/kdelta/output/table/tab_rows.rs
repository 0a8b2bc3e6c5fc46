//! Rows of the program's own cells in the layout of kubectl's tab writer.

use std::io::{self, Write};

use super::block::Block;
use super::elastic::ElasticWriter;
use super::pieces::Pieces;

/// Rows that wait until [`TabRows::flush`], so that the columns fit all of them. Columns keep their widths.
#[derive(Default)]
pub(crate) struct TabRows {
    block: Block,
    widths: Vec<usize>,
}

impl TabRows {
    /// Adds a row. As in kubectl, a tab inside a cell starts another cell, and a line break another row.
    pub(crate) fn push(&mut self, cells: impl IntoIterator<Item = impl AsRef<str>>) {
        let mut row: Vec<String> = Vec::new();
        for cell in cells {
            let mut lines = cell.as_ref().split('\n');
            row.extend(lines.next().map(str::to_owned));
            for line in lines {
                self.block.push(row.iter().map(String::as_str), None);
                row.clear();
                row.push(line.to_owned());
            }
        }
        self.block.push(row.iter().map(String::as_str), None);
    }

    /// Writes the waiting rows.
    ///
    /// # Errors
    /// `out` failed.
    pub(crate) fn flush(&mut self, out: &mut impl Write) -> io::Result<()> {
        let mut text = String::new();
        let written = ElasticWriter::write(&self.block, &mut self.widths, false, Pieces::new(&mut text, out));
        self.block.clear();
        written
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(rows: &mut TabRows) -> String {
        let mut out = Vec::new();
        rows.flush(&mut out).expect("a Vec takes all");
        String::from_utf8(out).expect("text")
    }

    // The layout of kubectl 1.36 for events with such messages.
    #[test]
    fn line_break_ends_the_run_of_columns() {
        let mut rows = TabRows::default();
        for cells in [["LAST SEEN", "TYPE", "MESSAGE"], ["99m (x5 over 109m)", "Normal", "one\n two\tthree"]]
        {
            rows.push(cells);
        }
        rows.push(["1m", "Warning", ""]);
        assert_eq!(
            written(&mut rows),
            "LAST SEEN            TYPE     MESSAGE\n\
             99m (x5 over 109m)   Normal   one\n \
             two                 three\n\
             1m                   Warning   \n"
        );
        rows.push(["2m", "Normal", "x"]);
        assert_eq!(written(&mut rows), "2m                   Normal    x\n", "widths are kept");
        assert_eq!(written(&mut rows), "");
    }
}
