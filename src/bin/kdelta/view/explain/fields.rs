//! The list of the fields of a schema of version 3.

use std::fmt::Write;

use kdelta::wire::openapi::{OpenApiV3, Schema};

use super::ExplainError;
use super::limits::Visits;
use super::type_name::type_name;
use super::word_wrap::{indent, wrap};

/// The indentation of each level of fields.
const STEP: usize = 2;
/// The right margin of descriptions.
const MARGIN: usize = 78;
/// The number of values that the list shows of an enumeration.
const MAX_VALUES: usize = 4;

/// Returns the values of an enumeration; the empty string is shown as `""`.
pub(super) fn enumeration(schema: &Schema) -> impl Iterator<Item = &str> {
    schema.enum_values.iter().map(|value| if value.is_empty() { "\"\"" } else { value })
}

/// The list of the fields of a schema: each with its description, or recursively on one line each.
pub(super) struct Fields<'a, 'v> {
    document: &'a OpenApiV3,
    recursive: bool,
    visits: &'v mut Visits,
    /// The references on the way to the current schema.
    seen: Vec<&'a str>,
    out: String,
}

impl<'a, 'v> Fields<'a, 'v> {
    pub(super) fn new(document: &'a OpenApiV3, recursive: bool, visits: &'v mut Visits) -> Self {
        Self { document, recursive, visits, seen: Vec::new(), out: String::new() }
    }

    pub(super) fn into_text(self) -> String {
        self.out
    }

    /// Appends the fields of a schema and of the schemas that it consists of. A reference that leads back to a schema
    /// on the way is not followed.
    pub(super) fn list(
        &mut self,
        schema: &'a Schema,
        level: usize,
        depth: usize,
    ) -> Result<(), ExplainError> {
        self.visits.enter(depth, &self.out)?;
        let reference = schema.reference.as_str();
        if !reference.is_empty() && self.seen.contains(&reference) {
            return Ok(());
        }
        let resolved = self.document.resolve(reference).unwrap_or(schema);
        self.seen.push(reference);
        for (name, field) in resolved.properties.iter().flatten() {
            self.field(name, field, resolved.required.contains(name), level * STEP);
            if self.recursive {
                self.list(field, level + 1, depth + 1)?;
            }
        }
        for nested in resolved.parts() {
            self.list(nested, level, depth + 1)?;
        }
        self.seen.pop();
        Ok(())
    }

    fn field(&mut self, name: &str, schema: &Schema, is_required: bool, indentation: usize) {
        let required = if is_required { " -required-" } else { "" };
        let name = indent(name, indentation);
        // Writing to a String can't fail.
        let _ = write!(self.out, "{name}\t<{}>{required}", type_name(self.document, schema));
        if !schema.enum_values.is_empty() {
            let more = if schema.enum_values.len() > MAX_VALUES { ", ...." } else { "" };
            let values = enumeration(schema).take(MAX_VALUES).collect::<Vec<_>>().join(", ");
            let _ = write!(self.out, "\n{}enum: {values}{more}", " ".repeat(indentation));
        }
        self.out.push('\n');
        if !self.recursive {
            self.details(schema, indentation);
            self.out.push('\n');
        }
    }

    /// Appends the description and the further documentation of a field.
    fn details(&mut self, schema: &Schema, indentation: usize) {
        let description = match schema.description.as_str() {
            "" => "<no description>",
            description => description,
        };
        self.wrapped(description, MARGIN - indentation, indentation + 2);
        if let Some(docs) = &schema.external_docs {
            self.out.push('\n');
            self.wrapped("EXTERNAL DOCS:", usize::MAX, indentation + 2);
            if !docs.description.is_empty() {
                self.wrapped(&docs.description, MARGIN - 2 - indentation, indentation + 4);
            }
            if !docs.url.is_empty() {
                self.wrapped(&format!("URL: {}", docs.url), usize::MAX, indentation + 4);
            }
        }
    }

    fn wrapped(&mut self, text: &str, width: usize, indentation: usize) {
        self.out.push_str(&indent(&wrap(text, width), indentation));
        self.out.push('\n');
    }
}
