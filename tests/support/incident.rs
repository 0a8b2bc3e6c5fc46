//! The recording of an incident: a rollout whose new pod crashes, a lost watch, a deleted config map, and a failing node.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::{Timestamp, ToSpan};
use kdelta::lines::ChangeKind::{self, Added, Deleted, Modified};
use kdelta::lines::MarkKind;
use kdelta::object::{ApiResource, ResourceVersion};
use serde_json::{Value, json};

use super::{Finished, Recorder, TestEnv, synced};

/// A directory with the recording, from 03:00 to 04:00 on 2026-11-24.
///
/// `deployment/web` gets another image at 03:10, its new pod `web-2-c` crashes at 03:15 and `web-1-a` is gone at 03:20.
/// `pod/db-0` is deleted and created again at 03:20. Pods are not observed from 03:30 to 03:40, and `web-1-b` is gone after
/// that. The config map `settings` is deleted at 03:45, and `node/worker-1` fails at 03:50.
pub(crate) struct Incident {
    env: TestEnv,
    pub(crate) dir: PathBuf,
}

impl Incident {
    pub(crate) fn new() -> Self {
        let env = TestEnv::new();
        let dir = env.home().join("rec");
        let mut recording = IncidentRecorder::new(&dir);
        recording.begin();
        recording.roll_out();
        recording.lose_pods();
        recording.fail();
        // Nothing happens afterwards: the end is that of the last entry.
        recording.recorder.document("/version", br#"{"major":"1","minor":"36"}"#, Self::at(60));
        recording.recorder.finish(Self::at(60));
        Self { env, dir }
    }

    /// Returns a time of the recording: the minutes after 03:00.
    pub(crate) fn at(minutes: i64) -> Timestamp {
        let beginning: Timestamp = "2026-11-24T03:00:00Z".parse().expect("a time");
        beginning.checked_add(minutes.minutes()).expect("a time")
    }

    /// Runs a command line on the recording.
    pub(crate) fn run(&self, line: &str) -> Finished {
        let dir = self.dir.to_str().expect("UTF-8");
        let words: Vec<&str> = line.split_whitespace().chain(["--from", dir]).collect();
        self.env.kdelta(&words).finish()
    }
}

struct IncidentRecorder {
    recorder: Recorder,
    version: u64,
}

impl IncidentRecorder {
    fn new(dir: &Path) -> Self {
        let mut recorder = Recorder::new(dir, "prod", Incident::at(0));
        let core = [
            ("pods", "Pod", "po", true),
            ("configmaps", "ConfigMap", "cm", true),
            ("nodes", "Node", "no", false),
            ("events", "Event", "ev", true),
        ];
        let apps = [("deployments", "Deployment", "deploy", true), ("replicasets", "ReplicaSet", "rs", true)];
        recorder.document("/api", discovery("", &core).to_string().as_bytes(), Incident::at(0));
        recorder.document("/apis", discovery("apps", &apps).to_string().as_bytes(), Incident::at(0));
        Self { recorder, version: 10 }
    }

    fn list(&mut self, resource: &Arc<ApiResource>, objects: &[Value]) {
        for object in objects {
            let object = self.versioned(object);
            self.recorder.json(Added, resource, &object, Incident::at(0));
        }
        let version = synced(self.version);
        self.recorder.mark(version, resource, Incident::at(0));
    }

    fn watch(
        &mut self,
        kind: ChangeKind,
        resource: &Arc<ApiResource>,
        object: &Value,
        author: Option<(&str, &str)>,
        minutes: i64,
    ) {
        let object = self.versioned(object);
        self.recorder.watched(kind, resource, &object, author, Incident::at(minutes));
    }

    fn versioned(&mut self, object: &Value) -> Value {
        self.version += 1;
        let mut object = object.clone();
        object["metadata"]["resourceVersion"] = self.version.to_string().into();
        object["metadata"]["creationTimestamp"] = "2026-11-24T02:55:00Z".into();
        object
    }

    fn begin(&mut self) {
        self.list(&deployments(), &[deployment("web:1", "True")]);
        self.list(&replicasets(), &[replicaset("web-1")]);
        self.list(&pods(), &[pod("web-1-a", "a"), pod("web-1-b", "b"), lone_pod("db-0", "u-1")]);
        self.list(&nodes(), &[node("True")]);
        self.list(&configmaps(), &[configmap("1")]);
        self.list(&events(), &[]);
    }

    fn roll_out(&mut self) {
        self.watch(Modified, &deployments(), &deployment("web:2", "True"), Some(("helm", "")), 10);
        let manager = Some(("kube-controller-manager", ""));
        self.watch(Added, &replicasets(), &replicaset("web-2"), manager, 11);
        self.watch(Added, &pods(), &new_pod("False", 0, None), manager, 11);
        let kubelet = Some(("kubelet", "status"));
        self.watch(Modified, &pods(), &new_pod("True", 0, None), kubelet, 12);
        self.watch(Modified, &pods(), &new_pod("False", 1, Some("CrashLoopBackOff")), kubelet, 15);
        self.watch(Added, &events(), &event(), None, 16);
        self.watch(Deleted, &pods(), &pod("web-1-a", "a"), None, 20);
        self.watch(Deleted, &pods(), &lone_pod("db-0", "u-1"), None, 20);
        self.watch(Added, &pods(), &lone_pod("db-0", "u-2"), manager, 20);
    }

