//! The autoscaler controller. The load is random.

use std::time::Duration;

use serde_json::json;

use super::Simulation;
use super::schedule::Task;
use crate::demo::kinds;
use crate::demo::objects::conditions;
use crate::server::source::ObjectKey;

/// The interval between load samples.
const PERIOD: Duration = Duration::from_secs(15);

/// The conditions of a working autoscaler.
const CONDITIONS: [(&str, (&str, &str)); 2] = [
    ("AbleToScale", ("ReadyForNewScale", "recommended size matches current size")),
    (
        "ScalingActive",
        (
            "ValidMetricFound",
            "the HPA was able to successfully calculate a replica count from cpu resource utilization \
             (percentage of request)",
        ),
    ),
];

impl Simulation {
    /// Draws a load for an autoscaler, scales its target to the replicas that the load requires, within the bounds, and
    /// schedules the next sample.
    pub(super) fn reconcile_autoscaler(&mut self, key: &ObjectKey) {
        let Some(scaler) = self.value(kinds::AUTOSCALERS, key) else { return };
        self.tasks.set(self.now + PERIOD, Task::Autoscaler(key.clone()));
        let target = &scaler["spec"]["scaleTargetRef"];
        let kind = match target["kind"].as_str() {
            Some("Deployment") => kinds::DEPLOYMENTS,
            Some("StatefulSet") => kinds::STATEFUL_SETS,
            Some("ReplicaSet") => kinds::REPLICA_SETS,
            _ => return,
        };
        let name = target["name"].as_str().unwrap_or_default();
        let target_key = (key.0.clone(), name.into());
        let Some(object) = self.value(kind, &target_key) else { return };
        let number = |value: &serde_json::Value, default: u64| value.as_u64().unwrap_or(default);
        let current = number(&object["spec"]["replicas"], 1).max(1);
        let target_utilization =
            number(&scaler["spec"]["metrics"][0]["resource"]["target"]["averageUtilization"], 80).max(1);
        let (min, max) =
            (number(&scaler["spec"]["minReplicas"], 1), number(&scaler["spec"]["maxReplicas"], 1));
        let utilization = self.rng.u64(target_utilization / 2..=target_utilization + target_utilization / 2);
        // A deviation of up to 10% is tolerated, as in Kubernetes.
        let needs_scaling = utilization.abs_diff(target_utilization) * 10 > target_utilization;
        let desired =
            if needs_scaling { (current * utilization).div_ceil(target_utilization) } else { current };
        let desired = desired.clamp(min.min(max), max);
        let time = self.stamp();
        if desired != current {
            self.edit(kind, &target_key, |object| {
                object["spec"]["replicas"] = desired.into();
                super::disruptions::increment_generation(object);
            });
            let why = if desired > current { "above" } else { "below" };
            let message = format!(
                "New size: {desired}; reason: cpu resource utilization (percentage of request) {why} target"
            );
            self.record_event(
                "HorizontalPodAutoscaler",
                &scaler,
                "SuccessfulRescale",
                &message,
                "horizontal-pod-autoscaler",
            );
        }
        self.edit(kinds::AUTOSCALERS, key, |scaler| {
            let status = &mut scaler["status"];
            status["currentReplicas"] = current.into();
            status["desiredReplicas"] = desired.into();
            let used =
                json!({"averageUtilization": utilization, "averageValue": format!("{}m", utilization / 2)});
            status["currentMetrics"] =
                json!([{"type": "Resource", "resource": {"name": "cpu", "current": used}}]);
            if desired != current {
                status["lastScaleTime"] = time.as_str().into();
            }
            for (kind, why) in CONDITIONS {
                conditions::set_condition(scaler, kind, true, &time);
                conditions::set_reason(scaler, kind, why);
            }
        });
    }
}
