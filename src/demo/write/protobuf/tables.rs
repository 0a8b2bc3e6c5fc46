//! The protobuf fields of the objects that clients write, by number.

use super::fields::Field;
use super::fields::Type::{
    Bool, Bytes, Count, Flag, Inline, IntOrString, Json, Map, Message, Messages, MicroTime, Number,
    Quantities, Quantity, Text, Texts, Time, Unchanged,
};

/// Returns the fields of a kind's message, or `None` for a kind that no known client sends.
pub(super) fn fields_of(api_version: &str, kind: &str) -> Option<&'static [Field]> {
    Some(match kind {
        "Namespace" => NAMESPACE,
        "SelfSubjectReview" => ONLY_META,
        "ServiceAccount" => SERVICE_ACCOUNT,
        "ConfigMap" => CONFIG_MAP,
        "Secret" => SECRET,
        "Service" => SERVICE,
        "Deployment" => DEPLOYMENT,
        "ReplicaSet" => REPLICA_SET,
        "StatefulSet" => STATEFUL_SET,
        "DaemonSet" => DAEMON_SET,
        "Node" => NODE,
        "Lease" => LEASE,
        "PersistentVolumeClaim" => CLAIM,
        "Event" if api_version == "v1" => EVENT,
        "Pod" => POD,
        "Job" => JOB,
        "CronJob" => CRON_JOB,
        "Ingress" => INGRESS,
        "Role" | "ClusterRole" => ROLE,
        "RoleBinding" | "ClusterRoleBinding" => BINDING,
        "PodDisruptionBudget" => DISRUPTION_BUDGET,
        "PriorityClass" => PRIORITY_CLASS,
        "ResourceQuota" => RESOURCE_QUOTA,
        "HorizontalPodAutoscaler" if api_version == "autoscaling/v1" => AUTOSCALER_V1,
        "HorizontalPodAutoscaler" => AUTOSCALER,
        "Eviction" => EVICTION,
        "Scale" => SCALE,
        "SelfSubjectAccessReview" | "SubjectAccessReview" | "LocalSubjectAccessReview" => ACCESS_REVIEW,
        "SelfSubjectRulesReview" => RULES_REVIEW,
        "DeleteOptions" => DELETE_OPTIONS,
        _ => return None,
    })
}

pub(super) const ENVELOPE: &[Field] =
    &[(1, "typeMeta", Message(&[(1, "apiVersion", Text), (2, "kind", Text)]))];

const META: &[Field] = &[
    (1, "name", Text),
    (2, "generateName", Text),
    (3, "namespace", Text),
    (5, "uid", Text),
    (6, "resourceVersion", Text),
    (7, "generation", Count),
    (8, "creationTimestamp", Time),
    (9, "deletionTimestamp", Time),
    (10, "deletionGracePeriodSeconds", Number),
    (11, "labels", Map),
    (12, "annotations", Map),
    (13, "ownerReferences", Messages(OWNER)),
    (14, "finalizers", Texts),
    (17, "managedFields", Messages(MANAGED)),
];
const MANAGED: &[Field] = &[
    (1, "manager", Text),
    (2, "operation", Text),
    (3, "apiVersion", Text),
    (4, "time", Time),
    (6, "fieldsType", Text),
    (7, "fieldsV1", Json),
    (8, "subresource", Text),
];
const OWNER: &[Field] = &[
    (1, "kind", Text),
    (3, "name", Text),
    (4, "uid", Text),
    (5, "apiVersion", Text),
    (6, "controller", Bool),
    (7, "blockOwnerDeletion", Bool),
];
/// Written only through the subresource.
const STATUS: Field = (3, "status", Unchanged);
const ONLY_META: &[Field] = &[(1, "metadata", Message(META))];
const NAMESPACE: &[Field] =
    &[(1, "metadata", Message(META)), (2, "spec", Message(&[(1, "finalizers", Texts)])), STATUS];
const NAMED: &[Field] = &[(1, "name", Text)];
const SERVICE_ACCOUNT: &[Field] = &[
    (1, "metadata", Message(META)),
    (3, "imagePullSecrets", Messages(NAMED)),
    (4, "automountServiceAccountToken", Bool),
];
const CONFIG_MAP: &[Field] =
    &[(1, "metadata", Message(META)), (2, "data", Map), (3, "binaryData", Bytes), (4, "immutable", Bool)];
