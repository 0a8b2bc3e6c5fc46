//! Tables in kubectl's format, or clipped to the width of a terminal.
//!
//! kubectl lays out tables with a tab writer (Go's elastic tab stops): a column is as wide as its widest cell plus 3,
//! at least 6, over a run of lines that have the column. The last cell of a line is not padded. Widths are kept, so
//! that columns of a stream only grow.

mod block;
mod elastic;
mod fitted;
mod name_age;
mod pieces;
mod row_width;
mod tab_rows;
#[cfg(test)]
mod tests;

pub(crate) use elastic::MAX_WIDTH;
pub(super) use name_age::{NameAgeTable, write_row};
pub(crate) use row_width::RowWidth;
pub(crate) use tab_rows::TabRows;

use std::collections::HashMap;
use std::io::{self, Write};
use std::sync::Arc;

use kdelta::object::{ApiResource, Column};

use crate::view::{Cells, Colour, KindPrefix, Layout, Line, NamespaceColumn, RowMeaning};
use block::{Block, LineForm};
use elastic::ElasticWriter;
use fitted::FittedWriter;
use pieces::Pieces;

/// The maximum number of lines that wait for the widths of later lines. kubectl waits for all; the difference shows
/// only in a longer table whose widest cell comes later.
const MAX_WAITING_LINES: usize = 1 << 18;

/// The maximum size of the waiting lines in bytes.
pub(super) const MAX_WAITING_BYTES: usize = 64 << 20;

/// The extent of a table: with or without an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// A table with an end: each resource is a group after an empty line, with its own header and widths.
    Finite,
    /// A table without an end: a header is printed when the columns change, and columns keep their widths when they
    /// return.
    Endless,
}

/// A table being written. Lines wait until [`Table::flush`], so that the columns fit all of them.
pub(crate) struct Table {
    layout: Layout,
    headers: bool,
    extent: Extent,
    /// The heading and the current cell of a column in front of the layout's.
    front: Option<(&'static str, String)>,
    /// Whether abnormal cells are coloured.
    colour: bool,
    row_width: RowWidth,
    current: Option<Current>,
    /// The widths of other headings in an endless table. Bounded by the watched kinds.
    widths: HashMap<Vec<String>, Widths>,
    block: Block,
    /// The types that were listed, each once, for [`KindPrefix::IfSeveral`].
    listed: Vec<Arc<ApiResource>>,
    /// Empty between two blocks; kept for the capacity.
    text: String,
    /// The cells of the previous line, kept for the capacity.
    spare: Cells,
}

/// The current header and its widths.
struct Current {
    resource: Arc<ApiResource>,
    columns: Arc<[Column]>,
    headings: Vec<String>,
    /// Empty without colour.
    meaning: RowMeaning,
    widths: Widths,
}

/// The widths of columns, which only grow.
#[derive(Default)]
struct Widths {
    /// For rows that are printed in full: kubectl's widths, with the blanks.
    elastic: Vec<usize>,
    /// For rows on a terminal: the widths of the widest cells.
    natural: Vec<usize>,
}

impl Table {
    /// Creates a table with these columns, with a header if `headers`, and abnormal cells coloured if `colour`.
    pub(crate) fn new(layout: Layout, headers: bool, extent: Extent, colour: bool) -> Self {
        Self {
            layout,
            headers,
            extent,
            front: None,
            colour,
            row_width: RowWidth::default(),
            current: None,
            widths: HashMap::new(),
            block: Block::default(),
            listed: Vec::new(),
            text: String::new(),
            spare: Cells::default(),
        }
    }

    /// Clips rows to this width.
    pub(crate) fn clipped(mut self, row_width: RowWidth) -> Self {
        self.row_width = row_width;
        self
    }

    /// Adds a column in front of all others.
    pub(crate) fn with_front(mut self, heading: Option<&'static str>) -> Self {
        self.front = heading.map(|heading| (heading, String::new()));
        self
    }

    /// Sets the cell in the front column of the next lines, if there is one.
    pub(crate) fn set_front(&mut self, text: String) {
        if let Some((_, cell)) = &mut self.front {
            *cell = text;
        }
    }

    /// Returns cells for the next line, to be overwritten.
    pub(crate) fn spare_cells(&mut self) -> Cells {
        std::mem::take(&mut self.spare)
    }

    /// Returns the columns of the table.
    pub(crate) fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Adds a NAMESPACE column for every resource from the next line on. This follows kubectl's lists of several kinds:
    /// a cluster-scoped kind has the column if it comes after a namespaced one.
    pub(crate) fn keep_namespace_column(&mut self) {
        self.layout.namespace = NamespaceColumn::Always;
    }

    /// Prefixes names with their type from the next line on.
    pub(crate) fn prefix_names(&mut self) {
        self.layout.kind = KindPrefix::Always;
    }

