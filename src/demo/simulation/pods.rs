//! The scheduler and the kubelets, which advance pods from stage to stage.

use std::time::Duration;

use serde_json::Value;

use super::Simulation;
use super::schedule::Task;
use crate::demo::fixtures::address;
use crate::demo::kinds;
use crate::demo::objects::pod_stages::{self, Stage};
use crate::server::source::{Change, CollectionRange, ObjectKey};

/// The delay before service endpoints follow a change of a pod.
const ENDPOINTS_DELAY: Duration = Duration::from_millis(500);

impl Simulation {
    pub(super) fn observe_pod(&mut self, change: &Change) {
        let key = change.new.key();
        if *key.0 == *"default" {
            self.last_visible = self.now;
        }
        self.enqueue_owner(&change.new);
        self.tasks.add(self.now + ENDPOINTS_DELAY, Task::UpdateServices(key.0.clone()));
        let task = Task::Pod(key);
        if change.deleted {
            return self.tasks.cancel(&task);
        }
        let pod = change.new.value();
        match self.next_transition(&pod) {
            Some(at) => self.tasks.set(at, task),
            None => self.tasks.cancel(&task),
        }
    }

    /// Returns the time at which a pod leaves its stage, or `None` if it stays.
    fn next_transition(&mut self, pod: &Value) -> Option<Duration> {
        let (from, to) = match Stage::of(pod) {
            Stage::Terminating | Stage::Starting => (0.5, 1.2),
            Stage::Unscheduled => (0.2, 0.6),
            Stage::Scheduled => (0.1, 0.3),
            Stage::Creating => (0.8, 2.2),
            Stage::Crashed | Stage::PullFailed => (0.6, 1.0),
            Stage::BackingOff | Stage::PullBackOff => (2.5, 6.0),
            Stage::Ready if belongs_to_job(pod) => (3.0, 8.0),
            Stage::Ready | Stage::Finished => return None,
        };
        Some(self.random_time(from, to))
    }

    /// Advances a pod to its next stage.
    pub(super) fn advance_pod(&mut self, key: &ObjectKey) {
        let Some(pod) = self.value(kinds::PODS, key) else { return };
        let time = self.stamp();
        let image = pod["spec"]["containers"][0]["image"].as_str().unwrap_or_default().to_owned();
        let container = pod["spec"]["containers"][0]["name"].as_str().unwrap_or_default().to_owned();
        match Stage::of(&pod) {
            Stage::Terminating => drop(self.cluster.store.remove(kinds::PODS, &key.0, &key.1)),
            Stage::Unscheduled => self.schedule(key, &pod),
            Stage::Scheduled => {
                let host = self.host_address(&pod);
                self.edit(kinds::PODS, key, |pod| pod_stages::create_containers(pod, &host, &time));
                self.record_kubelet_event(&pod, "Pulling", &format!("Pulling image \"{image}\""));
            }
            Stage::Creating if self.rng.u8(..100) < 4 => {
                let message =
                    format!("failed to pull and unpack image \"{image}\": connection reset by peer");
                self.edit(kinds::PODS, key, |pod| pod_stages::fail_pull(pod, &message));
                self.record_kubelet_event(
                    &pod,
                    "Failed",
                    &format!("Failed to pull image \"{image}\": {message}"),
                );
            }
            Stage::PullFailed => {
                self.edit(kinds::PODS, key, pod_stages::back_off_pull);
                self.record_kubelet_event(&pod, "BackOff", &format!("Back-off pulling image \"{image}\""));
            }
            Stage::Creating | Stage::PullBackOff => {
                let ip = self.pod_address(&pod);
                self.edit(kinds::PODS, key, |pod| pod_stages::start(pod, &ip, &time));
                self.record_kubelet_event(&pod, "Pulled", &format!("Successfully pulled image \"{image}\""));
                self.record_kubelet_event(&pod, "Created", &format!("Created container: {container}"));
                self.record_kubelet_event(&pod, "Started", &format!("Started container {container}"));
            }
            Stage::Starting if self.crashes_again(&pod) => {
                self.edit(kinds::PODS, key, |pod| pod_stages::crash(pod, 1, &time));
            }
            Stage::Starting => self.edit(kinds::PODS, key, |pod| pod_stages::set_ready(pod, true, &time)),
            Stage::Crashed => {
                self.edit(kinds::PODS, key, pod_stages::back_off);
                self.record_kubelet_event(
                    &pod,
                    "BackOff",
                    &format!("Back-off restarting failed container {container}"),
                );
            }
            Stage::BackingOff => {
                self.edit(kinds::PODS, key, |pod| pod_stages::restart(pod, &time));
                self.record_kubelet_event(&pod, "Started", &format!("Started container {container}"));
            }
            Stage::Ready if belongs_to_job(&pod) => {
                self.edit(kinds::PODS, key, |pod| pod_stages::succeed(pod, &time));
            }
            Stage::Ready | Stage::Finished => {}
        }
    }

