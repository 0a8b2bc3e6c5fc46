//! Sets of fields in the format of `FieldsV1`, and their use on objects.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::demo::schema::Node;

/// A tree of fields: `f:name` for a member, `k:{"name":"c"}` for the list element with these keys, `v:"x"` for the
/// element with this value.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct FieldSet {
    /// Whether the field itself is in the set.
    own: bool,
    steps: BTreeMap<String, Self>,
}

impl FieldSet {
    fn leaf() -> Self {
        Self { own: true, steps: BTreeMap::new() }
    }

    fn is_empty(&self) -> bool {
        !self.own && self.steps.is_empty()
    }

    /// Parses `FieldsV1`.
    pub(super) fn of_json(value: &Value) -> Self {
        let Some(map) = value.as_object().filter(|map| !map.is_empty()) else { return Self::leaf() };
        let steps = map.iter().filter(|(step, _)| *step != ".");
        Self {
            own: map.contains_key("."),
            steps: steps.map(|(step, value)| (step.clone(), Self::of_json(value))).collect(),
        }
    }

    /// Returns the set as `FieldsV1`.
    pub(super) fn into_json(self) -> Value {
        let mut map: Map<String, Value> =
            self.steps.into_iter().map(|(step, set)| (step, set.into_json())).collect();
        if self.own && !map.is_empty() {
            map.insert(".".to_owned(), json!({}));
        }
        map.into()
    }

    /// Returns every field of a value.
    pub(super) fn of(value: &Value, node: Option<Node<'_>>) -> Self {
        let steps = match children(value, node) {
            Some(children) if !children.is_empty() => children,
            _ => return Self::leaf(),
        };
        let steps = steps.into_iter().map(|child| {
            let set = child.field_set();
            (child.step, set)
        });
        Self { own: false, steps: steps.collect() }
    }

    /// Returns the fields that were added or changed from one value to another.
    pub(super) fn changed(current: &Value, previous: &Value, node: Option<Node<'_>>) -> Self {
        if current == previous {
            return Self::default();
        }
        let (Some(new), Some(old)) = (children(current, node), children(previous, node)) else {
            return Self::of(current, node);
        };
        let mut set = Self::default();
        for child in new {
            let changed = if let Some(before) = old.iter().find(|own| own.step == child.step) {
                Self::changed(child.value, before.value, child.node)
            } else {
                child.field_set()
            };
            if !changed.is_empty() {
                set.steps.insert(child.step, changed);
            }
        }
        set
    }

    /// Returns the intersection.
    pub(super) fn common(&self, other: &Self) -> Self {
        let steps = self.steps.iter().filter_map(|(step, set)| {
            let common = set.common(other.steps.get(step)?);
            (!common.is_empty()).then(|| (step.clone(), common))
        });
        Self { own: self.own && other.own, steps: steps.collect() }
    }

    /// Returns the difference.
    pub(super) fn without(&self, other: &Self) -> Self {
        let steps = self.steps.iter().filter_map(|(step, set)| {
            let remaining = other.steps.get(step).map_or_else(|| set.clone(), |other| set.without(other));
            (!remaining.is_empty()).then(|| (step.clone(), remaining))
        });
        Self { own: self.own && !other.own, steps: steps.collect() }
    }

    /// Returns the union.
    pub(super) fn with(mut self, other: &Self) -> Self {
        self.own |= other.own;
        for (step, set) in &other.steps {
            let own = self.steps.remove(step).unwrap_or_default();
            self.steps.insert(step.clone(), own.with(set));
        }
        self
    }

    /// Returns the paths of the leaf fields: `.spec.containers[name="c"].image`.
    pub(super) fn paths(&self) -> Vec<String> {
        let mut paths = Vec::new();
        self.collect("", &mut paths);
        paths
    }

    fn collect(&self, path: &str, paths: &mut Vec<String>) {
        if self.own && self.steps.is_empty() {
            paths.push(path.to_owned());
        }
        for (step, set) in &self.steps {
            let step = match step.split_once(':') {
                Some(("f", name)) => format!(".{name}"),
                Some(("v", value)) => format!("[={value}]"),
                Some((_, keys)) => {
                    let keys: Map<String, Value> = serde_json::from_str(keys).unwrap_or_default();
                    let keys: Vec<String> =
                        keys.iter().map(|(key, value)| format!("{key}={value}")).collect();
                    format!("[{}]", keys.join(","))
                }
                None => step.clone(),
            };
            set.collect(&format!("{path}{step}"), paths);
        }
    }
}

