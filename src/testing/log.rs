//! The objects of a fake source and the log of their changes.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::listwatch::WatchEvent;
use crate::object::{Ingest, Key, Object, ResourceVersion, TypeMeta};

/// The JSON of a pod with nothing but a name: `namespace/name`, or `name` alone.
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

/// What happened to an object.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    Added,
    Modified,
    Deleted,
}

/// One change, at the version that the object carries.
#[derive(Clone)]
pub(super) struct Entry {
    pub(super) version: u64,
    change: Change,
    object: Arc<Object>,
}

impl Entry {
    pub(super) fn event(&self) -> WatchEvent {
        let object = Arc::clone(&self.object);
        match self.change {
            Change::Added => WatchEvent::Added(object),
            Change::Modified => WatchEvent::Modified(object),
            Change::Deleted => WatchEvent::Deleted(object),
        }
    }
}

/// What is there, and every change since the log was last forgotten. Grows with the test that drives it.
#[derive(Default)]
pub(super) struct Log {
    /// The version of the latest change.
    pub(super) version: u64,
    objects: BTreeMap<Key, (Value, Arc<Object>)>,
    entries: Vec<Entry>,
    /// Changes up to this version are forgotten.
    forgotten: u64,
    next_uid: u64,
}

impl Log {
    /// Makes one change, at the next version.
    pub(super) fn change(&mut self, change: Change, mut value: Value) -> Entry {
        self.version += 1;
        let key = key_of(&value);
        let known = self.objects.get(&*key);
        assert!(known.is_some() != (change == Change::Added), "{key} is there already, or not yet");
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
        if change == Change::Deleted {
            self.objects.remove(&*key);
        } else {
            self.objects.insert(key, (value, Arc::clone(&object)));
        }
        let entry = Entry { version: self.version, change, object };
        self.entries.push(entry.clone());
        entry
    }

    /// The JSON of an object that is there.
    pub(super) fn value(&self, key: &str) -> Value {
        self.objects.get(key).unwrap_or_else(|| panic!("{key} is not there")).0.clone()
    }

    pub(super) fn objects(&self) -> Vec<Arc<Object>> {
        self.objects.values().map(|(_, object)| Arc::clone(object)).collect()
    }

    pub(super) fn version(&self) -> ResourceVersion {
        ResourceVersion::new(&self.version.to_string())
    }

    /// What happened after that version, or the oldest one that can be asked for.
    pub(super) fn since(&self, version: u64) -> Result<Vec<Entry>, u64> {
        if version < self.forgotten {
            return Err(self.forgotten);
        }
        Ok(self.entries.iter().filter(|entry| entry.version > version).cloned().collect())
    }

    /// Forgets what happened, not what is.
    pub(super) fn forget(&mut self) {
        self.entries.clear();
        self.forgotten = self.version;
    }

    /// Undoes what happened after that version, and forgets what happened before.
    pub(super) fn go_back(&mut self, version: u64) {
        assert!(self.forgotten == 0 && version < self.version, "what is to come back must be remembered");
        self.objects.clear();
        for Entry { change, object, .. } in self.entries.iter().filter(|entry| entry.version <= version) {
            if *change == Change::Deleted {
                self.objects.remove(object.key());
            } else {
                let value = serde_json::from_slice(&object.json()).expect("it was made from JSON");
                self.objects.insert(Arc::clone(object.key()), (value, Arc::clone(object)));
            }
        }
        self.version = version;
        self.forget();
    }

    /// Moves on as if something had changed elsewhere.
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
