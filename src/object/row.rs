//! Rows of Table cells, as the server rendered them (`meta.k8s.io/v1` Table).

use std::sync::Arc;

/// A column of a Table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// The heading, as the server spells it.
    pub name: String,
    /// The column's format: `name` marks the column with the object's name, `date` one that shows the age of a
    /// timestamp.
    pub format: String,
    /// 0 for columns that are always shown, higher for those of the wide view.
    pub priority: i32,
}

/// The cells of one object as text, with their columns.
///
/// The cells share one allocation; the columns are shared by the whole list or watch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    columns: Arc<[Column]>,
    text: Box<str>,
    /// The end of each cell in `text`.
    ends: Box<[u32]>,
}

impl Row {
    /// Creates a row of these cells. A table has as many cells as columns; additional cells are kept, and the printer
    /// ignores them.
    pub fn new<S: AsRef<str>>(columns: Arc<[Column]>, cells: impl IntoIterator<Item = S>) -> Self {
        Self::written(columns, 0, cells, |cell, text| text.push_str(cell.as_ref()))
    }

    /// Creates a row of cells that `write` appends to the row's text, so that none needs a string of its own. `room` is
    /// an estimate of their total length in bytes.
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

    /// Returns the columns of the row's table.
    #[must_use]
    pub fn columns(&self) -> &Arc<[Column]> {
        &self.columns
    }

    /// Returns the bytes that the cells occupy.
    pub(super) fn stored_len(&self) -> usize {
        self.text.len() + std::mem::size_of_val(&*self.ends)
    }

    /// Returns the cells in order, unescaped: they are untrusted text.
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
