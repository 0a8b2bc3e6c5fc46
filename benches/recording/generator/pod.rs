//! Pods and their lifecycle.

use std::fmt;

use super::node::node_name;
use super::text::{address, age, hex, managed, owner, time, uid, word};
use super::workload::Workload;

/// The phase of a pod's lifecycle, as its body shows it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    Pending,
    Scheduled,
    Creating,
    Running,
}

/// The state of a container.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ContainerState {
    Running,
    BackOff,
    /// With this exit code: 137 if the container ran out of memory.
    Terminated(u8),
}

struct Container {
    id: String,
    image_hash: String,
    started: i64,
    finished: i64,
    restarts: u32,
    state: ContainerState,
    /// The exit code and the id of the previous run.
    last: Option<(u8, String)>,
}

pub(super) struct Pod {
    pub(super) workload: usize,
    pub(super) name: String,
    pub(super) uid: String,
    set: (String, String),
    token: String,
    created: i64,
    node: u32,
    pub(super) address: String,
    pub(super) phase: Phase,
    pub(super) is_ready: bool,
    ready_since: i64,
    running_since: i64,
    deleted: Option<i64>,
    /// The time of the kubelet's last write.
    written: i64,
    containers: Vec<Container>,
}

impl Pod {
    pub(super) fn new(random: &mut fastrand::Rng, number: usize, workload: &Workload, now: i64) -> Self {
        let set = workload.newest();
        let set_name = format!("{}-{}", workload.name, set.hash);
        let containers = workload
            .images
            .iter()
            .map(|image| Container {
                id: hex(random, 64),
                image_hash: format!(
                    "{:064x}",
                    u128::from(fastrand::Rng::with_seed(image.len() as u64 * 31).u64(..)) << 60
                ),
                started: now,
                finished: now,
                restarts: 0,
                state: ContainerState::Running,
                last: None,
            })
            .collect();
        Self {
            workload: number,
            name: format!("{set_name}-{}", word(random, 5)),
            uid: uid(random),
            set: (set_name, set.uid.clone()),
            token: format!("kube-api-access-{}", word(random, 5)),
            created: now,
            node: random.u32(..super::NODES),
            address: address(random),
            phase: Phase::Pending,
            is_ready: false,
            ready_since: now,
            running_since: now,
            deleted: None,
            written: now,
            containers,
        }
    }

    pub(super) fn node(&self) -> u32 {
        self.node
    }

    pub(super) fn schedule(&mut self, now: i64) {
        self.phase = Phase::Scheduled;
        self.written = now;
    }

    pub(super) fn create(&mut self, now: i64) {
        self.phase = Phase::Creating;
        self.written = now;
    }

    pub(super) fn run(&mut self, now: i64) {
        self.phase = Phase::Running;
        self.running_since = now;
        for container in &mut self.containers {
            container.started = now - 1000;
        }
        self.set_ready(true, now);
    }

    pub(super) fn set_ready(&mut self, is_ready: bool, now: i64) {
        (self.is_ready, self.ready_since, self.written) = (is_ready, now, now);
    }

    pub(super) fn delete(&mut self, now: i64) {
        self.deleted = Some(now + 30_000);
    }

    /// Terminates the first container with this exit code.
    pub(super) fn crash(&mut self, code: u8, now: i64) {
        let container = &mut self.containers[0];
        container.state = ContainerState::Terminated(code);
        container.finished = now - 500;
        self.set_ready(false, now);
    }

    pub(super) fn back_off(&mut self, now: i64) {
        let container = &mut self.containers[0];
        if let ContainerState::Terminated(code) = container.state {
            container.last = Some((code, container.id.clone()));
        }
        container.state = ContainerState::BackOff;
        self.written = now;
    }

    pub(super) fn restart(&mut self, random: &mut fastrand::Rng, now: i64) {
        let container = &mut self.containers[0];
        if let ContainerState::Terminated(code) = container.state {
            container.last = Some((code, container.id.clone()));
        }
        container.id = hex(random, 64);
        container.state = ContainerState::Running;
        container.started = now - 700;
        container.restarts += 1;
        self.set_ready(true, now);
    }

    /// Returns the pod and its cells.
    pub(super) fn text(&self, workload: &Workload, version: u64, now: i64) -> (String, Vec<String>) {
        let mut json = String::with_capacity(8 << 10);
        self.metadata(workload, version, &mut json);
        self.spec(workload, &mut json);
        self.status(workload, &mut json);
        (json, self.cells(now))
    }

