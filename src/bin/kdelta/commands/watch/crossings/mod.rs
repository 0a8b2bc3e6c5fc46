//! The objects of a part that begin or cease to match its filter as time passes.
//!
//! The part's informer holds the objects that match and those that may match later without a change. Here, its
//! notifications become those of the matching objects alone, and each crossing that a timer finds becomes a notification of
//! its own, with the origin `filter`.

#[cfg(test)]
mod tests;
mod timer;

pub(super) use timer::CrossingTimer;

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use jiff::Timestamp;
use kdelta::informer::Notification;
use kdelta::object::{DeletedObject, Key, Object, Origin, ResourceVersion};
use kdelta::store::Indexer;

use crate::session::Filter;

/// The state of a filter that depends on the time, for the objects of one part.
pub(super) struct Crossings {
    filter: Filter,
    objects: HashMap<Key, Tracked>,
    /// The moments at which objects are evaluated again, in order.
    due: BTreeSet<(Timestamp, Key)>,
}

/// An object of the part's informer.
struct Tracked {
    /// Whether the reader has the object.
    is_shown: bool,
    /// The evaluated state.
    version: ResourceVersion,
    /// Its entry in `due`.
    until: Option<Timestamp>,
}

impl Crossings {
    pub(super) fn new(filter: Filter) -> Self {
        Self { filter, objects: HashMap::new(), due: BTreeSet::new() }
    }

    /// Returns the notification for the reader, who has only matching objects.
    pub(super) fn apply(&mut self, notification: Notification) -> Option<Notification> {
        match notification {
            Notification::Mark(mark) => Some(Notification::Mark(mark)),
            Notification::Updated { old, new, origin: Origin::Resync } => {
                let repeated = Notification::Updated { old, new: Arc::clone(&new), origin: Origin::Resync };
                self.is_shown(new.key()).then_some(repeated)
            }
            Notification::Added { object, is_in_initial_list, origin } => {
                let (_, is_shown) = self.evaluate(&object);
                is_shown.then_some(Notification::Added { object, is_in_initial_list, origin })
            }
            Notification::Updated { old, new, origin } => match self.evaluate(&new) {
                (true, true) => Some(Notification::Updated { old, new, origin }),
                (true, false) => Some(Notification::Deleted { object: DeletedObject::Known(old), origin }),
                (false, true) => Some(Notification::Added { object: new, is_in_initial_list: false, origin }),
                (false, false) => None,
            },
            Notification::Deleted { object, origin } => {
                let was_shown = self.forget(object.key());
                was_shown.then_some(Notification::Deleted { object, origin })
            }
        }
    }

    /// Whether the reader has the object.
    pub(super) fn is_shown(&self, key: &Key) -> bool {
        self.objects.get(key).is_some_and(|tracked| tracked.is_shown)
    }

    /// Returns the time from now to the next crossing; zero if it is due.
    pub(super) fn wait(&self) -> Option<std::time::Duration> {
        let (next, _) = self.due.first()?;
        Some(self.filter.now().duration_until(*next).try_into().unwrap_or_default())
    }

    /// Returns the crossings that are due, in the order of their moments. All notifications of the indexer's informer must
    /// have been applied: an object that has a later state has another notification to come, and is evaluated then.
    pub(super) fn take_due(&mut self, indexer: &dyn Indexer) -> Vec<Notification> {
        let mut crossings = Vec::new();
        let now = self.filter.now();
        while self.due.first().is_some_and(|(moment, _)| *moment <= now) {
            let Some((_, key)) = self.due.pop_first() else { break };
            let Some(tracked) = self.objects.get_mut(&key) else { continue };
            tracked.until = None;
            let stored = indexer.get_by_key(&key);
            let Some(object) = stored.filter(|stored| *stored.resource_version() == tracked.version) else {
                continue;
            };
            let origin = Origin::Filter;
            match self.evaluate(&object) {
                (true, false) => {
                    crossings.push(Notification::Deleted { object: DeletedObject::Known(object), origin });
                }
                (false, true) => {
                    crossings.push(Notification::Added { object, is_in_initial_list: false, origin });
                }
                _ => {}
            }
        }
        crossings
    }

    /// Evaluates a state of an object. Returns whether the reader had the object before, and has it now.
    fn evaluate(&mut self, object: &Object) -> (bool, bool) {
        let was_shown = self.forget(object.key());
        let verdict = self.filter.verdict(object);
        if verdict.may_match() {
            let (key, version) = (object.key().clone(), object.resource_version().clone());
            self.due.extend(verdict.until.map(|until| (until, key.clone())));
            self.objects.insert(key, Tracked { is_shown: verdict.matches, version, until: verdict.until });
        }
        (was_shown, verdict.matches)
    }

    /// Forgets an object. Returns whether the reader had it.
    fn forget(&mut self, key: &Key) -> bool {
        let Some(Tracked { is_shown, until, .. }) = self.objects.remove(key) else { return false };
        if let Some(until) = until {
            self.due.remove(&(until, key.clone()));
        }
        is_shown
    }
}
