//! A simulated cluster: 20,000 pods in 300 workloads, 500 nodes, and their events, endpoint slices, `ReplicaSets`
//! and Deployments. It changes 20.2 times a second: half of the changes are of events, 24 % of pods, 8 % of
//! `ReplicaSets`, 8 % of nodes, 6 % of slices and 5 % of Deployments.

mod event;
mod node;
mod pod;
mod slice;
mod story;
mod text;
mod workload;

use std::collections::VecDeque;

use event::Event;
use node::Node;
use pod::Pod;
use slice::Slice;
use story::{Change, Story};
use workload::Workload;

use crate::stream::{Kind, Message};

/// 2026-11-24T00:00:00Z in Unix milliseconds.
pub(crate) const START: i64 = 1_795_478_400_000;

const PODS: u32 = 20_000;
const WORKLOADS: u32 = 300;
const NODES: u32 = 500;

/// The number of concurrent stories. The steps of a story are about 10 seconds apart.
const STORIES: usize = 50;

/// The time in milliseconds for which the server keeps events.
const EVENT_LIFETIME: i64 = 3_600_000;

/// The number of versions of the pod with the longest history.
const LONG_HISTORY: u32 = 1000;

/// The types, indexed by [`Message::resource`].
pub(crate) const RESOURCES: [(&str, &str, &str, bool); 6] = [
    ("", "pods", "Pod", true),
    ("", "events", "Event", true),
    ("", "nodes", "Node", false),
    ("apps", "replicasets", "ReplicaSet", true),
    ("apps", "deployments", "Deployment", true),
    ("discovery.k8s.io", "endpointslices", "EndpointSlice", true),
];

/// The columns of each type, and the number of those that are not limited to the wide view. The wide ones come
/// last.
pub(crate) const COLUMNS: [(&[&str], usize); 6] = [
    (&["Name", "Ready", "Status", "Restarts", "Age", "IP", "Node", "Nominated Node", "Readiness Gates"], 5),
    (
        &[
            "Last Seen",
            "Type",
            "Reason",
            "Object",
            "Subobject",
            "Source",
            "Message",
            "First Seen",
            "Count",
            "Name",
        ],
        4,
    ),
    (
        &[
            "Name",
            "Status",
            "Roles",
            "Age",
            "Version",
            "Internal-IP",
            "External-IP",
            "OS-Image",
            "Kernel-Version",
            "Container-Runtime",
        ],
        5,
    ),
    (&["Name", "Desired", "Current", "Ready", "Age", "Containers", "Images", "Selector"], 5),
    (&["Name", "Ready", "Up-to-date", "Available", "Age", "Containers", "Images", "Selector"], 5),
    (&["Name", "AddressType", "Ports", "Endpoints", "Age"], 5),
];

const POD: u8 = 0;
const EVENT: u8 = 1;
const NODE: u8 = 2;
const SET: u8 = 3;
const DEPLOYMENT: u8 = 4;
const SLICE: u8 = 5;

/// The cluster.
pub(crate) struct Cluster {
    random: fastrand::Rng,
    now: i64,
    version: u64,
    workloads: Vec<Workload>,
    pods: Vec<Pod>,
    nodes: Vec<Node>,
    slices: Vec<Slice>,
    events: VecDeque<Event>,
    stories: Vec<Story>,
    /// Of the pod with the longest history: the number of pod changes between two of its own, and until its next
    /// one.
    long_history: (u32, u32),
}

