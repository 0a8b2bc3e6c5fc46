//! Object keys: `namespace/name`.

use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;

/// A store key: `namespace/name`, or `name` for a cluster-scoped object. Shared, because maps, index sets and queues
/// all hold the same object's key.
pub type Key = Arc<str>;

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

/// The stored length of namespaces that are too long for it.
const TOO_LONG: u16 = u16::MAX;

/// Returns the length of a namespace as an object stores it. The API's own limit is 63 bytes.
pub(super) fn length_of(namespace: &str) -> u16 {
    u16::try_from(namespace.len()).unwrap_or(TOO_LONG)
}

/// Returns the length of the namespace in a key, given the stored one. An absurdly long namespace ends at the first
/// slash.
pub(super) fn namespace_len(key: &str, stored: u16) -> usize {
    if stored == TOO_LONG { key.find('/').unwrap_or_default() } else { stored.into() }
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
    fn namespace_of_any_length_is_found() {
        for length in [0, 1, 63, 65_534, 65_535, 65_536, 100_000] {
            let namespace = "n".repeat(length);
            assert_eq!(namespace_len(&join(&namespace, "web"), length_of(&namespace)), length);
        }
    }

    #[test]
    fn the_key_buffer_is_cleared_between_keys() {
        for (namespace, name) in [("a", "longer"), ("", "x"), ("b", "y"), ("", ""), ("a/b", "c")] {
            let expected = ObjectName { namespace: namespace.into(), name: name.into() };
            assert_eq!(*join(namespace, name), *expected.to_string());
        }
    }
}
