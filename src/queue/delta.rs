//! Changes of one object, and the items that a queue returns.

use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use smallvec::{SmallVec, smallvec};

use crate::object::{DeletedObject, Key, KeyError, KeyFunc, Object, Origin, ResourceVersion};

/// The kind of a change (client-go: `DeltaType`, whose values are the variants).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DeltaType {
    /// The source reported a new object.
    Added,
    /// The source reported a changed object.
    Updated,
    /// An object was deleted. The delete was observed, or inferred from a list that lacks the object.
    Deleted,
    /// A list contains the object, which may be new, changed or unchanged.
    Replaced,
    /// A resync delivers the stored object again.
    Sync,
}

/// A change with the resulting state, one for each [`DeltaType`]. Only a delete may lack a state.
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

/// A change of one object and its origin (client-go: `Delta`).
///
/// The notification of handlers depends on the store too: an object that is not stored yet is reported as added.
#[derive(Debug, Clone)]
pub struct Delta {
    /// The change.
    pub change: Change,
    /// The origin of the change.
    pub origin: Origin,
}

impl Delta {
    /// Returns the kind of the change.
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

    /// Returns the state of the object, which may be missing for a tombstone.
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

    /// Returns the bytes of memory that the object uses.
    pub(super) fn weight(&self) -> usize {
        self.object().map_or(0, |object| object.weight())
    }

    /// Returns the key of the object; for a tombstone, the key it was created with.
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

/// The changes of one object, oldest first (client-go: `Deltas`). A queue never returns an empty one.
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
    /// Returns the first change.
    #[must_use]
    pub fn oldest(&self) -> Option<&Delta> {
        self.0.first()
    }

    /// Returns the last change, which has the current state.
    #[must_use]
    pub fn newest(&self) -> Option<&Delta> {
        self.0.last()
    }

    /// Appends a change of the same object. Two deletes in a row are merged, and an observed delete replaces an
    /// inferred one. No other changes are merged, so that no state is lost.
    pub fn push(&mut self, delta: Delta) {
        self.push_merged(delta);
    }

    /// Appends a change like [`Self::push`], and returns the delete that was dropped by a merge.
    pub(super) fn push_merged(&mut self, delta: Delta) -> Option<Delta> {
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

/// Returns the key of deltas of one object: the key of the newest (client-go: `KeyOf`).
///
/// ```
/// # use kdelta::object::{DeletedFinalStateUnknown, DeletedObject, Origin, meta_namespace_key};
/// # use kdelta::queue::{Change, Delta, key_of};
/// let tombstone = DeletedFinalStateUnknown { key: "shop/web".into(), object: None };
/// let change = Change::Deleted(DeletedObject::FinalStateUnknown(tombstone));
/// let deleted = Delta { change, origin: Origin::Relist };
/// assert_eq!(key_of(&[deleted], meta_namespace_key)?, "shop/web".into());
/// assert!(key_of(&[], meta_namespace_key).is_err());
/// # Ok::<(), kdelta::object::KeyError>(())
/// ```
///
/// # Errors
/// There is no delta, or the key function refused the object.
pub fn key_of(deltas: &[Delta], key_func: KeyFunc) -> Result<Key, KeyError> {
    let newest = deltas.last().ok_or_else(|| KeyError::NoKey {
        object: "Deltas".to_owned(),
        reason: "there is no delta in it".to_owned(),
    })?;
    newest.key(key_func)
}

/// An event of the stream rather than of an object. Only an [`OrderedFifo`](crate::queue::OrderedFifo) delivers marks,
/// in order with the deltas.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mark {
    /// The initial list has been delivered. Sent once.
    Synced {
        /// The version of the initial list.
        resource_version: ResourceVersion,
    },
    /// A watch was lost and could not be resumed. The deltas that follow, with [`Origin::Relist`], are the difference
    /// to a new list. If the queue refuses the list, no deltas follow, and another gap precedes the next list.
    Gap {
        /// The version up to which all changes had been delivered.
        from: ResourceVersion,
        /// The version of the new list.
        to: ResourceVersion,
        /// The time without updates from the source.
        lasted: Duration,
    },
    /// Everything up to this version has been delivered. Only informers that report bookmarks send it.
    Bookmark {
        /// The version.
        resource_version: ResourceVersion,
    },
}

/// An item that a pop returns. The set of variants is complete, because a consumer that skipped an unknown one would diverge
/// from the source.
#[derive(Debug, Clone)]
pub enum Item {
    /// Changes of one object. Never empty.
    Deltas(Deltas),
    /// All changes that follow from a list, each object once, to be applied in one step (client-go: `ReplacedAll`).
    /// Only a queue with the option `atomic_replace` returns it, and never for the initial list.
    ReplacedAll(Vec<Deltas>),
    /// A mark.
    Mark(Mark),
    /// Only the new version in [`PoppedItem::up_to`].
    Bookmark,
}

/// The argument of a process function.
#[derive(Debug, Clone)]
pub struct PoppedItem {
    /// The item.
    pub item: Item,
    /// Whether the initial list had not been popped completely before this item.
    pub is_in_initial_list: bool,
    /// The version up to which every change of the source has been popped, this item included. `None` in the middle of
    /// a list, which is not ordered by version. In a [`DeltaFifo`](crate::queue::DeltaFifo), later changes of some
    /// objects may have been popped too, because each object keeps its own position.
    pub up_to: Option<ResourceVersion>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::{DeletedFinalStateUnknown, meta_namespace_key};
    use crate::queue::testing::cases::object;

    // C17
    #[test]
    fn key_of_deltas_is_the_key_of_the_newest() {
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
