//! Objects derived from the pods of a namespace: the endpoints of its services, and the status of its disruption
//! budgets.

use std::sync::Arc;

use serde_json::{Value, json};

use super::Simulation;
use crate::demo::kinds;
use crate::demo::objects::conditions;
use crate::demo::objects::manifests::{self, Identity};
use crate::demo::store::{suffix, uuid};
use crate::demo::write::selects;
use crate::server::source::{CollectionRange, StoredObject};

impl Simulation {
    /// Updates the services and budgets of a namespace after its pods have changed.
    pub(super) fn update_services(&mut self, namespace: &str) {
        let all = |kind| self.cluster.store.now(&CollectionRange::all(kind, Some(namespace))).items;
        let (services, budgets) = (all(kinds::SERVICES), all(kinds::DISRUPTION_BUDGETS));
        if services.is_empty() && budgets.is_empty() {
            return;
        }
        let pods = all(kinds::PODS);
        for service in services {
            self.update_service(&service.value(), &pods);
        }
        for budget in budgets {
            self.update_budget(&budget, &pods);
        }
    }

    fn update_service(&mut self, service: &Value, pods: &[Arc<StoredObject>]) {
        let selector = json!({"matchLabels": service["spec"]["selector"]});
        if service["spec"]["selector"].as_object().is_none_or(serde_json::Map::is_empty) {
            return;
        }
        let (mut endpoints, mut ready, mut not_ready) = (Vec::new(), Vec::new(), Vec::new());
        for pod in pods.iter().filter(|pod| selects(&selector, &pod.json)) {
            let value = pod.value();
            let phase = value["status"]["phase"].as_str().unwrap_or_default();
            let Some(ip) =
                value["status"]["podIP"].as_str().filter(|_| !["Succeeded", "Failed"].contains(&phase))
            else {
                continue;
            };
            let is_terminating = value["metadata"]["deletionTimestamp"].is_string();
            let serving = is_ready(&value);
            let target = json!({"kind": "Pod", "namespace": pod.namespace, "name": pod.name, "uid": pod.uid});
            endpoints.push(json!({
                "addresses": [ip], "nodeName": value["spec"]["nodeName"], "targetRef": target,
                "conditions": {"ready": serving && !is_terminating, "serving": serving, "terminating": is_terminating},
            }));
            let address = json!({"ip": ip, "nodeName": value["spec"]["nodeName"], "targetRef": target});
            if serving && !is_terminating { ready.push(address) } else { not_ready.push(address) }
        }
        let ports: Vec<Value> =
            service["spec"]["ports"].as_array().into_iter().flatten().map(endpoint_port).collect();
        self.write_endpoint_slice(service, &endpoints, &ports);
        let mut subset = json!({"ports": ports});
        for (key, list) in [("addresses", ready), ("notReadyAddresses", not_ready)] {
            if !list.is_empty() {
                subset[key] = list.into();
            }
        }
        let is_empty = subset["addresses"].is_null() && subset["notReadyAddresses"].is_null();
        self.write_endpoints(service, if is_empty { Value::Null } else { json!([subset]) });
    }

    fn write_endpoint_slice(&mut self, service: &Value, endpoints: &[Value], ports: &[Value]) {
        let metadata = &service["metadata"];
        let text = |key: &str| metadata[key].as_str().unwrap_or_default();
        let (namespace, name) = (text("namespace"), text("name"));
        let slices = self.cluster.store.owned(kinds::ENDPOINT_SLICES, namespace, text("uid"));
        if let Some(slice) = slices.first() {
            return self.edit(kinds::ENDPOINT_SLICES, &slice.key(), |slice| {
                slice["endpoints"] = endpoints.into();
                slice["ports"] = ports.into();
            });
        }
        let slice_name = format!("{name}-{}", suffix(&mut self.rng));
        let (uid, created) = (uuid(&mut self.rng), self.stamp());
        let identity = Identity { namespace, name: &slice_name, uid: &uid, created: &created };
        let mut labels = metadata["labels"].clone();
        labels["kubernetes.io/service-name"] = name.into();
        labels["endpointslice.kubernetes.io/managed-by"] = "endpointslice-controller.k8s.io".into();
        let mut metadata = identity.metadata(labels);
        metadata["generateName"] = format!("{name}-").into();
        metadata["ownerReferences"] = manifests::owners("v1", "Service", service);
        self.create(
            kinds::ENDPOINT_SLICES,
            json!({"metadata": metadata, "addressType": "IPv4", "endpoints": endpoints, "ports": ports}),
        );
    }

