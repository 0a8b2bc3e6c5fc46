//! The explanation of a resource or field from the document of version 2 (kubectl's `plaintext-openapiv2`).

use std::fmt::Write;

use kdelta::wire::openapi::{GroupVersionKind, OpenApiV2, Schema};

use super::ExplainError;
use super::limits::{MAX_DEPTH, Visits};
use super::paragraphs::paragraphs;

/// The right margin of all text.
const MARGIN: usize = 80;
/// The indentation of the first level of fields, and of each further one.
const STEP: usize = 3;
const DESCRIPTION_INDENTATION: usize = 5;

/// Appends the explanation of a kind, or of the field at the end of a path, to `out`.
///
/// # Errors
/// A field of the path does not exist, or the document exceeds the limits.
pub(crate) fn plaintext_v2(
    document: &OpenApiV2,
    kind: &GroupVersionKind,
    schema: &Schema,
    path: &[String],
    recursive: bool,
    out: &mut String,
) -> Result<(), ExplainError> {
    let mut explanation =
        Explanation { document, recursive, visits: Visits::default(), seen: Vec::new(), out: String::new() };
    let shape = explanation.find(Shape::of(schema), path)?;
    explanation.explain(kind, shape, path.last().map_or("", String::as_str))?;
    out.push_str(&explanation.out);
    Ok(())
}

