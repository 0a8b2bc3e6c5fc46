//! The output of `wait`: each object when it meets a condition.

use std::io::Write;
use std::sync::Arc;

use kdelta::object::{ApiResource, Object};

use super::json;
use super::name::Names;
use super::template::{Engine, PrintError, TemplateChanges};
use super::yaml::{YamlDocuments, kyaml};

/// Objects that meet a condition, in one of the formats.
pub(crate) enum MetObjects {
    /// A line for each, or its name.
    Names(Names),
    /// A JSON document for each.
    Json {
        /// Whether a terminal displays it.
        for_terminal: bool,
    },
    Yaml(YamlDocuments),
    Kyaml,
    Template(TemplateChanges),
}

impl MetObjects {
    /// Creates the output of a line for each object.
    pub(crate) fn lines() -> Self {
        Self::Names(Names::with_suffix(" condition met"))
    }

    /// Creates name output.
    pub(crate) fn names() -> Self {
        Self::Names(Names::default())
    }

    /// Creates JSON documents.
    pub(crate) fn json(for_terminal: bool) -> Self {
        Self::Json { for_terminal }
    }

    /// Creates YAML documents.
    pub(crate) fn yaml(for_terminal: bool) -> Self {
        Self::Yaml(YamlDocuments::new(for_terminal))
    }

    /// Creates output by a template.
    pub(crate) fn template(engine: Engine, for_terminal: bool) -> Self {
        Self::Template(TemplateChanges::new(engine, for_terminal))
    }

    /// Writes an object.
    ///
    /// # Errors
    /// The template does not fit the object, or `out` failed.
    pub(crate) fn object(
        &mut self,
        object: &Object,
        resource: &Arc<ApiResource>,
        out: &mut impl Write,
    ) -> Result<(), PrintError> {
        match self {
            Self::Names(names) => names.name(object, resource, out)?,
            Self::Json { for_terminal } => json::document(object, *for_terminal, out)?,
            Self::Yaml(documents) => documents.document(object, out)?,
            Self::Kyaml => kyaml::document(object, out)?,
            Self::Template(template) => template.change(object, out)?,
        }
        Ok(out.flush()?)
    }
}