    fn write_endpoints(&mut self, service: &Value, subsets: Value) {
        let metadata = &service["metadata"];
        let text = |key: &str| metadata[key].as_str().unwrap_or_default();
        let (namespace, name) = (text("namespace"), text("name"));
        let key = (namespace.into(), name.into());
        let set_subsets = |endpoints: &mut Value| {
            if subsets.is_null() {
                endpoints.as_object_mut().map(|endpoints| endpoints.remove("subsets"));
            } else {
                endpoints["subsets"] = subsets;
            }
        };
        if self.cluster.store.get(kinds::ENDPOINTS, namespace, name).is_some() {
            return self.edit(kinds::ENDPOINTS, &key, set_subsets);
        }
        let (uid, created) = (uuid(&mut self.rng), self.stamp());
        let identity = Identity { namespace, name, uid: &uid, created: &created };
        let mut endpoints = json!({"metadata": identity.metadata(metadata["labels"].clone())});
        set_subsets(&mut endpoints);
        self.create(kinds::ENDPOINTS, endpoints);
    }

    fn update_budget(&mut self, budget: &StoredObject, pods: &[Arc<StoredObject>]) {
        let value = budget.value();
        let spec = &value["spec"];
        let covered: Vec<Value> =
            pods.iter().filter(|pod| selects(&spec["selector"], &pod.json)).map(|pod| pod.value()).collect();
        let is_active = |pod: &&Value| pod["metadata"]["deletionTimestamp"].is_null();
        let expected = covered.iter().filter(is_active).count();
        let healthy = covered.iter().filter(is_active).filter(|pod| is_ready(pod)).count();
        let desired = match (&spec["minAvailable"], &spec["maxUnavailable"]) {
            (Value::Null, Value::Null) => 0,
            (Value::Null, max_unavailable) => {
                expected.saturating_sub(absolute_count(max_unavailable, expected))
            }
            (min_available, _) => absolute_count(min_available, expected),
        };
        let time = self.stamp();
        let allowed = healthy.saturating_sub(desired);
        self.edit(kinds::DISRUPTION_BUDGETS, &budget.key(), |budget| {
            budget["status"]["observedGeneration"] = budget["metadata"]["generation"].clone();
            let counts = [
                ("expectedPods", expected),
                ("currentHealthy", healthy),
                ("desiredHealthy", desired),
                ("disruptionsAllowed", allowed),
            ];
            for (key, count) in counts {
                budget["status"][key] = count.into();
            }
            conditions::set_condition(budget, "DisruptionAllowed", allowed > 0, &time);
            let reason = if allowed > 0 { "SufficientPods" } else { "InsufficientPods" };
            conditions::set_reason(budget, "DisruptionAllowed", (reason, ""));
        });
    }
}

fn is_ready(pod: &Value) -> bool {
    let conditions = pod["status"]["conditions"].as_array().into_iter().flatten();
    conditions.into_iter().any(|one| one["type"] == "Ready" && one["status"] == "True")
}

/// Returns a number, or a percentage of `of` rounded up.
fn absolute_count(value: &Value, of: usize) -> usize {
    let percent = value.as_str().and_then(|text| text.strip_suffix('%')?.parse::<usize>().ok());
    match percent {
        Some(percent) => (of * percent).div_ceil(100),
        None => value.as_u64().and_then(|number| usize::try_from(number).ok()).unwrap_or(0),
    }
}

/// Returns the target of a service port; named container ports are mapped to the port itself.
fn endpoint_port(port: &Value) -> Value {
    let target = port["targetPort"].as_u64().or(port["port"].as_u64()).unwrap_or(0);
    let mut endpoint_port = json!({"port": target, "protocol": port["protocol"].as_str().unwrap_or("TCP")});
    endpoint_port["name"] = port["name"].as_str().unwrap_or_default().into();
    endpoint_port
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_numbers_or_percentages() {
        for (value, expected) in
            [(json!(2), 2), (json!("50%"), 2), (json!("34%"), 2), (json!("0%"), 0), (json!("x"), 0)]
        {
            assert_eq!(absolute_count(&value, 4), expected, "{value}");
        }
    }
}
