//! The table of `get -w`: the header where the columns change, and a row for each object.

use std::io;
use std::sync::Arc;

use kdelta::lines::Change;
use kdelta::object::{Column, JsonValue};
use kdelta::query::{SortBy, SortError, SortKey, SortedItems, TabWriter};

use crate::view::{Age, Cells, Colour, Layout, PLAIN, RowMeaning};

/// The rows of a table without an end.
pub(super) struct Rows {
    layout: Layout,
    headers: bool,
    /// Whether abnormal cells are coloured.
    colour: bool,
    /// The columns of the last row.
    columns: Option<Arc<[Column]>>,
    /// The meanings of those columns; none without colour.
    meaning: RowMeaning,
    /// The cells of the last row, kept for their capacity.
    spare: Cells,
    /// The initial rows, while they wait to be sorted.
    unsorted: Option<UnsortedRows>,
}

/// Rows that wait for the end of the list.
struct UnsortedRows {
    sort_by: String,
    rows: Vec<Change>,
}

impl Rows {
    /// Creates a table, with a header if `headers`, and abnormal cells coloured if `colour`. Its initial rows are sorted
    /// by an expression, if there is one.
    pub(super) fn new(layout: Layout, headers: bool, colour: bool, sort_by: Option<&str>) -> Self {
        let unsorted = sort_by.map(|text| UnsortedRows { sort_by: text.to_owned(), rows: Vec::new() });
        let (spare, meaning) = (Cells::default(), RowMeaning::default());
        Self { layout, headers, colour, columns: None, meaning, spare, unsorted }
    }

    /// Adds the row of a change to `text`, or keeps it until the rows are sorted.
    ///
    /// # Errors
    /// `text` can't write.
    pub(super) fn change(&mut self, change: &Change, text: &mut TabWriter<Vec<u8>>) -> io::Result<()> {
        match &mut self.unsorted {
            Some(unsorted) => {
                unsorted.rows.push(change.clone());
                Ok(())
            }
            None => self.row(change, text),
        }
    }

    /// Sorts the initial rows and adds them to `text`. As in kubectl, the expression does not matter below two rows.
    ///
    /// # Errors
    /// The rows can't be sorted by the expression.
    pub(super) fn end_list(&mut self, text: &mut TabWriter<Vec<u8>>) -> Result<(), SortError> {
        let Some(UnsortedRows { sort_by, rows }) = self.unsorted.take() else { return Ok(()) };
        let rows = if rows.len() > 1 { sorted(&sort_by, rows)? } else { rows };
        for row in &rows {
            // Writing to memory can't fail.
            let _ = self.row(row, text);
        }
        Ok(())
    }

    fn row(&mut self, change: &Change, text: &mut TabWriter<Vec<u8>>) -> io::Result<()> {
        let Change { object, resource, received: now, .. } = change;
        // The state has been in the index since it was received, perhaps for hours.
        let age =
            if change.final_state_unknown { Age::Fresh { now: *now } } else { Age::AsSent { now: *now } };
        let kind = self.layout.event.then_some(change.kind);
        let cells = std::mem::take(&mut self.spare);
        let line = self.layout.line(object, (resource, &change.context), kind, age, cells);
        let is_known = |last: &Arc<[Column]>| Arc::ptr_eq(last, &line.columns) || *last == line.columns;
        if !self.columns.as_ref().is_some_and(is_known) {
            let headings = self.layout.headings(&line.columns, resource);
            if self.headers {
                write_row(headings.iter().map(String::as_str), [], text)?;
            }
            if self.colour {
                self.meaning = RowMeaning::of(&headings);
            }
            self.columns = Some(line.columns);
        }
        if self.colour {
            let cells: Vec<&str> = line.cells.iter().collect();
            write_row(cells.iter().copied(), self.meaning.colours(&cells), text)?;
        } else {
            write_row(line.cells.iter(), [], text)?;
        }
        self.spare = line.cells;
        Ok(())
    }
}

/// Writes cells with a tab between them, and the end of the line. `colours` are the indices and colours of the coloured
/// cells, in order.
fn write_row<'a>(
    cells: impl Iterator<Item = &'a str>,
    colours: impl IntoIterator<Item = (usize, Colour)>,
    text: &mut TabWriter<Vec<u8>>,
) -> io::Result<()> {
    let mut colours = colours.into_iter().peekable();
    for (column, cell) in cells.enumerate() {
        if column > 0 {
            text.write("\t")?;
        }
        match colours.next_if(|(of, _)| *of == column) {
            Some((_, colour)) if !cell.is_empty() => {
                text.write_invisible(colour.start());
                text.write(cell)?;
                text.write_invisible(PLAIN);
            }
            _ => text.write(cell)?,
        }
    }
    text.write("\n")
}

fn sorted(expression: &str, rows: Vec<Change>) -> Result<Vec<Change>, SortError> {
    let by = SortBy::parse(expression, SortedItems::Rows)?;
    let mut keyed: Vec<(SortKey, Box<Change>)> = Vec::with_capacity(rows.len());
    for row in rows {
        let key = by.key(&JsonValue::parse(&row.object.json_or_names()))?;
        keyed.push((key, Box::new(row)));
    }
    by.sort(&mut keyed)?;
    Ok(keyed.into_iter().map(|(_, row)| *row).collect())
}
