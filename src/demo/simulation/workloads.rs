//! The Deployment and `ReplicaSet` controllers.

use std::sync::Arc;

use serde_json::{Value, json};

use super::Simulation;
use crate::demo::kinds;
use crate::demo::objects::conditions;
use crate::demo::objects::manifests::{self, Identity};
use crate::demo::objects::pod_stages::Stage;
use crate::demo::store::{suffix, uuid};
use crate::server::source::{KindId, ObjectKey, StoredObject};

fn count(value: &Value) -> u64 {
    value.as_u64().unwrap_or_default()
}

fn number(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value["metadata"][key].as_str().unwrap_or_default()
}

const REVISION: &str = "deployment.kubernetes.io/revision";

/// Returns the revision in an object's annotation, or 0.
fn revision(object: &Value) -> u64 {
    let text = object["metadata"]["annotations"][REVISION].as_str();
    text.and_then(|text| text.parse().ok()).unwrap_or_default()
}

impl Simulation {
    /// Creates or deletes pods up to the desired number and updates the status.
    pub(super) fn reconcile_replica_set(&mut self, key: &ObjectKey) {
        let Some(rs) = self.value(kinds::REPLICA_SETS, key) else { return };
        let owned = self.cluster.store.owned(kinds::PODS, &key.0, text(&rs, "uid"));
        let pods: Vec<(Arc<StoredObject>, Stage)> =
            owned.into_iter().map(|pod| (Arc::clone(&pod), Stage::of(&pod.value()))).collect();
        let mut active: Vec<_> =
            pods.iter().filter(|(_, stage)| ![Stage::Terminating, Stage::Finished].contains(stage)).collect();
        let desired = count(&rs["spec"]["replicas"]);
        for _ in number(active.len())..desired {
            self.create_pod(&rs, "apps/v1", "ReplicaSet");
        }
        // Unready pods are deleted first, then the newest.
        active.sort_by_key(|(pod, stage)| (*stage == Stage::Ready, std::cmp::Reverse(pod.version)));
        let surplus = number(active.len()).saturating_sub(desired);
        let surplus = usize::try_from(surplus).unwrap_or_default();
        for (pod, _) in active.iter().take(surplus) {
            self.delete(kinds::PODS, &pod.key());
            let message = format!("Deleted pod: {}", pod.name);
            self.record_event("ReplicaSet", &rs, "SuccessfulDelete", &message, "replicaset-controller");
        }
        let ready = number(active[surplus..].iter().filter(|(_, stage)| *stage == Stage::Ready).count());
        self.edit(kinds::REPLICA_SETS, key, |rs| {
            let mut status = json!({
                "replicas": desired, "fullyLabeledReplicas": desired,
                "observedGeneration": rs["metadata"]["generation"],
            });
            if ready > 0 {
                status["readyReplicas"] = ready.into();
                status["availableReplicas"] = ready.into();
            }
            rs["status"] = status;
        });
    }

    /// Creates a pod from a template.
    pub(super) fn create_pod(&mut self, owner: &Value, api_version: &str, kind: &str) {
        let name = format!("{}-{}", text(owner, "name"), suffix(&mut self.rng));
        let (uid, created) = (uuid(&mut self.rng), self.stamp());
        let identity =
            Identity { namespace: text(owner, "namespace"), name: &name, uid: &uid, created: &created };
        let owners = manifests::owners(api_version, kind, owner);
        self.create(kinds::PODS, manifests::pod(&identity, &owner["spec"]["template"], owners));
        let component = if kind == "Job" { "job-controller" } else { "replicaset-controller" };
        self.record_event(kind, owner, "SuccessfulCreate", &format!("Created pod: {name}"), component);
    }

    /// Rolls out a deployment with at most one additional pod and without losing ready ones: the new `ReplicaSet` grows
    /// and the old ones shrink step by step.
    pub(super) fn reconcile_deployment(&mut self, key: &ObjectKey) {
        let Some(deployment) = self.value(kinds::DEPLOYMENTS, key) else { return };
        if deployment["metadata"]["deletionTimestamp"].is_string() || deployment["spec"]["paused"] == true {
            return;
        }
        let owned = self.cluster.store.owned(kinds::REPLICA_SETS, &key.0, text(&deployment, "uid"));
        let sets: Vec<Value> = owned.iter().map(|set| set.value()).collect();
        let hash = manifests::template_hash(&deployment["spec"]["template"]);
        let is_new = |set: &Value| set["metadata"]["labels"]["pod-template-hash"] == *hash;
        let old: Vec<&Value> = sets.iter().filter(|set| !is_new(set)).collect();
        let Some(new) = sets.iter().find(|set| is_new(set)) else {
            return self.create_replica_set(&deployment, &sets, &hash);
        };
        self.reuse_replica_set(&deployment, &sets, new);
        let (desired, current) = (count(&deployment["spec"]["replicas"]), count(&new["spec"]["replicas"]));
        let old_replicas: u64 = old.iter().map(|set| count(&set["spec"]["replicas"])).sum();
        let target = if old_replicas == 0 || current > desired {
            desired
        } else {
            desired.min((desired + 1).saturating_sub(old_replicas)).max(current)
        };
        self.scale(&deployment, new, target);
        let available: u64 = sets.iter().map(|set| count(&set["status"]["availableReplicas"])).sum();
        let mut removable = available.saturating_sub(desired);
        for set in &old {
            let (size, ready) = (count(&set["spec"]["replicas"]), count(&set["status"]["availableReplicas"]));
            let unready = size.saturating_sub(ready);
            let removed = removable.min(size - unready);
            removable -= removed;
            self.scale(&deployment, set, size - unready - removed);
        }
        self.delete_old_revisions(&deployment, &old);
        self.update_deployment_status(key, &sets, new, desired);
    }

