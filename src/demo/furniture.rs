//! What stands in the cluster beside the applications: sets, schedules, volumes, ways in, and who may do what. None of it
//! has pods yet when the server starts; the controllers see to that.

use serde_json::{Value, json};

use super::bodies::{self, REGISTRY};
use super::defaults::{self, STORAGE_CLASS};
use super::kinds;
use super::store::KindId;

/// What is to be created: the resource, namespace, name, and the object but for what every object has.
pub(super) type Piece = (KindId, &'static str, &'static str, Value);

/// All of it, in the order in which it is made.
pub(super) fn pieces() -> Vec<Piece> {
    let mut pieces = cluster();
    pieces.extend(workloads());
    pieces.extend(network());
    pieces.extend(access());
    pieces
}

fn cluster() -> Vec<Piece> {
    let class = |value: u64, description: &str| json!({"value": value, "description": description, "preemptionPolicy": "PreemptLowerPriority"});
    let cluster_critical = "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.";
    let node_critical = "Used for system critical pods that must not be moved from their current node.";
    let standard = json!({
        "metadata": {"annotations": {"storageclass.kubernetes.io/is-default-class": "true"}},
        "provisioner": "demo.kdelta.dev/provisioner", "reclaimPolicy": "Delete", "volumeBindingMode": "Immediate",
        "allowVolumeExpansion": true,
    });
    let quota = json!({"spec": {"hard": {"pods": "50", "requests.cpu": "8"}}, "status": {
        "hard": {"pods": "50", "requests.cpu": "8"}, "used": {"pods": "5", "requests.cpu": "250m"},
    }});
    vec![
        (kinds::PRIORITY_CLASSES, "", "system-cluster-critical", class(2_000_000_000, cluster_critical)),
        (kinds::PRIORITY_CLASSES, "", "system-node-critical", class(2_000_001_000, node_critical)),
        (kinds::STORAGE_CLASSES, "", STORAGE_CLASS, standard),
        (kinds::RESOURCE_QUOTAS, "shop", "team", quota),
        (
            kinds::LIMIT_RANGES,
            "shop",
            "defaults",
            json!({"spec": {"limits": [
                {"type": "Container", "default": {"memory": "256Mi"}, "defaultRequest": {"memory": "64Mi"}},
            ]}}),
        ),
    ]
}

fn workloads() -> Vec<Piece> {
    let mut orders = json!({
        "metadata": {"labels": {"app": "orders-db"}},
        "spec": {
            "serviceName": "orders-db", "replicas": 2, "selector": {"matchLabels": {"app": "orders-db"}},
            "template": bodies::template("orders-db", &format!("{REGISTRY}/orders-db:16.2")),
            "volumeClaimTemplates": [{
                "metadata": {"name": "data"},
                "spec": {
                    "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}},
                    "storageClassName": STORAGE_CLASS,
                },
            }],
        },
    });
    defaults::stateful_set(&mut orders);
    let mut template = bodies::template("node-agent", &format!("{REGISTRY}/node-agent:2.0"));
    template["spec"]["tolerations"] = json!([{"operator": "Exists"}]);
    let mut agent = json!({
        "metadata": {"labels": {"app": "node-agent"}},
        "spec": {"selector": {"matchLabels": {"app": "node-agent"}}, "template": template},
    });
    defaults::daemon_set(&mut agent);
    let mut job = bodies::template("cleanup", &format!("{REGISTRY}/cleanup:1.4"));
    job["spec"]["restartPolicy"] = "Never".into();
    let mut cleanup = json!({
        "metadata": {"labels": {"app": "cleanup"}},
        "spec": {"schedule": "* * * * *", "jobTemplate": {"spec": {"template": job}}},
    });
    defaults::cron_job(&mut cleanup);
    let mut scaler = json!({"spec": {
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "api"},
        "minReplicas": 4, "maxReplicas": 6,
    }});
    defaults::autoscaler(&mut scaler);
    vec![
        (kinds::STATEFUL_SETS, "default", "orders-db", orders),
        (kinds::DAEMON_SETS, "kube-system", "node-agent", agent),
        (kinds::CRON_JOBS, "default", "cleanup", cleanup),
        (kinds::AUTOSCALERS, "default", "api", scaler),
        (
            kinds::DISRUPTION_BUDGETS,
            "default",
            "web",
            json!({
                "metadata": {"generation": 1},
                "spec": {"minAvailable": 2, "selector": {"matchLabels": {"app": "web"}}},
                "status": {"disruptionsAllowed": 0, "currentHealthy": 0, "desiredHealthy": 0, "expectedPods": 0},
            }),
        ),
    ]
}

