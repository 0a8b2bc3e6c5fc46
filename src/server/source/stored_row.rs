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
    /// Encoded cells, which are decoded when they are written.
    Bytes(Box<[u8]>, Arc<dyn CellWriter>),
}

/// Decodes cells.
pub(crate) trait CellWriter: std::fmt::Debug + Send + Sync {
    /// Passes the cells of an object with this name to `write`, in order.
    fn write(&self, encoded: &[u8], name: &str, write: &mut dyn FnMut(&str));
}

impl StoredRow {
    pub(crate) fn new(columns: &Arc<StoredColumns>, cells: StoredCells) -> Self {
        Self { columns: Arc::clone(columns), cells }
    }

    /// Returns `columnDefinitions` as JSON.
    pub(crate) fn definitions(&self) -> &str {
        &self.columns.definitions
    }

    /// Appends `cells` as JSON. `name` is the name of the object.
    pub(crate) fn write_cells(&self, name: &str, out: &mut Vec<u8>) {
        out.push(b'[');
        let mut at = 0;
        let mut write = |cell: &str| {
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
            at += 1;
        };
        self.for_each_cell(name, &mut write);
        out.push(b']');
    }

    /// Passes each cell to `visit`. `name` is the name of the object.
    fn for_each_cell(&self, name: &str, visit: &mut dyn FnMut(&str)) {
        match &self.cells {
            StoredCells::Row(row) => row.cells().for_each(visit),
            StoredCells::Object(object) => object.row().into_iter().flat_map(Row::cells).for_each(visit),
            StoredCells::Bytes(encoded, writer) => writer.write(encoded, name, visit),
        }
    }
}

/// Rows are equal if they are written in the same way for objects of any name.
impl PartialEq for StoredRow {
    fn eq(&self, other: &Self) -> bool {
        // No object has this name, and a cell with it is its own.
        let cells = |row: &Self| {
            let mut cells = Vec::new();
            row.for_each_cell("\0", &mut |cell| cells.push(cell.to_owned()));
            cells
        };
        self.columns == other.columns && cells(self) == cells(other)
    }
}

impl Eq for StoredRow {}
