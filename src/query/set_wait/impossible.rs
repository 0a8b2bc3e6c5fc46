//! States from which an object does not get ready any more, and states in which waiting rarely helps.

use std::time::Duration;

use jiff::Timestamp;

use super::subject::{Moment, Subject};
use crate::object::Object;
use crate::query::kstatus::ObjectStatus;
use crate::query::wait::KubectlCondition;

/// Returns the reason why an object in this state never meets a condition of kubectl's; `None` if it may still meet it, as
/// far as the state tells. A finished pod does not get ready, a failed Job not complete, and a complete Job does not fail.
/// A pod whose owner may create another with its name may still get ready.
///
/// ```
/// # use std::sync::Arc;
/// # use kdelta::object::{Ingest, Object, TypeMeta};
/// use kdelta::query::{KubectlCondition, reason_never_met};
///
/// let ready = KubectlCondition::parse("condition=Ready")?;
/// let ingest = Ingest::of(Arc::new(TypeMeta { api_version: "v1".into(), kind: "Pod".into() }));
/// let pod = |phase: &str| {
///     let json = format!(r#"{{"metadata":{{"name":"x"}},"status":{{"phase":"{phase}"}}}}"#);
///     Object::from_json(json.as_bytes(), &ingest)
/// };
/// let reason = reason_never_met(&ready, &pod("Succeeded")?);
/// assert_eq!(reason.as_deref(), Some("the pod has finished and is not started again"));
/// assert_eq!(reason_never_met(&ready, &pod("Running")?), None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn reason_never_met(condition: &KubectlCondition, object: &Object) -> Option<String> {
    let moment = Moment { wall: Timestamp::UNIX_EPOCH, elapsed: Duration::ZERO };
    let subject = Subject::new(object, Duration::ZERO, true, moment);
    EndState::of(&subject).filter(|end| end.excludes(condition))?.final_reason(&subject)
}

/// The end of a pod or a Job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum EndState {
    PodSucceeded,
    /// A failed pod, with its reason if it has one.
    PodFailed(Option<String>),
    JobComplete,
    /// A failed Job, with the reason of its condition.
    JobFailed(Option<String>),
}

/// The reasons for which a container waits that seldom pass without a change of the pod.
const BROKEN: [&str; 5] =
    ["CrashLoopBackOff", "ErrImageNeverPull", "ErrImagePull", "ImagePullBackOff", "InvalidImageName"];

/// The kinds that leave a finished pod alone, and replace it under another name if at all. Other owners may delete it and
/// create one with the same name, as a `StatefulSet` does.
const KEEPERS: [(&str, &str); 4] = [
    ("apps/v1", "DaemonSet"),
    ("apps/v1", "ReplicaSet"),
    ("batch/v1", "Job"),
    ("v1", "ReplicationController"),
];

impl EndState {
    /// Returns the end of an object, if it has reached it and is not being deleted.
    pub(super) fn of(subject: &Subject<'_>) -> Option<Self> {
        let (group, kind) = subject.group_kind();
        let fields = subject.fields();
        if subject.is_gone || fields.is_terminating() {
            return None;
        }
        match (group, kind) {
            ("", "Pod") => match fields.phase() {
                "Succeeded" => Some(Self::PodSucceeded),
                "Failed" => Some(Self::PodFailed(fields.reason().map(str::to_owned))),
                _ => None,
            },
            ("batch", "Job") => {
                if fields.true_condition("Complete").is_some() {
                    return Some(Self::JobComplete);
                }
                let failed = fields.true_condition("Failed")?;
                Some(Self::JobFailed(failed.reason.clone().filter(|reason| !reason.is_empty())))
            }
            _ => None,
        }
    }

    /// Returns whether an object in this state no longer meets a condition of kubectl's.
    pub(super) fn excludes(&self, condition: &KubectlCondition) -> bool {
        let KubectlCondition::Status(condition) = condition else { return false };
        let is_for = |kind: &str| condition.is_for(kind, "true");
        match self {
            Self::PodSucceeded | Self::PodFailed(_) => is_for("Ready") || is_for("ContainersReady"),
            Self::JobFailed(_) => is_for("Complete"),
            Self::JobComplete => is_for("Failed"),
        }
    }

    /// Returns the reason why the object does not change any more; `None` if it may be replaced under the same name.
    pub(super) fn final_reason(&self, subject: &Subject<'_>) -> Option<String> {
        let because = |reason: &Option<String>| match reason {
            Some(reason) => format!(" ({reason})"),
            None => String::new(),
        };
        match self {
            Self::JobComplete => Some("the Job is complete".to_owned()),
            Self::JobFailed(reason) => Some(format!("the Job has failed{}", because(reason))),
            Self::PodSucceeded | Self::PodFailed(_) if may_be_replaced(subject) => None,
            Self::PodSucceeded => Some("the pod has finished and is not started again".to_owned()),
            Self::PodFailed(reason) => {
                Some(format!("the pod has failed{} and is not started again", because(reason)))
            }
        }
    }
}

/// Whether the owner of a finished pod may create another with the same name.
fn may_be_replaced(subject: &Subject<'_>) -> bool {
    subject.fields().controller().is_some_and(|owner| !KEEPERS.contains(&owner))
}

/// Returns the reason why waiting for an object rarely helps.
pub(super) fn broken_reason(subject: &Subject<'_>) -> Option<String> {
    let fields = subject.fields();
    if subject.is_gone || fields.is_terminating() {
        return None;
    }
    if let Some((container, reason)) = fields.waiting().find(|(_, reason)| BROKEN.contains(reason)) {
        return Some(format!("container {container} waits: {reason}"));
    }
    if let Some(end @ (EndState::JobFailed(_) | EndState::PodFailed(_))) = EndState::of(subject) {
        return end.final_reason(subject);
    }
    let computed = subject.status().ok()?;
    let reason = computed.condition.as_ref().map_or("", |condition| &*condition.reason);
    // A node for the pod may be added at any time.
    let is_failed = computed.status == ObjectStatus::Failed && reason != "PodUnschedulable";
    is_failed.then(|| match reason {
        "" => computed.message.to_string(),
        reason => reason.to_owned(),
    })
}
