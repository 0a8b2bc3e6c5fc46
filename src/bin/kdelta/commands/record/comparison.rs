//! The comparison of a part's initial state with the objects that were recorded before.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use kdelta::lines::{Change, ChangeKind, MarkKind};
use kdelta::object::{Compressor, Key, Object, Origin, ResourceVersion};
use kdelta::recording::Author;

use crate::session::Part;

/// The comparison, until the initial state is complete.
///
/// A part that continues from a version starts with the recorded objects, which are not changes. Any other part lists
/// its objects: the changes since the last recorded state were missed, and only the net difference is recorded. The
/// difference is held until the version of the list is known, because a gap with that version precedes it.
pub(super) struct Comparison {
    /// The recorded objects that the initial state has not contained so far.
    unseen: HashMap<Key, Arc<Object>>,
    is_continued: bool,
    /// The lists that were recorded completely: their namespace, empty for all, and the name of a single object. Other objects
    /// of the list may have existed before, and did not appear since.
    complete: Vec<(Arc<str>, Option<Arc<str>>)>,
    /// The last version up to which the recorded objects were complete.
    from: ResourceVersion,
    /// The time of the last entry of an earlier recorder.
    since: Option<Timestamp>,
    /// The difference so far, compressed.
    held: Vec<AuthoredChange>,
    compressor: Compressor,
}

/// A change and its author.
pub(super) type AuthoredChange = (Change, Option<Author>);

/// The difference between the recorded and the listed objects.
pub(super) struct Difference {
    pub(super) gap: MarkKind,
    pub(super) changes: Vec<AuthoredChange>,
}

impl Comparison {
    /// Compares a part that continues from these objects.
    pub(super) fn of_continued(recorded: Vec<Arc<Object>>) -> Self {
        Self { is_continued: true, ..Self::of_list(recorded, None, None) }
    }

    /// Compares a list with the recorded objects, which were complete up to `version` and until the time `since`.
    pub(super) fn of_list(
        recorded: Vec<Arc<Object>>,
        version: Option<ResourceVersion>,
        since: Option<Timestamp>,
    ) -> Self {
        let number = |version: &ResourceVersion| version.to_string().parse::<u64>().unwrap_or_default();
        let versions = recorded.iter().map(|object| object.resource_version().clone()).chain(version);
        Self {
            from: versions.max_by_key(number).unwrap_or(ResourceVersion::UNSET),
            unseen: recorded.into_iter().map(|object| (object.key().clone(), object)).collect(),
            is_continued: false,
            complete: Vec::new(),
            since,
            held: Vec::new(),
            compressor: Compressor::new(),
        }
    }

    /// Sets the version before a gap whose differences were not all recorded: the recorded objects may be newer, but were not
    /// complete since then.
    pub(super) fn after_unfinished_gap(self, before: Option<ResourceVersion>) -> Self {
        Self { from: before.unwrap_or(self.from), ..self }
    }

    /// Sets the lists that were recorded completely.
    pub(super) fn with_complete_lists(self, complete: Vec<(Arc<str>, Option<Arc<str>>)>) -> Self {
        Self { complete, ..self }
    }

    /// Returns whether the object would have been recorded if it had existed before.
    fn was_listed(&self, object: &Object) -> bool {
        self.complete.iter().any(|(namespace, name)| {
            (namespace.is_empty() || **namespace == *object.namespace())
                && name.as_ref().is_none_or(|name| **name == *object.name())
        })
    }

    /// Returns whether a list has the recorded object without a change. The object is no longer compared then.
    pub(super) fn take_unchanged(&mut self, change: &Change) -> bool {
        let key = change.object.key();
        let is_unchanged = is_listed(change)
            && self.unseen.get(key).is_some_and(|recorded| recorded.same_content(&change.object));
        if is_unchanged {
            self.unseen.remove(key);
        }
        is_unchanged
    }

