//! The smaller controllers: namespaces that are emptied, nodes that say they live, backups that make progress.

use std::time::Duration;

use serde_json::json;

use super::Life;
use super::agenda::Work;
use crate::demo::cluster::micro_stamp;
use crate::demo::kinds;
use crate::demo::store::Part;
use crate::demo::stored::Place;

/// Between two heartbeats of a node.
const HEARTBEAT: Duration = Duration::from_secs(10);

impl Life {
    /// A namespace that is to go takes all that is in it along.
    pub(super) fn namespace(&mut self, name: &str) {
        let Some(namespace) = self.value(kinds::NAMESPACES, &("".into(), name.into())) else { return };
        if !namespace["metadata"]["deletionTimestamp"].is_string() {
            return;
        }
        for (id, kind) in self.cluster.store.kinds() {
            for item in self.cluster.store.now(&Part::all(id, Some(name))).items {
                if kind.namespaced {
                    self.cluster.store.remove(id, name, &item.name);
                }
            }
        }
        self.cluster.store.remove(kinds::NAMESPACES, "", name);
    }

    /// Every node renews its lease, and says what state it is in.
    pub(super) fn leases(&mut self) {
        let (renewed, time) = (micro_stamp(self.time()), self.stamp());
        for node in self.cluster.store.now(&Part::all(kinds::NODES, None)).items {
            if !super::nodes::is_ready(&node.value()) {
                continue;
            }
            let place = ("kube-node-lease".into(), node.name.clone());
            self.edit(kinds::LEASES, &place, |lease| lease["spec"]["renewTime"] = renewed.as_str().into());
            self.edit(kinds::NODES, &node.place(), |node| {
                for condition in node["status"]["conditions"].as_array_mut().into_iter().flatten() {
                    condition["lastHeartbeatTime"] = time.as_str().into();
                }
            });
        }
        self.agenda.set(self.now + HEARTBEAT, Work::Leases);
    }

    /// A backup runs, completes, and some time later begins anew.
    pub(super) fn backup(&mut self, place: &Place) {
        let Some(id) = self.cluster.store.id("demo.kdelta.dev", "backups") else { return };
        let time = self.stamp();
        let mut wait = (1.5, 3.0);
        self.edit(id, place, |backup| {
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
        let next = self.within(wait.0, wait.1);
        self.agenda.set(next, Work::Backup(place.clone()));
    }
}