impl Cluster {
    /// Creates a cluster that is simulated for this many hours.
    pub(crate) fn new(seed: u64, hours: u32) -> Self {
        let mut random = fastrand::Rng::with_seed(seed);
        let now = START;
        let mut left = PODS;
        let workloads: Vec<Workload> = (0..WORKLOADS)
            .map(|number| {
                let mean = left / (WORKLOADS - number);
                let replicas =
                    if number + 1 == WORKLOADS { left } else { random.u32(mean / 6..=mean * 11 / 6) };
                left -= replicas;
                Workload::new(&mut random, number, replicas, now)
            })
            .collect();
        let mut pods = Vec::new();
        let mut slices = Vec::new();
        for (number, workload) in workloads.iter().enumerate() {
            let first = pods.len();
            for _ in 0..workload.replicas {
                let age = i64::from(random.u32(600..20 * 86_400)) * 1000;
                let mut pod = Pod::new(&mut random, number, workload, now - age);
                pod.run(now - age + 9000);
                pods.push(pod);
            }
            let own: Vec<(usize, &Pod)> = pods.iter().enumerate().skip(first).collect();
            let per_slice = own.len().div_ceil(own.len().div_ceil(100).max(1)).max(1);
            for part in own.chunks(per_slice) {
                slices.push(Slice::new(&mut random, number, workload, part));
            }
        }
        let nodes = (0..NODES).map(|number| Node::new(&mut random, number, now)).collect();
        let pod_changes = hours.max(1) * 3600 * 485 / 100;
        let every = pod_changes / LONG_HISTORY;
        let mut cluster = Self {
            random,
            now,
            version: 8_000_000,
            workloads,
            pods,
            nodes,
            slices,
            events: VecDeque::new(),
            stories: Vec::new(),
            long_history: (every, every),
        };
        while cluster.stories.len() < STORIES {
            cluster.begin_story();
        }
        for number in 0..15_600 {
            cluster.add_event(now - EVENT_LIFETIME + number * 230);
        }
        cluster
    }

    /// Returns the namespace and the name of the pod with the longest history.
    pub(crate) fn long_history(&self) -> (String, String) {
        let pod = &self.pods[0];
        (self.workloads[pod.workload].namespace.clone(), pod.name.clone())
    }

    /// Sends the initial state.
    pub(crate) fn list(&mut self, send: &mut dyn FnMut(Message)) {
        let now = self.now;
        let mut listed = |resource: u8, text: (String, Vec<String>)| {
            let (json, cells) = text;
            send(Message {
                kind: Kind::Added,
                is_listed: true,
                resource,
                received: now,
                author: "",
                json,
                cells,
            });
        };
        let (version, random) = (self.version, &mut self.random);
        let mut old = |range: u64| version - random.u64(1..range);
        for pod in &self.pods {
            listed(POD, pod.text(&self.workloads[pod.workload], old(4_000_000), now));
        }
        for event in &self.events {
            listed(EVENT, event.text(old(80_000), now));
        }
        for node in &self.nodes {
            listed(NODE, node.text(old(9000), now));
        }
        for workload in &self.workloads {
            for set in &workload.replica_sets {
                listed(SET, workload.replica_set(set, old(4_000_000), now));
            }
            listed(DEPLOYMENT, workload.deployment(old(4_000_000), now));
        }
        for slice in &self.slices {
            listed(SLICE, slice.text(&self.workloads[slice.workload], old(400_000), now));
        }
        for resource in 0..6 {
            let json = version.to_string();
            send(Message {
                kind: Kind::Synced,
                is_listed: true,
                resource,
                received: now,
                author: "",
                json,
                cells: Vec::new(),
            });
        }
    }

    /// Makes one change and sends it.
    pub(crate) fn change(&mut self, send: &mut dyn FnMut(Message)) {
        // The changes are independent of each other, 20.2 a second on average.
        let interval = -self.random.f64().max(1e-9).ln() * 1000.0 / 20.2;
        #[expect(clippy::cast_possible_truncation, reason = "it is below a minute")]
        let interval = interval.round() as i64;
        self.now += interval;
        // Types that are not recorded use versions too.
        self.version += self.random.u64(1..4);
        match self.random.u32(..101) {
            0..50 => self.change_event(send),
            50..74 => self.change_pod(send),
            74..82 => self.change_set(send),
            82..90 => {
                let at = self.random.usize(..self.nodes.len());
                self.nodes[at].beat(self.now);
                let text = self.nodes[at].text(self.version, self.now);
                self.send(Kind::Modified, NODE, "kubelet", text, send);
            }
            90..96 => {
                let at = self.random.usize(..self.slices.len());
                let slice = &mut self.slices[at];
                let workload = &self.workloads[slice.workload];
                slice.refresh(&mut self.random, &self.pods, workload, self.now);
                let text = slice.text(workload, self.version, self.now);
                self.send(Kind::Modified, SLICE, "kube-controller-manager", text, send);
            }
            _ => {
                let at = self.random.usize(..self.workloads.len());
                let workload = &mut self.workloads[at];
                workload.touch(&mut self.random, self.now);
                let text = workload.deployment(self.version, self.now);
                self.send(Kind::Modified, DEPLOYMENT, "kube-controller-manager", text, send);
            }
        }
    }

    fn send(
        &self,
        kind: Kind,
        resource: u8,
        author: &'static str,
        (json, cells): (String, Vec<String>),
        send: &mut dyn FnMut(Message),
    ) {
        send(Message { kind, is_listed: false, resource, received: self.now, author, json, cells });
    }

