//! Go's template language, `text/template`, as `kubectl get -o go-template` uses it.
//!
//! Output and error messages are those of Go, with these exceptions:
//! - Depth, steps and sizes are limited (`limits`), because templates and objects are untrusted.
//! - Identifiers may contain some characters that Go does not take as letters or digits.
//! - Arrays have no spare capacity that `slice` could reach, and no address that `%p` could print.

mod error;
mod exec;
mod format;
mod functions;
mod limits;
mod stream;
mod syntax;
mod template;
#[cfg(test)]
mod tests;
mod value;

pub use error::TemplateError;
pub use stream::ListExecution;
pub use template::GoTemplate;
