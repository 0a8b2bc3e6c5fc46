//! Tables as kubectl prints them.
//!
//! kubectl lays its tables out with a tab writer (Go's elastic tab stops): a column is as wide as its widest cell plus
//! 3, at least 6, over a run of lines that all have it; the last cell of a line is not padded; widths once reached are
//! kept, so that a stream's columns may only grow.

use std::collections::HashMap;
use std::io::{self, Write};
use std::sync::Arc;

use kdelta::object::{ApiResource, Column};

use crate::view::{Cells, ChangeKind, Layout, Line, NamespaceColumn, PLAIN, colour_of};

const NARROWEST: usize = 6;
const PADDING: usize = 3;

/// The widest cell that shapes its column, in characters. A wider one is printed whole and shifts the rest of its line:
/// it would be paid for by as many blanks in every other line.
pub(super) const WIDEST: usize = 2048;

/// How many lines wait at most for the widths of those that follow. kubectl waits for all; nobody sees the difference
/// before a table of this length has its widest cell beyond it.
const MOST_WAITING: usize = 1 << 18;

/// The bytes of the lines that wait, at most.
const MOST_WAITING_TEXT: usize = 64 << 20;

/// How much text is laid out before it is handed on; and the room that is kept for the next lines, in bytes and in cells.
/// An endless table may begin with a large one.
const PIECE: usize = 1 << 16;
const KEPT_CELLS: usize = 1 << 10;

/// Whether a table ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// It does: each resource is a group of its own, with its own header and widths, after an empty line.
    Finite,
    /// It does not: a header follows where the columns change, and columns seen before come back as wide as they were.
    Endless,
}

/// A table being written. Lines wait until [`Table::flush`], so that the columns fit them all.
pub(crate) struct Table {
    layout: Layout,
    headers: bool,
    extent: Extent,
    colour: bool,
    current: Option<Current>,
    /// The widths of other headings, in an endless table. Bounded by the kinds watched.
    widths: HashMap<Vec<String>, Vec<usize>>,
    block: Block,
    /// Empty between two blocks, as the next one is: kept for the room they have.
    stops: Vec<usize>,
    text: String,
    /// The cells of the line before, for the room they have.
    spare: Cells,
}

/// What the lines stand under.
struct Current {
    resource: Arc<ApiResource>,
    columns: Arc<[Column]>,
    headings: Vec<String>,
    widths: Vec<usize>,
}

impl Table {
    /// A table with these columns; `headers` unless no header is wanted, `colour` to paint lines by their change.
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

    /// Cells for the next line, to be overwritten.
    pub(crate) fn spare_cells(&mut self) -> Cells {
        std::mem::take(&mut self.spare)
    }

    /// Which columns the table has.
    pub(crate) fn layout(&self) -> &Layout {
        &self.layout
    }

    /// From the next line on, every resource has a NAMESPACE column. It is a quirk of kubectl's lists of many kinds: a kind
    /// without namespaces has the column if it comes after one with.
    pub(crate) fn keep_namespace_column(&mut self) {
        self.layout.namespace = NamespaceColumn::Always;
    }

    /// Adds a line, which waits; lines before it may be written.
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
        let is_full = self.block.lines.len() >= MOST_WAITING || self.block.text.len() >= MOST_WAITING_TEXT;
        if is_full { self.flush(out) } else { Ok(()) }
    }

    /// Adds a line under the one added last, which is no row and shapes no column.
    pub(crate) fn remark(&mut self, text: &str) {
        self.block.remark(text);
    }

    /// Writes the lines that wait.
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
        let written = writer.write(0, block.lines.len()).and_then(|()| writer.hand_on());
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

/// Lines that wait. Their text stands in one piece: a large table is many small cells.
#[derive(Default)]
struct Block {
    text: String,
    cells: Vec<Cell>,
    lines: Vec<WaitingLine>,
}

struct Cell {
    /// Where it ends in the text; it starts where the one before ends.
    end: usize,
    /// In characters, as kubectl counts.
    width: usize,
}

struct WaitingLine {
    /// One past its last cell.
    end: usize,
    kind: Option<ChangeKind>,
}

impl Block {
    fn push<'a>(&mut self, cells: impl Iterator<Item = &'a str>, kind: Option<ChangeKind>) {
        // A tab inside a cell starts another cell, as it does in kubectl's.
        for cell in cells.flat_map(|cell| cell.split('\t')) {
            self.text.push_str(cell);
            self.cells.push(Cell { end: self.text.len(), width: cell.chars().count() });
        }
        self.lines.push(WaitingLine { end: self.cells.len(), kind });
    }

    /// A line of one cell, which has no width.
    fn remark(&mut self, text: &str) {
        self.text.push_str("  ");
        self.text.push_str(text);
        self.cells.push(Cell { end: self.text.len(), width: 0 });
        self.lines.push(WaitingLine { end: self.cells.len(), kind: None });
    }

    /// Takes all lines away, but for the room that a few need.
    fn clear(&mut self) {
        self.text.clear();
        self.text.shrink_to(PIECE);
        self.cells.clear();
        self.cells.shrink_to(KEPT_CELLS);
        self.lines.clear();
        self.lines.shrink_to(KEPT_CELLS);
    }

    /// Where the cells of a line are.
    fn cells_of(&self, line: usize) -> std::ops::Range<usize> {
        let start = if line == 0 { 0 } else { self.lines[line - 1].end };
        start..self.lines[line].end
    }

    fn cell_text(&self, cell: usize) -> &str {
        let start = if cell == 0 { 0 } else { self.cells[cell - 1].end };
        &self.text[start..self.cells[cell].end]
    }

    /// The width of a line's cell in a column; none in the last cell and beyond, which shape no column.
    fn width(&self, line: usize, column: usize) -> Option<usize> {
        let cells = self.cells_of(line);
        (column + 1 < cells.len()).then(|| self.cells[cells.start + column].width)
    }
}

