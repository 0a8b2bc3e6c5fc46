//! The error of a response that is not the expected JSON.

use serde_json::error::Category;

use crate::listwatch::Error;

/// Formats a parse error with its position and without any text of the input, which serde's own message repeats.
pub(crate) fn malformed(what: &str, error: &serde_json::Error) -> Error {
    let problem = match error.classify() {
        Category::Data => "of another type than the API's",
        Category::Eof => "cut off",
        Category::Syntax | Category::Io => "not JSON",
    };
    Error::Decode(format!("malformed {what}: {problem} at line {} column {}", error.line(), error.column()))
}
