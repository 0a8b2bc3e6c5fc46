//! The rules for controllers of pods.

use super::fields::Fields;
use super::generic::{missing_generation, stalled};
use super::status::{ComputedStatus, StatusError};

/// The progress deadline that means none: without one, the controller does not set the condition Progressing.
const NO_DEADLINE: i64 = i32::MAX as i64;

/// A shortfall: the reason, the word of its message, the present and the desired number.
type Shortfall = (&'static str, &'static str, i64, i64);

/// Returns the status by the first number that is below the desired one.
fn first_shortfall(shortfalls: &[Shortfall]) -> Option<ComputedStatus> {
    let (reason, word, present, desired) =
        shortfalls.iter().find(|(_, _, present, desired)| desired > present)?;
    Some(ComputedStatus::in_progress(*reason, format!("{word}: {present}/{desired}")))
}

/// Returns the status of a controller with more pods than desired.
fn extra_pods(present: i64, desired: i64) -> Option<ComputedStatus> {
    let extra = present.wrapping_sub(desired);
    (present > desired)
        .then(|| ComputedStatus::in_progress("ExtraPods", format!("Pending termination: {extra}")))
}

/// Returns the status of a `StatefulSet`.
pub(super) fn stateful_set(object: &Fields<'_>) -> ComputedStatus {
    if object.text_or("spec.updateStrategy.type", "") == "OnDelete" {
        return ComputedStatus::current("StatefulSet is using the ondelete update strategy");
    }
    let desired = object.integer_or("spec.replicas", 1);
    let replicas = object.integer_or("status.replicas", 0);
    let ready = object.integer_or("status.readyReplicas", 0);
    let current = object.integer_or("status.currentReplicas", 0);
    let updated = object.integer_or("status.updatedReplicas", 0);
    let numbers = [("LessReplicas", "Replicas", replicas, desired), ("LessReady", "Ready", ready, desired)];
    if let Some(computed) = first_shortfall(&numbers).or_else(|| extra_pods(replicas, desired)) {
        return computed;
    }
    let partition = object.integer_or("spec.updateStrategy.rollingUpdate.partition", -1);
    if partition != -1 {
        let to_update = desired.wrapping_sub(partition);
        return first_shortfall(&[("PartitionRollout", "updated", updated, to_update)]).unwrap_or_else(
            || ComputedStatus::current(format!("Partition rollout complete. updated: {updated}")),
        );
    }
    if let Some(computed) = first_shortfall(&[("LessCurrent", "current", current, desired)]) {
        return computed;
    }
    if object.text_or("status.currentRevision", "") != object.text_or("status.updateRevision", "") {
        let message = "Waiting for updated revision to match current";
        return ComputedStatus::in_progress("RevisionMismatch", message);
    }
    ComputedStatus::current(format!("All replicas scheduled as expected. Replicas: {replicas}"))
}

/// Returns the status of a `Deployment`.
pub(super) fn deployment(object: &Fields<'_>) -> Result<ComputedStatus, StatusError> {
    let mut is_progressing = object.integer_or("spec.progressDeadlineSeconds", NO_DEADLINE) == NO_DEADLINE;
    let mut is_available = false;
    for condition in object.conditions()? {
        match condition.kind {
            "Progressing" if condition.reason == "ProgressDeadlineExceeded" => {
                return Ok(stalled("Progress deadline exceeded", condition.reason, condition.message));
            }
            "Progressing" if condition.status == "True" && condition.reason == "NewReplicaSetAvailable" => {
                is_progressing = true;
            }
            "Available" if condition.status == "True" => is_available = true,
            _ => {}
        }
    }
    let desired = object.integer_or("spec.replicas", 1);
    let replicas = object.integer_or("status.replicas", 0);
    let updated = object.integer_or("status.updatedReplicas", 0);
    let ready = object.integer_or("status.readyReplicas", 0);
    let available = object.integer_or("status.availableReplicas", 0);
    let created =
        [("LessReplicas", "Replicas", replicas, desired), ("LessUpdated", "Updated", updated, desired)];
    let running =
        [("LessAvailable", "Available", available, updated), ("LessReady", "Ready", ready, desired)];
    let unfinished = first_shortfall(&created)
        .or_else(|| extra_pods(replicas, desired))
        .or_else(|| first_shortfall(&running));
    Ok(match unfinished {
        Some(computed) => computed,
        None if !is_progressing => {
            ComputedStatus::in_progress("ReplicaSetNotAvailable", "ReplicaSet not Available")
        }
        None if !is_available => {
            ComputedStatus::in_progress("DeploymentNotAvailable", "Deployment not Available")
        }
        None => ComputedStatus::current(format!("Deployment is available. Replicas: {replicas}")),
    })
}

