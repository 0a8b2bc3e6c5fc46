//! The watches of one type.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use crate::lines::Mark;
use crate::recording::position::Watch;

/// The time within which a recorder continues its watches, in milliseconds. A shorter time without a watch is part of the time
/// without a recorder, or each start would add a gap of each type.
const STARTUP: i64 = 10_000;

/// The loss of a watch that is not running.
#[derive(Debug, Clone)]
pub(super) struct Lost {
    /// The time of the last observation, in Unix milliseconds.
    pub(super) from: i64,
    /// The time at which the current recorder started, if only that one has not continued the watch yet.
    pub(super) started: Option<i64>,
    /// The namespaces that are observed by watches of their own.
    pub(super) except: BTreeSet<Arc<str>>,
    /// The error that ended it.
    pub(super) error: Option<Arc<Mark>>,
}

impl Lost {
    /// Creates the loss of a watch that ran until a time.
    pub(super) fn since(from: i64) -> Self {
        Self { from, started: None, except: BTreeSet::new(), error: None }
    }

    /// Returns whether the loss is a gap if the watch continues at a time, from its last version.
    pub(super) fn is_gap_until(&self, received: i64) -> bool {
        self.started.is_none_or(|started| received.saturating_sub(started) > STARTUP)
    }
}

/// A watch that was observed once.
#[derive(Debug)]
pub(super) struct ObservedWatch {
    pub(super) watch: Watch,
    /// `None` while it runs.
    pub(super) lost: Option<Lost>,
}

/// The watches of one type by namespace and name. A large cluster may have a watch of each namespace: a mark of one must not
/// visit all of them.
#[derive(Debug, Default)]
pub(super) struct ObservedType {
    watches: HashMap<Arc<str>, HashMap<Option<Arc<str>>, ObservedWatch>>,
}

impl ObservedType {
    pub(super) fn all(&self) -> impl Iterator<Item = &ObservedWatch> {
        self.watches.values().flat_map(HashMap::values)
    }

    pub(super) fn all_mut(&mut self) -> impl Iterator<Item = &mut ObservedWatch> {
        self.watches.values_mut().flat_map(HashMap::values_mut)
    }

    pub(super) fn into_all(self) -> impl Iterator<Item = ObservedWatch> {
        self.watches.into_values().flat_map(HashMap::into_values)
    }

    /// Returns a watch, possibly of another version of the type.
    pub(super) fn get_mut(&mut self, watch: &Watch) -> Option<&mut ObservedWatch> {
        self.watches.get_mut(&watch.namespace)?.get_mut(&watch.name)
    }

    pub(super) fn insert(&mut self, watch: Watch, lost: Option<Lost>) {
        let of_namespace = self.watches.entry(Arc::clone(&watch.namespace)).or_default();
        of_namespace.insert(watch.name.clone(), ObservedWatch { watch, lost });
    }

    /// Removes a watch. Returns its loss; of a watch that was not there, the loss of one that includes it.
    pub(super) fn take_loss(&mut self, watch: &Watch) -> Option<Lost> {
        let of_namespace = self.watches.get_mut(&watch.namespace);
        if let Some(own) = of_namespace.and_then(|names| names.remove(&watch.name)) {
            return own.lost;
        }
        let all: Arc<str> = "".into();
        let keys = [(&all, None), (&all, watch.name.clone()), (&watch.namespace, None)];
        let including = keys.iter().filter_map(|(namespace, name)| self.watches.get(*namespace)?.get(name));
        let lost = including.map(|other| other.lost.as_ref()).min_by_key(Option::is_some)??;
        Some(Lost { started: lost.started, ..Lost::since(lost.from) })
    }

    /// Removes the other watches that a watch includes, sorted by namespace and name.
    pub(super) fn take_included(&mut self, watch: &Watch) -> Vec<ObservedWatch> {
        let mut included: Vec<ObservedWatch> = match (&*watch.namespace, &watch.name) {
            ("", None) => {
                std::mem::take(&mut self.watches).into_values().flat_map(HashMap::into_values).collect()
            }
            ("", name) => self.watches.values_mut().filter_map(|names| names.remove(name)).collect(),
            (namespace, None) => {
                self.watches.remove(namespace).into_iter().flat_map(HashMap::into_values).collect()
            }
            (_, Some(_)) => Vec::new(),
        };
        let key = |of: &ObservedWatch| (Arc::clone(&of.watch.namespace), of.watch.name.clone());
        included.sort_by_cached_key(key);
        included
    }

    /// Records that the objects of one namespace are observed, although the watch of all namespaces may be lost.
    pub(super) fn except(&mut self, namespace: &Arc<str>) {
        let of_all = self.watches.get_mut("").and_then(|names| names.get_mut(&None::<Arc<str>>));
        if let Some(lost) = of_all.and_then(|of_all| of_all.lost.as_mut()) {
            lost.except.insert(Arc::clone(namespace));
        }
    }
}
