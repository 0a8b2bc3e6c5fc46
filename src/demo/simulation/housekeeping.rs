//! Smaller controllers: namespace deletion, node heartbeats, and the progress of backups.

use std::time::Duration;

use serde_json::json;

use super::Simulation;
use super::schedule::Task;
use crate::demo::clock::micro_stamp;
use crate::demo::kinds;
use crate::server::source::{CollectionRange, ObjectKey};

/// The interval between heartbeats of a node.
const HEARTBEAT: Duration = Duration::from_secs(10);

impl Simulation {
    /// Deletes the content of a namespace that is being deleted, then the namespace.
    pub(super) fn empty_namespace(&mut self, name: &str) {
        let Some(namespace) = self.value(kinds::NAMESPACES, &("".into(), name.into())) else { return };
        if !namespace["metadata"]["deletionTimestamp"].is_string() {
            return;
        }
        for (id, kind) in self.cluster.store.kinds() {
            for item in self.cluster.store.now(&CollectionRange::all(id, Some(name))).items {
                if kind.namespaced {
                    self.cluster.store.remove(id, name, &item.name);
                }
            }
        }
        self.cluster.store.remove(kinds::NAMESPACES, "", name);
    }

    /// Renews every node's lease and reports its state.
    pub(super) fn renew_leases(&mut self) {
        let (renewed, time) = (micro_stamp(self.time()), self.stamp());
        for node in self.cluster.store.now(&CollectionRange::all(kinds::NODES, None)).items {
            if !super::nodes::is_ready(&node.value()) {
                continue;
            }
            let key = ("kube-node-lease".into(), node.name.clone());
            self.edit(kinds::LEASES, &key, |lease| lease["spec"]["renewTime"] = renewed.as_str().into());
            self.edit(kinds::NODES, &node.key(), |node| {
                for condition in node["status"]["conditions"].as_array_mut().into_iter().flatten() {
                    condition["lastHeartbeatTime"] = time.as_str().into();
                }
            });
        }
        self.tasks.set(self.now + HEARTBEAT, Task::Leases);
    }

    /// Advances a backup: it runs, completes, and starts again some time later.
    pub(super) fn advance_backup(&mut self, key: &ObjectKey) {
        let Some(id) = self.cluster.store.id("demo.kdelta.dev", "backups") else { return };
        let time = self.stamp();
        let mut wait = (1.5, 3.0);
        self.edit(id, key, |backup| {
            let progress = backup["status"]["progress"].as_u64().unwrap_or(100);
            backup["status"] = match (backup["status"]["phase"].as_str(), progress) {
                (Some("Pending"), _) => json!({"phase": "Running", "progress": 0, "startTime": time}),
                (Some("Running"), ..80) => json!({"phase": "Running", "progress": progress + 20}),
                (Some("Running"), _) => {
                    wait = (15.0, 25.0);
                    json!({"phase": "Completed", "progress": 100, "completionTime": time})
                }
                _ => json!({"phase": "Pending", "progress": 0}),
            };
        });
        let next = self.random_time(wait.0, wait.1);
        self.tasks.set(next, Task::Backup(key.clone()));
    }
}
