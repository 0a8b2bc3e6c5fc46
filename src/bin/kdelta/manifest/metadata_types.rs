//! The types of the fields that kubectl checks in a manifest, with its error texts.

use jiff::Timestamp;

use super::members::{Members, items, type_of};

/// A type of Go, which an error names.
#[derive(Clone, Copy)]
enum GoType {
    Text,
    Integer,
    Bool,
    Time,
    Texts,
    TextMap,
    OwnerReferences,
    ManagedFields,
}

impl GoType {
    fn name(self) -> &'static str {
        match self {
            // A time is written as a text.
            Self::Text | Self::Time => "string",
            Self::Integer => "int64",
            Self::Bool => "bool",
            Self::Texts => "[]string",
            Self::TextMap => "map[string]string",
            Self::OwnerReferences => "[]v1.OwnerReference",
            Self::ManagedFields => "[]v1.ManagedFieldsEntry",
        }
    }
}

fn metadata_field(name: &str) -> Option<GoType> {
    Some(match name {
        "name" | "generateName" | "namespace" | "selfLink" | "uid" | "resourceVersion" => GoType::Text,
        "generation" | "deletionGracePeriodSeconds" => GoType::Integer,
        "creationTimestamp" | "deletionTimestamp" => GoType::Time,
        "labels" | "annotations" => GoType::TextMap,
        "ownerReferences" => GoType::OwnerReferences,
        "finalizers" => GoType::Texts,
        "managedFields" => GoType::ManagedFields,
        _ => return None,
    })
}

fn owner_field(name: &str) -> Option<GoType> {
    Some(match name {
        "apiVersion" | "kind" | "name" | "uid" => GoType::Text,
        "controller" | "blockOwnerDeletion" => GoType::Bool,
        _ => return None,
    })
}

/// Returns kubectl's error for the first field of an object's type or metadata that has the wrong type. Entries of
/// `managedFields` are not checked.
pub(super) fn wrong_type(object: &Members<'_>) -> Option<String> {
    object.iter().find_map(|(name, value)| match name {
        "kind" | "apiVersion" => {
            check(value, GoType::Text, "metadataOnlyObject", &format!("TypeMeta.{name}"))
        }
        "metadata" => match Members::read(value) {
            Some(metadata) => metadata.iter().find_map(|(name, value)| {
                let path = format!("metadata.{name}");
                check(value, metadata_field(name)?, "ObjectMeta", &path)
            }),
            None if type_of(value) == "null" => None,
            None => Some(mismatch(value, "metadataOnlyObject", "metadata", "v1.ObjectMeta")),
        },
        _ => None,
    })
}

/// Checks the value of the field at `path`, which belongs to the Go type `owner`. Null fits every type.
fn check(value: &str, go_type: GoType, owner: &str, path: &str) -> Option<String> {
    let found = type_of(value);
    let wrong = |value: &str, go_type: GoType| mismatch(value, owner, path, go_type.name());
    match (go_type, found) {
        (_, "null")
        | (GoType::Text, "string")
        | (GoType::Bool, "bool")
        | (GoType::ManagedFields, "array") => None,
        (GoType::Time, "string") => wrong_time(value),
        (GoType::Integer, "number") if value.parse::<i64>().is_ok() => None,
        (GoType::Integer, "number") => Some(format!(
            "json: cannot unmarshal number {value} into Go struct field {owner}.{path} of type int64"
        )),
        (GoType::Texts, "array") => {
            let items = items(value).unwrap_or_default();
            items.into_iter().find(|item| !is_text(item)).map(|item| wrong(item, GoType::Text))
        }
        (GoType::TextMap, "object") => {
            let members = Members::read(value)?;
            let found = members.iter().find(|(_, value)| !is_text(value));
            found.map(|(_, value)| wrong(value, GoType::Text))
        }
        (GoType::OwnerReferences, "array") => items(value)?.into_iter().find_map(|owner| {
            let Some(members) = Members::read(owner) else {
                return (type_of(owner) != "null")
                    .then(|| mismatch(owner, "ObjectMeta", path, "v1.OwnerReference"));
            };
            members.iter().find_map(|(name, value)| {
                check(value, owner_field(name)?, "OwnerReference", &format!("{path}.{name}"))
            })
        }),
        _ => Some(wrong(value, go_type)),
    }
}

