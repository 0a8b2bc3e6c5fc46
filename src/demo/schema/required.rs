//! Detection of missing required fields.

use serde_json::Value;

use super::check::join;
use super::node::Node;
use super::resources::of;
use crate::server::source::Kind;

/// Returns the paths of required fields that an object lacks.
pub(in crate::demo) fn missing(kind: &Kind, object: &Value) -> Vec<String> {
    let mut paths = Vec::new();
    if let Some(node) = of(kind) {
        walk(node, object, "", &mut paths);
    }
    paths
}

/// Fields that are always checked, even where they are absent, because they have required members.
const WHOLE: [&str; 4] = ["metadata", "spec", "template", "jobTemplate"];

fn walk(node: Node<'_>, value: &Value, path: &str, paths: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            let required = node.schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
            for name in required.filter(|name| !WHOLE.contains(name)) {
                if map.get(name).is_none_or(is_nothing) {
                    paths.push(join(path, name));
                }
            }
            let members = map
                .iter()
                .filter(|(key, _)| !["metadata", "status"].contains(&key.as_str()) || !path.is_empty());
            for (key, value) in members {
                if let Some(member) = node.member(key) {
                    walk(member, value, &join(path, key), paths);
                }
            }
        }
        Value::Array(values) => {
            let Some(element) = node.element() else { return };
            for (at, value) in values.iter().enumerate() {
                walk(element, value, &format!("{path}[{at}]"), paths);
            }
        }
        _ => {}
    }
}

/// Empty strings and lists count as absent.
fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(values) => values.is_empty(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::demo::kinds;

    #[test]
    fn missing_required_fields_are_reported() {
        let deployments = kinds::built_in().nth(kinds::DEPLOYMENTS).expect("deployments");
        let object = json!({"spec": {"template": {"spec": {"containers": [{"image": "i"}]}}}});
        assert_eq!(
            missing(&deployments, &object),
            ["spec.selector", "spec.template.spec.containers[0].name"]
        );
        let object = json!({"spec": {"selector": {}, "template": {"spec": {"containers": []}}}});
        assert_eq!(missing(&deployments, &object), ["spec.template.spec.containers"]);
    }
}
