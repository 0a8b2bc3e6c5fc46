//! What a server fills in when an object is created.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::cluster::{Cluster, stamp};
use super::kinds::Kind;

/// Fills in what the object leaves out.
pub(super) fn fill(cluster: &Cluster, kind: &Kind, object: &mut Value) {
    match (kind.group.as_str(), kind.plural.as_str()) {
        ("", "pods") => {
            pod_spec(&mut object["spec"]);
            object["status"] = json!({"phase": "Pending", "qosClass": "BestEffort"});
        }
        ("", "namespaces") => {
            let name = object["metadata"]["name"].clone();
            object["metadata"]["labels"]["kubernetes.io/metadata.name"] = name;
            object["spec"] = json!({"finalizers": ["kubernetes"]});
            object["status"] = json!({"phase": "Active"});
        }
        ("", "secrets") => secret(object),
        ("", "services") => service(object),
        ("apps", "deployments") => {
            default(&mut object["spec"], "replicas", &json!(1));
            default(&mut object["spec"], "revisionHistoryLimit", &json!(10));
            default(&mut object["spec"], "progressDeadlineSeconds", &json!(600));
            let rolling = json!({
                "type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"},
            });
            default(&mut object["spec"], "strategy", &rolling);
            workload(object);
        }
        ("apps", "replicasets" | "statefulsets") => {
            default(&mut object["spec"], "replicas", &json!(1));
            workload(object);
        }
        ("batch", "jobs") => job(object),
        (_, "customresourcedefinitions") => definition(object, &stamp(cluster.clock.now())),
        _ if kind.is_custom() => object["metadata"]["generation"] = 1.into(),
        _ => {}
    }
}

/// Sets a member that is missing or null.
fn default(object: &mut Value, key: &str, value: &Value) {
    if object[key].is_null() {
        object[key] = value.clone();
    }
}

fn workload(object: &mut Value) {
    object["metadata"]["generation"] = 1.into();
    object["status"] = json!({});
    pod_spec(&mut object["spec"]["template"]["spec"]);
}

/// The defaults of what runs.
pub(super) fn pod_spec(spec: &mut Value) {
    if !spec.is_object() {
        *spec = json!({"containers": []});
    }
    default(spec, "restartPolicy", &json!("Always"));
    default(spec, "terminationGracePeriodSeconds", &json!(30));
    default(spec, "dnsPolicy", &json!("ClusterFirst"));
    default(spec, "schedulerName", &json!("default-scheduler"));
    default(spec, "securityContext", &json!({}));
    for container in spec["containers"].as_array_mut().into_iter().flatten() {
        default(container, "imagePullPolicy", &json!("IfNotPresent"));
        default(container, "resources", &json!({}));
        default(container, "terminationMessagePath", &json!("/dev/termination-log"));
        default(container, "terminationMessagePolicy", &json!("File"));
    }
}

fn secret(object: &mut Value) {
    default(object, "type", &json!("Opaque"));
    if let Some(Value::Object(texts)) = object.as_object_mut().and_then(|object| object.remove("stringData"))
    {
        for (key, text) in texts {
            object["data"][key] = STANDARD.encode(text.as_str().unwrap_or_default()).into();
        }
    }
}

fn service(object: &mut Value) {
    // The last two bytes of the address come from the uid, which is as good as drawn.
    let uid = object["metadata"]["uid"].as_str().unwrap_or_default().as_bytes();
    let (a, b) = (uid.first().map_or(1, |byte| byte % 250), uid.get(1).map_or(1, |byte| byte % 250));
    let spec = &mut object["spec"];
    default(spec, "type", &json!("ClusterIP"));
    default(spec, "sessionAffinity", &json!("None"));
    if spec["type"] != "ExternalName" {
        default(spec, "clusterIP", &format!("10.96.{a}.{b}").into());
    }
    for port in spec["ports"].as_array_mut().into_iter().flatten() {
        let number = port["port"].clone();
        default(port, "protocol", &json!("TCP"));
        default(port, "targetPort", &number);
    }
    object["status"] = json!({"loadBalancer": {}});
}

fn job(object: &mut Value) {
    let (name, uid) = (object["metadata"]["name"].clone(), object["metadata"]["uid"].clone());
    let spec = &mut object["spec"];
    default(spec, "parallelism", &json!(1));
    default(spec, "completions", &json!(1));
    default(spec, "backoffLimit", &json!(6));
    default(spec, "suspend", &json!(false));
    spec["selector"] = json!({"matchLabels": {"batch.kubernetes.io/controller-uid": uid}});
    let labels = &mut spec["template"]["metadata"]["labels"];
    labels["batch.kubernetes.io/controller-uid"] = uid;
    labels["batch.kubernetes.io/job-name"] = name.clone();
    labels["job-name"] = name;
    workload(object);
}

fn definition(object: &mut Value, now: &str) {
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
