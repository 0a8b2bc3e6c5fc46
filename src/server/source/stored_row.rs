//! Table rows that another server wrote, as JSON.

use std::sync::Arc;

use crate::object::{Object, Row};

/// The table row of an object, as another server wrote it. Its JSON is written for each response: most rows are read once.
#[derive(Debug, Clone)]
pub(crate) struct StoredRow {
    columns: Arc<StoredColumns>,
    cells: StoredCells,
}

/// The columns of a table, as another server wrote them.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct StoredColumns {
    /// `columnDefinitions` as JSON.
    pub(crate) definitions: String,
    /// Whether each column has whole numbers, which servers also send in some columns of the type `string`.
    pub(crate) integers: Vec<bool>,
}

/// The cells of an object.
#[derive(Debug, Clone)]
pub(crate) enum StoredCells {
    /// The cells of a row.
    Row(Row),
    /// The cells of the row of an object.
    Object(Arc<Object>),
}

impl StoredRow {
    pub(crate) fn new(columns: &Arc<StoredColumns>, cells: StoredCells) -> Self {
        Self { columns: Arc::clone(columns), cells }
    }

    /// Returns `columnDefinitions` as JSON.
    pub(crate) fn definitions(&self) -> &str {
        &self.columns.definitions
    }

    /// Appends `cells` as JSON.
    pub(crate) fn write_cells(&self, out: &mut Vec<u8>) {
        out.push(b'[');
        for (at, cell) in self.cells().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            let is_integer = self.columns.integers.get(at).copied().unwrap_or_default();
            let number = is_integer.then(|| cell.parse::<i64>().ok()).flatten();
            // Writing a number or a text to a vector does not fail.
            let _written = match number {
                Some(number) => serde_json::to_writer(&mut *out, &number),
                None => serde_json::to_writer(&mut *out, cell),
            };
        }
        out.push(b']');
    }

    fn cells(&self) -> impl Iterator<Item = &str> {
        let row = match &self.cells {
            StoredCells::Row(row) => Some(row),
            StoredCells::Object(object) => object.row(),
        };
        row.into_iter().flat_map(Row::cells)
    }
}

impl PartialEq for StoredRow {
    fn eq(&self, other: &Self) -> bool {
        self.columns == other.columns && self.cells().eq(other.cells())
    }
}

impl Eq for StoredRow {}
