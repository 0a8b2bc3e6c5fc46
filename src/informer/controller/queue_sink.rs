//! An adapter that lets a reflector write to a queue.

use std::sync::Arc;

use crate::object::{DeletedObject, KeyError, Object, Origin, ResourceVersion};
use crate::queue::{Mark, Queue, room};
use crate::reflector::{MissedEvents, ReflectorStore};

/// A queue as a [`ReflectorStore`]. Listed objects that are already stored are shared (see [`Queue::list_item`]), so that
/// listing known objects allocates no second copy.
pub(in crate::informer) struct QueueSink(pub(in crate::informer) Arc<dyn Queue>);

impl ReflectorStore for QueueSink {
    type Error = KeyError;

    async fn ready(&self) {
        room(&*self.0).await;
    }

    fn add(&self, object: Arc<Object>, origin: Origin) -> Result<(), KeyError> {
        self.0.add(object, origin)
    }

    fn update(&self, object: Arc<Object>, origin: Origin) -> Result<(), KeyError> {
        self.0.update(object, origin)
    }

    fn delete(&self, object: Arc<Object>, origin: Origin) -> Result<(), KeyError> {
        self.0.delete(DeletedObject::Known(object), origin)
    }

    fn list_begin(&self, origin: Origin, may_be_unrelated: bool) {
        self.0.list_begin(origin, may_be_unrelated);
    }

    fn list_item(&self, object: Arc<Object>, origin: Origin) -> Option<Arc<Object>> {
        self.0.list_item(object, origin)
    }

    fn flush(&self) {
        self.0.flush();
    }

    fn replace(
        &self,
        objects: Vec<Arc<Object>>,
        version: &ResourceVersion,
        origin: Origin,
        missed: Option<MissedEvents>,
    ) -> Result<(), KeyError> {
        if let Some(MissedEvents { after: from, lasted }) = missed {
            self.0.mark(Mark::Gap { from, to: version.clone(), lasted });
        }
        self.0.replace(objects, version, origin)
    }

    fn resync(&self) -> Result<(), KeyError> {
        self.0.resync();
        Ok(())
    }

    fn bookmark(&self, version: &ResourceVersion) {
        self.0.bookmark(version);
    }
}