fn is_text(value: &str) -> bool {
    matches!(type_of(value), "string" | "null")
}

fn mismatch(value: &str, owner: &str, path: &str, expected: &str) -> String {
    let found = type_of(value);
    format!("json: cannot unmarshal {found} into Go struct field {owner}.{path} of type {expected}")
}

/// Returns the error of a text that is no time.
fn wrong_time(value: &str) -> Option<String> {
    let text: String = serde_json::from_str(value).ok()?;
    let layout = "2006-01-02T15:04:05Z07:00";
    let is_time = text.parse::<Timestamp>().is_ok() && text.as_bytes().get(10) == Some(&b'T');
    // Go names the first part that does not fit; most texts that are no time do not begin with a year.
    (!is_time).then(|| {
        let quoted = kdelta::object::go_quote(&text);
        format!("parsing time {quoted} as {layout:?}: cannot parse {quoted} as \"2006\"")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(metadata: &str) -> Option<String> {
        let text = format!(r#"{{"apiVersion":"v1","kind":"Pod","metadata":{metadata}}}"#);
        wrong_type(&Members::read(&text).expect("an object"))
    }

    #[test]
    fn valid_metadata_passes() {
        for metadata in [
            r#"{"name":"a","labels":{"a":"b","c":null},"annotations":null,"generation":3,"finalizers":["a"]}"#,
            r#"{"creationTimestamp":"2026-01-02T03:04:05Z","deletionTimestamp":null,"other":5}"#,
            r#"{"ownerReferences":[{"name":"a","controller":true},null],"managedFields":[5]}"#,
            "null",
        ] {
            assert_eq!(checked(metadata), None, "{metadata}");
        }
    }

    // Taken from kubectl.
    #[test]
    fn wrong_types_have_kubectls_texts() {
        let field = |found: &str, field: &str, expected: &str| {
            format!("json: cannot unmarshal {found} into Go struct field {field} of type {expected}")
        };
        for (metadata, error) in [
            ("5", field("number", "metadataOnlyObject.metadata", "v1.ObjectMeta")),
            (r#"{"name":5}"#, field("number", "ObjectMeta.metadata.name", "string")),
            (r#"{"name":["a"]}"#, field("array", "ObjectMeta.metadata.name", "string")),
            (r#"{"labels":{"a":5}}"#, field("number", "ObjectMeta.metadata.labels", "string")),
            (r#"{"labels":{"a":true}}"#, field("bool", "ObjectMeta.metadata.labels", "string")),
            (r#"{"labels":5}"#, field("number", "ObjectMeta.metadata.labels", "map[string]string")),
            (r#"{"annotations":{"a":{}}}"#, field("object", "ObjectMeta.metadata.annotations", "string")),
            (
                r#"{"creationTimestamp":2001}"#,
                field("number", "ObjectMeta.metadata.creationTimestamp", "string"),
            ),
            (r#"{"generation":"a"}"#, field("string", "ObjectMeta.metadata.generation", "int64")),
            (r#"{"finalizers":"a"}"#, field("string", "ObjectMeta.metadata.finalizers", "[]string")),
            (
                r#"{"ownerReferences":[{"name":5}]}"#,
                field("number", "OwnerReference.metadata.ownerReferences.name", "string"),
            ),
            (
                r#"{"creationTimestamp":"abc"}"#,
                r#"parsing time "abc" as "2006-01-02T15:04:05Z07:00": cannot parse "abc" as "2006""#
                    .to_owned(),
            ),
        ] {
            assert_eq!(checked(metadata), Some(error), "{metadata}");
        }
        let text = r#"{"apiVersion":1,"kind":"Pod"}"#;
        assert_eq!(
            wrong_type(&Members::read(text).expect("an object")),
            Some(field("number", "metadataOnlyObject.TypeMeta.apiVersion", "string"))
        );
    }
}
