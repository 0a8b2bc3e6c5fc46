//! The schema at the end of a path of fields, in documents of version 3.

use kdelta::wire::openapi::{OpenApiV3, Schema};

use super::ExplainError;
use super::limits::Visits;
use super::type_name::type_name;

/// Returns the schema of a field, or the schema itself for an empty path; `None` if there is no such field.
///
/// Lists and maps are passed through. Of the schemas that must all match, the first with the field counts.
pub(super) fn find<'a>(
    document: &'a OpenApiV3,
    schema: &'a Schema,
    path: &[String],
    visits: &mut Visits,
) -> Result<Option<&'a Schema>, ExplainError> {
    Lookup { document, seen: Vec::new() }.find(schema, path, visits, 0)
}

struct Lookup<'a> {
    document: &'a OpenApiV3,
    /// The references since the last field.
    seen: Vec<&'a str>,
}

impl<'a> Lookup<'a> {
    fn find(
        &mut self,
        schema: &'a Schema,
        path: &[String],
        visits: &mut Visits,
        depth: usize,
    ) -> Result<Option<&'a Schema>, ExplainError> {
        visits.enter(depth, "")?;
        let Some((name, rest)) = path.split_first() else { return Ok(Some(schema)) };
        let reference = schema.reference.as_str();
        if !reference.is_empty() && self.seen.contains(&reference) {
            return Ok(None);
        }
        let resolved = self.document.resolve(reference).unwrap_or(schema);
        if let Some(field) = resolved.property(name).filter(|field| !field.is_empty()) {
            return Self { document: self.document, seen: Vec::new() }.find(field, rest, visits, depth + 1);
        }
        self.seen.push(reference);
        let mut found = None;
        if let Some(nested) = resolved.items.as_deref().or(resolved.additional_properties.as_deref()) {
            found = self.find(nested, path, visits, depth + 1)?;
        } else {
            for alternative in &resolved.all_of {
                found = self.find(alternative, path, visits, depth + 1)?;
                if found.is_some() {
                    break;
                }
            }
        }
        self.seen.pop();
        Ok(found)
    }
}

/// A field of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) type_name: String,
    /// Whether it is a list, perhaps of lists.
    pub(crate) is_list: bool,
    /// Whether it has members with names of the user's.
    pub(crate) is_map: bool,
    /// Whether it, or each element of the list, has documented fields.
    pub(crate) has_fields: bool,
}

/// Returns the fields of a schema. They may repeat.
pub(super) fn list_fields(
    document: &OpenApiV3,
    schema: &Schema,
    visits: &mut Visits,
) -> Result<Vec<Field>, ExplainError> {
    let mut fields = Vec::new();
    let mut pending = vec![(schema, 0)];
    while let Some((schema, depth)) = pending.pop() {
        visits.enter(depth, "")?;
        let resolved = document.resolve(&schema.reference).unwrap_or(schema);
        for (name, field) in resolved.properties.iter().flatten() {
            fields.push(describe(document, name, field, visits)?);
        }
        pending.extend(resolved.parts().map(|part| (part, depth + 1)));
    }
    Ok(fields)
}

fn describe(
    document: &OpenApiV3,
    name: &str,
    schema: &Schema,
    visits: &mut Visits,
) -> Result<Field, ExplainError> {
    let (mut is_list, mut is_map, mut has_fields) = (false, false, false);
    let (mut schema, type_name) = (schema, type_name(document, schema));
    // References may form a circle, which the limit of the depth ends.
    for depth in 0.. {
        visits.enter(depth, "")?;
        schema = document.resolve(&schema.reference).unwrap_or(schema);
        has_fields = schema.properties.as_ref().is_some_and(|fields| !fields.is_empty());
        schema = match (&schema.items, schema.all_of.as_slice()) {
            _ if has_fields => break,
            (Some(elements), _) => {
                is_list = true;
                elements
            }
            (None, [only]) => only,
            (None, _) => {
                is_map = schema.additional_properties.is_some();
                break;
            }
        };
    }
    Ok(Field { name: name.to_owned(), type_name, is_list, is_map, has_fields })
}
