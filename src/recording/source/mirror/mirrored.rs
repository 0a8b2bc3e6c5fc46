//! Mirrored objects: bodies in the form of the watch that delivers them, and templates of their rows.

use std::sync::Arc;

use jiff::Timestamp;

use crate::object::{Object, Row};
use crate::recording::last_state::RowTemplate;
use crate::recording::row_template::{render, to_template};
use crate::recording::source::stored;
use crate::server::source::{Change, Kind, KindId, ObjectKey, StoredObject, object_key};

/// An object and the template of its row. Cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct MirroredObject {
    /// The object, with the row as it was received: its ages are of that time.
    pub(super) object: Arc<Object>,
    row: Option<RowTemplate>,
}

/// A change in the log of a collection.
#[derive(Debug, Clone)]
pub(super) struct MirroredChange {
    pub(super) position: u64,
    /// The state before; `None` for a creation.
    pub(super) old: Option<MirroredObject>,
    /// The state after; for a deletion the last state.
    pub(super) new: MirroredObject,
    pub(super) deleted: bool,
}

impl MirroredObject {
    pub(super) fn new(object: Arc<Object>, received: Timestamp) -> Self {
        let row = object.row().map(|row| {
            (Arc::clone(row.columns()), Arc::from(to_template(row, &object, &object.json(), received)))
        });
        Self { object, row }
    }

    pub(super) fn version(&self) -> u64 {
        self.object.resource_version().number().unwrap_or_default()
    }

    pub(super) fn key(&self) -> ObjectKey {
        object_key(self.object.namespace(), self.object.name())
    }

    /// Returns whether the body is unknown.
    pub(super) fn is_names_only(&self) -> bool {
        self.object.json_len() == 0
    }

    /// Returns the row with ages as of a time.
    fn row(&self, now: Timestamp) -> Option<Row> {
        let (columns, template) = self.row.as_ref()?;
        render(template, columns, &self.object, now)
    }

    fn weight(&self) -> usize {
        self.object.weight() + self.row.as_ref().map_or(0, |(_, template)| template.len()) + size_of::<Self>()
    }
}

impl MirroredChange {
    pub(super) fn key(&self) -> ObjectKey {
        self.new.key()
    }

    /// Returns the bytes that the change keeps alive, at most.
    pub(super) fn weight(&self) -> usize {
        self.new.weight() + self.old.as_ref().map_or(0, MirroredObject::weight)
    }

    /// Returns the change in the form that the server stores.
    pub(super) fn stored(&self, id: KindId, kind: &Kind, now: Timestamp) -> Option<Change> {
        let one =
            |object: &MirroredObject| stored_objects(kind, std::slice::from_ref(object), true, now).pop();
        let old = self.old.as_ref().and_then(one);
        let mut new = one(&self.new)?;
        // A deletion that was found by a list has the version of the last state. Clients continue after the last
        // version that they receive.
        if self.deleted && new.version < self.position {
            let mut deletion = new.at(kind, self.position);
            deletion.row.clone_from(&new.row);
            new = Arc::new(deletion);
        }
        Some(Change { version: self.position, kind: id, old, new, deleted: self.deleted })
    }
}

/// Returns objects in the form that the server stores, with rows whose ages are of this time. Without `has_json`,
/// those with rows lack their bodies.
pub(super) fn stored_objects(
    kind: &Kind,
    objects: &[MirroredObject],
    has_json: bool,
    now: Timestamp,
) -> Vec<Arc<StoredObject>> {
    let with_row = |object: &MirroredObject| Some((Arc::clone(&object.object), Some(object.row(now)?)));
    match objects.iter().map(with_row).collect() {
        Some(objects) => stored::with_rows(kind, objects, has_json),
        // The rows of objects themselves have the ages of the time at which they were received.
        None => stored::without_rows(kind, objects.iter().map(|object| Arc::clone(&object.object))),
    }
}
