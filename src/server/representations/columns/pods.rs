//! The row of a pod.

use jiff::Timestamp;
use serde_json::Value;

use super::cells::{AGE, Definition, NAME, RowContext, list, or_none, since, text};

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

pub(super) fn cells(pod: &Value, row: RowContext) -> Vec<Value> {
    let (spec, status) = (&pod["spec"], &pod["status"]);
    let containers = list(&status["containerStatuses"]);
    let is_ready = |one: &&Value| one["ready"] == true && one["state"]["running"].is_object();
    let ready = containers.iter().filter(is_ready).count();
    let gates = match list(&spec["readinessGates"]) {
        [] => "<none>".to_owned(),
        gates => {
            let is_true = |gate: &&Value| is_true(status, text(&gate["conditionType"]));
            format!("{}/{}", gates.iter().filter(is_true).count(), gates.len())
        }
    };
    vec![
        row.name,
        format!("{ready}/{}", list(&spec["containers"]).len()).into(),
        reason(pod, containers).into(),
        restarts(pod, row.now),
        row.age,
        or_none(text(&status["podIP"])),
        or_none(text(&spec["nodeName"])),
        or_none(text(&status["nominatedNodeName"])),
        gates.into(),
    ]
}

fn is_true(status: &Value, condition: &str) -> bool {
    list(&status["conditions"]).iter().any(|one| one["type"] == condition && one["status"] == "True")
}

/// Returns the pod's STATUS: its phase, unless it is being deleted or a container has a more specific reason.
fn reason(pod: &Value, containers: &[Value]) -> String {
    let status = &pod["status"];
    let phase = text(&status["phase"]);
    let mut reason = match text(&status["reason"]) {
        "" => phase.to_owned(),
        reason => reason.to_owned(),
    };
    let gated = |one: &Value| one["type"] == "PodScheduled" && one["reason"] == "SchedulingGated";
    if list(&status["conditions"]).iter().any(gated) {
        "SchedulingGated".clone_into(&mut reason);
    }
    match initializing(pod) {
        Some(word) if !is_true(status, "Initialized") => reason = word,
        _ => reason = of_containers(status, containers, reason),
    }
    let is_going = pod["metadata"]["deletionTimestamp"].is_string();
    match text(&status["reason"]) {
        "NodeLost" if is_going => "Unknown".to_owned(),
        _ if is_going && !["Succeeded", "Failed"].contains(&phase) => "Terminating".to_owned(),
        _ => reason,
    }
}

/// Returns the progress of the init containers, or `None` once all are done.
fn initializing(pod: &Value) -> Option<String> {
    let total = list(&pod["spec"]["initContainers"]).len();
    for (at, container) in list(&pod["status"]["initContainerStatuses"]).iter().enumerate() {
        let (terminated, waiting) =
            (&container["state"]["terminated"], text(&container["state"]["waiting"]["reason"]));
        if terminated.is_object() && terminated["exitCode"] == 0 {
            continue;
        }
        return Some(match waiting {
            _ if terminated.is_object() => format!("Init:{}", ended(terminated)),
            "" | "PodInitializing" => format!("Init:{at}/{total}"),
            waiting => format!("Init:{waiting}"),
        });
    }
    None
}

/// Returns the reason why a container ended.
fn ended(terminated: &Value) -> String {
    match (text(&terminated["reason"]), terminated["signal"].as_i64().unwrap_or(0)) {
        ("", 0) => format!("ExitCode:{}", terminated["exitCode"].as_i64().unwrap_or(0)),
        ("", signal) => format!("Signal:{signal}"),
        (reason, _) => reason.to_owned(),
    }
}

fn of_containers(status: &Value, containers: &[Value], mut reason: String) -> String {
    let (mut running, mut failed) = (false, None);
    for container in containers.iter().rev() {
        let state = &container["state"];
        let (waiting, terminated) = (text(&state["waiting"]["reason"]), &state["terminated"]);
        if !waiting.is_empty() {
            waiting.clone_into(&mut reason);
        } else if terminated.is_object() {
            reason = ended(terminated);
            failed = failed.or((terminated["exitCode"] != 0).then(|| reason.clone()));
        } else if container["ready"] == true && state["running"].is_object() {
            running = true;
        }
    }
    if reason != "Completed" {
        return reason;
    }
    match failed {
        _ if running && is_true(status, "Ready") => "Running".to_owned(),
        Some(failed) => failed,
        None if running => "NotReady".to_owned(),
        None => reason,
    }
}

fn restarts(pod: &Value, now: Timestamp) -> Value {
    let status = &pod["status"];
    let starting = initializing(pod).is_some() && !is_true(status, "Initialized");
    let containers = if starting { "initContainerStatuses" } else { "containerStatuses" };
    let containers = list(&status[containers]);
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
    use serde_json::json;

    use super::*;

    fn row(pod: &Value) -> Vec<String> {
        let now = "2026-01-01T00:05:00Z".parse().expect("a time");
        cells(pod, RowContext { name: "a".into(), age: "5m".into(), now })[..4]
            .iter()
            .map(|cell| text(cell).to_owned())
            .collect()
    }

    #[test]
    fn pod_status_follows_the_containers() {
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
        let mut starting = pod(json!({"state": {"waiting": {"reason": "PodInitializing"}}}), Value::Null);
        starting["spec"]["initContainers"] = json!([{}, {}]);
        starting["status"]["initContainerStatuses"] =
            json!([{"state": {"terminated": {"exitCode": 0}}}, {"state": {"running": {}}}]);
        assert_eq!(row(&starting)[2], "Init:1/2");
        starting["status"]["initContainerStatuses"][1]["state"] =
            json!({"waiting": {"reason": "ErrImagePull"}});
        assert_eq!(row(&starting)[2], "Init:ErrImagePull");
    }
}
