//! Table cells, which may show a confidential value.

use std::sync::Arc;

use crate::object::Row;

/// The text of a cell that showed a removed value.
const HIDDEN: &str = "<redacted>";

/// Returns the row without the cells that contain a removed value.
pub(super) fn without(row: &Row, removed: &[String]) -> Row {
    let shows = |cell: &str| removed.iter().any(|value| !value.is_empty() && cell.contains(&**value));
    let cells = row.cells().map(|cell| if shows(cell) { HIDDEN } else { cell });
    Row::new(Arc::clone(row.columns()), cells)
}
