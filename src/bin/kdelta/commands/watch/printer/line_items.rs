//! The changes and marks of a part, made of the notifications of its informer.

use std::sync::Arc;

use jiff::Timestamp;
use kdelta::informer::Notification;
use kdelta::lines::{Change, ChangeKind, Mark, MarkKind};
use kdelta::listwatch::{Error, Status};
use kdelta::object::{DeletedObject, Object, Origin};
use kdelta::queue;

use crate::session::Part;

/// Returns the change of a notification.
///
/// # Errors
/// Returns the mark if the notification is no change.
pub(in crate::commands) fn change_of(
    part: &Part,
    received: Timestamp,
    notification: Notification,
) -> Result<Change, queue::Mark> {
    let (kind, object, old, origin, inferred) = match notification {
        Notification::Mark(mark) => return Err(mark),
        Notification::Added { object, origin, .. } => (ChangeKind::Added, object, None, origin, false),
        Notification::Updated { new, origin: Origin::Resync, .. } => {
            (ChangeKind::Sync, new, None, Origin::Resync, false)
        }
        Notification::Updated { old, new, origin } => (ChangeKind::Modified, new, Some(old), origin, false),
        Notification::Deleted { object, origin } => {
            let inferred = object.is_final_state_unknown();
            (ChangeKind::Deleted, last_state(part, &object), None, origin, inferred)
        }
    };
    let change = change(part, received, kind, object, origin);
    Ok(Change { final_state_unknown: inferred, old, ..change })
}

pub(super) fn mark(part: &Part, received: Timestamp, kind: MarkKind) -> Mark {
    let Part { context, resource, namespace, name, .. } = part.clone();
    // Named objects sync as one collection but are watched separately.
    let name = name.filter(|_| !matches!(kind, MarkKind::Synced { .. }));
    Mark { kind, resource, context, namespace, name, received }
}

/// Returns the error mark with the server's status, or one made of the error text.
pub(in crate::commands) fn error_of(error: &Error) -> MarkKind {
    let without_status = || Status { message: error.to_string(), ..Status::default() };
    MarkKind::Error(error.status().cloned().unwrap_or_else(without_status))
}

/// Returns a change of a part's object without an old state.
pub(super) fn change(
    part: &Part,
    received: Timestamp,
    kind: ChangeKind,
    object: Arc<Object>,
    origin: Origin,
) -> Change {
    Change {
        kind,
        object,
        old: None,
        origin,
        final_state_unknown: false,
        resource: Arc::clone(&part.resource),
        context: Arc::clone(&part.context),
        received,
    }
}

/// Returns the last known state of a deleted object, or an object with only its name.
fn last_state(part: &Part, deleted: &DeletedObject) -> Arc<Object> {
    if let Some(object) = deleted.object() {
        return Arc::clone(object);
    }
    let key = deleted.key();
    let (namespace, name) = key.split_once('/').unwrap_or(("", key));
    Arc::new(Object::named(part.resource.type_meta(), namespace, name))
}
