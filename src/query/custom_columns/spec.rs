//! The columns that a user asks for: `NAME:.metadata.name,NODE:.spec.nodeName`, or a file of two lines.

use crate::object::{JsonPathError, relaxed_jsonpath};

/// The longest line of a template that kubectl reads, without its line break.
const MAX_LINE: usize = 64 * 1024 - 1;

/// Columns that can't be understood. The messages are kubectl's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CustomColumnsError {
    /// The list of columns is empty.
    #[error("custom-columns format specified but no custom columns given")]
    NoColumns,
    /// A column has no colon.
    #[error("unexpected custom-columns spec: {0}, expected <header>:<json-path-expr>")]
    Column(String),
    /// An expression is no path. Other errors of expressions appear when the first object is printed.
    #[error(transparent)]
    Expression(JsonPathError),
    /// The template is empty, or its first line is too long.
    #[error(
        "invalid template, missing header line. Expected format is one line of space separated headers, one line of space separated column specs."
    )]
    MissingHeaderLine,
    /// The template has no second line, or that is too long.
    #[error(
        "invalid template, missing spec line. Expected format is one line of space separated headers, one line of space separated column specs."
    )]
    MissingSpecLine,
    /// The lines of the template have different numbers of words.
    #[error("number of headers ({headers}) and field specifications ({expressions}) don't match")]
    Counts {
        /// The number of words in the first line.
        headers: usize,
        /// The number of words in the second line.
        expressions: usize,
    },
}

/// The columns of `-o custom-columns` or `-o custom-columns-file`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CustomColumns {
    /// Whether the headers are printed.
    pub(super) has_header: bool,
    pub(super) columns: Vec<Column>,
}

/// A column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Column {
    pub(super) header: String,
    /// In braces, or empty for a column without values.
    pub(super) expression: String,
}

impl CustomColumns {
    /// Parses the value of `custom-columns=`: headers and paths, `HEADER:PATH`, separated by commas. The braces and the
    /// first dot of a path may be missing.
    ///
    /// # Errors
    ///
    /// There is no column, a column has no colon, or its path has other braces than around the whole.
    pub fn parse(spec: &str, no_headers: bool) -> Result<Self, CustomColumnsError> {
        if spec.is_empty() {
            return Err(CustomColumnsError::NoColumns);
        }
        let column = |part: &str| {
            let (header, expression) =
                part.split_once(':').ok_or_else(|| CustomColumnsError::Column(part.to_owned()))?;
            Column::new(header, expression)
        };
        Ok(Self { has_header: !no_headers, columns: spec.split(',').map(column).collect::<Result<_, _>>()? })
    }

    /// Parses the text of a `custom-columns-file=`: a line of headers and a line of paths, separated by white space. Further
    /// lines are ignored. The headers are always printed: kubectl ignores `--no-headers` here.
    ///
    /// # Errors
    ///
    /// A line is missing or longer than 64 KiB, the lines do not match, or a path has other braces than around the whole.
    pub fn from_template(template: &str) -> Result<Self, CustomColumnsError> {
        let mut lines = template.lines().map(|line| (line.len() <= MAX_LINE).then_some(line));
        let headers = lines.next().flatten().ok_or(CustomColumnsError::MissingHeaderLine)?;
        let expressions = lines.next().flatten().ok_or(CustomColumnsError::MissingSpecLine)?;
        let count = |line: &str| line.split_whitespace().count();
        let (headers_count, expressions_count) = (count(headers), count(expressions));
        if headers_count != expressions_count {
            return Err(CustomColumnsError::Counts {
                headers: headers_count,
                expressions: expressions_count,
            });
        }
        let pairs = headers.split_whitespace().zip(expressions.split_whitespace());
        let columns = pairs.map(|(header, expression)| Column::new(header, expression));
        Ok(Self { has_header: true, columns: columns.collect::<Result<_, _>>()? })
    }
}

impl Column {
    fn new(header: &str, expression: &str) -> Result<Self, CustomColumnsError> {
        let expression = relaxed_jsonpath(expression).map_err(CustomColumnsError::Expression)?;
        Ok(Self { header: header.to_owned(), expression })
    }
}
