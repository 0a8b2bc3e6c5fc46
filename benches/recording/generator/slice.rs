//! Endpoint slices, of at most 100 endpoints.

use super::node::node_name;
use super::pod::Pod;
use super::text::{age, managed, owner, time, uid, word};
use super::workload::Workload;

struct Endpoint {
    /// The number of the pod.
    pod: usize,
    name: String,
    text: String,
    address: String,
    is_ready: bool,
}

pub(super) struct Slice {
    pub(super) workload: usize,
    name: String,
    uid: String,
    created: i64,
    changed: i64,
    generation: u32,
    endpoints: Vec<Endpoint>,
}

impl Slice {
    pub(super) fn new(
        random: &mut fastrand::Rng,
        number: usize,
        workload: &Workload,
        pods: &[(usize, &Pod)],
    ) -> Self {
        let endpoints = pods.iter().map(|(at, pod)| endpoint(*at, pod, workload)).collect();
        let (name, uid) = (format!("{}-{}", workload.name, word(random, 5)), uid(random));
        let (created, changed) = (workload.created, workload.created);
        Self { workload: number, name, uid, created, changed, generation: 1, endpoints }
    }

    /// Refreshes a random endpoint from its pod. If it is still the same pod, the endpoint changes between ready and
    /// unready. A changed endpoint moves to the end, where the endpoint slice controller appends it.
    pub(super) fn refresh(
        &mut self,
        random: &mut fastrand::Rng,
        pods: &[Pod],
        workload: &Workload,
        now: i64,
    ) {
        let at = random.usize(..self.endpoints.len());
        let old = self.endpoints.remove(at);
        let mut new = endpoint(old.pod, &pods[old.pod], workload);
        if old.name == new.name {
            new.is_ready = !old.is_ready;
        }
        self.endpoints.push(new);
        self.changed = now;
        self.generation += 1;
    }

    /// Returns the slice and its cells.
    pub(super) fn text(&self, workload: &Workload, version: u64, now: i64) -> (String, Vec<String>) {
        let Self { name, uid, created, changed, generation, .. } = self;
        let endpoints: Vec<String> = self
            .endpoints
            .iter()
            .map(|endpoint| {
                format!(
                    r#"{{"addresses":["{}"],"conditions":{{"ready":{ready},"serving":{ready},"terminating":false}},{}}}"#,
                    endpoint.address,
                    endpoint.text,
                    ready = endpoint.is_ready,
                )
            })
            .collect();
        let fields = r#"{"f:addressType":{},"f:endpoints":{},"f:metadata":{"f:annotations":{".":{},"f:endpoints.kubernetes.io/last-change-trigger-time":{}},"f:generateName":{},"f:labels":{},"f:ownerReferences":{}},"f:ports":{}}"#;
        let json = format!(
            r#"{{"kind":"EndpointSlice","apiVersion":"discovery.k8s.io/v1","metadata":{{"name":"{name}","generateName":"{app}-","namespace":"{namespace}","uid":"{uid}","resourceVersion":"{version}","generation":{generation},"creationTimestamp":"{created}","labels":{{"endpointslice.kubernetes.io/managed-by":"endpointslice-controller.k8s.io","kubernetes.io/service-name":"{app}"}},"annotations":{{"endpoints.kubernetes.io/last-change-trigger-time":"{changed}"}},{owner},"managedFields":[{managed}]}},"addressType":"IPv4","endpoints":[{endpoints}],"ports":[{{"name":"http","protocol":"TCP","port":8080}}]}}"#,
            app = workload.name,
            namespace = workload.namespace,
            created = time(*created),
            changed = time(*changed),
            owner = owner("v1", "Service", &workload.name, uid),
            managed = managed("kube-controller-manager", "", "discovery.k8s.io/v1", *changed, fields),
            endpoints = endpoints.join(","),
        );
        let mut shown: Vec<&str> =
            self.endpoints.iter().take(3).map(|endpoint| endpoint.address.as_str()).collect();
        let more = format!(
            "{} + {} more...",
            shown.pop().unwrap_or_default(),
            self.endpoints.len().saturating_sub(3)
        );
        shown.push(&more);
        let cells =
            vec![name.clone(), "IPv4".to_owned(), "8080".to_owned(), shown.join(","), age(*created, now)];
        (json, cells)
    }
}

fn endpoint(at: usize, pod: &Pod, workload: &Workload) -> Endpoint {
    let text = format!(
        r#""targetRef":{{"kind":"Pod","namespace":"{}","name":"{}","uid":"{}"}},"nodeName":"{}","zone":"eu-central-1{}""#,
        workload.namespace,
        pod.name,
        pod.uid,
        node_name(pod.node()),
        char::from(b"abc"[pod.node() as usize % 3]),
    );
    let (name, address) = (pod.name.clone(), pod.address.clone());
    Endpoint { pod: at, name, text, address, is_ready: pod.is_ready }
}
