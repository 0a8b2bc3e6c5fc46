//! The row of a pod.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{AGE, Definition, NAME, or_none, since, text};

pub(super) const COLUMNS: &[Definition] = &[
    NAME,
    ("Ready", "string", 0),
    ("Status", "string", 0),
    ("Restarts", "string", 0),
    AGE,
    ("IP", "string", 1),
    ("Node", "string", 1),
    ("Nominated Node", "string", 1),
    ("Readiness Gates", "string", 1),
];

pub(super) fn cells(pod: &Value, name: Value, age: String, now: Timestamp) -> Vec<Value> {
    let (spec, status) = (&pod["spec"], &pod["status"]);
    let containers = status["containerStatuses"].as_array().map_or(&[][..], Vec::as_slice);
    let total = spec["containers"].as_array().map_or(0, Vec::len);
    let ready = containers.iter().filter(|one| one["ready"] == true).count();
    vec![
        name,
        format!("{ready}/{total}").into(),
        reason(pod, containers).into(),
        restarts(containers, now),
        age.into(),
        or_none(text(&status["podIP"])),
        or_none(text(&spec["nodeName"])),
        or_none(text(&status["nominatedNodeName"])),
        json!("<none>"),
    ]
}

/// The word that sums a pod up: its phase, unless a container has more to say, or the pod is going.
fn reason(pod: &Value, containers: &[Value]) -> String {
    let phase = text(&pod["status"]["phase"]);
    let mut reason = match text(&pod["status"]["reason"]) {
        "" => phase.to_owned(),
        reason => reason.to_owned(),
    };
    let mut running = false;
    for container in containers.iter().rev() {
        let state = &container["state"];
        let (waiting, terminated) = (text(&state["waiting"]["reason"]), &state["terminated"]);
        if !waiting.is_empty() {
            waiting.clone_into(&mut reason);
        } else if terminated.is_object() {
            reason = match (text(&terminated["reason"]), terminated["signal"].as_i64().unwrap_or(0)) {
                ("", 0) => format!("ExitCode:{}", terminated["exitCode"].as_i64().unwrap_or(0)),
                ("", signal) => format!("Signal:{signal}"),
                (reason, _) => reason.to_owned(),
            };
        } else if container["ready"] == true && state["running"].is_object() {
            running = true;
        }
    }
    if reason == "Completed" && running {
        "Running".clone_into(&mut reason);
    }
    let is_over = ["Succeeded", "Failed"].contains(&phase);
    if pod["metadata"]["deletionTimestamp"].is_string() && !is_over {
        "Terminating".clone_into(&mut reason);
    }
    reason
}

fn restarts(containers: &[Value], now: Timestamp) -> Value {
    let count: u64 = containers.iter().filter_map(|one| one["restartCount"].as_u64()).sum();
    let last =
        containers.iter().filter_map(|one| one["lastState"]["terminated"]["finishedAt"].as_str()).max();
    match last {
        Some(last) if count > 0 => format!("{count} ({} ago)", since(&last.into(), now)).into(),
        _ => count.to_string().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(pod: &Value) -> Vec<String> {
        let now = "2026-01-01T00:05:00Z".parse().expect("a time");
        cells(pod, "a".into(), "5m".into(), now)[..4].iter().map(|cell| text(cell).to_owned()).collect()
    }

    #[test]
    fn the_status_is_what_the_containers_say() {
        let pod = |container: Value, going: Value| {
            json!({
                "metadata": {"deletionTimestamp": going}, "spec": {"containers": [{}]},
                "status": {"phase": "Running", "containerStatuses": [container]},
            })
        };
        let running = json!({"ready": true, "restartCount": 0, "state": {"running": {}}});
        assert_eq!(row(&pod(running.clone(), Value::Null)), ["a", "1/1", "Running", "0"]);
        assert_eq!(row(&pod(running, "2026-01-01T00:00:00Z".into())), ["a", "1/1", "Terminating", "0"]);
        let crashed = json!({
            "ready": false, "restartCount": 3, "state": {"waiting": {"reason": "CrashLoopBackOff"}},
            "lastState": {"terminated": {"finishedAt": "2026-01-01T00:00:00Z"}},
        });
        assert_eq!(row(&pod(crashed, Value::Null)), ["a", "0/1", "CrashLoopBackOff", "3 (5m ago)"]);
        let ended = json!({"state": {"terminated": {"exitCode": 2}}});
        assert_eq!(row(&pod(ended, Value::Null))[2], "ExitCode:2");
    }
}
