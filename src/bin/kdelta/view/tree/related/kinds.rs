//! The kinds of objects that have relations.

use kdelta::object::ApiResource;

/// A kind with its group.
pub(crate) type KindName = (&'static str, &'static str);

pub(super) const CLAIM: KindName = ("", "PersistentVolumeClaim");
pub(super) const CONFIG_MAP: KindName = ("", "ConfigMap");
pub(super) const EVENT: KindName = ("", "Event");
pub(super) const NODE: KindName = ("", "Node");
pub(super) const POD: KindName = ("", "Pod");
pub(super) const SECRET: KindName = ("", "Secret");
pub(super) const SERVICE: KindName = ("", "Service");
pub(super) const SERVICE_ACCOUNT: KindName = ("", "ServiceAccount");
pub(super) const VOLUME: KindName = ("", "PersistentVolume");
pub(super) const AUTOSCALER: KindName = ("autoscaling", "HorizontalPodAutoscaler");
pub(super) const SLICE: KindName = ("discovery.k8s.io", "EndpointSlice");
pub(super) const INGRESS: KindName = ("networking.k8s.io", "Ingress");
pub(super) const CRON_JOB: KindName = ("batch", "CronJob");

/// The kinds with a pod template in `spec.template`.
pub(super) const WORKLOADS: [KindName; 6] = [
    ("", "ReplicationController"),
    ("apps", "DaemonSet"),
    ("apps", "Deployment"),
    ("apps", "ReplicaSet"),
    ("apps", "StatefulSet"),
    ("batch", "Job"),
];

/// Returns the kind of a resource.
pub(super) fn kind_of(resource: &ApiResource) -> (&str, &str) {
    (&resource.group, &resource.kind)
}

/// Whether an autoscaler may scale objects of this kind: the workloads, and custom resources such as rollouts.
pub(super) fn is_scalable((group, kind): (&str, &str)) -> bool {
    let is_custom = group.contains('.') && !group.ends_with(".k8s.io");
    is_custom
        || matches!(
            (group, kind),
            ("apps", "Deployment" | "ReplicaSet" | "StatefulSet") | ("", "ReplicationController")
        )
}
