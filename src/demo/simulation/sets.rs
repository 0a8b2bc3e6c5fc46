//! The `StatefulSet` and `DaemonSet` controllers.

use serde_json::{Value, json};

use super::Simulation;
use crate::demo::kinds;
use crate::demo::objects::defaults;
use crate::demo::objects::manifests::{self, Identity};
use crate::demo::objects::pod_stages::{self, Stage};
use crate::demo::store::uuid;
use crate::demo::write::selects;
use crate::server::source::{CollectionRange, ObjectKey};

const REVISION: &str = "controller-revision-hash";

/// A pod of a set.
struct SetPod {
    key: ObjectKey,
    stage: Stage,
    revision: String,
    value: Value,
}

impl SetPod {
    fn is_active(&self) -> bool {
        ![Stage::Terminating, Stage::Finished].contains(&self.stage)
    }

    fn is_ready(&self) -> bool {
        self.stage == Stage::Ready
    }
}

impl Simulation {
    /// Returns the pods of a set.
    fn members(&self, set: &Value, key: &ObjectKey) -> Vec<SetPod> {
        let uid = set["metadata"]["uid"].as_str().unwrap_or_default();
        let owned = self.cluster.store.owned(kinds::PODS, &key.0, uid).into_iter();
        let member = owned.map(|pod| {
            let value = pod.value();
            let revision = value["metadata"]["labels"][REVISION].as_str().unwrap_or_default().to_owned();
            SetPod { key: pod.key(), stage: Stage::of(&value), revision, value }
        });
        member.collect()
    }

    /// Runs numbered pods: each starts after the previous one is ready, and the last is removed first.
    pub(super) fn reconcile_stateful_set(&mut self, key: &ObjectKey) {
        let Some(set) = self.value(kinds::STATEFUL_SETS, key) else { return };
        if set["metadata"]["deletionTimestamp"].is_string() {
            return;
        }
        let revision = self.ensure_revision(&set, "StatefulSet");
        let members = self.members(&set, key);
        let desired = set["spec"]["replicas"].as_u64().unwrap_or(1);
        let parallel = set["spec"]["podManagementPolicy"] == "Parallel";
        let mut settled = true;
        for number in 0..desired {
            let name = format!("{}-{number}", key.1);
            match members.iter().find(|member| *member.key.1 == *name) {
                Some(member) if member.is_ready() => {}
                Some(_) => settled = false,
                None => {
                    self.create_member(&set, "StatefulSet", &name, number, &revision);
                    settled = false;
                }
            }
            if !settled && !parallel {
                break;
            }
        }
        let number = |member: &SetPod| {
            let (_, number) = member.key.1.rsplit_once('-').unwrap_or_default();
            number.parse::<u64>().unwrap_or_default()
        };
        let mut active: Vec<&SetPod> = members.iter().filter(|member| member.is_active()).collect();
        active.sort_by_key(|member| std::cmp::Reverse(number(member)));
        let surplus = active.iter().find(|member| number(member) >= desired);
        let outdated = active.iter().find(|member| settled && member.revision != revision);
        if let Some(member) = surplus.or(outdated) {
            self.delete_member(&set, "StatefulSet", &member.key);
        }
        self.update_stateful_status(key, &members, &revision);
    }

    fn update_stateful_status(&self, key: &ObjectKey, members: &[SetPod], revision: &str) {
        let (replicas, ready) = (members.len(), members.iter().filter(|member| member.is_ready()).count());
        let updated = members.iter().filter(|member| member.revision == *revision).count();
        let name = format!("{}-{revision}", key.1);
        self.edit(kinds::STATEFUL_SETS, key, |set| {
            let previous = set["status"]["currentRevision"].as_str().unwrap_or(&name).to_owned();
            let current = if updated == replicas { name.clone() } else { previous };
            set["status"] = json!({
                "observedGeneration": set["metadata"]["generation"], "replicas": replicas, "readyReplicas": ready,
                "availableReplicas": ready, "currentReplicas": updated, "updatedReplicas": updated,
                "currentRevision": current, "updateRevision": name, "collisionCount": 0,
            });
        });
    }

