//! The functions that compute keys, and the minimal interfaces of a keyed collection of objects.

use std::sync::Arc;

use super::key::{Key, KeyError};
use super::{DeletedObject, Object};

/// The function that computes an object's key for a store.
///
/// ```
/// # use kdelta::object::{Key, KeyError, KeyFunc, Object};
/// # use kdelta::testing::{FakeSource, pod};
/// fn by_uid(object: &Object) -> Result<Key, KeyError> {
///     match object.uid().to_string() {
///         uid if uid.is_empty() => {
///             Err(KeyError::NoKey { object: object.key().to_string(), reason: "it has no uid".into() })
///         }
///         uid => Ok(uid.into()),
///     }
/// }
///
/// let key_func: KeyFunc = by_uid;
/// # let source = FakeSource::new();
/// # source.add(pod("shop/web"));
/// assert_eq!(key_func(&source.objects()[0])?, "uid-1".into());
/// # Ok::<(), KeyError>(())
/// ```
pub type KeyFunc = fn(&Object) -> Result<Key, KeyError>;

/// Returns an object's key by its metadata: `namespace/name`, or `name` without a namespace. The UID is not part of it:
/// an object that was deleted and created again has the same key.
///
/// ```
/// # use kdelta::object::meta_namespace_key;
/// # use kdelta::testing::{FakeSource, pod};
/// # let source = FakeSource::new();
/// # source.add(pod("shop/web"));
/// # let web = source.objects().remove(0);
/// assert_eq!(meta_namespace_key(&web)?, "shop/web".into());
/// # Ok::<(), kdelta::object::KeyError>(())
/// ```
///
/// # Errors
/// Never fails; the signature is that of every [`KeyFunc`].
pub fn meta_namespace_key(object: &Object) -> Result<Key, KeyError> {
    Ok(object.key().clone())
}

/// Returns the key as [`meta_namespace_key`] does, or the key in a tombstone, even if that has no object.
///
/// ```
/// # use kdelta::object::{DeletedFinalStateUnknown, DeletedObject, deletion_handling_meta_namespace_key};
/// let tombstone = DeletedFinalStateUnknown { key: "shop/web".into(), object: None };
/// let deleted = DeletedObject::FinalStateUnknown(tombstone);
/// assert_eq!(deletion_handling_meta_namespace_key(&deleted), "shop/web".into());
/// ```
#[must_use]
pub fn deletion_handling_meta_namespace_key(deleted: &DeletedObject) -> Key {
    deleted.key().clone()
}

/// A collection that lists its keys. (client-go: `KeyLister`.)
pub trait KeyLister {
    /// Returns every key, in no particular order.
    fn list_keys(&self) -> Vec<Key>;
}

/// A collection that returns objects by key. (client-go: `KeyGetter`.)
pub trait KeyGetter {
    /// Returns the object with this key, or `None`: a missing key is never an error.
    fn get_by_key(&self, key: &str) -> Option<Arc<Object>>;
}

/// The interface that a queue needs of the store behind it. (client-go: `KeyListerGetter`.)
///
/// ```
/// # use std::{collections::BTreeMap, sync::Arc};
/// # use kdelta::object::{Key, KeyGetter, KeyLister, Object};
/// # use kdelta::queue::{DeltaFifo, DeltaFifoOptions};
/// /// The known objects in a plain map.
/// struct Known(BTreeMap<Key, Arc<Object>>);
///
/// impl KeyLister for Known {
///     fn list_keys(&self) -> Vec<Key> {
///         self.0.keys().cloned().collect()
///     }
/// }
/// impl KeyGetter for Known {
///     fn get_by_key(&self, key: &str) -> Option<Arc<Object>> {
///         self.0.get(key).cloned()
///     }
/// }
///
/// # use kdelta::testing::{FakeSource, pod};
/// # let source = FakeSource::new();
/// # source.add(pod("shop/web"));
/// # let web = source.objects().remove(0);
/// let known = Known([("shop/web".into(), web)].into());
/// let queue = DeltaFifo::new(DeltaFifoOptions::default().known_objects(Some(Arc::new(known))));
/// # use kdelta::queue::Queue;
/// // A list without the object implies its deletion.
/// queue.replace(Vec::new(), &"7".into(), kdelta::object::Origin::Relist)?;
/// assert_eq!(queue.list_keys(), ["shop/web".into()]);
/// # Ok::<(), kdelta::object::KeyError>(())
/// ```
pub trait KeyListerGetter: KeyLister + KeyGetter + Send + Sync {}

impl<T: KeyLister + KeyGetter + Send + Sync + ?Sized> KeyListerGetter for T {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::DeletedFinalStateUnknown;

    // A3, A4
    #[test]
    fn a_tombstone_has_its_own_key() {
        let tombstone = DeletedObject::FinalStateUnknown(DeletedFinalStateUnknown {
            key: "testnamespace/testname".into(),
            object: None,
        });
        assert_eq!(&*deletion_handling_meta_namespace_key(&tombstone), "testnamespace/testname");
    }
}
