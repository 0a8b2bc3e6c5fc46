//! Questions about objects, as kubectl has them: quantities. Pure.

mod quantity;

pub use quantity::{Quantity, QuantityError};
