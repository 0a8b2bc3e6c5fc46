//! Detection of unknown fields and wrong types, as found by decoding into the API's types.

use serde_json::Value;

use super::node::Node;
use super::resources::{object_meta, of};
use crate::server::source::Kind;

/// The findings in an object.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::demo) struct Findings {
    /// The paths of unknown fields.
    pub(in crate::demo) unknown: Vec<String>,
    /// The error of the first field with a wrong type.
    pub(in crate::demo) type_error: Option<String>,
}

/// Checks an object, and removes unknown fields and nulls, which have no meaning.
pub(in crate::demo) fn check(kind: &Kind, object: &mut Value) -> Findings {
    let mut found = Findings::default();
    let Some(node) = of(kind) else { return found };
    if !kind.is_custom() {
        walk(node, object, "", "", &mut found);
        return found;
    }
    // A custom resource's definition may omit the standard fields.
    let own = ["apiVersion", "kind", "metadata"]
        .map(|key| (key, object.as_object_mut().and_then(|map| map.remove(key))));
    prune(node, object, "", &mut found);
    for (key, value) in own {
        if let Some(mut value) = value {
            if key == "metadata"
                && let Some(meta) = object_meta()
            {
                walk(meta, &mut value, "metadata", "metadata", &mut found);
            }
            object[key] = value;
        }
    }
    found
}

/// `path` is the path in errors, `field` the path in Go's decoder, which has no indices.
fn walk(node: Node<'_>, value: &mut Value, path: &str, field: &str, found: &mut Findings) {
    let type_of_schema = node.word("type");
    let fits = match (type_of_schema, &*value) {
        ("object", value) => value.is_object(),
        ("array", value) => value.is_array(),
        ("string", value) => value.is_string(),
        ("boolean", value) => value.is_boolean(),
        ("integer", value) => value.is_i64() || value.is_u64(),
        ("number", value) => value.is_number(),
        _ => true,
    };
    if !fits {
        let message = format!(
            "json: cannot unmarshal {} into Go struct field {}.{field} of type {}",
            type_of(value),
            node.owner,
            go_type(node)
        );
        found.type_error.get_or_insert(message);
        return;
    }
    match value {
        Value::Object(map) => {
            let named = node.members();
            map.retain(|key, value| {
                let is_known = named.is_none() || node.member(key).is_some();
                if !is_known {
                    found.unknown.push(join(path, key));
                }
                is_known && !value.is_null()
            });
            for (key, value) in map {
                if let Some(member) = node.member(key) {
                    let field = if named.is_some() { join(field, key) } else { field.to_owned() };
                    walk(member, value, &join(path, key), &field, found);
                }
            }
        }
        Value::Array(values) => {
            let Some(element) = node.element() else { return };
            for (at, value) in values.iter_mut().enumerate() {
                walk(element, value, &format!("{path}[{at}]"), field, found);
            }
        }
        _ => {}
    }
}

/// Like [`walk`], for a custom resource: objects without declared members are empty, and types are left to validation.
fn prune(node: Node<'_>, value: &mut Value, path: &str, found: &mut Findings) {
    match value {
        Value::Object(map) => {
            map.retain(|key, _| {
                let is_known = node.is_free() || node.member(key).is_some();
                if !is_known {
                    found.unknown.push(join(path, key));
                }
                is_known
            });
            for (key, value) in map {
                if let Some(member) = node.member(key) {
                    prune(member, value, &join(path, key), found);
                }
            }
        }
        Value::Array(values) => {
            let Some(element) = node.element() else { return };
            for (at, value) in values.iter_mut().enumerate() {
                prune(element, value, &format!("{path}[{at}]"), found);
            }
        }
        _ => {}
    }
}

pub(super) fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Returns Go's name of the type.
fn go_type(node: Node<'_>) -> String {
    match (node.word("type"), node.word("format")) {
        ("integer" | "number", format @ ("int32" | "int64")) => format.to_owned(),
        ("boolean", _) => "bool".to_owned(),
        ("array", _) => match node.element() {
            Some(element) if element.members().is_some() => format!("[]v1.{}", element.owner),
            _ => "[]string".to_owned(),
        },
        ("object", _) if node.members().is_none() => "map[string]string".to_owned(),
        ("object", _) => format!("v1.{}", node.owner),
        (other, _) => other.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::demo::kinds;

    fn checked(id: usize, mut object: Value) -> (Value, Findings) {
        let kind = kinds::built_in().nth(id).expect("a kind");
        let found = check(&kind, &mut object);
        (object, found)
    }

    #[test]
    fn unknown_fields_are_reported_and_removed() {
        let pod = json!({
            "metadata": {"name": "p", "foo": 1, "labels": {"any": "thing"}, "creationTimestamp": null},
            "spec": {"containers": [{"name": "c", "image": "i", "bar": {}}], "nodeSelector": {"a.b/c": "d"}},
        });
        let (remaining, found) = checked(kinds::PODS, pod);
        assert_eq!(found.unknown, ["metadata.foo", "spec.containers[0].bar"]);
        assert_eq!(found.type_error, None);
        let expected = json!({
            "metadata": {"name": "p", "labels": {"any": "thing"}},
            "spec": {"containers": [{"name": "c", "image": "i"}], "nodeSelector": {"a.b/c": "d"}},
        });
        assert_eq!(remaining, expected);
    }

    #[test]
    fn wrong_types_are_reported_in_the_decoders_words() {
        let type_error = |id, object| checked(id, object).1.type_error.expect("an error");
        assert_eq!(
            type_error(kinds::DEPLOYMENTS, json!({"spec": {"replicas": "x"}})),
            "json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32"
        );
        assert_eq!(
            type_error(kinds::CONFIG_MAPS, json!({"data": {"a": 1}})),
            "json: cannot unmarshal number into Go struct field ConfigMap.data of type string"
        );
    }

    #[test]
    fn custom_resources_have_the_fields_of_their_definition() {
        let schema = json!({"type": "object", "properties": {
            "spec": {"type": "object", "properties": {
                "size": {"type": "integer"},
                "any": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
            }},
        }});
        let definition = json!({"spec": {
            "group": "g", "scope": "Namespaced", "names": {"plural": "things", "kind": "Thing"},
            "versions": [{"name": "v1", "storage": true, "schema": {"openAPIV3Schema": schema}}],
        }});
        let kind = Kind::of_definition(&definition).expect("a kind");
        let mut object = json!({
            "apiVersion": "g/v1", "kind": "Thing", "metadata": {"name": "a", "foo": 1},
            "spec": {"size": 1, "color": "red", "any": {"x": {"y": 1}}}, "extra": 1,
        });
        let found = check(&kind, &mut object);
        assert_eq!(found.unknown, ["extra", "spec.color", "metadata.foo"]);
        assert_eq!(object["spec"], json!({"size": 1, "any": {"x": {"y": 1}}}));
        assert_eq!(object["kind"], "Thing");
    }
}
