//! The stages of a pod, and the edits that lead from one to the next.

use serde_json::{Value, json};

use super::conditions::set_condition;

/// The stage of a pod, read from the pod itself, so that the simulation continues from any state that a client creates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::demo) enum Stage {
    /// Being deleted.
    Terminating,
    Unscheduled,
    /// Bound to a node that has not started it yet.
    Scheduled,
    Creating,
    /// The image could not be pulled.
    PullFailed,
    /// Waiting before the next attempt to pull the image.
    PullBackOff,
    /// Running but not ready.
    Starting,
    Ready,
    Crashed,
    BackingOff,
    /// Succeeded or failed.
    Finished,
}

impl Stage {
    pub(in crate::demo) fn of(pod: &Value) -> Self {
        let container = &pod["status"]["containerStatuses"][0];
        let state = &container["state"];
        match pod["status"]["phase"].as_str() {
            _ if pod["metadata"]["deletionTimestamp"].is_string() => Self::Terminating,
            Some("Succeeded" | "Failed") => Self::Finished,
            _ if !pod["spec"]["nodeName"].is_string() => Self::Unscheduled,
            _ if !container.is_object() => Self::Scheduled,
            _ if state["waiting"]["reason"] == "CrashLoopBackOff" => Self::BackingOff,
            _ if state["waiting"]["reason"] == "ErrImagePull" => Self::PullFailed,
            _ if state["waiting"]["reason"] == "ImagePullBackOff" => Self::PullBackOff,
            _ if state["waiting"].is_object() => Self::Creating,
            _ if state["terminated"].is_object() => Self::Crashed,
            _ if container["ready"] == true => Self::Ready,
            _ => Self::Starting,
        }
    }
}

pub(in crate::demo) fn schedule(pod: &mut Value, node: &str, time: &str) {
    pod["spec"]["nodeName"] = node.into();
    set_condition(pod, "PodScheduled", true, time);
}

pub(in crate::demo) fn create_containers(pod: &mut Value, host: &str, time: &str) {
    let containers = pod["spec"]["containers"].as_array().into_iter().flatten().map(|container| {
        json!({
            "name": container["name"], "image": container["image"], "imageID": "", "ready": false,
            "started": false, "restartCount": 0, "lastState": {},
            "state": {"waiting": {"reason": "ContainerCreating"}},
        })
    });
    let containers: Vec<Value> = containers.collect();
    let status = &mut pod["status"];
    status["containerStatuses"] = containers.into();
    status["hostIP"] = host.into();
    status["startTime"] = time.into();
    set_condition(pod, "Initialized", true, time);
    set_ready(pod, false, time);
}

pub(in crate::demo) fn start(pod: &mut Value, ip: &str, time: &str) {
    pod["status"]["phase"] = "Running".into();
    pod["status"]["podIP"] = ip.into();
    pod["status"]["podIPs"] = json!([{"ip": ip}]);
    each_container(pod, |container| {
        container["state"] = json!({"running": {"startedAt": time}});
        container["started"] = true.into();
        container["containerID"] = "containerd://demo".into();
    });
}

pub(in crate::demo) fn fail_pull(pod: &mut Value, message: &str) {
    each_container(pod, |container| {
        container["state"] = json!({"waiting": {"reason": "ErrImagePull", "message": message}});
    });
}

pub(in crate::demo) fn back_off_pull(pod: &mut Value) {
    each_container(pod, |container| {
        let message = format!("Back-off pulling image {}", container["image"]);
        container["state"] = json!({"waiting": {"reason": "ImagePullBackOff", "message": message}});
    });
}

pub(in crate::demo) fn set_ready(pod: &mut Value, ready: bool, time: &str) {
    each_container(pod, |container| container["ready"] = ready.into());
    set_condition(pod, "ContainersReady", ready, time);
    set_condition(pod, "Ready", ready, time);
}

pub(in crate::demo) fn crash(pod: &mut Value, exit_code: u8, time: &str) {
    each_container(pod, |container| {
        let started = container["state"]["running"]["startedAt"].take();
        let reason = if exit_code == 137 { "OOMKilled" } else { "Error" };
        container["state"] = json!({"terminated": {
            "exitCode": exit_code, "reason": reason, "startedAt": started, "finishedAt": time,
        }});
        container["started"] = false.into();
    });
    set_ready(pod, false, time);
}

pub(in crate::demo) fn back_off(pod: &mut Value) {
    let name = format!("{}_{}", text(&pod["metadata"]["name"]), text(&pod["metadata"]["namespace"]));
    each_container(pod, |container| {
        container["lastState"] = container["state"].take();
        let message =
            format!("back-off 10s restarting failed container={} pod={name}", text(&container["name"]));
        container["state"] = json!({"waiting": {"reason": "CrashLoopBackOff", "message": message}});
    });
}

pub(in crate::demo) fn restart(pod: &mut Value, time: &str) {
    each_container(pod, |container| {
        container["restartCount"] = (container["restartCount"].as_u64().unwrap_or(0) + 1).into();
        container["state"] = json!({"running": {"startedAt": time}});
        container["started"] = true.into();
    });
}

pub(in crate::demo) fn succeed(pod: &mut Value, time: &str) {
    pod["status"]["phase"] = "Succeeded".into();
    each_container(pod, |container| {
        let started = container["state"]["running"]["startedAt"].take();
        container["state"] = json!({"terminated": {
            "exitCode": 0, "reason": "Completed", "startedAt": started, "finishedAt": time,
        }});
        container["started"] = false.into();
    });
    set_ready(pod, false, time);
}

fn each_container(pod: &mut Value, change: impl FnMut(&mut Value)) {
    pod["status"]["containerStatuses"].as_array_mut().into_iter().flatten().for_each(change);
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_lead_to_the_next_stage() {
        let mut pod = json!({
            "metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]},
            "status": {"phase": "Pending"},
        });
        assert_eq!(Stage::of(&pod), Stage::Unscheduled);
        schedule(&mut pod, "n", "t");
        assert_eq!(Stage::of(&pod), Stage::Scheduled);
        create_containers(&mut pod, "1.1.1.1", "t");
        assert_eq!(Stage::of(&pod), Stage::Creating);
        fail_pull(&mut pod, "m");
        assert_eq!(Stage::of(&pod), Stage::PullFailed);
        back_off_pull(&mut pod);
        assert_eq!(Stage::of(&pod), Stage::PullBackOff);
        start(&mut pod, "10.0.0.1", "t");
        assert_eq!(Stage::of(&pod), Stage::Starting);
        set_ready(&mut pod, true, "t");
        assert_eq!(Stage::of(&pod), Stage::Ready);
        crash(&mut pod, 1, "t");
        assert_eq!(Stage::of(&pod), Stage::Crashed);
        back_off(&mut pod);
        assert_eq!(Stage::of(&pod), Stage::BackingOff);
        restart(&mut pod, "t");
        assert_eq!(Stage::of(&pod), Stage::Starting);
        assert_eq!(pod["status"]["containerStatuses"][0]["restartCount"], 1);
        assert_eq!(pod["status"]["containerStatuses"][0]["lastState"]["terminated"]["exitCode"], 1);
        succeed(&mut pod, "t");
        assert_eq!(Stage::of(&pod), Stage::Finished);
        pod["metadata"]["deletionTimestamp"] = "t".into();
        assert_eq!(Stage::of(&pod), Stage::Terminating);
    }
}
