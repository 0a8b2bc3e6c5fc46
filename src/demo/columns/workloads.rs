//! The rows of what makes pods.

use jiff::Timestamp;
use serde_json::Value;

use super::{AGE, CONTAINERS, Definition, IMAGES, NAME, SELECTOR, joined, selector, text};
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

fn count(value: &Value) -> u64 {
    value.as_u64().unwrap_or_default()
}

/// The columns that `-o wide` adds.
fn template(spec: &Value) -> [Value; 3] {
    let containers = &spec["template"]["spec"]["containers"];
    [
        joined(containers, "name").into(),
        joined(containers, "image").into(),
        selector(&spec["selector"]["matchLabels"]),
    ]
}

pub(super) fn deployment(object: &Value, name: Value, age: String) -> Vec<Value> {
    let (spec, status) = (&object["spec"], &object["status"]);
    let ready = format!("{}/{}", count(&status["readyReplicas"]), count(&spec["replicas"]));
    let (updated, available) = (count(&status["updatedReplicas"]), count(&status["availableReplicas"]));
    let mut cells = vec![name, ready.into(), updated.into(), available.into(), age.into()];
    cells.extend(template(spec));
    cells
}

pub(super) fn replica_set(object: &Value, name: Value, age: String) -> Vec<Value> {
    let (spec, status) = (&object["spec"], &object["status"]);
    let counts = [&spec["replicas"], &status["replicas"], &status["readyReplicas"]].map(count);
    let mut cells = vec![name];
    cells.extend(counts.map(Value::from));
    cells.push(age.into());
    cells.extend(template(spec));
    cells
}

pub(super) fn job(object: &Value, name: Value, age: String, now: Timestamp) -> Vec<Value> {
    let (spec, status) = (&object["spec"], &object["status"]);
    let conditions = status["conditions"].as_array().into_iter().flatten();
    let mut holding = conditions.filter(|one| one["status"] == "True").map(|one| text(&one["type"]));
    let word = match holding.find(|one| ["Complete", "Failed", "Suspended"].contains(one)) {
        Some(word) => word,
        None if object["metadata"]["deletionTimestamp"].is_string() => "Terminating",
        None => "Running",
    };
    let completions = format!("{}/{}", count(&status["succeeded"]), count(&spec["completions"]));
    let time = |value: &Value| value.as_str().and_then(|time| time.parse::<Timestamp>().ok());
    let duration = time(&status["startTime"]).map_or(String::new(), |start| {
        let end = time(&status["completionTime"]).unwrap_or(now);
        human_duration(end.as_second() - start.as_second())
    });
    let mut cells = vec![name, word.into(), completions.into(), duration.into(), age.into()];
    cells.extend(template(spec));
    cells
}
