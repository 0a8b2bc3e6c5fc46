//! What happened to one object, and what a queue hands out.

use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use smallvec::{SmallVec, smallvec};

use crate::object::{DeletedObject, Key, KeyError, KeyFunc, Object, Origin, ResourceVersion};

/// The kinds of change, by name alone (client-go: `DeltaType`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DeltaType {
    /// The source said that an object is there now.
    Added,
    /// The source said that an object changed.
    Updated,
    /// An object is gone; seen, or found by a list that no longer holds it.
    Deleted,
    /// An object is in a list: it may be new, changed or as it was.
    Replaced,
    /// Nothing changed: a resync repeats what the store holds.
    Sync,
}

/// One kind of change with the state it led to. Only a delete may lack a state.
#[derive(Debug, Clone)]
pub enum Change {
    /// See [`DeltaType::Added`].
    Added(Arc<Object>),
    /// See [`DeltaType::Updated`].
    Updated(Arc<Object>),
    /// See [`DeltaType::Deleted`].
    Deleted(DeletedObject),
    /// See [`DeltaType::Replaced`].
    Replaced(Arc<Object>),
    /// See [`DeltaType::Sync`].
    Sync(Arc<Object>),
}

/// A change of one object and how it came to be known (client-go: `Delta`).
///
/// What is said to handlers does not depend on the kind of change alone: the store is asked whether it held the
/// object.
#[derive(Debug, Clone)]
pub struct Delta {
    /// The change.
    pub change: Change,
    /// What brought it.
    pub origin: Origin,
}

impl Delta {
    /// The kind of change.
    #[must_use]
    pub fn delta_type(&self) -> DeltaType {
        match self.change {
            Change::Added(_) => DeltaType::Added,
            Change::Updated(_) => DeltaType::Updated,
            Change::Deleted(_) => DeltaType::Deleted,
            Change::Replaced(_) => DeltaType::Replaced,
            Change::Sync(_) => DeltaType::Sync,
        }
    }

    /// The state of the object; that of a tombstone may be missing.
    #[must_use]
    pub fn object(&self) -> Option<&Arc<Object>> {
        match &self.change {
            Change::Added(object)
            | Change::Updated(object)
            | Change::Replaced(object)
            | Change::Sync(object) => Some(object),
            Change::Deleted(deleted) => deleted.object(),
        }
    }

    /// The bytes that its object takes.
    pub(super) fn weight(&self) -> usize {
        self.object().map_or(0, |object| object.weight())
    }

    /// The key of the object; that of a tombstone is the one it was made with.
    ///
    /// # Errors
    /// The key function refused the object.
    pub fn key(&self, key_func: KeyFunc) -> Result<Key, KeyError> {
        match &self.change {
            Change::Added(object)
            | Change::Updated(object)
            | Change::Replaced(object)
            | Change::Sync(object)
            | Change::Deleted(DeletedObject::Known(object)) => key_func(object),
            Change::Deleted(DeletedObject::FinalStateUnknown(tombstone)) => Ok(tombstone.key.clone()),
        }
    }
}

/// The changes of one object, oldest first (client-go: `Deltas`). A queue never hands out an empty one.
///
/// ```
/// # use kdelta::object::{DeletedObject, Origin};
/// # use kdelta::queue::{Change, Delta, DeltaType, Deltas};
/// # use kdelta::testing::{FakeSource, pod};
/// # let source = FakeSource::new();
/// # source.add(pod("shop/web"));
/// # let web = source.objects().remove(0);
/// let origin = Origin::Watch;
/// let mut deltas = Deltas::from(Delta { change: Change::Added(web.clone()), origin });
/// deltas.push(Delta { change: Change::Deleted(DeletedObject::Known(web.clone())), origin });
/// deltas.push(Delta { change: Change::Deleted(DeletedObject::Known(web)), origin });
/// let types: Vec<_> = deltas.iter().map(Delta::delta_type).collect();
/// assert_eq!(types, [DeltaType::Added, DeltaType::Deleted]);
/// assert_eq!(deltas.newest().map(Delta::delta_type), Some(DeltaType::Deleted));
/// ```
#[derive(Debug, Clone, Default)]
pub struct Deltas(SmallVec<[Delta; 1]>);

impl Deltas {
    /// The first change.
    #[must_use]
    pub fn oldest(&self) -> Option<&Delta> {
        self.0.first()
    }

    /// The last change: what is so now.
    #[must_use]
    pub fn newest(&self) -> Option<&Delta> {
        self.0.last()
    }

    /// Puts a change of the same object at the end. Two deletes in a row are one, and a delete that was seen says more
    /// than one that was inferred; nothing else is ever merged, so no state is lost.
    pub fn push(&mut self, delta: Delta) {
        self.put(delta);
    }

