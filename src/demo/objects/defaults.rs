//! Defaulting of objects at creation.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::demo::clock::stamp;
use crate::demo::cluster::Cluster;
use crate::server::source::Kind;

/// The default storage class.
pub(in crate::demo) const STORAGE_CLASS: &str = "standard";

/// Fills in missing fields.
pub(in crate::demo) fn fill(cluster: &Cluster, kind: &Kind, object: &mut Value) {
    match (kind.group.as_str(), kind.plural.as_str()) {
        ("", "pods") => {
            fill_pod_spec(&mut object["spec"]);
            fill_pod(object);
        }
        ("", "namespaces") => {
            let name = object["metadata"]["name"].clone();
            object["metadata"]["labels"]["kubernetes.io/metadata.name"] = name;
            object["spec"] = json!({"finalizers": ["kubernetes"]});
            object["status"] = json!({"phase": "Active"});
        }
        ("", "secrets") => fill_secret(object),
        ("", "services") => fill_service(object),
        ("apps", "deployments") => {
            set_default(&mut object["spec"], "replicas", &json!(1));
            set_default(&mut object["spec"], "revisionHistoryLimit", &json!(10));
            set_default(&mut object["spec"], "progressDeadlineSeconds", &json!(600));
            let strategy = &mut object["spec"]["strategy"];
            set_default(strategy, "type", &json!("RollingUpdate"));
            if strategy["type"] == "RollingUpdate" {
                set_default(&mut strategy["rollingUpdate"], "maxSurge", &json!("25%"));
                set_default(&mut strategy["rollingUpdate"], "maxUnavailable", &json!("25%"));
            }
            fill_workload(object);
        }
        ("apps", "replicasets") => {
            set_default(&mut object["spec"], "replicas", &json!(1));
            fill_workload(object);
            object["status"] = json!({"replicas": 0});
        }
        ("apps", "statefulsets") => fill_stateful_set(object),
        ("apps", "daemonsets") => fill_daemon_set(object),
        ("batch", "cronjobs") => fill_cron_job(object),
        ("autoscaling", _) => fill_autoscaler(object),
        ("", "persistentvolumeclaims") => {
            fill_claim(object);
            object["status"] = json!({"phase": "Pending"});
        }
        ("", "persistentvolumes") => {
            set_default(&mut object["spec"], "persistentVolumeReclaimPolicy", &json!("Retain"));
            set_default(&mut object["spec"], "volumeMode", &json!("Filesystem"));
            if object["spec"]["hostPath"].is_object() {
                set_default(&mut object["spec"]["hostPath"], "type", &json!(""));
            }
            object["status"] = json!({"phase": "Pending"});
        }
        ("", "nodes") => {
            let taint = json!({"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"});
            set_default(&mut object["spec"], "taints", &json!([taint]));
        }
        ("", "events") => {
            for key in ["eventTime", "firstTimestamp", "lastTimestamp"] {
                set_default(object, key, &Value::Null);
            }
            set_default(object, "reportingComponent", &json!(""));
            set_default(object, "reportingInstance", &json!(""));
        }
        ("", "endpoints") => {
            for subset in each(object, "subsets") {
                fill_protocols(subset.get_mut("ports"));
            }
        }
        ("discovery.k8s.io", _) => {
            fill_protocols(object.get_mut("ports"));
            for endpoint in each(object, "endpoints") {
                set_default(endpoint, "conditions", &json!({}));
            }
        }
        ("", "resourcequotas") => object["status"] = json!({"hard": object["spec"]["hard"]}),
        ("storage.k8s.io", _) => {
            set_default(object, "reclaimPolicy", &json!("Delete"));
            set_default(object, "volumeBindingMode", &json!("Immediate"));
        }
        ("networking.k8s.io", "ingresses") => {
            object["metadata"]["generation"] = 1.into();
            object["status"] = json!({"loadBalancer": {}});
        }
        ("networking.k8s.io", "networkpolicies") => {
            object["metadata"]["generation"] = 1.into();
            let egress = object["spec"]["egress"].is_array();
            let types = if egress { json!(["Ingress", "Egress"]) } else { json!(["Ingress"]) };
            set_default(&mut object["spec"], "policyTypes", &types);
        }
        ("networking.k8s.io", _) => object["metadata"]["generation"] = 1.into(),
        ("policy", _) => {
            object["metadata"]["generation"] = 1.into();
            object["status"] =
                json!({"disruptionsAllowed": 0, "currentHealthy": 0, "desiredHealthy": 0, "expectedPods": 0});
        }
        ("scheduling.k8s.io", _) => {
            set_default(object, "preemptionPolicy", &json!("PreemptLowerPriority"));
            if object["value"].is_null() {
                object["value"] = 0.into();
            }
        }
        ("batch", "jobs") => fill_job(object),
        (_, "customresourcedefinitions") => fill_definition(object, &stamp(cluster.clock.now())),
        _ if kind.is_custom() => object["metadata"]["generation"] = 1.into(),
        _ => {}
    }
}

