//! The rules for all kinds: deletion, the observed generation, and the conditions Reconciling, Stalled and Ready.

use super::fields::Fields;
use super::status::{ComputedStatus, ObjectStatus, StandardCondition, StandardConditionType, StatusError};

/// Returns the status if it follows from the metadata or from a standard condition, for any kind.
pub(super) fn standard_properties(object: &Fields<'_>) -> Result<Option<ComputedStatus>, StatusError> {
    if object.text("metadata.deletionTimestamp")?.is_some_and(|time| !time.is_empty()) {
        return Ok(Some(ComputedStatus {
            status: ObjectStatus::Terminating,
            message: "Resource scheduled for deletion".into(),
            condition: None,
        }));
    }
    if let Some(computed) = unobserved_generation(object)? {
        return Ok(Some(computed));
    }
    for condition in object.conditions()?.into_iter().filter(|condition| condition.status == "True") {
        let (reason, message) = (condition.reason.to_owned(), condition.message.to_owned());
        if condition.kind == StandardConditionType::Reconciling.as_str() {
            return Ok(Some(ComputedStatus::in_progress(reason, message)));
        }
        if condition.kind == StandardConditionType::Stalled.as_str() {
            return Ok(Some(ComputedStatus::failed(reason, message)));
        }
    }
    Ok(None)
}

fn unobserved_generation(object: &Fields<'_>) -> Result<Option<ComputedStatus>, StatusError> {
    let Some(generation) = object.integer("metadata.generation")? else { return Ok(None) };
    let Some(observed) = object.integer("status.observedGeneration")? else { return Ok(None) };
    Ok((observed != generation).then(|| {
        let kind = object.kind();
        let message =
            format!("{kind} generation is {generation}, but latest observed generation is {observed}");
        ComputedStatus::in_progress("LatestGenerationNotObserved", message)
    }))
}

/// Returns the status of an object without either generation. The controllers of some kinds always set both, so that
/// such an object has not been seen yet.
pub(super) fn missing_generation(object: &Fields<'_>) -> Result<Option<ComputedStatus>, StatusError> {
    let (reason, path) = if object.integer("metadata.generation")?.is_none() {
        ("NoGeneration", "metadata.generation")
    } else if object.integer("status.observedGeneration")?.is_none() {
        ("NoObservedGeneration", "status.observedGeneration")
    } else {
        return Ok(None);
    };
    Ok(Some(ComputedStatus::in_progress(reason, format!("{} {path} not found", object.kind()))))
}

/// Returns the status by the condition Ready, if there is any. An unknown value counts as progress.
pub(super) fn ready_condition(object: &Fields<'_>) -> Result<Option<ComputedStatus>, StatusError> {
    for condition in object.conditions()?.into_iter().filter(|condition| condition.kind == "Ready") {
        match condition.status {
            "True" => return Ok(Some(ComputedStatus::current("Resource is Ready"))),
            "False" | "Unknown" => {
                let (reason, message) = (condition.reason.to_owned(), condition.message.to_owned());
                return Ok(Some(ComputedStatus::in_progress(reason, message)));
            }
            _ => {}
        }
    }
    Ok(None)
}

/// Returns the status of an object that has failed with this message, with the texts of one of its conditions.
pub(super) fn stalled(message: &'static str, reason: &str, explanation: &str) -> ComputedStatus {
    let condition = StandardCondition {
        condition_type: StandardConditionType::Stalled,
        reason: reason.to_owned().into(),
        message: explanation.to_owned().into(),
    };
    ComputedStatus { status: ObjectStatus::Failed, message: message.into(), condition: Some(condition) }
}
