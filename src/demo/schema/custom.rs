//! Validation of custom resources by their schema: types and enumerations.

use serde_json::Value;

use super::check::join;
use super::node::Node;
use super::resources::of;
use crate::server::api_error::Cause;
use crate::server::source::Kind;

/// Returns the errors in an object of that resource.
pub(in crate::demo) fn invalid(kind: &Kind, object: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    if let Some(node) = of(kind) {
        walk(node, object, "", &mut causes);
    }
    causes
}

fn walk(node: Node<'_>, value: &Value, path: &str, causes: &mut Vec<Cause>) {
    let expected = node.word("type");
    let actual = match value {
        Value::Null if node.schema["nullable"] == true => return,
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let fits = expected.is_empty() || expected == actual || (expected, actual) == ("number", "integer");
    if !fits && node.schema["x-kubernetes-int-or-string"] != true {
        let why = format!("{path} in body must be of type {expected}: {actual:?}");
        causes.push(Cause::invalid(path, actual, &why));
        return;
    }
    if let Some(listed) = node.schema["enum"].as_array()
        && !listed.contains(value)
    {
        let listed: Vec<&str> = listed.iter().filter_map(Value::as_str).collect();
        causes.push(Cause::unsupported(path, value.as_str().unwrap_or_default(), &listed));
    }
    if let (Some(number), Some(minimum)) = (value.as_f64(), node.schema["minimum"].as_f64())
        && number < minimum
    {
        let why = format!("{path} in body should be greater than or equal to {minimum}");
        causes.push(Cause::invalid_value(path, value, &why));
    }
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                if let Some(member) = node.member(key) {
                    walk(member, value, &join(path, key), causes);
                }
            }
        }
        Value::Array(values) => {
            let Some(element) = node.element() else { return };
            for (at, value) in values.iter().enumerate() {
                walk(element, value, &format!("{path}[{at}]"), causes);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn types_and_listed_values_are_validated() {
        let schema = json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {
            "size": {"type": "integer", "minimum": 1}, "color": {"type": "string", "enum": ["red", "green"]},
        }}}});
        let definition = json!({"spec": {
            "group": "g", "scope": "Namespaced", "names": {"plural": "things", "kind": "Thing"},
            "versions": [{"name": "v1", "storage": true, "schema": {"openAPIV3Schema": schema}}],
        }});
        let kind = Kind::of_definition(&definition).expect("a kind");
        let errors = |spec: Value| -> Vec<String> {
            invalid(&kind, &json!({"spec": spec})).iter().map(Cause::text).collect()
        };
        assert_eq!(errors(json!({"size": 3, "color": "red"})), [""; 0]);
        assert_eq!(
            errors(json!({"size": "big", "color": "blue"})),
            [
                "spec.color: Unsupported value: \"blue\": supported values: \"red\", \"green\"",
                "spec.size: Invalid value: \"string\": spec.size in body must be of type integer: \"string\"",
            ]
        );
        assert_eq!(
            errors(json!({"size": 0})),
            ["spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1"]
        );
    }
}
