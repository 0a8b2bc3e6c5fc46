//! Manifests of the demo's objects, as a real cluster's controllers would create them.

use serde_json::{Value, json};

use super::defaults;

/// The registry of the demo's images.
pub(in crate::demo) const REGISTRY: &str = "registry.demo.internal";

/// The namespace, name, UID and creation time of an object.
pub(in crate::demo) struct Identity<'a> {
    pub(in crate::demo) namespace: &'a str,
    pub(in crate::demo) name: &'a str,
    pub(in crate::demo) uid: &'a str,
    pub(in crate::demo) created: &'a str,
}

impl Identity<'_> {
    /// Returns `metadata` with these labels.
    pub(in crate::demo) fn metadata(&self, labels: Value) -> Value {
        let mut metadata = json!({"name": self.name, "uid": self.uid, "creationTimestamp": self.created});
        if !self.namespace.is_empty() {
            metadata["namespace"] = self.namespace.into();
        }
        if labels.is_object() {
            metadata["labels"] = labels;
        }
        metadata
    }
}

/// Returns `ownerReferences` with one controller.
pub(in crate::demo) fn owners(api_version: &str, kind: &str, owner: &Value) -> Value {
    json!([{
        "apiVersion": api_version, "kind": kind, "name": owner["metadata"]["name"], "uid": owner["metadata"]["uid"],
        "controller": true, "blockOwnerDeletion": true,
    }])
}

/// Returns one small entry of `managedFields`.
pub(in crate::demo) fn managed_by(manager: &str, api_version: &str, time: &str) -> Value {
    json!([{
        "manager": manager, "operation": "Update", "apiVersion": api_version, "time": time,
        "fieldsType": "FieldsV1", "fieldsV1": {"f:metadata": {"f:labels": {}}, "f:spec": {}},
    }])
}

/// Returns the pod template of an application.
pub(in crate::demo) fn template(app: &str, image: &str) -> Value {
    let mut spec = json!({"containers": [{
        "name": app, "image": image, "ports": [{"containerPort": 8080, "protocol": "TCP"}],
        "env": [{"name": "APP", "value": app}, {"name": "LOG_LEVEL", "value": "info"}],
        "resources": {"requests": {"cpu": "50m", "memory": "64Mi"}, "limits": {"memory": "128Mi"}},
        "readinessProbe": {"httpGet": {"path": "/ready", "port": 8080}, "periodSeconds": 5},
    }]});
    defaults::fill_pod_spec(&mut spec);
    json!({"metadata": {"labels": {"app": app}}, "spec": spec})
}

pub(in crate::demo) fn deployment(identity: &Identity<'_>, replicas: u64, template: &Value) -> Value {
    let mut metadata = identity.metadata(json!({"app": identity.name}));
    metadata["generation"] = 1.into();
    metadata["annotations"] = json!({"deployment.kubernetes.io/revision": "1"});
    metadata["managedFields"] = managed_by("kubectl-create", "apps/v1", identity.created);
    json!({
        "metadata": metadata,
        "spec": {
            "replicas": replicas, "selector": {"matchLabels": {"app": identity.name}}, "template": template,
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}},
            "revisionHistoryLimit": 2, "progressDeadlineSeconds": 600,
        },
        "status": {},
    })
}

/// Returns the `ReplicaSet` of a deployment's template.
pub(in crate::demo) fn replica_set(
    identity: &Identity<'_>,
    deployment: &Value,
    replicas: u64,
    revision: u64,
) -> Value {
    let hash = template_hash(&deployment["spec"]["template"]);
    let mut template = deployment["spec"]["template"].clone();
    template["metadata"]["labels"]["pod-template-hash"] = hash.as_str().into();
    let mut selector = deployment["spec"]["selector"].clone();
    selector["matchLabels"]["pod-template-hash"] = hash.into();
    let mut metadata = identity.metadata(template["metadata"]["labels"].clone());
    metadata["generation"] = 1.into();
    metadata["annotations"] = json!({"deployment.kubernetes.io/revision": revision.to_string()});
    metadata["ownerReferences"] = owners("apps/v1", "Deployment", deployment);
    json!({
        "metadata": metadata,
        "spec": {"replicas": replicas, "selector": selector, "template": template},
        "status": {"replicas": 0},
    })
}

/// Returns a hash of a template in the alphabet of generated names.
pub(in crate::demo) fn template_hash(template: &Value) -> String {
    const LETTERS: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
    let mut plain = template.clone();
    plain["metadata"]["labels"].as_object_mut().map(|labels| labels.remove("pod-template-hash"));
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let mut hash = plain.to_string().bytes().fold(0xcbf2_9ce4_8422_2325, step);
    let mut text = String::new();
    for _ in 0..10 {
        text.push(char::from(LETTERS[usize::try_from(hash % 27).unwrap_or_default()]));
        hash /= 27;
    }
    text
}

/// Returns an unscheduled pod.
pub(in crate::demo) fn pod(identity: &Identity<'_>, template: &Value, owners: Value) -> Value {
    let mut metadata = identity.metadata(template["metadata"]["labels"].clone());
    metadata["ownerReferences"] = owners;
    metadata["generation"] = 1.into();
    metadata["managedFields"] = managed_by("kube-controller-manager", "v1", identity.created);
    let mut spec = template["spec"].clone();
    spec["serviceAccountName"] = "default".into();
    spec["enableServiceLinks"] = true.into();
    spec["tolerations"] = json!([{
        "key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute",
        "tolerationSeconds": 300,
    }]);
    json!({"metadata": metadata, "spec": spec, "status": {"phase": "Pending", "qosClass": "Burstable"}})
}

