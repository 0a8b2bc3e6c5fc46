//! The rules for each type.

use super::fields::Fields;
use super::status::{RolloutError, RolloutStatus};
use crate::object::go_quote;

/// The annotation of a deployment with its revision.
const REVISION: &str = "deployment.kubernetes.io/revision";

const ROLLING_UPDATE: &str = "RollingUpdate";

/// Returns the status of a `Deployment`.
pub(super) fn deployment(object: &Fields<'_, '_>, desired: i64) -> Result<RolloutStatus, RolloutError> {
    if desired > 0 {
        let running = revision(object)?;
        if running != desired {
            return Err(RolloutError::Revision { desired, running });
        }
    }
    if object.generation() > object.status("observedGeneration") {
        return Ok(not_observed("deployment"));
    }
    if object.reason_of_condition("Progressing") == Some("ProgressDeadlineExceeded") {
        return Err(RolloutError::ProgressDeadline(object.name().to_owned()));
    }
    let name = go_quote(object.name());
    let waiting = |reason: String| {
        Ok(RolloutStatus::pending(format!("Waiting for deployment {name} rollout to finish: {reason}...")))
    };
    let (updated, replicas, available) =
        (object.status("updatedReplicas"), object.status("replicas"), object.status("availableReplicas"));
    match object.number(&["spec", "replicas"]) {
        Some(wanted) if updated < wanted => {
            waiting(format!("{updated} out of {wanted} new replicas have been updated"))
        }
        _ if replicas > updated => {
            let old = replicas.wrapping_sub(updated);
            waiting(format!("{old} old replicas are pending termination"))
        }
        _ if available < updated => {
            waiting(format!("{available} of {updated} updated replicas are available"))
        }
        _ => Ok(RolloutStatus::done(format!("deployment {name} successfully rolled out"))),
    }
}

/// Returns the revision of a deployment; 0 if it has none.
fn revision(object: &Fields<'_, '_>) -> Result<i64, RolloutError> {
    if object.value(&["metadata", "annotations", REVISION]).is_none() {
        return Ok(0);
    }
    let text = object.text(&["metadata", "annotations", REVISION]);
    text.parse().map_err(|error| RolloutError::MalformedRevision {
        name: object.name().to_owned(),
        text: text.to_owned(),
        error,
    })
}

/// Returns the status of a `DaemonSet`.
pub(super) fn daemon_set(object: &Fields<'_, '_>) -> Result<RolloutStatus, RolloutError> {
    check_strategy(object)?;
    if object.generation() > object.status("observedGeneration") {
        return Ok(not_observed("daemon set"));
    }
    let name = go_quote(object.name());
    let waiting = |reason: String| {
        Ok(RolloutStatus::pending(format!("Waiting for daemon set {name} rollout to finish: {reason}...")))
    };
    let (desired, updated, available) = (
        object.status("desiredNumberScheduled"),
        object.status("updatedNumberScheduled"),
        object.status("numberAvailable"),
    );
    match () {
        () if updated < desired => waiting(format!("{updated} out of {desired} new pods have been updated")),
        () if available < desired => waiting(format!("{available} of {desired} updated pods are available")),
        () => Ok(RolloutStatus::done(format!("daemon set {name} successfully rolled out"))),
    }
}

/// Returns the status of a `StatefulSet`.
pub(super) fn stateful_set(object: &Fields<'_, '_>) -> Result<RolloutStatus, RolloutError> {
    check_strategy(object)?;
    let observed = object.status("observedGeneration");
    if observed == 0 || object.generation() > observed {
        return Ok(not_observed("statefulset"));
    }
    let wanted = object.number(&["spec", "replicas"]);
    let (ready, updated) = (object.status("readyReplicas"), object.status("updatedReplicas"));
    if let Some(missing) = wanted.filter(|wanted| ready < *wanted).map(|wanted| wanted.wrapping_sub(ready)) {
        return Ok(RolloutStatus::pending(format!("Waiting for {missing} pods to be ready...")));
    }
    if object.value(&["spec", "updateStrategy", "rollingUpdate"]).is_some() {
        let partition = object.number(&["spec", "updateStrategy", "rollingUpdate", "partition"]);
        let to_update = wanted.zip(partition).map(|(wanted, partition)| wanted.wrapping_sub(partition));
        return Ok(match to_update {
            Some(to_update) if updated < to_update => RolloutStatus::pending(format!(
                "Waiting for partitioned roll out to finish: {updated} out of {to_update} new pods have been updated..."
            )),
            _ => RolloutStatus::done(format!(
                "partitioned roll out complete: {updated} new pods have been updated..."
            )),
        });
    }
    let (current_revision, update_revision) =
        (object.text(&["status", "currentRevision"]), object.text(&["status", "updateRevision"]));
    Ok(if current_revision == update_revision {
        let current = object.status("currentReplicas");
        RolloutStatus::done(format!(
            "statefulset rolling update complete {current} pods at revision {current_revision}..."
        ))
    } else {
        RolloutStatus::pending(format!(
            "waiting for statefulset rolling update to complete {updated} pods at revision {update_revision}..."
        ))
    })
}

fn check_strategy(object: &Fields<'_, '_>) -> Result<(), RolloutError> {
    match object.text(&["spec", "updateStrategy", "type"]) {
        ROLLING_UPDATE => Ok(()),
        _ => Err(RolloutError::Strategy),
    }
}

fn not_observed(kind: &str) -> RolloutStatus {
    RolloutStatus::pending(format!("Waiting for {kind} spec update to be observed..."))
}