/// Returns the status of a `ReplicaSet`.
pub(super) fn replica_set(object: &Fields<'_>) -> Result<ComputedStatus, StatusError> {
    let mut conditions = object.conditions()?.into_iter();
    if conditions.any(|condition| condition.kind == "ReplicaFailure" && condition.status == "True") {
        let message = "Replica Failure condition. Check Pods";
        return Ok(ComputedStatus::in_progress("ReplicaFailure", message));
    }
    let desired = object.integer_or("spec.replicas", 1);
    let replicas = object.integer_or("status.replicas", 0);
    let ready = object.integer_or("status.readyReplicas", 0);
    let available = object.integer_or("status.availableReplicas", 0);
    let labelled = object.integer_or("status.fullyLabeledReplicas", 0);
    let numbers = [
        ("LessLabelled", "Labelled", labelled, desired),
        ("LessAvailable", "Available", available, desired),
        ("LessReady", "Ready", ready, desired),
    ];
    Ok(first_shortfall(&numbers)
        .or_else(|| extra_pods(replicas, desired))
        .unwrap_or_else(|| ComputedStatus::current(format!("ReplicaSet is available. Replicas: {replicas}"))))
}

/// Returns the status of a `DaemonSet`.
pub(super) fn daemon_set(object: &Fields<'_>) -> Result<ComputedStatus, StatusError> {
    if let Some(computed) = missing_generation(object)? {
        return Ok(computed);
    }
    let desired = object.integer_or("status.desiredNumberScheduled", -1);
    if desired == -1 {
        let message = "Missing .status.desiredNumberScheduled";
        return Ok(ComputedStatus::in_progress("NoDesiredNumber", message));
    }
    let current = object.integer_or("status.currentNumberScheduled", 0);
    let updated = object.integer_or("status.updatedNumberScheduled", 0);
    let available = object.integer_or("status.numberAvailable", 0);
    let ready = object.integer_or("status.numberReady", 0);
    let numbers = [
        ("LessCurrent", "Current", current, desired),
        ("LessUpdated", "Updated", updated, desired),
        ("LessAvailable", "Available", available, desired),
        ("LessReady", "Ready", ready, desired),
    ];
    Ok(first_shortfall(&numbers).unwrap_or_else(|| {
        ComputedStatus::current(format!("All replicas scheduled as expected. Replicas: {desired}"))
    }))
}

/// Returns the status of a `Job`. A job is current once it has started, whether or not it has completed.
pub(super) fn job(object: &Fields<'_>) -> Result<ComputedStatus, StatusError> {
    let parallelism = object.integer_or("spec.parallelism", 1);
    let completions = object.integer_or("spec.completions", parallelism);
    let succeeded = object.integer_or("status.succeeded", 0);
    let active = object.integer_or("status.active", 0);
    let failed = object.integer_or("status.failed", 0);
    for condition in object.conditions()?.into_iter().filter(|condition| condition.status == "True") {
        match condition.kind {
            "Complete" => {
                let message = format!("Job Completed. succeeded: {succeeded}/{completions}");
                return Ok(ComputedStatus::current(message));
            }
            "Failed" => {
                let message = format!("Job Failed. failed: {failed}/{completions}");
                return Ok(ComputedStatus::failed("JobFailed", message));
            }
            _ => {}
        }
    }
    if object.text_or("status.startTime", "").is_empty() {
        return Ok(ComputedStatus::in_progress("JobNotStarted", "Job not started"));
    }
    let message = format!("Job in progress. success:{succeeded}, active: {active}, failed: {failed}");
    Ok(ComputedStatus::current(message))
}
