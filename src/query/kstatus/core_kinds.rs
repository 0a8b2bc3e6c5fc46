//! The rules for pods, services, claims and custom resource definitions.

use jiff::{SignedDuration, Timestamp};

use super::fields::Fields;
use super::status::{ComputedStatus, StatusError};

/// The time in which a pod may be unschedulable before that is a failure.
const SCHEDULE_WINDOW: SignedDuration = SignedDuration::from_secs(15);

/// Returns the status of a pod.
///
/// # Errors
/// The phase is unknown, or a field has the wrong type.
pub(super) fn pod(object: &Fields<'_>, now: Timestamp) -> Result<ComputedStatus, StatusError> {
    let conditions = object.conditions()?;
    let has = |kind: &str, status: &str| {
        conditions.iter().find(|condition| condition.kind == kind && condition.status == status)
    };
    match object.text_or("status.phase", "") {
        "Succeeded" => Ok(ComputedStatus::current("Pod has completed successfully")),
        "Failed" => Ok(ComputedStatus::current("Pod has completed, but not successfully")),
        "Running" if has("Ready", "True").is_some() => Ok(ComputedStatus::current("Pod is Ready")),
        "Running" => {
            let looping = object.containers_waiting("CrashLoopBackOff")?;
            Ok(if looping.is_empty() {
                ComputedStatus::in_progress("PodRunningNotReady", "Pod is running but is not Ready")
            } else {
                let message = format!("Containers in CrashLoop state: {}", looping.join(","));
                ComputedStatus::failed("ContainerCrashLooping", message)
            })
        }
        "Pending" => Ok(match has("PodScheduled", "False") {
            Some(condition) if condition.reason == "Unschedulable" => {
                if is_new(object, now) {
                    ComputedStatus::in_progress("PodNotScheduled", "Pod has not been scheduled")
                } else {
                    ComputedStatus::failed("PodUnschedulable", "Pod could not be scheduled")
                }
            }
            _ => ComputedStatus::in_progress("PodPending", "Pod is in the Pending phase"),
        }),
        "" => Ok(ComputedStatus::in_progress("PodNotObserved", "Pod phase not available")),
        phase => Err(StatusError::UnknownPhase(phase.to_owned())),
    }
}

/// Whether the scheduler still has time. A pod without a valid time of creation is old.
fn is_new(object: &Fields<'_>, now: Timestamp) -> bool {
    let created = object.text_or("metadata.creationTimestamp", "").parse::<Timestamp>();
    created.is_ok_and(|created| now.duration_since(created) < SCHEDULE_WINDOW)
}

/// Returns the status of a service.
pub(super) fn service(object: &Fields<'_>) -> ComputedStatus {
    let is_load_balancer = object.text_or("spec.type", "ClusterIP") == "LoadBalancer";
    if is_load_balancer && object.text_or("spec.clusterIP", "").is_empty() {
        ComputedStatus::in_progress("NoIPAssigned", "ClusterIP not set. Service type: LoadBalancer")
    } else {
        ComputedStatus::current("Service is ready")
    }
}

/// Returns the status of a `PersistentVolumeClaim`.
pub(super) fn claim(object: &Fields<'_>) -> ComputedStatus {
    match object.text_or("status.phase", "unknown") {
        "Bound" => ComputedStatus::current("PVC is Bound"),
        phase => ComputedStatus::in_progress("NotBound", format!("PVC is not Bound. phase: {phase}")),
    }
}

/// Returns the status of a `CustomResourceDefinition`.
///
/// # Errors
/// The conditions have the wrong type.
pub(super) fn resource_definition(object: &Fields<'_>) -> Result<ComputedStatus, StatusError> {
    for condition in object.conditions()? {
        match (condition.kind, condition.status) {
            ("Established", "True") => return Ok(ComputedStatus::current("CRD is established")),
            ("Established", "False") if condition.reason == "Installing" => {}
            ("NamesAccepted" | "Established", "False") => {
                let (reason, message) = (condition.reason.to_owned(), condition.message.to_owned());
                return Ok(ComputedStatus::failed(reason, message));
            }
            _ => {}
        }
    }
    Ok(ComputedStatus::in_progress("Installing", "Install in progress"))
}
