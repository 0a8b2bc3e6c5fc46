//! `-o custom-columns` and `-o custom-columns-file` as kubectl has them: the columns and their printer.
//!
//! ```
//! use kdelta::object::JsonValue;
//! use kdelta::query::{ColumnPrinter, CustomColumns};
//!
//! let columns = CustomColumns::parse("NAME:.metadata.name,PORTS:.spec.ports[*].port", false)?;
//! let mut out = Vec::new();
//! let mut printer = ColumnPrinter::new(columns, &mut out);
//! printer.print(&JsonValue::parse(br#"{"metadata":{"name":"web"},"spec":{"ports":[{"port":80},{"port":443}]}}"#))?;
//! printer.print(&JsonValue::parse(br#"{"metadata":{"name":"headless"}}"#))?;
//! printer.flush()?;
//! assert_eq!(out, b"NAME       PORTS\nweb        80,443\nheadless   <none>\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod spec;
#[cfg(test)]
mod tests;

pub use spec::{CustomColumns, CustomColumnsError};

use std::io::{self, Write};

use super::tab_writer::TabWriter;
use crate::object::{JsonPath, JsonPathError, JsonValue};

/// An object that can't be printed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ColumnPrintError {
    /// An expression can't be parsed, or fails on the object.
    #[error(transparent)]
    Expression(#[from] JsonPathError),
    /// The output can't be written.
    #[error(transparent)]
    Write(#[from] io::Error),
}

/// A printer of one line per object, with kubectl's alignment.
///
/// The widths of several columns are known only at the end, so that their lines are kept as text until
/// [`flush`](Self::flush). A single column is printed at once.
///
/// After an error of an expression, kubectl prints what is above it and then the error: a caller flushes, also then. With
/// `--watch` it flushes after the initial objects and after each change, and not after an error.
#[derive(Debug)]
pub struct ColumnPrinter<W> {
    columns: CustomColumns,
    /// The parsed expressions, once the header is printed.
    paths: Option<Vec<JsonPath>>,
    writer: TabWriter<W>,
    /// The line that is being built.
    line: Vec<u8>,
}

impl<W: Write> ColumnPrinter<W> {
    /// Returns a printer that writes to `out`. Nothing is written yet.
    pub fn new(columns: CustomColumns, out: W) -> Self {
        Self { columns, paths: None, writer: TabWriter::new(out), line: Vec::new() }
    }

    /// Prints the header, unless it is printed already or not asked for, and parses the expressions. [`print`](Self::print)
    /// does so too; only a list without objects needs this call.
    ///
    /// # Errors
    ///
    /// An expression can't be parsed (kubectl prints the header nevertheless), or the output can't be written.
    pub fn print_header(&mut self) -> Result<(), ColumnPrintError> {
        if std::mem::take(&mut self.columns.has_header) {
            let headers: Vec<_> = self.columns.columns.iter().map(|column| column.header.as_str()).collect();
            self.writer.write(&headers.join("\t"))?;
            self.writer.write("\n")?;
        }
        if self.paths.is_none() {
            let path = |expression: &str| Ok(JsonPath::parse(expression)?.allow_missing_keys(true));
            let columns = self.columns.columns.iter();
            self.paths =
                Some(columns.map(|column| path(&column.expression)).collect::<Result<_, JsonPathError>>()?);
        }
        Ok(())
    }

    /// Prints an object, and the header before the first one. Several values of a column are separated by commas; a
    /// missing one is `<none>`.
    ///
    /// # Errors
    ///
    /// An expression can't be parsed or fails on the object, of which then nothing is printed, or the output can't be
    /// written.
    pub fn print(&mut self, object: &JsonValue<'_>) -> Result<(), ColumnPrintError> {
        self.print_header()?;
        self.line.clear();
        for (at, path) in self.paths.iter().flatten().enumerate() {
            if at > 0 {
                self.line.push(b'\t');
            }
            write_cell(path, object, &mut self.line)?;
        }
        self.line.push(b'\n');
        self.writer.write(&String::from_utf8_lossy(&self.line))?;
        Ok(())
    }

    /// Returns the output.
    pub fn get_ref(&self) -> &W {
        self.writer.get_ref()
    }

    /// Returns the output, for a caller that takes what was written.
    pub fn get_mut(&mut self) -> &mut W {
        self.writer.get_mut()
    }

    /// Prints all lines that are kept, aligned. Columns of later lines become wider if necessary, and never narrower.
    ///
    /// # Errors
    ///
    /// The output can't be written.
    pub fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

/// Appends the values of a column, with the control characters that kubectl escapes escaped.
fn write_cell(path: &JsonPath, object: &JsonValue<'_>, line: &mut Vec<u8>) -> Result<(), JsonPathError> {
    let results = path.find_results(object)?;
    let mut separator: &[u8] = b"";
    if results.first().is_none_or(Vec::is_empty) {
        line.extend_from_slice(b"<none>");
        separator = b",";
    }
    let start = line.len();
    for value in results.iter().flatten() {
        line.extend_from_slice(separator);
        separator = b",";
        value.write_go_text(line);
    }
    if line[start..].iter().any(|byte| matches!(byte, 0x1b | b'\r')) {
        for byte in line.split_off(start) {
            match byte {
                0x1b => line.extend_from_slice(b"^["),
                b'\r' => line.extend_from_slice(b"\\r"),
                _ => line.push(byte),
            }
        }
    }
    Ok(())
}
