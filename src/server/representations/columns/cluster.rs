//! Rows of nodes, events and cluster-level objects.

use serde_json::Value;

use super::cells::{AGE, Definition, NAME, RowContext, count, or_none, plain_text, since, text};

pub(super) const NAMESPACES: &[Definition] = &[NAME, ("Status", "string", 0), AGE];

pub(super) const LEASES: &[Definition] = &[NAME, ("Holder", "string", 0), AGE];

pub(super) const PRIORITY_CLASSES: &[Definition] = &[
    NAME,
    ("Value", "integer", 0),
    ("Global-Default", "boolean", 0),
    AGE,
    ("PreemptionPolicy", "string", 0),
];

pub(super) const DISRUPTION_BUDGETS: &[Definition] = &[
    NAME,
    ("Min Available", "string", 0),
    ("Max Unavailable", "string", 0),
    ("Allowed Disruptions", "integer", 0),
    AGE,
];

pub(super) const RESOURCE_QUOTAS: &[Definition] =
    &[NAME, ("Request", "string", 0), ("Limit", "string", 0), AGE];

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

pub(super) fn node(object: &Value, row: RowContext) -> Vec<Value> {
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
    let known_or_not = |key: &str| info[key].as_str().filter(|text| !text.is_empty()).unwrap_or("<unknown>");
    let kernel = match text(&info["architecture"]) {
        "" => known_or_not("kernelVersion").to_owned(),
        architecture => format!("{} ({architecture})", known_or_not("kernelVersion")),
    };
    vec![
        row.name,
        word.into(),
        or_none(&roles.join(",")),
        row.age,
        text(&info["kubeletVersion"]).into(),
        address("InternalIP"),
        address("ExternalIP"),
        known_or_not("osImage").into(),
        kernel.into(),
        known_or_not("containerRuntimeVersion").into(),
    ]
}

pub(super) fn event(object: &Value, row: RowContext) -> Vec<Value> {
    // The second names are those of the group `events.k8s.io`.
    let field = |core: &str, own: &str| object.get(core).or_else(|| object.get(own)).unwrap_or(&Value::Null);
    let involved = field("involvedObject", "regarding");
    let source = field("source", "deprecatedSource");
    let either = |own: &str, other: &Value| match text(&source[own]) {
        "" => text(other).to_owned(),
        own => own.to_owned(),
    };
    let component = either("component", field("reportingComponent", "reportingController"));
    let host = either("host", &object["reportingInstance"]);
    let source = match (component, host.as_str()) {
        (component, "") => component,
        (component, host) => format!("{component}, {host}"),
    };
    let first = field("firstTimestamp", "deprecatedFirstTimestamp");
    let first = [first, &object["eventTime"]].into_iter().find(|time| time.is_string());
    let last = field("lastTimestamp", "deprecatedLastTimestamp");
    let last = Some(last).filter(|time| time.is_string()).or(first);
    let series = &object["series"];
    let last = Some(&series["lastObservedTime"]).filter(|time| time.is_string()).or(last);
    let count = field("count", "deprecatedCount").as_u64().filter(|count| *count > 0);
    let times = series["count"].as_u64().or(count).unwrap_or(1);
    let ago = |time: Option<&Value>| time.map_or("<unknown>".to_owned(), |time| since(time, row.now));
    let target = match text(&involved["name"]) {
        "" => text(&involved["kind"]).to_lowercase(),
        name => format!("{}/{name}", text(&involved["kind"]).to_lowercase()),
    };
    vec![
        ago(last).into(),
        text(&object["type"]).into(),
        text(&object["reason"]).into(),
        target.into(),
        text(&involved["fieldPath"]).into(),
        source.into(),
        text(field("message", "note")).trim().into(),
        ago(first).into(),
        times.into(),
        row.name,
    ]
}

pub(super) fn namespace(object: &Value, row: RowContext) -> Vec<Value> {
    vec![row.name, text(&object["status"]["phase"]).into(), row.age]
}

pub(super) fn lease(object: &Value, row: RowContext) -> Vec<Value> {
    vec![row.name, text(&object["spec"]["holderIdentity"]).into(), row.age]
}

pub(super) fn priority_class(object: &Value, row: RowContext) -> Vec<Value> {
    let value = object["value"].as_i64().unwrap_or_default();
    let is_default = object["globalDefault"] == true;
    vec![row.name, value.into(), is_default.into(), row.age, text(&object["preemptionPolicy"]).into()]
}

pub(super) fn disruption_budget(object: &Value, row: RowContext) -> Vec<Value> {
    let limit = |key: &str| match &object["spec"][key] {
        Value::Null => "N/A".to_owned(),
        limit => plain_text(limit),
    };
    let allowed = count(&object["status"]["disruptionsAllowed"]);
    vec![row.name, limit("minAvailable").into(), limit("maxUnavailable").into(), allowed.into(), row.age]
}

pub(super) fn resource_quota(object: &Value, row: RowContext) -> Vec<Value> {
    let status = &object["status"];
    let (mut requests, mut limits) = (Vec::new(), Vec::new());
    for (resource, hard) in status["hard"].as_object().into_iter().flatten() {
        let used = status["used"][resource].as_str().unwrap_or("0");
        let usage = format!("{resource}: {used}/{}", plain_text(hard));
        if resource.starts_with("limits.") { limits.push(usage) } else { requests.push(usage) }
    }
    vec![row.name, requests.join(", ").into(), limits.join(", ").into(), row.age]
}
