//! The four words of an index: `IndexFunc` (object → values), `Index` (value → keys), `Indexers` (name → function)
//! and `Indices` (name → index).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::object::{Key, Object, ObjectError};

/// Why an index function refused an object, in words for the user.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct IndexFuncError(pub String);

impl From<ObjectError> for IndexFuncError {
    fn from(error: ObjectError) -> Self {
        Self(error.to_string())
    }
}

type Visit = dyn Fn(&Object, &mut dyn FnMut(&str)) -> Result<(), IndexFuncError> + Send + Sync;

/// Object → the values it is found under; none, one or many, and the same one twice does no harm. The empty text is
/// a value like any other.
///
/// An index function is pure: it runs once for each state of an object that comes into a store, and its values are
/// kept. It may read any store but write to none that it indexes. One that panics has refused the object.
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

/// The indices a store is asked to keep: name → function.
pub type Indexers = BTreeMap<String, IndexFunc>;

/// A copy of one index as it was at a moment: value → keys, both sorted. A value that no object has is not there.
pub type Index = BTreeMap<String, BTreeSet<Key>>;

/// A copy of all indices of a store as they were at one moment: name → index.
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
    /// An index function that hands each value to the visitor it is given, so that a value needs no allocation of
    /// its own.
    pub fn new<F>(visit: F) -> Self
    where
        F: Fn(&Object, &mut dyn FnMut(&str)) -> Result<(), IndexFuncError> + Send + Sync + 'static,
    {
        Self(Arc::new(visit))
    }

    /// An index function that returns its values.
    pub fn returning<F>(values: F) -> Self
    where
        F: Fn(&Object) -> Result<Vec<String>, IndexFuncError> + Send + Sync + 'static,
    {
        Self::new(move |object, visit| {
            values(object)?.iter().for_each(|value| visit(value));
            Ok(())
        })
    }

    /// Hands each value of the object to `visit`.
    ///
    /// # Errors
    /// [`IndexFuncError`] when the function refuses the object, or panics; the values visited before then mean nothing.
    pub fn visit(&self, object: &Object, visit: &mut dyn FnMut(&str)) -> Result<(), IndexFuncError> {
        // What a function leaves behind when it panics is its own; of ours there is only the visitor, which is done with.
        catch_unwind(AssertUnwindSafe(|| (self.0)(object, visit)))
            .unwrap_or_else(|_| Err(IndexFuncError("the index function panicked".into())))
    }

    /// The values of the object, in the order the function finds them.
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