    /// Runs one pod on each eligible node.
    pub(super) fn reconcile_daemon_set(&mut self, key: &ObjectKey) {
        let Some(set) = self.value(kinds::DAEMON_SETS, key) else { return };
        if set["metadata"]["deletionTimestamp"].is_string() {
            return;
        }
        let revision = self.ensure_revision(&set, "DaemonSet");
        let members = self.members(&set, key);
        let spec = &set["spec"]["template"]["spec"];
        let tolerates_all =
            spec["tolerations"].as_array().into_iter().flatten().any(|own| own["operator"] == "Exists");
        let node_selector = json!({"matchLabels": spec["nodeSelector"]});
        let nodes = self.cluster.store.now(&CollectionRange::all(kinds::NODES, None)).items;
        let nodes = nodes.iter().filter(|node| selects(&node_selector, &node.json)).filter(|node| {
            let labels = &node.value()["metadata"]["labels"];
            tolerates_all || labels.get("node-role.kubernetes.io/control-plane").is_none()
        });
        let nodes: Vec<String> = nodes.map(|node| node.name.to_string()).collect();
        let node_of =
            |member: &SetPod| member.value["spec"]["nodeName"].as_str().unwrap_or_default().to_owned();
        for node in &nodes {
            if !members.iter().any(|member| node_of(member) == *node && member.stage != Stage::Finished) {
                let name = format!("{}-{}", key.1, crate::demo::store::suffix(&mut self.rng));
                self.create_member_on_node(&set, &name, node, &revision);
            }
        }
        let settled = members.iter().filter(|member| member.is_ready()).count() >= nodes.len();
        let stray = members.iter().find(|member| member.is_active() && !nodes.contains(&node_of(member)));
        let outdated =
            members.iter().find(|member| settled && member.is_active() && member.revision != revision);
        if let Some(member) = stray.or(outdated) {
            self.delete_member(&set, "DaemonSet", &member.key);
        }
        let current = members.iter().filter(|member| member.is_active()).count();
        let ready = members.iter().filter(|member| member.is_ready()).count();
        let updated =
            members.iter().filter(|member| member.is_active() && member.revision == revision).count();
        self.edit(kinds::DAEMON_SETS, key, |set| {
            let mut status = json!({
                "observedGeneration": set["metadata"]["generation"], "desiredNumberScheduled": nodes.len(),
                "currentNumberScheduled": current, "numberMisscheduled": 0, "numberReady": ready,
            });
            let counts = [("updatedNumberScheduled", updated), ("numberAvailable", ready)];
            let missing = ("numberUnavailable", nodes.len().saturating_sub(ready));
            for (key, count) in counts.into_iter().chain([missing]).filter(|(_, count)| *count > 0) {
                status[key] = count.into();
            }
            set["status"] = status;
        });
    }

    /// Returns the revision of a set's template, creating its `ControllerRevision` if needed.
    fn ensure_revision(&mut self, set: &Value, kind: &str) -> String {
        let hash = manifests::template_hash(&set["spec"]["template"]);
        let metadata = &set["metadata"];
        let (namespace, name) = (
            metadata["namespace"].as_str().unwrap_or_default(),
            metadata["name"].as_str().unwrap_or_default(),
        );
        let revision_name = format!("{name}-{hash}");
        if self.cluster.store.get(kinds::CONTROLLER_REVISIONS, namespace, &revision_name).is_none() {
            let uid = metadata["uid"].as_str().unwrap_or_default();
            let previous = self.cluster.store.owned(kinds::CONTROLLER_REVISIONS, namespace, uid).len();
            let (uid, created) = (uuid(&mut self.rng), self.stamp());
            let identity = Identity { namespace, name: &revision_name, uid: &uid, created: &created };
            let mut labels = set["spec"]["template"]["metadata"]["labels"].clone();
            labels[REVISION] = hash.as_str().into();
            let mut metadata = identity.metadata(labels);
            metadata["ownerReferences"] = manifests::owners("apps/v1", kind, set);
            let mut template = set["spec"]["template"].clone();
            template["$patch"] = "replace".into();
            self.create(
                kinds::CONTROLLER_REVISIONS,
                json!({"metadata": metadata, "data": {"spec": {"template": template}}, "revision": previous + 1}),
            );
        }
        hash
    }