/// Removes empty maps from metadata.
pub(in crate::demo) fn drop_empty_maps(metadata: &mut Value) {
    if let Some(metadata) = metadata.as_object_mut() {
        let is_empty = |value: &Value| value.as_object().is_none_or(serde_json::Map::is_empty);
        metadata.retain(|key, value| !["labels", "annotations"].contains(&key.as_str()) || !is_empty(value));
    }
}

/// Fills in fields that a change removed; existing ones stay.
pub(in crate::demo) fn refill(cluster: &Cluster, kind: &Kind, object: &mut Value) {
    if ["customresourcedefinitions", "nodes"].contains(&kind.plural.as_str()) {
        return;
    }
    let (status, generation) = (object.get("status").cloned(), object["metadata"].get("generation").cloned());
    fill(cluster, kind, object);
    let mut put_back = |pointer: &str, key: &str, value: Option<Value>| {
        if let Some(Value::Object(map)) = object.pointer_mut(pointer) {
            match value {
                Some(value) => drop(map.insert(key.to_owned(), value)),
                None => drop(map.remove(key)),
            }
        }
    };
    put_back("", "status", status);
    put_back("/metadata", "generation", generation);
}

/// Returns the elements of a list; a missing list is not created.
fn each<'a>(object: &'a mut Value, list: &str) -> impl Iterator<Item = &'a mut Value> {
    object.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten()
}

/// Sets a member that is absent or null.
fn set_default(object: &mut Value, key: &str, value: &Value) {
    if object[key].is_null() {
        object[key] = value.clone();
    }
}

fn fill_workload(object: &mut Value) {
    object["metadata"]["generation"] = 1.into();
    object["status"] = json!({});
    fill_pod_spec(&mut object["spec"]["template"]["spec"]);
}

/// Fills in the defaults of a pod spec.
pub(in crate::demo) fn fill_pod_spec(spec: &mut Value) {
    if !spec.is_object() {
        *spec = json!({"containers": []});
    }
    set_default(spec, "restartPolicy", &json!("Always"));
    set_default(spec, "terminationGracePeriodSeconds", &json!(30));
    set_default(spec, "dnsPolicy", &json!("ClusterFirst"));
    set_default(spec, "schedulerName", &json!("default-scheduler"));
    set_default(spec, "securityContext", &json!({}));
    for list in ["containers", "initContainers"] {
        spec.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten().for_each(fill_container);
    }
}

fn fill_container(container: &mut Value) {
    // An image without a tag, or with `latest`, may have changed since it was pulled.
    let image = container["image"].as_str().unwrap_or_default().rsplit('/').next().unwrap_or_default();
    let moves = !image.contains([':', '@']) || image.ends_with(":latest");
    set_default(container, "imagePullPolicy", &json!(if moves { "Always" } else { "IfNotPresent" }));
    set_default(container, "resources", &json!({}));
    set_default(container, "terminationMessagePath", &json!("/dev/termination-log"));
    set_default(container, "terminationMessagePolicy", &json!("File"));
    fill_protocols(container.get_mut("ports"));
}

fn fill_protocols(ports: Option<&mut Value>) {
    for port in ports.and_then(Value::as_array_mut).into_iter().flatten() {
        set_default(port, "protocol", &json!("TCP"));
    }
}

