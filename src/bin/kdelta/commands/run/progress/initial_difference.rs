//! The difference between the initial state of a part and the states in which its objects were handled.

use std::collections::HashMap;
use std::sync::Arc;

use kdelta::informer::Notification;
use kdelta::object::{DeletedFinalStateUnknown, DeletedObject, Ingest, Key, Object, Origin, TypeMeta};
use serde_json::json;

use super::HandledState;

/// Turns the initial state of a part into the changes since its objects were handled.
///
/// A part that continues from a version begins with the handled states themselves, which are no changes.
#[derive(Debug)]
pub(in crate::commands::run) struct InitialDifference {
    type_meta: Arc<TypeMeta>,
    /// The handled objects that the initial state has not contained so far.
    unseen: HashMap<Key, HandledState>,
}

impl InitialDifference {
    pub(in crate::commands::run) fn new(
        type_meta: Arc<TypeMeta>,
        handled: HashMap<Key, HandledState>,
    ) -> Self {
        Self { type_meta, unseen: handled }
    }

    /// Returns the changes that a notification of the initial state stands for. Other notifications are returned unchanged,
    /// and their object is not deleted by [`InitialDifference::end`].
    pub(in crate::commands::run) fn apply(&mut self, notification: Notification) -> Vec<Notification> {
        let Notification::Added { object: new, origin: Origin::List, .. } = notification else {
            if let Some(key) = notification.key() {
                self.unseen.remove(key);
            }
            return vec![notification];
        };
        let added =
            |object| Notification::Added { object, is_in_initial_list: false, origin: Origin::Relist };
        let Some(handled) = self.unseen.remove(new.key()) else { return vec![added(new)] };
        let current = HandledState::of(&new);
        if handled == current {
            return Vec::new();
        }
        let Some(old) = handled_object(&self.type_meta, new.key(), &handled).map(Arc::new) else {
            return vec![added(new)];
        };
        if handled.uid == current.uid {
            return vec![Notification::Updated { old, new, origin: Origin::Relist }];
        }
        vec![deleted(old), added(new)]
    }

    /// Returns the deletions of the handled objects that the complete initial state does not have.
    pub(in crate::commands::run) fn end(self) -> Vec<Notification> {
        let gone = self.unseen.iter();
        gone.filter_map(|(key, handled)| handled_object(&self.type_meta, key, handled))
            .map(|object| deleted(Arc::new(object)))
            .collect()
    }
}

fn deleted(object: Arc<Object>) -> Notification {
    let tombstone = DeletedFinalStateUnknown { key: object.key().clone(), object: Some(object) };
    Notification::Deleted { object: DeletedObject::FinalStateUnknown(tombstone), origin: Origin::Relist }
}

/// Returns an object with only its names, uid and version.
pub(in crate::commands::run) fn handled_object(
    type_meta: &Arc<TypeMeta>,
    key: &str,
    state: &HandledState,
) -> Option<Object> {
    let (namespace, name) = key.split_once('/').unwrap_or(("", key));
    let mut metadata = json!({"name": name});
    for (field, value) in [
        ("namespace", namespace.to_owned()),
        ("uid", state.uid.to_string()),
        ("resourceVersion", state.version.to_string()),
    ] {
        if !value.is_empty() {
            metadata[field] = value.into();
        }
    }
    let TypeMeta { api_version, kind } = &**type_meta;
    let text = json!({"apiVersion": &**api_version, "kind": &**kind, "metadata": metadata}).to_string();
    Object::from_json(text.as_bytes(), &Ingest::of(Arc::clone(type_meta))).ok()
}
