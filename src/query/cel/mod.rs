//! CEL expressions over objects, with the meaning and the functions that the API server gives them.
//!
//! The parser, the checker and the evaluator are this room's own: evaluation reads stored JSON lazily, counts its steps
//! and knows Kubernetes' libraries, and crates for CEL do none of this.

mod budget;
mod check;
mod error;
mod eval;
mod filter;
mod functions;
mod kubernetes;
mod plan;
mod required;
mod syntax;
mod terms;
#[cfg(test)]
mod tests;
mod time_text;
mod types;
mod value;
mod values;

pub use error::{CelError, CelSyntaxError};
pub use filter::{CelFilter, CelInput, CelValidity};
pub use required::RequiredValue;
pub(super) use terms::{Term, Terms};
pub use values::CelValues;