const SECRET: &[Field] = &[
    (1, "metadata", Message(META)),
    (2, "data", Bytes),
    (3, "type", Text),
    (4, "stringData", Map),
    (5, "immutable", Bool),
];
const SERVICE: &[Field] = &[(1, "metadata", Message(META)), (2, "spec", Message(SERVICE_SPEC)), STATUS];
const SERVICE_SPEC: &[Field] = &[
    (1, "ports", Messages(SERVICE_PORT)),
    (2, "selector", Map),
    (3, "clusterIP", Text),
    (4, "type", Text),
    (5, "externalIPs", Texts),
    (7, "sessionAffinity", Text),
    (10, "externalName", Text),
    (11, "externalTrafficPolicy", Text),
    (17, "ipFamilyPolicy", Text),
    (18, "clusterIPs", Texts),
    (19, "ipFamilies", Texts),
    (22, "internalTrafficPolicy", Text),
];
const SERVICE_PORT: &[Field] = &[
    (1, "name", Text),
    (2, "protocol", Text),
    (3, "port", Count),
    (4, "targetPort", IntOrString),
    (5, "nodePort", Count),
];
const DEPLOYMENT: &[Field] = &[(1, "metadata", Message(META)), (2, "spec", Message(DEPLOYMENT_SPEC)), STATUS];
const DEPLOYMENT_SPEC: &[Field] = &[
    (1, "replicas", Number),
    (2, "selector", Message(SELECTOR)),
    (3, "template", Message(TEMPLATE)),
    (4, "strategy", Message(STRATEGY)),
    (5, "minReadySeconds", Count),
    (6, "revisionHistoryLimit", Number),
    (7, "paused", Flag),
    (9, "progressDeadlineSeconds", Number),
];
const REPLICA_SET: &[Field] =
    &[(1, "metadata", Message(META)), (2, "spec", Message(REPLICA_SET_SPEC)), STATUS];
const REPLICA_SET_SPEC: &[Field] = &[
    (1, "replicas", Number),
    (2, "selector", Message(SELECTOR)),
    (3, "template", Message(TEMPLATE)),
    (4, "minReadySeconds", Count),
];
const STATEFUL_SET: &[Field] =
    &[(1, "metadata", Message(META)), (2, "spec", Message(STATEFUL_SET_SPEC)), STATUS];
