//! The objects of a list, collected for sorting.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kdelta::object::{Object, Origin, ResourceVersion};
use kdelta::reflector::{MissedEvents, ReflectorStore};
use kdelta::store::StoreError;

/// A store that keeps the objects of the last list in its order.
#[derive(Default)]
pub(super) struct CollectingSink {
    /// A std mutex: held to add an object, by one task.
    objects: Mutex<Vec<Arc<Object>>>,
}

impl CollectingSink {
    /// Returns the objects and leaves none.
    pub(super) fn take(&self) -> Vec<Arc<Object>> {
        std::mem::take(&mut self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arc<Object>>> {
        self.objects.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ReflectorStore for CollectingSink {
    type Error = StoreError;

    async fn ready(&self) {}

    /// A list whose continue token expired starts again.
    fn list_begin(&self, _origin: Origin, _may_be_unrelated: bool) {
        self.lock().clear();
    }

    fn list_item(&self, object: Arc<Object>, _origin: Origin) -> Option<Arc<Object>> {
        self.lock().push(object);
        None
    }

    fn flush(&self) {}

    fn add(&self, object: Arc<Object>, _origin: Origin) -> Result<(), StoreError> {
        self.lock().push(object);
        Ok(())
    }

    fn update(&self, _object: Arc<Object>, _origin: Origin) -> Result<(), StoreError> {
        Ok(())
    }

    fn delete(&self, _object: Arc<Object>, _origin: Origin) -> Result<(), StoreError> {
        Ok(())
    }

    fn replace(
        &self,
        objects: Vec<Arc<Object>>,
        _version: &ResourceVersion,
        _origin: Origin,
        _missed: Option<MissedEvents>,
    ) -> Result<(), StoreError> {
        self.lock().extend(objects);
        Ok(())
    }

    fn resync(&self) -> Result<(), StoreError> {
        Ok(())
    }

    fn bookmark(&self, _version: &ResourceVersion) {}
}
