//! The documents as JSON, YAML and KYAML.

use std::io::{self, Write};

use kdelta::object::JsonValue;

use crate::output::json;
use crate::output::yaml::{YamlDocuments, kyaml};

/// The format of documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TypedFormat {
    Json,
    Yaml,
    Kyaml,
}

/// A sequence of documents in one format.
pub(crate) struct TypedDocuments {
    format: TypedFormat,
    /// Whether a terminal displays the documents.
    for_terminal: bool,
    yaml: YamlDocuments,
}

impl TypedDocuments {
    /// Creates an empty sequence; `for_terminal` is whether a terminal displays it.
    pub(crate) fn new(format: TypedFormat, for_terminal: bool) -> Self {
        Self { format, for_terminal, yaml: YamlDocuments::new(for_terminal) }
    }

    /// Writes a value, whose members are in the order of the type.
    ///
    /// # Errors
    /// `out` failed.
    pub(crate) fn document(&mut self, value: &JsonValue<'_>, out: &mut impl Write) -> io::Result<()> {
        match self.format {
            // YAML has sorted keys.
            TypedFormat::Yaml => self.yaml.value(value, out),
            TypedFormat::Kyaml => kyaml::value(value, out),
            TypedFormat::Json => {
                let mut text = Vec::new();
                value.write_indented(0, &mut text);
                text.push(b'\n');
                json::write(&text, self.for_terminal, out)
            }
        }
    }
}

/// Returns a document as JSON with an indentation of two spaces, safe for terminals.
pub(crate) fn narrow_json(value: &JsonValue<'_>) -> Vec<u8> {
    let (mut wide, mut narrow) = (Vec::new(), Vec::new());
    value.write_indented(0, &mut wide);
    for line in String::from_utf8_lossy(&wide).lines() {
        let text = line.trim_start_matches(' ');
        narrow.extend(std::iter::repeat_n(b' ', (line.len() - text.len()) / 2));
        narrow.extend_from_slice(crate::view::escape_json(text).as_bytes());
        narrow.push(b'\n');
    }
    narrow
}
