//! Validation of whole objects: missing, contradictory and immutable fields.

use serde_json::{Map, Value};

use crate::demo::schema;
use crate::server::api_error::{ApiError, Cause};
use crate::server::http::query::{Query, Validation};
use crate::server::source::Kind;

/// Removes unknown fields from an object and returns the warnings about them.
///
/// # Errors
/// There are unknown fields and the client requested strict validation, or a field has the wrong type.
pub(super) fn checked(kind: &Kind, object: &mut Value, query: &Query) -> Result<Vec<String>, ApiError> {
    let found = schema::check(kind, object);
    if let Some(error) = &found.type_error {
        return Err(ApiError::undecodable(kind, error));
    }
    let unknown: Vec<String> = found.unknown.iter().map(|field| format!("unknown field {field:?}")).collect();
    match query.validation() {
        Validation::Strict if !unknown.is_empty() => {
            Err(ApiError::undecodable(kind, &format!("strict decoding error: {}", unknown.join(", "))))
        }
        Validation::Warn => Ok(unknown),
        Validation::Strict | Validation::Ignore => Ok(Vec::new()),
    }
}

/// Rejects an object with causes.
///
/// # Errors
/// There is a cause.
pub(super) fn refuse(kind: &Kind, name: &str, causes: &[Cause]) -> Result<(), ApiError> {
    if causes.is_empty() { Ok(()) } else { Err(ApiError::invalid(kind, name, causes)) }
}

/// Returns the causes against an object, compared with its previous state if it has one.
pub(super) fn causes(kind: &Kind, object: &Value, before: Option<&Value>) -> Vec<Cause> {
    let mut causes: Vec<Cause> =
        schema::missing(kind, object).iter().map(|field| Cause::required(field, "")).collect();
    if kind.is_custom() {
        causes.extend(schema::invalid(kind, object));
        return causes;
    }
    let spec = &object["spec"];
    match (kind.group.as_str(), kind.plural.as_str()) {
        ("", "pods") => pod_spec(spec, "spec", &mut causes),
        ("apps", "deployments" | "replicasets" | "statefulsets" | "daemonsets") => {
            workload(spec, &mut causes);
        }
        ("batch", "jobs") => job(&spec["template"]["spec"], "spec.template.spec", &mut causes),
        ("batch", "cronjobs") => {
            job(
                &spec["jobTemplate"]["spec"]["template"]["spec"],
                "spec.jobTemplate.spec.template.spec",
                &mut causes,
            );
        }
        ("", "services") => service(spec, &mut causes),
        ("", "persistentvolumeclaims") => claim(spec, &mut causes),
        _ => {}
    }
    causes.sort_by_key(Cause::text);
    if let Some(before) = before {
        immutable(kind, object, before, &mut causes);
    }
    causes
}

fn claim(spec: &Value, causes: &mut Vec<Cause>) {
    if spec["accessModes"].as_array().is_none_or(Vec::is_empty) {
        causes.push(Cause::required("spec.accessModes", "at least 1 access mode is required"));
    }
    if spec["resources"]["requests"]["storage"].is_null() {
        causes.push(Cause::required("spec.resources[storage]", ""));
    }
}

fn pod_spec(spec: &Value, path: &str, causes: &mut Vec<Cause>) {
    for list in ["containers", "initContainers"] {
        for (at, container) in spec[list].as_array().into_iter().flatten().enumerate() {
            if container["image"].as_str().is_none_or(str::is_empty) {
                causes.push(Cause::required(&format!("{path}.{list}[{at}].image"), ""));
            }
        }
    }
    let containers = spec["containers"].as_array().map_or(0, Vec::len);
    let prefix = format!("{path}.containers: ");
    if containers == 0 && !causes.iter().any(|cause| cause.text().starts_with(&prefix)) {
        causes.push(Cause::required(&format!("{path}.containers"), ""));
    }
}

fn workload(spec: &Value, causes: &mut Vec<Cause>) {
    let template = &spec["template"];
    pod_spec(&template["spec"], "spec.template.spec", causes);
    let labels = &template["metadata"]["labels"];
    let none = Map::new();
    let selected = spec["selector"]["matchLabels"].as_object().unwrap_or(&none);
    let selects_all =
        selected.is_empty() && spec["selector"]["matchExpressions"].as_array().is_none_or(Vec::is_empty);
    if selects_all || selected.iter().any(|(label, value)| labels.get(label) != Some(value)) {
        let why = "`selector` does not match template `labels`";
        causes.push(Cause::invalid_value("spec.template.metadata.labels", labels, why));
    }
    if let Some(policy) = template["spec"]["restartPolicy"].as_str().filter(|policy| *policy != "Always") {
        causes.push(Cause::unsupported("spec.template.spec.restartPolicy", policy, &["Always"]));
    }
    if let Some(replicas) = spec["replicas"].as_i64().filter(|replicas| *replicas < 0) {
        let why = "must be greater than or equal to 0";
        causes.push(Cause::invalid_value("spec.replicas", &replicas.into(), why));
    }
}

