//! Object keys (`namespace/name`), and the minimal interfaces of a keyed collection of objects.

use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;

use super::{DeletedObject, Object};

/// A store key: `namespace/name`, or `name` for a cluster-scoped object. Shared, because maps, index sets and queues
/// all hold the same object's key.
pub type Key = Arc<str>;

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

/// An error from computing or parsing a key.
///
/// ```
/// # use kdelta::object::KeyError;
/// let error = KeyError::NoKey { object: "web".into(), reason: "it has no uid".into() };
/// assert_eq!(error.to_string(), "couldn't create key for object web: it has no uid");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// The key function rejected the object.
    #[error("couldn't create key for object {object}: {reason}")]
    NoKey {
        /// The object's namespace and name.
        object: String,
        /// The reason for the rejection.
        reason: String,
    },
    /// The key has more than one `/`.
    #[error("unexpected key format: {0:?}")]
    Format(String),
}

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

/// Splits a key into namespace (empty for a cluster-scoped object) and name.
///
/// ```
/// # use kdelta::object::split_meta_namespace_key;
/// assert_eq!(split_meta_namespace_key("shop/web"), Ok(("shop", "web")));
/// assert_eq!(split_meta_namespace_key("node-1"), Ok(("", "node-1")));
/// assert!(split_meta_namespace_key("a/b/c").is_err());
/// ```
///
/// # Errors
/// [`KeyError::Format`] when there is more than one `/`.
pub fn split_meta_namespace_key(key: &str) -> Result<(&str, &str), KeyError> {
    match key.split_once('/') {
        None => Ok(("", key)),
        Some((namespace, name)) if !name.contains('/') => Ok((namespace, name)),
        Some(_) => Err(KeyError::Format(key.to_owned())),
    }
}

/// A key split into namespace and name.
///
/// ```
/// use kdelta::object::{ObjectName, split_meta_namespace_key};
///
/// let name = ObjectName::parse("shop/web")?;
/// assert_eq!((name.namespace.as_str(), name.name.as_str(), name.to_string()), ("shop", "web", "shop/web".to_owned()));
/// assert_eq!(split_meta_namespace_key("node-1")?, ("", "node-1"));
/// assert!(split_meta_namespace_key("a/b/c").is_err());
/// # Ok::<(), kdelta::object::KeyError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct ObjectName {
    /// The namespace; empty for a cluster-scoped object.
    pub namespace: String,
    /// The name.
    pub name: String,
}

impl ObjectName {
    /// Parses a key.
    ///
    /// # Errors
    /// [`KeyError::Format`] when there is more than one `/`.
    pub fn parse(key: &str) -> Result<Self, KeyError> {
        let (namespace, name) = split_meta_namespace_key(key)?;
        Ok(Self { namespace: namespace.to_owned(), name: name.to_owned() })
    }
}

impl fmt::Display for ObjectName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.namespace.is_empty() {
            f.write_str(&self.name)
        } else {
            write!(f, "{}/{}", self.namespace, self.name)
        }
    }
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

/// The longest key within the API's own limits.
const LONGEST: usize = 63 + 1 + 253;

/// Joins a key: `namespace/name`, or `name`.
pub(super) fn join(namespace: &str, name: &str) -> Key {
    thread_local! {
        /// A reused buffer: an `Arc<str>` is made from one slice, and a new buffer would be a second allocation per
        /// key.
        static JOINED: RefCell<String> = const { RefCell::new(String::new()) };
    }
    if namespace.is_empty() {
        return name.into();
    }
    JOINED.with_borrow_mut(|joined| {
        joined.extend([namespace, "/", name]);
        let key = joined.as_str().into();
        joined.clear();
        joined.shrink_to(LONGEST);
        key
    })
}

/// Returns the length of a namespace as an object stores it. The API's own limit is 63 bytes; an absurdly long one
/// would have exceeded the size limit of a frame.
pub(super) fn length_of(namespace: &str) -> u32 {
    u32::try_from(namespace.len()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        // A2
        #[test]
        fn a_key_splits_unless_it_has_two_slashes(key in "[a-i/]{0,10}") {
            match ObjectName::parse(&key) {
                Err(error) => {
                    prop_assert!(key.matches('/').count() > 1);
                    prop_assert_eq!(error.to_string(), format!("unexpected key format: {key:?}"));
                }
                Ok(name) => {
                    prop_assert!(key.matches('/').count() <= 1);
                    // Only a leading slash does not survive the round trip.
                    prop_assert_eq!(name.to_string(), key.strip_prefix('/').unwrap_or(&key));
                }
            }
        }
    }

    #[test]
    fn the_key_buffer_is_cleared_between_keys() {
        for (namespace, name) in [("a", "longer"), ("", "x"), ("b", "y"), ("", ""), ("a/b", "c")] {
            let wanted = ObjectName { namespace: namespace.into(), name: name.into() };
            assert_eq!(*join(namespace, name), *wanted.to_string());
        }
    }

    // A3, A4
    #[test]
    fn a_tombstone_has_its_own_key() {
        let tombstone = DeletedObject::FinalStateUnknown(super::super::DeletedFinalStateUnknown {
            key: "testnamespace/testname".into(),
            object: None,
        });
        assert_eq!(&*deletion_handling_meta_namespace_key(&tombstone), "testnamespace/testname");
    }
}
