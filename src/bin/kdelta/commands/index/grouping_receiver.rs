//! Groups of listed objects, counted while the list arrives; no object is kept.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kdelta::object::{ApiResource, Key, Object};
use kdelta::query::Groups;

use super::member_reader::MemberReader;
use crate::commands::list_store::ListReceiver;

/// The groups of all parts. An object is known under the number of its part and its key.
pub(super) type PartGroups = Arc<Mutex<Groups<(usize, Key)>>>;

/// Adds each listed object of a part to the groups.
pub(super) struct GroupingReceiver {
    reader: Arc<MemberReader>,
    /// The number of the part.
    part: usize,
    /// The scope of the part's objects.
    scope: usize,
    resource: Arc<ApiResource>,
    /// A std mutex: held to add an object, by one task at a time.
    groups: PartGroups,
}

impl GroupingReceiver {
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

    fn add(&self, object: &Object) {
        let member = self.reader.read(self.scope, &self.resource, object);
        self.lock().set((self.part, object.key().clone()), member);
    }
}

impl ListReceiver for GroupingReceiver {
    fn begin(&self) {
        self.lock().remove_where(|(part, _)| *part == self.part);
    }

    fn listed(&self, object: Arc<Object>) {
        self.add(&object);
    }

    fn object(&self, object: Arc<Object>) {
        self.add(&object);
    }
}