    fn record_kubelet_event(&mut self, pod: &Value, reason: &str, message: &str) {
        self.record_event("Pod", pod, reason, message, "kubelet");
    }

    /// Returns whether a crashed pod crashes again, which one in three does.
    fn crashes_again(&mut self, pod: &Value) -> bool {
        let crashed = pod["status"]["containerStatuses"][0]["lastState"]["terminated"].is_object();
        let ran = pod["status"]["containerStatuses"][0]["state"]["running"]["startedAt"].as_str();
        // A ready pod may become unready for a moment, but only a restarted one crashes.
        let conditions = pod["status"]["conditions"].as_array().into_iter().flatten();
        let mut ready = conditions.filter(|one| one["type"] == "Ready");
        let since = ready.next().and_then(|one| one["lastTransitionTime"].as_str());
        crashed && since <= ran && self.rng.u8(..) < 80
    }

    /// Binds a pod to a schedulable node; without one it stays pending.
    fn schedule(&mut self, key: &ObjectKey, pod: &Value) {
        let nodes = self.cluster.store.now(&CollectionRange::all(kinds::NODES, None)).items;
        let nodes = nodes.iter().map(|node| node.value()).filter(is_schedulable);
        let names: Vec<String> =
            nodes.filter_map(|node| node["metadata"]["name"].as_str().map(str::to_owned)).collect();
        let time = self.stamp();
        let Some(node) = names.get(self.rng.usize(..names.len().max(1))) else {
            let later = self.random_time(2.0, 4.0);
            return self.tasks.set(later, Task::Pod(key.clone()));
        };
        self.edit(kinds::PODS, key, |pod| pod_stages::schedule(pod, node, &time));
        let message = format!("Successfully assigned {}/{} to {node}", key.0, key.1);
        self.record_event("Pod", pod, "Scheduled", &message, "default-scheduler");
    }

    fn host_address(&self, pod: &Value) -> String {
        let node = pod["spec"]["nodeName"].as_str().unwrap_or_default();
        let node = self.cluster.store.get(kinds::NODES, "", node).map(|node| node.value());
        let address =
            node.and_then(|node| node["status"]["addresses"][0]["address"].as_str().map(str::to_owned));
        address.unwrap_or_default()
    }

    fn pod_address(&mut self, pod: &Value) -> String {
        let node = pod["spec"]["nodeName"].as_str().and_then(|node| node.rsplit('-').next()?.parse().ok());
        address(node.unwrap_or(9), &mut self.rng)
    }
}

fn is_schedulable(node: &Value) -> bool {
    let labels = &node["metadata"]["labels"];
    super::nodes::is_ready(node)
        && node["spec"]["unschedulable"] != true
        && labels.get("node-role.kubernetes.io/control-plane").is_none()
}

fn belongs_to_job(pod: &Value) -> bool {
    pod["metadata"]["labels"].get("job-name").is_some()
}
