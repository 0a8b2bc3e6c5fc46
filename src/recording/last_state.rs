//! The last recorded state of an object, against which the next change is encoded.

use std::sync::Arc;

use jiff::Timestamp;

use super::row_template::render;
use crate::object::{Column, Object};

/// The columns and the template of a row.
pub(in crate::recording) type RowTemplate = (Arc<[Column]>, Arc<[u8]>);

/// The last recorded state of an object: the base of the next one.
#[derive(Debug, Clone)]
pub(in crate::recording) struct LastState {
    /// The object. Its own row, if it has one, is not used: the row is rendered from the template.
    pub(in crate::recording) object: Arc<Object>,
    /// The version in the columns, which is the object's own in most cases.
    pub(in crate::recording) version: u64,
    pub(in crate::recording) row: Option<RowTemplate>,
}

/// The current state of an object in a writer: there are many, so that each is small.
#[derive(Debug, Clone)]
pub(in crate::recording) struct CurrentState {
    pub(in crate::recording) object: Arc<Object>,
    pub(in crate::recording) version: u64,
    /// The number of the columns, then the template, as files have them.
    pub(in crate::recording) row: Option<Arc<[u8]>>,
}

/// Returns an object with the row of a template as of a time. `None` if the template is damaged, or needs the body of an
/// object that has none.
pub(in crate::recording) fn with_row(
    object: Object,
    row: Option<&RowTemplate>,
    now: Timestamp,
) -> Option<Object> {
    match row {
        Some((columns, template)) => {
            let row = render(template, columns, &object, now)?;
            Some(object.with_row(row))
        }
        None => Some(object),
    }
}