    /// Adds a line, which waits; earlier lines may be written.
    ///
    /// # Errors
    /// `out` failed.
    pub(crate) fn line(&mut self, line: Line, out: &mut impl Write) -> io::Result<()> {
        let same = self.current.as_ref().is_some_and(|current| {
            (Arc::ptr_eq(&current.resource, &line.resource) || current.resource == line.resource)
                && (Arc::ptr_eq(&current.columns, &line.columns) || current.columns == line.columns)
        });
        if !same {
            self.change_columns(&line, out)?;
        }
        let front = self.front.iter().map(|(_, cell)| &**cell);
        let name = line.cells.name().map(|name| usize::from(self.front.is_some()) + name);
        match &self.current {
            Some(current) if self.colour => {
                let cells: Vec<&str> = front.chain(line.cells.iter()).collect();
                let colours = current.meaning.colours(&cells);
                self.block.push(cells.iter().copied(), colours, name);
            }
            _ if self.front.is_none() => self.block.push(line.cells.iter(), [], name),
            _ => self.block.push(front.chain(line.cells.iter()), [], name),
        }
        self.spare = line.cells;
        let is_full = self.block.len() >= MAX_WAITING_LINES || self.block.text_len() >= MAX_WAITING_BYTES;
        if is_full { self.write(true, out) } else { Ok(()) }
    }

    /// Records that the objects of a type were received, even if there are none: several such types have names with
    /// their kinds.
    pub(crate) fn listed(&mut self, resource: &Arc<ApiResource>) {
        if !self.listed.contains(resource) {
            self.listed.push(Arc::clone(resource));
        }
    }

    /// Adds a text below the last line, which does not affect the columns. One that `is_whole` is never clipped.
    pub(crate) fn remark(&mut self, text: &str, colour: Option<Colour>, is_whole: bool) {
        let form = if is_whole { LineForm::WholeNote } else { LineForm::Note };
        self.block.note(["  ", text], colour.filter(|_| self.colour), form);
    }

    /// Adds a text between two lines, which does not affect the columns.
    pub(crate) fn note(&mut self, text: &str) {
        self.block.note(["", text], self.colour.then_some(Colour::Dim), LineForm::Note);
    }

    /// Writes the waiting lines.
    ///
    /// # Errors
    /// `out` failed.
    pub(crate) fn flush(&mut self, out: &mut impl Write) -> io::Result<()> {
        self.write(self.listed.len() > 1, out)
    }

    /// Writes the waiting lines. `has_several` is whether several types were listed, or may be.
    fn write(&mut self, has_several: bool, out: &mut impl Write) -> io::Result<()> {
        let Self { current, block, text, row_width, .. } = self;
        if block.is_empty() {
            return Ok(());
        }
        if let Some(current) = current.as_ref().filter(|_| has_several)
            && self.layout.kind == KindPrefix::IfSeveral
        {
            block.prefix_names(&Layout::kind_prefix(&current.resource));
        }
        // Without columns there are only notes.
        let mut none = Widths::default();
        let Widths { elastic, natural } = current.as_mut().map_or(&mut none, |current| &mut current.widths);
        let pieces = Pieces::new(text, out);
        let written = match row_width.columns() {
            Some(columns) => FittedWriter::write(block, natural, columns, pieces),
            None => ElasticWriter::write(block, elastic, pieces),
        };
        block.clear();
        written?;
        out.flush()
    }

    fn change_columns(&mut self, line: &Line, out: &mut impl Write) -> io::Result<()> {
        let front = self.front.iter().map(|(heading, _)| (*heading).to_owned());
        let headings: Vec<String> =
            front.chain(self.layout.headings(&line.columns, &line.resource)).collect();
        let (resource, columns) = (Arc::clone(&line.resource), Arc::clone(&line.columns));
        if let (Extent::Endless, Some(current)) = (self.extent, &mut self.current)
            && current.headings == headings
        {
            (current.resource, current.columns) = (resource, columns);
            return Ok(());
        }
        self.listed(&line.resource);
        self.flush(out)?;
        let last = self.current.take();
        let widths = match (self.extent, last) {
            (_, None) => Widths::default(),
            (Extent::Finite, Some(last)) if last.resource == line.resource => last.widths,
            (Extent::Finite, Some(_)) => {
                if self.headers {
                    out.write_all(b"\n")?;
                }
                Widths::default()
            }
            (Extent::Endless, Some(last)) => {
                let widths = self.widths.remove(&headings).unwrap_or_default();
                self.widths.insert(last.headings, last.widths);
                widths
            }
        };
        if self.headers {
            self.block.push(headings.iter().map(String::as_str), [], None);
        }
        let meaning = if self.colour { RowMeaning::of(&headings) } else { RowMeaning::default() };
        self.current = Some(Current { resource, columns, headings, meaning, widths });
        Ok(())
    }
}
