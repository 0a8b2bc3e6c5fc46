//! The statuses, and what follows from them.

use std::borrow::Cow;
use std::fmt;

/// The status of an object, named as kstatus names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ObjectStatus {
    /// The controller is working towards the desired state.
    InProgress,
    /// The controller can't reach the desired state.
    Failed,
    /// The object has reached the desired state.
    Current,
    /// The object is being deleted.
    Terminating,
    /// The object does not exist. Never computed: callers that look for an object set it.
    NotFound,
    /// The status can't be computed. Never computed either: kstatus' callers set it for a [`StatusError`].
    Unknown,
}

impl ObjectStatus {
    /// Returns the name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InProgress => "InProgress",
            Self::Failed => "Failed",
            Self::Current => "Current",
            Self::Terminating => "Terminating",
            Self::NotFound => "NotFound",
            Self::Unknown => "Unknown",
        }
    }
}

impl fmt::Display for ObjectStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// The type of a condition that kstatus defines for all kinds. Its status is always `True`; otherwise it is absent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StandardConditionType {
    /// The controller is working.
    Reconciling,
    /// The controller can't continue.
    Stalled,
}

impl StandardConditionType {
    /// Returns the name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Reconciling => "Reconciling",
            Self::Stalled => "Stalled",
        }
    }
}

/// A condition that follows from the state of an object, whether or not the object has it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StandardCondition {
    /// The type.
    pub condition_type: StandardConditionType,
    /// The reason, one word.
    pub reason: Cow<'static, str>,
    /// The explanation, which may be empty.
    pub message: Cow<'static, str>,
}

/// The computed status of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ComputedStatus {
    /// The status.
    pub status: ObjectStatus,
    /// The explanation, which may contain text of the object.
    pub message: Cow<'static, str>,
    /// The condition of an object that is in progress or has failed.
    pub condition: Option<StandardCondition>,
}

/// A reason why no status can be computed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StatusError {
    /// The object is no JSON, or is nested too deeply.
    #[error("the object can't be parsed")]
    Malformed,
    /// A field has a type that its meaning forbids.
    #[error("{path} is not {expected}")]
    FieldType {
        /// The path of the field.
        path: &'static str,
        /// The expected type, with its article.
        expected: &'static str,
    },
    /// A pod has a phase that kstatus does not know.
    #[error("unknown phase {0}")]
    UnknownPhase(String),
}

impl ComputedStatus {
    pub(super) fn current(message: impl Into<Cow<'static, str>>) -> Self {
        Self { status: ObjectStatus::Current, message: message.into(), condition: None }
    }

    pub(super) fn in_progress(
        reason: impl Into<Cow<'static, str>>,
        message: impl Into<Cow<'static, str>>,
    ) -> Self {
        let message = message.into();
        let condition = StandardCondition {
            condition_type: StandardConditionType::Reconciling,
            reason: reason.into(),
            message: message.clone(),
        };
        Self { status: ObjectStatus::InProgress, message, condition: Some(condition) }
    }

    pub(super) fn failed(
        reason: impl Into<Cow<'static, str>>,
        message: impl Into<Cow<'static, str>>,
    ) -> Self {
        let message = message.into();
        let condition = StandardCondition {
            condition_type: StandardConditionType::Stalled,
            reason: reason.into(),
            message: message.clone(),
        };
        Self { status: ObjectStatus::Failed, message, condition: Some(condition) }
    }
}
