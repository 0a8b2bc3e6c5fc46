//! Rows that wait for their objects.

use std::collections::HashMap;
use std::sync::Arc;

use crate::object::{Object, Row};

/// Rows by the name of their object, which occurs once.
#[derive(Default)]
pub(super) struct WaitingRows(HashMap<Box<str>, Row>);

impl WaitingRows {
    /// Adds a row. Returns whether it is the first one of this name.
    pub(super) fn insert(&mut self, name: &str, row: Row) -> bool {
        self.0.insert(name.into(), row).is_none()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds its row to an object. Returns `None` if no row waits for it.
    pub(super) fn join(&mut self, object: Arc<Object>) -> Option<Arc<Object>> {
        let row = self.0.remove(object.name())?;
        // Decoded a moment ago and not shared yet.
        Arc::into_inner(object).map(|object| Arc::new(object.with_row(row)))
    }
}
