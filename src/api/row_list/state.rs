//! The progress of a list of rows.

use std::collections::VecDeque;
use std::sync::Arc;

use super::returned_objects::ReturnedObjects;
use super::waiting_rows::WaitingRows;
use crate::api::list_response::ListResponse;
use crate::object::Object;
use crate::wire::representation::{IncludeObject, Representation};

/// Rows without any part of their objects.
pub(super) const ROWS: Representation = Representation::Table(IncludeObject::None);

/// The source of the objects.
pub(super) enum State {
    /// Complete objects: buffered ones, then those still to arrive. Always correct.
    Complete(VecDeque<Arc<Object>>, ListResponse),
    /// Rows: buffered ones, then those still to arrive, which may fail to match.
    Rows(VecDeque<Arc<Object>>, ListResponse, ReturnedObjects),
    /// Complete objects: one that has its row already, then those still to arrive, whose rows wait.
    Objects(Option<Arc<Object>>, ListResponse, WaitingRows, ReturnedObjects),
    /// A row did not match. These objects were returned; the remainder must be requested.
    Mismatched(ReturnedObjects),
    /// The remainder is arriving, after the objects that were returned.
    Remainder(ListResponse, ReturnedObjects),
}
