//! Tables in kubectl's format.
//!
//! kubectl lays out tables with a tab writer (Go's elastic tab stops): a column is as wide as its widest cell plus 3,
//! at least 6, over a run of lines that have the column. The last cell of a line is not padded. Widths are kept, so
//! that columns of a stream only grow.

use std::collections::HashMap;
use std::io::{self, Write};
use std::sync::Arc;

use kdelta::lines::ChangeKind;
use kdelta::object::{ApiResource, Column};

use crate::view::{Cells, Layout, Line, NamespaceColumn, PLAIN, colour_of};

const NARROWEST: usize = 6;
const PADDING: usize = 3;

/// The widest cell that affects its column, in characters. A wider one is printed in full and shifts the rest of its
/// line, so that other lines are not padded to its width.
pub(super) const MAX_WIDTH: usize = 2048;

/// The maximum number of lines that wait for the widths of later lines. kubectl waits for all; the difference shows
/// only in a longer table whose widest cell comes later.
const MAX_WAITING_LINES: usize = 1 << 18;

/// The maximum size of the waiting lines in bytes.
const MAX_WAITING_BYTES: usize = 64 << 20;

/// The amount of text that is laid out before it is written; also the capacity kept for the next lines, in bytes and in
/// cells, because an endless table may begin with a large one.
const PIECE: usize = 1 << 16;
const KEPT_CELLS: usize = 1 << 10;

/// Whether a table ends.
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
    colour: bool,
    current: Option<Current>,
    /// The widths of other headings in an endless table. Bounded by the watched kinds.
    widths: HashMap<Vec<String>, Vec<usize>>,
    block: Block,
    /// Empty between two blocks, like the next field; kept for the capacity.
    stops: Vec<usize>,
    text: String,
    /// The cells of the previous line, kept for the capacity.
    spare: Cells,
}

/// The current header and its widths.
struct Current {
    resource: Arc<ApiResource>,
    columns: Arc<[Column]>,
    headings: Vec<String>,
    widths: Vec<usize>,
}

impl Table {
    /// Creates a table with these columns, with a header if `headers`, and lines coloured by their change if `colour`.
    pub(crate) fn new(layout: Layout, headers: bool, extent: Extent, colour: bool) -> Self {
        Self {
            layout,
            headers,
            extent,
            colour,
            current: None,
            widths: HashMap::new(),
            block: Block::default(),
            stops: Vec::new(),
            text: String::new(),
            spare: Cells::default(),
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
        self.block.push(line.cells.iter(), line.kind);
        self.spare = line.cells;
        let is_full =
            self.block.lines.len() >= MAX_WAITING_LINES || self.block.text.len() >= MAX_WAITING_BYTES;
        if is_full { self.flush(out) } else { Ok(()) }
    }

    /// Adds a text below the last line, which does not affect the columns.
    pub(crate) fn remark(&mut self, text: &str) {
        self.block.remark(text);
    }

    /// Writes the waiting lines.
    ///
    /// # Errors
    /// `out` failed.
    pub(crate) fn flush(&mut self, out: &mut impl Write) -> io::Result<()> {
        let Self { current: Some(current), block, stops, text, colour, .. } = self else { return Ok(()) };
        if block.lines.is_empty() {
            return Ok(());
        }
        let remembered = &mut current.widths;
        let mut writer = Writer { block, remembered, stops, text, colour: *colour, out };
        let written = writer.write(0, block.lines.len()).and_then(|()| writer.write_piece());
        self.block.clear();
        written?;
        out.flush()
    }

    fn change_columns(&mut self, line: &Line, out: &mut impl Write) -> io::Result<()> {
        self.flush(out)?;
        let headings = self.layout.headings(&line.columns, &line.resource);
        let last = self.current.take();
        let (header, widths) = match (self.extent, last) {
            (_, None) => (true, Vec::new()),
            (Extent::Finite, Some(last)) if last.resource == line.resource => (true, last.widths),
            (Extent::Finite, Some(_)) => {
                if self.headers {
                    out.write_all(b"\n")?;
                }
                (true, Vec::new())
            }
            (Extent::Endless, Some(last)) if last.headings == headings => (false, last.widths),
            (Extent::Endless, Some(last)) => {
                let widths = self.widths.remove(&headings).unwrap_or_default();
                self.widths.insert(last.headings, last.widths);
                (true, widths)
            }
        };
        if header && self.headers {
            self.block.push(headings.iter().map(String::as_str), None);
        }
        let (resource, columns) = (Arc::clone(&line.resource), Arc::clone(&line.columns));
        self.current = Some(Current { resource, columns, headings, widths });
        Ok(())
    }
}

/// Waiting lines, with their text in a single string, because a large table has many small cells.
#[derive(Default)]
pub(super) struct Block {
    text: String,
    cells: Vec<Cell>,
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
    kind: Option<ChangeKind>,
}

impl Block {
    pub(super) fn push<'a>(&mut self, cells: impl Iterator<Item = &'a str>, kind: Option<ChangeKind>) {
        // A tab inside a cell starts another cell, as in kubectl.
        for cell in cells.flat_map(|cell| cell.split('\t')) {
            self.text.push_str(cell);
            self.cells.push(Cell { end: self.text.len(), width: cell.chars().count() });
        }
        self.lines.push(WaitingLine { end: self.cells.len(), kind });
    }

