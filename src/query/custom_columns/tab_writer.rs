//! A writer that aligns cells, as the tabwriter that kubectl prints with.

use std::io::{self, Write};

/// The least width of a column, padding included.
const MIN_WIDTH: usize = 6;
/// The blanks after the widest cell of a column.
const PADDING: usize = 3;

/// A writer of tab-separated cells and lines, with kubectl's settings: columns are at least 6 wide and padded by 3 blanks,
/// and never become narrower after a flush.
///
/// A tab or vertical tab ends a cell, a line break a line; a form feed ends a line and the alignment. A column is as wide as
/// its widest cell among consecutive lines that have it; the last cell of a line is in no column. Cells are therefore kept
/// until a flush, or until a line without tabs, which separates what is above it from what is below.
#[derive(Debug)]
pub(super) struct TabWriter<W> {
    out: W,
    /// The text of all cells that are not printed yet, without separators.
    text: String,
    /// The completed cells of all lines.
    cells: Vec<Cell>,
    /// The number of cells at the end of each completed line.
    lines: Vec<usize>,
    /// The start of the current cell in `text`.
    start: usize,
    /// The greatest width of each column so far.
    widths: Vec<usize>,
}

/// A completed cell.
#[derive(Debug, Clone, Copy)]
struct Cell {
    /// The end of its text.
    end: usize,
    /// The number of its characters; once the columns are known, the number of blanks behind it.
    width: usize,
}

impl<W: Write> TabWriter<W> {
    pub(super) fn new(out: W) -> Self {
        Self { out, text: String::new(), cells: Vec::new(), lines: Vec::new(), start: 0, widths: Vec::new() }
    }

    pub(super) fn get_ref(&self) -> &W {
        &self.out
    }

    pub(super) fn get_mut(&mut self) -> &mut W {
        &mut self.out
    }

    /// Appends text.
    pub(super) fn write(&mut self, mut text: &str) -> io::Result<()> {
        while let Some(at) = text.find(['\t', '\u{b}', '\n', '\u{c}']) {
            self.text.push_str(&text[..at]);
            self.end_cell();
            let separator = text.as_bytes()[at];
            text = &text[at + 1..];
            if matches!(separator, b'\n' | 0xc) {
                let line_start = self.lines.last().copied().unwrap_or(0);
                self.lines.push(self.cells.len());
                if separator == 0xc || self.cells.len() == line_start + 1 {
                    self.print()?;
                }
            }
        }
        self.text.push_str(text);
        Ok(())
    }

    /// Prints everything, also a line that is not complete, and flushes the output.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.print()?;
        self.out.flush()
    }

    fn end_cell(&mut self) {
        let end = self.text.len();
        self.cells.push(Cell { end, width: self.text[self.start..].chars().count() });
        self.start = end;
    }

    /// Prints all cells. A line without its line break is printed without.
    fn print(&mut self) -> io::Result<()> {
        let complete = self.lines.len();
        if self.start < self.text.len() {
            self.end_cell();
        }
        if self.lines.last().copied().unwrap_or(0) < self.cells.len() {
            self.lines.push(self.cells.len());
        }
        self.align();
        let (mut at, mut from) = (0, 0);
        for (number, end) in self.lines.iter().enumerate() {
            for cell in &self.cells[at..*end] {
                self.out.write_all(&self.text.as_bytes()[from..cell.end])?;
                write_blanks(&mut self.out, cell.width)?;
                from = cell.end;
            }
            at = *end;
            if number < complete {
                self.out.write_all(b"\n")?;
            }
        }
        self.text.clear();
        self.cells.clear();
        self.lines.clear();
        self.start = 0;
        Ok(())
    }

    /// Replaces the widths of the cells by the number of blanks behind them, column by column. The last cell of a line has
    /// none.
    fn align(&mut self) {
        // The lines that reach the column: their numbers and first cells.
        let mut reaching: Vec<(usize, usize)> = Vec::new();
        let mut start = 0;
        for (number, end) in self.lines.iter().enumerate() {
            reaching.push((number, start));
            if let Some(last) = self.cells[start..*end].last_mut() {
                last.width = 0;
            }
            start = *end;
        }
        for column in 0.. {
            let lines = &self.lines;
            reaching.retain(|(number, start)| start + column + 1 < lines[*number]);
            if reaching.is_empty() {
                return;
            }
            for block in reaching.chunk_by(|(a, _), (b, _)| a + 1 == *b) {
                let cells = block.iter().map(|(_, start)| start + column);
                let widest = cells.clone().map(|at| self.cells[at].width).max().unwrap_or(0);
                if column == self.widths.len() {
                    self.widths.push(0);
                }
                let width = (widest + PADDING).max(MIN_WIDTH).max(self.widths[column]);
                self.widths[column] = width;
                for at in cells {
                    self.cells[at].width = width - self.cells[at].width;
                }
            }
        }
    }
}

fn write_blanks(out: &mut impl Write, mut count: usize) -> io::Result<()> {
    const BLANKS: [u8; 64] = [b' '; 64];
    while count > 0 {
        let some = count.min(BLANKS.len());
        out.write_all(&BLANKS[..some])?;
        count -= some;
    }
    Ok(())
}
