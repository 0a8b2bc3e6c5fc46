//! Rows of the program's own cells in the layout of kubectl's tab writer.

use std::io::{self, Write};

use super::block::Block;
use super::elastic::ElasticWriter;
use super::pieces::Pieces;
use crate::view::Colour;

/// Rows that wait until [`TabRows::flush`], so that the columns fit all of them. Columns keep their widths.
#[derive(Default)]
pub(crate) struct TabRows {
    block: Block,
    widths: Vec<usize>,
}

impl TabRows {
    /// Adds a row. As in kubectl, a tab inside a cell starts another cell, and a line break another row.
    pub(crate) fn push(&mut self, cells: impl IntoIterator<Item = impl AsRef<str>>) {
        self.push_coloured(cells, []);
    }

    /// Adds a row; `colours` are the indices and colours of its coloured cells, in order.
    pub(crate) fn push_coloured(
        &mut self,
        cells: impl IntoIterator<Item = impl AsRef<str>>,
        colours: impl IntoIterator<Item = (usize, Colour)>,
    ) {
        let mut colours = colours.into_iter().peekable();
        let (mut row, mut coloured): (Vec<String>, Vec<(usize, Colour)>) = (Vec::new(), Vec::new());
        for (at, cell) in cells.into_iter().enumerate() {
            let mut lines = cell.as_ref().split('\n');
            coloured.extend(colours.next_if(|(of, _)| *of == at).map(|(_, colour)| (row.len(), colour)));
            row.extend(lines.next().map(str::to_owned));
            for line in lines {
                self.block.push(row.iter().map(String::as_str), coloured.drain(..), None);
                row.clear();
                row.push(line.to_owned());
            }
        }
        self.block.push(row.iter().map(String::as_str), coloured, None);
    }

    /// Writes the waiting rows.
    ///
    /// # Errors
    /// `out` failed.
    pub(crate) fn flush(&mut self, out: &mut impl Write) -> io::Result<()> {
        let mut text = String::new();
        let written = ElasticWriter::write(&self.block, &mut self.widths, Pieces::new(&mut text, out));
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

    #[test]
    fn colour_belongs_to_its_cell() {
        let mut rows = TabRows::default();
        rows.push_coloured(["a", "Warning", "one\ntwo", "x"], [(1, Colour::Yellow), (3, Colour::Red)]);
        assert_eq!(
            written(&mut rows),
            "a     \u{1b}[33mWarning\u{1b}[0m   one\ntwo   \u{1b}[31mx\u{1b}[0m\n"
        );
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