    fn create_replica_set(&mut self, deployment: &Value, sets: &[Value], hash: &str) {
        let next = sets.iter().map(revision).max().unwrap_or(0) + 1;
        let name = format!("{}-{hash}", text(deployment, "name"));
        let (uid, created) = (uuid(&mut self.rng), self.stamp());
        let identity =
            Identity { namespace: text(deployment, "namespace"), name: &name, uid: &uid, created: &created };
        self.create(kinds::REPLICA_SETS, manifests::replica_set(&identity, deployment, 0, next));
        self.set_revision(kinds::DEPLOYMENTS, deployment, next);
    }

    /// Gives a `ReplicaSet` the latest revision when a deployment returns to its template.
    fn reuse_replica_set(&mut self, deployment: &Value, sets: &[Value], new: &Value) {
        let latest = sets.iter().map(revision).max().unwrap_or(0);
        let next = if revision(new) == latest { latest } else { latest + 1 };
        if revision(new) != next {
            self.set_revision(kinds::REPLICA_SETS, new, next);
        }
        if revision(deployment) != next {
            self.set_revision(kinds::DEPLOYMENTS, deployment, next);
        }
    }

    fn set_revision(&self, kind: KindId, object: &Value, to: u64) {
        let key = (text(object, "namespace").into(), text(object, "name").into());
        self.edit(kind, &key, |object| object["metadata"]["annotations"][REVISION] = to.to_string().into());
    }

    fn scale(&mut self, deployment: &Value, set: &Value, to: u64) {
        let from = count(&set["spec"]["replicas"]);
        if from == to {
            return;
        }
        let key = (text(set, "namespace").into(), text(set, "name").into());
        self.edit(kinds::REPLICA_SETS, &key, |set| {
            set["spec"]["replicas"] = to.into();
            set["metadata"]["generation"] = (count(&set["metadata"]["generation"]) + 1).into();
        });
        let direction = if to > from { "up" } else { "down" };
        let message = format!("Scaled {direction} replica set {} from {from} to {to}", key.1);
        self.record_event("Deployment", deployment, "ScalingReplicaSet", &message, "deployment-controller");
    }

    /// Deletes old, empty `ReplicaSet`s beyond the history limit.
    fn delete_old_revisions(&mut self, deployment: &Value, old: &[&Value]) {
        let limit = usize::try_from(count(&deployment["spec"]["revisionHistoryLimit"])).unwrap_or_default();
        let is_empty =
            |set: &&&Value| count(&set["spec"]["replicas"]) == 0 && count(&set["status"]["replicas"]) == 0;
        let mut empty: Vec<&&Value> = old.iter().filter(is_empty).collect();
        empty.sort_by_key(|set| std::cmp::Reverse(revision(set)));
        for set in empty.iter().skip(limit) {
            self.delete(kinds::REPLICA_SETS, &(text(set, "namespace").into(), text(set, "name").into()));
        }
    }

    fn update_deployment_status(&mut self, key: &ObjectKey, sets: &[Value], new: &Value, desired: u64) {
        let sum = |field: &str| sets.iter().map(|set| count(&set["status"][field])).sum::<u64>();
        let (replicas, ready, updated) =
            (sum("replicas"), sum("readyReplicas"), count(&new["status"]["replicas"]));
        let time = self.stamp();
        let new = text(new, "name").to_owned();
        self.edit(kinds::DEPLOYMENTS, key, |deployment| {
            let mut status = json!({
                "observedGeneration": deployment["metadata"]["generation"], "replicas": replicas,
                "updatedReplicas": updated, "readyReplicas": ready, "availableReplicas": ready,
                "conditions": deployment["status"]["conditions"],
            });
            if desired > ready {
                status["unavailableReplicas"] = (desired - ready).into();
            }
            deployment["status"] = status;
            conditions::set_available(deployment, ready >= desired, &time);
            let is_complete = updated == desired && replicas == desired && ready >= desired;
            conditions::set_progressing(deployment, is_complete, &new, &time);
        });
    }
}
