//! The layout of a block of lines for a terminal: no line is wider than the screen.

use std::io::{self, Write};

use super::block::{Block, LineForm};
use super::pieces::Pieces;
use crate::view::{GAP, WIDEST_COLUMN, clip, display_width, fitted_widths};

/// The width of the narrowest column.
const NARROWEST: usize = 3;

/// Lays out a block in at most `columns` columns and writes it.
pub(super) struct FittedWriter<'a, W> {
    columns: usize,
    widths: Vec<usize>,
    out: Pieces<'a, W>,
}

impl<'a, W: Write> FittedWriter<'a, W> {
    /// Writes all lines of a block. `natural` are the widths of the widest cells so far, which only grow.
    ///
    /// # Errors
    /// The writer failed.
    pub(super) fn write(
        block: &Block,
        natural: &mut Vec<usize>,
        columns: usize,
        out: Pieces<'a, W>,
    ) -> io::Result<()> {
        for line in (0..block.len()).filter(|line| block.form(*line) == LineForm::Row) {
            for (column, cell) in block.cells(line).enumerate() {
                let width = display_width(cell).max(NARROWEST);
                match natural.get_mut(column) {
                    Some(widest) => *widest = width.max(*widest),
                    None => natural.push(width),
                }
            }
        }
        let mut writer = Self { columns, widths: fitted_widths(natural, columns), out };
        for line in 0..block.len() {
            match block.form(line) {
                LineForm::Row => writer.push_row(block, line),
                form => {
                    let width = if form == LineForm::WholeNote { usize::MAX } else { columns };
                    for (at, text) in block.cells(line).enumerate() {
                        writer.out.push_coloured(&clip(text, width), block.colour(line, at));
                    }
                }
            }
            writer.out.end_line()?;
        }
        writer.out.write()
    }

    fn push_row(&mut self, block: &Block, line: usize) {
        let mut spare = self.spare_room(block.cells(line));
        let last = block.cells(line).len().saturating_sub(1);
        // The end of the text written so far, and the start of the current cell.
        let (mut end, mut start) = (0, 0);
        for (column, cell) in block.cells(line).enumerate() {
            let room = self.columns.saturating_sub(start);
            let width = if column == last { room } else { self.width_of(column, cell, &mut spare) };
            let text = clip(cell, width.min(room));
            if !cell.is_empty() {
                // The blanks after a cell are written with the next one, so that no line ends in blanks.
                if text.is_empty() {
                    return self.push_cut(end);
                }
                self.out.push_blanks(start - end);
                self.out.push_coloured(&text, block.colour(line, column));
                end = start + display_width(&text);
            }
            start += width + GAP;
        }
    }

    /// Marks a line as cut after its first `end` columns, because the next cell begins beyond the edge.
    fn push_cut(&mut self, end: usize) {
        if let Some(blanks) = self.columns.saturating_sub(end).checked_sub(1) {
            self.out.push_blanks(blanks);
            self.out.push("…");
        }
    }

    /// Returns the width of a cell that is not the last of its row. One that is longer than any column takes the row's
    /// spare room and shifts the rest of the row.
    fn width_of(&self, column: usize, cell: &str, spare: &mut usize) -> usize {
        let width = self.widths.get(column).copied().unwrap_or(NARROWEST);
        if width < WIDEST_COLUMN {
            return width;
        }
        let more = display_width(cell).saturating_sub(width).min(*spare);
        *spare -= more;
        width + more
    }

    /// Returns the number of columns that a row leaves free.
    fn spare_room<'c>(&self, cells: impl ExactSizeIterator<Item = &'c str>) -> usize {
        let last = cells.len().saturating_sub(1);
        let needed: usize = cells
            .enumerate()
            .map(|(column, cell)| {
                if column == last {
                    display_width(cell)
                } else {
                    self.widths.get(column).unwrap_or(&NARROWEST) + GAP
                }
            })
            .sum();
        self.columns.saturating_sub(needed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::Colour;

    /// Returns the text of these lines, whose first are rows.
    fn written(columns: usize, natural: &mut Vec<usize>, rows: &[&[&str]], remarks: &[&str]) -> String {
        let mut block = Block::default();
        for row in rows {
            block.push(row.iter().copied(), [], None);
        }
        for remark in remarks {
            block.note(["  ", remark], None, LineForm::Note);
        }
        let (mut text, mut out) = (String::new(), Vec::new());
        FittedWriter::write(&block, natural, columns, Pieces::new(&mut text, &mut out))
            .expect("a Vec takes all");
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn rows_are_clipped_to_the_screen() {
        let rows: &[&[&str]] = &[
            &["EVENT", "NAME", "STATUS", "AGE"],
            &["ADDED", "a-rather-long-name-of-a-pod", "ContainerCreating", "5m"],
            &["DELETED", "b", "", "5m10s"],
        ];
        assert_eq!(
            written(45, &mut Vec::new(), rows, &["a remark that is too long for this narrow terminal"]),
            "EVENT     NAME           STATUS         AGE\n\
             ADDED     a-rather-lo…   ContainerCr…   5m\n\
             DELETED   b                             5m10s\n  \
             a remark that is too long for this narrow …\n"
        );
        assert_eq!(
            written(100, &mut Vec::new(), &rows[1..], &[]),
            "ADDED     a-rather-long-name-of-a-pod   ContainerCreating   5m\n\
             DELETED   b                                                 5m10s\n"
        );
    }

    #[test]
    fn line_beyond_the_edge_ends_in_an_ellipsis() {
        let rows: &[&[&str]] = &[&["modified", "abc", "defghijk", "last"], &["modified", "ab", "", ""]];
        assert_eq!(written(22, &mut Vec::new(), rows, &[]), "modified   abc   defg…\nmodified   ab\n");
        assert_eq!(written(16, &mut Vec::new(), rows, &[]), "modified   abc …\nmodified   ab\n");
    }

    #[test]
    fn long_cell_affects_only_its_row() {
        let mut natural = Vec::new();
        let long = "n".repeat(240);
        let rows: &[&[&str]] = &[&["a", "Running", "1s"], &[&long, "Running", "1s"]];
        assert_eq!(
            written(300, &mut natural, rows, &[]),
            format!("a{}Running   1s\n{long}   Running   1s\n", " ".repeat(66))
        );
        let shown = written(120, &mut natural, rows, &[]);
        let lines: Vec<&str> = shown.lines().collect();
        assert_eq!(lines[0], format!("a{}Running   1s", " ".repeat(66)));
        assert_eq!(lines[1], format!("{}…   Running   1s", "n".repeat(104)));
        assert_eq!(display_width(lines[1]), 120);
    }

    #[test]
    fn wide_characters_count_twice() {
        let rows: &[&[&str]] = &[&["日本語", "x"], &["abc", "y"]];
        assert_eq!(written(80, &mut Vec::new(), rows, &[]), "日本語   x\nabc      y\n");
        assert_eq!(written(80, &mut vec![3, 3], &[&["abc", "y"]], &[]), "abc   y\n");
    }

    #[test]
    fn clipped_cell_keeps_its_colour() {
        let (mut block, mut text, mut out) = (Block::default(), String::new(), Vec::new());
        block.push(["abcdefghijk", "x"].into_iter(), [(0, Colour::Red)], None);
        FittedWriter::write(&block, &mut Vec::new(), 12, Pieces::new(&mut text, &mut out))
            .expect("a Vec takes all");
        assert_eq!(String::from_utf8(out).expect("text"), "\u{1b}[31mabcdefg…\u{1b}[0m   x\n");
    }
}
