//! The built-in resources and their numbers.

use crate::server::source::{Kind, VERBS};

/// Group, plural, kind, version, whether namespaced, short names, subresources; as strings, because it is a table.
type BuiltIn = (&'static str, &'static str, &'static str, &'static str, bool, &'static str, &'static str);

/// Sorted within a group as discovery sorts, and the groups by a real server's priorities.
const BUILT_IN: [BuiltIn; 34] = [
    ("", "configmaps", "ConfigMap", "v1", true, "cm", ""),
    ("", "endpoints", "Endpoints", "v1", true, "ep", ""),
    ("", "events", "Event", "v1", true, "ev", ""),
    ("", "limitranges", "LimitRange", "v1", true, "limits", ""),
    ("", "namespaces", "Namespace", "v1", false, "ns", "status"),
    ("", "nodes", "Node", "v1", false, "no", "status"),
    ("", "persistentvolumeclaims", "PersistentVolumeClaim", "v1", true, "pvc", "status"),
    ("", "persistentvolumes", "PersistentVolume", "v1", false, "pv", "status"),
    ("", "pods", "Pod", "v1", true, "po", "eviction exec log status"),
    ("", "resourcequotas", "ResourceQuota", "v1", true, "quota", "status"),
    ("", "secrets", "Secret", "v1", true, "", ""),
    ("", "serviceaccounts", "ServiceAccount", "v1", true, "sa", ""),
    ("", "services", "Service", "v1", true, "svc", "status"),
    ("apps", "controllerrevisions", "ControllerRevision", "v1", true, "", ""),
    ("apps", "daemonsets", "DaemonSet", "v1", true, "ds", "status"),
    ("apps", "deployments", "Deployment", "v1", true, "deploy", "scale status"),
    ("apps", "replicasets", "ReplicaSet", "v1", true, "rs", "scale status"),
    ("apps", "statefulsets", "StatefulSet", "v1", true, "sts", "scale status"),
    ("autoscaling", "horizontalpodautoscalers", "HorizontalPodAutoscaler", "v2", true, "hpa", "status"),
    ("batch", "cronjobs", "CronJob", "v1", true, "cj", "status"),
    ("batch", "jobs", "Job", "v1", true, "", "status"),
    ("networking.k8s.io", "ingressclasses", "IngressClass", "v1", false, "", ""),
    ("networking.k8s.io", "ingresses", "Ingress", "v1", true, "ing", "status"),
    ("networking.k8s.io", "networkpolicies", "NetworkPolicy", "v1", true, "netpol", ""),
    ("policy", "poddisruptionbudgets", "PodDisruptionBudget", "v1", true, "pdb", "status"),
    ("rbac.authorization.k8s.io", "clusterrolebindings", "ClusterRoleBinding", "v1", false, "", ""),
    ("rbac.authorization.k8s.io", "clusterroles", "ClusterRole", "v1", false, "", ""),
    ("rbac.authorization.k8s.io", "rolebindings", "RoleBinding", "v1", true, "", ""),
    ("rbac.authorization.k8s.io", "roles", "Role", "v1", true, "", ""),
    ("storage.k8s.io", "storageclasses", "StorageClass", "v1", false, "sc", ""),
    (
        "apiextensions.k8s.io",
        "customresourcedefinitions",
        "CustomResourceDefinition",
        "v1",
        false,
        "crd crds",
        "status",
    ),
    ("scheduling.k8s.io", "priorityclasses", "PriorityClass", "v1", false, "pc", ""),
    ("coordination.k8s.io", "leases", "Lease", "v1", true, "", ""),
    ("discovery.k8s.io", "endpointslices", "EndpointSlice", "v1", true, "", ""),
];

