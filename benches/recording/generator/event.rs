//! Events about pods.

use super::node::node_name;
use super::pod::Pod;
use super::text::{age, managed, time, uid};
use super::workload::Workload;

/// The type, reason and message of each kind of event.
const REASONS: [(&str, &str, &str); 9] = [
    ("Normal", "Scheduled", "Successfully assigned {namespace}/{pod} to {node}"),
    ("Normal", "Pulling", "Pulling image \"{image}\""),
    (
        "Normal",
        "Pulled",
        "Successfully pulled image \"{image}\" in {ms}ms ({ms}ms including waiting). Image size: {ms}4213 bytes.",
    ),
    ("Normal", "Created", "Container created"),
    ("Normal", "Started", "Container started"),
    ("Normal", "Killing", "Stopping container c0"),
    ("Warning", "Unhealthy", "Readiness probe failed: HTTP probe failed with statuscode: 503"),
    ("Warning", "BackOff", "Back-off restarting failed container c0 in pod {pod}_{namespace}({uid})"),
    (
        "Warning",
        "FailedMount",
        "MountVolume.SetUp failed for volume \"config\" : configmap \"{pod}\" not found",
    ),
];

/// An event.
#[derive(Clone)]
pub(super) struct Event {
    namespace: String,
    pod: String,
    name: String,
    front: String,
    kind: &'static str,
    reason: &'static str,
    message: String,
    node: String,
    pub(super) first: i64,
    last: i64,
    count: u32,
}

impl Event {
    pub(super) fn new(
        random: &mut fastrand::Rng,
        pod: &Pod,
        workload: &Workload,
        version: u64,
        now: i64,
    ) -> Self {
        let (kind, reason, message) = REASONS[random.usize(..REASONS.len())];
        let node = node_name(pod.node());
        let message = message
            .replace("{namespace}", &workload.namespace)
            .replace("{pod}", &pod.name)
            .replace("{node}", &node)
            .replace("{image}", &workload.images[0])
            .replace("{uid}", &pod.uid)
            .replace("{ms}", &random.u16(200..9000).to_string());
        // The recorder of client-go appends the time in nanoseconds.
        let name = format!("{}.{:x}", pod.name, now * 1_000_000 + random.i64(-900_000_000..0));
        let (pod_name, pod_uid, namespace) = (&pod.name, &pod.uid, &workload.namespace);
        let front = format!(
            r#""involvedObject":{{"kind":"Pod","namespace":"{namespace}","name":"{pod_name}","uid":"{pod_uid}","apiVersion":"v1","resourceVersion":"{}","fieldPath":"spec.containers{{c0}}"}}"#,
            version - random.u64(1..2000)
        );
        let front = format!(r#""uid":"{}"|{front}"#, uid(random));
        Self {
            namespace: namespace.clone(),
            pod: pod.name.clone(),
            name,
            front,
            kind,
            reason,
            message,
            node,
            first: now,
            last: now,
            count: 1,
        }
    }

    /// Returns whether the event may occur again.
    pub(super) fn is_warning(&self) -> bool {
        self.kind == "Warning"
    }

    pub(super) fn repeat(&mut self, now: i64) {
        self.count += 1;
        self.last = now;
    }

    /// Returns the event and its cells.
    pub(super) fn text(&self, version: u64, now: i64) -> (String, Vec<String>) {
        let Self { namespace, pod, name, front, kind, reason, message, node, first, last, count } = self;
        let (uid, involved) = front.split_once('|').expect("the uid is the first part");
        let fields = r#"{"f:count":{},"f:firstTimestamp":{},"f:involvedObject":{},"f:lastTimestamp":{},"f:message":{},"f:reason":{},"f:reportingComponent":{},"f:reportingInstance":{},"f:source":{"f:component":{},"f:host":{}},"f:type":{}}"#;
        let json = format!(
            r#"{{"kind":"Event","apiVersion":"v1","metadata":{{"name":"{name}","namespace":"{namespace}",{uid},"resourceVersion":"{version}","creationTimestamp":"{first_time}","managedFields":[{managed}]}},{involved},"reason":"{reason}","message":"{message}","source":{{"component":"kubelet","host":"{node}"}},"firstTimestamp":"{first_time}","lastTimestamp":"{last_time}","count":{count},"type":"{kind}","eventTime":null,"reportingComponent":"kubelet","reportingInstance":"{node}"}}"#,
            managed = managed("kubelet", "", "v1", *last, fields),
            first_time = time(*first),
            last_time = time(*last),
            message = message.replace('"', "\\\""),
        );
        let cells = vec![
            age(*last, now),
            (*kind).to_owned(),
            (*reason).to_owned(),
            format!("pod/{pod}"),
            "spec.containers{c0}".to_owned(),
            format!("kubelet, {node}"),
            message.clone(),
            age(*first, now),
            count.to_string(),
            name.clone(),
        ];
        (json, cells)
    }
}
