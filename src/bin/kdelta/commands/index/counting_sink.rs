//! Groups of listed objects, counted while the list arrives; no object is kept.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kdelta::object::{ApiResource, Key, Object, Origin, ResourceVersion};
use kdelta::query::Groups;
use kdelta::reflector::{MissedEvents, ReflectorStore};
use kdelta::store::StoreError;

use super::member_reader::MemberReader;

/// The groups of all parts. An object is known under the number of its part and its key.
pub(super) type PartGroups = Arc<Mutex<Groups<(usize, Key)>>>;

/// A store that adds each object of a part to the groups.
pub(super) struct CountingSink {
    reader: Arc<MemberReader>,
    /// The number of the part.
    part: usize,
    /// The scope of the part's objects.
    scope: usize,
    resource: Arc<ApiResource>,
    /// A std mutex: held to add an object, by one task at a time.
    groups: PartGroups,
}

impl CountingSink {
    pub(super) fn new(
        reader: Arc<MemberReader>,
        part: usize,
        scope: usize,
        resource: Arc<ApiResource>,
        groups: PartGroups,
    ) -> Self {
        Self { reader, part, scope, resource, groups }
    }

    fn lock(&self) -> MutexGuard<'_, Groups<(usize, Key)>> {
        self.groups.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, object: &Object) {
        let member = self.reader.read(self.scope, &self.resource, object);
        self.lock().set((self.part, object.key().clone()), member);
    }
}

impl ReflectorStore for CountingSink {
    type Error = StoreError;

    async fn ready(&self) {}

    /// A list whose continue token expired starts again.
    fn list_begin(&self, _origin: Origin, _may_be_unrelated: bool) {
        self.lock().remove_where(|(part, _)| *part == self.part);
    }

    fn list_item(&self, object: Arc<Object>, _origin: Origin) -> Option<Arc<Object>> {
        self.set(&object);
        None
    }

    fn flush(&self) {}

    fn add(&self, object: Arc<Object>, _origin: Origin) -> Result<(), StoreError> {
        self.set(&object);
        Ok(())
    }

    fn update(&self, object: Arc<Object>, _origin: Origin) -> Result<(), StoreError> {
        self.set(&object);
        Ok(())
    }

    fn delete(&self, object: Arc<Object>, _origin: Origin) -> Result<(), StoreError> {
        self.lock().set((self.part, object.key().clone()), None);
        Ok(())
    }

    fn replace(
        &self,
        objects: Vec<Arc<Object>>,
        _version: &ResourceVersion,
        _origin: Origin,
        _missed: Option<MissedEvents>,
    ) -> Result<(), StoreError> {
        for object in &objects {
            self.set(object);
        }
        Ok(())
    }

    fn resync(&self) -> Result<(), StoreError> {
        Ok(())
    }

    fn bookmark(&self, _version: &ResourceVersion) {}
}
