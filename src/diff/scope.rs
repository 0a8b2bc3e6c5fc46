//! Restriction of a comparison to selected paths.

use super::level::{Level, Members, equal_scalars};
use super::walk::MAX_DEPTH;
use crate::object::{FieldPath, PathCursor};

/// The paths that matter: those of `only`, or all if it is empty, except those of `ignored`. A path includes everything
/// below it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Scope {
    /// The paths that matter; empty for all.
    pub only: Vec<FieldPath>,
    /// The paths that don't matter, even below those of `only`.
    pub ignored: Vec<FieldPath>,
}

setters!(Scope {
    only: Vec<FieldPath>,
    ignored: Vec<FieldPath>,
});

impl Scope {
    /// Returns whether every path matters.
    #[must_use]
    pub fn is_all(&self) -> bool {
        self.only.is_empty() && self.ignored.is_empty()
    }

    /// Returns whether two JSON states differ at a path that matters. Lists are compared by index. The addition or
    /// removal of a map or list matters only if something in it does, or if it is empty.
    ///
    /// ```
    /// use kdelta::{diff::Scope, object::FieldPath};
    ///
    /// let scope = Scope::default().ignored(vec![FieldPath::parse("status.conditions[*].lastHeartbeatTime")?]);
    /// let node = |time: u8| format!(r#"{{"status":{{"conditions":[{{"type":"Ready","lastHeartbeatTime":"{time}"}}]}}}}"#);
    /// assert!(!scope.differs(&node(1), &node(2)));
    /// # Ok::<(), kdelta::object::PathError>(())
    /// ```
    #[must_use]
    pub fn differs(&self, old: &str, new: &str) -> bool {
        let cursor = ScopeCursor {
            ignored: self.ignored.iter().map(FieldPath::cursor).collect(),
            only: (!self.only.is_empty()).then(|| self.only.iter().map(FieldPath::cursor).collect()),
            depth: 0,
        };
        cursor.non_empty().is_some_and(|cursor| cursor.differs(old.trim(), new.trim()))
    }
}

/// The remaining paths at a value that matters at least in part.
struct ScopeCursor<'p> {
    ignored: Vec<PathCursor<'p>>,
    /// `None` if everything that is not ignored matters.
    only: Option<Vec<PathCursor<'p>>>,
    depth: usize,
}

impl<'p> ScopeCursor<'p> {
    /// Returns the scope unless nothing below it matters.
    fn non_empty(mut self) -> Option<Self> {
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
            .non_empty()
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
        if self.depth > MAX_DEPTH {
            return true;
        }
        match (Level::of(old), Level::of(new)) {
            (Level::Object(old), Level::Object(new)) => self.members_differ(&old, &new),
            (Level::Array(old), Level::Array(new)) => (0..old.len().max(new.len())).any(|at| {
                let cursor = self.element(at);
                cursor.is_some_and(|cursor| cursor.change(old.get(at).copied(), new.get(at).copied()))
            }),
            _ => !equal_scalars(old, new) && (self.matters(old) || self.matters(new)),
        }
    }

    fn members_differ(&self, old: &Members<'_>, new: &Members<'_>) -> bool {
        let gone = old.iter().filter(|(name, _)| new.get(name).is_none());
        new.iter()
            .map(|(name, value)| (name, old.get(name), Some(value)))
            .chain(gone.map(|(name, value)| (name, Some(value), None)))
            .filter(|(_, old, new)| old != new)
            .any(|(name, old, new)| self.member(name).is_some_and(|cursor| cursor.change(old, new)))
    }

    fn change(&self, old: Option<&str>, new: Option<&str>) -> bool {
        match (old, new) {
            (Some(old), Some(new)) => self.differs(old, new),
            (Some(one), None) | (None, Some(one)) => self.matters(one),
            (None, None) => false,
        }
    }

    /// Returns whether the addition or removal of a value matters.
    fn matters(&self, value: &str) -> bool {
        if self.only.is_none() && self.ignored.is_empty() || self.depth > MAX_DEPTH {
            return true;
        }
        match Level::of(value) {
            Level::Object(members) => {
                let mut matters =
                    members.iter().map(|(name, value)| self.member(name).is_some_and(|at| at.matters(value)));
                matters.any(|matters| matters) || (members.is_empty() && self.only.is_none())
            }
            Level::Array(elements) => {
                let mut matters = elements
                    .iter()
                    .enumerate()
                    .map(|(at, value)| self.element(at).is_some_and(|at| at.matters(value)));
                matters.any(|matters| matters) || (elements.is_empty() && self.only.is_none())
            }
            Level::Scalar => self.only.is_none(),
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
    fn changes_matter_only_within_the_scope() {
        let old = json!({"metadata": {"annotations": {"a.b/c": "1", "d": "1"}}, "spec": {"c": [{"i": 1, "j": 1}]}, "status": {"n": 1}});
        let with = |path: &str, value: Value| {
            let mut new = old.clone();
            *new.pointer_mut(path).expect("an existing path") = value;
            new
        };
        for (only, ignored, new, expected) in [
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
            assert_eq!(found, expected, "only {only:?} ignored {ignored:?}: {new}");
        }
    }

    /// Returns the object without the values at these members.
    fn without(value: &Value, members: &[&str]) -> Value {
        let mut value = value.clone();
        if let Value::Object(map) = &mut value {
            map.retain(|name, _| !members.contains(&name.as_str()));
        }
        value
    }

    proptest! {
        #[test]
        fn ignored_paths_behave_as_absent(
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
