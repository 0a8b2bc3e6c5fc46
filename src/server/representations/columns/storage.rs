//! Rows of configuration and storage resources.

use serde_json::{Map, Value};

use super::cells::{AGE, Definition, NAME, RowContext, list, text};

pub(super) const CONFIG_MAPS: &[Definition] = &[NAME, ("Data", "string", 0), AGE];

pub(super) const SECRETS: &[Definition] = &[NAME, ("Type", "string", 0), ("Data", "string", 0), AGE];

pub(super) const VOLUMES: &[Definition] = &[
    NAME,
    ("Capacity", "string", 0),
    ("Access Modes", "string", 0),
    ("Reclaim Policy", "string", 0),
    ("Status", "string", 0),
    ("Claim", "string", 0),
    ("StorageClass", "string", 0),
    ("VolumeAttributesClass", "string", 0),
    ("Reason", "string", 0),
    AGE,
    ("VolumeMode", "string", 1),
];

pub(super) const CLAIMS: &[Definition] = &[
    NAME,
    ("Status", "string", 0),
    ("Volume", "string", 0),
    ("Capacity", "string", 0),
    ("Access Modes", "string", 0),
    ("StorageClass", "string", 0),
    ("VolumeAttributesClass", "string", 0),
    AGE,
    ("VolumeMode", "string", 1),
];

pub(super) const STORAGE_CLASSES: &[Definition] = &[
    NAME,
    ("Provisioner", "string", 0),
    ("ReclaimPolicy", "string", 0),
    ("VolumeBindingMode", "string", 0),
    ("AllowVolumeExpansion", "string", 0),
    AGE,
];

fn members(value: &Value) -> usize {
    value.as_object().map_or(0, Map::len)
}

pub(super) fn config_map(object: &Value, row: RowContext) -> Vec<Value> {
    vec![row.name, (members(&object["data"]) + members(&object["binaryData"])).into(), row.age]
}

pub(super) fn secret(object: &Value, row: RowContext) -> Vec<Value> {
    vec![row.name, object["type"].clone(), members(&object["data"]).into(), row.age]
}

/// Returns the access modes in kubectl's order.
fn access_modes(modes: &Value) -> Value {
    const SHORT: [(&str, &str); 4] = [
        ("ReadWriteOnce", "RWO"),
        ("ReadOnlyMany", "ROX"),
        ("ReadWriteMany", "RWX"),
        ("ReadWriteOncePod", "RWOP"),
    ];
    let has = |(long, _): &&(&str, &str)| list(modes).iter().any(|mode| mode == long);
    SHORT.iter().filter(has).map(|(_, short)| *short).collect::<Vec<_>>().join(",").into()
}

fn or_unset(value: &Value) -> Value {
    value.as_str().unwrap_or("<unset>").into()
}

fn phase(object: &Value) -> Value {
    if object["metadata"]["deletionTimestamp"].is_string() {
        return "Terminating".into();
    }
    text(&object["status"]["phase"]).into()
}

pub(super) fn volume(object: &Value, row: RowContext) -> Vec<Value> {
    let spec = &object["spec"];
    let claim = match &spec["claimRef"] {
        Value::Object(claim) => format!("{}/{}", text(&claim["namespace"]), text(&claim["name"])),
        _ => String::new(),
    };
    vec![
        row.name,
        spec["capacity"]["storage"].as_str().unwrap_or("0").into(),
        access_modes(&spec["accessModes"]),
        text(&spec["persistentVolumeReclaimPolicy"]).into(),
        phase(object),
        claim.into(),
        text(&spec["storageClassName"]).into(),
        or_unset(&spec["volumeAttributesClassName"]),
        text(&object["status"]["reason"]).into(),
        row.age,
        or_unset(&spec["volumeMode"]),
    ]
}

pub(super) fn claim(object: &Value, row: RowContext) -> Vec<Value> {
    let (spec, status) = (&object["spec"], &object["status"]);
    let volume = text(&spec["volumeName"]);
    let (capacity, modes) = match volume {
        "" => ("".into(), "".into()),
        _ => (
            status["capacity"]["storage"].as_str().unwrap_or("0").into(),
            access_modes(&status["accessModes"]),
        ),
    };
    vec![
        row.name,
        phase(object),
        volume.into(),
        capacity,
        modes,
        text(&spec["storageClassName"]).into(),
        or_unset(&spec["volumeAttributesClassName"]),
        row.age,
        or_unset(&spec["volumeMode"]),
    ]
}

pub(super) fn storage_class(object: &Value, row: RowContext) -> Vec<Value> {
    const DEFAULT: [&str; 2] =
        ["storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"];
    let annotations = &object["metadata"]["annotations"];
    let is_default = DEFAULT.iter().any(|annotation| annotations[*annotation] == "true");
    let name = if is_default { format!("{} (default)", text(&row.name)).into() } else { row.name };
    vec![
        name,
        text(&object["provisioner"]).into(),
        object["reclaimPolicy"].as_str().unwrap_or("Delete").into(),
        object["volumeBindingMode"].as_str().unwrap_or("Immediate").into(),
        object["allowVolumeExpansion"].as_bool().unwrap_or(false).into(),
        row.age,
    ]
}
