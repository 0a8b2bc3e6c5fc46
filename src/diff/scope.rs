//! The places somebody cares for.

use super::level::{Level, Members, same_whole};
use super::walk::DEEPEST;
use crate::object::{FieldPath, PathCursor};

/// Which places of an object count: those at `only`, or all where that is empty, without those at `ignored`. A path
/// stands for what it leads to and everything below.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scope {
    /// The places that count; all, where there are none.
    pub only: Vec<FieldPath>,
    /// The places that do not, wherever they lie.
    pub ignored: Vec<FieldPath>,
}

impl Scope {
    /// Whether every place counts.
    #[must_use]
    pub fn is_all(&self) -> bool {
        self.only.is_empty() && self.ignored.is_empty()
    }

    /// Whether two states, both JSON, differ in a place that counts. Lists are compared place by place. A map or list
    /// that came or went counts only where something in it does, or where it is empty.
    ///
    /// ```
    /// use kdelta::{diff::Scope, object::FieldPath};
    ///
    /// let scope = Scope { ignored: vec![FieldPath::parse("status.conditions[*].lastHeartbeatTime")?], ..Scope::default() };
    /// let node = |time: u8| format!(r#"{{"status":{{"conditions":[{{"type":"Ready","lastHeartbeatTime":"{time}"}}]}}}}"#);
    /// assert!(!scope.differs(&node(1), &node(2)));
    /// # Ok::<(), kdelta::object::PathError>(())
    /// ```
    #[must_use]
    pub fn differs(&self, old: &str, new: &str) -> bool {
        let place = Place {
            ignored: self.ignored.iter().map(FieldPath::cursor).collect(),
            only: (!self.only.is_empty()).then(|| self.only.iter().map(FieldPath::cursor).collect()),
            depth: 0,
        };
        place.narrowed().is_some_and(|place| place.differs(old.trim(), new.trim()))
    }
}

/// What is left of the paths at one place that counts, at least in part.
struct Place<'p> {
    ignored: Vec<PathCursor<'p>>,
    /// Nothing: all of it counts that is not ignored.
    only: Option<Vec<PathCursor<'p>>>,
    depth: usize,
}

impl<'p> Place<'p> {
    /// The same, if anything there counts.
    fn narrowed(mut self) -> Option<Self> {
        if self.ignored.iter().any(|path| path.is_at_end()) {
            return None;
        }
        match &self.only {
            Some(only) if only.is_empty() => return None,
            Some(only) if only.iter().any(|path| path.is_at_end()) => self.only = None,
            _ => {}
        }
        Some(self)
    }

