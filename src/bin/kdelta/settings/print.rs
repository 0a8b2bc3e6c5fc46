//! The output format of objects.

use super::UsageError;
use super::word_list::words;
use crate::args::PrintArgs;

/// The `-o` values of commands that print objects.
pub(crate) const OBJECT_FORMATS: &str = "json,kyaml,name,wide,yaml";
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
    /// KYAML, a dialect of YAML with braces.
    Kyaml,
    Name,
}

impl Format {
    /// Returns the `-o` value of a format that can't show the context of an object.
    pub(crate) fn of_one_context(self) -> Option<&'static str> {
        match self {
            Self::Table { .. } => None,
            Self::Json => Some("json"),
            Self::Yaml => Some("yaml"),
            Self::Kyaml => Some("kyaml"),
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
        // Case-insensitive except for `wide`, as in kubectl.
        let text = text.unwrap_or_default();
        Ok(match (text, text.to_lowercase().as_str()) {
            ("", _) => Self::Table { wide: false },
            ("wide", _) => Self::Table { wide: true },
            (_, "json") => Self::Json,
            (_, "yaml") => Self::Yaml,
            (_, "kyaml") => Self::Kyaml,
            (_, "name") => Self::Name,
            _ => {
                let format = text.to_owned();
                return Err(UsageError::OutputFormat { format, allowed });
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn format_is_case_insensitive_except_wide() {
        for (text, format) in [("JSON", Format::Json), ("Yaml", Format::Yaml), ("NAME", Format::Name)] {
            assert_eq!(Format::read(Some(text), OBJECT_FORMATS), Ok(format));
        }
        assert_eq!(Format::read(Some("wide"), OBJECT_FORMATS), Ok(Format::Table { wide: true }));
        assert!(Format::read(Some("Wide"), OBJECT_FORMATS).is_err());
    }

    #[test]
    fn unknown_format_error_lists_formats() {
        let error = Format::read(Some("jsonpath={.x}"), OBJECT_FORMATS).expect_err("no such format");
        assert_eq!(
            error.to_string(),
            "unable to match a printer suitable for the output format \"jsonpath={.x}\", allowed formats are: json,kyaml,name,wide,yaml"
        );
    }
}
