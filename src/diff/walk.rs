//! The comparison of two JSON texts: walks over both at the same time and collects the changes.

use std::borrow::Cow;

use super::change::{Change, ChangeOp, ChangePath, PathStep};
use super::document::Document;
use super::level::{Level, Members, equal_scalars, replaced_members};
use super::list::Pairs;
use crate::object::{FieldPath, PathCursor};

/// The maximum depth of the comparison below the root.
pub(super) const MAX_DEPTH: usize = 64;

/// The maximum number of changes below one value; more are reported as one replacement.
const MAX_CHANGES: usize = 1000;

pub(super) fn walk<'a>(old: Document<'a>, new: Document<'a>, skip: &[FieldPath]) -> Vec<Change<'a>> {
    let mut walk = Walk { documents: [old, new], way: Vec::new(), changes: Vec::new() };
    let skip: Vec<_> = skip.iter().map(FieldPath::cursor).collect();
    walk.value(old.root(), new.root(), &skip);
    walk.changes
}

/// Returns whether both states differ at a path that is not skipped.
pub(super) fn differs(old: &str, new: &str, skip: &[PathCursor<'_>]) -> bool {
    let documents = [Document::of(old), Document::of(new)];
    let mut walk = Walk { documents, way: Vec::new(), changes: Vec::new() };
    walk.value(old, new, skip);
    !walk.changes.is_empty()
}

struct Walk<'a> {
    /// The old and the new state.
    documents: [Document<'a>; 2],
    way: Vec<PairedStep<'a>>,
    changes: Vec<Change<'a>>,
}

/// A step of the path in both states.
#[derive(Clone)]
enum PairedStep<'a> {
    Member(Cow<'a, str>),
    Element { old: usize, new: usize, key: Option<Cow<'a, str>> },
}

impl<'a> Walk<'a> {
    fn value(&mut self, old: &'a str, new: &'a str, skip: &[PathCursor<'_>]) {
        if old == new || skip.iter().any(|path| path.is_at_end()) {
            return;
        }
        let before = self.changes.len();
        self.unequal_value(old, new, skip);
        if self.changes.len() - before > MAX_CHANGES {
            self.changes.truncate(before);
            self.push(ChangeOp::Replace, Some(old), Some(new));
        }
    }

    fn unequal_value(&mut self, old: &'a str, new: &'a str, skip: &[PathCursor<'_>]) {
        let is_container = |value: &str| value.starts_with(['{', '[']);
        let levels = if self.way.len() >= MAX_DEPTH || !is_container(old) || !is_container(new) {
            (Level::Scalar, Level::Scalar)
        } else if let Some(replaced) = replaced_members(self.documents, old, new) {
            for (name, old, new) in replaced {
                let below = below(skip, &name);
                self.at(PairedStep::Member(name), |walk| walk.value(old, new, &below));
            }
            return;
        } else {
            let [old_document, new_document] = self.documents;
            (Level::within(old_document, old), Level::within(new_document, new))
        };
        match levels {
            (Level::Object(old), Level::Object(new)) => self.members(&old, &new, skip),
            (Level::Array(old), Level::Array(new)) => self.elements(&old, &new, skip),
            _ if equal_scalars(old, new) => {}
            _ => self.push(ChangeOp::Replace, Some(old), Some(new)),
        }
    }

    fn members(&mut self, old: &Members<'a>, new: &Members<'a>, skip: &[PathCursor<'_>]) {
        let is_skipped = |name: &str| below(skip, name).iter().any(|path| path.is_at_end());
        let removed = old.iter().enumerate().filter(|(at, (name, _))| new.get_near(*at, name).is_none());
        for (name, value) in removed.map(|(_, member)| member).filter(|(name, _)| !is_skipped(name)) {
            self.at(PairedStep::Member(name.clone()), |walk| walk.push(ChangeOp::Remove, Some(value), None));
        }
        for (at, (name, value)) in new.iter().enumerate() {
            match old.get_near(at, name) {
                Some(before) if before == value => {}
                Some(before) => {
                    self.at(PairedStep::Member(name.clone()), |walk| {
                        walk.value(before, value, &below(skip, name));
                    });
                }
                None if is_skipped(name) => {}
                None => {
                    self.at(PairedStep::Member(name.clone()), |walk| {
                        walk.push(ChangeOp::Add, None, Some(value));
                    });
                }
            }
        }
    }

    /// Elements between two pairs are removed and then added. Removals therefore come in the order of the old list, all
    /// other changes in that of the new one.
    fn elements(&mut self, old: &[&'a str], new: &[&'a str], skip: &[PathCursor<'_>]) {
        let below = |at: usize| -> Vec<_> { skip.iter().filter_map(|path| path.element(at)).collect() };
        let is_skipped = |at: usize| below(at).iter().any(|path| path.is_at_end());
        let paired = Pairs::of(self.documents, old, new);
        let (mut from_old, mut from_new) = (0, 0);
        for (to_old, to_new) in paired.places.iter().copied().chain([(old.len(), new.len())]) {
            for at in (from_old..to_old).filter(|at| !is_skipped(*at)) {
                let way = PairedStep::Element { old: at, new: at, key: paired.old_key(at) };
                self.at(way, |walk| walk.push(ChangeOp::Remove, Some(old[at]), None));
            }
            for at in (from_new..to_new).filter(|at| !is_skipped(*at)) {
                let way = PairedStep::Element { old: at, new: at, key: paired.new_key(at) };
                self.at(way, |walk| walk.push(ChangeOp::Add, None, Some(new[at])));
            }
            if let (Some(before), Some(after)) = (old.get(to_old), new.get(to_new)) {
                let way = PairedStep::Element { old: to_old, new: to_new, key: paired.new_key(to_new) };
                self.at(way, |walk| walk.value(before, after, &below(to_new)));
            }
            (from_old, from_new) = (to_old + 1, to_new + 1);
        }
    }

    fn at(&mut self, step: PairedStep<'a>, then: impl FnOnce(&mut Self)) {
        self.way.push(step);
        then(self);
        self.way.pop();
    }

    fn push(&mut self, op: ChangeOp, old: Option<&'a str>, new: Option<&'a str>) {
        let step = |way: &PairedStep<'a>| match way {
            PairedStep::Member(name) => PathStep::Member(name.clone()),
            PairedStep::Element { old, new, key } => {
                PathStep::Element { at: if op == ChangeOp::Remove { *old } else { *new }, key: key.clone() }
            }
        };
        let path = ChangePath(self.way.iter().map(step).collect());
        self.changes.push(Change { op, path, old, new });
    }
}

/// Returns what is left of the paths below a member.
fn below<'p>(paths: &[PathCursor<'p>], name: &str) -> Vec<PathCursor<'p>> {
    paths.iter().filter_map(|path| path.member(name)).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use crate::diff::{Change, ChangeOp, PathStep, changes};
    use crate::object::FieldPath;

    fn changes_of(old: &Value, new: &Value, skip: &[&str]) -> Vec<String> {
        let skip: Vec<_> = skip.iter().map(|path| FieldPath::parse(path).expect("a path")).collect();
        let (old, new) = (old.to_string(), new.to_string());
        let line = |change: &Change<'_>| {
            let (old, new) = (change.old.unwrap_or("-"), change.new.unwrap_or("-"));
            format!("{} {} {old} {new}", change.op.as_str(), change.path.pointer())
        };
        changes(&old, &new, &skip).iter().map(line).collect()
    }

    #[test]
    fn each_operation_has_its_path_and_values() {
        let old = json!({"a": 1, "gone": {"x": []}, "list": ["f", "g"], "same": [1, {"b": 2}], "m/~": "old"});
        let new = json!({"a": "1", "came": null, "list": ["g"], "same": [1, {"b": 2}], "m/~": "new"});
        assert_eq!(
            changes_of(&old, &new, &[]),
            [
                r#"remove /gone {"x":[]} -"#,
                r#"replace /a 1 "1""#,
                "add /came - null",
                r#"remove /list/0 "f" -"#,
                r#"replace /m~1~0 "old" "new""#,
            ]
        );
    }

    #[test]
    fn removals_use_old_indices_and_other_changes_new_ones() {
        let container = |name: &str, env: &[&str]| json!({"name": name, "env": env});
        let old = json!([container("a", &[]), container("b", &["x", "y"])]);
        let new = json!([container("b", &["y", "z"]), container("c", &[])]);
        assert_eq!(
            changes_of(&old, &new, &[]),
            [
                r#"remove /0 {"env":[],"name":"a"} -"#,
                r#"remove /1/env/0 "x" -"#,
                r#"add /0/env/1 - "z""#,
                r#"add /1 - {"env":[],"name":"c"}"#,
            ]
        );
    }

    #[test]
    fn skipped_paths_appear_only_with_their_parents() {
        let old = json!({"metadata": {"resourceVersion": "1", "generation": 1}, "status": {"conditions": [
            {"type": "Ready", "status": "True", "lastHeartbeatTime": "1"}]}});
        let mut new = old.clone();
        new["metadata"]["resourceVersion"] = json!("2");
        new["status"]["conditions"][0]["lastHeartbeatTime"] = json!("2");
        let skip = ["metadata.resourceVersion", "status.conditions[*].lastHeartbeatTime"];
        assert_eq!(changes_of(&old, &new, &skip), [""; 0]);
        new["status"]["conditions"][0]["status"] = json!("False");
        assert_eq!(changes_of(&old, &new, &skip), [r#"replace /status/conditions/0/status "True" "False""#]);
        assert_eq!(
            changes_of(&old, &json!({"metadata": {}, "status": old["status"]}), &skip),
            ["remove /metadata/generation 1 -"]
        );
        assert_eq!(changes_of(&json!({}), &json!({"metadata": {"resourceVersion": "1"}}), &skip).len(), 1);
    }

    #[test]
    fn paths_print_in_the_usual_notation() {
        let old = json!({"spec": {"containers": [{"name": "web", "args": ["a"]}]}, "metadata": {"labels": {"a.b/c": "1"}}});
        let new = json!({"spec": {"containers": [{"name": "web", "args": ["b"]}]}, "metadata": {"labels": {"a.b/c": "2"}}});
        let (old, new) = (old.to_string(), new.to_string());
        let paths: Vec<_> = changes(&old, &new, &[]).iter().map(|change| change.path.to_string()).collect();
        assert_eq!(paths, ["metadata.labels['a.b/c']", "spec.containers[web].args[0]"]);
        assert_eq!(changes("1", "2", &[])[0].path.to_string(), ".");
    }

    #[test]
    fn excess_changes_become_one_replacement() {
        let data = |value: i32| -> Value {
            json!({"data": (0..5000).map(|n| (format!("k{n}"), json!(value))).collect::<serde_json::Map<_, _>>(), "x": value})
        };
        let (old, new) = (data(1), data(2));
        let found = changes_of(&old, &new, &[]);
        assert_eq!(found.len(), 2);
        assert!(found[0].starts_with(r#"replace /data {"k0":1,"#), "{}", &found[0][..40]);
        let deep = |leaf: &str| format!("{}{leaf}{}", "[".repeat(10_000), "]".repeat(10_000));
        let (old, new) = (deep("1"), deep("2"));
        assert_eq!(changes(&old, &new, &[]).len(), 1);
    }

    #[test]
    fn the_last_of_duplicate_names_is_compared() {
        for (old, new, expected) in [
            (r#"{"a":1,"a":2}"#, r#"{"a":3,"a":2}"#, None),
            (r#"{"a":1,"b":0,"a":2}"#, r#"{"a":1,"b":0,"a":4}"#, Some(("2", "4"))),
            (r#"{"a":1,"\u0061":2}"#, r#"{"a":3,"\u0061":2}"#, None),
            (r#"{"\u0061":1,"a":2}"#, r#"{"\u0061":3,"a":2}"#, None),
            (r#"{"a":1,"b":{"a":2}}"#, r#"{"a":3,"b":{"a":2}}"#, Some(("1", "3"))),
        ] {
            let found = changes(old, new, &[]);
            let values = found.first().map(|change| (change.old.unwrap_or("-"), change.new.unwrap_or("-")));
            assert_eq!((found.len(), values), (usize::from(expected.is_some()), expected), "{old} {new}");
        }
    }

    /// Applies changes as the documentation of `changes` describes.
    fn applied(old: &Value, changes: &[Change<'_>]) -> Value {
        let mut value = old.clone();
        let removals = changes.iter().rev().filter(|change| change.op == ChangeOp::Remove);
        let others = changes.iter().filter(|change| change.op != ChangeOp::Remove);
        for change in removals.chain(others) {
            let new = change.new.map(|new| serde_json::from_str(new).expect("JSON"));
            let Some((last, way)) = change.path.steps().split_last() else {
                value = new.expect("a root is never removed");
                continue;
            };
            let mut parent = &mut value;
            for step in way {
                parent = match step {
                    PathStep::Member(name) => &mut parent[&**name],
                    PathStep::Element { at, .. } => &mut parent[*at],
                };
            }
            match (parent, last) {
                (Value::Object(members), PathStep::Member(name)) => drop(match new {
                    Some(new) => members.insert(name.to_string(), new),
                    None => members.remove(&**name),
                }),
                (Value::Array(elements), PathStep::Element { at, .. }) => match (change.op, new) {
                    (ChangeOp::Add, Some(new)) => elements.insert(*at, new),
                    (ChangeOp::Replace, Some(new)) => elements[*at] = new,
                    _ => drop(elements.remove(*at)),
                },
                (parent, step) => panic!("{step:?} of {parent}"),
            }
        }
        value
    }

    fn state() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            (0..4i64).prop_map(Value::from),
            "[ab\"\\\\ü/~]{0,2}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 60, 5, |inner| {
            let named = ("[a-d]", inner.clone()).prop_map(|(name, value)| json!({"name": name, "v": value}));
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                proptest::collection::vec(named, 0..5).prop_map(Value::from),
                proptest::collection::btree_map("[a-c]|name|/~", inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(3000))]

        #[test]
        fn applying_the_changes_gives_the_new_state(old in state(), new in state(), pretty: bool) {
            let text = |value: &Value| if pretty { serde_json::to_string_pretty(value) } else { serde_json::to_string(value) };
            let (old_text, new_text) = (text(&old).expect("JSON"), text(&new).expect("JSON"));
            let changes = changes(&old_text, &new_text, &[]);
            prop_assert_eq!(changes.is_empty(), old == new);
            for change in &changes {
                let pointer = change.path.pointer();
                let at = |state: &Value| state.pointer(&pointer).cloned();
                let value = |json: Option<&str>| json.map(|json| serde_json::from_str::<Value>(json).expect("JSON"));
                match change.op {
                    ChangeOp::Remove => prop_assert_eq!((at(&old), None), (value(change.old), change.new)),
                    ChangeOp::Add => prop_assert_eq!((at(&new), None), (value(change.new), change.old)),
                    ChangeOp::Replace => prop_assert_eq!(at(&new), value(change.new)),
                }
            }
            prop_assert_eq!(applied(&old, &changes), new);
        }
    }
}
