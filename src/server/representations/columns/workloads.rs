//! Rows of workloads.

use jiff::Timestamp;
use serde_json::Value;

use super::cells::{
    AGE, CONTAINERS, Definition, IMAGES, NAME, RowContext, SELECTOR, count, joined, labels, list, or_none,
    plain_text, selector, since, text,
};
use crate::object::human_duration;

pub(super) const DEPLOYMENTS: &[Definition] = &[
    NAME,
    ("Ready", "string", 0),
    ("Up-to-date", "string", 0),
    ("Available", "string", 0),
    AGE,
    CONTAINERS,
    IMAGES,
    SELECTOR,
];

pub(super) const REPLICA_SETS: &[Definition] = &[
    NAME,
    ("Desired", "integer", 0),
    ("Current", "integer", 0),
    ("Ready", "integer", 0),
    AGE,
    CONTAINERS,
    IMAGES,
    SELECTOR,
];

pub(super) const JOBS: &[Definition] = &[
    NAME,
    ("Status", "string", 0),
    ("Completions", "string", 0),
    ("Duration", "string", 0),
    AGE,
    CONTAINERS,
    IMAGES,
    SELECTOR,
];

pub(super) const STATEFUL_SETS: &[Definition] = &[NAME, ("Ready", "string", 0), AGE, CONTAINERS, IMAGES];

pub(super) const DAEMON_SETS: &[Definition] = &[
    NAME,
    ("Desired", "integer", 0),
    ("Current", "integer", 0),
    ("Ready", "integer", 0),
    ("Up-to-date", "integer", 0),
    ("Available", "integer", 0),
    ("Node Selector", "string", 0),
    AGE,
    CONTAINERS,
    IMAGES,
    SELECTOR,
];

pub(super) const CRON_JOBS: &[Definition] = &[
    NAME,
    ("Schedule", "string", 0),
    ("Timezone", "string", 0),
    ("Suspend", "boolean", 0),
    ("Active", "integer", 0),
    ("Last Schedule", "string", 0),
    AGE,
    CONTAINERS,
    IMAGES,
    SELECTOR,
];

pub(super) const REVISIONS: &[Definition] =
    &[NAME, ("Controller", "string", 0), ("Revision", "string", 0), AGE];

pub(super) const AUTOSCALERS: &[Definition] = &[
    NAME,
    ("Reference", "string", 0),
    ("Targets", "string", 0),
    ("MinPods", "string", 0),
    ("MaxPods", "string", 0),
    ("Replicas", "string", 0),
    AGE,
];

/// Returns the cells of `-o wide`.
fn template(spec: &Value) -> [Value; 2] {
    let containers = &spec["template"]["spec"]["containers"];
    [joined(containers, "name").into(), joined(containers, "image").into()]
}

fn chosen(spec: &Value) -> Value {
    or_none(&selector(&spec["selector"]))
}

pub(super) fn deployment(object: &Value, row: RowContext) -> Vec<Value> {
    let (spec, status) = (&object["spec"], &object["status"]);
    let ready = format!("{}/{}", count(&status["readyReplicas"]), count(&spec["replicas"]));
    let (updated, available) = (count(&status["updatedReplicas"]), count(&status["availableReplicas"]));
    let mut cells = vec![row.name, ready.into(), updated.into(), available.into(), row.age];
    cells.extend(template(spec));
    cells.push(selector(&spec["selector"]).into());
    cells
}

pub(super) fn replica_set(object: &Value, row: RowContext) -> Vec<Value> {
    let (spec, status) = (&object["spec"], &object["status"]);
    let counts = [&spec["replicas"], &status["replicas"], &status["readyReplicas"]].map(count);
    let mut cells = vec![row.name];
    cells.extend(counts.map(Value::from));
    cells.push(row.age);
    cells.extend(template(spec));
    cells.push(chosen(spec));
    cells
}

pub(super) fn stateful_set(object: &Value, row: RowContext) -> Vec<Value> {
    let (spec, status) = (&object["spec"], &object["status"]);
    let ready = format!("{}/{}", count(&status["readyReplicas"]), count(&spec["replicas"]));
    let [names, images] = template(spec);
    vec![row.name, ready.into(), row.age, names, images]
}

pub(super) fn daemon_set(object: &Value, row: RowContext) -> Vec<Value> {
    const COUNTS: [&str; 5] = [
        "desiredNumberScheduled",
        "currentNumberScheduled",
        "numberReady",
        "updatedNumberScheduled",
        "numberAvailable",
    ];
    let (spec, status) = (&object["spec"], &object["status"]);
    let mut cells = vec![row.name];
    cells.extend(COUNTS.map(|key| Value::from(count(&status[key]))));
    cells.extend([labels(&spec["template"]["spec"]["nodeSelector"]), row.age]);
    cells.extend(template(spec));
    cells.push(chosen(spec));
    cells
}

pub(super) fn job(object: &Value, row: RowContext) -> Vec<Value> {
    let (spec, status) = (&object["spec"], &object["status"]);
    let (succeeded, parallelism) = (count(&status["succeeded"]), count(&spec["parallelism"]));
    let completions = match spec["completions"].as_u64() {
        Some(completions) => format!("{succeeded}/{completions}"),
        None if parallelism > 1 => format!("{succeeded}/1 of {parallelism}"),
        None => format!("{succeeded}/1"),
    };
    let time = |value: &Value| value.as_str().and_then(|time| time.parse::<Timestamp>().ok());
    let duration = time(&status["startTime"]).map_or(String::new(), |start| {
        let end = time(&status["completionTime"]).unwrap_or(row.now);
        human_duration(end.as_second() - start.as_second())
    });
    let mut cells = vec![row.name, job_word(object).into(), completions.into(), duration.into(), row.age];
    cells.extend(template(spec));
    cells.push(chosen(spec));
    cells
}

