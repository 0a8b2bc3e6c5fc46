//! Rows in blocks with the same columns.

use std::io::{self, Write};
use std::sync::Arc;

use kdelta::object::{ApiResource, Column};

use super::text::DelimitedFormat;
use crate::view::{Layout, Line, NamespaceColumn};

/// Rows in blocks with the same columns. A header starts each block, and an empty line separates it from the last one.
pub(crate) struct DelimitedRows {
    format: DelimitedFormat,
    layout: Layout,
    headers: bool,
    block: Option<Block>,
    text: String,
}

/// The type and columns of the present block.
struct Block {
    resource: Arc<ApiResource>,
    columns: Arc<[Column]>,
    headings: Vec<String>,
}

impl DelimitedRows {
    /// Creates rows with these columns, with headers if `headers`.
    pub(crate) fn new(format: DelimitedFormat, layout: Layout, headers: bool) -> Self {
        Self { format, layout, headers, block: None, text: String::new() }
    }

    /// Returns the columns.
    pub(crate) fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Adds a NAMESPACE column for every resource from the next block on, as a table does.
    pub(crate) fn keep_namespace_column(&mut self) {
        self.layout.namespace = NamespaceColumn::Always;
    }

    /// Writes a line.
    ///
    /// # Errors
    /// `out` failed.
    pub(crate) fn line(&mut self, line: &Line, out: &mut impl Write) -> io::Result<()> {
        self.text.clear();
        let is_other = |block: &Block| block.resource != line.resource || block.columns != line.columns;
        if self.block.as_ref().is_none_or(is_other) {
            self.start_block(line);
        }
        let headings = self.block.as_ref().map_or(0, |block| block.headings.len());
        // The EVENT cells of tables are padded.
        let event = self.layout.event.then_some(usize::from(self.layout.context));
        let cells = line.cells.iter().chain(std::iter::repeat("")).take(headings.max(line.cells.len()));
        let cells =
            cells.enumerate().map(|(at, cell)| if Some(at) == event { cell.trim_end() } else { cell });
        self.format.row(cells, &mut self.text);
        out.write_all(self.text.as_bytes())
    }

    fn start_block(&mut self, line: &Line) {
        let headings = self.layout.headings(&line.columns, &line.resource);
        // A watch returns to the columns of another type with each change of it.
        let is_equal = self.block.as_ref().is_some_and(|block| block.headings == headings);
        if !is_equal && self.headers {
            self.text.push_str(if self.block.is_some() { "\n" } else { "" });
            self.format.header(headings.iter().map(String::as_str), &mut self.text);
        }
        let (resource, columns) = (Arc::clone(&line.resource), Arc::clone(&line.columns));
        self.block = Some(Block { resource, columns, headings });
    }
}

/// Writes all rows, with a header if `headers`. Each row has one cell per heading.
///
/// # Errors
/// `out` failed.
pub(crate) fn write_rows<'a>(
    format: DelimitedFormat,
    headings: &[&str],
    rows: impl IntoIterator<Item = Vec<&'a str>>,
    headers: bool,
    out: &mut impl Write,
) -> io::Result<()> {
    let mut text = String::new();
    if headers {
        format.header(headings.iter().copied(), &mut text);
    }
    for row in rows {
        format.row(row.into_iter(), &mut text);
    }
    out.write_all(text.as_bytes())?;
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resource(plural: &str) -> Arc<ApiResource> {
        Arc::new(ApiResource {
            group: String::new(),
            version: "v1".into(),
            resource: plural.into(),
            kind: "X".into(),
            namespaced: true,
        })
    }

    fn line(resource: &Arc<ApiResource>, names: &[&str], cells: &[&str]) -> Line {
        let column = |name: &&str| Column { name: (*name).into(), format: String::new(), priority: 0 };
        Line {
            resource: Arc::clone(resource),
            columns: names.iter().map(column).collect(),
            cells: cells.iter().collect(),
        }
    }

    fn written(format: DelimitedFormat, layout: Layout, headers: bool, lines: &[Line]) -> String {
        let (mut rows, mut out) = (DelimitedRows::new(format, layout, headers), Vec::new());
        for line in lines {
            rows.line(line, &mut out).expect("a Vec takes all");
        }
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn each_type_is_a_block_with_its_header() {
        let (pods, nodes) = (resource("pods"), resource("nodes"));
        let lines = [
            line(&pods, &["Name", "Ready"], &["pod/a", "1/1"]),
            line(&pods, &["Name", "Ready"], &["pod/b", "0/1"]),
            line(&nodes, &["Name", "Status", "Age"], &["node/c", "Ready"]),
        ];
        let csv = |headers| written(DelimitedFormat::Csv, Layout::default(), headers, &lines);
        assert_eq!(csv(true), "NAME,READY\npod/a,1/1\npod/b,0/1\n\nNAME,STATUS,AGE\nnode/c,Ready,\n");
        assert_eq!(csv(false), "pod/a,1/1\npod/b,0/1\nnode/c,Ready,\n");
        assert_eq!(
            written(DelimitedFormat::Markdown, Layout::default(), true, &lines[2..]),
            "| NAME | STATUS | AGE |\n| --- | --- | --- |\n| node/c | Ready |  |\n"
        );
    }

    #[test]
    fn event_cells_are_not_padded() {
        let layout = Layout { event: true, ..Layout::default() };
        let lines = [line(&resource("pods"), &["Name"], &["ADDED   ", "a"])];
        assert_eq!(written(DelimitedFormat::Csv, layout, true, &lines), "EVENT,NAME\nADDED,a\n");
    }
}
