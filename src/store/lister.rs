//! Label selector queries of a store, with the namespace index where a namespace is given.

use std::sync::Arc;

use super::index_funcs::NAMESPACE_INDEX;
use super::{Indexer, Store};
use crate::object::{LabelSelector, Object};

/// Calls `f` with every stored object that matches the selector, in no particular order. Labels are read only if the
/// selector requires any.
///
/// ```
/// # use kdelta::object::LabelSelector;
/// # use kdelta::store::{Cache, Store, list_all};
/// # use kdelta::testing::{FakeSource, pod};
/// # let source = FakeSource::new();
/// # source.add(pod("shop/web"));
/// # let web = source.objects().remove(0);
/// let store = Cache::new();
/// store.add(web)?;
/// let mut keys = Vec::new();
/// list_all(&store, &LabelSelector::default(), |object| keys.push(object.key().clone()));
/// assert_eq!(keys, ["shop/web".into()]);
/// # Ok::<(), kdelta::store::StoreError>(())
/// ```
pub fn list_all<S: Store + ?Sized>(store: &S, selector: &LabelSelector, f: impl FnMut(Arc<Object>)) {
    if !selector.is_nothing() {
        visit_selected(store.list(), selector, f);
    }
}

/// Same as [`list_all`] for the objects of one namespace; an empty namespace means all. Without a namespace index, the
/// function scans the store and logs a `tracing` warning.
///
/// ```
/// # use kdelta::object::LabelSelector;
/// # use kdelta::store::{Cache, Store, index_funcs, list_all_by_namespace};
/// # use kdelta::testing::{FakeSource, pod};
/// # let source = FakeSource::new();
/// # source.add(pod("shop/web"));
/// # let web = source.objects().remove(0);
/// let store = Cache::with_indexers([(index_funcs::NAMESPACE_INDEX.to_owned(), index_funcs::namespace())].into());
/// store.add(web)?;
/// let count = |namespace| {
///     let mut count = 0;
///     list_all_by_namespace(&store, namespace, &LabelSelector::default(), |_| count += 1);
///     count
/// };
/// assert_eq!([count("shop"), count("bank"), count("")], [1, 0, 1]);
/// # Ok::<(), kdelta::store::StoreError>(())
/// ```
pub fn list_all_by_namespace<I: Indexer + ?Sized>(
    indexer: &I,
    namespace: &str,
    selector: &LabelSelector,
    f: impl FnMut(Arc<Object>),
) {
    if selector.is_nothing() {
        return;
    }
    let objects = if namespace.is_empty() {
        indexer.list()
    } else {
        indexer.by_index(NAMESPACE_INDEX, namespace).unwrap_or_else(|error| {
            tracing::warn!(%error, "listing a namespace without an index");
            let mut objects = indexer.list();
            objects.retain(|object| object.namespace() == namespace);
            objects
        })
    };
    visit_selected(objects, selector, f);
}

fn visit_selected(objects: Vec<Arc<Object>>, selector: &LabelSelector, f: impl FnMut(Arc<Object>)) {
    objects.into_iter().filter(|object| selector.matches(object)).for_each(f);
}

/// Read access to an [`Indexer`] of one resource with keys `namespace/name` (client-go: `GenericLister`).
///
/// ```
/// # use std::sync::Arc;
/// # use kdelta::object::{Ingest, Object, TypeMeta};
/// # fn pod(json: &str) -> Arc<Object> {
/// #     let ingest = Ingest::of(Arc::new(TypeMeta { api_version: "v1".into(), kind: "Pod".into() }));
/// #     Arc::new(Object::from_json(json.as_bytes(), &ingest).expect("an object"))
/// # }
/// use kdelta::object::LabelSelector;
/// use kdelta::store::{Cache, Indexers, Lister, Store, index_funcs};
///
/// let by_namespace = (index_funcs::NAMESPACE_INDEX.to_owned(), index_funcs::namespace());
/// let store = Arc::new(Cache::with_indexers(Indexers::from([by_namespace])));
/// store.add(pod(r#"{"metadata":{"namespace":"shop","name":"web","labels":{"tier":"front"}}}"#))?;
/// let pods = Lister::new(store, "pods");
/// let front = LabelSelector::parse("tier in (front, edge), !legacy").expect("a selector");
/// assert_eq!(pods.by_namespace("shop").list(&front).len(), 1);
/// assert_eq!(pods.by_namespace("shop").get("web")?.name(), "web");
/// let missing = pods.by_namespace("bank").get("web").expect_err("it is in the other namespace");
/// assert_eq!(missing.to_string(), r#"pods "web" not found"#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Lister {
    indexer: Arc<dyn Indexer>,
    resource: Arc<str>,
}

/// The error for an object that a lister does not have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{resource} {name:?} not found")]
#[non_exhaustive]
pub struct NotFound {
    /// The resource as in the server's messages: `pods`, `deployments.apps`.
    pub resource: String,
    /// The name of the object.
    pub name: String,
}

