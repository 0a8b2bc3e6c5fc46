//! A row of Table cells, as the server rendered them (`meta.k8s.io/v1` Table).

use std::sync::Arc;

/// One column of a Table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// The heading, as the server spells it.
    pub name: String,
    /// The column's format: `name` marks the column that holds the object's name, `date` one that shows how long a time
    /// is ago.
    pub format: String,
    /// 0 for the columns that are always shown, more for those of the wide view.
    pub priority: i32,
}

/// The cells of one object, as text, with the columns they stand under.
///
/// The cells share one allocation; the columns are those of the whole list or watch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    columns: Arc<[Column]>,
    text: Box<str>,
    /// Where each cell ends in `text`.
    ends: Box<[u32]>,
}

impl Row {
    /// A row of these cells. A table has as many cells as columns; cells beyond the last column are kept, and it is
    /// the printer who ignores them.
    pub fn new<S: AsRef<str>>(columns: Arc<[Column]>, cells: impl IntoIterator<Item = S>) -> Self {
        Self::written(columns, 0, cells, |cell, text| text.push_str(cell.as_ref()))
    }

    /// The same of cells that `write` adds to the text of the row, each to its end: none needs a text of its own first.
    /// `room` is how many bytes they may take together; more do no harm.
    pub fn written<C>(
        columns: Arc<[Column]>,
        room: usize,
        cells: impl IntoIterator<Item = C>,
        mut write: impl FnMut(C, &mut String),
    ) -> Self {
        let mut text = String::with_capacity(room);
        let mut ends = Vec::with_capacity(columns.len());
        for cell in cells {
            write(cell, &mut text);
            ends.push(u32::try_from(text.len()).unwrap_or(u32::MAX));
        }
        Self { columns, text: text.into(), ends: ends.into() }
    }

    /// The columns of the table this row is of.
    #[must_use]
    pub fn columns(&self) -> &Arc<[Column]> {
        &self.columns
    }

    /// The bytes that its cells take.
    pub(super) fn stored_len(&self) -> usize {
        self.text.len() + std::mem::size_of_val(&*self.ends)
    }

    /// The cells in order, unescaped: they are untrusted text.
    #[must_use]
    pub fn cells(&self) -> impl ExactSizeIterator<Item = &str> {
        (0..self.ends.len()).map(|at| {
            let start = if at == 0 { 0 } else { self.ends[at - 1] as usize };
            &self.text[start..self.ends[at] as usize]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_come_back_as_they_went_in() {
        let row = Row::new(Arc::from([]), ["web-1", "", "1/1", "ünïcödé", ""]);
        assert_eq!(row.cells().collect::<Vec<_>>(), ["web-1", "", "1/1", "ünïcödé", ""]);
    }
}
