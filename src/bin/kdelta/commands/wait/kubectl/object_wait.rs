//! Waiting for one object after the other.

use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use kdelta::listwatch::{Error, WatchEvent};
use kdelta::object::{JsonValue, Object};
use kdelta::query::{ConditionTestError, KubectlCondition, reason_never_met};
use kdelta::store::Indexer;
use kdelta::watchtools::WatchToolsError;
use tokio::time::Instant;

use super::error::WaitError;
use crate::commands::format::print_failure;
use crate::commands::visit::{ObjectRequests, VisitedObject};
use crate::output::{MetObjects, PrintError};
use crate::session::Part;

/// The time for all objects.
#[derive(Debug, Clone, Copy)]
pub(super) enum Timing {
    /// Each condition is checked once.
    Once,
    Until(Instant),
}

impl Timing {
    /// Starts the time; zero checks once.
    pub(super) fn start(timeout: Duration) -> Self {
        if timeout.is_zero() { Self::Once } else { Self::Until(Instant::now() + timeout) }
    }

    pub(super) fn has_passed(self) -> bool {
        matches!(self, Self::Until(deadline) if deadline <= Instant::now())
    }
}

/// Waits for objects and prints them.
pub(super) struct ObjectWait<'a, W> {
    requests: ObjectRequests<'a>,
    conditions: &'a [KubectlCondition],
    timing: Timing,
    output: MetObjects,
    out: W,
    /// Whether any condition was not met at once, so that listed states are outdated.
    has_waited: bool,
    /// Why the output can't be written; nothing is waited for any more then.
    failure: Option<PrintError>,
}

impl<'a, W: Write> ObjectWait<'a, W> {
    pub(super) fn new(
        requests: ObjectRequests<'a>,
        conditions: &'a [KubectlCondition],
        timing: Timing,
        output: MetObjects,
        out: W,
    ) -> Self {
        Self { requests, conditions, timing, output, out, has_waited: false, failure: None }
    }

    /// Ends the output.
    ///
    /// # Errors
    /// Returns an error if the object could not be written.
    pub(super) fn end(&mut self) -> anyhow::Result<()> {
        self.failure.take().map_or(Ok(()), |failure| Err(print_failure(failure)))
    }

    /// Waits until the object has met the conditions, one after the other. It is printed each time.
    ///
    /// # Errors
    /// Returns an error if the object does not meet a condition in time, or can't be read.
    pub(super) async fn object(&mut self, visited: VisitedObject) -> anyhow::Result<()> {
        let VisitedObject { part, object, is_listed } = visited;
        let mut state = object;
        if self.failure.is_some() {
            return Ok(());
        }
        if part.name.is_none() {
            return Err(WaitError::Unnamed.into());
        }
        let mut is_outdated = is_listed && self.has_waited;
        for condition in self.conditions {
            state = match condition {
                KubectlCondition::Create => state,
                KubectlCondition::Delete => self.deleted(&part, state).await?,
                KubectlCondition::Status(_) | KubectlCondition::Value(_) => {
                    if std::mem::take(&mut is_outdated) && !self.timing.has_passed() {
                        state = self.requests.get(&part).await?;
                    }
                    self.met(&part, state, condition).await?
                }
            };
            self.print(&part, &state);
        }
        Ok(())
    }

