//! The lines of a table that wait for the widths of their columns.

use std::ops::Range;

use super::pieces::PIECE;
use crate::view::Colour;

/// The number of cells for which capacity is kept.
pub(super) const KEPT_CELLS: usize = 1 << 10;

/// The memory that is reserved with the first line: a longer table is copied less often, and the system supplies only the pages that
/// are used.
const RESERVED_TEXT: usize = 1 << 20;
const RESERVED_CELLS: usize = 1 << 14;

/// Waiting lines, with their text in a single string, because a large table has many small cells.
#[derive(Default)]
pub(super) struct Block {
    text: String,
    cells: Vec<Cell>,
    /// The indices and colours of the coloured cells, in order: few cells have one.
    colours: Vec<(usize, Colour)>,
    /// The indices of the cells with a name that may get a prefix, in order.
    names: Vec<usize>,
    lines: Vec<WaitingLine>,
}

struct Cell {
    /// The end of the cell in the text; it starts at the end of the previous one.
    end: usize,
    /// In characters, as in kubectl.
    width: usize,
}

struct WaitingLine {
    /// The index after the last cell of the line.
    end: usize,
    form: LineForm,
}

/// The form of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineForm {
    /// Cells below each other.
    Row,
    /// A text that does not affect the columns.
    Note,
    /// The same, printed in full on any terminal.
    WholeNote,
}

impl Block {
    /// Adds a row; `colours` are the indices and colours of its coloured cells, in order, and `name` is the index of the
    /// cell for [`Block::prefix_names`]. As in kubectl, a tab inside a cell starts another cell.
    pub(super) fn push<'a>(
        &mut self,
        cells: impl Iterator<Item = &'a str>,
        colours: impl IntoIterator<Item = (usize, Colour)>,
        name: Option<usize>,
    ) {
        self.reserve();
        let mut colours = colours.into_iter().peekable();
        for (at, cell) in cells.enumerate() {
            let colour = colours.next_if(|(of, _)| *of == at).map(|(_, colour)| colour);
            self.names.extend((name == Some(at)).then_some(self.cells.len()));
            if memchr::memchr(b'\t', cell.as_bytes()).is_some() {
                cell.split('\t').for_each(|cell| self.push_cell(cell, colour));
            } else {
                self.push_cell(cell, colour);
            }
        }
        self.lines.push(WaitingLine { end: self.cells.len(), form: LineForm::Row });
    }

    /// Reserves the memory of most tables, unless there is some.
    fn reserve(&mut self) {
        if self.text.capacity() == 0 {
            self.text.reserve(RESERVED_TEXT);
            self.cells.reserve(RESERVED_CELLS);
            self.lines.reserve(RESERVED_CELLS);
        }
    }

    fn push_cell(&mut self, cell: &str, colour: Option<Colour>) {
        self.colours.extend(colour.map(|colour| (self.cells.len(), colour)));
        self.text.push_str(cell);
        self.cells.push(Cell { end: self.text.len(), width: cell.chars().count() });
    }

    /// Adds a text in one of the forms of notes, with an indentation before it.
    pub(super) fn note(&mut self, [indent, text]: [&str; 2], colour: Option<Colour>, form: LineForm) {
        self.colours.extend(colour.map(|colour| (self.cells.len(), colour)));
        self.text.push_str(indent);
        self.text.push_str(text);
        self.cells.push(Cell { end: self.text.len(), width: 0 });
        self.lines.push(WaitingLine { end: self.cells.len(), form });
    }

    /// Puts a text before the names.
    pub(super) fn prefix_names(&mut self, prefix: &str) {
        let width = prefix.chars().count();
        let mut text = String::with_capacity(self.text.len() + prefix.len() * self.names.len());
        let (mut start, mut names) = (0, self.names.drain(..).peekable());
        for (at, cell) in self.cells.iter_mut().enumerate() {
            if names.next_if_eq(&at).is_some() {
                text.push_str(prefix);
                cell.width += width;
            }
            text.push_str(&self.text[std::mem::replace(&mut start, cell.end)..cell.end]);
            cell.end = text.len();
        }
        drop(names);
        self.text = text;
    }

    /// Removes all lines but keeps the capacity of a few.
    pub(super) fn clear(&mut self) {
        self.text.clear();
        self.text.shrink_to(PIECE);
        self.cells.clear();
        self.cells.shrink_to(KEPT_CELLS);
        self.colours.clear();
        self.colours.shrink_to(KEPT_CELLS);
        self.names.clear();
        self.names.shrink_to(KEPT_CELLS);
        self.lines.clear();
        self.lines.shrink_to(KEPT_CELLS);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Returns the number of lines.
    pub(super) fn len(&self) -> usize {
        self.lines.len()
    }

    /// Returns the length of the text in bytes.
    pub(super) fn text_len(&self) -> usize {
        self.text.len()
    }

    pub(super) fn form(&self, line: usize) -> LineForm {
        self.lines[line].form
    }

    /// Returns the texts of the cells of a line.
    pub(super) fn cells(&self, line: usize) -> impl ExactSizeIterator<Item = &str> {
        self.cells_of(line).map(|cell| {
            let start = if cell == 0 { 0 } else { self.cells[cell - 1].end };
            &self.text[start..self.cells[cell].end]
        })
    }

    /// Returns the colour of a cell.
    pub(super) fn colour(&self, line: usize, column: usize) -> Option<Colour> {
        let cell = self.cells_of(line).start + column;
        let at = self.colours.binary_search_by_key(&cell, |(cell, _)| *cell).ok()?;
        Some(self.colours[at].1)
    }

    /// Returns the width of a cell in characters; `None` for the last cell of a line, which does not affect its column.
    pub(super) fn width(&self, line: usize, column: usize) -> Option<usize> {
        let cells = self.cells_of(line);
        (column + 1 < cells.len()).then(|| self.cells[cells.start + column].width)
    }

    /// Returns the range of the cells of a line.
    fn cells_of(&self, line: usize) -> Range<usize> {
        let start = if line == 0 { 0 } else { self.lines[line - 1].end };
        start..self.lines[line].end
    }

    /// Returns the capacities of the text, the cells and the lines.
    #[cfg(test)]
    pub(super) fn capacities(&self) -> [usize; 3] {
        [self.text.capacity(), self.cells.capacity(), self.lines.capacity()]
    }
}
