//! The rows of services, nodes and events.

use jiff::Timestamp;
use serde_json::Value;

use super::{AGE, Definition, NAME, SELECTOR, or_none, selector, since, text};

pub(super) const SERVICES: &[Definition] = &[
    NAME,
    ("Type", "string", 0),
    ("Cluster-IP", "string", 0),
    ("External-IP", "string", 0),
    ("Port(s)", "string", 0),
    AGE,
    SELECTOR,
];

pub(super) const NODES: &[Definition] = &[
    NAME,
    ("Status", "string", 0),
    ("Roles", "string", 0),
    AGE,
    ("Version", "string", 0),
    ("Internal-IP", "string", 1),
    ("External-IP", "string", 1),
    ("OS-Image", "string", 1),
    ("Kernel-Version", "string", 1),
    ("Container-Runtime", "string", 1),
];

pub(super) const EVENTS: &[Definition] = &[
    ("Last Seen", "string", 0),
    ("Type", "string", 0),
    ("Reason", "string", 0),
    ("Object", "string", 0),
    ("Subobject", "string", 1),
    ("Source", "string", 1),
    ("Message", "string", 0),
    ("First Seen", "string", 1),
    ("Count", "string", 1),
    ("Name", "string", 1),
];

pub(super) fn service(object: &Value, name: Value, age: String) -> Vec<Value> {
    let spec = &object["spec"];
    let ports = spec["ports"].as_array().into_iter().flatten().map(|port| {
        let protocol = port["protocol"].as_str().unwrap_or("TCP");
        match port["nodePort"].as_u64() {
            Some(node) if node > 0 => format!("{}:{node}/{protocol}", port["port"]),
            _ => format!("{}/{protocol}", port["port"]),
        }
    });
    let ports: Vec<String> = ports.collect();
    let ingress = text(&object["status"]["loadBalancer"]["ingress"][0]["ip"]);
    let external = match (text(&spec["type"]), ingress) {
        ("LoadBalancer", "") => "<pending>",
        (_, "") => "<none>",
        (_, ip) => ip,
    };
    vec![
        name,
        spec["type"].clone(),
        or_none(text(&spec["clusterIP"])),
        external.into(),
        or_none(&ports.join(",")),
        age.into(),
        selector(&spec["selector"]),
    ]
}

pub(super) fn node(object: &Value, name: Value, age: String) -> Vec<Value> {
    const ROLE: &str = "node-role.kubernetes.io/";
    let (info, status) = (&object["status"]["nodeInfo"], &object["status"]);
    let mut conditions = status["conditions"].as_array().into_iter().flatten();
    let mut word = match conditions.find(|one| one["type"] == "Ready").map(|one| text(&one["status"])) {
        Some("True") => "Ready".to_owned(),
        Some(_) => "NotReady".to_owned(),
        None => "Unknown".to_owned(),
    };
    if object["spec"]["unschedulable"] == true {
        word.push_str(",SchedulingDisabled");
    }
    let labels = object["metadata"]["labels"].as_object().into_iter().flatten();
    let roles: Vec<&str> = labels.filter_map(|(label, _)| label.strip_prefix(ROLE)).collect();
    let address = |kind: &str| {
        let mut addresses = status["addresses"].as_array().into_iter().flatten();
        or_none(
            addresses.find(|one| one["type"] == kind).map(|one| text(&one["address"])).unwrap_or_default(),
        )
    };
    vec![
        name,
        word.into(),
        or_none(&roles.join(",")),
        age.into(),
        info["kubeletVersion"].clone(),
        address("InternalIP"),
        address("ExternalIP"),
        info["osImage"].clone(),
        info["kernelVersion"].clone(),
        info["containerRuntimeVersion"].clone(),
    ]
}

pub(super) fn event(object: &Value, name: Value, now: Timestamp) -> Vec<Value> {
    let involved = &object["involvedObject"];
    let source = match (text(&object["source"]["component"]), text(&object["source"]["host"])) {
        (component, "") => component.to_owned(),
        (component, host) => format!("{component}, {host}"),
    };
    let first = [&object["firstTimestamp"], &object["eventTime"]].into_iter().find(|time| time.is_string());
    let last = Some(&object["lastTimestamp"]).filter(|time| time.is_string()).or(first);
    let ago = |time: Option<&Value>| time.map_or("<unknown>".to_owned(), |time| since(time, now));
    vec![
        ago(last).into(),
        object["type"].clone(),
        object["reason"].clone(),
        format!("{}/{}", text(&involved["kind"]).to_lowercase(), text(&involved["name"])).into(),
        text(&involved["fieldPath"]).into(),
        source.into(),
        text(&object["message"]).trim().into(),
        ago(first).into(),
        object["count"].as_u64().unwrap_or(1).into(),
        name,
    ]
}
