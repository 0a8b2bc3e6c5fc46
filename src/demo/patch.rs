//! The ways to say a change: JSON merge patch, strategic merge patch (near enough: lists merge by the usual keys), and
//! JSON patch.

use serde_json::{Map, Value};

/// The fields that tell the elements of a list apart, in the order in which they are tried.
const MERGE_KEYS: [&str; 5] = ["name", "type", "containerPort", "port", "uid"];

/// RFC 7386: a null removes, objects merge, everything else is replaced.
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

/// The members of an object, taken out of it; none of anything else.
fn taken_map(value: &mut Value) -> Map<String, Value> {
    match value.take() {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

/// As a merge, but that the elements of a list are found again by their name.
pub(super) fn strategic(target: &mut Value, patch: &Value) {
    match patch {
        Value::Object(patch) if patch.get("$patch").is_some_and(|directive| directive == "replace") => {
            let mut fresh = patch.clone();
            fresh.remove("$patch");
            *target = fresh.into();
        }
        Value::Object(patch) => {
            let mut map = taken_map(target);
            strategic_map(&mut map, patch);
            *target = map.into();
        }
        Value::Array(patch) if patch.iter().all(Value::is_object) && !patch.is_empty() => {
            strategic_list(target, patch);
        }
        other => target.clone_from(other),
    }
}

fn strategic_map(target: &mut Map<String, Value>, patch: &Map<String, Value>) {
    for (key, value) in patch {
        if let Some(list) = key.strip_prefix("$deleteFromPrimitiveList/") {
            let gone = value.as_array().map_or(&[][..], Vec::as_slice);
            if let Some(Value::Array(values)) = target.get_mut(list) {
                values.retain(|value| !gone.contains(value));
            }
        } else if key.starts_with('$') {
            // How elements are ordered, or which members stay: nothing that our lists promise.
        } else if value.is_null() {
            target.remove(key);
        } else {
            strategic(target.entry(key.clone()).or_insert(Value::Null), value);
        }
    }
}

fn strategic_list(target: &mut Value, patch: &[Value]) {
    let known = target.as_array().map_or(&[][..], Vec::as_slice);
    let all = || known.iter().chain(patch);
    let Some(key) = MERGE_KEYS.into_iter().find(|key| all().all(|element| element.get(key).is_some())) else {
        *target = Value::from(patch);
        return;
    };
    let mut merged = known.to_vec();
    for element in patch {
        let at = merged.iter().position(|own| own[key] == element[key]);
        match (at, element["$patch"] == "delete") {
            (Some(at), true) => drop(merged.remove(at)),
            (None, true) => {}
            (Some(at), false) => strategic(&mut merged[at], element),
            (None, false) => merged.push(element.clone()),
        }
    }
    *target = merged.into();
}

/// RFC 6902.
///
/// # Errors
/// An operation that can't be done, or none.
pub(super) fn json_patch(target: &mut Value, patch: &Value) -> Result<(), String> {
    for step in patch.as_array().ok_or("a JSON patch is a list")? {
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

/// The value that holds the end of the path, and the name of that end.
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

    #[test]
    fn a_merge_removes_what_is_null_and_replaces_lists() {
        let mut target = json!({"a": {"b": 1, "c": 2}, "l": [1, 2]});
        merge(&mut target, &json!({"a": {"b": null, "d": {"e": null, "f": 3}}, "l": [3]}));
        assert_eq!(target, json!({"a": {"c": 2, "d": {"f": 3}}, "l": [3]}));
    }

    #[test]
    fn a_strategic_merge_finds_elements_by_name() {
        let mut target =
            json!({"c": [{"name": "a", "image": "1"}, {"name": "b", "image": "1"}], "f": ["x", "y"]});
        let patch = json!({
            "$setElementOrder/c": [{"name": "a"}],
            "$deleteFromPrimitiveList/f": ["x"],
            "c": [{"name": "a", "image": "2"}, {"name": "b", "$patch": "delete"}, {"name": "d"}],
        });
        strategic(&mut target, &patch);
        assert_eq!(target, json!({"c": [{"name": "a", "image": "2"}, {"name": "d"}], "f": ["y"]}));
        strategic(&mut target, &json!({"c": [{"image": "3"}]}));
        assert_eq!(target["c"], json!([{"image": "3"}]));
    }

    #[test]
    fn a_json_patch_is_done_step_by_step() {
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
        for wrong in [
            json!([{"op": "test", "path": "/b/0", "value": 1}]),
            json!([{"op": "remove", "path": "/nope"}]),
            json!([{"op": "replace", "path": "/x/y", "value": 1}]),
            json!([{"op": "fly", "path": "/b"}]),
            json!({}),
        ] {
            assert!(json_patch(&mut target.clone(), &wrong).is_err(), "{wrong}");
        }
    }
}
