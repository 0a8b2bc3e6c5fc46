//! Applies deltas to the store and derives the notifications from its previous contents (client-go: `processDeltas`,
//! `processReplacedAllInfo`).
//!
//! The store decides the notification, not the type of the delta: an object in the store is updated, any other object is
//! added, and the delete of an object that is not in the store notifies no handler.

use std::sync::Arc;

use smallvec::{SmallVec, smallvec};

use crate::object::{DeletedFinalStateUnknown, DeletedObject, Object, Origin, ResourceVersion};
use crate::queue::{Change, Delta, Deltas};
use crate::store::{Store, StoreError, Transaction};

use super::Notification;

/// A notification with its class of recipients.
pub(super) enum Dispatch {
    /// To every handler.
    All(Notification),
    /// Only to handlers that are due for a resync: nothing changed.
    ResyncDue(Notification),
}

/// The effect of a delta: at most one change of the store, and the resulting notifications.
struct Effect {
    change: Option<Transaction>,
    dispatches: SmallVec<[Dispatch; 2]>,
}

/// Applies a delta to the store, then passes the notifications to `dispatch`. If the store rejects the object, the error is
/// logged and nothing changes.
pub(super) fn apply<S: Store + ?Sized>(
    store: &S,
    delta: Delta,
    is_in_initial_list: bool,
    dispatch: &mut dyn FnMut(Dispatch),
) {
    // In an initial list there may be live events of objects that were popped before its end.
    let is_initial = is_in_initial_list && delta.origin == Origin::List;
    let applied = stored(store, &delta).and_then(|stored| {
        let Effect { change, dispatches } = effect(stored.as_ref(), delta, is_initial);
        change.map_or(Ok(()), |change| apply_change(store, change))?;
        Ok(dispatches)
    });
    match applied {
        Ok(dispatches) => dispatches.into_iter().for_each(dispatch),
        Err(error) => tracing::error!(%error, "the store rejected an object"),
    }
}

/// Applies one change, without the list that a transaction needs.
fn apply_change<S: Store + ?Sized>(store: &S, change: Transaction) -> Result<(), StoreError> {
    match change {
        Transaction::Add(object) => store.add(object),
        Transaction::Update(object) => store.update(object),
        Transaction::Delete(object) => store.delete(&object),
        Transaction::DeleteByKey(key) => {
            store.delete_by_key(&key);
            Ok(())
        }
        Transaction::Bookmark(version) => {
            store.bookmark(&version);
            Ok(())
        }
    }
}

/// Applies a whole list in one transaction of the store, with its version if it is known, then passes the notifications to
/// `dispatch`: those of unchanged objects only if `is_resync_due`.
///
/// An object without a key is logged and skipped. If the store rejects the transaction, the error is logged and nothing
/// changes.
pub(super) fn apply_all<S: Store + ?Sized>(
    store: &S,
    all: Vec<Deltas>,
    version: Option<&ResourceVersion>,
    is_resync_due: bool,
    dispatch: &mut dyn FnMut(Dispatch),
) {
    let (mut changes, mut dispatches) = (Vec::new(), Vec::new());
    for deltas in all {
        match effect_of_all(store, deltas) {
            Ok(effect) => {
                changes.extend(effect.change);
                dispatches.extend(
                    effect
                        .dispatches
                        .into_iter()
                        .filter(|dispatch| is_resync_due || matches!(dispatch, Dispatch::All(_))),
                );
            }
            Err(error) => tracing::error!(%error, "the store rejected an object"),
        }
    }
    changes.extend(version.cloned().map(Transaction::Bookmark));
    match store.transaction(changes) {
        Ok(()) => dispatches.into_iter().for_each(dispatch),
        Err(error) => tracing::error!(%error, "the store rejected a list"),
    }
}

/// Returns the effect of all deltas of one object: the last change, and all notifications.
fn effect_of_all<S: Store + ?Sized>(store: &S, deltas: Deltas) -> Result<Effect, StoreError> {
    let mut all = Effect { change: None, dispatches: SmallVec::new() };
    let mut current = deltas.first().map_or(Ok(None), |first| stored(store, first))?;
    for delta in deltas {
        let Effect { change, dispatches } = effect(current.as_ref(), delta, false);
        match &change {
            Some(Transaction::Add(object) | Transaction::Update(object)) => {
                current = Some(Arc::clone(object));
            }
            Some(Transaction::Delete(_) | Transaction::DeleteByKey(_)) => current = None,
            Some(Transaction::Bookmark(_)) | None => {}
        }
        all.change = change.or(all.change);
        all.dispatches.extend(dispatches);
    }
    Ok(all)
}

/// Returns the stored object with the key of a delta.
fn stored<S: Store + ?Sized>(store: &S, delta: &Delta) -> Result<Option<Arc<Object>>, StoreError> {
    match &delta.change {
        Change::Added(object) | Change::Updated(object) | Change::Replaced(object) | Change::Sync(object) => {
            store.get(object)
        }
        Change::Deleted(DeletedObject::Known(object)) => store.get(object),
        Change::Deleted(DeletedObject::FinalStateUnknown(tombstone)) => Ok(store.get_by_key(&tombstone.key)),
    }
}

