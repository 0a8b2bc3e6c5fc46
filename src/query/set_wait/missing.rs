//! The reasons why objects do not meet the conditions yet.

use std::sync::Arc;

use jiff::Timestamp;

use super::condition::WaitCondition;
use super::subject::Subject;
use super::words::end_of_grace;
use crate::object::{Key, human_duration};
use crate::query::kstatus::ObjectStatus;

/// The reason why an object does not meet the conditions. It may contain texts of the object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitReason {
    state: String,
    detail: Option<String>,
    /// The time since which the state lasts.
    since: Option<Timestamp>,
}

/// An object that keeps a wait from its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MissingObject<'m> {
    /// The part that has the object.
    pub part: usize,
    /// The key of the object; `None` if the object of a part for one name does not exist.
    pub key: Option<&'m Key>,
    /// The reason; `None` if it does not exist, or counts where it should not.
    pub reason: Option<&'m WaitReason>,
}

impl WaitReason {
    fn new(state: impl Into<String>) -> Self {
        Self { state: state.into(), detail: None, since: None }
    }

    /// Returns the reason why an object does not meet the conditions.
    pub(super) fn of(subject: &Subject<'_>, conditions: &[Arc<WaitCondition>]) -> Self {
        let unmet = conditions.iter().find(|condition| !condition.evaluate(subject).is_true());
        let is_about_status = unmet.is_none_or(|condition| condition.reads_status());
        let of_status = if is_about_status { status(subject) } else { None };
        of_status.unwrap_or_else(|| match unmet {
            Some(condition) if condition.is_gone() => Self::new("exists"),
            Some(condition) => Self::new(condition.problem(subject)),
            None => Self::new("is not counted"),
        })
    }

    /// Returns the text, such as `ContainersNotReady (ImagePullBackOff 2m)`.
    #[must_use]
    pub fn text(&self, now: Timestamp) -> String {
        let age = self.since.map(|since| human_duration(now.duration_since(since).as_secs()));
        let detail: Vec<&str> = [self.detail.as_deref(), age.as_deref()].into_iter().flatten().collect();
        if detail.is_empty() { self.state.clone() } else { format!("{} ({})", self.state, detail.join(" ")) }
    }
}

/// Returns the reason that follows from the status of an object; `None` if it is current.
fn status(subject: &Subject<'_>) -> Option<WaitReason> {
    if subject.fields().is_terminating() {
        return Some(WaitReason::new("Terminating"));
    }
    if subject.group_kind() == ("", "Pod")
        && let Some(reason) = pod(subject)
    {
        return Some(reason);
    }
    let computed = subject.status().ok()?;
    if computed.status == ObjectStatus::Current {
        return end_of_grace(subject).map(|_| WaitReason::new("no status yet"));
    }
    let reason = computed.condition.as_ref().map(|condition| &*condition.reason).unwrap_or_default();
    let state =
        [&*computed.message, reason, computed.status.as_str()].into_iter().find(|text| !text.is_empty());
    state.map(WaitReason::new)
}

/// Returns the reason why a pod is not ready.
fn pod(subject: &Subject<'_>) -> Option<WaitReason> {
    let fields = subject.fields();
    let of_type = |kind: &str| fields.conditions().iter().find(|condition| condition.kind == kind);
    if let phase @ ("Succeeded" | "Failed") = fields.phase() {
        return Some(WaitReason { detail: fields.reason().map(str::to_owned), ..WaitReason::new(phase) });
    }
    let waiting = fields.waiting().next().map(|(_, reason)| reason.to_owned());
    let failed = [of_type("PodScheduled"), of_type("Ready")].into_iter().flatten();
    let Some(condition) = failed.into_iter().find(|condition| condition.status != "True") else {
        // A pod without conditions is new.
        let is_new = of_type("Ready").is_none();
        let phase = if fields.phase().is_empty() { "Pending" } else { fields.phase() };
        return is_new.then(|| WaitReason { detail: waiting, ..WaitReason::new(phase) });
    };
    let state = condition.reason.as_deref().filter(|reason| !reason.is_empty()).unwrap_or("NotReady");
    Some(WaitReason { state: state.to_owned(), detail: waiting, since: condition.since() })
}