/// Lays out a block, and hands it on in pieces of whole lines.
struct Writer<'a, W> {
    block: &'a Block,
    remembered: &'a mut Vec<usize>,
    /// The widths of the columns that enclose the lines being written.
    stops: &'a mut Vec<usize>,
    /// Lines that are laid out.
    text: &'a mut String,
    colour: bool,
    out: &'a mut W,
}

impl<W: Write> Writer<'_, W> {
    /// Writes some lines, all of which have the columns of `self.stops`. A run of lines that share one column more is
    /// as wide in it as its widest cell.
    fn write(&mut self, from: usize, to: usize) -> io::Result<()> {
        let column = self.stops.len();
        let mut line = from;
        while line < to {
            let mut width = NARROWEST;
            let mut end = line;
            while end < to
                && let Some(cell) = self.block.width(end, column)
            {
                if cell <= WIDEST {
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
                let blanks = if width > WIDEST { PADDING } else { stop.saturating_sub(width) };
                self.text.extend(std::iter::repeat_n(' ', blanks));
            }
        }
        self.text.push_str(if colour.is_some() { PLAIN } else { "" });
        self.text.push('\n');
        if self.text.len() < PIECE { Ok(()) } else { self.hand_on() }
    }

    fn hand_on(&mut self) -> io::Result<()> {
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

    // What kubectl 1.32 prints for these cells.
    #[test]
    fn a_table_is_laid_out_as_kubectl_lays_it_out() {
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
    fn a_huge_cell_shifts_its_own_line_only() {
        let (huge, wide) = ("x".repeat(WIDEST + 1), "y".repeat(WIDEST));
        let mut printed = Printed::new(Extent::Finite);
        printed.lines(&resource("", "pods", "Pod"), &["Name", "Last"], &[&["a", "1"], &[&huge, "2"]]);
        assert_eq!(printed.text(), format!("NAME   LAST\na      1\n{huge}   2\n"));
        printed.lines(&resource("", "pods", "Pod"), &["Name", "Last"], &[&["a", "3"], &[&wide, "4"]]);
        assert_eq!(printed.text(), format!("a{}   3\n{wide}   4\n", " ".repeat(WIDEST - 1)));
    }

    #[test]
    fn lines_wait_for_each_other_up_to_an_amount_of_text() {
        let mut printed = Printed::new(Extent::Finite);
        let huge = "x".repeat(1 << 20);
        let rows = vec![[huge.as_str(), "1"]; (MOST_WAITING_TEXT >> 20) + 1];
        let rows: Vec<&[&str]> = rows.iter().map(|row| &row[..]).collect();
        printed.lines(&resource("", "pods", "Pod"), &["Name", "Last"], &rows);
        assert!(printed.out.len() >= MOST_WAITING_TEXT && printed.table.block.text.len() < 2 << 20);
    }

    // The same with -L app,x.y/tier --show-labels.
    #[test]
    fn characters_are_counted_not_bytes_and_a_tab_moves_what_follows() {
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
    fn groups_stand_apart_with_widths_of_their_own() {
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
    fn without_headers_there_is_no_empty_line_either() {
        let (pods, services) = (resource("", "pods", "Pod"), resource("", "services", "Service"));
        let mut printed = Printed::new(Extent::Finite);
        printed.table.headers = false;
        printed.lines(&pods, &["Name", "Age"], &[&["pod/a", "1s"]]);
        printed.lines(&services, &["Name", "Age"], &[&["service/x", "1s"]]);
        assert_eq!(printed.text(), "pod/a   1s\nservice/x   1s\n");
    }

    #[test]
    fn widths_of_a_stream_only_grow() {
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
    fn kinds_that_take_turns_in_a_stream_keep_their_widths() {
        let (pods, services) = (resource("", "pods", "Pod"), resource("", "services", "Service"));
        let mut printed = Printed::new(Extent::Endless);
        printed.lines(&pods, &["Name", "Age"], &[&["a-longer-name", "1s"]]);
        printed.lines(&services, &["Name", "Type", "Age"], &[&["x", "ClusterIP", "1s"]]);
        printed.text();
        printed.lines(&pods, &["Name", "Age"], &[&["b", "1s"]]);
        assert_eq!(printed.text(), "NAME            AGE\nb               1s\n");
        // The same headings of another kind are no reason for a header.
        printed.lines(&resource("", "secrets", "Secret"), &["Name", "Age"], &[&["s", "1s"]]);
        assert_eq!(printed.text(), "s               1s\n");
    }

    #[test]
    fn an_empty_table_writes_nothing() {
        let mut printed = Printed::new(Extent::Finite);
        assert_eq!(printed.text(), "");
    }

    #[test]
    fn a_short_line_ends_the_columns_it_does_not_have() {
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
    fn colour_goes_around_a_line_and_changes_no_width() {
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
    fn a_stream_that_is_written_line_by_line_keeps_widths_and_colours() {
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

    /// Counts the pieces that come, which must be of whole lines.
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
    fn a_large_table_comes_in_pieces_with_one_layout_and_leaves_no_more_room_than_a_few_lines_need() {
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
    fn lines_that_could_not_be_written_are_not_written_a_second_time() {
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
        printed.table.flush(&mut Broken).expect_err("nobody reads");
        printed.lines(&resource("", "pods", "Pod"), &["Name", "Age"], &[&["next", "1s"]]);
        assert_eq!(printed.text(), "next   1s\n");
    }
}
