//! Nodes that become unreachable for a while, and the eviction of their pods.

use serde_json::{Value, json};

use super::Simulation;
use super::schedule::Task;
use crate::demo::fixtures::{WORKERS, node_name};
use crate::demo::kinds;
use crate::demo::objects::pod_stages::{self, Stage};
use crate::server::source::{CollectionRange, ObjectKey};

/// The maximum number of pods evicted from a node: a large demo must not recreate a hundred thousand pods at once.
const MAX_EVICTIONS: usize = 40;

const UNREACHABLE: &str = "node.kubernetes.io/unreachable";

impl Simulation {
    /// Makes a node unreachable; its pods become unready, and are evicted later.
    pub(super) fn lose_node(&mut self) {
        let name = node_name(self.rng.u64(1..=WORKERS));
        let key: ObjectKey = ("".into(), name.as_str().into());
        let next = self.random_time(90.0, 180.0);
        self.tasks.set(next, Task::LoseNode);
        if self.value(kinds::NODES, &key).is_none_or(|node| !is_ready(&node)) {
            return;
        }
        let time = self.stamp();
        self.edit(kinds::NODES, &key, |node| {
            for condition in node["status"]["conditions"].as_array_mut().into_iter().flatten() {
                condition["status"] = "Unknown".into();
                condition["reason"] = "NodeStatusUnknown".into();
                condition["message"] = "Kubelet stopped posting node status.".into();
                condition["lastTransitionTime"] = time.as_str().into();
            }
            node["spec"]["taints"] = json!([
                {"key": UNREACHABLE, "effect": "NoSchedule", "timeAdded": time},
                {"key": UNREACHABLE, "effect": "NoExecute", "timeAdded": time},
            ]);
        });
        self.record_node_event(
            &key,
            "NodeNotReady",
            &format!("Node {name} status is now: NodeNotReady"),
            "node-controller",
        );
        for pod in self.pods_of(&name) {
            self.edit(kinds::PODS, &pod, |pod| pod_stages::set_ready(pod, false, &time));
        }
        let (evict, recover) = (self.random_time(4.0, 6.0), self.random_time(20.0, 30.0));
        self.tasks.set(evict, Task::Evict(name.as_str().into()));
        self.tasks.set(recover, Task::RecoverNode(name.into()));
    }

    /// Evicts the pods of a node that is still unreachable, except those of daemon sets.
    pub(super) fn evict_pods(&mut self, name: &str) {
        let is_unreachable =
            self.value(kinds::NODES, &("".into(), name.into())).is_some_and(|node| !is_ready(&node));
        for key in self.pods_of(name).into_iter().filter(|_| is_unreachable) {
            let Some(pod) = self.value(kinds::PODS, &key) else { continue };
            if pod["metadata"]["ownerReferences"][0]["kind"] == "DaemonSet" {
                continue;
            }
            self.delete(kinds::PODS, &key);
            let message = format!("Marking for deletion Pod {}/{}", key.0, key.1);
            self.record_event("Pod", &pod, "TaintManagerEviction", &message, "taint-eviction-controller");
        }
    }

    /// Makes an unreachable node ready again.
    pub(super) fn recover_node(&mut self, name: &str) {
        let key: ObjectKey = ("".into(), name.into());
        let time = self.stamp();
        self.edit(kinds::NODES, &key, |node| {
            node["spec"].as_object_mut().map(|spec| spec.remove("taints"));
            for condition in node["status"]["conditions"].as_array_mut().into_iter().flatten() {
                let (status, reason) = match condition["type"].as_str() {
                    Some("Ready") => ("True", "KubeletReady"),
                    Some("MemoryPressure") => ("False", "KubeletHasSufficientMemory"),
                    _ => ("False", "KubeletHasNoDiskPressure"),
                };
                condition["status"] = status.into();
                condition["reason"] = reason.into();
                condition["message"] = "".into();
                condition["lastTransitionTime"] = time.as_str().into();
            }
        });
        self.record_node_event(
            &key,
            "NodeReady",
            &format!("Node {name} status is now: NodeReady"),
            "kubelet",
        );
    }

    fn record_node_event(&mut self, node: &ObjectKey, reason: &str, message: &str, component: &str) {
        if let Some(node) = self.value(kinds::NODES, node) {
            self.record_event("Node", &node, reason, message, component);
        }
    }

    /// Returns some of the pods on a node, those of the applications first.
    fn pods_of(&self, node: &str) -> Vec<ObjectKey> {
        let namespaces = self.cluster.store.now(&CollectionRange::all(kinds::NAMESPACES, None)).items;
        let applications = namespaces.iter().filter(|namespace| !namespace.name.starts_with("load-"));
        let pods = applications.flat_map(|namespace| {
            self.cluster.store.now(&CollectionRange::all(kinds::PODS, Some(&namespace.name))).items
        });
        let active = pods.filter(|pod| {
            let value = pod.value();
            value["spec"]["nodeName"] == *node
                && ![Stage::Terminating, Stage::Finished].contains(&Stage::of(&value))
        });
        active.take(MAX_EVICTIONS).map(|pod| pod.key()).collect()
    }
}

/// Returns whether a node reports that it is ready.
pub(super) fn is_ready(node: &Value) -> bool {
    let mut conditions = node["status"]["conditions"].as_array().into_iter().flatten();
    conditions.any(|one| one["type"] == "Ready" && one["status"] == "True")
}
