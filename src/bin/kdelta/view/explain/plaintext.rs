//! The explanation of a resource or field from a document of version 3 (kubectl's `plaintext`).

use std::fmt::Write;

use kdelta::wire::openapi::{GroupVersionKind, OpenApiV3, Schema};

use super::ExplainError;
use super::fields::{Fields, enumeration};
use super::limits::Visits;
use super::lookup::{Field, find, list_fields};
use super::type_name::type_name;
use super::word_wrap::{indent, wrap};

/// The width of descriptions, without their indentation.
const WIDTH: usize = 76;
const INDENTATION: usize = 4;

/// The subject of an explanation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Topic<'a> {
    pub(crate) group: &'a str,
    pub(crate) version: &'a str,
    /// The plural name of the resource.
    pub(crate) resource: &'a str,
    /// The path from the resource to a field; empty for the resource itself.
    pub(crate) path: &'a [String],
    /// Whether the fields of fields are listed too, each on one line.
    pub(crate) recursive: bool,
}

/// Appends the explanation to `out`.
///
/// # Errors
/// The document lacks the resource or the field, or exceeds the limits. As in kubectl, `out` may then have the heading.
pub(crate) fn plaintext(
    document: &OpenApiV3,
    topic: &Topic<'_>,
    out: &mut String,
) -> Result<(), ExplainError> {
    let kind = topic.kind(document)?;
    if !kind.group.is_empty() {
        line(out, &format!("GROUP:      {}", kind.group));
    }
    line(out, &format!("KIND:       {}\nVERSION:    {}\n", kind.kind, kind.version));
    let schema = document.schema_of(kind).ok_or_else(|| ExplainError::NoKind(kind.clone()))?;
    let mut visits = Visits::default();
    let name = topic.path.last();
    let found = find(document, schema, topic.path, &mut visits)?;
    let found = found.ok_or_else(|| ExplainError::NoField(name.cloned().unwrap_or_default()))?;
    let mut explanation = Explanation { document, recursive: topic.recursive, visits, out: String::new() };
    if let Some(name) = name {
        explanation.heading(name, found);
    }
    explanation.schema(document.resolve(&found.reference).unwrap_or(found))?;
    line(out, &explanation.out);
    Ok(())
}

/// Returns the fields below the topic. They may repeat; without a match there are none.
///
/// # Errors
/// The document lacks the resource, or exceeds the limits.
pub(crate) fn fields_of(document: &OpenApiV3, topic: &Topic<'_>) -> Result<Vec<Field>, ExplainError> {
    let kind = topic.kind(document)?;
    let schema = document.schema_of(kind).ok_or_else(|| ExplainError::NoKind(kind.clone()))?;
    let mut visits = Visits::default();
    match find(document, schema, topic.path, &mut visits)? {
        Some(found) => list_fields(document, found, &mut visits),
        None => Ok(Vec::new()),
    }
}

impl Topic<'_> {
    fn kind<'a>(&self, document: &'a OpenApiV3) -> Result<&'a GroupVersionKind, ExplainError> {
        let Topic { group, version, resource, .. } = *self;
        document.kind_of(group, version, resource).ok_or_else(|| ExplainError::NoResource {
            group: group.to_owned(),
            version: version.to_owned(),
            resource: resource.to_owned(),
        })
    }
}

fn line(out: &mut String, text: &str) {
    out.push_str(text);
    out.push('\n');
}

struct Explanation<'a> {
    document: &'a OpenApiV3,
    recursive: bool,
    visits: Visits,
    out: String,
}

impl<'a> Explanation<'a> {
    /// Appends the line of a field and its enumeration.
    fn heading(&mut self, name: &str, schema: &Schema) {
        // Writing to a String can't fail.
        let _ = writeln!(self.out, "FIELD: {name} <{}>", type_name(self.document, schema));
        if !schema.enum_values.is_empty() {
            self.out.push_str("ENUM:");
            for value in enumeration(schema) {
                self.out.push_str("\n    ");
                self.out.push_str(value);
            }
        }
        self.out.push_str("\n\n");
    }

    /// Appends description, further documentation and fields of a schema.
    fn schema(&mut self, schema: &'a Schema) -> Result<(), ExplainError> {
        let mut description = String::new();
        self.describe(schema, 0, &mut description)?;
        if description.is_empty() {
            description.push_str("<empty>");
        }
        line(&mut self.out, "DESCRIPTION:");
        line(&mut self.out, &indent(&wrap(&description, WIDTH), INDENTATION));
        if let Some(docs) = &schema.external_docs {
            line(&mut self.out, "\nEXTERNAL DOCS:");
            if !docs.description.is_empty() {
                line(&mut self.out, &indent(&wrap(&docs.description, WIDTH), INDENTATION));
            }
            if !docs.url.is_empty() {
                line(&mut self.out, &indent(&format!("URL: {}", docs.url), INDENTATION));
            }
        }
        let mut fields = Fields::new(self.document, self.recursive, &mut self.visits);
        fields.list(schema, 1, 0)?;
        let fields = fields.into_text();
        if !fields.is_empty() {
            line(&mut self.out, "FIELDS:");
            self.out.push_str(&fields);
        }
        Ok(())
    }

    /// Appends the description of a schema and those of the schemas that it consists of, each on lines of its own.
    fn describe(&mut self, schema: &'a Schema, depth: usize, out: &mut String) -> Result<(), ExplainError> {
        self.visits.enter(depth, out)?;
        let resolved = self.document.resolve(&schema.reference).unwrap_or(schema);
        if !resolved.description.is_empty() {
            line(out, &resolved.description);
        }
        for nested in resolved.parts() {
            self.describe(nested, depth + 1, out)?;
        }
        Ok(())
    }
}