    /// Returns the change if it is to be recorded now.
    pub(super) fn change(&mut self, change: Change, author: Option<Author>) -> Option<AuthoredChange> {
        if self.take_unchanged(&change) {
            return None;
        }
        let recorded = self.unseen.remove(change.object.key());
        let is_listed = is_listed(&change);
        let is_initial = is_listed && recorded.is_none() && !self.was_listed(&change.object);
        if self.is_continued || is_initial {
            return Some((change, author));
        }
        let object = self.compressor.compress(Arc::clone(&change.object));
        let change = Change { object, old: None, ..change };
        match recorded.filter(|_| is_listed) {
            Some(old) if old.uid() == change.object.uid() => {
                let (kind, origin) = (ChangeKind::Modified, Origin::Relist);
                self.held.push((Change { kind, origin, old: Some(old), ..change }, author));
            }
            Some(old) => {
                self.held.push((deletion(&change, old), None));
                self.held.push((Change { origin: Origin::Relist, ..change }, author));
            }
            None if is_listed => self.held.push((Change { origin: Origin::Relist, ..change }, author)),
            None => self.held.push((change, author)),
        }
        None
    }

    /// Ends the comparison, with the version of the complete list. Returns the difference if the part was listed.
    pub(super) fn end(
        self,
        part: &Part,
        version: &ResourceVersion,
        received: Timestamp,
    ) -> Option<Difference> {
        // The rest of a list that was not recorded completely before.
        let is_initial = self.complete.is_empty() && self.held.is_empty() && self.unseen.is_empty();
        if self.is_continued || is_initial {
            return None;
        }
        let lasted = elapsed(self.since, received);
        let gap = MarkKind::Gap { from: self.from, to: version.clone(), lasted };
        let mut gone: Vec<_> = self.unseen.into_values().collect();
        gone.sort_by(|one, other| one.key().cmp(other.key()));
        let gone = gone.into_iter().map(|object| (deleted(part, object, received), None));
        Some(Difference { gap, changes: self.held.into_iter().chain(gone).collect() })
    }
}

fn is_listed(change: &Change) -> bool {
    change.kind == ChangeKind::Added && change.origin == Origin::List
}

/// Returns the time since an observation; zero without one.
pub(super) fn elapsed(since: Option<Timestamp>, now: Timestamp) -> Duration {
    since.map_or(Duration::ZERO, |since| Duration::try_from(now.duration_since(since)).unwrap_or_default())
}

/// Returns the deletion of an object that another of its name has replaced.
fn deletion(replacement: &Change, object: Arc<Object>) -> Change {
    Change {
        kind: ChangeKind::Deleted,
        object,
        old: None,
        origin: Origin::Relist,
        final_state_unknown: true,
        ..replacement.clone()
    }
}

/// Returns the deletion of an object that the list does not have.
fn deleted(part: &Part, object: Arc<Object>, received: Timestamp) -> Change {
    Change {
        kind: ChangeKind::Deleted,
        object,
        old: None,
        origin: Origin::Relist,
        final_state_unknown: true,
        resource: Arc::clone(&part.resource),
        context: Arc::clone(&part.context),
        received,
    }
}

#[cfg(test)]
mod tests {
    use kdelta::testing::{FakeSource, pod};
    use serde_json::json;

    use super::*;
    use crate::session::part_fixtures::{resource, template};

    fn part() -> Part {
        Part { resource: resource("pods"), ..template("shop") }
    }

    fn object(name: &str, uid: &str, version: &str) -> Arc<Object> {
        let mut json = pod(&format!("shop/{name}"));
        json["metadata"]["uid"] = json!(uid);
        let source = FakeSource::new();
        source.add(json);
        Arc::new(source.objects()[0].at_version(version.into()))
    }

    /// Another state with the same version, as a server has that was restored from a backup.
    fn restored(name: &str) -> Arc<Object> {
        let mut json = pod(&format!("shop/{name}"));
        (json["metadata"]["uid"], json["spec"]["nodeName"]) = (json!(name), json!("north"));
        let source = FakeSource::new();
        source.add(json);
        Arc::new(source.objects()[0].at_version("7".into()))
    }

