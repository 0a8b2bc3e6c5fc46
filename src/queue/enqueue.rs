//! What happens to an object on its way into a queue, and what a list makes of the objects it does not hold.

use std::collections::HashSet;
use std::error::Error;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use super::{Change, Delta, KnownObjects};
use crate::object::{
    Compressor, DeletedFinalStateUnknown, DeletedObject, Key, KeyError, KeyFunc, Object, Origin,
};

/// Changes objects before they are queued, as to strip what nobody reads (client-go: `TransformFunc`).
///
/// It is called once for each state the source sends, never for a state that is already stored, and without any lock
/// held. It must keep namespace, name, uid and version. Where it fails, panics or changes the key, the object goes on
/// as it was, and that is reported as a warning. What is stored is told by its uid and version then: of a server that was
/// restored from a backup, a state whose version was given before to another one is taken for that one.
///
/// ```
/// # use std::sync::Arc;
/// # use kdelta::object::{Ingest, Object};
/// # use kdelta::queue::{DeltaFifo, DeltaFifoOptions, Item, Queue, Transformer};
/// // Pods without their spec, which nobody here reads.
/// let without_spec: Transformer = Arc::new(|object| {
///     let mut value: serde_json::Value = object.parse()?;
///     value.as_object_mut().ok_or("no object")?.remove("spec");
///     let ingest = Ingest::of(object.type_meta().clone());
///     Ok(Arc::new(Object::from_json(value.to_string().as_bytes(), &ingest)?))
/// });
/// let options = DeltaFifoOptions { transformer: Some(without_spec), ..DeltaFifoOptions::default() };
/// let queue = DeltaFifo::new(options);
/// # let source = kdelta::testing::FakeSource::new();
/// # source.add(serde_json::json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}, "spec": {"a": 1}}));
/// queue.add(source.objects().remove(0), kdelta::object::Origin::Watch)?;
/// queue.try_pop(&mut |popped| {
///     let Item::Deltas(deltas) = popped.item else { return };
///     let object = deltas[0].object().expect("a state");
///     assert!(object.parse::<serde_json::Value>().expect("JSON")["spec"].is_null());
/// })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type Transformer =
    Arc<dyn Fn(Arc<Object>) -> Result<Arc<Object>, Box<dyn Error + Send + Sync>> + Send + Sync>;

/// The door of a queue. It knows the store behind, so that a state that is already held is not held twice.
pub(super) struct Preprocessor {
    pub(super) key_func: KeyFunc,
    known: Option<KnownObjects>,
    /// A lock, because it may be set until the queue is in use; from then on it is only read.
    transformer: RwLock<Option<Transformer>>,
    /// Compresses what waits for the end of a list. A live event is not compressed here: it is told first.
    compressor: Option<Arc<Compressor>>,
    /// Whether versions may name other states than those that are known. Relaxed: one task lists and tells of it.
    may_be_unrelated: AtomicBool,
}

impl Preprocessor {
    pub(super) fn new(
        key_func: KeyFunc,
        known: Option<KnownObjects>,
        transformer: Option<Transformer>,
        compressor: Option<Arc<Compressor>>,
    ) -> Self {
        Self {
            key_func,
            known,
            transformer: RwLock::new(transformer),
            compressor,
            may_be_unrelated: AtomicBool::new(false),
        }
    }

    /// Whether equal versions say from now on that two states are equal.
    pub(super) fn set_list_may_be_unrelated(&self, may_be_unrelated: bool) {
        self.may_be_unrelated.store(may_be_unrelated, Ordering::Relaxed);
    }

    /// The object to queue and its key: the stored one where it is the same state, else the transformed one.
    pub(super) fn prepare(&self, object: Arc<Object>) -> Result<(Key, Arc<Object>), KeyError> {
        let key = (self.key_func)(&object)?;
        let object = match self.stored(&key, &object) {
            Some(stored) => stored,
            None => self.transform(&key, object),
        };
        Ok((key, object))
    }

    /// The same for an object of a list that is complete, which may wait for many others: compressed.
    pub(super) fn prepare_listed(&self, object: Arc<Object>) -> Result<(Key, Arc<Object>), KeyError> {
        let (key, object) = self.prepare(object)?;
        Ok((key, self.compress(object)))
    }

    /// The same for a delete. A tombstone carries what has been through here before.
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

    /// An object of a list that is to come back with the whole list, as the equal one that is stored, or compressed. With
    /// a transformer it stays what the source sent: nobody could tell later whether it has been through already.
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

    /// The key of a delta that has come through here.
    pub(super) fn key_of(&self, delta: &Delta) -> Option<Key> {
        delta.key(self.key_func).ok()
    }

    /// Every key the store behind holds.
    pub(super) fn known_keys(&self) -> Vec<Key> {
        self.known.as_ref().map(|known| known.list_keys()).unwrap_or_default()
    }

    /// The store and its keys, for a resync; nothing if there is nothing to deliver again.
    pub(super) fn resync_source(&self) -> Option<(KnownObjects, Vec<Key>)> {
        let keys = self.known_keys();
        let known = self.known.clone().filter(|_| !keys.is_empty())?;
        Some((known, keys))
    }

    pub(super) fn known_object(&self, key: &str) -> Option<Arc<Object>> {
        self.known.as_ref()?.get_by_key(key)
    }

    /// A tombstone for everything that a complete list shows to be gone: what is queued, in the order given, then
    /// what only the store holds. Of a key whose last queued change is a delete, everything has been said.
    ///
    /// `queued` are the newest deltas of all keys queued; `kept` the keys of the list, which are not even collected
    /// where nothing can be gone. The store and the queue must stand still: the caller holds the queue's lock, under
    /// which every popped delta is applied.
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
        let mut gone = Vec::new();
        for (key, newest) in queued {
            seen.insert(key);
            if !kept.contains(key) && !matches!(newest.change, Change::Deleted(_)) {
                gone.push((key.clone(), newest.object().cloned()));
            }
        }
        for key in known {
            if !kept.contains(&key) && !seen.contains(&key) {
                let object = self.known_object(&key);
                gone.push((key, object));
            }
        }
        let tombstone = |key: &Key, object| {
            DeletedObject::FinalStateUnknown(DeletedFinalStateUnknown { key: key.clone(), object })
        };
        gone.into_iter()
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

    /// The stored object where it is that state. What has been transformed can be told by its version only; else the
    /// version does in the ordinary course, for to compare bodies is to decompress each of them.
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
    use crate::object::{Ingest, TypeMeta, meta_namespace_key};
    use crate::queue::testing::cases::{Known, known};

    /// An object in that state, with this text behind its metadata.
    fn object(text: &str) -> Arc<Object> {
        let json = format!(r#"{{"metadata":{{"name":"a","resourceVersion":"7"}},{text}}}"#);
        let ingest = Ingest::of(Arc::new(TypeMeta { api_version: "v1".into(), kind: "Pod".into() }));
        Arc::new(Object::from_json(json.as_bytes(), &ingest).expect("an object"))
    }

    #[test]
    fn a_version_says_which_state_it_is_unless_that_is_in_doubt() {
        let stored = object(r#""x":"<","y":1"#);
        let store: Arc<Known> = known(&[]);
        store.0.lock().expect("no panic").insert(Arc::clone(stored.key()), Arc::clone(&stored));
        let preprocessor = Preprocessor::new(meta_namespace_key, Some(store), None, None);
        // With a doubt, and without.
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
            "nobody could compare"
        );
    }
}