    /// Deletes an event that has expired; otherwise adds one, or repeats a recent warning.
    fn change_event(&mut self, send: &mut dyn FnMut(Message)) {
        if let Some(expired) = self.events.pop_front_if(|event| event.first < self.now - EVENT_LIFETIME) {
            let text = expired.text(self.version, self.now);
            return self.send(Kind::Deleted, EVENT, "", text, send);
        }
        let recent = self.events.len() - 1 - self.random.usize(..300);
        if self.random.u32(..3) == 0 && self.events[recent].is_warning() {
            self.events[recent].repeat(self.now);
            let text = self.events[recent].text(self.version, self.now);
            return self.send(Kind::Modified, EVENT, "kubelet", text, send);
        }
        self.add_event(self.now);
        let text = self.events.back().expect("it was added").text(self.version, self.now);
        self.send(Kind::Added, EVENT, "kubelet", text, send);
    }

    /// Adds an event, mostly about a pod that is in a story.
    fn add_event(&mut self, at: i64) {
        let pod = if self.random.u32(..4) > 0 {
            self.stories[self.random.usize(..self.stories.len())].subject(&self.pods)
        } else {
            &self.pods[self.random.usize(..self.pods.len())]
        };
        let event = Event::new(&mut self.random, pod, &self.workloads[pod.workload], self.version, at);
        self.events.push_back(event);
    }

    fn begin_story(&mut self) {
        // The first pod has the longest history, and stays.
        let at = self.random.usize(1..self.pods.len());
        if self.stories.iter().any(|story| story.pod == at) {
            return;
        }
        let pod = &self.pods[at];
        let story = Story::new(&mut self.random, at, pod, &self.workloads[pod.workload], self.now);
        self.stories.push(story);
    }

    fn change_pod(&mut self, send: &mut dyn FnMut(Message)) {
        self.long_history.1 = self.long_history.1.saturating_sub(1);
        if self.long_history.1 == 0 {
            self.long_history.1 = self.long_history.0;
            let is_ready = !self.pods[0].is_ready;
            self.pods[0].set_ready(is_ready, self.now);
            let pod = &self.pods[0];
            let text = pod.text(&self.workloads[pod.workload], self.version, self.now);
            return self.send(Kind::Modified, POD, "kubelet", text, send);
        }
        while self.stories.len() < STORIES {
            self.begin_story();
        }
        let at = self.random.usize(..self.stories.len());
        let story = &mut self.stories[at];
        let number = story.pod;
        let step = story.advance(&mut self.random, &mut self.pods, self.now);
        let subject = match step.change {
            Change::New { .. } => self.stories[at].subject(&self.pods),
            _ => &self.pods[number],
        };
        let text = subject.text(&self.workloads[subject.workload], self.version, self.now);
        let kind = match step.change {
            Change::New { is_added: true } => Kind::Added,
            Change::Deleted => Kind::Deleted,
            _ => Kind::Modified,
        };
        self.send(kind, POD, step.author, text, send);
        if step.is_last
            && let Some(new) = self.stories.swap_remove(at).into_replacement()
        {
            self.pods[number] = new;
        }
    }

    /// Changes the status of a `ReplicaSet`. Sometimes a workload rolls out a changed template: it gets a new
    /// `ReplicaSet`, and later loses an old one.
    fn change_set(&mut self, send: &mut dyn FnMut(Message)) {
        let at = self.random.usize(..self.workloads.len());
        let author = "kube-controller-manager";
        let workload = &mut self.workloads[at];
        if workload.replica_sets.len() > 3 {
            let set = workload.replica_sets.remove(0);
            let text = self.workloads[at].replica_set(&set, self.version, self.now);
            return self.send(Kind::Deleted, SET, "", text, send);
        }
        let kind = if self.random.u32(..40) == 0 {
            workload.roll_out(&mut self.random, self.now);
            Kind::Added
        } else {
            let replicas = workload.replicas;
            if let Some(set) = workload.replica_sets.last_mut() {
                set.ready = replicas - self.random.u32(..replicas.min(4));
            }
            Kind::Modified
        };
        let text = self.workloads[at].replica_set(self.workloads[at].newest(), self.version, self.now);
        self.send(kind, SET, author, text, send);
    }

    pub(crate) fn now(&self) -> i64 {
        self.now
    }
}