/// Returns the effect of a delta on a store that holds `stored` under its key.
fn effect(stored: Option<&Arc<Object>>, delta: Delta, is_initial: bool) -> Effect {
    let Delta { change, origin } = delta;
    match change {
        Change::Added(object) | Change::Updated(object) | Change::Replaced(object) | Change::Sync(object) => {
            put(stored, object, origin, is_initial)
        }
        Change::Deleted(deleted) => delete(stored, deleted, origin),
    }
}

fn put(
    stored: Option<&Arc<Object>>,
    object: Arc<Object>,
    origin: Origin,
    is_in_initial_list: bool,
) -> Effect {
    let added = |object| Dispatch::All(Notification::Added { object, is_in_initial_list, origin });
    let Some(old) = stored.map(Arc::clone) else {
        return Effect {
            change: Some(Transaction::Add(Arc::clone(&object))),
            dispatches: smallvec![added(object)],
        };
    };
    if is_unchanged(&old, &object, origin) {
        // The stored object stays: only the index functions could notice a difference, and they would run again.
        let new = Arc::clone(&old);
        let unchanged = Notification::Updated { old, new, origin: Origin::Resync };
        return Effect { change: None, dispatches: smallvec![Dispatch::ResyncDue(unchanged)] };
    }
    let change = Some(Transaction::Update(Arc::clone(&object)));
    let dispatches = if is_recreated(&old, &object) {
        // The object was deleted and created again under the same name, and the delete was missed.
        let tombstone = DeletedFinalStateUnknown { key: old.key().clone(), object: Some(old) };
        let deleted = DeletedObject::FinalStateUnknown(tombstone);
        smallvec![Dispatch::All(Notification::Deleted { object: deleted, origin }), added(object)]
    } else {
        smallvec![Dispatch::All(Notification::Updated { old, new: object, origin })]
    };
    Effect { change, dispatches }
}

/// Returns true if both are the same state. Equal versions do not prove that for a listed object: a server that was restored
/// from a backup assigns its versions a second time.
fn is_unchanged(old: &Arc<Object>, new: &Arc<Object>, origin: Origin) -> bool {
    Arc::ptr_eq(old, new) || (old.same_state(new) && (origin != Origin::Relist || old.same_content(new)))
}

/// Returns true if the objects have different uids. In a representation without uids, equal names mean the same object.
fn is_recreated(old: &Object, new: &Object) -> bool {
    !old.uid().is_empty() && !new.uid().is_empty() && old.uid() != new.uid()
}

fn delete(stored: Option<&Arc<Object>>, deleted: DeletedObject, origin: Origin) -> Effect {
    let (change, object) = match deleted {
        // Also if the object is not stored: the store takes over the version of the deletion.
        DeletedObject::Known(object) => {
            (Transaction::Delete(Arc::clone(&object)), DeletedObject::Known(object))
        }
        DeletedObject::FinalStateUnknown(DeletedFinalStateUnknown { key, object }) => {
            let object = object.or_else(|| stored.cloned());
            let change = Transaction::DeleteByKey(key.clone());
            (change, DeletedObject::FinalStateUnknown(DeletedFinalStateUnknown { key, object }))
        }
    };
    let deleted = stored.map(|_| Dispatch::All(Notification::Deleted { object, origin }));
    Effect { change: Some(change), dispatches: deleted.into_iter().collect() }
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
    fn a_rejected_object_causes_no_notification() {
        let store = Cache::with_key_func(refusing_odd, Indexers::new());
        let mut dispatched = Vec::new();
        for (name, change) in
            [("a", Change::Added as fn(_) -> _), ("odd", Change::Added), ("b", Change::Updated)]
        {
            let delta = Delta { change: change(pod(name, 1)), origin: Origin::Watch };
            apply(&store, delta, false, &mut |dispatch| dispatched.push(dispatch));
        }
        let lines: Vec<_> = dispatched
            .iter()
            .map(|dispatch| match dispatch {
                Dispatch::All(notification) | Dispatch::ResyncDue(notification) => notification.to_string(),
            })
            .collect();
        assert_eq!(lines, ["+a@1 watch", "+b@1 watch"]);
        assert_eq!(store.list().len(), 2);
    }

    // F4
    #[test]
    fn the_store_has_the_version_of_each_event_including_deletes() {
        let store = Cache::new();
        let changes = [
            Change::Added(pod("a", 1)),
            Change::Updated(pod("a", 2)),
            Change::Deleted(DeletedObject::Known(pod("a", 3))),
            Change::Deleted(DeletedObject::Known(pod("never seen", 4))),
        ];
        for (version, change) in (1..).zip(changes) {
            apply(&store, Delta { change, origin: Origin::Watch }, false, &mut |_| ());
            assert_eq!(store.last_store_sync_resource_version(), format!("{version}").as_str().into());
        }
    }
}
