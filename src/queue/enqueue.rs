//! The preparation of objects for a queue: keys, transformation and compression, and the tombstones that follow from a
//! list.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use super::{Change, Delta, KnownObjects, QueueOptions, Transformer};
use crate::object::{
    Compressor, DeletedFinalStateUnknown, DeletedObject, Key, KeyError, KeyFunc, Object, Origin,
};

/// Prepares objects for a queue. It reads the store, so that a queued state that is already stored shares its memory.
pub(super) struct Preprocessor {
    pub(super) key_func: KeyFunc,
    known: Option<KnownObjects>,
    /// A lock, because a caller may set the transformer until the queue is in use. After that it is only read.
    transformer: RwLock<Option<Transformer>>,
    /// Compresses the objects that wait for the end of a list. Live events are not compressed here: handlers are
    /// notified of them first.
    compressor: Option<Arc<Compressor>>,
    /// Whether the current list may belong to another history than the store, so that equal versions do not prove equal
    /// states. Relaxed: the one task that lists sets and reads it.
    may_be_unrelated: AtomicBool,
}

impl Preprocessor {
    /// Creates the preparation for a queue that feeds the store `known`.
    pub(super) fn new(known: Option<KnownObjects>, options: QueueOptions) -> Self {
        Self {
            key_func: options.key_func,
            known,
            transformer: RwLock::new(options.transformer),
            compressor: options.compressor,
            may_be_unrelated: AtomicBool::new(false),
        }
    }

    /// Sets whether equal versions may belong to different states, until the next call.
    pub(super) fn set_list_may_be_unrelated(&self, may_be_unrelated: bool) {
        self.may_be_unrelated.store(may_be_unrelated, Ordering::Relaxed);
    }

    /// Returns the key and the object to queue: the stored object if it has the same state, or the transformed one.
    pub(super) fn prepare(&self, object: Arc<Object>) -> Result<(Key, Arc<Object>), KeyError> {
        let key = (self.key_func)(&object)?;
        let object = match self.stored(&key, &object) {
            Some(stored) => stored,
            None => self.transform(&key, object),
        };
        Ok((key, object))
    }

    /// Prepares the objects of a complete list.
    pub(super) fn prepare_list(
        &self,
        objects: Vec<Arc<Object>>,
    ) -> Result<Vec<(Key, Arc<Object>)>, KeyError> {
        objects.into_iter().map(|object| self.prepare_listed(object)).collect()
    }

    /// Prepares an object of a complete list like [`Self::prepare`], and compresses it, because it may wait behind many
    /// others.
    fn prepare_listed(&self, object: Arc<Object>) -> Result<(Key, Arc<Object>), KeyError> {
        let (key, object) = self.prepare(object)?;
        Ok((key, self.compress(object)))
    }

    /// Prepares a deleted object like [`Self::prepare`]. The object of a tombstone was prepared when it was queued
    /// first.
    pub(super) fn prepare_deleted(&self, deleted: DeletedObject) -> Result<(Key, DeletedObject), KeyError> {
        match deleted {
            DeletedObject::Known(object) => {
                let key = (self.key_func)(&object)?;
                let object = self.transform(&key, object);
                Ok((key, DeletedObject::Known(object)))
            }
            DeletedObject::FinalStateUnknown(tombstone) => {
                Ok((tombstone.key.clone(), DeletedObject::FinalStateUnknown(tombstone)))
            }
        }
    }

    /// Returns an object of a list that is passed to `replace` later: the stored object if it has the same state, or
    /// the compressed one. With a transformer it only compresses, because `replace` could not distinguish transformed
    /// objects from others.
    pub(super) fn prepare_deferred(&self, object: Arc<Object>) -> Arc<Object> {
        if self.transformer().is_some() {
            return self.compress(object);
        }
        let stored = (self.key_func)(&object).ok().and_then(|key| self.stored(&key, &object));
        stored.unwrap_or_else(|| self.compress(object))
    }

    fn compress(&self, object: Arc<Object>) -> Arc<Object> {
        match &self.compressor {
            Some(compressor) => compressor.compress(object),
            None => object,
        }
    }

    /// Returns the key of a prepared delta.
    pub(super) fn key_of(&self, delta: &Delta) -> Option<Key> {
        delta.key(self.key_func).ok()
    }

    /// Returns every key in the store.
    pub(super) fn known_keys(&self) -> Vec<Key> {
        self.known.as_ref().map(|known| known.list_keys()).unwrap_or_default()
    }

    /// Returns the store and its keys for a resync, or `None` if the store is empty.
    pub(super) fn resync_source(&self) -> Option<(KnownObjects, Vec<Key>)> {
        let keys = self.known_keys();
        let known = self.known.clone().filter(|_| !keys.is_empty())?;
        Some((known, keys))
    }

    pub(super) fn known_object(&self, key: &str) -> Option<Arc<Object>> {
        self.known.as_ref()?.get_by_key(key)
    }

