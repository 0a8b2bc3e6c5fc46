//! Patches from one state to another, as JSON text.

use std::fmt::Write;

use super::change::ChangeOp;
use super::level::{Level, Members, equal_scalars};
use super::walk;
use crate::object::{FieldPath, PathCursor};

/// Returns the JSON Patch (RFC 6902) that turns the old state into the new one; both are JSON. Without a difference it
/// is `[]`.
///
/// Values at or below a path of `skip` keep their old value, unless an enclosing value is replaced as a whole. Such a
/// path must not end at an element of a list.
///
/// ```
/// let (old, new) = (r#"{"spec":{"paused":true},"list":[1,2]}"#, r#"{"spec":{"n":1.50},"list":[2]}"#);
/// assert_eq!(
///     kdelta::diff::json_patch(old, new, &[]),
///     r#"[{"op":"remove","path":"/list/0"},{"op":"remove","path":"/spec/paused"},{"op":"add","path":"/spec/n","value":1.50}]"#
/// );
/// ```
#[must_use]
pub fn json_patch(old: &str, new: &str, skip: &[FieldPath]) -> String {
    let changes = super::changes(old, new, skip);
    let (removals, others): (Vec<_>, Vec<_>) =
        changes.iter().partition(|change| change.op == ChangeOp::Remove);
    let mut patch = String::from("[");
    for change in removals.into_iter().rev().chain(others) {
        if patch.len() > 1 {
            patch.push(',');
        }
        // Writing to a String can't fail.
        let _ = write!(patch, r#"{{"op":"{}","path":{}"#, change.op.as_str(), quoted(&change.path.pointer()));
        if let Some(value) = change.new {
            let _ = write!(patch, r#","value":{value}"#);
        }
        patch.push('}');
    }
    patch.push(']');
    patch
}

/// Returns the JSON Merge Patch (RFC 7386) that turns the old state into the new one; both are JSON. Without a
/// difference it is `{}` for objects. `None` if both are objects, and one has a name that is no Unicode text or is nested
/// more than 128 levels deep: it can't be merged.
///
/// A list that differs is replaced. The format uses `null` for removals, so that a member of an object that becomes
/// `null` is removed by the patch. Values at or below a path of `skip` keep their old value, unless an enclosing value or
/// list is replaced.
///
/// ```
/// let (old, new) = (r#"{"spec":{"paused":true},"list":[1,2]}"#, r#"{"spec":{"n":1.50},"list":[2]}"#);
/// let patch = kdelta::diff::merge_patch(old, new, &[]);
/// assert_eq!(patch.as_deref(), Some(r#"{"spec":{"paused":null,"n":1.50},"list":[2]}"#));
/// ```
#[must_use]
pub fn merge_patch(old: &str, new: &str, skip: &[FieldPath]) -> Option<String> {
    let (old, new) = (old.trim(), new.trim());
    let skip: Vec<_> = skip.iter().map(FieldPath::cursor).collect();
    let mut patch = String::new();
    match merge(old, new, &skip, &mut patch) {
        Ok(true) => Some(patch),
        Ok(false) if is_object(new) => Some("{}".to_owned()),
        Ok(false) => Some(new.to_owned()),
        Err(NotMergeable) => None,
    }
}

/// Two objects can't be compared member by member.
struct NotMergeable;

/// Appends the patch of a value and returns whether it differs. Appends nothing if it does not.
fn merge(old: &str, new: &str, skip: &[PathCursor<'_>], patch: &mut String) -> Result<bool, NotMergeable> {
    if old == new || skip.iter().any(|path| path.is_at_end()) {
        return Ok(false);
    }
    match (Level::of(old), Level::of(new)) {
        (Level::Object(old), Level::Object(new)) => return merge_members(&old, &new, skip, patch),
        (Level::Array(_), Level::Array(_)) if !walk::differs(old, new, skip) => return Ok(false),
        (Level::Array(_), Level::Array(_)) => {}
        _ if is_object(old) && is_object(new) => return Err(NotMergeable),
        _ if equal_scalars(old, new) => return Ok(false),
        _ => {}
    }
    patch.push_str(new);
    Ok(true)
}

fn merge_members(
    old: &Members<'_>,
    new: &Members<'_>,
    skip: &[PathCursor<'_>],
    patch: &mut String,
) -> Result<bool, NotMergeable> {
    let start = patch.len();
    let mut any = false;
    let mut begin = |name: &str, patch: &mut String| {
        patch.push(if std::mem::replace(&mut any, true) { ',' } else { '{' });
        patch.push_str(&quoted(name));
        patch.push(':');
    };
    let below = |name: &str| -> Vec<_> { skip.iter().filter_map(|path| path.member(name)).collect() };
    let is_skipped = |name: &str| below(name).iter().any(|path| path.is_at_end());
    for (name, _) in old.iter().filter(|(name, _)| new.get(name).is_none() && !is_skipped(name)) {
        begin(name, patch);
        patch.push_str("null");
    }
    let mut member = String::new();
    for (name, value) in new.iter().filter(|(name, _)| !is_skipped(name)) {
        member.clear();
        let differs = if let Some(before) = old.get(name) {
            merge(before, value, &below(name), &mut member)?
        } else {
            member.push_str(value);
            true
        };
        if differs {
            begin(name, patch);
            patch.push_str(&member);
        }
    }
    if any {
        patch.push('}');
    }
    debug_assert!(any || patch.len() == start, "nothing is written without a difference");
    Ok(any)
}

fn is_object(json: &str) -> bool {
    json.starts_with('{')
}

/// Returns a text as a JSON string.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Map, Value, json};

    use super::*;

    /// Applies a JSON Patch as RFC 6902 describes it.
    fn json_patched(old: &Value, operations: &str) -> Value {
        let mut state = old.clone();
        let operations: Vec<Value> = serde_json::from_str(operations).expect("operations");
        for operation in &operations {
            let path = operation["path"].as_str().expect("a path");
            let value = operation.get("value").cloned();
            let Some((parent, last)) = path.rsplit_once('/') else {
                assert_eq!((operation["op"].as_str(), path), (Some("replace"), ""));
                state = value.expect("a value");
                continue;
            };
            let parent = state.pointer_mut(parent).unwrap_or_else(|| panic!("no {parent}: {operation}"));
            let last = last.replace("~1", "/").replace("~0", "~");
            match (operation["op"].as_str(), parent) {
                (Some("add"), Value::Object(members)) => drop(members.insert(last, value.expect("a value"))),
                (Some("replace"), Value::Object(members)) => {
                    *members.get_mut(&last).expect("a member") = value.expect("a value");
                }
                (Some("remove"), Value::Object(members)) => drop(members.remove(&last).expect("a member")),
                (Some(op), Value::Array(elements)) => {
                    let at: usize = last.parse().expect("an index");
                    match op {
                        "add" => elements.insert(at, value.expect("a value")),
                        "replace" => elements[at] = value.expect("a value"),
                        "remove" => drop(elements.remove(at)),
                        _ => panic!("{operation}"),
                    }
                }
                _ => panic!("{operation}"),
            }
        }
        state
    }

    /// Applies a merge patch as RFC 7386 describes it.
    fn merged(target: Value, patch: &Value) -> Value {
        let Value::Object(members) = patch else { return patch.clone() };
        let mut target = match target {
            Value::Object(target) => target,
            _ => Map::new(),
        };
        for (name, value) in members {
            if value.is_null() {
                target.remove(name);
            } else {
                let before = target.remove(name).unwrap_or_default();
                target.insert(name.clone(), merged(before, value));
            }
        }
        Value::Object(target)
    }

    /// Returns the value without null members of objects that are in no list: a merge patch can't express them.
    fn without_nulls(value: Value) -> Value {
        match value {
            Value::Object(members) => {
                let kept = members.into_iter().filter(|(_, value)| !value.is_null());
                Value::Object(kept.map(|(name, value)| (name, without_nulls(value))).collect())
            }
            other => other,
        }
    }

    // The examples of RFC 7386, as changes from the original to the result.
    #[test]
    fn merge_patches_of_the_standard() {
        for (old, new, expected) in [
            (json!({"a": "b"}), json!({"a": "c"}), json!({"a": "c"})),
            (json!({"a": "b"}), json!({"a": "b", "b": "c"}), json!({"b": "c"})),
            (json!({"a": "b"}), json!({}), json!({"a": null})),
            (json!({"a": "b", "b": "c"}), json!({"b": "c"}), json!({"a": null})),
            (json!({"a": ["b"]}), json!({"a": "c"}), json!({"a": "c"})),
            (json!({"a": "c"}), json!({"a": ["b"]}), json!({"a": ["b"]})),
            (json!({"a": {"b": "c"}}), json!({"a": {"b": "d"}}), json!({"a": {"b": "d"}})),
            (json!({"a": [{"b": "c"}]}), json!({"a": [1]}), json!({"a": [1]})),
            (json!(["a", "b"]), json!(["c", "d"]), json!(["c", "d"])),
            (json!({"a": "b"}), json!(["c"]), json!(["c"])),
            (json!({"a": {"b": 1}}), json!({"a": {"b": 1}}), json!({})),
            (json!([1]), json!([1]), json!([1])),
        ] {
            let patch = merge_patch(&old.to_string(), &new.to_string(), &[]).expect("a patch");
            assert_eq!(patch, expected.to_string(), "{old} {new}");
        }
    }

    #[test]
    fn skipped_paths_keep_their_old_value() {
        let node = |version: &str, beat: u8, status: &str| {
            json!({"metadata": {"resourceVersion": version, "name": "n"}, "status": {"conditions": [
                {"type": "Ready", "status": status, "lastHeartbeatTime": beat}]}})
        };
        let skip = ["metadata.resourceVersion", "status.conditions.lastHeartbeatTime"];
        let skip: Vec<_> = skip.iter().map(|path| FieldPath::parse(path).expect("a path")).collect();
        let (old, beat) = (node("1", 1, "True").to_string(), node("2", 2, "True").to_string());
        assert_eq!(json_patch(&old, &beat, &skip), "[]");
        assert_eq!(merge_patch(&old, &beat, &skip).as_deref(), Some("{}"));
        let lost = node("2", 2, "False").to_string();
        assert_eq!(
            json_patch(&old, &lost, &skip),
            r#"[{"op":"replace","path":"/status/conditions/0/status","value":"False"}]"#
        );
        assert_eq!(
            merge_patch(&old, &lost, &skip).as_deref(),
            Some(r#"{"status":{"conditions":[{"lastHeartbeatTime":2,"status":"False","type":"Ready"}]}}"#)
        );
    }

    #[test]
    fn names_and_values_are_written_as_json() {
        let (old, new) = (r#"{"a\"/~":1,"n":1}"#, r#"{"a\"/~":{"\u003c":1.50},"n":1.0}"#);
        assert_eq!(
            json_patch(old, new, &[]),
            r#"[{"op":"replace","path":"/a\"~1~0","value":{"\u003c":1.50}}]"#
        );
        assert_eq!(merge_patch(old, new, &[]).as_deref(), Some(r#"{"a\"/~":{"\u003c":1.50}}"#));
    }

    #[test]
    fn objects_that_can_not_be_split_have_no_merge_patch() {
        let (odd, other) = (r#"{"\ud800":1}"#, r#"{"a":1}"#);
        assert_eq!(merge_patch(odd, other, &[]), None);
        assert_eq!(merge_patch(r#"{"x":{"a":1}}"#, r#"{"x":{"\ud800":1}}"#, &[]), None);
        assert_eq!(
            merge_patch(r#"{"x":1}"#, r#"{"x":{"\ud800":1}}"#, &[]).as_deref(),
            Some(r#"{"x":{"\ud800":1}}"#)
        );
        assert_eq!(json_patch(odd, other, &[]), r#"[{"op":"replace","path":"","value":{"a":1}}]"#);
    }

    #[test]
    fn more_changes_than_the_walk_reports_are_all_in_the_merge_patch() {
        let data = |value: u32| -> Value {
            let members = (0..3000).map(|n| (format!("k{n}"), json!({"x": value, "same": n})));
            json!({"data": members.collect::<Map<_, _>>(), "same": 1})
        };
        let (old, new) = (data(1), data(2));
        let patch = merge_patch(&old.to_string(), &new.to_string(), &[]).expect("a patch");
        let patch: Value = serde_json::from_str(&patch).expect("JSON");
        assert_eq!(patch["data"].as_object().map(Map::len), Some(3000));
        assert_eq!(merged(old.clone(), &patch), new);
        assert_eq!(json_patched(&old, &json_patch(&old.to_string(), &new.to_string(), &[])), new);
    }

    /// Returns any small JSON value.
    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            (-3..3i64).prop_map(Value::from),
            "[a-c~/\"é]{0,2}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 40, 5, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                proptest::collection::btree_map("[a-d~/\"]{1,2}", inner.clone(), 0..5)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
                proptest::collection::vec(("[a-c]", inner), 0..4).prop_map(|named| {
                    named.into_iter().map(|(name, x)| json!({"name": name, "x": x})).collect()
                }),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]

        #[test]
        fn json_patch_of_the_old_state_gives_the_new_one(old in value(), new in value()) {
            let patch = json_patch(&old.to_string(), &new.to_string(), &[]);
            prop_assert_eq!(json_patched(&old, &patch), new, "{}", patch);
        }

        #[test]
        fn merge_patch_of_the_old_state_gives_the_new_one(old in value(), new in value()) {
            let patch = merge_patch(&old.to_string(), &new.to_string(), &[]).expect("a patch");
            let patch: Value = serde_json::from_str(&patch).expect("JSON");
            prop_assert_eq!(without_nulls(merged(old, &patch)), without_nulls(new), "{}", patch);
        }

        #[test]
        fn merge_patch_is_exact_without_nulls(old in value(), new in value()) {
            let new = without_nulls(new);
            let patch = merge_patch(&old.to_string(), &new.to_string(), &[]).expect("a patch");
            let patch: Value = serde_json::from_str(&patch).expect("JSON");
            prop_assert_eq!(merged(old, &patch), new, "{}", patch);
        }
    }
}
