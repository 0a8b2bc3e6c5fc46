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
        let cells = self.front.iter().map(|(_, cell)| &**cell).chain(line.cells.iter());
        let name = line.cells.name().map(|name| usize::from(self.front.is_some()) + name);
        match &self.current {
            Some(current) if self.colour => {
                let cells: Vec<&str> = cells.collect();
                let colours = current.meaning.colours(&cells);
                self.block.push(cells.iter().copied(), colours, name);
            }
            _ => self.block.push(cells, [], name),
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
        self.block.note(&format!("  {text}"), colour.filter(|_| self.colour), form);
    }

    /// Adds a text between two lines, which does not affect the columns.
    pub(crate) fn note(&mut self, text: &str) {
        self.block.note(text, self.colour.then_some(Colour::Dim), LineForm::Note);
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

#[cfg(test)]
mod tests {
    use super::block::KEPT_CELLS;
    use super::pieces::PIECE;
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
        Line { resource: Arc::clone(resource), columns: columns(names), cells: cells.iter().collect() }
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
        assert!(printed.out.len() >= MAX_WAITING_BYTES && printed.table.block.text_len() < 2 << 20);
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
    fn names_have_their_kinds_if_several_types_were_listed() {
        let pods = resource("", "pods", "Pod");
        let services = resource("", "services", "Service");
        let deployments = resource("apps", "deployments", "Deployment");
        let printed = |parts: &[(&Arc<ApiResource>, &[&str])], listed: &[&Arc<ApiResource>]| {
            let mut printed = Printed::new(Extent::Finite);
            printed.table.layout.kind = KindPrefix::IfSeveral;
            for (resource, names) in parts {
                for name in *names {
                    let mut cells: Cells = [*name, "1s"].into_iter().collect();
                    cells.set_name(0);
                    let line = Line { cells, ..line(resource, &["Name", "Age"], &[]) };
                    printed.table.line(line, &mut printed.out).expect("a Vec takes all");
                }
            }
            for resource in listed {
                printed.table.listed(resource);
            }
            printed.text()
        };
        assert_eq!(printed(&[(&pods, &["a", "b"])], &[]), "NAME   AGE\na      1s\nb      1s\n");
        assert_eq!(printed(&[(&pods, &["a"])], &[&pods]), "NAME   AGE\na      1s\n");
        assert_eq!(printed(&[(&pods, &["a"])], &[&pods, &services]), "NAME    AGE\npod/a   1s\n");
        assert_eq!(
            printed(&[(&deployments, &["a", "bc"]), (&pods, &["d"])], &[]),
            "NAME                 AGE\ndeployment.apps/a    1s\ndeployment.apps/bc   1s\n\nNAME    AGE\npod/d   1s\n"
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
    fn kinds_with_one_header_share_widths_in_a_block() {
        let (pods, nodes) = (resource("", "pods", "Pod"), resource("", "nodes", "Node"));
        let mut printed = Printed::new(Extent::Endless);
        printed.lines(&pods, &["Name", "Age"], &[&["a", "1s"]]);
        printed.lines(&nodes, &["Name", "Age"], &[&["a-longer-name", "1s"]]);
        printed.lines(&pods, &["Name", "Age"], &[&["b", "1s"]]);
        assert_eq!(
            printed.text(),
            "NAME            AGE\na               1s\na-longer-name   1s\nb               1s\n"
        );
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
    fn stream_keeps_widths_and_colours_abnormal_cells() {
        let pods = resource("", "pods", "Pod");
        let mut table = Table::new(Layout::default(), true, Extent::Endless, true);
        let mut written = Vec::new();
        for (name, status) in
            [("a", "Running"), ("longer-than-a", "Pending"), ("b", "CrashLoopBackOff"), ("c", "Running")]
        {
            let mut out = Vec::new();
            table
                .line(line(&pods, &["Name", "Status", "Age"], &[name, status, "1s"]), &mut out)
                .expect("fine");
            if status == "Pending" {
                table.remark("+ x: 1", None, false);
            }
            assert_eq!(out, b"", "it waits for the flush");
            table.flush(&mut out).expect("a Vec takes all");
            written.push(String::from_utf8(out).expect("text"));
        }
        assert_eq!(
            written,
            [
                "NAME   STATUS    AGE\na      Running   1s\n",
                "longer-than-a   \x1b[33mPending\x1b[0m   1s\n  + x: 1\n",
                "b               \x1b[31mCrashLoopBackOff\x1b[0m   1s\n",
                "c               Running            1s\n",
            ]
        );
    }

    #[test]
    fn front_column_is_before_all_others() {
        let pods = resource("", "pods", "Pod");
        let table = Table::new(Layout::default(), true, Extent::Endless, true).with_front(Some("TIME"));
        let (mut table, mut out) = (table, Vec::new());
        for (time, status) in [("10:00", "Running"), ("10:01", "Pending")] {
            table.set_front(time.to_owned());
            table.line(line(&pods, &["Name", "Status"], &["a", status]), &mut out).expect("a Vec takes all");
        }
        table.flush(&mut out).expect("a Vec takes all");
        assert_eq!(
            String::from_utf8(out).expect("text"),
            "TIME    NAME   STATUS\n10:00   a      Running\n10:01   a      \x1b[33mPending\x1b[0m\n"
        );
    }

    #[test]
    fn note_stands_between_lines_and_needs_no_header() {
        let pods = resource("", "pods", "Pod");
        let (mut table, mut out) = (Table::new(Layout::default(), true, Extent::Endless, true), Vec::new());
        table.note("none");
        table.flush(&mut out).expect("a Vec takes all");
        table.line(line(&pods, &["Name", "Age"], &["a", "1s"]), &mut out).expect("a Vec takes all");
        table.note("then");
        table.line(line(&pods, &["Name", "Age"], &["abcd", "1s"]), &mut out).expect("a Vec takes all");
        table.flush(&mut out).expect("a Vec takes all");
        assert_eq!(
            String::from_utf8(out).expect("text"),
            "\x1b[2mnone\x1b[0m\nNAME   AGE\na      1s\n\x1b[2mthen\x1b[0m\nabcd   1s\n"
        );
    }

    #[test]
    fn rows_of_a_terminal_are_clipped_to_its_current_width() {
        use std::cell::Cell;
        thread_local!(static COLUMNS: Cell<Option<usize>> = const { Cell::new(Some(20)) });
        let pods = resource("", "pods", "Pod");
        let width = RowWidth::of(|| COLUMNS.get());
        let mut table = Table::new(Layout::default(), false, Extent::Endless, false).clipped(width);
        let mut written = Vec::new();
        for columns in [Some(20), Some(12), None, Some(60)] {
            COLUMNS.set(columns);
            let cells = &["abcdefghijklmnop", "Running"];
            let mut out = Vec::new();
            table.line(line(&pods, &["Name", "Status"], cells), &mut out).expect("a Vec takes all");
            table.flush(&mut out).expect("a Vec takes all");
            written.push(String::from_utf8(out).expect("text"));
        }
        let whole = "abcdefghijklmnop   Running\n";
        assert_eq!(written, ["abcdefghi…   Running\n", "abcdefg…   …\n", whole, whole]);
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
        let [text, cells, lines] = table.block.capacities();
        assert!(text <= PIECE && cells.max(lines) <= KEPT_CELLS);
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
