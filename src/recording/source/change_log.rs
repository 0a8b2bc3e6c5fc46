//! The changes of a collection since a replay began.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::collection::Items;
use crate::server::source::{Change, Compacted, ObjectKey, StoredObject};

/// The number of changes that are kept for watches. A watch that falls further behind ends as expired.
const LIMIT: usize = 8192;

/// The changes of one collection, each with a position.
///
/// A relist reports changes in any order of their versions, so versions can't serve as positions. Positions grow by
/// at least one and are never below the version of the changed object: a client that continues after the version of
/// an object misses nothing, and may receive a change again.
pub(super) struct ChangeLog {
    /// A std mutex, held for one append or for a copy of at most [`LIMIT`] changes.
    state: Mutex<State>,
}

struct State {
    /// The objects that differ from the beginning at the position `oldest`; `None` for deleted ones.
    base: Overlay,
    oldest: u64,
    /// The changes after `oldest`.
    changes: VecDeque<Change>,
    position: u64,
}

/// Objects that replace those of an earlier state; `None` for deleted ones.
type Overlay = BTreeMap<ObjectKey, Option<Arc<StoredObject>>>;

fn put(overlay: &mut Overlay, change: &Change) {
    overlay.insert(change.new.key(), (!change.deleted).then(|| Arc::clone(&change.new)));
}

/// The state of an object after the changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Replayed {
    /// The state at the beginning: no change is about the object.
    Unchanged,
    Changed(Arc<StoredObject>),
    Deleted,
}