    fn lose_pods(&mut self) {
        let [from, to] =
            [self.version, self.version + 10].map(|number| ResourceVersion::new(&number.to_string()));
        self.version += 10;
        let lasted = std::time::Duration::from_mins(10);
        self.recorder.mark(MarkKind::Gap { from, to, lasted }, &pods(), Incident::at(40));
        self.watch(Deleted, &pods(), &pod("web-1-b", "b"), None, 40);
    }

    fn fail(&mut self) {
        self.watch(Modified, &configmaps(), &configmap("2"), Some(("kubectl-edit", "")), 44);
        self.watch(Deleted, &configmaps(), &configmap("2"), None, 45);
        let manager = Some(("kube-controller-manager", "status"));
        self.watch(Modified, &nodes(), &node("Unknown"), manager, 50);
    }
}

fn discovery(group: &str, types: &[(&str, &str, &str, bool)]) -> Value {
    let entry = |(plural, kind, short, namespaced): &(&str, &str, &str, bool)| {
        json!({
            "resource": plural, "responseKind": {"group": "", "version": "", "kind": kind},
            "scope": if *namespaced { "Namespaced" } else { "Cluster" },
            "singularResource": kind.to_lowercase(), "shortNames": [short], "verbs": ["get", "list", "watch"],
        })
    };
    let resources: Vec<Value> = types.iter().map(entry).collect();
    let version = json!({"version": "v1", "resources": resources, "freshness": "Current"});
    json!({
        "kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "metadata": {},
        "items": [{"metadata": {"name": group}, "versions": [version]}],
    })
}

fn resource(group: &str, plural: &str, kind: &str, namespaced: bool) -> Arc<ApiResource> {
    let [group, version, resource, kind] = [group, "v1", plural, kind].map(str::to_owned);
    Arc::new(ApiResource { group, version, resource, kind, namespaced })
}

fn pods() -> Arc<ApiResource> {
    resource("", "pods", "Pod", true)
}

fn nodes() -> Arc<ApiResource> {
    resource("", "nodes", "Node", false)
}

fn configmaps() -> Arc<ApiResource> {
    resource("", "configmaps", "ConfigMap", true)
}

fn events() -> Arc<ApiResource> {
    resource("", "events", "Event", true)
}

fn deployments() -> Arc<ApiResource> {
    resource("apps", "deployments", "Deployment", true)
}

fn replicasets() -> Arc<ApiResource> {
    resource("apps", "replicasets", "ReplicaSet", true)
}

fn metadata(name: &str, uid: &str, owner: Option<(&str, &str)>) -> Value {
    let mut metadata = json!({"name": name, "namespace": "default", "uid": uid});
    if let Some((kind, name)) = owner {
        metadata["ownerReferences"] = json!([
            {"apiVersion": "apps/v1", "kind": kind, "name": name, "uid": format!("u-{name}"), "controller": true}
        ]);
    }
    metadata
}

fn conditions(kind: &str, status: &str, reason: &str) -> Value {
    json!([{"type": kind, "status": status, "reason": if status == "True" { "" } else { reason }}])
}

fn deployment(image: &str, available: &str) -> Value {
    json!({
        "metadata": metadata("web", "u-web", None),
        "spec": {"replicas": 2, "template": {"spec": {"containers": [{"name": "web", "image": image}]}}},
        "status": {"conditions": conditions("Available", available, "MinimumReplicasUnavailable")},
    })
}

fn replicaset(name: &str) -> Value {
    json!({
        "metadata": metadata(name, &format!("u-{name}"), Some(("Deployment", "web"))),
        "spec": {"replicas": 2}, "status": {"replicas": 2},
    })
}

fn pod_with(metadata: &Value, ready: &str, restarts: u64, waiting: Option<&str>) -> Value {
    let mut container = json!({"name": "web", "restartCount": restarts, "state": {"running": {}}});
    if restarts > 0 {
        container["lastState"] = json!({"terminated": {"reason": "OOMKilled", "exitCode": 137}});
    }
    if let Some(reason) = waiting {
        container["state"] = json!({"waiting": {"reason": reason}});
    }
    json!({
        "metadata": metadata, "spec": {"containers": [{"name": "web", "image": "web"}]},
        "status": {
            "phase": "Running", "conditions": conditions("Ready", ready, "ContainersNotReady"),
            "containerStatuses": [container],
        },
    })
}

fn pod(name: &str, uid: &str) -> Value {
    pod_with(&metadata(name, uid, Some(("ReplicaSet", "web-1"))), "True", 0, None)
}

fn lone_pod(name: &str, uid: &str) -> Value {
    pod_with(&metadata(name, uid, None), "True", 0, None)
}

fn new_pod(ready: &str, restarts: u64, waiting: Option<&str>) -> Value {
    pod_with(&metadata("web-2-c", "u-c", Some(("ReplicaSet", "web-2"))), ready, restarts, waiting)
}

fn node(ready: &str) -> Value {
    let mut metadata = metadata("worker-1", "u-worker-1", None);
    metadata.as_object_mut().expect("an object").remove("namespace");
    json!({"metadata": metadata, "spec": {}, "status": {"conditions": conditions("Ready", ready, "NodeStatusUnknown")}})
}

fn configmap(value: &str) -> Value {
    json!({"metadata": metadata("settings", "u-settings", None), "data": {"limit": value}})
}

fn event() -> Value {
    json!({
        "metadata": metadata("web-2-c.1", "u-event", None), "type": "Warning", "reason": "BackOff",
        "message": "Back-off restarting failed container", "count": 7,
        "involvedObject": {"kind": "Pod", "name": "web-2-c", "namespace": "default", "uid": "u-c"},
    })
}