    fn metadata(&self, workload: &Workload, version: u64, out: &mut String) {
        let Self { name, uid, token: _, set: (set, set_uid), .. } = self;
        let mut fields = vec![managed(
            "kube-controller-manager",
            "",
            "v1",
            self.created,
            r#"{"f:metadata":{"f:generateName":{},"f:labels":{".":{},"f:app.kubernetes.io/name":{},"f:app.kubernetes.io/part-of":{},"f:pod-template-hash":{}},"f:ownerReferences":{".":{},"k:{\"uid\":\"x\"}":{}}},"f:spec":{"f:containers":{"k:{\"name\":\"c0\"}":{".":{},"f:args":{},"f:env":{".":{},"k:{\"name\":\"A\"}":{".":{},"f:name":{},"f:value":{}}},"f:image":{},"f:imagePullPolicy":{},"f:livenessProbe":{".":{},"f:failureThreshold":{},"f:httpGet":{".":{},"f:path":{},"f:port":{},"f:scheme":{}}},"f:name":{},"f:ports":{".":{}},"f:resources":{},"f:securityContext":{},"f:terminationMessagePath":{},"f:terminationMessagePolicy":{}}},"f:dnsPolicy":{},"f:enableServiceLinks":{},"f:restartPolicy":{},"f:schedulerName":{},"f:securityContext":{},"f:terminationGracePeriodSeconds":{}}}"#,
        )];
        if self.phase != Phase::Pending {
            fields.push(managed("kubelet", "status", "v1", self.written, r#"{"f:status":{"f:conditions":{"k:{\"type\":\"ContainersReady\"}":{".":{},"f:lastProbeTime":{},"f:lastTransitionTime":{},"f:status":{},"f:type":{}},"k:{\"type\":\"Initialized\"}":{".":{},"f:lastProbeTime":{},"f:lastTransitionTime":{},"f:status":{},"f:type":{}},"k:{\"type\":\"Ready\"}":{".":{},"f:lastProbeTime":{},"f:lastTransitionTime":{},"f:status":{},"f:type":{}}},"f:containerStatuses":{},"f:hostIP":{},"f:phase":{},"f:podIP":{},"f:podIPs":{".":{}},"f:startTime":{}}}"#));
        }
        let deletion = self.deleted.map_or(String::new(), |at| {
            format!(r#""deletionTimestamp":"{}","deletionGracePeriodSeconds":30,"#, time(at))
        });
        append(
            out,
            format_args!(
                r#"{{"kind":"Pod","apiVersion":"v1","metadata":{{"name":"{name}","generateName":"{set}-","namespace":"{namespace}","uid":"{uid}","resourceVersion":"{version}","creationTimestamp":"{created}",{deletion}"labels":{{"app.kubernetes.io/name":"{app}","app.kubernetes.io/part-of":"{namespace}","pod-template-hash":"{hash}"}},{owner},"managedFields":[{managed}]}},"#,
                namespace = workload.namespace,
                created = time(self.created),
                app = workload.name,
                hash = &set[workload.name.len() + 1..],
                owner = owner("apps/v1", "ReplicaSet", set, set_uid),
                managed = fields.join(","),
            ),
        );
    }

    fn spec(&self, workload: &Workload, out: &mut String) {
        let token = &self.token;
        let node = if self.phase == Phase::Pending {
            String::new()
        } else {
            format!(r#""nodeName":"{}","#, node_name(self.node))
        };
        append(
            out,
            format_args!(
                r#""spec":{{"volumes":[{{"name":"{token}","projected":{{"sources":[{{"serviceAccountToken":{{"expirationSeconds":3607,"path":"token"}}}},{{"configMap":{{"name":"kube-root-ca.crt","items":[{{"key":"ca.crt","path":"ca.crt"}}]}}}},{{"downwardAPI":{{"items":[{{"path":"namespace","fieldRef":{{"apiVersion":"v1","fieldPath":"metadata.namespace"}}}}]}}}}],"defaultMode":420}}}}],"containers":[{containers}],"restartPolicy":"Always","terminationGracePeriodSeconds":30,"dnsPolicy":"ClusterFirst","serviceAccountName":"{app}","serviceAccount":"{app}",{node}"securityContext":{{"runAsNonRoot":true,"runAsUser":65532}},"schedulerName":"default-scheduler","tolerations":[{{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute","tolerationSeconds":300}},{{"key":"node.kubernetes.io/unreachable","operator":"Exists","effect":"NoExecute","tolerationSeconds":300}}],"priority":0,"enableServiceLinks":true,"preemptionPolicy":"PreemptLowerPriority"}},"#,
                containers = workload.containers.join(token),
                app = workload.name,
            ),
        );
    }

    fn status(&self, workload: &Workload, out: &mut String) {
        let condition = |kind: &str, is_true: bool, at: i64| {
            let status = if is_true { "True" } else { "False" };
            let reason = if is_true {
                String::new()
            } else {
                r#","reason":"ContainersNotReady","message":"containers with unready status: [c0]""#
                    .to_owned()
            };
            format!(
                r#"{{"type":"{kind}","status":"{status}","observedGeneration":1,"lastProbeTime":null,"lastTransitionTime":"{}"{reason}}}"#,
                time(at)
            )
        };
        if self.phase == Phase::Pending {
            out.push_str(r#""status":{"phase":"Pending","qosClass":"Burstable"}}"#);
            return;
        }
        let scheduled = condition("PodScheduled", true, self.created);
        if self.phase == Phase::Scheduled {
            append(
                out,
                format_args!(
                    r#""status":{{"phase":"Pending","conditions":[{scheduled}],"qosClass":"Burstable"}}}}"#
                ),
            );
            return;
        }
        let is_running = self.phase == Phase::Running;
        let conditions = [
            condition("PodReadyToStartContainers", is_running, self.running_since),
            condition("Initialized", true, self.created),
            condition("Ready", self.is_ready, self.ready_since),
            condition("ContainersReady", self.is_ready, self.ready_since),
            scheduled,
        ];
        let addresses = if is_running {
            format!(r#""podIP":"{0}","podIPs":[{{"ip":"{0}"}}],"#, self.address)
        } else {
            String::new()
        };
        let containers: Vec<String> = self
            .containers
            .iter()
            .zip(&workload.images)
            .enumerate()
            .map(|(at, (container, image))| container.status(at, image, is_running))
            .collect();
        append(
            out,
            format_args!(
                r#""status":{{"phase":"{phase}","conditions":[{conditions}],"hostIP":"10.0.{a}.{b}","hostIPs":[{{"ip":"10.0.{a}.{b}"}}],{addresses}"startTime":"{start}","containerStatuses":[{containers}],"qosClass":"Burstable"}}}}"#,
                phase = if is_running { "Running" } else { "Pending" },
                conditions = conditions.join(","),
                a = self.node / 250,
                b = self.node % 250,
                start = time(self.created),
                containers = containers.join(","),
            ),
        );
    }

    fn cells(&self, now: i64) -> Vec<String> {
        let count = self.containers.len();
        let first = &self.containers[0];
        let ready = match (self.phase, self.is_ready) {
            (Phase::Running, true) => count,
            (Phase::Running, false) => count - 1,
            _ => 0,
        };
        let status = match (self.phase, first.state) {
            _ if self.deleted.is_some() => "Terminating",
            (Phase::Pending | Phase::Scheduled, _) => "Pending",
            (Phase::Creating, _) => "ContainerCreating",
            (_, ContainerState::BackOff) => "CrashLoopBackOff",
            (_, ContainerState::Terminated(137)) => "OOMKilled",
            (_, ContainerState::Terminated(_)) => "Error",
            _ => "Running",
        };
        let restarts: u32 = self.containers.iter().map(|container| container.restarts).sum();
        let restarts = if restarts > 0 && first.last.is_some() {
            format!("{restarts} ({} ago)", age(first.finished, now))
        } else {
            restarts.to_string()
        };
        let none = || "<none>".to_owned();
        vec![
            self.name.clone(),
            format!("{ready}/{count}"),
            status.to_owned(),
            restarts,
            age(self.created, now),
            if self.phase == Phase::Running { self.address.clone() } else { none() },
            if self.phase == Phase::Pending { none() } else { node_name(self.node) },
            none(),
            none(),
        ]
    }
}

/// Appends formatted text.
fn append(out: &mut String, text: fmt::Arguments<'_>) {
    fmt::Write::write_fmt(out, text).expect("a String takes what is written");
}

impl Container {
    fn status(&self, at: usize, image: &str, is_running: bool) -> String {
        let Self { id, image_hash, restarts, .. } = self;
        let (repository, _) = image.rsplit_once(':').unwrap_or((image, ""));
        if !is_running {
            return format!(
                r#"{{"name":"c{at}","state":{{"waiting":{{"reason":"ContainerCreating"}}}},"lastState":{{}},"ready":false,"restartCount":0,"image":"{image}","imageID":"","started":false}}"#
            );
        }
        let terminated = |code: u8, id: &str| {
            let reason = if code == 137 { "OOMKilled" } else { "Error" };
            format!(
                r#"{{"terminated":{{"exitCode":{code},"reason":"{reason}","startedAt":"{}","finishedAt":"{}","containerID":"containerd://{id}"}}}}"#,
                time(self.started),
                time(self.finished)
            )
        };
        let state = match self.state {
            ContainerState::Running => format!(r#"{{"running":{{"startedAt":"{}"}}}}"#, time(self.started)),
            ContainerState::BackOff => format!(
                r#"{{"waiting":{{"reason":"CrashLoopBackOff","message":"back-off 5m0s restarting failed container=c{at}"}}}}"#
            ),
            ContainerState::Terminated(code) => terminated(code, id),
        };
        let last = self.last.as_ref().map_or("{}".to_owned(), |(code, id)| terminated(*code, id));
        let is_up = self.state == ContainerState::Running;
        format!(
            r#"{{"name":"c{at}","state":{state},"lastState":{last},"ready":{is_up},"restartCount":{restarts},"image":"{image}","imageID":"{repository}@sha256:{image_hash}","containerID":"containerd://{id}","started":{is_up}}}"#
        )
    }
}