fn network() -> Vec<Piece> {
    let path = |path: &str, service: &str| {
        json!({
            "path": path, "pathType": "Prefix",
            "backend": {"service": {"name": service, "port": {"number": 80}}},
        })
    };
    let ingress = json!({
        "metadata": {"generation": 1},
        "spec": {
            "ingressClassName": "nginx",
            "rules": [{"host": "shop.example.com", "http": {"paths": [path("/", "web"), path("/api", "api")]}}],
        },
        "status": {"loadBalancer": {"ingress": [{"ip": "192.168.7.100"}]}},
    });
    let kubernetes = json!({
        "metadata": {"labels": {"component": "apiserver", "provider": "kubernetes"}},
        "spec": {
            "type": "ClusterIP", "clusterIP": "10.96.0.1", "clusterIPs": ["10.96.0.1"], "sessionAffinity": "None",
            "ipFamilies": ["IPv4"], "ipFamilyPolicy": "SingleStack", "internalTrafficPolicy": "Cluster",
            "ports": [{"name": "https", "port": 443, "protocol": "TCP", "targetPort": 6443}],
        },
        "status": {"loadBalancer": {}},
    });
    vec![
        (kinds::SERVICES, "default", "kubernetes", kubernetes),
        (
            kinds::SERVICES,
            "default",
            "orders-db",
            json!({
                "metadata": {"labels": {"app": "orders-db"}},
                "spec": {
                    "type": "ClusterIP", "clusterIP": "None", "clusterIPs": ["None"], "sessionAffinity": "None",
                    "ipFamilies": ["IPv4"], "ipFamilyPolicy": "SingleStack", "internalTrafficPolicy": "Cluster",
                    "selector": {"app": "orders-db"}, "ports": [{"port": 5432, "protocol": "TCP", "targetPort": 5432}],
                },
                "status": {"loadBalancer": {}},
            }),
        ),
        (
            kinds::INGRESS_CLASSES,
            "",
            "nginx",
            json!({
                "metadata": {"generation": 1}, "spec": {"controller": "demo.kdelta.dev/ingress"},
            }),
        ),
        (kinds::INGRESSES, "default", "shop", ingress),
        (
            kinds::NETWORK_POLICIES,
            "shop",
            "deny-from-outside",
            json!({
                "metadata": {"generation": 1},
                "spec": {"podSelector": {}, "policyTypes": ["Ingress"], "ingress": [{"from": [{"podSelector": {}}]}]},
            }),
        ),
    ]
}

fn access() -> Vec<Piece> {
    let allow = |groups: &[&str], resources: &[&str], verbs: &[&str]| json!({"apiGroups": groups, "resources": resources, "verbs": verbs});
    let read = ["get", "list", "watch"];
    let role_ref =
        |kind: &str, name: &str| json!({"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": name});
    let group =
        |name: &str| json!([{"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": name}]);
    let account = |namespace: &str, name: &str| json!([{"kind": "ServiceAccount", "name": name, "namespace": namespace}]);
    let workloads = ["deployments", "statefulsets", "daemonsets", "jobs"];
    vec![
        (kinds::CLUSTER_ROLES, "", "cluster-admin", json!({"rules": [allow(&["*"], &["*"], &["*"])]})),
        (
            kinds::CLUSTER_ROLES,
            "",
            "edit",
            json!({"rules": [allow(&["", "apps", "batch"], &workloads, &["*"])]}),
        ),
        (
            kinds::CLUSTER_ROLES,
            "",
            "view",
            json!({"rules": [allow(&["", "apps", "batch"], &workloads, &read)]}),
        ),
        (
            kinds::CLUSTER_ROLE_BINDINGS,
            "",
            "cluster-admin",
            json!({
                "roleRef": role_ref("ClusterRole", "cluster-admin"), "subjects": group("system:masters"),
            }),
        ),
        (kinds::ROLES, "default", "deployer", json!({"rules": [allow(&["apps"], &["deployments"], &["*"])]})),
        (kinds::SERVICE_ACCOUNTS, "default", "deployer", json!({})),
        (
            kinds::ROLE_BINDINGS,
            "default",
            "deployer",
            json!({
                "roleRef": role_ref("Role", "deployer"), "subjects": account("default", "deployer"),
            }),
        ),
    ]
}
