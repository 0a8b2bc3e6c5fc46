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
        // Of a list the version alone does not say so: a server that was restored gives its versions a second time.
        Some(old)
            if Arc::ptr_eq(&old, &object)
                || (old.same_state(&object) && (origin != Origin::Relist || old.same_content(&object))) =>
        {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::informer::testing::fixtures::pod;
    use crate::object::{Key, KeyError, meta_namespace_key};
    use crate::store::{Cache, Indexers};

    fn refusing_odd(object: &Object) -> Result<Key, KeyError> {
        match object.name() {
            "odd" => Err(KeyError::NoKey { object: "odd".into(), reason: "odd".into() }),
            _ => meta_namespace_key(object),
        }
    }

    // F1, one at a time
    #[test]
    fn nobody_is_told_of_what_the_store_refused() {
        let store = Cache::with_key_func(refusing_odd, Indexers::new());
        let mut told = Vec::new();
        let mut refused = 0;
        for (name, change) in
            [("a", Change::Added as fn(_) -> _), ("odd", Change::Added), ("b", Change::Updated)]
        {
            let delta = Delta { change: change(pod(name, 1)), origin: Origin::Watch };
            refused += usize::from(apply(&store, delta, false, &mut |tell| told.push(tell)).is_err());
        }
        let told: Vec<_> = told
            .iter()
            .map(|tell| match tell {
                Tell::All(notification) | Tell::Due(notification) => notification.to_string(),
            })
            .collect();
        assert_eq!((told, refused), (vec!["+a@1 watch".to_owned(), "+b@1 watch".to_owned()], 1));
    }

    // F4
    #[test]
    fn the_version_of_the_store_is_that_of_the_event_also_after_a_delete() {
        let store = Cache::new();
        let changes = [
            Change::Added(pod("a", 1)),
            Change::Updated(pod("a", 2)),
            Change::Deleted(DeletedObject::Known(pod("a", 3))),
            Change::Deleted(DeletedObject::Known(pod("never seen", 4))),
        ];
        for (version, change) in (1..).zip(changes) {
            apply(&store, Delta { change, origin: Origin::Watch }, false, &mut |_| ()).expect("a key");
            assert_eq!(store.last_store_sync_resource_version(), format!("{version}").as_str().into());
        }
    }
}