    fn listed(object: Arc<Object>) -> Change {
        let change = deleted(&part(), object, Timestamp::UNIX_EPOCH);
        Change { kind: ChangeKind::Added, origin: Origin::List, final_state_unknown: false, ..change }
    }

    fn text((change, _): &AuthoredChange) -> String {
        let Change { kind, object, origin, final_state_unknown, .. } = change;
        let old = change.old.as_ref().map(|old| format!(" from {}", old.resource_version()));
        let guess = if *final_state_unknown { "?" } else { "" };
        format!(
            "{}{guess} {} {}{} {origin}",
            kind.as_str(),
            object.name(),
            object.resource_version(),
            old.unwrap_or_default()
        )
    }

    #[test]
    fn list_is_recorded_as_a_gap_and_its_net_difference() {
        let recorded =
            ["same", "changed", "replaced", "gone", "restored"].map(|name| object(name, name, "7"));
        let second = |second: i64| Timestamp::from_second(second).expect("in range");
        let comparison = Comparison::of_list(recorded.to_vec(), Some("6".into()), Some(second(10)));
        let mut comparison = comparison.with_complete_lists(vec![("".into(), None)]);
        for object in [
            object("same", "same", "7"),
            object("changed", "changed", "8"),
            object("replaced", "another", "9"),
            object("new", "new", "10"),
            restored("restored"),
        ] {
            assert!(comparison.change(listed(object), None).is_none());
        }
        let end = comparison.end(&part(), &"12".into(), second(15)).expect("a difference");
        let MarkKind::Gap { from, to, lasted } = end.gap else { panic!("{:?}", end.gap) };
        assert_eq!((from, to, lasted), ("7".into(), "12".into(), Duration::from_secs(5)));
        let changes: Vec<_> = end.changes.iter().map(text).collect();
        assert_eq!(
            changes,
            [
                "MODIFIED changed 8 from 7 relist",
                "DELETED? replaced 7 relist",
                "ADDED replaced 9 relist",
                "ADDED new 10 relist",
                "MODIFIED restored 7 from 7 relist",
                "DELETED? gone 7 relist",
            ]
        );
    }

    #[test]
    fn rest_of_an_incomplete_first_list_has_not_appeared() {
        let mut comparison = Comparison::of_list(vec![object("a", "a", "7")], None, None);
        assert!(comparison.change(listed(object("a", "a", "7")), None).is_none());
        let rest = comparison.change(listed(object("b", "b", "8")), None);
        assert_eq!(rest.as_ref().map(text).as_deref(), Some("ADDED b 8 list"));
        assert!(comparison.end(&part(), &"9".into(), Timestamp::UNIX_EPOCH).is_none(), "nothing was missed");

        // Another recorder had listed one of the namespaces.
        let comparison = Comparison::of_list(vec![object("a", "a", "7")], None, None);
        let mut comparison = comparison.with_complete_lists(vec![("shop".into(), None)]);
        assert!(comparison.change(listed(object("b", "b", "8")), None).is_none());
        let end = comparison.end(&part(), &"9".into(), Timestamp::UNIX_EPOCH).expect("a difference");
        let changes: Vec<_> = end.changes.iter().map(text).collect();
        assert_eq!(changes, ["ADDED b 8 relist", "DELETED? a 7 relist"]);
    }

    #[test]
    fn continued_part_repeats_nothing_and_has_no_gap() {
        let recorded = vec![object("a", "a", "7")];
        let mut comparison = Comparison::of_continued(recorded.clone());
        assert!(comparison.change(listed(Arc::clone(&recorded[0])), None).is_none());
        let live = Change { origin: Origin::Watch, ..listed(object("b", "b", "8")) };
        assert_eq!(comparison.change(live, None).as_ref().map(text).as_deref(), Some("ADDED b 8 watch"));
        assert!(comparison.end(&part(), &"7".into(), Timestamp::UNIX_EPOCH).is_none());
    }
}
