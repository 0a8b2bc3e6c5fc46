//! One delta → the store → what is to be told of it (client-go: `processDeltas`).
//!
//! The kind of change does not choose what is told: the store is asked what it held. An object it held is updated,
//! whatever the event said, one it did not hold is added, and of a delete of what it did not hold nobody is told.

use std::sync::Arc;

use crate::object::{DeletedFinalStateUnknown, DeletedObject, Object, Origin};
use crate::queue::{Change, Delta};
use crate::store::{Store, StoreError};

use super::Notification;

/// What is to be told, and to whom.
pub(super) enum Tell {
    /// To every handler.
    All(Notification),
    /// Nothing changed: only to those due a resync.
    Due(Notification),
}

/// Applies a delta to the store, then says what is to be told.
///
/// # Errors
/// The store refused: nothing changed, nothing was told.
pub(super) fn apply<S: Store + ?Sized>(
    store: &S,
    delta: Delta,
    is_in_initial_list: bool,
    tell: &mut dyn FnMut(Tell),
) -> Result<(), StoreError> {
    let Delta { change, origin } = delta;
    match change {
        Change::Added(object) | Change::Updated(object) | Change::Replaced(object) | Change::Sync(object) => {
            // In an initial list there may be live events of objects that were popped before its end.
            put(store, object, origin, is_in_initial_list && origin == Origin::List, tell)
        }
        Change::Deleted(deleted) => delete(store, deleted, origin, tell),
    }
}

fn put<S: Store + ?Sized>(
    store: &S,
    object: Arc<Object>,
    origin: Origin,
    is_in_initial_list: bool,
    tell: &mut dyn FnMut(Tell),
) -> Result<(), StoreError> {
    let added = |object| Tell::All(Notification::Added { object, is_in_initial_list, origin });
    match store.get(&object)? {
        None => {
            store.add(Arc::clone(&object))?;
            tell(added(object));
        }
        // What is stored stays stored: nobody could tell the difference but the index functions, which would run.
        Some(old) if Arc::ptr_eq(&old, &object) || old.same_state(&object) => {
            let new = Arc::clone(&old);
            tell(Tell::Due(Notification::Updated { old, new, origin: Origin::Resync }));
        }
        Some(old) => {
            store.update(Arc::clone(&object))?;
            if is_other(&old, &object) {
                // Deleted and made again under the same name, and nobody saw the delete.
                let tombstone = DeletedFinalStateUnknown { key: old.key().clone(), object: Some(old) };
                let gone = DeletedObject::FinalStateUnknown(tombstone);
                tell(Tell::All(Notification::Deleted { object: gone, origin }));
                tell(added(object));
            } else {
                tell(Tell::All(Notification::Updated { old, new: object, origin }));
            }
        }
    }
    Ok(())
}

/// Whether the two are not the same thing. A representation without uids leaves only the name to go by.
fn is_other(old: &Object, new: &Object) -> bool {
    !old.uid().is_empty() && !new.uid().is_empty() && old.uid() != new.uid()
}

fn delete<S: Store + ?Sized>(
    store: &S,
    deleted: DeletedObject,
    origin: Origin,
    tell: &mut dyn FnMut(Tell),
) -> Result<(), StoreError> {
    let (held, object) = match deleted {
        DeletedObject::Known(object) => {
            let held = store.get(&object)?.is_some();
            // Also where nothing is held: the version of the deletion becomes the store's.
            store.delete(&object)?;
            (held, DeletedObject::Known(object))
        }
        DeletedObject::FinalStateUnknown(DeletedFinalStateUnknown { key, object }) => {
            let stored = store.get_by_key(&key);
            store.delete_by_key(&key);
            let held = stored.is_some();
            let object = object.or(stored);
            (held, DeletedObject::FinalStateUnknown(DeletedFinalStateUnknown { key, object }))
        }
    };
    if held {
        tell(Tell::All(Notification::Deleted { object, origin }));
    }
    Ok(())
}
