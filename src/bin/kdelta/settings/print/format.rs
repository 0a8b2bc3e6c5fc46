//! The value of `-o`.

use super::template::Template;
use crate::settings::UsageError;

/// The `-o` values of kubectl's commands that print objects, which its error lists.
pub(crate) const KUBECTL_FORMATS: &str = "custom-columns,custom-columns-file,go-template,go-template-file,json,jsonpath,jsonpath-as-json,jsonpath-file,kyaml,name,template,templatefile,wide,yaml";

/// The `-o` values of commands that print objects.
pub(crate) const OBJECT_FORMATS: &str = "csv,csv-wide,custom-columns,custom-columns-file,go-template,go-template-file,jq,jq-file,json,jsonpath,jsonpath-as-json,jsonpath-file,kyaml,markdown,markdown-wide,name,template,templatefile,wide,yaml";

/// The value of `-o`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// The server's table, with all columns or only those of priority 0.
    Table {
        /// `-o wide`.
        wide: bool,
        style: TableStyle,
    },
    Json,
    Yaml,
    /// KYAML, a dialect of YAML with braces.
    Kyaml,
    Name,
    /// A template of the user.
    Template(Template),
}

/// The separation of a table's cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum TableStyle {
    /// Columns with widths, for people.
    #[default]
    Aligned,
    Csv,
    Markdown,
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
            Self::Template(template) => Some(template.format()),
        }
    }
}

impl Default for Format {
    fn default() -> Self {
        Self::Table { wide: false, style: TableStyle::Aligned }
    }
}

impl Format {
    /// Reads the format of a command that prints objects.
    pub(super) fn of_objects(text: Option<&str>) -> Result<Self, UsageError> {
        let rows = |wide, style| Ok(Self::Table { wide, style });
        match text.unwrap_or_default().to_lowercase().as_str() {
            "csv" => rows(false, TableStyle::Csv),
            "csv-wide" => rows(true, TableStyle::Csv),
            "markdown" => rows(false, TableStyle::Markdown),
            "markdown-wide" => rows(true, TableStyle::Markdown),
            _ => Self::read(text, KUBECTL_FORMATS),
        }
    }

    pub(in crate::settings) fn read(text: Option<&str>, allowed: &'static str) -> Result<Self, UsageError> {
        // Case-insensitive except for `wide`, as in kubectl.
        let text = text.unwrap_or_default();
        Ok(match (text, text.to_lowercase().as_str()) {
            ("", _) => Self::default(),
            ("wide", _) => Self::Table { wide: true, style: TableStyle::Aligned },
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
            assert_eq!(Format::read(Some(text), KUBECTL_FORMATS), Ok(format));
        }
        assert_eq!(
            Format::read(Some("wide"), KUBECTL_FORMATS),
            Ok(Format::Table { wide: true, style: TableStyle::Aligned })
        );
        assert!(Format::read(Some("Wide"), KUBECTL_FORMATS).is_err());
    }

    #[test]
    fn rows_may_be_delimited() {
        for (text, wide, style) in [
            ("csv", false, TableStyle::Csv),
            ("CSV-wide", true, TableStyle::Csv),
            ("markdown", false, TableStyle::Markdown),
            ("markdown-wide", true, TableStyle::Markdown),
        ] {
            assert_eq!(Format::of_objects(Some(text)), Ok(Format::Table { wide, style }));
        }
        // Formats of objects only.
        assert!(Format::read(Some("csv"), KUBECTL_FORMATS).is_err());
    }

    #[test]
    fn unknown_format_error_lists_formats() {
        let error = Format::read(Some("xml"), KUBECTL_FORMATS).expect_err("no such format");
        assert_eq!(
            error.to_string(),
            "unable to match a printer suitable for the output format \"xml\", allowed formats are: custom-columns,custom-columns-file,go-template,go-template-file,json,jsonpath,jsonpath-as-json,jsonpath-file,kyaml,name,template,templatefile,wide,yaml"
        );
    }
}
