//! The objects of a scenario: namespaces on a real server, whose objects have the states that the scenario gives them, as no
//! controller runs.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{Api, OnServer, Testbed, eventually};

/// The server, as a scenario changes it.
pub(super) struct Stage {
    pub(super) api: Api,
    pub(super) namespace: String,
    /// A second namespace, which does not exist at the start.
    pub(super) other: String,
    testbed: &'static Testbed,
    pause: Duration,
}

impl Stage {
    pub(super) fn new(on: &OnServer) -> Self {
        Self::with_slowness(on, 1)
    }

    /// Returns a stage whose pauses are this many times as long.
    pub(super) fn with_slowness(on: &OnServer, slowness: u32) -> Self {
        let (namespace, testbed) = (on.namespace.clone(), on.testbed);
        let (other, pause) = (format!("{namespace}-other"), Duration::from_millis(400) * slowness);
        Self { api: Api::of(testbed), other, namespace, testbed, pause }
    }

    /// Returns a word of a command line with the names of this stage.
    pub(super) fn word(&self, word: &str) -> String {
        word.replace("{other}", &self.other).replace("{ns}", &self.namespace)
    }

    fn path(&self, group: &str, plural: &str) -> String {
        match group {
            "" => format!("/api/v1/namespaces/{}/{plural}", self.namespace),
            group => format!("/apis/{group}/v1/namespaces/{}/{plural}", self.namespace),
        }
    }

    fn set_status(&self, group: &str, plural: &str, name: &str, status: &Value) {
        let path = format!("{}/{name}/status", self.path(group, plural));
        self.api.patch(&path, &json!({ "status": status }));
    }

    /// Creates the second namespace.
    pub(super) fn create_other(&self) {
        self.api.create("/api/v1/namespaces", &json!({"metadata": {"name": self.other}}));
    }

    /// Changes the second namespace.
    pub(super) fn in_other(&self, change: impl FnOnce(&Self)) {
        let (api, namespace) = (Api::of(self.testbed), self.other.clone());
        let other = Self { api, namespace, other: String::new(), testbed: self.testbed, pause: self.pause };
        change(&other);
    }

    /// Gives the program the time to see a state before the next change.
    pub(super) fn pause(&self) {
        std::thread::sleep(self.pause);
    }

    /// Replaces the specification of a gadget.
    pub(super) fn set_gadget(&self, name: &str, spec: &Value) {
        let path = format!("{}/{name}", self.path(&self.group(), "gadgets"));
        self.api.patch(&path, &json!({ "spec": spec }));
    }

    /// Creates a pod with the label `app=web`.
    pub(super) fn pod(&self, name: &str) {
        self.owned_pod(name, None);
    }

    /// Creates a pod that a controller owns.
    pub(super) fn owned_pod(&self, name: &str, owner: Option<(&str, &str)>) {
        let owners = owner.map(|(api_version, kind)| {
            json!({"apiVersion": api_version, "kind": kind, "name": "owner", "uid": "1-2-3", "controller": true})
        });
        let owners: Vec<Value> = owners.into_iter().collect();
        let metadata = json!({"name": name, "labels": {"app": "web"}, "ownerReferences": owners});
        let spec = json!({"containers": [{"name": "c", "image": "x"}], "terminationGracePeriodSeconds": 0});
        self.api.create(&self.path("", "pods"), &json!({ "metadata": metadata, "spec": spec }));
    }

    pub(super) fn pod_status(&self, name: &str, status: &Value) {
        self.set_status("", "pods", name, status);
    }

    /// Sets the condition Ready and the phase Running.
    pub(super) fn ready(&self, name: &str, is_ready: bool) {
        let status = if is_ready { "True" } else { "False" };
        let conditions = json!([{"type": "Ready", "status": status, "reason": if is_ready { "" } else { "ContainersNotReady" }}]);
        self.pod_status(name, &json!({ "phase": "Running", "conditions": conditions }));
    }

    /// Ends a pod with this phase.
    pub(super) fn finish(&self, name: &str, phase: &str) {
        let conditions = json!([{"type": "Ready", "status": "False", "reason": "PodCompleted"}]);
        self.pod_status(name, &json!({ "phase": phase, "conditions": conditions }));
    }

    /// Makes the container of a pod wait for this reason.
    pub(super) fn container_waits(&self, name: &str, reason: &str) {
        let state = json!({"waiting": {"reason": reason}});
        let container = json!({"name": "c", "image": "x", "imageID": "", "ready": false, "restartCount": 3, "state": state});
        let conditions = json!([{"type": "Ready", "status": "False", "reason": "ContainersNotReady"}]);
        let phase = if reason == "CrashLoopBackOff" { "Running" } else { "Pending" };
        self.pod_status(
            name,
            &json!({"phase": phase, "conditions": conditions, "containerStatuses": [container]}),
        );
    }

    pub(super) fn delete_pod(&self, name: &str) {
        self.api.delete(&format!("{}/{name}?gracePeriodSeconds=0", self.path("", "pods")));
    }