    /// Returns a tombstone for every object that a complete list no longer contains: queued objects in the given order,
    /// then objects that only the store has. A key whose newest queued change is a delete needs none.
    ///
    /// `queued` holds the newest delta of each queued key; `kept` yields the keys of the list, and is not read if no
    /// object can be missing. The caller holds the lock under which popped deltas are applied, so that neither store
    /// nor queue changes.
    pub(super) fn tombstones<'a>(
        &self,
        queued: impl Iterator<Item = (&'a Key, &'a Delta)>,
        kept: impl Iterator<Item = Key>,
        origin: Origin,
    ) -> Vec<(Key, Delta)> {
        let (mut queued, known) = (queued.peekable(), self.known_keys());
        if queued.peek().is_none() && known.is_empty() {
            return Vec::new();
        }
        let kept: HashSet<Key> = kept.collect();
        let mut seen = HashSet::new();
        let mut missing = Vec::new();
        for (key, newest) in queued {
            seen.insert(key);
            if !kept.contains(key) && !matches!(newest.change, Change::Deleted(_)) {
                missing.push((key.clone(), newest.object().cloned()));
            }
        }
        for key in known {
            if !kept.contains(&key) && !seen.contains(&key) {
                let object = self.known_object(&key);
                missing.push((key, object));
            }
        }
        let tombstone = |key: &Key, object| {
            DeletedObject::FinalStateUnknown(DeletedFinalStateUnknown { key: key.clone(), object })
        };
        missing
            .into_iter()
            .map(|(key, object)| {
                let change = Change::Deleted(tombstone(&key, object));
                (key, Delta { change, origin })
            })
            .collect()
    }

    pub(super) fn set_transformer(&self, transformer: Transformer) {
        *self.transformer.write().unwrap_or_else(PoisonError::into_inner) = Some(transformer);
    }

    fn transformer(&self) -> Option<Transformer> {
        self.transformer.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the stored object if it has the same state. Versions decide in the normal case, because comparing bodies
    /// would decompress each of them. Transformed objects can be compared by version only.
    fn stored(&self, key: &str, object: &Object) -> Option<Arc<Object>> {
        let stored = self.known_object(key).filter(|stored| stored.same_state(object))?;
        let is_same = !self.may_be_unrelated.load(Ordering::Relaxed)
            || self.transformer().is_some()
            || stored.same_content(object);
        is_same.then_some(stored)
    }

    fn transform(&self, key: &Key, object: Arc<Object>) -> Arc<Object> {
        let Some(transform) = self.transformer() else { return object };
        let transformed = catch_unwind(AssertUnwindSafe(|| transform(Arc::clone(&object))));
        match transformed.unwrap_or_else(|_| Err("it panicked".into())) {
            Ok(transformed) if (self.key_func)(&transformed).as_ref() == Ok(key) => transformed,
            Ok(_) => {
                tracing::warn!(%key, "the transformer changed the key of an object; the object is kept as it was");
                object
            }
            Err(error) => {
                tracing::warn!(%key, %error, "the transformer failed; the object is kept as it was");
                object
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::{Ingest, TypeMeta};
    use crate::queue::testing::cases::{Known, known};

    /// Returns an object of version 7 with `text` after its metadata.
    fn object(text: &str) -> Arc<Object> {
        let json = format!(r#"{{"metadata":{{"name":"a","resourceVersion":"7"}},{text}}}"#);
        let ingest = Ingest::of(Arc::new(TypeMeta { api_version: "v1".into(), kind: "Pod".into() }));
        Arc::new(Object::from_json(json.as_bytes(), &ingest).expect("an object"))
    }

    #[test]
    fn equal_versions_mean_equal_states_unless_the_list_may_be_unrelated() {
        let stored = object(r#""x":"<","y":1"#);
        let store: Arc<Known> = known(&[]);
        store.0.lock().expect("no panic").insert(Arc::clone(stored.key()), Arc::clone(&stored));
        let preprocessor = Preprocessor::new(Some(store), QueueOptions::default());
        // Expected results with a possibly unrelated list, and with a related one.
        for (text, taken) in [
            (r#""x":"<","y":1"#, [true, true]),
            (r#""y":1,"x":"\u003c""#, [true, true]),
            (r#""x":"<","y":2"#, [false, true]),
        ] {
            let found = [true, false].map(|may_be_unrelated| {
                preprocessor.set_list_may_be_unrelated(may_be_unrelated);
                let (_, listed) = preprocessor.prepare_listed(object(text)).expect("a key");
                [preprocessor.prepare_deferred(object(text)), listed]
                    .map(|object| Arc::ptr_eq(&object, &stored))
            });
            assert_eq!(found, taken.map(|is_stored| [is_stored; 2]), "{text}");
        }
        preprocessor.set_list_may_be_unrelated(true);
        preprocessor.set_transformer(Arc::new(Ok));
        assert!(
            Arc::ptr_eq(&preprocessor.prepare(object(r#""x":0"#)).expect("a key").1, &stored),
            "transformed objects are compared by version"
        );
    }
}
