//! The objects of a fake source and the log of their changes.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::listwatch::WatchEvent;
use crate::object::{Ingest, Key, Object, ResourceVersion, TypeMeta};

/// Returns the JSON of a pod that has only a name: `namespace/name`, or `name` alone.
#[must_use]
pub fn pod(key: &str) -> Value {
    let mut metadata = json!({});
    let name = match key.split_once('/') {
        Some((namespace, name)) => {
            metadata["namespace"] = namespace.into();
            name
        }
        None => key,
    };
    metadata["name"] = name.into();
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata})
}

/// The kind of a change.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ChangeKind {
    Added,
    Modified,
    Deleted,
}

/// A change, at the version that the object carries.
#[derive(Clone)]
pub(super) struct Entry {
    pub(super) version: u64,
    change: ChangeKind,
    object: Arc<Object>,
}

impl Entry {
    pub(super) fn event(&self) -> WatchEvent {
        let object = Arc::clone(&self.object);
        match self.change {
            ChangeKind::Added => WatchEvent::Added(object),
            ChangeKind::Modified => WatchEvent::Modified(object),
            ChangeKind::Deleted => WatchEvent::Deleted(object),
        }
    }
}

/// The current objects, and every change since the log was last cleared. Bounded by the test that drives it.
#[derive(Default)]
pub(super) struct Log {
    /// The version of the latest change.
    pub(super) version: u64,
    objects: BTreeMap<Key, (Value, Arc<Object>)>,
    entries: Vec<Entry>,
    /// The version up to which changes are no longer in the log.
    cleared_up_to: u64,
    next_uid: u64,
}

impl Log {
    /// Applies a change at the next version.
    pub(super) fn change(&mut self, change: ChangeKind, mut value: Value) -> Entry {
        self.version += 1;
        let key = key_of(&value);
        let known = self.objects.get(&*key);
        assert!(known.is_some() != (change == ChangeKind::Added), "{key} is there already, or not yet");
        if value["metadata"]["uid"].is_null() {
            value["metadata"]["uid"] = if let Some((known, _)) = known {
                known["metadata"]["uid"].clone()
            } else {
                self.next_uid += 1;
                format!("uid-{}", self.next_uid).into()
            };
        }
        value["metadata"]["resourceVersion"] = self.version.to_string().into();
        let object = Arc::new(object_of(&value));
        if change == ChangeKind::Deleted {
            self.objects.remove(&*key);
        } else {
            self.objects.insert(key, (value, Arc::clone(&object)));
        }
        let entry = Entry { version: self.version, change, object };
        self.entries.push(entry.clone());
        entry
    }

    /// Deletes an object in the version of the last change.
    pub(super) fn delete_in_last_version(&mut self, key: &str) {
        self.version -= 1;
        self.change(ChangeKind::Deleted, self.value(key));
    }

    /// Returns the JSON of an existing object.
    pub(super) fn value(&self, key: &str) -> Value {
        self.objects.get(key).unwrap_or_else(|| panic!("{key} does not exist")).0.clone()
    }

    pub(super) fn objects(&self) -> Vec<Arc<Object>> {
        self.objects.values().map(|(_, object)| Arc::clone(object)).collect()
    }

    pub(super) fn version(&self) -> ResourceVersion {
        ResourceVersion::new(&self.version.to_string())
    }

    /// Returns the changes after that version, or the oldest version that is still available.
    pub(super) fn since(&self, version: u64) -> Result<Vec<Entry>, u64> {
        if version < self.cleared_up_to {
            return Err(self.cleared_up_to);
        }
        Ok(self.entries.iter().filter(|entry| entry.version > version).cloned().collect())
    }

    /// Clears the log but keeps the objects.
    pub(super) fn clear(&mut self) {
        self.entries.clear();
        self.cleared_up_to = self.version;
    }

    /// Reverts the changes after that version and clears the log before it.
    pub(super) fn roll_back(&mut self, version: u64) {
        assert!(self.cleared_up_to == 0 && version < self.version, "what is to come back must be remembered");
        self.objects.clear();
        for Entry { change, object, .. } in self.entries.iter().filter(|entry| entry.version <= version) {
            if *change == ChangeKind::Deleted {
                self.objects.remove(object.key());
            } else {
                let value = serde_json::from_slice(&object.json()).expect("it was made from JSON");
                self.objects.insert(Arc::clone(object.key()), (value, Arc::clone(object)));
            }
        }
        self.version = version;
        self.clear();
    }

    /// Advances the version without a change.
    pub(super) fn skip_to(&mut self, version: u64) {
        assert!(version >= self.version, "versions only grow");
        self.version = version;
    }
}

fn key_of(value: &Value) -> Key {
    Arc::clone(object_of(value).key())
}

fn object_of(value: &Value) -> Object {
    let type_meta = Arc::new(TypeMeta { api_version: "v1".into(), kind: "Pod".into() });
    Object::from_json(value.to_string().as_bytes(), &Ingest::of(type_meta))
        .unwrap_or_else(|error| panic!("{error}: {value}"))
}