    fn below(&self, step: impl Fn(PathCursor<'p>) -> Option<PathCursor<'p>>) -> Option<Self> {
        let follow = |paths: &Vec<PathCursor<'p>>| paths.iter().filter_map(|path| step(*path)).collect();
        Self { ignored: follow(&self.ignored), only: self.only.as_ref().map(follow), depth: self.depth + 1 }
            .narrowed()
    }

    fn member(&self, name: &str) -> Option<Self> {
        self.below(|path| path.member(name))
    }

    fn element(&self, at: usize) -> Option<Self> {
        self.below(|path| path.element(at))
    }

    fn differs(&self, old: &str, new: &str) -> bool {
        if old == new {
            return false;
        }
        if self.depth > DEEPEST {
            return true;
        }
        match (Level::of(old), Level::of(new)) {
            (Level::Object(old), Level::Object(new)) => self.members_differ(&old, &new),
            (Level::Array(old), Level::Array(new)) => (0..old.len().max(new.len())).any(|at| {
                let place = self.element(at);
                place.is_some_and(|place| place.change(old.get(at).copied(), new.get(at).copied()))
            }),
            _ => !same_whole(old, new) && (self.counts(old) || self.counts(new)),
        }
    }

    fn members_differ(&self, old: &Members<'_>, new: &Members<'_>) -> bool {
        let gone = old.iter().filter(|(name, _)| new.get(name).is_none());
        new.iter()
            .map(|(name, value)| (name, old.get(name), Some(value)))
            .chain(gone.map(|(name, value)| (name, Some(value), None)))
            .filter(|(_, old, new)| old != new)
            .any(|(name, old, new)| self.member(name).is_some_and(|place| place.change(old, new)))
    }

    fn change(&self, old: Option<&str>, new: Option<&str>) -> bool {
        match (old, new) {
            (Some(old), Some(new)) => self.differs(old, new),
            (Some(one), None) | (None, Some(one)) => self.counts(one),
            (None, None) => false,
        }
    }

    /// Whether something that came or went counts.
    fn counts(&self, value: &str) -> bool {
        if self.only.is_none() && self.ignored.is_empty() || self.depth > DEEPEST {
            return true;
        }
        match Level::of(value) {
            Level::Object(members) => {
                let mut counts =
                    members.iter().map(|(name, value)| self.member(name).is_some_and(|at| at.counts(value)));
                counts.any(|counts| counts) || (members.is_empty() && self.only.is_none())
            }
            Level::Array(elements) => {
                let mut counts = elements
                    .iter()
                    .enumerate()
                    .map(|(at, value)| self.element(at).is_some_and(|at| at.counts(value)));
                counts.any(|counts| counts) || (elements.is_empty() && self.only.is_none())
            }
            Level::Whole => self.only.is_none(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn scope(only: &[&str], ignored: &[&str]) -> Scope {
        let paths = |texts: &[&str]| texts.iter().map(|text| FieldPath::parse(text).expect(text)).collect();
        Scope { only: paths(only), ignored: paths(ignored) }
    }

    #[test]
    fn a_change_counts_where_it_is_in_scope() {
        let old = json!({"metadata": {"annotations": {"a.b/c": "1", "d": "1"}}, "spec": {"c": [{"i": 1, "j": 1}]}, "status": {"n": 1}});
        let with = |path: &str, value: Value| {
            let mut new = old.clone();
            *new.pointer_mut(path).expect("a place") = value;
            new
        };
        for (only, ignored, new, wanted) in [
            (&[][..], &[][..], with("/status/n", json!(2)), true),
            (&[], &["status"], with("/status/n", json!(2)), false),
            (&[], &["status"], with("/status", json!(null)), false),
            (&[], &["status.n"], with("/status", json!({})), false),
            (&[], &["status.n"], with("/status", json!({"n": 5, "m": 1})), true),
            (
                &[],
                &["metadata.annotations['a.b/c']"],
                with("/metadata/annotations/a.b~1c", json!("2")),
                false,
            ),
            (&[], &["metadata.annotations['a.b/c']"], with("/metadata/annotations/d", json!("2")), true),
            (&[], &["spec.c.i"], with("/spec/c/0/i", json!(2)), false),
            (&[], &["spec.c[*].i"], with("/spec/c/0/j", json!(2)), true),
            (&[], &["spec.c[1]"], with("/spec/c", json!([{"i": 1, "j": 1}, {"i": 2}])), false),
            (&["spec", "status.n"], &[], with("/metadata/annotations/d", json!("2")), false),
            (&["spec", "status.n"], &[], with("/status/n", json!(2)), true),
            (&["status.absent"], &[], with("/status/n", json!(2)), false),
            (&["spec.c.j"], &[], with("/spec/c", json!([])), true),
            (&["spec.c.k"], &[], with("/spec/c", json!([])), false),
            (&["spec"], &["spec.c.i"], with("/spec/c/0/i", json!(2)), false),
            (&["spec"], &["spec.c.i"], with("/spec/c/0/j", json!(2)), true),
        ] {
            let found = scope(only, ignored).differs(&old.to_string(), &new.to_string());
            assert_eq!(found, wanted, "only {only:?} ignored {ignored:?}: {new}");
        }
    }

    /// The object without what lies at these members.
    fn without(value: &Value, members: &[&str]) -> Value {
        let mut value = value.clone();
        if let Value::Object(map) = &mut value {
            map.retain(|name, _| !members.contains(&name.as_str()));
        }
        value
    }

    proptest! {
        #[test]
        fn ignoring_is_as_if_it_were_not_there(
            old in proptest::collection::btree_map("[a-d]", 0..3i32, 0..4),
            new in proptest::collection::btree_map("[a-d]", 0..3i32, 0..4),
        ) {
            let (old, new) = (json!(old), json!(new));
            let (old_text, new_text) = (old.to_string(), new.to_string());
            let ignoring = scope(&[], &["a", "b"]);
            prop_assert_eq!(
                ignoring.differs(&old_text, &new_text),
                without(&old, &["a", "b"]) != without(&new, &["a", "b"])
            );
            let only = scope(&["c", "d"], &[]);
            prop_assert_eq!(only.differs(&old_text, &new_text), ignoring.differs(&old_text, &new_text));
            prop_assert_eq!(Scope::default().differs(&old_text, &new_text), old != new);
        }
    }
}
