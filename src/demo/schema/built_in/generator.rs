//! Generates the committed schemas from the types of k8s-openapi, and checks that the committed ones are current.

use std::fs;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use k8s_openapi::api::apps::v1 as apps;
use k8s_openapi::api::autoscaling::v1 as old_autoscaling;
use k8s_openapi::api::autoscaling::v2 as autoscaling;
use k8s_openapi::api::batch::v1 as batch;
use k8s_openapi::api::coordination::v1 as coordination;
use k8s_openapi::api::core::v1 as core;
use k8s_openapi::api::discovery::v1 as discovery;
use k8s_openapi::api::events::v1 as events;
use k8s_openapi::api::networking::v1 as networking;
use k8s_openapi::api::policy::v1 as policy;
use k8s_openapi::api::rbac::v1 as rbac;
use k8s_openapi::api::scheduling::v1 as scheduling;
use k8s_openapi::api::storage::v1 as storage;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::DeleteOptions;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value, json};

use super::*;
use crate::demo::{alternate_versions, kinds};
use crate::server::openapi::{PREFIX, definition_name};

/// Generates all schemas.
fn generate() -> Map<String, Value> {
    let mut generator = SchemaSettings::openapi3().into_generator();
    add::<core::ConfigMap>(&mut generator);
    add::<core::Endpoints>(&mut generator);
    add::<core::Event>(&mut generator);
    add::<core::LimitRange>(&mut generator);
    add::<core::Namespace>(&mut generator);
    add::<core::Node>(&mut generator);
    add::<core::PersistentVolumeClaim>(&mut generator);
    add::<core::PersistentVolume>(&mut generator);
    add::<core::Pod>(&mut generator);
    add::<core::ResourceQuota>(&mut generator);
    add::<core::Secret>(&mut generator);
    add::<core::ServiceAccount>(&mut generator);
    add::<core::Service>(&mut generator);
    add::<apps::ControllerRevision>(&mut generator);
    add::<apps::DaemonSet>(&mut generator);
    add::<apps::Deployment>(&mut generator);
    add::<apps::ReplicaSet>(&mut generator);
    add::<apps::StatefulSet>(&mut generator);
    add::<autoscaling::HorizontalPodAutoscaler>(&mut generator);
    add::<old_autoscaling::HorizontalPodAutoscaler>(&mut generator);
    add::<batch::CronJob>(&mut generator);
    add::<batch::Job>(&mut generator);
    add::<networking::IngressClass>(&mut generator);
    add::<networking::Ingress>(&mut generator);
    add::<networking::NetworkPolicy>(&mut generator);
    add::<policy::PodDisruptionBudget>(&mut generator);
    add::<rbac::ClusterRoleBinding>(&mut generator);
    add::<rbac::ClusterRole>(&mut generator);
    add::<rbac::RoleBinding>(&mut generator);
    add::<rbac::Role>(&mut generator);
    add::<storage::StorageClass>(&mut generator);
    add::<scheduling::PriorityClass>(&mut generator);
    add::<coordination::Lease>(&mut generator);
    add::<discovery::EndpointSlice>(&mut generator);
    add::<events::Event>(&mut generator);
    add::<CustomResourceDefinition>(&mut generator);
    add::<DeleteOptions>(&mut generator);
    let mut definitions = generator.take_definitions(false);
    for (name, schema) in &mut definitions {
        complete(name, schema);
    }
    for kind in kinds::built_in().chain(alternate_versions::kinds()) {
        if let Some(schema) = definitions.get_mut(&definition_name(&kind.group, &kind.version, &kind.kind)) {
            let own = json!({"group": kind.group, "version": kind.version, "kind": kind.kind});
            schema["x-kubernetes-group-version-kind"] = json!([own]);
        }
    }
    definitions
}

fn add<T: JsonSchema>(generator: &mut SchemaGenerator) {
    generator.subschema_for::<T>();
}

/// Completes a definition to the form that a server publishes.
fn complete(name: &str, schema: &mut Value) {
    if schema["x-kubernetes-int-or-string"] == true {
        let is_quantity = name.ends_with(".Quantity");
        let alternatives = if is_quantity { ["string", "number"] } else { ["integer", "string"] };
        schema["oneOf"] = alternatives.map(|kind| json!({"type": kind})).into();
        if !is_quantity {
            schema["format"] = "int-or-string".into();
        }
        schema.as_object_mut().map(|schema| schema.remove("x-kubernetes-int-or-string"));
    }
    if ATOMIC.iter().any(|own| name.ends_with(own)) {
        schema["x-kubernetes-map-type"] = "atomic".into();
    }
    for (member, schema) in schema["properties"].as_object_mut().into_iter().flatten() {
        keyed(name, member, schema);
        referring(schema);
    }
}

