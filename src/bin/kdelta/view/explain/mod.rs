//! The texts of `kdelta explain`, from the `OpenAPI` documents of a server. Pure.
//!
//! Schemas may refer to each other in circles, and small documents may describe huge trees: nesting and length of the
//! text are limited.

mod error;
mod fields;
mod limits;
mod lookup;
mod paragraphs;
mod plaintext;
mod plaintext_v2;
#[cfg(test)]
mod tests;
mod type_name;
mod word_wrap;

pub(crate) use error::ExplainError;
pub(crate) use lookup::Field;
pub(crate) use plaintext::{Topic, fields_of, plaintext};
pub(crate) use plaintext_v2::plaintext_v2;