    pub(super) fn job(&self, name: &str) {
        let template =
            json!({"spec": {"containers": [{"name": "c", "image": "x"}], "restartPolicy": "Never"}});
        let job = json!({"metadata": {"name": name}, "spec": {"template": template}});
        self.api.create(&self.path("batch", "jobs"), &job);
    }

    /// Ends a Job, as its controller does.
    pub(super) fn finish_job(&self, name: &str, is_success: bool) {
        let time = "2026-11-25T10:00:00Z";
        let condition = |kind: &str, reason: &str| json!({"type": kind, "status": "True", "reason": reason, "lastTransitionTime": time, "lastProbeTime": time});
        let status = if is_success {
            let conditions = [condition("SuccessCriteriaMet", ""), condition("Complete", "")];
            json!({"startTime": time, "completionTime": time, "succeeded": 1, "conditions": conditions})
        } else {
            let reason = "BackoffLimitExceeded";
            let conditions = [condition("FailureTarget", reason), condition("Failed", reason)];
            json!({"startTime": time, "failed": 1, "conditions": conditions})
        };
        self.set_status("batch", "jobs", name, &status);
    }

    pub(super) fn deployment(&self, name: &str) {
        let labels = json!({"app": name});
        let template =
            json!({"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "x"}]}});
        let spec = json!({"replicas": 3, "selector": {"matchLabels": labels}, "template": template});
        self.api
            .create(&self.path("apps", "deployments"), &json!({"metadata": {"name": name}, "spec": spec}));
    }

    /// Sets the number of ready replicas of a deployment with three.
    pub(super) fn ready_replicas(&self, name: &str, ready: u32) {
        let is_available = if ready == 3 { "True" } else { "False" };
        let conditions = json!([
            {"type": "Progressing", "status": "True", "reason": "NewReplicaSetAvailable"},
            {"type": "Available", "status": is_available},
        ]);
        let status = json!({"observedGeneration": 1, "replicas": 3, "updatedReplicas": 3, "readyReplicas": ready,
            "availableReplicas": ready, "unavailableReplicas": 3 - ready, "conditions": conditions});
        self.set_status("apps", "deployments", name, &status);
    }

    pub(super) fn exceed_deadline(&self, name: &str) {
        let conditions =
            json!([{"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded"}]);
        self.set_status(
            "apps",
            "deployments",
            name,
            &json!({"observedGeneration": 1, "conditions": conditions}),
        );
    }

    pub(super) fn config_map(&self, name: &str, labels: &Value) {
        self.api.create_config_map(&self.namespace, name, labels);
    }

    pub(super) fn delete_config_map(&self, name: &str) {
        self.api.delete(&format!("{}/{name}", self.path("", "configmaps")));
    }

    /// Changes the data of a config map.
    pub(super) fn set_data(&self, name: &str, data: &Value) {
        self.api.patch(&format!("{}/{name}", self.path("", "configmaps")), &json!({ "data": data }));
    }

    /// Returns the group of this stage's own type.
    fn group(&self) -> String {
        format!("{}.kdelta.test", self.namespace)
    }

    /// Defines a type `gadgets` of this stage's own, with a status.
    pub(super) fn define_gadgets(&self) {
        let group = self.group();
        let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
        let version = json!({"name": "v1", "served": true, "storage": true, "subresources": {"status": {}},
            "schema": {"openAPIV3Schema": schema}});
        let definition = json!({"metadata": {"name": format!("gadgets.{group}")}, "spec": {"group": group, "scope": "Namespaced",
            "names": {"plural": "gadgets", "singular": "gadget", "kind": "Gadget"}, "versions": [version]}});
        self.api.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", &definition);
        eventually("the type is served", || self.api.discovers(&group, "gadgets").then_some(()));
    }

    pub(super) fn gadget(&self, name: &str) {
        let group = self.group();
        let object =
            json!({"apiVersion": format!("{group}/v1"), "kind": "Gadget", "metadata": {"name": name}});
        let path = self.path(&group, "gadgets");
        // A type is served a moment after it is discovered.
        eventually("the type is served", || self.api.find(&path));
        self.api.create(&path, &object);
    }

    pub(super) fn gadget_is_ready(&self, name: &str, is_ready: bool) {
        let status = if is_ready { "True" } else { "False" };
        let conditions = json!([{"type": "Ready", "status": status, "reason": "Gadgeting"}]);
        self.set_status(&self.group(), "gadgets", name, &json!({ "conditions": conditions }));
    }

    pub(super) fn event(&self, pod: &str, message: &str) {
        let time = "2026-11-25T10:00:00Z";
        let event = json!({"metadata": {"generateName": "e-"}, "type": "Warning", "reason": "Failed", "message": message,
            "involvedObject": {"kind": "Pod", "namespace": self.namespace, "name": pod}, "lastTimestamp": time,
            "firstTimestamp": time, "count": 4});
        self.api.create(&self.path("", "events"), &event);
    }
}
