//! The words for conditions that follow from the status of an object.

use std::time::Duration;

use super::evaluation::{Evaluation, Truth};
use super::impossible::EndState;
use super::subject::Subject;
use crate::object::is_built_in_group;
use crate::query::kstatus::ObjectStatus;

/// A condition that can be named in an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Word {
    /// Current by kstatus' rules, and no pod that has finished.
    Ready,
    /// Current by kstatus' rules.
    Current,
    /// Failed by kstatus' rules, or a pod that has failed.
    Failed,
    /// A finished Job or pod without failure, or an object with the condition `Complete`.
    Complete,
    Exists,
    Gone,
}

/// The time in which the controller of a new custom resource is expected to write its first status. kstatus calls such
/// an object current at once.
const STATUS_GRACE: Duration = Duration::from_secs(10);

/// The time after which a pod that no node has room for has failed, as in kstatus, and a second for its clock.
const SCHEDULE_WINDOW: Duration = Duration::from_secs(16);

impl Word {
    /// Returns the word with this name.
    pub(super) fn of(name: &str) -> Option<Self> {
        Some(match name {
            "ready" => Self::Ready,
            "current" => Self::Current,
            "failed" => Self::Failed,
            "complete" => Self::Complete,
            "exists" => Self::Exists,
            "gone" => Self::Gone,
            _ => return None,
        })
    }

    /// Whether it reads more than the names of an object.
    pub(super) fn reads_object(self) -> bool {
        !matches!(self, Self::Exists | Self::Gone)
    }

    pub(super) fn evaluate(self, subject: &Subject<'_>) -> Evaluation {
        match self {
            Self::Gone => Evaluation::fixed(truth_of(subject.is_gone)),
            Self::Exists => Evaluation::fixed(truth_of(!subject.is_gone)),
            _ if subject.is_gone => Evaluation::fixed(Truth::Unknown),
            Self::Ready => ready(subject),
            Self::Current => current(subject),
            Self::Failed => failed(subject),
            Self::Complete => complete(subject),
        }
    }
}

fn truth_of(holds: bool) -> Truth {
    if holds { Truth::True } else { Truth::False }
}

fn ready(subject: &Subject<'_>) -> Evaluation {
    match EndState::of(subject) {
        Some(EndState::PodSucceeded | EndState::PodFailed(_)) => Evaluation::fixed(Truth::Never),
        _ => current(subject),
    }
}

fn current(subject: &Subject<'_>) -> Evaluation {
    if let Some(EndState::JobFailed(_)) = EndState::of(subject) {
        return Evaluation::fixed(Truth::Never);
    }
    match subject.status().map(|computed| computed.status) {
        Err(_) => Evaluation::fixed(Truth::Unknown),
        Ok(ObjectStatus::Current) => match end_of_grace(subject) {
            Some(end) => Evaluation { truth: Truth::False, until: Some(end) },
            None => Evaluation::fixed(Truth::True),
        },
        Ok(_) => Evaluation::fixed(Truth::False),
    }
}

/// Returns the time since the start until which a custom resource without any status counts as in progress; `None` if
/// that is past or the object is none.
pub(super) fn end_of_grace(subject: &Subject<'_>) -> Option<Duration> {
    let (group, _) = subject.group_kind();
    if is_built_in_group(group) || subject.fields().has_controller_status() {
        return None;
    }
    let since_seen = subject.first_seen + STATUS_GRACE;
    let end = match subject.fields().created() {
        // The clock of the server may be another one, so that the time since it was seen is a limit.
        Some(created) if subject.is_initial => {
            let end = created.checked_add(STATUS_GRACE).ok()?;
            subject.elapsed_at(end)?.min(since_seen)
        }
        _ => since_seen,
    };
    (subject.moment.elapsed < end).then_some(end)
}

fn failed(subject: &Subject<'_>) -> Evaluation {
    match EndState::of(subject) {
        Some(EndState::PodFailed(_) | EndState::JobFailed(_)) => return Evaluation::fixed(Truth::True),
        Some(EndState::PodSucceeded | EndState::JobComplete) => return Evaluation::fixed(Truth::Never),
        None => {}
    }
    match subject.status().map(|computed| computed.status) {
        Err(_) => Evaluation::fixed(Truth::Unknown),
        Ok(status) => {
            let is_scheduled_late = subject.group_kind() == ("", "Pod") && status == ObjectStatus::InProgress;
            let end =
                subject.fields().created().and_then(|created| created.checked_add(SCHEDULE_WINDOW).ok());
            let until = end.filter(|_| is_scheduled_late).and_then(|end| subject.elapsed_at(end));
            Evaluation { truth: truth_of(status == ObjectStatus::Failed), until }
        }
    }
}

fn complete(subject: &Subject<'_>) -> Evaluation {
    Evaluation::fixed(match EndState::of(subject) {
        Some(EndState::PodSucceeded | EndState::JobComplete) => Truth::True,
        Some(EndState::PodFailed(_) | EndState::JobFailed(_)) => Truth::Never,
        None => truth_of(subject.fields().true_condition("Complete").is_some()),
    })
}