const STATEFUL_SET_SPEC: &[Field] = &[
    (1, "replicas", Number),
    (2, "selector", Message(SELECTOR)),
    (3, "template", Message(TEMPLATE)),
    (4, "volumeClaimTemplates", Messages(CLAIM)),
    (5, "serviceName", Text),
    (6, "podManagementPolicy", Text),
    (7, "updateStrategy", Message(STATEFUL_SET_STRATEGY)),
    (8, "revisionHistoryLimit", Number),
    (9, "minReadySeconds", Count),
    (
        10,
        "persistentVolumeClaimRetentionPolicy",
        Message(&[(1, "whenDeleted", Text), (2, "whenScaled", Text)]),
    ),
    (11, "ordinals", Message(&[(1, "start", Count)])),
];
const STATEFUL_SET_STRATEGY: &[Field] = &[
    (1, "type", Text),
    (2, "rollingUpdate", Message(&[(1, "partition", Number), (2, "maxUnavailable", IntOrString)])),
];
const DAEMON_SET: &[Field] = &[(1, "metadata", Message(META)), (2, "spec", Message(DAEMON_SET_SPEC)), STATUS];
const DAEMON_SET_SPEC: &[Field] = &[
    (1, "selector", Message(SELECTOR)),
    (2, "template", Message(TEMPLATE)),
    (3, "updateStrategy", Message(STRATEGY)),
    (4, "minReadySeconds", Count),
    (6, "revisionHistoryLimit", Number),
];
const CLAIM: &[Field] = &[(1, "metadata", Message(META)), (2, "spec", Message(CLAIM_SPEC)), STATUS];
const CLAIM_SPEC: &[Field] = &[
    (1, "accessModes", Texts),
    (2, "resources", Message(RESOURCES)),
    (3, "volumeName", Text),
    (4, "selector", Message(SELECTOR)),
    (5, "storageClassName", Text),
    (6, "volumeMode", Text),
];
const NODE: &[Field] = &[(1, "metadata", Message(META)), (2, "spec", Message(NODE_SPEC)), STATUS];
const NODE_SPEC: &[Field] = &[
    (1, "podCIDR", Text),
    (3, "providerID", Text),
    (4, "unschedulable", Flag),
    (
        5,
        "taints",
        Messages(&[(1, "key", Text), (2, "value", Text), (3, "effect", Text), (4, "timeAdded", Time)]),
    ),
    (7, "podCIDRs", Texts),
];
const LEASE: &[Field] = &[(1, "metadata", Message(META)), (2, "spec", Message(LEASE_SPEC))];
const LEASE_SPEC: &[Field] = &[
    (1, "holderIdentity", Text),
    (2, "leaseDurationSeconds", Number),
    (3, "acquireTime", MicroTime),
    (4, "renewTime", MicroTime),
    (5, "leaseTransitions", Number),
];
const EVENT: &[Field] = &[
    (1, "metadata", Message(META)),
    (2, "involvedObject", Message(REFERENCE)),
    (3, "reason", Text),
    (4, "message", Text),
    (5, "source", Message(&[(1, "component", Text), (2, "host", Text)])),
    (6, "firstTimestamp", Time),
    (7, "lastTimestamp", Time),
    (8, "count", Count),
    (9, "type", Text),
    (10, "eventTime", MicroTime),
    (11, "series", Message(&[(1, "count", Count), (2, "lastObservedTime", MicroTime)])),
    (12, "action", Text),
    (13, "related", Message(REFERENCE)),
    (14, "reportingComponent", Text),
    (15, "reportingInstance", Text),
];
const REFERENCE: &[Field] = &[
    (1, "kind", Text),
    (2, "namespace", Text),
    (3, "name", Text),
    (4, "uid", Text),
    (5, "apiVersion", Text),
    (6, "resourceVersion", Text),
    (7, "fieldPath", Text),
];
const STRATEGY: &[Field] = &[
    (1, "type", Text),
    (2, "rollingUpdate", Message(&[(1, "maxUnavailable", IntOrString), (2, "maxSurge", IntOrString)])),
];
const SELECTOR: &[Field] = &[
    (1, "matchLabels", Map),
    (2, "matchExpressions", Messages(&[(1, "key", Text), (2, "operator", Text), (3, "values", Texts)])),
];
const TEMPLATE: &[Field] = &[(1, "metadata", Message(META)), (2, "spec", Message(POD_SPEC))];
const POD: &[Field] = &[(1, "metadata", Message(META)), (2, "spec", Message(POD_SPEC)), STATUS];
const POD_SPEC: &[Field] = &[
    (1, "volumes", Messages(VOLUME)),
    (2, "containers", Messages(CONTAINER)),
    (3, "restartPolicy", Text),
    (4, "terminationGracePeriodSeconds", Number),
    (5, "activeDeadlineSeconds", Number),
    (6, "dnsPolicy", Text),
    (7, "nodeSelector", Map),
    (8, "serviceAccountName", Text),
    (9, "serviceAccount", Text),
    (10, "nodeName", Text),
    (11, "hostNetwork", Flag),
    (14, "securityContext", Message(&[])),
    (15, "imagePullSecrets", Messages(NAMED)),
    (16, "hostname", Text),
    (17, "subdomain", Text),
    (19, "schedulerName", Text),
    (20, "initContainers", Messages(CONTAINER)),
    (22, "tolerations", Messages(TOLERATION)),
    (24, "priorityClassName", Text),
    (25, "priority", Number),
    (30, "enableServiceLinks", Bool),
    (31, "preemptionPolicy", Text),
];
const TOLERATION: &[Field] = &[
    (1, "key", Text),
    (2, "operator", Text),
    (3, "value", Text),
    (4, "effect", Text),
    (5, "tolerationSeconds", Number),
];
const CONTAINER: &[Field] = &[
    (1, "name", Text),
    (2, "image", Text),
    (3, "command", Texts),
    (4, "args", Texts),
    (5, "workingDir", Text),
    (6, "ports", Messages(CONTAINER_PORT)),
    (7, "env", Messages(ENV)),
    (8, "resources", Message(RESOURCES)),
    (9, "volumeMounts", Messages(MOUNT)),
    (10, "livenessProbe", Message(PROBE)),
    (11, "readinessProbe", Message(PROBE)),
    (13, "terminationMessagePath", Text),
    (14, "imagePullPolicy", Text),
    (16, "stdin", Flag),
    (17, "stdinOnce", Flag),
    (18, "tty", Flag),
    (20, "terminationMessagePolicy", Text),
    (22, "startupProbe", Message(PROBE)),
];
const CONTAINER_PORT: &[Field] =
    &[(1, "name", Text), (2, "hostPort", Count), (3, "containerPort", Count), (4, "protocol", Text)];