/// A [`Lister`] of one namespace (client-go: `GenericNamespaceLister`).
#[derive(Clone)]
pub struct NamespaceLister {
    lister: Lister,
    namespace: Arc<str>,
}

impl Lister {
    /// Creates a lister of this store. `resource` is the name for [`NotFound`], as returned by
    /// [`crate::object::ApiResource::group_resource`].
    pub fn new(indexer: Arc<dyn Indexer>, resource: impl Into<Arc<str>>) -> Self {
        Self { indexer, resource: resource.into() }
    }

    /// Returns the objects of all namespaces that match the selector, in no particular order.
    #[must_use]
    pub fn list(&self, selector: &LabelSelector) -> Vec<Arc<Object>> {
        let mut objects = Vec::new();
        list_all(&*self.indexer, selector, |object| objects.push(object));
        objects
    }

    /// Returns the cluster-scoped object with this name.
    ///
    /// # Errors
    /// [`NotFound`].
    pub fn get(&self, name: &str) -> Result<Arc<Object>, NotFound> {
        self.get_by_key(name, name)
    }

    /// Returns a lister of one namespace.
    #[must_use]
    pub fn by_namespace(&self, namespace: &str) -> NamespaceLister {
        NamespaceLister { lister: self.clone(), namespace: namespace.into() }
    }

    fn get_by_key(&self, key: &str, name: &str) -> Result<Arc<Object>, NotFound> {
        let missing = || NotFound { resource: self.resource.to_string(), name: name.to_owned() };
        self.indexer.get_by_key(key).ok_or_else(missing)
    }
}

impl NamespaceLister {
    /// Returns the objects of the namespace that match the selector, in no particular order.
    #[must_use]
    pub fn list(&self, selector: &LabelSelector) -> Vec<Arc<Object>> {
        let mut objects = Vec::new();
        let indexer = &*self.lister.indexer;
        list_all_by_namespace(indexer, &self.namespace, selector, |object| objects.push(object));
        objects
    }

    /// Returns the object with this name in the namespace.
    ///
    /// # Errors
    /// [`NotFound`].
    pub fn get(&self, name: &str) -> Result<Arc<Object>, NotFound> {
        self.lister.get_by_key(&format!("{}/{name}", self.namespace), name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::fixtures::{from_json, names};
    use crate::store::{Cache, Indexers, index_funcs};

    fn filled(indexers: Indexers, count: usize) -> Cache {
        let cache = Cache::with_indexers(indexers);
        for number in 0..count {
            let namespace = ["shop", "bank"][number % 2];
            let matching = if number % 10 == 0 { "true" } else { "false" };
            let object = from_json(&serde_json::json!({
                "metadata": {"name": format!("p{number}"), "namespace": namespace, "labels": {"match": matching}},
            }));
            cache.add(object).expect("added");
        }
        cache
    }

    fn by_namespace() -> Indexers {
        [(NAMESPACE_INDEX.to_owned(), index_funcs::namespace())].into()
    }

    fn selector(text: &str) -> LabelSelector {
        LabelSelector::parse(text).expect(text)
    }

    // A17
    #[test]
    fn list_returns_the_selected_objects() {
        let store = filled(Indexers::new(), 1000);
        let count = |selector: &LabelSelector| {
            let mut count = 0;
            list_all(&store, selector, |_| count += 1);
            count
        };
        assert_eq!(count(&selector("match=true")), 100);
        assert_eq!(count(&LabelSelector::default()), 1000);
        assert_eq!(count(&selector("match=never")), 0);
        assert_eq!(count(&LabelSelector::nothing()), 0);
    }

    #[test]
    fn namespace_is_listed_with_and_without_its_index() {
        for indexers in [by_namespace(), Indexers::new()] {
            let lister = Lister::new(Arc::new(filled(indexers, 20)), "pods");
            assert_eq!(names(&lister.by_namespace("shop").list(&selector("match=true"))), ["p0", "p10"]);
            assert_eq!(lister.by_namespace("bank").list(&LabelSelector::default()).len(), 10);
            assert_eq!(lister.by_namespace("").list(&LabelSelector::default()).len(), 20);
            assert!(lister.by_namespace("none").list(&LabelSelector::default()).is_empty());
            assert!(lister.by_namespace("shop").list(&LabelSelector::nothing()).is_empty());
            assert_eq!(lister.list(&selector("match=true")).len(), 2);
        }
    }

    #[test]
    fn missing_object_is_not_found() {
        let lister = Lister::new(Arc::new(filled(by_namespace(), 2)), "pods");
        assert_eq!(lister.by_namespace("shop").get("p0").expect("an object").name(), "p0");
        let missing = lister.by_namespace("bank").get("p0").expect_err("an error");
        assert_eq!(missing.to_string(), "pods \"p0\" not found");
        assert!(matches!(lister.get("p0"), Err(NotFound { .. })));
    }
}
