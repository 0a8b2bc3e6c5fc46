//! JSON merge patch, strategic merge patch, and JSON patch.

use serde_json::{Map, Value};

use crate::demo::schema::Node;

/// RFC 7386: null removes a member, objects are merged, everything else is replaced.
pub(super) fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        target.clone_from(patch);
        return;
    };
    let mut map = taken_map(target);
    for (key, value) in patch {
        if value.is_null() {
            map.remove(key);
        } else {
            merge(map.entry(key.clone()).or_insert(Value::Null), value);
        }
    }
    *target = map.into();
}

/// Takes the members out of an object; empty for any other value.
fn taken_map(value: &mut Value) -> Map<String, Value> {
    match value.take() {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

/// A merge that identifies list elements by the key in the schema.
pub(super) fn strategic(target: &mut Value, patch: &Value, node: Option<Node<'_>>) {
    match patch {
        Value::Object(patch) if patch.get("$patch").is_some_and(|directive| directive == "replace") => {
            let mut fresh = patch.clone();
            fresh.remove("$patch");
            *target = fresh.into();
        }
        Value::Object(patch) => {
            let mut map = taken_map(target);
            strategic_map(&mut map, patch, node);
            *target = map.into();
        }
        Value::Array(patch) => strategic_list(target, patch, node),
        other => target.clone_from(other),
    }
}

fn strategic_map(target: &mut Map<String, Value>, patch: &Map<String, Value>, node: Option<Node<'_>>) {
    if let Some(retained) = patch.get("$retainKeys").and_then(Value::as_array) {
        target.retain(|key, _| retained.iter().any(|own| own == key));
    }
    for (key, value) in patch {
        if let Some(list) = key.strip_prefix("$deleteFromPrimitiveList/") {
            let removed = value.as_array().map_or(&[][..], Vec::as_slice);
            if let Some(Value::Array(values)) = target.get_mut(list) {
                values.retain(|value| !removed.contains(value));
            }
        } else if key.starts_with('$') {
            // An element order directive: the demo's lists promise no order.
        } else if value.is_null() {
            target.remove(key);
        } else {
            let place = target.entry(key.clone()).or_insert(Value::Null);
            strategic(place, value, node.and_then(|node| node.member(key)));
        }
    }
}

fn strategic_list(target: &mut Value, patch: &[Value], node: Option<Node<'_>>) {
    let known = target.as_array().map_or(&[][..], Vec::as_slice);
    let mut merged = known.to_vec();
    match node.and_then(Node::merge_key) {
        Some(key) => {
            let replaces = |element: &Value| element["$patch"] == "replace";
            if patch.iter().any(replaces) {
                merged.clear();
            }
            for element in patch.iter().filter(|element| !replaces(element)) {
                let at = merged.iter().position(|own| own[key] == element[key]);
                match (at, element["$patch"] == "delete") {
                    (Some(at), true) => drop(merged.remove(at)),
                    (None, true) => {}
                    (Some(at), false) => strategic(&mut merged[at], element, node.and_then(Node::element)),
                    (None, false) => merged.push(element.clone()),
                }
            }
        }
        None if node.is_some_and(Node::is_set) => {
            merged.extend(patch.iter().filter(|value| !known.contains(value)).cloned());
        }
        None => merged = patch.to_vec(),
    }
    *target = merged.into();
}

/// RFC 6902.
///
/// # Errors
/// An invalid or inapplicable operation.
pub(super) fn json_patch(target: &mut Value, steps: &Value) -> Result<(), String> {
    for step in steps.as_array().ok_or("a JSON patch is a list")? {
        let text = |key: &str| step.get(key).and_then(Value::as_str).ok_or(format!("no {key} in {step}"));
        let value = || step.get("value").cloned().ok_or(format!("no value in {step}"));
        let path = text("path")?;
        match text("op")? {
            "add" => add(target, path, value()?)?,
            "remove" => drop(remove(target, path)?),
            "replace" => *target.pointer_mut(path).ok_or(missing("replace", path))? = value()?,
            "move" => {
                let moved = remove(target, text("from")?)?;
                add(target, path, moved)?;
            }
            "copy" => {
                let from = text("from")?;
                let copied = target.pointer(from).cloned().ok_or(missing("copy", from))?;
                add(target, path, copied)?;
            }
            "test" if target.pointer(path) == Some(&value()?) => {}
            "test" => return Err(format!("testing value {path} failed")),
            other => return Err(format!("Unexpected kind: {other}")),
        }
    }
    Ok(())
}

fn missing(operation: &str, path: &str) -> String {
    format!("{operation} operation does not apply: doc is missing path: {path}: missing value")
}

/// Returns the parent of the value at a path, and the last name of the path.
fn parent<'a>(target: &'a mut Value, path: &str) -> Result<(&'a mut Value, String), String> {
    let (parent, last) = path.rsplit_once('/').ok_or(missing("the", path))?;
    let value = target.pointer_mut(parent).ok_or(missing("the", path))?;
    Ok((value, last.replace("~1", "/").replace("~0", "~")))
}

fn add(target: &mut Value, path: &str, value: Value) -> Result<(), String> {
    if path.is_empty() {
        *target = value;
        return Ok(());
    }
    match parent(target, path)? {
        (Value::Object(map), key) => drop(map.insert(key, value)),
        (Value::Array(list), key) if key == "-" => list.push(value),
        (Value::Array(list), key) => {
            let at = key.parse().ok().filter(|at| *at <= list.len()).ok_or(missing("add", path))?;
            list.insert(at, value);
        }
        _ => return Err(missing("add", path)),
    }
    Ok(())
}

fn remove(target: &mut Value, path: &str) -> Result<Value, String> {
    match parent(target, path)? {
        (Value::Object(map), key) => map.remove(&key),
        (Value::Array(list), key) => {
            key.parse().ok().filter(|at| *at < list.len()).map(|at: usize| list.remove(at))
        }
        _ => None,
    }
    .ok_or(missing("remove", path))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::demo::{kinds, schema};

    #[test]
    fn merge_patch_removes_nulls_and_replaces_lists() {
        let mut target = json!({"a": {"b": 1, "c": 2}, "l": [1, 2]});
        merge(&mut target, &json!({"a": {"b": null, "d": {"e": null, "f": 3}}, "l": [3]}));
        assert_eq!(target, json!({"a": {"c": 2, "d": {"f": 3}}, "l": [3]}));
    }

    #[test]
    fn strategic_merge_matches_elements_by_key() {
        let pods = kinds::built_in().nth(kinds::PODS).expect("pods");
        let mut target = json!({
            "metadata": {"finalizers": ["x", "y"]},
            "spec": {
                "containers": [{"name": "a", "image": "1"}, {"name": "b", "image": "1"}],
                "tolerations": [{"key": "old"}],
            },
        });
        let patch = json!({
            "metadata": {"$deleteFromPrimitiveList/finalizers": ["x"], "finalizers": ["z"]},
            "spec": {
                "$setElementOrder/containers": [{"name": "a"}],
                "containers": [{"name": "a", "image": "2"}, {"name": "b", "$patch": "delete"}, {"name": "d"}],
                "tolerations": [{"key": "new"}],
            },
        });
        strategic(&mut target, &patch, schema::of(&pods));
        let expected = json!({
            "metadata": {"finalizers": ["y", "z"]},
            "spec": {"containers": [{"name": "a", "image": "2"}, {"name": "d"}], "tolerations": [{"key": "new"}]},
        });
        assert_eq!(target, expected);
        let retained = json!({"spec": {"$retainKeys": ["tolerations"]}});
        strategic(&mut target, &retained, schema::of(&pods));
        assert_eq!(target["spec"], json!({"tolerations": [{"key": "new"}]}));
    }

    #[test]
    fn json_patch_applies_operations_in_order() {
        let mut target = json!({"a": [1, 2], "m": {"x/y": 1}});
        let patch = json!([
            {"op": "test", "path": "/a/0", "value": 1},
            {"op": "add", "path": "/a/1", "value": 9},
            {"op": "add", "path": "/a/-", "value": 8},
            {"op": "remove", "path": "/m/x~1y"},
            {"op": "replace", "path": "/a/0", "value": 0},
            {"op": "copy", "from": "/a", "path": "/b"},
            {"op": "move", "from": "/a", "path": "/m/a"},
        ]);
        json_patch(&mut target, &patch).expect("fine");
        assert_eq!(target, json!({"b": [0, 9, 2, 8], "m": {"a": [0, 9, 2, 8]}}));
        for invalid in [
            json!([{"op": "test", "path": "/b/0", "value": 1}]),
            json!([{"op": "remove", "path": "/nope"}]),
            json!([{"op": "replace", "path": "/x/y", "value": 1}]),
            json!([{"op": "fly", "path": "/b"}]),
            json!({}),
        ] {
            assert!(json_patch(&mut target.clone(), &invalid).is_err(), "{invalid}");
        }
    }
}