pub(in crate::demo) fn job(
    identity: &Identity<'_>,
    completions: u64,
    parallelism: u64,
    image: &str,
) -> Value {
    let selector = json!({"batch.kubernetes.io/controller-uid": identity.uid});
    let mut template = template(identity.name, image);
    template["metadata"]["labels"] = json!({
        "batch.kubernetes.io/controller-uid": identity.uid, "batch.kubernetes.io/job-name": identity.name,
        "job-name": identity.name,
    });
    template["spec"]["restartPolicy"] = "Never".into();
    let mut metadata = identity.metadata(template["metadata"]["labels"].clone());
    metadata["generation"] = 1.into();
    json!({
        "metadata": metadata,
        "spec": {
            "completions": completions, "parallelism": parallelism, "backoffLimit": 6, "suspend": false,
            "ttlSecondsAfterFinished": 30, "selector": {"matchLabels": selector}, "template": template,
        },
        "status": {},
    })
}

pub(in crate::demo) fn node(identity: &Identity<'_>, role: &str, number: u64) -> Value {
    let mut labels = json!({
        "kubernetes.io/hostname": identity.name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64",
        "topology.kubernetes.io/zone": format!("zone-{}", number % 3),
    });
    if !role.is_empty() {
        labels[format!("node-role.kubernetes.io/{role}")] = "".into();
    }
    let condition = |kind: &str, status: &str, reason: &str| {
        json!({
            "type": kind, "status": status, "reason": reason, "message": "", "lastHeartbeatTime": identity.created,
            "lastTransitionTime": identity.created,
        })
    };
    json!({
        "metadata": identity.metadata(labels),
        "spec": {"podCIDR": format!("10.244.{number}.0/24")},
        "status": {
            "addresses": [
                {"type": "InternalIP", "address": format!("192.168.7.{}", number + 10)},
                {"type": "Hostname", "address": identity.name},
            ],
            "allocatable": {"cpu": "8", "memory": "32Gi", "pods": "250"},
            "capacity": {"cpu": "8", "memory": "32Gi", "pods": "250"},
            "conditions": [
                condition("MemoryPressure", "False", "KubeletHasSufficientMemory"),
                condition("DiskPressure", "False", "KubeletHasNoDiskPressure"),
                condition("Ready", "True", "KubeletReady"),
            ],
            "nodeInfo": {
                "kubeletVersion": "v1.36.0", "osImage": "Demo Linux 1", "kernelVersion": "6.12.0",
                "containerRuntimeVersion": "containerd://2.1.0", "architecture": "amd64", "operatingSystem": "linux",
            },
        },
    })
}

pub(in crate::demo) fn lease(identity: &Identity<'_>, renewed: &str) -> Value {
    json!({
        "metadata": identity.metadata(Value::Null),
        "spec": {"holderIdentity": identity.name, "leaseDurationSeconds": 40, "renewTime": renewed},
    })
}

pub(in crate::demo) fn namespace(identity: &Identity<'_>) -> Value {
    json!({
        "metadata": identity.metadata(json!({"kubernetes.io/metadata.name": identity.name})),
        "spec": {"finalizers": ["kubernetes"]}, "status": {"phase": "Active"},
    })
}

/// Returns the root certificate that every namespace contains.
pub(in crate::demo) fn root_certificate(identity: &Identity<'_>) -> Value {
    let certificate = "-----BEGIN CERTIFICATE-----\ndemo\n-----END CERTIFICATE-----\n";
    json!({"metadata": identity.metadata(Value::Null), "data": {"ca.crt": certificate}})
}

pub(in crate::demo) fn service(identity: &Identity<'_>, number: u64) -> Value {
    json!({
        "metadata": identity.metadata(json!({"app": identity.name})),
        "spec": {
            "type": "ClusterIP", "clusterIP": format!("10.96.0.{}", number + 10), "sessionAffinity": "None",
            "clusterIPs": [format!("10.96.0.{}", number + 10)], "ipFamilies": ["IPv4"],
            "ipFamilyPolicy": "SingleStack", "internalTrafficPolicy": "Cluster",
            "selector": {"app": identity.name},
            "ports": [{"name": "http", "port": 80, "targetPort": 8080, "protocol": "TCP"}],
        },
        "status": {"loadBalancer": {}},
    })
}

/// Returns the definition of the demo's custom resource.
pub(in crate::demo) fn backups(identity: &Identity<'_>) -> Value {
    let column = |name: &str, kind: &str, path: &str| json!({"name": name, "type": kind, "jsonPath": path});
    let columns = [
        column("Database", "string", ".spec.database"),
        column("Phase", "string", ".status.phase"),
        column("Progress", "integer", ".status.progress"),
        column("Age", "date", ".metadata.creationTimestamp"),
    ];
    let schema = json!({"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}});
    let names = json!({
        "plural": "backups", "singular": "backup", "kind": "Backup", "listKind": "BackupList", "shortNames": ["bk"],
        "categories": ["all"],
    });
    json!({
        "metadata": identity.metadata(Value::Null),
        "spec": {
            "group": "demo.kdelta.dev", "scope": "Namespaced", "names": names,
            "versions": [{
                "name": "v1", "served": true, "storage": true, "schema": schema, "subresources": {"status": {}},
                "additionalPrinterColumns": columns,
            }],
        },
        "status": {
            "acceptedNames": names, "storedVersions": ["v1"],
            "conditions": [{
                "type": "Established", "status": "True", "reason": "InitialNamesAccepted", "message": "",
                "lastTransitionTime": identity.created,
            }],
        },
    })
}
