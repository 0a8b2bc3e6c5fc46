//! The output format of objects.

use super::UsageError;
use super::word_list::words;
use crate::args::PrintArgs;

/// The `-o` values of commands that print objects.
pub(crate) const OBJECT_FORMATS: &str = "json,name,wide,yaml";
/// The `-o` values of commands that print resource types.
pub(crate) const RESOURCE_FORMATS: &str = "name,wide";

/// The options of object output.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct Print {
    pub(crate) format: Format,
    pub(crate) managed_fields: bool,
    pub(crate) headers: bool,
    pub(crate) show_labels: bool,
    pub(crate) label_columns: Vec<String>,
    pub(crate) show_kind: bool,
}

/// The value of `-o`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// The server's table, with all columns or only those of priority 0.
    Table {
        /// `-o wide`.
        wide: bool,
    },
    Json,
    Yaml,
    Name,
}

impl Format {
    /// Returns the `-o` value of a format that can't show the context of an object.
    pub(crate) fn of_one_context(self) -> Option<&'static str> {
        match self {
            Self::Table { .. } => None,
            Self::Json => Some("json"),
            Self::Yaml => Some("yaml"),
            Self::Name => Some("name"),
        }
    }
}

impl Default for Format {
    fn default() -> Self {
        Self::Table { wide: false }
    }
}

impl Print {
    pub(super) fn read(args: &PrintArgs) -> Result<Self, UsageError> {
        Ok(Self {
            format: Format::read(args.output.as_deref(), OBJECT_FORMATS)?,
            managed_fields: args.show_managed_fields,
            headers: !args.no_headers,
            show_labels: args.show_labels,
            label_columns: words(&args.label_columns),
            show_kind: args.show_kind,
        })
    }
}

impl Format {
    pub(super) fn read(text: Option<&str>, allowed: &'static str) -> Result<Self, UsageError> {
        // Case-insensitive, as in kubectl.
        Ok(match text.unwrap_or_default().to_lowercase().as_str() {
            "" => Self::Table { wide: false },
            "wide" => Self::Table { wide: true },
            "json" => Self::Json,
            "yaml" => Self::Yaml,
            "name" => Self::Name,
            _ => {
                let format = text.unwrap_or_default().to_owned();
                return Err(UsageError::OutputFormat { format, allowed });
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn format_is_case_insensitive() {
        for (text, format) in
            [("JSON", Format::Json), ("Yaml", Format::Yaml), ("WIDE", Format::Table { wide: true })]
        {
            assert_eq!(Format::read(Some(text), OBJECT_FORMATS), Ok(format));
        }
    }

    #[test]
    fn unknown_format_error_lists_formats() {
        let error = Format::read(Some("jsonpath={.x}"), OBJECT_FORMATS).expect_err("no such format");
        assert_eq!(
            error.to_string(),
            "unable to match a printer suitable for the output format \"jsonpath={.x}\", allowed formats are: json,name,wide,yaml"
        );
    }
}