fn fill_pod(object: &mut Value) {
    object["metadata"]["generation"] = 1.into();
    let spec = &mut object["spec"];
    set_default(spec, "serviceAccountName", &json!("default"));
    set_default(spec, "enableServiceLinks", &json!(true));
    set_default(spec, "preemptionPolicy", &json!("PreemptLowerPriority"));
    set_default(spec, "priority", &json!(0));
    let toleration = |key: &str| {
        let key = format!("node.kubernetes.io/{key}");
        json!({"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300})
    };
    set_default(spec, "tolerations", &json!([toleration("not-ready"), toleration("unreachable")]));
    let resources = |key: &str| {
        let mut containers = spec["containers"].as_array().into_iter().flatten();
        containers.any(|container| container["resources"][key].is_object())
    };
    let class = if resources("requests") || resources("limits") { "Burstable" } else { "BestEffort" };
    object["status"] = json!({"phase": "Pending", "qosClass": class});
}

pub(in crate::demo) fn fill_stateful_set(object: &mut Value) {
    let spec = &mut object["spec"];
    set_default(spec, "replicas", &json!(1));
    set_default(spec, "podManagementPolicy", &json!("OrderedReady"));
    set_default(spec, "updateStrategy", &json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 0}}));
    set_default(spec, "revisionHistoryLimit", &json!(10));
    set_default(spec, "serviceName", &json!(""));
    let retain = json!({"whenDeleted": "Retain", "whenScaled": "Retain"});
    set_default(spec, "persistentVolumeClaimRetentionPolicy", &retain);
    for template in each(spec, "volumeClaimTemplates") {
        template["kind"] = "PersistentVolumeClaim".into();
        template["apiVersion"] = "v1".into();
        set_default(&mut template["spec"], "volumeMode", &json!("Filesystem"));
        template["status"] = json!({"phase": "Pending"});
    }
    fill_workload(object);
    object["status"] = json!({"replicas": 0, "availableReplicas": 0});
}

