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

/// Returns the names of the fields of a schema, each with its type. They may repeat.
pub(super) fn field_names(
    document: &OpenApiV3,
    schema: &Schema,
    visits: &mut Visits,
) -> Result<Vec<(String, String)>, ExplainError> {
    let mut names = Vec::new();
    let mut pending = vec![(schema, 0)];
    while let Some((schema, depth)) = pending.pop() {
        visits.enter(depth, "")?;
        let resolved = document.resolve(&schema.reference).unwrap_or(schema);
        let fields = resolved.properties.iter().flatten();
        names.extend(fields.map(|(name, field)| (name.clone(), type_name(document, field))));
        pending.extend(resolved.parts().map(|part| (part, depth + 1)));
    }
    Ok(names)
}