const ENV: &[Field] = &[(1, "name", Text), (2, "value", Text), (3, "valueFrom", Message(ENV_SOURCE))];
const ENV_SOURCE: &[Field] = &[
    (1, "fieldRef", Message(&[(1, "apiVersion", Text), (2, "fieldPath", Text)])),
    (3, "configMapKeyRef", Message(KEY)),
    (4, "secretKeyRef", Message(KEY)),
];
const KEY: &[Field] = &[(1, "localObjectReference", Inline(NAMED)), (2, "key", Text), (3, "optional", Bool)];
const RESOURCES: &[Field] = &[(1, "limits", Quantities), (2, "requests", Quantities)];
const MOUNT: &[Field] =
    &[(1, "name", Text), (2, "readOnly", Flag), (3, "mountPath", Text), (4, "subPath", Text)];
const PROBE: &[Field] = &[
    (1, "handler", Inline(PROBE_HANDLER)),
    (2, "initialDelaySeconds", Count),
    (3, "timeoutSeconds", Count),
    (4, "periodSeconds", Count),
    (5, "successThreshold", Count),
    (6, "failureThreshold", Count),
];
const PROBE_HANDLER: &[Field] = &[
    (1, "exec", Message(&[(1, "command", Texts)])),
    (
        2,
        "httpGet",
        Message(&[(1, "path", Text), (2, "port", IntOrString), (3, "host", Text), (4, "scheme", Text)]),
    ),
    (3, "tcpSocket", Message(&[(1, "port", IntOrString), (2, "host", Text)])),
];
const VOLUME: &[Field] = &[(1, "name", Text), (2, "volumeSource", Inline(VOLUME_SOURCE))];
const VOLUME_SOURCE: &[Field] = &[
    (1, "hostPath", Message(&[(1, "path", Text), (2, "type", Text)])),
    (2, "emptyDir", Message(&[(1, "medium", Text), (2, "sizeLimit", Quantity)])),
    (6, "secret", Message(&[(1, "secretName", Text), (3, "defaultMode", Number)])),
    (10, "persistentVolumeClaim", Message(&[(1, "claimName", Text), (2, "readOnly", Flag)])),
    (19, "configMap", Message(&[(1, "localObjectReference", Inline(NAMED)), (3, "defaultMode", Number)])),
];
const JOB: &[Field] = &[(1, "metadata", Message(META)), (2, "spec", Message(JOB_SPEC)), STATUS];
const JOB_SPEC: &[Field] = &[
    (1, "parallelism", Number),
    (2, "completions", Number),
    (3, "activeDeadlineSeconds", Number),
    (4, "selector", Message(SELECTOR)),
    (6, "template", Message(TEMPLATE)),
    (7, "backoffLimit", Number),
    (8, "ttlSecondsAfterFinished", Number),
    (9, "completionMode", Text),
    (10, "suspend", Bool),
    (14, "podReplacementPolicy", Text),
];
const CRON_JOB: &[Field] = &[(1, "metadata", Message(META)), (2, "spec", Message(CRON_JOB_SPEC)), STATUS];
const CRON_JOB_SPEC: &[Field] = &[
    (1, "schedule", Text),
    (2, "startingDeadlineSeconds", Number),
    (3, "concurrencyPolicy", Text),
    (4, "suspend", Bool),
    (5, "jobTemplate", Message(JOB)),
    (6, "successfulJobsHistoryLimit", Number),
    (7, "failedJobsHistoryLimit", Number),
    (8, "timeZone", Text),
];
const INGRESS: &[Field] = &[(1, "metadata", Message(META)), (2, "spec", Message(INGRESS_SPEC)), STATUS];
const INGRESS_SPEC: &[Field] = &[
    (1, "defaultBackend", Message(BACKEND)),
    (2, "tls", Messages(&[(1, "hosts", Texts), (2, "secretName", Text)])),
    (3, "rules", Messages(&[(1, "host", Text), (2, "ingressRuleValue", Inline(RULE_VALUE))])),
    (4, "ingressClassName", Text),
];
const RULE_VALUE: &[Field] = &[(1, "http", Message(&[(1, "paths", Messages(INGRESS_PATH))]))];
const INGRESS_PATH: &[Field] = &[(1, "path", Text), (2, "backend", Message(BACKEND)), (3, "pathType", Text)];
const BACKEND: &[Field] = &[(
    4,
    "service",
    Message(&[(1, "name", Text), (2, "port", Message(&[(1, "name", Text), (2, "number", Count)]))]),
)];
const ROLE: &[Field] = &[
    (1, "metadata", Message(META)),
    (2, "rules", Messages(RULE)),
    (3, "aggregationRule", Message(&[(1, "clusterRoleSelectors", Messages(SELECTOR))])),
];
const RULE: &[Field] = &[
    (1, "verbs", Texts),
    (2, "apiGroups", Texts),
    (3, "resources", Texts),
    (4, "resourceNames", Texts),
    (5, "nonResourceURLs", Texts),
];
const BINDING: &[Field] = &[
    (1, "metadata", Message(META)),
    (
        2,
        "subjects",
        Messages(&[(1, "kind", Text), (2, "apiGroup", Text), (3, "name", Text), (4, "namespace", Text)]),
    ),
    (3, "roleRef", Message(&[(1, "apiGroup", Text), (2, "kind", Text), (3, "name", Text)])),
];
const DISRUPTION_BUDGET: &[Field] =
    &[(1, "metadata", Message(META)), (2, "spec", Message(DISRUPTION_BUDGET_SPEC)), STATUS];