pub(in crate::demo) fn fill_daemon_set(object: &mut Value) {
    let rolling = json!({"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1, "maxSurge": 0}});
    set_default(&mut object["spec"], "updateStrategy", &rolling);
    set_default(&mut object["spec"], "revisionHistoryLimit", &json!(10));
    fill_workload(object);
    object["metadata"]["annotations"]["deprecated.daemonset.template.generation"] = "1".into();
    object["status"] = json!({
        "currentNumberScheduled": 0, "desiredNumberScheduled": 0, "numberMisscheduled": 0, "numberReady": 0,
    });
}

pub(in crate::demo) fn fill_cron_job(object: &mut Value) {
    let spec = &mut object["spec"];
    set_default(spec, "concurrencyPolicy", &json!("Allow"));
    set_default(spec, "suspend", &json!(false));
    set_default(spec, "successfulJobsHistoryLimit", &json!(3));
    set_default(spec, "failedJobsHistoryLimit", &json!(1));
    set_default(&mut spec["jobTemplate"], "metadata", &json!({}));
    let template = &mut spec["jobTemplate"]["spec"]["template"];
    set_default(template, "metadata", &json!({}));
    fill_pod_spec(&mut template["spec"]);
    object["metadata"]["generation"] = 1.into();
    object["status"] = json!({});
}

pub(in crate::demo) fn fill_autoscaler(object: &mut Value) {
    let spec = &mut object["spec"];
    set_default(spec, "minReplicas", &json!(1));
    let cpu = json!({"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}});
    set_default(spec, "metrics", &json!([{"type": "Resource", "resource": cpu}]));
    object["status"] = json!({"desiredReplicas": 0, "currentMetrics": null});
}

/// Gives a claim without a class the default one.
pub(in crate::demo) fn fill_claim(object: &mut Value) {
    set_default(&mut object["spec"], "storageClassName", &json!(STORAGE_CLASS));
    set_default(&mut object["spec"], "volumeMode", &json!("Filesystem"));
}

fn fill_secret(object: &mut Value) {
    set_default(object, "type", &json!("Opaque"));
    if let Some(Value::Object(texts)) = object.as_object_mut().and_then(|object| object.remove("stringData"))
    {
        for (key, text) in texts {
            object["data"][key] = STANDARD.encode(text.as_str().unwrap_or_default()).into();
        }
    }
}

fn fill_service(object: &mut Value) {
    // The last two bytes of the address come from the UID, which is random enough.
    let uid = object["metadata"]["uid"].as_str().unwrap_or_default().as_bytes();
    let (a, b) = (uid.first().map_or(1, |byte| byte % 250), uid.get(1).map_or(1, |byte| byte % 250));
    let spec = &mut object["spec"];
    set_default(spec, "type", &json!("ClusterIP"));
    set_default(spec, "sessionAffinity", &json!("None"));
    if spec["type"] != "ExternalName" {
        set_default(spec, "clusterIP", &format!("10.96.{a}.{b}").into());
        let ip = spec["clusterIP"].clone();
        set_default(spec, "clusterIPs", &json!([ip]));
        // A headless service without a selector may have addresses of both families.
        let is_open = spec["clusterIP"] == "None" && spec["selector"].is_null();
        set_default(spec, "ipFamilies", &if is_open { json!(["IPv4", "IPv6"]) } else { json!(["IPv4"]) });
        set_default(spec, "ipFamilyPolicy", &json!(if is_open { "RequireDualStack" } else { "SingleStack" }));
        set_default(spec, "internalTrafficPolicy", &json!("Cluster"));
    }
    let outside = ["NodePort", "LoadBalancer"].contains(&spec["type"].as_str().unwrap_or_default());
    if outside {
        set_default(spec, "externalTrafficPolicy", &json!("Cluster"));
    }
    if spec["type"] == "LoadBalancer" {
        set_default(spec, "allocateLoadBalancerNodePorts", &json!(true));
    }
    let mut node_port = 30_000 + u64::from(a) * 11 + u64::from(b);
    for port in each(spec, "ports") {
        let number = port["port"].clone();
        set_default(port, "protocol", &json!("TCP"));
        // Typed clients send an unset port as 0.
        if port["targetPort"] == 0 {
            port["targetPort"] = Value::Null;
        }
        set_default(port, "targetPort", &number);
        if outside {
            set_default(port, "nodePort", &node_port.into());
            node_port += 1;
        }
    }
    object["status"] = json!({"loadBalancer": {}});
}

/// Fills in the defaults of a job, and the labels that select its pods.
pub(in crate::demo) fn fill_job(object: &mut Value) {
    let (name, uid) = (object["metadata"]["name"].clone(), object["metadata"]["uid"].clone());
    let spec = &mut object["spec"];
    set_default(spec, "parallelism", &json!(1));
    set_default(spec, "completions", &json!(1));
    set_default(spec, "backoffLimit", &json!(6));
    set_default(spec, "suspend", &json!(false));
    set_default(spec, "manualSelector", &json!(false));
    set_default(spec, "completionMode", &json!("NonIndexed"));
    set_default(spec, "podReplacementPolicy", &json!("TerminatingOrFailed"));
    spec["selector"] = json!({"matchLabels": {"batch.kubernetes.io/controller-uid": uid}});
    let labels = &mut spec["template"]["metadata"]["labels"];
    labels["batch.kubernetes.io/controller-uid"] = uid;
    labels["batch.kubernetes.io/job-name"] = name.clone();
    labels["job-name"] = name;
    fill_workload(object);
}

fn fill_definition(object: &mut Value, now: &str) {
    let condition = |kind: &str, reason: &str| json!({"type": kind, "status": "True", "reason": reason, "message": "", "lastTransitionTime": now});
    let conditions =
        [condition("NamesAccepted", "NoConflicts"), condition("Established", "InitialNamesAccepted")];
    let versions = object["spec"]["versions"].as_array().into_iter().flatten();
    let versions: Vec<Value> = versions.map(|version| version["name"].clone()).collect();
    object["metadata"]["generation"] = 1.into();
    object["status"] = json!({
        "conditions": conditions, "acceptedNames": object["spec"]["names"], "storedVersions": versions,
    });
}