impl ChangeLog {
    /// Creates a log without changes. `position` is not below the version of any object.
    pub(super) fn new(position: u64) -> Self {
        let state = State { base: Overlay::new(), oldest: position, changes: VecDeque::new(), position };
        Self { state: Mutex::new(state) }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the position of the last change.
    pub(super) fn position(&self) -> u64 {
        self.lock().position
    }

    /// Appends a change, whose version becomes its position.
    pub(super) fn append(&self, mut change: Change) {
        let mut state = self.lock();
        state.position = change.version.max(state.position + 1);
        change.version = state.position;
        state.changes.push_back(change);
        if state.changes.len() > LIMIT
            && let Some(first) = state.changes.pop_front()
        {
            state.oldest = first.version;
            put(&mut state.base, &first);
        }
    }

    /// Returns the last state of an object.
    pub(super) fn get(&self, key: &ObjectKey) -> Replayed {
        let state = self.lock();
        let last = state.changes.iter().rev().find(|change| change.new.key() == *key);
        match (last, state.base.get(key)) {
            (Some(Change { deleted: true, .. }), _) | (None, Some(None)) => Replayed::Deleted,
            (Some(change), _) => Replayed::Changed(Arc::clone(&change.new)),
            (None, Some(Some(object))) => Replayed::Changed(Arc::clone(object)),
            (None, None) => Replayed::Unchanged,
        }
    }

    /// Applies the changes up to a position to the objects at the beginning, and returns the resulting objects and
    /// the position. `None` selects the last position.
    pub(super) fn apply(&self, items: &Items, position: Option<u64>) -> Result<(Items, u64), Compacted> {
        let (overlay, position) = {
            let state = self.lock();
            let position = position.unwrap_or(state.position);
            if position < state.oldest || position > state.position {
                return Err(Compacted { oldest: state.oldest });
            }
            let mut overlay = state.base.clone();
            for change in state.changes.iter().take_while(|change| change.version <= position) {
                put(&mut overlay, change);
            }
            (overlay, position)
        };
        let items = if overlay.is_empty() { Arc::clone(items) } else { merged(items, overlay) };
        Ok((items, position))
    }

    /// Returns at most `limit` changes after a position, and the position up to which they are complete.
    pub(super) fn after(&self, position: u64, limit: usize) -> Result<(Vec<Change>, u64), Compacted> {
        let state = self.lock();
        if position < state.oldest || position > state.position {
            return Err(Compacted { oldest: state.oldest });
        }
        let start = state.changes.partition_point(|change| change.version <= position);
        let changes: Vec<_> = state.changes.range(start..).take(limit).cloned().collect();
        let is_full = changes.len() == limit;
        let to = changes.last().filter(|_| is_full).map_or(state.position, |last| last.version);
        Ok((changes, to))
    }
}

/// Merges sorted items with the objects that replace some of them.
fn merged(items: &Items, overlay: Overlay) -> Items {
    let mut merged: Vec<Arc<StoredObject>> = Vec::with_capacity(items.len() + overlay.len());
    let mut items = items.iter().peekable();
    for ((namespace, name), replacement) in overlay {
        let key = (&*namespace, &*name);
        while let Some(item) = items.next_if(|item| (&*item.namespace, &*item.name) < key) {
            merged.push(Arc::clone(item));
        }
        items.next_if(|item| (&*item.namespace, &*item.name) == key);
        merged.extend(replacement);
    }
    merged.extend(items.cloned());
    merged.into()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::server::source::Kind;

    fn object(name: u8, version: u64) -> Arc<StoredObject> {
        let kind = Kind { group: String::new(), version: "v1".into(), kind: "Pod".into(), ..kind() };
        let value = json!({"metadata": {"name": format!("o{name}"), "namespace": "n"}});
        Arc::new(StoredObject::new(&kind, value, version))
    }

    fn kind() -> Kind {
        Kind {
            group: String::new(),
            version: "v1".into(),
            plural: "pods".into(),
            singular: "pod".into(),
            kind: "Pod".into(),
            namespaced: true,
            short_names: Vec::new(),
            categories: Vec::new(),
            subresources: Vec::new(),
            verbs: &[],
            custom: None,
            conversion: None,
        }
    }

    fn change(name: u8, version: u64, deleted: bool) -> Change {
        Change { version, kind: 0, old: None, new: object(name, version), deleted }
    }

    fn state(items: &Items) -> Vec<(String, u64)> {
        items.iter().map(|item| (item.name.to_string(), item.version)).collect()
    }

    proptest! {
        /// A client that lists at one position and applies the changes after it has the state of a later list, whatever
        /// the versions of the changes.
        #[test]
        fn lists_and_changes_agree(
            first in prop::collection::btree_set(0u8..8, 0..8),
            changes in prop::collection::vec((0u8..8, 1u64..50, any::<bool>()), 0..40),
            read in 0usize..40,
            limit in 1usize..5,
        ) {
            let base: Items = first.iter().map(|name| object(*name, 1)).collect::<Vec<_>>().into();
            let log = ChangeLog::new(10);
            let mut listed = log.apply(&base, None).expect("a list");
            for (at, (name, version, deleted)) in changes.iter().enumerate() {
                if at == read {
                    listed = log.apply(&base, None).expect("a list");
                }
                log.append(change(*name, *version, *deleted));
            }
            let (latest, end) = log.apply(&base, None).expect("a list");
            prop_assert_eq!(log.position(), end);
            let (items, mut position) = listed;
            let again = log.apply(&base, Some(position)).expect("a list");
            prop_assert_eq!(state(&again.0), state(&items));
            let mut seen: BTreeMap<ObjectKey, Arc<StoredObject>> =
                items.iter().map(|item| (item.key(), Arc::clone(item))).collect();
            while position < end {
                let (changes, to) = log.after(position, limit).expect("changes");
                prop_assert!(to > position);
                for change in changes {
                    prop_assert!(change.version > position && change.new.version <= change.version);
                    position = change.version;
                    if change.deleted {
                        seen.remove(&change.new.key());
                    } else {
                        seen.insert(change.new.key(), Arc::clone(&change.new));
                    }
                }
                position = to;
            }
            let seen: Items = seen.into_values().collect::<Vec<_>>().into();
            prop_assert_eq!(state(&seen), state(&latest));
            for item in latest.iter() {
                let found = log.get(&item.key());
                let is_unchanged = found == Replayed::Unchanged && first.iter().any(|name| *object(*name, 1) == **item);
                prop_assert!(is_unchanged || found == Replayed::Changed(Arc::clone(item)));
            }
        }
    }

    #[test]
    fn old_changes_are_merged_into_the_state() {
        let log = ChangeLog::new(1);
        let base: Items = vec![object(0, 1)].into();
        for version in 0..=LIMIT as u64 {
            log.append(change(1, version + 2, false));
        }
        log.append(change(0, LIMIT as u64 + 9, true));
        assert_eq!(log.after(1, 9).map(|_| ()), Err(Compacted { oldest: 3 }));
        assert_eq!(log.apply(&base, Some(2)).map(|_| ()), Err(Compacted { oldest: 3 }));
        let (items, position) = log.apply(&base, None).expect("a list");
        assert_eq!(state(&items), [("o1".to_owned(), LIMIT as u64 + 2)]);
        assert_eq!(position, LIMIT as u64 + 9);
        assert!(log.after(position + 1, 9).is_err(), "a position of another history");
        assert_eq!(log.get(&object(0, 1).key()), Replayed::Deleted);
        assert_eq!(log.get(&object(2, 1).key()), Replayed::Unchanged);
    }
}
