//! Stories: the scripted steps of one pod, such as a replacement or a crash.

use super::pod::Pod;
use super::workload::Workload;

/// The steps of a pod that is replaced, crashes or is unready for a while.
pub(super) struct Story {
    /// The number of the pod.
    pub(super) pod: usize,
    kind: Kind,
    step: u32,
}

enum Kind {
    /// The pod is replaced by this one.
    Replacement(Box<Pod>),
    /// Its container terminates with this code, and is restarted after a pause.
    Crash(u8),
    Unready,
}

impl Story {
    pub(super) fn new(
        random: &mut fastrand::Rng,
        at: usize,
        pod: &Pod,
        workload: &Workload,
        now: i64,
    ) -> Self {
        let kind = match random.u32(..10) {
            0..4 => Kind::Replacement(Box::new(Pod::new(random, pod.workload, workload, now))),
            4..6 => Kind::Crash(1),
            6 => Kind::Crash(137),
            _ => Kind::Unready,
        };
        Self { pod: at, kind, step: 0 }
    }

    /// Returns the pod that the story changes: the new one of a replacement.
    pub(super) fn subject<'a>(&'a self, pods: &'a [Pod]) -> &'a Pod {
        match &self.kind {
            Kind::Replacement(pod) => pod,
            _ => &pods[self.pod],
        }
    }

    /// Applies the next step.
    pub(super) fn advance(&mut self, random: &mut fastrand::Rng, pods: &mut [Pod], now: i64) -> Step {
        self.step += 1;
        let pod = &mut pods[self.pod];
        match &mut self.kind {
            Kind::Replacement(new) => match self.step {
                1 => Step::new(Change::New { is_added: true }, "kube-controller-manager", false),
                2 => {
                    new.schedule(now);
                    Step::new(Change::New { is_added: false }, "kube-scheduler", false)
                }
                3 => {
                    new.create(now);
                    Step::new(Change::New { is_added: false }, "kubelet", false)
                }
                4 => {
                    new.run(now);
                    Step::new(Change::New { is_added: false }, "kubelet", false)
                }
                5 => {
                    pod.delete(now);
                    Step::new(Change::Own, "", false)
                }
                6 => {
                    pod.set_ready(false, now);
                    Step::new(Change::Own, "kubelet", false)
                }
                _ => Step::new(Change::Deleted, "", true),
            },
            Kind::Crash(code) => match self.step {
                1 => {
                    pod.crash(*code, now);
                    Step::new(Change::Own, "kubelet", false)
                }
                2 if *code == 1 => {
                    pod.back_off(now);
                    Step::new(Change::Own, "kubelet", false)
                }
                _ => {
                    pod.restart(random, now);
                    Step::new(Change::Own, "kubelet", true)
                }
            },
            Kind::Unready => {
                pod.set_ready(self.step > 1, now);
                Step::new(Change::Own, "kubelet", self.step > 1)
            }
        }
    }

    /// Returns the pod that replaces the old one.
    pub(super) fn into_replacement(self) -> Option<Pod> {
        match self.kind {
            Kind::Replacement(pod) => Some(*pod),
            _ => None,
        }
    }
}

/// The pod that a step changed, and how.
pub(super) enum Change {
    /// The replacement pod.
    New {
        is_added: bool,
    },
    Own,
    /// The old pod is deleted, and its replacement takes its place.
    Deleted,
}

/// A step of a story.
pub(super) struct Step {
    pub(super) change: Change,
    pub(super) author: &'static str,
    pub(super) is_last: bool,
}

impl Step {
    fn new(change: Change, author: &'static str, is_last: bool) -> Self {
        Self { change, author, is_last }
    }
}