// The numbers of the resources in a store: their indices in the table.
pub(in crate::demo) const CONFIG_MAPS: usize = 0;
pub(in crate::demo) const ENDPOINTS: usize = 1;
pub(in crate::demo) const EVENTS: usize = 2;
pub(in crate::demo) const LIMIT_RANGES: usize = 3;
pub(in crate::demo) const NAMESPACES: usize = 4;
pub(in crate::demo) const NODES: usize = 5;
pub(in crate::demo) const VOLUME_CLAIMS: usize = 6;
pub(in crate::demo) const VOLUMES: usize = 7;
pub(in crate::demo) const PODS: usize = 8;
pub(in crate::demo) const RESOURCE_QUOTAS: usize = 9;
pub(in crate::demo) const SECRETS: usize = 10;
pub(in crate::demo) const SERVICE_ACCOUNTS: usize = 11;
pub(in crate::demo) const SERVICES: usize = 12;
pub(in crate::demo) const CONTROLLER_REVISIONS: usize = 13;
pub(in crate::demo) const DAEMON_SETS: usize = 14;
pub(in crate::demo) const DEPLOYMENTS: usize = 15;
pub(in crate::demo) const REPLICA_SETS: usize = 16;
pub(in crate::demo) const STATEFUL_SETS: usize = 17;
pub(in crate::demo) const AUTOSCALERS: usize = 18;
pub(in crate::demo) const CRON_JOBS: usize = 19;
pub(in crate::demo) const JOBS: usize = 20;
pub(in crate::demo) const INGRESS_CLASSES: usize = 21;
pub(in crate::demo) const INGRESSES: usize = 22;
pub(in crate::demo) const NETWORK_POLICIES: usize = 23;
pub(in crate::demo) const DISRUPTION_BUDGETS: usize = 24;
pub(in crate::demo) const CLUSTER_ROLE_BINDINGS: usize = 25;
pub(in crate::demo) const CLUSTER_ROLES: usize = 26;
pub(in crate::demo) const ROLE_BINDINGS: usize = 27;
pub(in crate::demo) const ROLES: usize = 28;
pub(in crate::demo) const STORAGE_CLASSES: usize = 29;
pub(in crate::demo) const DEFINITIONS: usize = 30;
pub(in crate::demo) const PRIORITY_CLASSES: usize = 31;
pub(in crate::demo) const LEASES: usize = 32;
pub(in crate::demo) const ENDPOINT_SLICES: usize = 33;

/// Resources whose objects are deleted with their owners.
pub(in crate::demo) const DEPENDENTS: [usize; 6] =
    [REPLICA_SETS, JOBS, CONTROLLER_REVISIONS, ENDPOINTS, ENDPOINT_SLICES, PODS];

/// The resources of `kubectl get all`.
const ALL: [&str; 9] = [
    "pods",
    "services",
    "daemonsets",
    "deployments",
    "replicasets",
    "statefulsets",
    "horizontalpodautoscalers",
    "cronjobs",
    "jobs",
];

/// Namespaces can't be deleted by collection.
const NAMESPACE_VERBS: [&str; 7] = ["create", "delete", "get", "list", "patch", "update", "watch"];

/// Returns the built-in resources.
pub(in crate::demo) fn built_in() -> impl Iterator<Item = Kind> {
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect();
    BUILT_IN.into_iter().map(move |(group, plural, kind, version, namespaced, short, subresources)| Kind {
        group: group.into(),
        version: version.into(),
        plural: plural.into(),
        singular: kind.to_lowercase(),
        kind: kind.into(),
        namespaced,
        short_names: words(short),
        categories: match plural {
            "customresourcedefinitions" => words("api-extensions"),
            plural if ALL.contains(&plural) => words("all"),
            _ => Vec::new(),
        },
        subresources: words(subresources),
        verbs: if plural == "namespaces" { &NAMESPACE_VERBS } else { &VERBS },
        custom: None,
        conversion: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kind_ids_are_table_indices() {
        let plurals: Vec<_> = built_in().map(|kind| kind.plural).collect();
        for (id, plural) in [
            (CONFIG_MAPS, "configmaps"),
            (ENDPOINTS, "endpoints"),
            (EVENTS, "events"),
            (LIMIT_RANGES, "limitranges"),
            (NAMESPACES, "namespaces"),
            (NODES, "nodes"),
            (VOLUME_CLAIMS, "persistentvolumeclaims"),
            (VOLUMES, "persistentvolumes"),
            (PODS, "pods"),
            (RESOURCE_QUOTAS, "resourcequotas"),
            (SECRETS, "secrets"),
            (SERVICE_ACCOUNTS, "serviceaccounts"),
            (SERVICES, "services"),
            (CONTROLLER_REVISIONS, "controllerrevisions"),
            (DAEMON_SETS, "daemonsets"),
            (DEPLOYMENTS, "deployments"),
            (REPLICA_SETS, "replicasets"),
            (STATEFUL_SETS, "statefulsets"),
            (AUTOSCALERS, "horizontalpodautoscalers"),
            (CRON_JOBS, "cronjobs"),
            (JOBS, "jobs"),
            (INGRESS_CLASSES, "ingressclasses"),
            (INGRESSES, "ingresses"),
            (NETWORK_POLICIES, "networkpolicies"),
            (DISRUPTION_BUDGETS, "poddisruptionbudgets"),
            (CLUSTER_ROLE_BINDINGS, "clusterrolebindings"),
            (CLUSTER_ROLES, "clusterroles"),
            (ROLE_BINDINGS, "rolebindings"),
            (ROLES, "roles"),
            (STORAGE_CLASSES, "storageclasses"),
            (DEFINITIONS, "customresourcedefinitions"),
            (PRIORITY_CLASSES, "priorityclasses"),
            (LEASES, "leases"),
            (ENDPOINT_SLICES, "endpointslices"),
        ] {
            assert_eq!(plurals[id], plural);
        }
    }
}