    /// Creates a numbered pod and its claims.
    fn create_member(&mut self, set: &Value, kind: &str, name: &str, number: u64, revision: &str) {
        let mut pod = self.pod_manifest(set, kind, name, revision);
        let labels = &mut pod["metadata"]["labels"];
        labels["statefulset.kubernetes.io/pod-name"] = name.into();
        labels["apps.kubernetes.io/pod-index"] = number.to_string().into();
        pod["spec"]["hostname"] = name.into();
        self.create_claims(set, name, &mut pod);
        self.create(kinds::PODS, pod);
        let message = format!("create Pod {name} in StatefulSet {} successful", text(set, "name"));
        self.record_event(kind, set, "SuccessfulCreate", &message, "statefulset-controller");
    }

    fn create_member_on_node(&mut self, set: &Value, name: &str, node: &str, revision: &str) {
        let mut pod = self.pod_manifest(set, "DaemonSet", name, revision);
        let time = self.stamp();
        pod_stages::schedule(&mut pod, node, &time);
        self.create(kinds::PODS, pod);
        self.record_event(
            "DaemonSet",
            set,
            "SuccessfulCreate",
            &format!("Created pod: {name}"),
            "daemonset-controller",
        );
    }

    fn pod_manifest(&mut self, set: &Value, kind: &str, name: &str, revision: &str) -> Value {
        let (uid, created) = (uuid(&mut self.rng), self.stamp());
        let identity = Identity { namespace: text(set, "namespace"), name, uid: &uid, created: &created };
        let mut pod =
            manifests::pod(&identity, &set["spec"]["template"], manifests::owners("apps/v1", kind, set));
        pod["metadata"]["labels"][REVISION] = revision.into();
        pod
    }

    /// Creates the claims of a numbered pod, which outlive it.
    fn create_claims(&mut self, set: &Value, pod_name: &str, pod: &mut Value) {
        for template in set["spec"]["volumeClaimTemplates"].as_array().into_iter().flatten() {
            let volume = template["metadata"]["name"].as_str().unwrap_or("data");
            let name = format!("{volume}-{pod_name}");
            let (uid, created) = (uuid(&mut self.rng), self.stamp());
            let identity =
                Identity { namespace: text(set, "namespace"), name: &name, uid: &uid, created: &created };
            let labels = set["spec"]["selector"]["matchLabels"].clone();
            let mut claim = json!({"metadata": identity.metadata(labels), "spec": template["spec"], "status": {"phase": "Pending"}});
            defaults::fill_claim(&mut claim);
            self.create(kinds::VOLUME_CLAIMS, claim);
            let volume = json!({"name": volume, "persistentVolumeClaim": {"claimName": name}});
            match pod["spec"]["volumes"].as_array_mut() {
                Some(volumes) => volumes.push(volume),
                None => pod["spec"]["volumes"] = json!([volume]),
            }
        }
    }

    /// Deletes a pod of a set.
    fn delete_member(&mut self, set: &Value, kind: &str, pod: &ObjectKey) {
        self.delete(kinds::PODS, pod);
        let (message, component) = match kind {
            "StatefulSet" => {
                let name = text(set, "name");
                (format!("delete Pod {} in StatefulSet {name} successful", pod.1), "statefulset-controller")
            }
            _ => (format!("Deleted pod: {}", pod.1), "daemonset-controller"),
        };
        self.record_event(kind, set, "SuccessfulDelete", &message, component);
    }
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value["metadata"][key].as_str().unwrap_or_default()
}
