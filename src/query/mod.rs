//! Questions about objects, as kubectl has them: quantities and sorting. Pure.

mod go_quote;
mod quantity;
mod sort;

pub use quantity::{Quantity, QuantityError};
pub use sort::{Incomparable, SortBy, SortError, SortKey, SortedItems, WATCH_ONLY_WARNING, WATCH_WARNING};
