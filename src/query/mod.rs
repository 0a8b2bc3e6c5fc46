//! Questions about objects, as kubectl has them: quantities, sorting and custom columns. Pure.

mod custom_columns;
mod go_quote;
mod quantity;
mod sort;

pub use custom_columns::{ColumnPrintError, ColumnPrinter, CustomColumns, CustomColumnsError};
pub use quantity::{Quantity, QuantityError};
pub use sort::{Incomparable, SortBy, SortError, SortKey, SortedItems, WATCH_ONLY_WARNING, WATCH_WARNING};
