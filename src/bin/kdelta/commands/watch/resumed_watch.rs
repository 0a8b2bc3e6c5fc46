//! A watch resumed from a given version: prints the server's events since then, without a state to compare with.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use kdelta::lines::ChangeKind;
use kdelta::listwatch::{Error, Status};
use kdelta::object::{Key, Object, Origin, ResourceVersion};
use kdelta::reflector::{MissedEvents, Reflector, ReflectorOptions, ReflectorStore};
use tokio_util::sync::CancellationToken;

use super::part_event::{ChannelFull, EventSender, PartEvent, PartEventKind, ResumedEvent};
use crate::session::PartSource;

/// Runs the watch until `stop`, or until the server can't continue.
///
/// # Errors
/// The watch ends. If the server can't continue from a version, the error names it.
pub(super) async fn run(
    part: usize,
    source: PartSource,
    options: ReflectorOptions,
    sender: &EventSender,
    stop: CancellationToken,
) -> Result<(), Error> {
    let sink = EventSink { part, sender: sender.clone(), known: Mutex::default() };
    let reflector = Reflector::new(source, Arc::new(sink), options);
    let handle = reflector.handle();
    // Boxed because the future is large and every part's task holds one.
    Box::pin(reflector.run(stop))
        .await
        .map_err(|error| resume_error(&handle.last_sync_resource_version(), error))
}

/// Adds the version and the next step to an error.
fn resume_error(version: &ResourceVersion, error: Error) -> Error {
    let with_hint = |problem: String, why: &str| {
        format!("{problem} ({why}): omit --resource-version to start with the current objects")
    };
    let with_message =
        |problem, status: Status| Status { message: with_hint(problem, &status.message), ..status };
    match error {
        Error::Expired(status) => Error::Expired(with_message(
            format!("the server no longer knows what happened since {version}"),
            status,
        )),
        Error::TooLargeResourceVersion(status) => {
            let problem = format!(
                "version {version} is newer than the server's: it belongs to another cluster, or the server was restored from a backup"
            );
            Error::TooLargeResourceVersion(with_message(problem, status))
        }
        Error::Decode(why) => {
            Error::Decode(with_hint(format!("what happened since {version} can't be read"), &why))
        }
        error => error,
    }
}

/// Forwards the reflector's writes as events.
struct EventSink {
    part: usize,
    /// Bounded. Only this sink sends for the part until it ends, so there is room after `ready`.
    sender: EventSender,
    /// The last state of each object seen. A std mutex: held for an update, by one task.
    known: Mutex<HashMap<Key, Arc<Object>>>,
}

impl EventSink {
    fn send(&self, kind: ChangeKind, object: Arc<Object>) -> Result<(), ChannelFull> {
        let old = {
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            match kind {
                ChangeKind::Deleted => known.remove(object.key()),
                _ => known.insert(object.key().clone(), Arc::clone(&object)),
            }
        };
        let old = old.filter(|_| kind == ChangeKind::Modified);
        self.sender
            .try_send(PartEvent::now(self.part, PartEventKind::Resumed(ResumedEvent { kind, object, old })))
    }
}

impl ReflectorStore for EventSink {
    type Error = ChannelFull;

    async fn ready(&self) {
        self.sender.ready().await;
    }

    fn add(&self, object: Arc<Object>, _origin: Origin) -> Result<(), ChannelFull> {
        self.send(ChangeKind::Added, object)
    }

    fn update(&self, object: Arc<Object>, _origin: Origin) -> Result<(), ChannelFull> {
        self.send(ChangeKind::Modified, object)
    }

    fn delete(&self, object: Arc<Object>, _origin: Origin) -> Result<(), ChannelFull> {
        self.send(ChangeKind::Deleted, object)
    }

    fn list_begin(&self, _origin: Origin, _may_be_unrelated: bool) {}

    fn list_item(&self, object: Arc<Object>, _origin: Origin) -> Option<Arc<Object>> {
        Some(object)
    }

    fn flush(&self) {}

    /// Never called: a resumed watch does not list.
    fn replace(
        &self,
        _objects: Vec<Arc<Object>>,
        _version: &ResourceVersion,
        _origin: Origin,
        _missed: Option<MissedEvents>,
    ) -> Result<(), ChannelFull> {
        Ok(())
    }

    fn resync(&self) -> Result<(), ChannelFull> {
        Ok(())
    }

    fn bookmark(&self, _version: &ResourceVersion) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resume_error_names_version_and_next_step() {
        let status = |reason: &str, message: &str| Status {
            reason: reason.into(),
            message: message.into(),
            json: "{}".into(),
            ..Status::default()
        };
        let old = Error::Expired(status("Expired", "too old resource version: 7 (99)"));
        let early =
            Error::TooLargeResourceVersion(status("Timeout", "Too large resource version: 7, current: 3"));
        let cases = [
            (
                old,
                "Expired",
                "the server no longer knows what happened since 7 (too old resource version: 7 (99)): omit --resource-version to start with the current objects",
            ),
            (
                early,
                "Timeout",
                "version 7 is newer than the server's: it belongs to another cluster, or the server was restored from a backup (Too large resource version: 7, current: 3): omit --resource-version to start with the current objects",
            ),
            (
                Error::Decode("malformed watch event at byte 5".into()),
                "",
                "what happened since 7 can't be read (malformed watch event at byte 5): omit --resource-version to start with the current objects",
            ),
            (Error::Refused("connection refused".into()), "", "connection refused"),
        ];
        for (error, reason, text) in cases {
            let kind = std::mem::discriminant(&error);
            let error = resume_error(&"7".into(), error);
            assert_eq!(std::mem::discriminant(&error), kind);
            assert_eq!(error.to_string(), text);
            let status = error.status().cloned().unwrap_or_default();
            assert_eq!((status.reason.as_str(), status.json.is_empty()), (reason, reason.is_empty()));
        }
    }
}
