//! A reflector's store that passes the objects of one list on and keeps none.

use std::sync::Arc;

use kdelta::object::{Object, Origin, ResourceVersion};
use kdelta::reflector::{MissedEvents, ReflectorStore};
use kdelta::store::StoreError;

/// Receives the objects of a list.
pub(super) trait ListReceiver: Send + Sync + 'static {
    /// Called when the list starts, and when it starts again because its continue token expired.
    fn begin(&self);

    /// Receives the next object of the list. After a restart, earlier objects are received again.
    fn listed(&self, object: Arc<Object>);

    /// Receives an object of an initial state that never starts again.
    fn object(&self, object: Arc<Object>);

    /// Called at each pause of the list, at its end, and after each of its pages.
    fn flush(&self) {}
}

/// Passes the objects of a one-shot list to a receiver.
pub(super) struct ListStore<R>(pub(super) R);

impl<R: ListReceiver> ReflectorStore for ListStore<R> {
    type Error = StoreError;

    async fn ready(&self) {}

    fn list_begin(&self, _origin: Origin, _may_be_unrelated: bool) {
        self.0.begin();
    }

    fn list_item(&self, object: Arc<Object>, _origin: Origin) -> Option<Arc<Object>> {
        self.0.listed(object);
        None
    }

    fn flush(&self) {
        self.0.flush();
    }

    fn add(&self, object: Arc<Object>, _origin: Origin) -> Result<(), StoreError> {
        self.0.object(object);
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
        for object in objects {
            self.0.object(object);
        }
        Ok(())
    }

    fn resync(&self) -> Result<(), StoreError> {
        Ok(())
    }

    fn bookmark(&self, _version: &ResourceVersion) {}
}