    /// Adds a line of one cell without a width.
    fn remark(&mut self, text: &str) {
        self.text.push_str("  ");
        self.text.push_str(text);
        self.cells.push(Cell { end: self.text.len(), width: 0 });
        self.lines.push(WaitingLine { end: self.cells.len(), kind: None });
    }

    /// Removes all lines but keeps the capacity of a few.
    pub(super) fn clear(&mut self) {
        self.text.clear();
        self.text.shrink_to(PIECE);
        self.cells.clear();
        self.cells.shrink_to(KEPT_CELLS);
        self.lines.clear();
        self.lines.shrink_to(KEPT_CELLS);
    }

    /// Returns the range of the cells of a line.
    fn cells_of(&self, line: usize) -> std::ops::Range<usize> {
        let start = if line == 0 { 0 } else { self.lines[line - 1].end };
        start..self.lines[line].end
    }

    fn cell_text(&self, cell: usize) -> &str {
        let start = if cell == 0 { 0 } else { self.cells[cell - 1].end };
        &self.text[start..self.cells[cell].end]
    }

    /// Returns the width of a cell; `None` for the last cell of a line, which does not affect its column.
    fn width(&self, line: usize, column: usize) -> Option<usize> {
        let cells = self.cells_of(line);
        (column + 1 < cells.len()).then(|| self.cells[cells.start + column].width)
    }
}

/// Lays out a block and writes it in pieces of whole lines.
pub(super) struct Writer<'a, W> {
    block: &'a Block,
    remembered: &'a mut Vec<usize>,
    /// The widths of the columns around the lines being written.
    stops: &'a mut Vec<usize>,
    /// Lines that are laid out but not written.
    text: &'a mut String,
    colour: bool,
    out: &'a mut W,
}

impl<'a, W: Write> Writer<'a, W> {
    /// Writes all lines of a block without colour. `remembered` are the widths of the columns so far, which only grow.
    pub(super) fn write_plain(
        block: &'a Block,
        remembered: &'a mut Vec<usize>,
        out: &'a mut W,
    ) -> io::Result<()> {
        let (stops, text) = (&mut Vec::new(), &mut String::new());
        let mut writer = Writer { block, remembered, stops, text, colour: false, out };
        writer.write(0, block.lines.len())?;
        writer.write_piece()
    }