    /// The same; answers the one of two deletes that is not kept.
    pub(super) fn put(&mut self, delta: Delta) -> Option<Delta> {
        let last = self.0.last_mut().map(|last| (last.delta_type(), last));
        if let (Some((DeltaType::Deleted, last)), Change::Deleted(_)) = (last, &delta.change) {
            let is_inferred =
                matches!(&last.change, Change::Deleted(deleted) if deleted.is_final_state_unknown());
            return Some(if is_inferred { std::mem::replace(last, delta) } else { delta });
        }
        self.0.push(delta);
        None
    }
}

impl From<Delta> for Deltas {
    fn from(delta: Delta) -> Self {
        Self(smallvec![delta])
    }
}

impl Deref for Deltas {
    type Target = [Delta];

    fn deref(&self) -> &[Delta] {
        &self.0
    }
}

impl IntoIterator for Deltas {
    type Item = Delta;
    type IntoIter = smallvec::IntoIter<[Delta; 1]>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

/// The key of these changes, which are all of one object: that of the newest (client-go: `KeyOf`).
///
/// ```
/// # use kdelta::object::{DeletedFinalStateUnknown, DeletedObject, Origin, meta_namespace_key};
/// # use kdelta::queue::{Change, Delta, key_of};
/// let tombstone = DeletedFinalStateUnknown { key: "shop/web".into(), object: None };
/// let change = Change::Deleted(DeletedObject::FinalStateUnknown(tombstone));
/// let gone = Delta { change, origin: Origin::Relist };
/// assert_eq!(key_of(&[gone], meta_namespace_key)?, "shop/web".into());
/// assert!(key_of(&[], meta_namespace_key).is_err());
/// # Ok::<(), kdelta::object::KeyError>(())
/// ```
///
/// # Errors
/// There is no change, or the key function refused the object.
pub fn key_of(deltas: &[Delta], key_func: KeyFunc) -> Result<Key, KeyError> {
    let newest = deltas.last().ok_or_else(|| KeyError::NoKey {
        object: "Deltas".to_owned(),
        reason: "there is no delta in it".to_owned(),
    })?;
    newest.key(key_func)
}

/// Something that happened to the stream and not to an object. It travels in order, in an
/// [`OrderedFifo`](crate::queue::OrderedFifo) only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mark {
    /// The initial state has been told. Comes once.
    Synced {
        /// The version of that state.
        resource_version: ResourceVersion,
    },
    /// A watch was lost for good and what follows, with [`Origin::Relist`], is the difference. Where the queue refuses that
    /// list nothing follows, and another gap begins the next.
    Gap {
        /// The version up to which everything had been told.
        from: ResourceVersion,
        /// The version of the new list.
        to: ResourceVersion,
        /// How long nothing was heard.
        lasted: Duration,
    },
}

/// What one pop takes out of a queue.
#[derive(Debug, Clone)]
pub enum Item {
    /// Changes of one object. Never empty.
    Deltas(Deltas),
    /// All changes that a list makes, each object once, to be applied in one step (client-go: `ReplacedAll`). Only a queue
    /// with the option `atomic_replace` returns it, and never for the initial list.
    ReplacedAll(Vec<Deltas>),
    /// A mark.
    Mark(Mark),
    /// Nothing but the news of [`Popped::up_to`].
    Bookmark,
}

/// What the process function of a pop is given.
#[derive(Debug, Clone)]
pub struct Popped {
    /// What was taken out.
    pub item: Item,
    /// Whether the initial state had not been popped completely before this.
    pub is_in_initial_list: bool,
    /// With this, everything the source told up to that version has been popped. Nothing is said in the middle of a
    /// list, whose order is not that of versions. In a [`DeltaFifo`](crate::queue::DeltaFifo) objects have their own
    /// place in line, so what was told later of some of them may have been popped too.
    pub up_to: Option<ResourceVersion>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::{DeletedFinalStateUnknown, meta_namespace_key};
    use crate::queue::testing::cases::object;

    // C17
    #[test]
    fn the_key_of_deltas_is_that_of_the_newest() {
        let key = |deltas: &[Delta]| key_of(deltas, meta_namespace_key).map(|key| key.to_string());
        let added = Delta { change: Change::Added(object("a", 1)), origin: Origin::Watch };
        let tombstone = DeletedFinalStateUnknown { key: "b".into(), object: None };
        let deleted = Delta {
            change: Change::Deleted(DeletedObject::FinalStateUnknown(tombstone)),
            origin: Origin::Relist,
        };
        assert_eq!(key(std::slice::from_ref(&added)), Ok("a".to_owned()));
        assert_eq!(key(std::slice::from_ref(&deleted)), Ok("b".to_owned()));
        assert_eq!(key(&[added, deleted]), Ok("b".to_owned()));
        assert!(key(&[]).is_err());
    }
}