/// A schema by its structure.
#[derive(Debug, Clone, Copy)]
enum Shape<'a> {
    Reference(&'a Schema),
    /// An object with known fields.
    Fields(&'a Schema),
    /// An object with any keys.
    Map(&'a Schema),
    List(&'a Schema),
    Primitive(&'a Schema),
    /// Any value.
    Any(&'a Schema),
}

impl<'a> Shape<'a> {
    fn of(schema: &'a Schema) -> Self {
        let only_type = schema.types.first().map(String::as_str);
        match (only_type, &schema.properties) {
            _ if !schema.reference.is_empty() => Self::Reference(schema),
            (None | Some("object"), Some(_)) => Self::Fields(schema),
            (None, None) => Self::Any(schema),
            (Some("object"), None) => Self::Map(schema),
            (Some("array"), _) => Self::List(schema),
            (Some(_), _) => Self::Primitive(schema),
        }
    }

    fn schema(self) -> &'a Schema {
        match self {
            Self::Reference(schema)
            | Self::Fields(schema)
            | Self::Map(schema)
            | Self::List(schema)
            | Self::Primitive(schema)
            | Self::Any(schema) => schema,
        }
    }

    /// Returns the shape behind a reference, or of the elements of a list or map. Elements without a schema may be
    /// anything; those of a map have its description then, as in kubectl.
    fn inner(self, document: &'a OpenApiV2) -> Option<Self> {
        match self {
            Self::Reference(schema) => document.resolve(&schema.reference).map(Self::of),
            Self::List(schema) => schema.items.as_deref().map(Self::of),
            Self::Map(schema) => {
                Some(schema.additional_properties.as_deref().map_or(Self::Any(schema), Self::of))
            }
            Self::Fields(_) | Self::Primitive(_) | Self::Any(_) => None,
        }
    }
}

/// Appends a line, indented unless it is empty.
fn line(out: &mut String, indentation: usize, text: &str) {
    if !text.is_empty() {
        out.extend(std::iter::repeat_n(' ', indentation));
        out.push_str(text);
    }
    out.push('\n');
}

/// Appends a text that is wrapped at the margin.
fn wrapped(out: &mut String, indentation: usize, text: &str) {
    for text in paragraphs(text, MARGIN - indentation) {
        line(out, indentation, &text);
    }
}

struct Explanation<'a> {
    document: &'a OpenApiV2,
    recursive: bool,
    visits: Visits,
    /// The references on the way to the current schema.
    seen: Vec<&'a str>,
    out: String,
}

impl<'a> Explanation<'a> {
    /// Follows a path of fields. A primitive value ends it, whatever follows, as in kubectl.
    fn find(&mut self, shape: Shape<'a>, path: &[String]) -> Result<Shape<'a>, ExplainError> {
        let (mut shape, mut path) = (shape, path);
        for depth in 0..=MAX_DEPTH + path.len() {
            self.visits.enter(depth.min(MAX_DEPTH), &self.out)?;
            let Some((name, rest)) = path.split_first() else { return Ok(shape) };
            if let Shape::Fields(schema) = shape {
                let field = schema.property(name).ok_or_else(|| ExplainError::NoField(name.clone()))?;
                (shape, path) = (Shape::of(field), rest);
            } else if let Some(inner) = shape.inner(self.document) {
                shape = inner;
            } else {
                return Ok(shape);
            }
        }
        Err(ExplainError::TooDeep)
    }

    /// Appends the explanation of a shape, which is a field with that name or, without one, a kind.
    fn explain(&mut self, kind: &GroupVersionKind, shape: Shape<'a>, name: &str) -> Result<(), ExplainError> {
        let mut descriptions = Vec::new();
        let (mut shape, mut type_name) = (shape, String::new());
        while let Some(inner) = shape.inner(self.document) {
            self.visits.enter(descriptions.len(), &self.out)?;
            descriptions.push(shape.schema().description.as_str());
            if type_name.is_empty() && !matches!(shape, Shape::Reference(_)) {
                type_name = self.type_name(shape)?;
            }
            shape = inner;
        }
        descriptions.push(shape.schema().description.as_str());
        if type_name.is_empty() {
            type_name = self.type_name(shape)?;
        }
        line(&mut self.out, 0, &format!("KIND:     {}", kind.kind));
        let group = if kind.group.is_empty() { String::new() } else { format!("{}/", kind.group) };
        line(&mut self.out, 0, &format!("VERSION:  {group}{}\n", kind.version));
        let has_fields = matches!(shape, Shape::Fields(_));
        if has_fields && !name.is_empty() {
            line(&mut self.out, 0, &format!("RESOURCE: {name} <{type_name}>\n"));
        } else if matches!(shape, Shape::Primitive(_)) {
            line(&mut self.out, 0, &format!("FIELD:    {name} <{type_name}>\n"));
        }
        self.describe(&descriptions);
        if has_fields {
            line(&mut self.out, 0, "\nFIELDS:");
            self.fields(shape, STEP, descriptions.len())?;
        }
        Ok(())
    }

    /// Appends the descriptions of a schema and of the references, lists and maps around it, outermost first.
    fn describe(&mut self, descriptions: &[&str]) {
        line(&mut self.out, 0, "DESCRIPTION:");
        for (position, text) in descriptions.iter().enumerate().filter(|(_, text)| !text.is_empty()) {
            if position > 0 {
                self.out.push('\n');
            }
            wrapped(&mut self.out, DESCRIPTION_INDENTATION, text);
        }
        if descriptions.iter().all(|text| text.is_empty()) {
            wrapped(&mut self.out, DESCRIPTION_INDENTATION, "<empty>");
        }
    }

    /// Appends the fields of a shape, or of the one inside it.
    fn fields(&mut self, shape: Shape<'a>, indentation: usize, depth: usize) -> Result<(), ExplainError> {
        self.visits.enter(depth, &self.out)?;
        if let Shape::Fields(schema) = shape {
            for (name, field) in schema.properties.iter().flatten() {
                self.field(name, field, schema.required.contains(name), indentation, depth)?;
            }
            return Ok(());
        }
        let Some(inner) = shape.inner(self.document) else { return Ok(()) };
        let Shape::Reference(schema) = shape else { return self.fields(inner, indentation, depth + 1) };
        if !self.seen.contains(&schema.reference.as_str()) {
            self.seen.push(&schema.reference);
            self.fields(inner, indentation, depth + 1)?;
            self.seen.pop();
        }
        Ok(())
    }

    fn field(
        &mut self,
        name: &str,
        field: &'a Schema,
        is_required: bool,
        indentation: usize,
        depth: usize,
    ) -> Result<(), ExplainError> {
        let shape = Shape::of(field);
        let type_name = self.type_name(shape)?;
        if self.recursive {
            line(&mut self.out, indentation, &format!("{name}\t<{type_name}>"));
            return self.fields(shape, indentation + STEP, depth + 1);
        }
        let required = if is_required { " -required-" } else { "" };
        line(&mut self.out, indentation, &format!("{name}\t<{type_name}>{required}"));
        wrapped(&mut self.out, indentation + 2, &field.description);
        self.out.push('\n');
        Ok(())
    }

    /// Returns `string`, `Object`, `[]Object`, `map[string]string`, …; nothing for any value.
    fn type_name(&mut self, shape: Shape<'a>) -> Result<String, ExplainError> {
        let (mut name, mut shape) = (String::new(), shape);
        for depth in 0.. {
            self.visits.enter(depth, &self.out)?;
            match shape {
                Shape::List(_) => name.push_str("[]"),
                Shape::Map(_) => name.push_str("map[string]"),
                Shape::Fields(_) => name.push_str("Object"),
                Shape::Primitive(schema) => {
                    // Writing to a String can't fail.
                    let _ = write!(name, "{}", schema.types.join(","));
                }
                Shape::Reference(_) | Shape::Any(_) => {}
            }
            match shape.inner(self.document) {
                Some(inner) => shape = inner,
                None => break,
            }
        }
        Ok(name)
    }
}