    /// Writes lines that all have the columns of `self.stops`. In a run of lines with one more column, that column is
    /// as wide as its widest cell.
    fn write(&mut self, from: usize, to: usize) -> io::Result<()> {
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
            let written = self.write(line, end);
            self.stops.pop();
            written?;
            line = end;
        }
        Ok(())
    }

    fn write_line(&mut self, line: usize) -> io::Result<()> {
        let colour = self.block.lines[line].kind.filter(|_| self.colour).and_then(colour_of);
        if let Some(colour) = colour {
            self.text.push_str(colour);
        }
        for (column, cell) in self.block.cells_of(line).enumerate() {
            self.text.push_str(self.block.cell_text(cell));
            if let Some(stop) = self.stops.get(column) {
                let width = self.block.cells[cell].width;
                let blanks = if width > MAX_WIDTH { PADDING } else { stop.saturating_sub(width) };
                self.text.extend(std::iter::repeat_n(' ', blanks));
            }
        }
        self.text.push_str(if colour.is_some() { PLAIN } else { "" });
        self.text.push('\n');
        if self.text.len() < PIECE { Ok(()) } else { self.write_piece() }
    }

    fn write_piece(&mut self) -> io::Result<()> {
        let written = self.out.write_all(self.text.as_bytes());
        self.text.clear();
        self.text.shrink_to(PIECE);
        written
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resource(group: &str, plural: &str, kind: &str) -> Arc<ApiResource> {
        Arc::new(ApiResource {
            group: group.into(),
            version: "v1".into(),
            resource: plural.into(),
            kind: kind.into(),
            namespaced: true,
        })
    }

    fn columns(names: &[&str]) -> Arc<[Column]> {
        names.iter().map(|name| Column { name: (*name).into(), format: String::new(), priority: 0 }).collect()
    }

    fn line(resource: &Arc<ApiResource>, names: &[&str], cells: &[&str]) -> Line {
        Line {
            resource: Arc::clone(resource),
            columns: columns(names),
            cells: cells.iter().collect(),
            kind: None,
        }
    }

    struct Printed {
        table: Table,
        out: Vec<u8>,
    }

    impl Printed {
        fn new(extent: Extent) -> Self {
            Self { table: Table::new(Layout::default(), true, extent, false), out: Vec::new() }
        }

        fn lines(&mut self, resource: &Arc<ApiResource>, names: &[&str], rows: &[&[&str]]) {
            for cells in rows {
                self.table.line(line(resource, names, cells), &mut self.out).expect("a Vec takes all");
            }
        }

        fn text(&mut self) -> String {
            self.table.flush(&mut self.out).expect("a Vec takes all");
            String::from_utf8(std::mem::take(&mut self.out)).expect("text")
        }
    }

    const GADGETS: &[&str] = &["Name", "Note", "Size", "Last"];

    // kubectl 1.32's output for these cells.
    #[test]
    fn table_layout_matches_kubectl() {
        let gadgets = resource("demo.kdelta.dev", "gadgets", "Gadget");
        let mut printed = Printed::new(Extent::Finite);
        printed.lines(
            &gadgets,
            GADGETS,
            &[
                &["a", "plain", "1.5", ""],
                &["c", "first...", "", "日本"],
                &["longer-name-b", "evil ^[[31m red", "", "has\ttab"],
            ],
        );
        assert_eq!(
            printed.text(),
            "NAME            NOTE              SIZE   LAST\n\
             a               plain             1.5    \n\
             c               first...                 日本\n\
             longer-name-b   evil ^[[31m red          has   tab\n"
        );
    }

    #[test]
    fn huge_cell_shifts_only_its_line() {
        let (huge, wide) = ("x".repeat(MAX_WIDTH + 1), "y".repeat(MAX_WIDTH));
        let mut printed = Printed::new(Extent::Finite);
        printed.lines(&resource("", "pods", "Pod"), &["Name", "Last"], &[&["a", "1"], &[&huge, "2"]]);
        assert_eq!(printed.text(), format!("NAME   LAST\na      1\n{huge}   2\n"));
        printed.lines(&resource("", "pods", "Pod"), &["Name", "Last"], &[&["a", "3"], &[&wide, "4"]]);
        assert_eq!(printed.text(), format!("a{}   3\n{wide}   4\n", " ".repeat(MAX_WIDTH - 1)));
    }

    #[test]
    fn waiting_lines_are_bounded_by_size() {
        let mut printed = Printed::new(Extent::Finite);
        let huge = "x".repeat(1 << 20);
        let rows = vec![[huge.as_str(), "1"]; (MAX_WAITING_BYTES >> 20) + 1];
        let rows: Vec<&[&str]> = rows.iter().map(|row| &row[..]).collect();
        printed.lines(&resource("", "pods", "Pod"), &["Name", "Last"], &rows);
        assert!(printed.out.len() >= MAX_WAITING_BYTES && printed.table.block.text.len() < 2 << 20);
    }

    // The same with -L app,x.y/tier --show-labels.
    #[test]
    fn width_counts_characters_and_tab_splits_cell() {
        let gadgets = resource("demo.kdelta.dev", "gadgets", "Gadget");
        let names = &["Name", "Note", "Size", "Last", "App", "Tier", "Labels"];
        let mut printed = Printed::new(Extent::Finite);
        printed.lines(
            &gadgets,
            names,
            &[
                &["a", "plain", "1.5", "", "web", "front", "app=web,x.y/tier=front"],
                &["c", "first...", "", "日本", "db", "", "app=db"],
                &["longer-name-b", "evil ^[[31m red", "", "has\ttab", "", "", "<none>"],
            ],
        );
        assert_eq!(
            printed.text(),
            "NAME            NOTE              SIZE   LAST   APP   TIER    LABELS\n\
             a               plain             1.5           web   front   app=web,x.y/tier=front\n\
             c               first...                 日本     db            app=db\n\
             longer-name-b   evil ^[[31m red          has    tab                 <none>\n"
        );
    }

    #[test]
    fn groups_have_separate_widths() {
        let (pods, services) = (resource("", "pods", "Pod"), resource("", "services", "Service"));
        let mut printed = Printed::new(Extent::Finite);
        printed.lines(&pods, &["Name", "Age"], &[&["pod/a-rather-long-name", "1s"]]);
        printed.lines(&services, &["Name", "Type", "Age"], &[&["service/x", "ClusterIP", "1s"]]);
        assert_eq!(
            printed.text(),
            "NAME                     AGE\n\
             pod/a-rather-long-name   1s\n\
             \n\
             NAME        TYPE        AGE\n\
             service/x   ClusterIP   1s\n"
        );
    }

    #[test]
    fn no_headers_means_no_empty_lines() {
        let (pods, services) = (resource("", "pods", "Pod"), resource("", "services", "Service"));
        let mut printed = Printed::new(Extent::Finite);
        printed.table.headers = false;
        printed.lines(&pods, &["Name", "Age"], &[&["pod/a", "1s"]]);
        printed.lines(&services, &["Name", "Age"], &[&["service/x", "1s"]]);
        assert_eq!(printed.text(), "pod/a   1s\nservice/x   1s\n");
    }

    #[test]
    fn stream_widths_only_grow() {
        let pods = resource("", "pods", "Pod");
        let mut printed = Printed::new(Extent::Endless);
        printed.lines(&pods, &["Name", "Age"], &[&["abc", "1s"]]);
        assert_eq!(printed.text(), "NAME   AGE\nabc    1s\n");
        printed.lines(&pods, &["Name", "Age"], &[&["a-longer-name", "1s"]]);
        assert_eq!(printed.text(), "a-longer-name   1s\n");
        printed.lines(&pods, &["Name", "Age"], &[&["abc", "2s"]]);
        assert_eq!(printed.text(), "abc             2s\n");
    }

    #[test]
    fn alternating_kinds_keep_widths() {
        let (pods, services) = (resource("", "pods", "Pod"), resource("", "services", "Service"));
        let mut printed = Printed::new(Extent::Endless);
        printed.lines(&pods, &["Name", "Age"], &[&["a-longer-name", "1s"]]);
        printed.lines(&services, &["Name", "Type", "Age"], &[&["x", "ClusterIP", "1s"]]);
        printed.text();
        printed.lines(&pods, &["Name", "Age"], &[&["b", "1s"]]);
        assert_eq!(printed.text(), "NAME            AGE\nb               1s\n");
        // Equal headings of another kind need no new header.
        printed.lines(&resource("", "secrets", "Secret"), &["Name", "Age"], &[&["s", "1s"]]);
        assert_eq!(printed.text(), "s               1s\n");
    }

    #[test]
    fn empty_table_writes_nothing() {
        let mut printed = Printed::new(Extent::Finite);
        assert_eq!(printed.text(), "");
    }

    #[test]
    fn short_line_ends_missing_columns() {
        let pods = resource("", "pods", "Pod");
        let mut printed = Printed::new(Extent::Finite);
        printed.lines(
            &pods,
            &["A", "B", "C"],
            &[&["1", "2", "3"], &["a-long-cell"], &["1", "22222222", "3"]],
        );
        assert_eq!(
            printed.text(),
            "A     B     C\n\
             1     2     3\n\
             a-long-cell\n\
             1     22222222   3\n"
        );
    }

    #[test]
    fn colour_does_not_change_widths() {
        let pods = resource("", "pods", "Pod");
        let mut table = Table::new(Layout::default(), false, Extent::Endless, true);
        let mut out = Vec::new();
        for (kind, name) in
            [(ChangeKind::Added, "a"), (ChangeKind::Modified, "bb"), (ChangeKind::Deleted, "c")]
        {
            let line = Line { kind: Some(kind), ..line(&pods, &["Name", "Age"], &[name, "1s"]) };
            table.line(line, &mut out).expect("a Vec takes all");
        }
        table.flush(&mut out).expect("a Vec takes all");
        assert_eq!(
            String::from_utf8(out).expect("text"),
            "\x1b[32ma     1s\x1b[0m\n\x1b[33mbb    1s\x1b[0m\n\x1b[31mc     1s\x1b[0m\n"
        );
    }

    #[test]
    fn stream_keeps_widths_and_colours() {
        let pods = resource("", "pods", "Pod");
        let mut table = Table::new(Layout::default(), true, Extent::Endless, true);
        let mut written = Vec::new();
        for (kind, name) in [
            (ChangeKind::Added, "a"),
            (ChangeKind::Modified, "longer-than-a"),
            (ChangeKind::Sync, "b"),
            (ChangeKind::Deleted, "c"),
        ] {
            let mut out = Vec::new();
            let line = Line { kind: Some(kind), ..line(&pods, &["Name", "Age"], &[name, "1s"]) };
            table.line(line, &mut out).expect("a Vec takes all");
            if kind == ChangeKind::Modified {
                table.remark("+ x: 1");
            }
            assert_eq!(out, b"", "it waits for the flush");
            table.flush(&mut out).expect("a Vec takes all");
            written.push(String::from_utf8(out).expect("text"));
        }
        assert_eq!(
            written,
            [
                "NAME   AGE\n\x1b[32ma      1s\x1b[0m\n",
                "\x1b[33mlonger-than-a   1s\x1b[0m\n  + x: 1\n",
                "b               1s\n",
                "\x1b[31mc               1s\x1b[0m\n",
            ]
        );
    }

    /// Counts the written pieces, which must end with whole lines.
    #[derive(Default)]
    struct Pieces {
        text: Vec<u8>,
        longest: usize,
        count: usize,
    }

    impl Write for Pieces {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            assert!(bytes.ends_with(b"\n"), "half a line");
            self.longest = self.longest.max(bytes.len());
            self.count += 1;
            self.text.write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn large_table_is_written_in_pieces_and_frees_memory() {
        let pods = resource("", "pods", "Pod");
        let mut table = Table::new(Layout::default(), false, Extent::Endless, false);
        let mut out = Pieces::default();
        for number in 0..20_000 {
            let name = format!("{number:>10}-of-many");
            table.line(line(&pods, &["Name", "Age"], &[&name, "1s"]), &mut out).expect("a Vec takes all");
        }
        table.line(line(&pods, &["Name", "Age"], &["a-name-wider-than-all", "1s"]), &mut out).expect("fine");
        table.flush(&mut out).expect("a Vec takes all");
        let text = String::from_utf8(out.text).expect("text");
        assert_eq!(text.lines().count(), 20_001);
        assert!(text.lines().all(|line| line.len() == "a-name-wider-than-all   1s".len()));
        assert!(out.count > 5 && out.longest < PIECE + 100, "{} of {}", out.count, out.longest);
        let Block { text, cells, lines } = &table.block;
        assert!(text.capacity() <= PIECE && cells.capacity().max(lines.capacity()) <= KEPT_CELLS);
        assert!(table.text.capacity() <= PIECE);
    }

    #[test]
    fn failed_lines_are_not_written_again() {
        struct Broken;
        impl Write for Broken {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::BrokenPipe.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let mut printed = Printed::new(Extent::Endless);
        printed.lines(&resource("", "pods", "Pod"), &["Name", "Age"], &[&["lost", "1s"]]);
        printed.table.flush(&mut Broken).expect_err("no reader");
        printed.lines(&resource("", "pods", "Pod"), &["Name", "Age"], &[&["next", "1s"]]);
        assert_eq!(printed.text(), "next   1s\n");
    }
}
