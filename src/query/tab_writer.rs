//! A writer that aligns cells, as the tabwriter that kubectl prints with.

use std::io::{self, Write};

/// The least width of a column, padding included.
const MIN_WIDTH: usize = 6;
/// The blanks after the widest cell of a column.
const PADDING: usize = 3;
/// The capacity that stays allocated after a print, in bytes and in cells.
const KEPT_TEXT: usize = 1 << 16;
const KEPT_CELLS: usize = 1 << 10;

/// A writer of tab-separated cells and lines, with kubectl's settings: columns are at least 6 wide and padded by 3 blanks,
/// and never become narrower after a flush.
///
/// A tab or vertical tab ends a cell, a line break a line; a form feed ends a line and the alignment. A column is as wide as
/// its widest cell among consecutive lines that have it; the last cell of a line is in no column. Cells are therefore kept
/// until a flush, or until a line without tabs, which separates what is above it from what is below.
///
/// ```
/// use kdelta::query::TabWriter;
///
/// let mut writer = TabWriter::new(Vec::new());
/// writer.write("NAME\tREADY\nweb-1\t1/1\n")?;
/// writer.flush()?;
/// writer.write("x\t0/1\n")?;
/// writer.flush()?;
/// assert_eq!(writer.get_ref(), b"NAME    READY\nweb-1   1/1\nx       0/1\n");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct TabWriter<W> {
    out: W,
    /// The text of all cells that are not printed yet, without separators.
    text: String,
    /// The completed cells of all lines.
    cells: Vec<Cell>,
    /// The number of cells at the end of each completed line.
    lines: Vec<usize>,
    /// The start of the current cell in `text`.
    start: usize,
    /// The characters of the current cell that take no width.
    invisible: usize,
    /// The greatest width of each column so far.
    widths: Vec<usize>,
    /// The widest cell that affects its column.
    max_width: usize,
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
    /// Returns a writer to `out`. Nothing is written yet.
    pub fn new(out: W) -> Self {
        Self {
            out,
            text: String::new(),
            cells: Vec::new(),
            lines: Vec::new(),
            start: 0,
            invisible: 0,
            widths: Vec::new(),
            max_width: usize::MAX,
        }
    }

    /// Sets the widest cell that affects its column, in characters. A wider one is printed in full and shifts the rest of
    /// its line, so that other lines are not padded to its width. By default, as in kubectl, there is no limit.
    #[must_use]
    pub fn max_width(self, max_width: usize) -> Self {
        Self { max_width, ..self }
    }

    /// Returns the output.
    pub fn get_ref(&self) -> &W {
        &self.out
    }

    /// Returns the output, for a caller that takes what was written.
    pub fn get_mut(&mut self) -> &mut W {
        &mut self.out
    }

    /// Returns the size of the text that is kept until a flush, in bytes.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.text.len()
    }

    /// Appends text, and prints what no later text can align differently.
    ///
    /// # Errors
    ///
    /// The output can't be written.
    pub fn write(&mut self, mut text: &str) -> io::Result<()> {
        if self.text.is_empty() && self.cells.is_empty() {
            // Lines without tabs need no alignment.
            let plain = text.find(['\t', '\u{b}', '\u{c}']).map_or(text, |at| &text[..at]);
            let (lines, rest) = text.split_at(plain.rfind('\n').map_or(0, |at| at + 1));
            self.out.write_all(lines.as_bytes())?;
            text = rest;
        }
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

    /// Appends text that takes no width, such as the start of a colour on a terminal. It has no separators.
    pub fn write_invisible(&mut self, text: &str) {
        self.text.push_str(text);
        self.invisible += text.chars().count();
    }

    /// Prints everything, also a line that is not complete, and flushes the output.
    ///
    /// # Errors
    ///
    /// The output can't be written.
    pub fn flush(&mut self) -> io::Result<()> {
        self.print()?;
        self.out.flush()
    }

    fn end_cell(&mut self) {
        let end = self.text.len();
        let invisible = std::mem::take(&mut self.invisible);
        let width = self.text[self.start..].chars().count().saturating_sub(invisible);
        self.cells.push(Cell { end, width });
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
        self.text.shrink_to(KEPT_TEXT);
        self.cells.clear();
        self.cells.shrink_to(KEPT_CELLS);
        self.lines.clear();
        self.lines.shrink_to(KEPT_CELLS);
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
                let widths = cells.clone().map(|at| self.cells[at].width);
                let widest = widths.filter(|width| *width <= self.max_width).max().unwrap_or(0);
                if column == self.widths.len() {
                    self.widths.push(0);
                }
                let width = (widest + PADDING).max(MIN_WIDTH).max(self.widths[column]);
                self.widths[column] = width;
                for at in cells {
                    let cell = &mut self.cells[at];
                    cell.width = width.checked_sub(cell.width).unwrap_or(PADDING);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_wide_cell_shifts_only_its_line() {
        let mut writer = TabWriter::new(Vec::new()).max_width(8);
        writer.write("wide-wide-wide\tx\t1\nlong-8-c\ty\t2\n").expect("memory");
        assert_eq!(writer.waiting(), 26);
        writer.flush().expect("memory");
        let expected = "wide-wide-wide   x     1\nlong-8-c   y     2\n";
        assert_eq!(String::from_utf8_lossy(writer.get_ref()), expected);
        assert_eq!(writer.waiting(), 0);
    }

    #[test]
    fn invisible_text_takes_no_width() {
        let mut writer = TabWriter::new(Vec::new());
        for (cell, tail) in [("a", "\t1\n"), ("bb-bb", "\t2\n")] {
            writer.write_invisible("\x1b[31m");
            writer.write(cell).expect("memory");
            writer.write_invisible("\x1b[0m");
            writer.write(tail).expect("memory");
        }
        writer.write("c\t3\n").expect("memory");
        writer.flush().expect("memory");
        let expected = "\x1b[31ma\x1b[0m       1\n\x1b[31mbb-bb\x1b[0m   2\nc       3\n";
        assert_eq!(String::from_utf8_lossy(writer.get_ref()), expected);
    }

    #[test]
    fn lines_without_tabs_are_printed_at_once() {
        let mut writer = TabWriter::new(Vec::new());
        writer.write("one\ntwo\nthr").expect("memory");
        assert_eq!(writer.get_ref(), b"one\ntwo\n");
        writer.write("ee\na\tb\n").expect("memory");
        assert_eq!(writer.get_ref(), b"one\ntwo\nthree\n");
        writer.write("four\n").expect("memory");
        assert_eq!(writer.get_ref(), b"one\ntwo\nthree\na     b\nfour\n");
    }
}
