//! The types of an index: `IndexFunc` (from an object to values), `Index` (from a value to keys), `Indexers` (functions
//! by name) and `Indices` (indices by name).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::object::{Key, Object, ObjectError};

/// The reason why an index function refused an object, as text for the user.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct IndexFuncError(pub String);

impl From<ObjectError> for IndexFuncError {
    fn from(error: ObjectError) -> Self {
        Self(error.to_string())
    }
}

type Visit = dyn Fn(&Object, &mut dyn FnMut(&str)) -> Result<(), IndexFuncError> + Send + Sync;

/// A function from an object to any number of values under which the index finds it. Duplicate values count once; the
/// empty text is a valid value.
///
/// An index function must be pure: it is called once for each stored state of an object, and the store keeps the
/// values. It may read any store, but must not write to a store that it indexes. A panic counts as a refusal.
///
/// ```
/// # use std::sync::Arc;
/// # use kdelta::object::{Ingest, Object, TypeMeta};
/// # fn pod(json: &str) -> Arc<Object> {
/// #     let ingest = Ingest::of(Arc::new(TypeMeta { api_version: "v1".into(), kind: "Pod".into() }));
/// #     Arc::new(Object::from_json(json.as_bytes(), &ingest).expect("an object"))
/// # }
/// use kdelta::store::{Cache, IndexFunc, Indexer, Store};
///
/// #[derive(serde::Deserialize)]
/// struct Shop { items: Vec<String> }
/// let by_item = IndexFunc::returning(|object| Ok(object.parse::<Shop>()?.items));
/// let store = Cache::with_indexers([("item".to_owned(), by_item)].into());
/// store.add(pod(r#"{"metadata":{"name":"corner"},"items":["bread","milk"]}"#))?;
/// store.add(pod(r#"{"metadata":{"name":"broken"},"items":"none"}"#))?;
/// assert_eq!(store.index_keys("item", "milk")?, ["corner".into()]);
/// assert_eq!((store.list().len(), store.index_errors("item")), (2, 1));
/// # Ok::<(), kdelta::store::StoreError>(())
/// ```
#[derive(Clone)]
pub struct IndexFunc(Arc<Visit>);

/// Index functions by name.
pub type Indexers = BTreeMap<String, IndexFunc>;

/// A copy of one index: sorted keys by sorted value. Contains only values that an object has.
pub type Index = BTreeMap<String, BTreeSet<Key>>;

/// A consistent copy of all indices of a store, by name.
///
/// ```
/// # use kdelta::store::{Cache, Store, index_funcs};
/// # use kdelta::testing::{FakeSource, pod};
/// # let source = FakeSource::new();
/// # source.add(pod("shop/web"));
/// let store = Cache::with_indexers([("namespace".to_owned(), index_funcs::namespace())].into());
/// store.replace(source.objects(), &source.version())?;
/// assert_eq!(store.indices()["namespace"]["shop"], ["shop/web".into()].into());
/// # Ok::<(), kdelta::store::StoreError>(())
/// ```
pub type Indices = BTreeMap<String, Index>;

impl IndexFunc {
    /// Creates an index function that passes each value to a visitor, so that a value needs no allocation.
    pub fn new<F>(visit: F) -> Self
    where
        F: Fn(&Object, &mut dyn FnMut(&str)) -> Result<(), IndexFuncError> + Send + Sync + 'static,
    {
        Self(Arc::new(visit))
    }

    /// Creates an index function that returns its values.
    pub fn returning<F>(values: F) -> Self
    where
        F: Fn(&Object) -> Result<Vec<String>, IndexFuncError> + Send + Sync + 'static,
    {
        Self::new(move |object, visit| {
            values(object)?.iter().for_each(|value| visit(value));
            Ok(())
        })
    }

    /// Passes each value of the object to `visit`.
    ///
    /// # Errors
    /// [`IndexFuncError`] if the function refuses the object or panics; the values visited before are invalid.
    pub fn visit(&self, object: &Object, visit: &mut dyn FnMut(&str)) -> Result<(), IndexFuncError> {
        // Unwind safe: only the visitor is shared with the function, and its result is dropped after a panic.
        catch_unwind(AssertUnwindSafe(|| (self.0)(object, visit)))
            .unwrap_or_else(|_| Err(IndexFuncError("the index function panicked".into())))
    }

    /// Returns the values of the object in the order in which the function finds them.
    ///
    /// # Errors
    /// As [`IndexFunc::visit`].
    pub fn values(&self, object: &Object) -> Result<Vec<String>, IndexFuncError> {
        let mut values = Vec::new();
        self.visit(object, &mut |value| values.push(value.to_owned()))?;
        Ok(values)
    }
}

impl fmt::Debug for IndexFunc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("IndexFunc")
    }
}
