//! Groups printed one after another, each as a line, row or document.

use std::io::{self, Write};

use kdelta::query::Number;

use super::group_count::{CountFormat, CountOptions, GroupColumns, GroupCount};
use super::{document, table};
use crate::output::columns::aligned;
use crate::output::json;
use crate::output::typed::{TypedDocuments, TypedFormat};
use crate::view::escape_line;

/// The printed groups of an endless sequence.
pub(super) struct GroupRows {
    format: CountFormat,
    /// Whether a header is still to be printed.
    header: bool,
    /// The widths of the columns of a table, which never shrink.
    widths: Vec<usize>,
}

impl GroupRows {
    pub(super) fn new(options: &CountOptions) -> Self {
        Self { format: options.format.clone(), header: options.headers, widths: Vec::new() }
    }

    /// Writes groups.
    ///
    /// # Errors
    /// `out` failed.
    pub(super) fn write(
        &mut self,
        columns: &GroupColumns,
        groups: &[GroupCount],
        out: &mut impl Write,
    ) -> io::Result<()> {
        if groups.is_empty() {
            return Ok(());
        }
        match &self.format {
            CountFormat::Documents { format: TypedFormat::Json, for_terminal } => {
                for group in groups {
                    let mut text = Vec::new();
                    document::group(columns, group).write_compact(&mut text);
                    text.push(b'\n');
                    json::write(&text, *for_terminal, out)?;
                }
            }
            CountFormat::Documents { format, for_terminal } => {
                for group in groups {
                    // Each document stands alone, so that a reader can parse it.
                    if *format == TypedFormat::Yaml {
                        writeln!(out, "---")?;
                    }
                    TypedDocuments::new(*format, *for_terminal)
                        .document(&document::group(columns, group), out)?;
                }
            }
            CountFormat::Names => write_names(groups, out)?,
            CountFormat::Table { .. } => {
                let table = table::list(columns, groups, Number::to_string);
                let header = std::mem::take(&mut self.header);
                aligned(&table.columns(None), table.rows.iter().cloned(), header, &mut self.widths, out)?;
            }
            CountFormat::Delimited(format) => {
                let table = table::list(columns, groups, table::delimited_number(*format));
                table.write_delimited(*format, std::mem::take(&mut self.header), out)?;
            }
        }
        out.flush()
    }
}

/// Writes the values of each group on a line, separated by tabs.
///
/// # Errors
/// `out` failed.
pub(super) fn write_names(groups: &[GroupCount], out: &mut impl Write) -> io::Result<()> {
    for group in groups {
        let values = group.key.values.iter().flatten().map(|value| escape_line(value));
        writeln!(out, "{}", values.collect::<Vec<_>>().join("\t"))?;
    }
    Ok(())
}
