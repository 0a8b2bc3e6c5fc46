//! The type of a field as a short text, from schemas of version 3.

use kdelta::wire::openapi::{OpenApiV3, Schema};

/// The name of an object without a better one.
const OBJECT: &str = "Object";

/// Returns `string`, `Object`, `[]Container`, `map[string]string`, …
pub(super) fn type_name(document: &OpenApiV3, schema: &Schema) -> String {
    let mut name = String::new();
    let mut schema = schema;
    // Ends: each step is to a nested schema.
    loop {
        if let Some(items) = &schema.items {
            name.push_str("[]");
            schema = items;
        } else if let Some(values) = &schema.additional_properties {
            name.push_str("map[string]");
            schema = values;
        } else if let ([only], true) = (schema.all_of.as_slice(), has_no_properties(schema)) {
            schema = only;
        } else {
            name.push_str(&own_name(document, schema));
            return name;
        }
    }
}

fn has_no_properties(schema: &Schema) -> bool {
    schema.properties.as_ref().is_none_or(std::collections::BTreeMap::is_empty)
}

fn own_name(document: &OpenApiV3, schema: &Schema) -> String {
    if schema.reference.is_empty() {
        return match schema.types.first().map(String::as_str) {
            None | Some("object") => OBJECT.to_owned(),
            Some(name) => name.to_owned(),
        };
    }
    let referenced = document.resolve(&schema.reference);
    match referenced.and_then(|referenced| referenced.types.first()).map(String::as_str) {
        None | Some("object") => {
            let name = schema.reference.rsplit(['/', '.']).next().unwrap_or_default();
            if name.is_empty() { OBJECT.to_owned() } else { name.to_owned() }
        }
        Some(name) => name.to_owned(),
    }
}