fn job_word(job: &Value) -> &'static str {
    let has = |kind: &str| {
        list(&job["status"]["conditions"]).iter().any(|one| one["type"] == kind && one["status"] == "True")
    };
    let over = ["Complete", "Failed"].into_iter().find(|kind| has(kind));
    let going = ["Suspended", "FailureTarget", "SuccessCriteriaMet"].into_iter().find(|kind| has(kind));
    match (over, going) {
        (Some(word), _) => word,
        _ if job["metadata"]["deletionTimestamp"].is_string() => "Terminating",
        (None, Some(word)) => word,
        (None, None) => "Running",
    }
}

pub(super) fn cron_job(object: &Value, row: RowContext) -> Vec<Value> {
    let (spec, status) = (&object["spec"], &object["status"]);
    let last = match &status["lastScheduleTime"] {
        Value::Null => "<none>".to_owned(),
        time => since(time, row.now),
    };
    let suspend = match spec["suspend"].as_bool() {
        Some(true) => "True",
        Some(false) => "False",
        None => "<unset>",
    };
    let mut cells = vec![
        row.name,
        text(&spec["schedule"]).into(),
        spec["timeZone"].as_str().unwrap_or("<none>").into(),
        suspend.into(),
        list(&status["active"]).len().into(),
        last.into(),
        row.age,
    ];
    cells.extend(template(&spec["jobTemplate"]["spec"]));
    cells.push(chosen(&spec["jobTemplate"]["spec"]));
    cells
}

pub(super) fn revision(object: &Value, row: RowContext) -> Vec<Value> {
    let owner = list(&object["metadata"]["ownerReferences"]).iter().find(|owner| owner["controller"] == true);
    let controller = owner.map_or("<none>".to_owned(), |owner| {
        let group = text(&owner["apiVersion"])
            .split_once('/')
            .map_or(String::new(), |(group, _)| format!(".{group}"));
        format!("{}{group}/{}", text(&owner["kind"]).to_lowercase(), text(&owner["name"]))
    });
    vec![row.name, controller.into(), object["revision"].as_i64().unwrap_or_default().into(), row.age]
}

pub(super) fn autoscaler(object: &Value, row: RowContext) -> Vec<Value> {
    let (spec, status) = (&object["spec"], &object["status"]);
    let target = &spec["scaleTargetRef"];
    let least = spec["minReplicas"].as_u64().map_or("<unset>".to_owned(), |least| least.to_string());
    vec![
        row.name,
        format!("{}/{}", text(&target["kind"]), text(&target["name"])).into(),
        metrics(list(&spec["metrics"]), list(&status["currentMetrics"])).into(),
        least.into(),
        count(&spec["maxReplicas"]).into(),
        count(&status["currentReplicas"]).into(),
        row.age,
    ]
}

/// Returns the first two metrics of an autoscaler.
fn metrics(metrics: &[Value], current: &[Value]) -> String {
    const MOST: usize = 2;
    let all: Vec<String> = metrics
        .iter()
        .enumerate()
        .map(|(at, metric)| metric_values(metric, current.get(at).unwrap_or(&Value::Null)))
        .collect();
    match all.len() {
        0 => "<none>".to_owned(),
        1..=MOST => all.join(", "),
        count => format!("{} + {} more...", all[..MOST].join(", "), count - MOST),
    }
}

/// Returns `current/target` of a metric.
fn metric_values(metric: &Value, current: &Value) -> String {
    let source = match text(&metric["type"]) {
        "Resource" => "resource",
        "ContainerResource" => "containerResource",
        "Pods" => "pods",
        "Object" => "object",
        "External" => "external",
        _ => return "<unknown type>".to_owned(),
    };
    let (own, target, current) = (&metric[source], &metric[source]["target"], &current[source]["current"]);
    let or_unknown = |value: &Value, unit: &str| match value {
        Value::Null => "<unknown>".to_owned(),
        value => format!("{}{unit}", plain_text(value)),
    };
    if source.ends_with("esource") {
        let values = match (&target["averageValue"], &target["averageUtilization"]) {
            (Value::Null, Value::Null) => {
                format!("{}/<auto>", or_unknown(&current["averageUtilization"], "%"))
            }
            (Value::Null, share) => format!("{}/{share}%", or_unknown(&current["averageUtilization"], "%")),
            (value, _) => format!("{}/{}", or_unknown(&current["averageValue"], ""), plain_text(value)),
        };
        return format!("{}: {values}", text(&own["name"]));
    }
    match (source, &target["averageValue"]) {
        ("pods", value) => format!("{}/{}", or_unknown(&current["averageValue"], ""), plain_text(value)),
        (_, Value::Null) => format!("{}/{}", or_unknown(&current["value"], ""), plain_text(&target["value"])),
        (_, value) => format!("{}/{} (avg)", or_unknown(&current["averageValue"], ""), plain_text(value)),
    }
}
