//! The volume controller.

use serde_json::json;

use super::Simulation;
use crate::demo::kinds;
use crate::demo::objects::manifests::Identity;
use crate::demo::store::uuid;
use crate::server::source::ObjectKey;

impl Simulation {
    /// Binds a claim to a new volume.
    pub(super) fn bind_claim(&mut self, key: &ObjectKey) {
        let Some(claim) = self.value(kinds::VOLUME_CLAIMS, key) else { return };
        let is_new = claim["status"]["phase"] == "Pending" && claim["spec"]["volumeName"].is_null();
        let class = claim["spec"]["storageClassName"].as_str().unwrap_or_default();
        if !is_new || self.cluster.store.get(kinds::STORAGE_CLASSES, "", class).is_none() {
            return;
        }
        let name = format!("pvc-{}", claim["metadata"]["uid"].as_str().unwrap_or_default());
        let (uid, created) = (uuid(&mut self.rng), self.stamp());
        let identity = Identity { namespace: "", name: &name, uid: &uid, created: &created };
        let size = &claim["spec"]["resources"]["requests"]["storage"];
        self.create(
            kinds::VOLUMES,
            json!({
                "metadata": identity.metadata(json!(null)),
                "spec": {
                    "capacity": {"storage": size}, "accessModes": claim["spec"]["accessModes"],
                    "persistentVolumeReclaimPolicy": "Delete", "storageClassName": class, "volumeMode": "Filesystem",
                    "claimRef": {
                        "kind": "PersistentVolumeClaim", "apiVersion": "v1", "namespace": key.0, "name": key.1,
                        "uid": claim["metadata"]["uid"],
                    },
                    "hostPath": {"path": format!("/var/demo/{name}"), "type": ""},
                },
                "status": {"phase": "Bound"},
            }),
        );
        self.edit(kinds::VOLUME_CLAIMS, key, |claim| {
            claim["spec"]["volumeName"] = name.as_str().into();
            claim["status"] = json!({
                "phase": "Bound", "accessModes": claim["spec"]["accessModes"],
                "capacity": {"storage": claim["spec"]["resources"]["requests"]["storage"]},
            });
        });
        let message = format!("Successfully provisioned volume {name}");
        self.record_event(
            "PersistentVolumeClaim",
            &claim,
            "ProvisioningSucceeded",
            &message,
            "demo.kdelta.dev/provisioner",
        );
    }

    /// Deletes a volume after its claim.
    pub(super) fn delete_volume(&self, claim_uid: &str) {
        self.cluster.store.remove(kinds::VOLUMES, "", &format!("pvc-{claim_uid}"));
    }
}
