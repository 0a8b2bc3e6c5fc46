//! A watch that goes on from a version: what the server says happened since, without a state to compare it with.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use kdelta::listwatch::{Error, Status};
use kdelta::object::{Key, Object, Origin, ResourceVersion};
use kdelta::reflector::{Reflector, ReflectorOptions, ReflectorStore};
use tokio_util::sync::CancellationToken;

use super::stream::{NoRoom, Outlet, Told, What};
use crate::session::PartSource;
use crate::view::ChangeKind;

/// What the server said happened.
pub(super) struct Event {
    pub(super) kind: ChangeKind,
    pub(super) object: Arc<Object>,
    /// The state before an update, where it was told since the version.
    pub(super) old: Option<Arc<Object>>,
}

impl Event {
    /// The bytes of the objects in it.
    pub(super) fn weight(&self) -> usize {
        self.object.weight() + self.old.as_ref().map_or(0, |old| old.weight())
    }
}

/// Runs such a watch until `stop`, or until the server does not know how to go on.
///
/// # Errors
/// What ended it; where the server can't go on from a version, with that version.
pub(super) async fn run(
    part: usize,
    source: PartSource,
    options: ReflectorOptions,
    outlet: &Outlet,
    stop: CancellationToken,
) -> Result<(), Error> {
    let sink = Sink { part, outlet: outlet.clone(), known: Mutex::default() };
    let reflector = Reflector::new(source, Arc::new(sink), options);
    let handle = reflector.handle();
    // Boxed: it is large, and is held by the task of each part.
    Box::pin(reflector.run(stop)).await.map_err(|error| stuck_at(&handle.last_sync_resource_version(), error))
}

/// The error with the version that it leads no further from, and with the way on.
fn stuck_at(version: &ResourceVersion, error: Error) -> Error {
    let worded = |problem: String, why: &str| {
        format!("{problem} ({why}): leave out --resource-version to begin with what is there now")
    };
    let said = |problem, status: Status| Status { message: worded(problem, &status.message), ..status };
    match error {
        Error::Expired(status) => {
            Error::Expired(said(format!("the server no longer knows what happened since {version}"), status))
        }
        Error::TooLargeResourceVersion(status) => {
            let problem = format!(
                "version {version} is newer than the server's, so it is of another cluster or of a time before a restore"
            );
            Error::TooLargeResourceVersion(said(problem, status))
        }
        Error::Decode(why) => {
            Error::Decode(worded(format!("what happened since {version} can't be read"), &why))
        }
        error => error,
    }
}

/// Hands on what the reflector writes.
struct Sink {
    part: usize,
    /// Bounded, and only this tells anything until it has ended: after `ready` there is room.
    outlet: Outlet,
    /// The objects that were told, in their last state. A std mutex: held for an exchange, by one task.
    known: Mutex<HashMap<Key, Arc<Object>>>,
}

impl Sink {
    fn tell(&self, kind: ChangeKind, object: Arc<Object>) -> Result<(), NoRoom> {
        let old = {
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            match kind {
                ChangeKind::Deleted => known.remove(object.key()),
                _ => known.insert(object.key().clone(), Arc::clone(&object)),
            }
        };
        let old = old.filter(|_| kind == ChangeKind::Modified);
        self.outlet.tell_now(Told::now(self.part, What::Event(Event { kind, object, old })))
    }
}

impl ReflectorStore for Sink {
    type Error = NoRoom;

    async fn ready(&self) {
        self.outlet.ready().await;
    }

    fn add(&self, object: Arc<Object>, _origin: Origin) -> Result<(), NoRoom> {
        self.tell(ChangeKind::Added, object)
    }

    fn update(&self, object: Arc<Object>, _origin: Origin) -> Result<(), NoRoom> {
        self.tell(ChangeKind::Modified, object)
    }

    fn delete(&self, object: Arc<Object>, _origin: Origin) -> Result<(), NoRoom> {
        self.tell(ChangeKind::Deleted, object)
    }

    /// Nothing is ever listed here.
    fn replace(
        &self,
        _objects: Vec<Arc<Object>>,
        _version: &ResourceVersion,
        _origin: Origin,
    ) -> Result<(), NoRoom> {
        Ok(())
    }

    fn resync(&self) -> Result<(), NoRoom> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_it_leads_no_further_from_is_named_with_the_way_on() {
        let status = |reason: &str, message: &str| Status {
            reason: reason.into(),
            message: message.into(),
            json: "{}".into(),
        };
        let old = Error::Expired(status("Expired", "too old resource version: 7 (99)"));
        let early =
            Error::TooLargeResourceVersion(status("Timeout", "Too large resource version: 7, current: 3"));
        let cases = [
            (
                old,
                "Expired",
                "the server no longer knows what happened since 7 (too old resource version: 7 (99)): leave out --resource-version to begin with what is there now",
            ),
            (
                early,
                "Timeout",
                "version 7 is newer than the server's, so it is of another cluster or of a time before a restore (Too large resource version: 7, current: 3): leave out --resource-version to begin with what is there now",
            ),
            (
                Error::Decode("malformed watch event at byte 5".into()),
                "",
                "what happened since 7 can't be read (malformed watch event at byte 5): leave out --resource-version to begin with what is there now",
            ),
            (Error::Refused("nobody listens".into()), "", "nobody listens"),
        ];
        for (error, reason, text) in cases {
            let kind = std::mem::discriminant(&error);
            let told = stuck_at(&"7".into(), error);
            assert_eq!(std::mem::discriminant(&told), kind);
            assert_eq!(told.to_string(), text);
            let status = told.status().cloned().unwrap_or_default();
            assert_eq!((status.reason.as_str(), status.json.is_empty()), (reason, reason.is_empty()));
        }
    }
}
