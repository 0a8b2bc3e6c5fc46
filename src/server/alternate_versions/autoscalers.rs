//! `autoscaling/v1` autoscalers, whose only metric is CPU utilization. They omit other metrics and conditions.

use serde_json::{Value, json};

use crate::server::source::{Conversion, Kind};

/// Returns the resource, whose objects are stored in version 2.
pub(crate) fn old_autoscalers(verbs: &'static [&'static str]) -> Kind {
    Kind {
        group: "autoscaling".into(),
        version: "v1".into(),
        plural: "horizontalpodautoscalers".into(),
        singular: "horizontalpodautoscaler".into(),
        kind: "HorizontalPodAutoscaler".into(),
        namespaced: true,
        short_names: vec!["hpa".into()],
        categories: vec!["all".into()],
        subresources: Vec::new(),
        verbs,
        custom: None,
        conversion: Some(Conversion(convert)),
    }
}

/// Converts an object from version 2.
fn convert(scaler: &mut Value) {
    let share = |metrics: &Value, key: &str| {
        let cpu = metrics.as_array()?.iter().find(|metric| metric["resource"]["name"] == "cpu")?;
        cpu["resource"][key].get("averageUtilization").cloned()
    };
    let (target, current) =
        (share(&scaler["spec"]["metrics"], "target"), share(&scaler["status"]["currentMetrics"], "current"));
    if let Some(spec) = scaler["spec"].as_object_mut() {
        spec.retain(|key, _| ["scaleTargetRef", "minReplicas", "maxReplicas"].contains(&key.as_str()));
        spec.extend(target.map(|share| ("targetCPUUtilizationPercentage".to_owned(), share)));
    }
    let status = &scaler["status"];
    let mut old = json!({
        "currentReplicas": status["currentReplicas"].as_u64().unwrap_or(0),
        "desiredReplicas": status["desiredReplicas"].as_u64().unwrap_or(0),
    });
    for key in ["observedGeneration", "lastScaleTime"] {
        if !status[key].is_null() {
            old[key] = status[key].clone();
        }
    }
    if let Some(share) = current {
        old["currentCPUUtilizationPercentage"] = share;
    }
    scaler["status"] = old;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_autoscaler_converts_to_version_1() {
        let metric = |key: &str, share: u64| json!([{"type": "Resource", "resource": {"name": "cpu", (key): {"averageUtilization": share}}}]);
        let mut scaler = json!({
            "spec": {"minReplicas": 1, "maxReplicas": 3, "scaleTargetRef": {"name": "d"}, "metrics": metric("target", 80)},
            "status": {"currentReplicas": 2, "currentMetrics": metric("current", 59), "conditions": []},
        });
        convert(&mut scaler);
        assert_eq!(
            scaler,
            json!({
                "spec": {
                    "minReplicas": 1, "maxReplicas": 3, "scaleTargetRef": {"name": "d"},
                    "targetCPUUtilizationPercentage": 80,
                },
                "status": {"currentReplicas": 2, "desiredReplicas": 0, "currentCPUUtilizationPercentage": 59},
            })
        );
    }
}
