//! Shared test support of the queues: small objects, a store with fixed contents, and deltas as text.
//!
//! `A U D R S` are the kinds of change, `foo10` is the object `foo` at version 10, `T(..)` a tombstone, `RA[..]` a
//! whole list.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use crate::object::{DeletedObject, Ingest, Key, KeyGetter, KeyLister, Object, Origin, TypeMeta};
use crate::queue::{Change, Delta, Item, PoppedItem, Queue};

/// Returns an object with version `state`.
pub(in crate::queue) fn object(name: &str, state: u32) -> Arc<Object> {
    let json = format!(r#"{{"metadata":{{"name":"{name}","resourceVersion":"{state}"}}}}"#);
    let ingest = Ingest::of(Arc::new(TypeMeta { api_version: "v1".into(), kind: "Pod".into() }));
    Arc::new(Object::from_json(json.as_bytes(), &ingest).expect("an object"))
}

/// A store with the given contents.
#[derive(Default)]
pub(in crate::queue) struct Known(pub(in crate::queue) Mutex<BTreeMap<Key, Arc<Object>>>);

pub(in crate::queue) fn known(objects: &[(&str, u32)]) -> Arc<Known> {
    let objects = objects.iter().map(|(name, state)| (Key::from(*name), object(name, *state)));
    Arc::new(Known(Mutex::new(objects.collect())))
}

impl KeyLister for Known {
    fn list_keys(&self) -> Vec<Key> {
        self.0.lock().expect("no panic").keys().cloned().collect()
    }
}

impl KeyGetter for Known {
    fn get_by_key(&self, key: &str) -> Option<Arc<Object>> {
        self.0.lock().expect("no panic").get(key).cloned()
    }
}

impl Known {
    /// Applies a delta as an informer's store would.
    pub(in crate::queue) fn apply(&self, delta: &Delta) {
        let mut map = self.0.lock().expect("no panic");
        match &delta.change {
            Change::Deleted(deleted) => {
                map.remove(deleted.key());
            }
            Change::Added(object)
            | Change::Updated(object)
            | Change::Replaced(object)
            | Change::Sync(object) => {
                map.insert(object.key().clone(), Arc::clone(object));
            }
        }
    }
}

pub(in crate::queue) fn object_text(object: &Object) -> String {
    format!("{}{}", object.name(), object.resource_version())
}

pub(in crate::queue) fn text(delta: &Delta) -> String {
    match &delta.change {
        Change::Added(object) => format!("A({})", object_text(object)),
        Change::Updated(object) => format!("U({})", object_text(object)),
        Change::Replaced(object) => format!("R({})", object_text(object)),
        Change::Sync(object) => format!("S({})", object_text(object)),
        Change::Deleted(DeletedObject::Known(object)) => format!("D({})", object_text(object)),
        Change::Deleted(DeletedObject::FinalStateUnknown(tombstone)) => {
            let object =
                tombstone.object.as_ref().map_or_else(|| "-".to_owned(), |object| object_text(object));
            format!("D(T({},{object}))", tombstone.key)
        }
    }
}

/// Pops until an item has deltas, and returns them as text with the flag `is_in_initial_list`.
pub(in crate::queue) fn pop_one(queue: &dyn Queue) -> Option<(String, bool)> {
    loop {
        let mut popped: Option<PoppedItem> = None;
        if !queue.try_pop(&mut |next| popped = Some(next)).unwrap_or(false) {
            return None;
        }
        let Some(PoppedItem { item, is_in_initial_list, .. }) = popped else { continue };
        if let Some(text) = item_text(&item) {
            return Some((text, is_in_initial_list));
        }
    }
}

/// Returns the deltas of a popped item as text; `None` if it has none.
pub(in crate::queue) fn item_text(item: &Item) -> Option<String> {
    match item {
        Item::Deltas(deltas) => Some(deltas_text(deltas)),
        Item::ReplacedAll(all) => {
            let all: Vec<String> = all.iter().map(|deltas| deltas_text(deltas)).collect();
            Some(format!("RA[{}]", all.join(" ")))
        }
        Item::Mark(_) | Item::Bookmark => None,
    }
}

fn deltas_text(deltas: &[Delta]) -> String {
    let texts: Vec<String> = deltas.iter().map(text).collect();
    texts.join(",")
}

/// Pops all items and returns one text per pop.
pub(in crate::queue) fn pop_all(queue: &dyn Queue) -> Vec<String> {
    std::iter::from_fn(|| pop_one(queue)).map(|(deltas, _)| deltas).collect()
}

/// One call of a queue in a test case.
#[derive(Clone)]
pub(in crate::queue) enum Op {
    Add(&'static str, u32),
    Update(&'static str, u32),
    Delete(&'static str, u32),
    Replace(&'static [(&'static str, u32)]),
    Resync,
    Pop,
}

pub(in crate::queue) fn run(queue: &dyn Queue, ops: &[Op]) {
    for op in ops {
        match op {
            Op::Add(name, state) => queue.add(object(name, *state), Origin::Watch).expect("a key"),
            Op::Update(name, state) => queue.update(object(name, *state), Origin::Watch).expect("a key"),
            Op::Delete(name, state) => {
                queue.delete(DeletedObject::Known(object(name, *state)), Origin::Watch).expect("a key");
            }
            Op::Replace(objects) => {
                let objects = objects.iter().map(|(name, state)| object(name, *state)).collect();
                queue.replace(objects, &"1".into(), Origin::List).expect("keys");
            }
            Op::Resync => queue.resync(),
            Op::Pop => {
                pop_one(queue);
            }
        }
    }
}