/// Types whose fields are applied atomically.
const ATOMIC: [&str; 7] = [
    ".LabelSelector",
    ".ObjectReference",
    ".LocalObjectReference",
    ".NodeSelector",
    ".ConfigMapKeySelector",
    ".SecretKeySelector",
    ".TypedLocalObjectReference",
];

/// The keys of list elements by element type: the first is the key of patches, all are those of an apply.
const KEYS: [(&str, &[&str]); 18] = [
    (".Container", &["name"]),
    (".EphemeralContainer", &["name"]),
    (".ContainerPort", &["containerPort", "protocol"]),
    (".EnvVar", &["name"]),
    (".Volume", &["name"]),
    (".VolumeMount", &["mountPath"]),
    (".VolumeDevice", &["devicePath"]),
    (".ServicePort", &["port", "protocol"]),
    (".LocalObjectReference", &["name"]),
    (".ObjectReference", &["name"]),
    (".HostAlias", &["ip"]),
    (".TopologySpreadConstraint", &["topologyKey", "whenUnsatisfiable"]),
    (".PodSchedulingGate", &["name"]),
    (".PodResourceClaim", &["name"]),
    (".OwnerReference", &["uid"]),
    (".NodeAddress", &["type"]),
    (".PodIP", &["ip"]),
    ("Condition", &["type"]),
];

fn keyed(owner: &str, member: &str, schema: &mut Value) {
    let reference = schema["items"]["$ref"].as_str().map(str::to_owned);
    let keys = reference.as_deref().and_then(|name| KEYS.iter().find(|(end, _)| name.ends_with(end)));
    // The active jobs of a CronJob have no key, although the secrets of service accounts, of the same type, do.
    let keys = keys.filter(|_| !owner.ends_with(".CronJobStatus"));
    if let Some((_, keys)) = keys {
        schema["x-kubernetes-patch-merge-key"] = keys[0].into();
        schema["x-kubernetes-patch-strategy"] = "merge".into();
        schema["x-kubernetes-list-type"] = "map".into();
        schema["x-kubernetes-list-map-keys"] = Value::from(keys.to_vec());
    } else if member == "finalizers" && owner.ends_with(".ObjectMeta") {
        schema["x-kubernetes-patch-strategy"] = "merge".into();
        schema["x-kubernetes-list-type"] = "set".into();
    } else if schema["type"] == "array" {
        schema["x-kubernetes-list-type"] = "atomic".into();
    } else if member == "strategy" && owner.ends_with(".DeploymentSpec") {
        schema["x-kubernetes-patch-strategy"] = "retainKeys".into();
    }
}

/// Wraps a reference that has sibling keywords, as the format requires.
fn referring(schema: &mut Value) {
    for inner in ["items", "additionalProperties"] {
        if schema[inner]["$ref"].is_string() {
            schema[inner] = json!({"allOf": [{"$ref": schema[inner]["$ref"]}], "default": {}});
        }
    }
    if let Some(map) = schema.as_object_mut()
        && let Some(reference) = map.remove("$ref")
    {
        debug_assert!(reference.as_str().is_some_and(|reference| reference.starts_with(PREFIX)));
        map.insert("allOf".into(), json!([{"$ref": reference}]));
    }
}

/// `KDELTA_UPDATE_SNAPSHOTS=1` rewrites the file.
#[test]
fn committed_schemas_match_k8s_openapi() {
    let generated = generate();
    if std::env::var("KDELTA_UPDATE_SNAPSHOTS").is_ok_and(|value| value == "1") {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/demo/schema/built_in.json.gz");
        let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
        serde_json::to_writer(&mut gzip, &generated).unwrap();
        fs::write(file, gzip.finish().unwrap()).unwrap();
        return;
    }
    let committed = schemas().0;
    let names = |schemas: &Map<String, Value>| schemas.keys().cloned().collect::<Vec<_>>();
    let hint = "rewrite the schemas with KDELTA_UPDATE_SNAPSHOTS=1 cargo test --lib schema::";
    assert_eq!(names(&committed), names(&generated), "{hint}");
    for (name, schema) in &generated {
        assert_eq!(&committed[name], schema, "{name}: {hint}");
    }
}