fn job(spec: &Value, path: &str, causes: &mut Vec<Cause>) {
    const POLICIES: [&str; 2] = ["OnFailure", "Never"];
    pod_spec(spec, path, causes);
    let field = format!("{path}.restartPolicy");
    match spec["restartPolicy"].as_str() {
        Some(policy) if POLICIES.contains(&policy) => {}
        Some("") | None => causes.push(Cause::required(&field, "valid values: \"OnFailure\", \"Never\"")),
        Some(policy) => causes.push(Cause::unsupported(&field, policy, &POLICIES)),
    }
}

fn service(spec: &Value, causes: &mut Vec<Cause>) {
    let needs_ports = spec["type"] != "ExternalName" && spec["clusterIP"] != "None";
    if needs_ports && spec["ports"].as_array().is_none_or(Vec::is_empty) {
        causes.push(Cause::required("spec.ports", ""));
    }
}

fn immutable(kind: &Kind, object: &Value, before: &Value, causes: &mut Vec<Cause>) {
    const WHY: &str = "field is immutable";
    let mut fixed = |pointer: &str, field: &str| {
        let (is, was) = (object.pointer(pointer), before.pointer(pointer));
        if is != was {
            causes.push(Cause::invalid_value(field, is.unwrap_or(&Value::Null), WHY));
        }
    };
    match (kind.group.as_str(), kind.plural.as_str()) {
        ("apps", "deployments" | "replicasets" | "daemonsets") => fixed("/spec/selector", "spec.selector"),
        ("batch", "jobs") => {
            for field in ["completions", "selector", "template"] {
                fixed(&format!("/spec/{field}"), &format!("spec.{field}"));
            }
        }
        ("storage.k8s.io", "storageclasses") => fixed("/provisioner", "provisioner"),
        ("rbac.authorization.k8s.io", "rolebindings" | "clusterrolebindings")
            if object["roleRef"] != before["roleRef"] =>
        {
            causes.push(Cause::invalid_value("roleRef", &object["roleRef"], "cannot change roleRef"));
        }
        ("apps", "statefulsets")
            if frozen(&object["spec"], STATEFUL) != frozen(&before["spec"], STATEFUL) =>
        {
            let why = "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', \
                       'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and \
                       'minReadySeconds' are forbidden";
            causes.push(Cause::forbidden("spec", why));
        }
        ("", "pods") if frozen_pod(&object["spec"]) != frozen_pod(&before["spec"]) => {
            let why = "pod updates may not change fields other than \
                       `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,\
                       `spec.tolerations` (only additions to existing tolerations),\
                       `spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";
            causes.push(Cause::forbidden("spec", why));
        }
        ("", "configmaps" | "secrets") if before["immutable"] == true && object["data"] != before["data"] => {
            causes.push(Cause::forbidden("data", "field is immutable when `immutable` is set"));
        }
        _ => {}
    }
}

const STATEFUL: &[&str] = &[
    "replicas",
    "ordinals",
    "template",
    "updateStrategy",
    "revisionHistoryLimit",
    "persistentVolumeClaimRetentionPolicy",
    "minReadySeconds",
];

/// Returns a spec without its mutable fields.
fn frozen(spec: &Value, free: &[&str]) -> Value {
    let mut spec = spec.clone();
    if let Value::Object(map) = &mut spec {
        map.retain(|key, _| !free.contains(&key.as_str()));
    }
    spec
}

fn frozen_pod(spec: &Value) -> Value {
    let mut spec =
        frozen(spec, &["activeDeadlineSeconds", "tolerations", "terminationGracePeriodSeconds", "nodeName"]);
    for list in ["containers", "initContainers"] {
        for container in spec[list].as_array_mut().into_iter().flatten() {
            container.as_object_mut().map(|container| container.remove("image"));
        }
        if spec[list].is_null() {
            spec.as_object_mut().map(|spec| spec.remove(list));
        }
    }
    spec
}