/// A nested value and the step to it.
struct Child<'a> {
    step: String,
    value: &'a Value,
    node: Option<Node<'a>>,
}

impl Child<'_> {
    /// Returns the complete set of the child; a list element is owned together with its fields.
    fn field_set(&self) -> FieldSet {
        let mut set = FieldSet::of(self.value, self.node);
        set.own |= self.step.starts_with("k:");
        set
    }
}

/// Returns the children of a value, or `None` for an atomic one.
fn children<'a>(value: &'a Value, node: Option<Node<'a>>) -> Option<Vec<Child<'a>>> {
    match value {
        Value::Object(map) if node.is_none_or(|node| !node.is_atomic()) => Some(
            map.iter()
                .map(|(key, value)| Child {
                    step: format!("f:{key}"),
                    value,
                    node: node.and_then(|node| node.member(key)),
                })
                .collect(),
        ),
        Value::Array(values) => {
            let node = node?;
            let keys = node.list_keys();
            if !keys.is_empty() {
                let child = |value| Child { step: element_step(value, &keys), value, node: node.element() };
                return Some(values.iter().map(child).collect());
            }
            node.is_set().then(|| {
                values.iter().map(|value| Child { step: format!("v:{value}"), value, node: None }).collect()
            })
        }
        _ => None,
    }
}

/// Returns the step to a list element with these keys. A protocol has a default.
fn element_step(element: &Value, keys: &[&str]) -> String {
    let key = |key: &&str| match (&element[*key], *key) {
        (Value::Null, "protocol") => ((*key).to_owned(), "TCP".into()),
        (value, key) => (key.to_owned(), value.clone()),
    };
    format!("k:{}", Value::Object(keys.iter().map(key).collect()))
}

/// Merges an applied configuration into an object: member by member, and list elements by key.
pub(super) fn merge(object: &mut Value, given: &Value, node: Option<Node<'_>>) {
    match (object, given) {
        (Value::Object(own), Value::Object(given)) if node.is_none_or(|node| !node.is_atomic()) => {
            for (key, value) in given {
                let target = own.entry(key.clone()).or_insert(Value::Null);
                merge(target, value, node.and_then(|node| node.member(key)));
            }
        }
        (Value::Array(own), Value::Array(given))
            if node.is_some_and(|node| !node.list_keys().is_empty() || node.is_set()) =>
        {
            let keys = node.map(Node::list_keys).unwrap_or_default();
            let is_same = |a: &Value, b: &Value| {
                if keys.is_empty() { a == b } else { element_step(a, &keys) == element_step(b, &keys) }
            };
            for value in given {
                match own.iter_mut().find(|own| is_same(own, value)) {
                    Some(own) => merge(own, value, node.and_then(Node::element)),
                    None => own.push(value.clone()),
                }
            }
        }
        (own, given) => own.clone_from(given),
    }
}

/// Removes fields from an object.
pub(super) fn remove(object: &mut Value, set: &FieldSet, node: Option<Node<'_>>) {
    for (step, set) in &set.steps {
        match object {
            Value::Object(map) => {
                let Some(key) = step.strip_prefix("f:") else { continue };
                if set.own && set.steps.is_empty() {
                    map.remove(key);
                } else if let Some(value) = map.get_mut(key) {
                    remove(value, set, node.and_then(|node| node.member(key)));
                }
            }
            Value::Array(values) if step.starts_with("v:") => {
                values.retain(|value| format!("v:{value}") != *step);
            }
            Value::Array(values) => {
                let keys = node.map(Node::list_keys).unwrap_or_default();
                if set.own {
                    values.retain(|value| element_step(value, &keys) != *step);
                } else if let Some(value) =
                    values.iter_mut().find(|value| element_step(value, &keys) == *step)
                {
                    remove(value, set, node.and_then(Node::element));
                }
            }
            _ => {}
        }
    }
}
