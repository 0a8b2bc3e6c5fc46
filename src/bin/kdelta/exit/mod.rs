//! The end of the program: exit codes, and the error messages on stderr.

mod code;
mod error_context;
mod report;
mod server_error;
#[cfg(test)]
mod tests;

pub(crate) use code::{ExitCode, meanings};
pub(crate) use error_context::{HelpLine, Hint, OwnLines, Preface, Several, Usage, Verbatim, VerbatimLines};
pub(crate) use report::Report;
