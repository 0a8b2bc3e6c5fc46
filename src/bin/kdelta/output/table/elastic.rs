//! kubectl's layout of a block of lines: Go's elastic tab stops.

use std::io::{self, Write};

use super::block::Block;
use super::pieces::Pieces;

const NARROWEST: usize = 6;
const PADDING: usize = 3;

/// The widest cell that affects its column, in characters. A wider one is printed in full and shifts the rest of its
/// line, so that other lines are not padded to its width.
pub(crate) const MAX_WIDTH: usize = 2048;

/// Lays out a block and writes it.
pub(super) struct ElasticWriter<'a, W> {
    block: &'a Block,
    /// The widths of the columns so far, which only grow.
    remembered: &'a mut Vec<usize>,
    /// The widths of the columns around the lines being written.
    stops: Vec<usize>,
    out: Pieces<'a, W>,
}

impl<'a, W: Write> ElasticWriter<'a, W> {
    /// Writes all lines of a block. `remembered` are the widths of the columns so far.
    ///
    /// # Errors
    /// The writer failed.
    pub(super) fn write(
        block: &'a Block,
        remembered: &'a mut Vec<usize>,
        out: Pieces<'a, W>,
    ) -> io::Result<()> {
        let mut writer = Self { block, remembered, stops: Vec::new(), out };
        writer.write_lines(0, block.len())?;
        writer.out.write()
    }

    /// Writes lines that all have the columns of `self.stops`. In a run of lines with one more column, that column is
    /// as wide as its widest cell.
    fn write_lines(&mut self, from: usize, to: usize) -> io::Result<()> {
        let column = self.stops.len();
        let mut line = from;
        while line < to {
            let mut width = NARROWEST;
            let mut end = line;
            while end < to
                && let Some(cell) = self.block.width(end, column)
            {
                if cell <= MAX_WIDTH {
                    width = width.max(cell + PADDING);
                }
                end += 1;
            }
            if end == line {
                self.write_line(line)?;
                line += 1;
                continue;
            }
            match self.remembered.get_mut(column) {
                Some(remembered) => {
                    width = width.max(*remembered);
                    *remembered = width;
                }
                None => self.remembered.push(width),
            }
            self.stops.push(width);
            let written = self.write_lines(line, end);
            self.stops.pop();
            written?;
            line = end;
        }
        Ok(())
    }

    fn write_line(&mut self, line: usize) -> io::Result<()> {
        for (column, cell) in self.block.cells(line).enumerate() {
            self.out.push_coloured(cell, self.block.colour(line, column));
            if let Some((stop, width)) = self.stops.get(column).zip(self.block.width(line, column)) {
                self.out.push_blanks(if width > MAX_WIDTH { PADDING } else { stop.saturating_sub(width) });
            }
        }
        self.out.end_line()
    }
}
