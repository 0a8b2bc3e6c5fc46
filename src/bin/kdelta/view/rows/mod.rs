//! The parts of rows: shared columns, the widths and meanings of columns, and times.

mod fit;
mod meaning;
mod row_time;
mod shared_columns;

pub(crate) use fit::{GAP, WIDEST_COLUMN, fitted_widths};
pub(crate) use meaning::{RowMeaning, is_failure, severity};
pub(crate) use row_time::{RowTimes, TimeForm};
pub(super) use shared_columns::{DETAILS_HEADING, SHARED_HEADINGS, SharedCells};