const DISRUPTION_BUDGET_SPEC: &[Field] = &[
    (1, "minAvailable", IntOrString),
    (2, "selector", Message(SELECTOR)),
    (3, "maxUnavailable", IntOrString),
    (4, "unhealthyPodEvictionPolicy", Text),
];
const PRIORITY_CLASS: &[Field] = &[
    (1, "metadata", Message(META)),
    (2, "value", Number),
    (3, "globalDefault", Flag),
    (4, "description", Text),
    (5, "preemptionPolicy", Text),
];
const RESOURCE_QUOTA: &[Field] = &[
    (1, "metadata", Message(META)),
    (2, "spec", Message(&[(1, "hard", Quantities), (2, "scopes", Texts)])),
    STATUS,
];
const AUTOSCALER: &[Field] = &[(1, "metadata", Message(META)), (2, "spec", Message(AUTOSCALER_SPEC)), STATUS];
const AUTOSCALER_SPEC: &[Field] = &[
    (1, "scaleTargetRef", Message(&[(1, "kind", Text), (2, "name", Text), (3, "apiVersion", Text)])),
    (2, "minReplicas", Number),
    (3, "maxReplicas", Number),
    (4, "metrics", Messages(METRIC)),
];
const AUTOSCALER_V1: &[Field] =
    &[(1, "metadata", Message(META)), (2, "spec", Message(AUTOSCALER_V1_SPEC)), STATUS];
const AUTOSCALER_V1_SPEC: &[Field] = &[
    (1, "scaleTargetRef", Message(&[(1, "kind", Text), (2, "name", Text), (3, "apiVersion", Text)])),
    (2, "minReplicas", Number),
    (3, "maxReplicas", Number),
    (4, "targetCPUUtilizationPercentage", Number),
];
const METRIC: &[Field] = &[
    (1, "type", Text),
    (4, "resource", Message(&[(1, "name", Text), (2, "target", Message(METRIC_TARGET))])),
];
const METRIC_TARGET: &[Field] = &[
    (1, "type", Text),
    (2, "value", Quantity),
    (3, "averageValue", Quantity),
    (4, "averageUtilization", Number),
];
const EVICTION: &[Field] = &[(1, "metadata", Message(META)), (2, "deleteOptions", Message(DELETE_OPTIONS))];
const SCALE: &[Field] =
    &[(1, "metadata", Message(META)), (2, "spec", Message(&[(1, "replicas", Number)])), STATUS];
const ACCESS_REVIEW: &[Field] = &[
    (1, "metadata", Message(META)),
    (
        2,
        "spec",
        Message(&[
            (1, "resourceAttributes", Message(RESOURCE_ATTRIBUTES)),
            (2, "nonResourceAttributes", Message(&[(1, "path", Text), (2, "verb", Text)])),
        ]),
    ),
];
const RESOURCE_ATTRIBUTES: &[Field] = &[
    (1, "namespace", Text),
    (2, "verb", Text),
    (3, "group", Text),
    (4, "version", Text),
    (5, "resource", Text),
    (6, "subresource", Text),
    (7, "name", Text),
];
const RULES_REVIEW: &[Field] =
    &[(1, "metadata", Message(META)), (2, "spec", Message(&[(1, "namespace", Text)]))];
const DELETE_OPTIONS: &[Field] = &[
    (1, "gracePeriodSeconds", Number),
    (2, "preconditions", Message(&[(1, "uid", Text), (2, "resourceVersion", Text)])),
    (3, "orphanDependents", Bool),
    (4, "propagationPolicy", Text),
    (5, "dryRun", Texts),
];
