//! The recipients and identities of the build.

#[cfg(feature = "age")]
pub use super::with_age::{Identities, Recipients};
#[cfg(not(feature = "age"))]
pub use super::without_age::{Identities, Recipients};
