//! A store that a reflector writes to directly, without a queue and handlers.

use std::sync::Arc;

use crate::object::{Object, Origin, ResourceVersion};
use crate::reflector::{MissedEvents, ReflectorStore};
use crate::store::{Cache, Store, StoreError};

/// The store follows the source, and keeps its previous state until a list is complete. Use this if only the current state
/// matters:
///
/// ```
/// # use std::sync::Arc;
/// # use kdelta::{reflector::{Reflector, ReflectorOptions}, store::{Cache, Store}, testing::{FakeSource, pod}};
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), kdelta::listwatch::Error> {
/// let source = FakeSource::new();
/// source.add(pod("shop/web"));
/// let store = Arc::new(Cache::new());
/// let version = Reflector::new(source, Arc::clone(&store), ReflectorOptions::default()).list_once().await?;
/// assert_eq!((store.list().len(), store.last_store_sync_resource_version()), (1, version));
/// # Ok(())
/// # }
/// ```
impl ReflectorStore for Cache {
    type Error = StoreError;

    async fn ready(&self) {}

    fn add(&self, object: Arc<Object>, _origin: Origin) -> Result<(), StoreError> {
        Store::add(self, object)
    }

    fn update(&self, object: Arc<Object>, _origin: Origin) -> Result<(), StoreError> {
        Store::update(self, object)
    }

    fn delete(&self, object: Arc<Object>, _origin: Origin) -> Result<(), StoreError> {
        Store::delete(self, &object)
    }

    fn list_begin(&self, _origin: Origin, _may_be_unrelated: bool) {}

    /// Returns the stored object if it has the same content, so that listing known objects allocates no second copy.
    fn list_item(&self, object: Arc<Object>, _origin: Origin) -> Option<Arc<Object>> {
        let stored = self.get(&object).ok().flatten().filter(|stored| stored.same_content(&object));
        Some(stored.unwrap_or(object))
    }

    fn flush(&self) {}

    fn replace(
        &self,
        objects: Vec<Arc<Object>>,
        version: &ResourceVersion,
        _origin: Origin,
        _missed: Option<MissedEvents>,
    ) -> Result<(), StoreError> {
        Store::replace(self, objects, version)
    }

    fn resync(&self) -> Result<(), StoreError> {
        Store::resync(self);
        Ok(())
    }

    fn bookmark(&self, version: &ResourceVersion) {
        Store::bookmark(self, version);
    }
}
