//! The value of `-o`.

use super::template::Template;
use crate::settings::UsageError;

/// The `-o` values of commands that print objects.
pub(crate) const OBJECT_FORMATS: &str = "custom-columns,custom-columns-file,go-template,go-template-file,json,jsonpath,jsonpath-as-json,jsonpath-file,kyaml,name,template,templatefile,wide,yaml";

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
    /// A template of the user.
    Template(Template),
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
        Self::Table { wide: false }
    }
}

impl Format {
    pub(in crate::settings) fn read(text: Option<&str>, allowed: &'static str) -> Result<Self, UsageError> {
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
        let error = Format::read(Some("xml"), OBJECT_FORMATS).expect_err("no such format");
        assert_eq!(
            error.to_string(),
            "unable to match a printer suitable for the output format \"xml\", allowed formats are: custom-columns,custom-columns-file,go-template,go-template-file,json,jsonpath,jsonpath-as-json,jsonpath-file,kyaml,name,template,templatefile,wide,yaml"
        );
    }
}