    /// Waits until a state of the object meets the condition, and returns that state. As in kubectl, a deletion does not
    /// end the wait: the object may be created again. A state from which the condition can't be met any more does.
    async fn met(
        &mut self,
        part: &Part,
        state: Arc<Object>,
        condition: &KubectlCondition,
    ) -> anyhow::Result<Arc<Object>> {
        let deadline = match self.timing {
            Timing::Once if is_met(condition, &state)? => return Ok(state),
            Timing::Once => return Err(WaitError::NotMet(title(part)).into()),
            Timing::Until(_) if self.timing.has_passed() => {
                return Err(WaitError::TimedOut(title(part)).into());
            }
            Timing::Until(_) if is_met(condition, &state)? => return Ok(state),
            Timing::Until(deadline) => deadline,
        };
        let never_met = |reason| WaitError::NeverMet { object: title(part), reason };
        if let Some(reason) = reason_never_met(condition, &state) {
            return Err(never_met(reason).into());
        }
        self.has_waited = true;
        let mut failed: Option<anyhow::Error> = None;
        let mut test = |object: &Arc<Object>| {
            // This state was tested before.
            if object.resource_version() == state.resource_version() {
                return false;
            }
            match is_met(condition, object) {
                Ok(true) => return true,
                Ok(false) => {
                    failed = reason_never_met(condition, object).map(|reason| never_met(reason).into());
                }
                Err(error) => failed = Some(error.into()),
            }
            failed.is_some()
        };
        let ends = |event: &WatchEvent| match event {
            WatchEvent::Added(object) | WatchEvent::Modified(object) => test(object),
            WatchEvent::Deleted(_) | WatchEvent::Bookmark { .. } => false,
        };
        let mut is_gone = |store: &dyn Indexer| store.get_by_key(state.key()).is_none();
        let until = self.requests.watch_until(part, Some(&mut is_gone), ends, Some(deadline));
        match (until.await, failed) {
            (_, Some(error)) => Err(error),
            (Ok(Some(WatchEvent::Added(object) | WatchEvent::Modified(object))), None) => Ok(object),
            (Ok(_), None) => {
                Err(part.not_found().map_or_else(|| WaitError::Unnamed.into(), anyhow::Error::new))
            }
            (Err(error), None) => Err(watch_failure(part, error)),
        }
    }

    /// Waits until the object is gone, and returns its last known state. An object of that name with another UID is
    /// another object.
    async fn deleted(&mut self, part: &Part, state: Arc<Object>) -> anyhow::Result<Arc<Object>> {
        let deadline = match self.timing {
            Timing::Once => {
                return match self.requests.get(part).await {
                    Err(Error::NotFound(_)) => Ok(state),
                    Err(error) => Err(error.into()),
                    Ok(_) => Err(WaitError::NotMet(title(part)).into()),
                };
            }
            Timing::Until(_) if self.timing.has_passed() => {
                return Err(WaitError::TimedOut(title(part)).into());
            }
            Timing::Until(deadline) => deadline,
        };
        self.has_waited = true;
        let mut is_gone = |store: &dyn Indexer| {
            store.get_by_key(state.key()).is_none_or(|object| object.uid() != state.uid())
        };
        let ends = |event: &WatchEvent| matches!(event, WatchEvent::Deleted(_));
        let until = self.requests.watch_until(part, Some(&mut is_gone), ends, Some(deadline));
        match until.await {
            Ok(_) => Ok(state),
            Err(error) => Err(watch_failure(part, error)),
        }
    }

    /// Prints an object. As in kubectl, a template that does not fit it is no failure.
    fn print(&mut self, part: &Part, object: &Object) {
        match self.output.object(object, &part.resource, &mut self.out) {
            Ok(()) => {}
            Err(failure @ PrintError::Write(_)) => self.failure = Some(failure),
            Err(_) => {
                let hint = format!("the template does not fit {}", title(part));
                self.requests.reporter.messages().hint(&hint);
            }
        }
    }
}

/// Whether the state of an object meets a condition.
fn is_met(condition: &KubectlCondition, object: &Object) -> Result<bool, ConditionTestError> {
    let json = object.json();
    match condition {
        KubectlCondition::Status(condition) => condition.is_met(&JsonValue::parse(&json)),
        KubectlCondition::Value(condition) => condition.is_met(&JsonValue::parse(&json)),
        // A state exists.
        KubectlCondition::Create => Ok(true),
        KubectlCondition::Delete => Ok(false),
    }
}

/// Returns the error for a watch that ended without meeting a condition.
fn watch_failure(part: &Part, error: WatchToolsError) -> anyhow::Error {
    match error {
        WatchToolsError::Interrupted { .. } | WatchToolsError::NotSynced(None) => {
            WaitError::TimedOut(title(part)).into()
        }
        WatchToolsError::NotSynced(Some(error)) => error.into(),
        WatchToolsError::Watch { error, .. } => (*error).into(),
        error => error.into(),
    }
}

/// Returns the object as kubectl's errors name it: `pods/web`.
fn title(part: &Part) -> String {
    format!("{}/{}", part.resource.resource, part.name.as_deref().unwrap_or_default())
}
