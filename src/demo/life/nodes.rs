//! Nodes that fall silent for a while, and what becomes of their pods.

use serde_json::{Value, json};

use super::Life;
use super::agenda::Work;
use super::stages::{self, Stage};
use crate::demo::fixtures::{WORKERS, node_name};
use crate::demo::kinds;
use crate::demo::store::Part;
use crate::demo::stored::Place;

/// Pods of a silent node that are evicted at most: a hundred thousand pods are not to be made anew at once.
const MOST: usize = 40;

const UNREACHABLE: &str = "node.kubernetes.io/unreachable";

impl Life {
    /// A node falls silent; its pods are not ready any more, and soon evicted.
    pub(super) fn lose_node(&mut self) {
        let name = node_name(self.rng.u64(1..=WORKERS));
        let place: Place = ("".into(), name.as_str().into());
        let next = self.within(90.0, 180.0);
        self.agenda.set(next, Work::LoseNode);
        if self.value(kinds::NODES, &place).is_none_or(|node| !is_ready(&node)) {
            return;
        }
        let time = self.stamp();
        self.edit(kinds::NODES, &place, |node| {
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
        self.node_event(
            &place,
            "NodeNotReady",
            &format!("Node {name} status is now: NodeNotReady"),
            "node-controller",
        );
        for pod in self.pods_of(&name) {
            self.edit(kinds::PODS, &pod, |pod| stages::set_ready(pod, false, &time));
        }
        let (evict, back) = (self.within(4.0, 6.0), self.within(20.0, 30.0));
        self.agenda.set(evict, Work::Evict(name.as_str().into()));
        self.agenda.set(back, Work::NodeReturns(name.into()));
    }

    /// The pods of a node that is still silent go elsewhere; those of its daemons stay.
    pub(super) fn evict_pods(&mut self, name: &str) {
        let silent = self.value(kinds::NODES, &("".into(), name.into())).is_some_and(|node| !is_ready(&node));
        for place in self.pods_of(name).into_iter().filter(|_| silent) {
            let Some(pod) = self.value(kinds::PODS, &place) else { continue };
            if pod["metadata"]["ownerReferences"][0]["kind"] == "DaemonSet" {
                continue;
            }
            self.delete(kinds::PODS, &place);
            let message = format!("Marking for deletion Pod {}/{}", place.0, place.1);
            self.event("Pod", &pod, "TaintManagerEviction", &message, "taint-eviction-controller");
        }
    }

    /// A node is heard of again.
    pub(super) fn node_returns(&mut self, name: &str) {
        let place: Place = ("".into(), name.into());
        let time = self.stamp();
        self.edit(kinds::NODES, &place, |node| {
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
        self.node_event(&place, "NodeReady", &format!("Node {name} status is now: NodeReady"), "kubelet");
    }

    fn node_event(&mut self, node: &Place, reason: &str, message: &str, component: &str) {
        if let Some(node) = self.value(kinds::NODES, node) {
            self.event("Node", &node, reason, message, component);
        }
    }

    /// Some of the pods on a node, those of the applications first.
    fn pods_of(&self, node: &str) -> Vec<Place> {
        let namespaces = self.cluster.store.now(&Part::all(kinds::NAMESPACES, None)).items;
        let own = namespaces.iter().filter(|namespace| !namespace.name.starts_with("load-"));
        let pods = own.flat_map(|own| self.cluster.store.now(&Part::all(kinds::PODS, Some(&own.name))).items);
        let there = pods.filter(|pod| {
            let value = pod.value();
            value["spec"]["nodeName"] == *node && ![Stage::Going, Stage::Over].contains(&Stage::of(&value))
        });
        there.take(MOST).map(|pod| pod.place()).collect()
    }
}

/// Whether a node says that it is.
pub(super) fn is_ready(node: &Value) -> bool {
    let mut conditions = node["status"]["conditions"].as_array().into_iter().flatten();
    conditions.any(|one| one["type"] == "Ready" && one["status"] == "True")
}
