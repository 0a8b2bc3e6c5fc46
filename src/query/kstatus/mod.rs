//! The status of an object by the rules of kstatus (sigs.k8s.io/cli-utils): whether its controller has brought it to the
//! desired state, is still working on it, or has failed.

mod core_kinds;
mod fields;
mod generic;
mod status;
#[cfg(test)]
mod tests;
mod workloads;

pub use status::{ComputedStatus, ObjectStatus, StandardCondition, StandardConditionType, StatusError};

use fields::Fields;

impl ComputedStatus {
    /// Computes the status of an object from its JSON. Only the fields that the rules name are read. `now` decides how
    /// long a pod has been unschedulable.
    ///
    /// ```
    /// # use kdelta::query::{ComputedStatus, ObjectStatus};
    /// let json = br#"{"apiVersion":"v1","kind":"PersistentVolumeClaim","status":{"phase":"Pending"}}"#;
    /// let computed = ComputedStatus::of(json, jiff::Timestamp::now())?;
    /// assert_eq!(computed.status, ObjectStatus::InProgress);
    /// assert_eq!(computed.message, "PVC is not Bound. phase: Pending");
    /// # Ok::<(), kdelta::query::StatusError>(())
    /// ```
    ///
    /// # Errors
    /// [`StatusError`] where kstatus fails as well.
    pub fn of(json: &[u8], now: jiff::Timestamp) -> Result<Self, StatusError> {
        let object = Fields::parse(json)?;
        if let Some(computed) = generic::standard_properties(&object)? {
            return Ok(computed);
        }
        let (group, kind) = object.group_kind();
        match (group, kind) {
            ("", "Pod") => core_kinds::pod(&object, now),
            ("", "Service") => Ok(core_kinds::service(&object)),
            ("", "PersistentVolumeClaim") => Ok(core_kinds::claim(&object)),
            ("", "Secret" | "ConfigMap") | ("batch", "CronJob") => {
                Ok(Self::current("Resource is always ready"))
            }
            ("apps", "StatefulSet") => Ok(workloads::stateful_set(&object)),
            ("apps" | "extensions", "DaemonSet") => workloads::daemon_set(&object),
            ("apps" | "extensions", "Deployment") => workloads::deployment(&object),
            ("apps" | "extensions", "ReplicaSet") => workloads::replica_set(&object),
            ("batch", "Job") => workloads::job(&object),
            // The generic rules have checked that its controller has observed the last change.
            ("policy", "PodDisruptionBudget") => Ok(Self::current("AllowedDisruptions has been computed.")),
            ("apiextensions.k8s.io", "CustomResourceDefinition") => core_kinds::resource_definition(&object),
            _ => {
                Ok(generic::ready_condition(&object)?.unwrap_or_else(|| Self::current("Resource is current")))
            }
        }
    }
}
