//! The objects of a list, collected for sorting.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kdelta::object::Object;

use crate::commands::list_store::ListReceiver;

/// Keeps the objects of the last list in its order.
#[derive(Default)]
pub(super) struct CollectedObjects {
    /// A std mutex: held to add an object, by one task.
    objects: Mutex<Vec<Arc<Object>>>,
}

impl CollectedObjects {
    /// Returns the objects and leaves none.
    pub(super) fn take(&self) -> Vec<Arc<Object>> {
        std::mem::take(&mut self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arc<Object>>> {
        self.objects.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ListReceiver for CollectedObjects {
    fn begin(&self) {
        self.lock().clear();
    }

    fn listed(&self, object: Arc<Object>) {
        self.lock().push(object);
    }

    fn object(&self, object: Arc<Object>) {
        self.lock().push(object);
    }
}
