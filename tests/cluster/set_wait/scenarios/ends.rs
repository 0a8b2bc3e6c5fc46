//! Deletions, states that pass quickly, and states that do not pass.

use serde_json::json;

use super::{Kdelta, Kubectl, Scenario, nothing};
use crate::cluster::set_wait::stage::Stage;

fn two_pods(stage: &Stage) {
    stage.pod("a");
    stage.pod("b");
}

/// Makes a pod ready for a moment.
fn is_ready_briefly(stage: &Stage, name: &str) {
    stage.ready(name, true);
    stage.finish(name, "Succeeded");
}

pub(super) fn scenarios() -> Vec<Scenario> {
    let mut all = deletions();
    all.extend(states());
    all.extend(reasons());
    all
}

fn deletions() -> Vec<Scenario> {
    vec![
        Scenario {
            complaint: "B20, k/k#93365",
            text: "the object is gone already",
            kubectl: "cm/x --for=delete",
            kdelta: "cm/x --for gone",
            before: nothing,
            during: nothing,
            kubectl_ends: Kubectl::Met,
            kdelta_ends: Kdelta::Met,
        },
        Scenario {
            complaint: "B20, k/k#65366",
            text: "the object is deleted and created again under the same name",
            kubectl: "cm/x --for=delete",
            kdelta: "cm/x --for gone",
            before: |stage| stage.config_map("x", &json!({})),
            during: |stage| {
                stage.delete_config_map("x");
                stage.config_map("x", &json!({}));
            },
            kubectl_ends: Kubectl::Met,
            kdelta_ends: Kdelta::Met,
        },
        Scenario {
            complaint: "B20, k/k#66136",
            text: "two objects are deleted and created again, the second one first",
            kubectl: "cm --all --for=delete",
            kdelta: "cm --all --for gone",
            before: |stage| {
                stage.config_map("x", &json!({}));
                stage.config_map("y", &json!({}));
            },
            during: |stage| {
                for name in ["y", "x"] {
                    stage.delete_config_map(name);
                    stage.config_map(name, &json!({}));
                    stage.pause();
                }
            },
            // It waits for y when x is gone, and then y is a new object.
            kubectl_ends: Kubectl::TimedOut,
            kdelta_ends: Kdelta::Met,
        },
        Scenario {
            complaint: "B20",
            text: "nothing with a label exists",
            kubectl: "cm -l a=b --for=delete",
            kdelta: "cm -l a=b --for gone",
            before: nothing,
            during: nothing,
            kubectl_ends: Kubectl::Met,
            kdelta_ends: Kdelta::Met,
        },
        Scenario {
            complaint: "B20",
            text: "a pod that is to stay is deleted",
            kubectl: "pod/a --for=condition=Ready",
            kdelta: "pod/a --for ready --fail-on gone",
            before: |stage| stage.pod("a"),
            during: |stage| stage.delete_pod("a"),
            kubectl_ends: Kubectl::Error("pods \"a\" not found"),
            kdelta_ends: Kdelta::Failed("gone is true"),
        },
    ]
}

fn states() -> Vec<Scenario> {
    vec![
        Scenario {
            complaint: "B21, kubectl#1451",
            text: "the pod of a Job was ready for a moment and has finished before the wait",
            kubectl: "pod/a --for=condition=Ready",
            kdelta: "pod/a --for ready",
            before: |stage| {
                stage.owned_pod("a", Some(("batch/v1", "Job")));
                is_ready_briefly(stage, "a");
            },
            during: nothing,
            kubectl_ends: Kubectl::TimedOut,
            kdelta_ends: Kdelta::Failed("the pod has finished and is not started again"),
        },
        Scenario {
            complaint: "B21, kubectl#1451",
            text: "two pods are ready for a moment, one after the other",
            kubectl: "pod/a pod/b --for=condition=Ready",
            kdelta: "pods -l app=web --for ready --was",
            before: two_pods,
            during: |stage| {
                is_ready_briefly(stage, "b");
                stage.pause();
                is_ready_briefly(stage, "a");
            },
            kubectl_ends: Kubectl::TimedOut,
            kdelta_ends: Kdelta::Met,
        },
        Scenario {
            complaint: "B21",
            text: "a pod is ready for a moment and is then deleted",
            kubectl: "",
            kdelta: "pods -l app=web --for ready --was",
            before: two_pods,
            during: |stage| {
                is_ready_briefly(stage, "a");
                stage.delete_pod("a");
                stage.ready("b", true);
            },
            kubectl_ends: Kubectl::Inexpressible,
            kdelta_ends: Kdelta::Met,
        },
        Scenario {
            complaint: "B21",
            text: "a Job that is to complete fails",
            kubectl: "job/x --for=condition=Complete",
            kdelta: "job/x --for complete",
            before: |stage| stage.job("x"),
            during: |stage| stage.finish_job("x", false),
            kubectl_ends: Kubectl::TimedOut,
            kdelta_ends: Kdelta::Failed("the Job has failed (BackoffLimitExceeded)"),
        },
        Scenario {
            complaint: "B21",
            text: "a Job that is to fail completes",
            kubectl: "job/x --for=condition=Failed",
            kdelta: "job/x --for failed",
            before: |stage| stage.job("x"),
            during: |stage| stage.finish_job("x", true),
            kubectl_ends: Kubectl::TimedOut,
            kdelta_ends: Kdelta::Failed("the Job is complete"),
        },
        Scenario {
            complaint: "B21",
            text: "a replica of a ReplicaSet is evicted",
            kubectl: "pod/a --for=condition=Ready",
            kdelta: "pod/a --for ready",
            before: |stage| stage.owned_pod("a", Some(("apps/v1", "ReplicaSet"))),
            during: |stage| stage.pod_status("a", &json!({"phase": "Failed", "reason": "Evicted"})),
            kubectl_ends: Kubectl::TimedOut,
            kdelta_ends: Kdelta::Failed("the pod has failed (Evicted) and is not started again"),
        },
        Scenario {
            complaint: "B21",
            text: "the pod of a StatefulSet fails and is created again under its name",
            kubectl: "pod/web-0 --for=condition=Ready",
            kdelta: "pod/web-0 --for ready",
            before: |stage| stage.owned_pod("web-0", Some(("apps/v1", "StatefulSet"))),
            during: |stage| {
                stage.finish("web-0", "Failed");
                stage.delete_pod("web-0");
                stage.pause();
                stage.owned_pod("web-0", Some(("apps/v1", "StatefulSet")));
                stage.ready("web-0", true);
            },
            kubectl_ends: Kubectl::Error("pods \"web-0\" not found"),
            kdelta_ends: Kdelta::Met,
        },
    ]
}

fn reasons() -> Vec<Scenario> {
    vec![
        Scenario {
            complaint: "B22, k/k#106364",
            text: "an image can't be pulled; the time passes",
            kubectl: "pod/a --for=condition=Ready --timeout=1s",
            kdelta: "pod/a --for ready --timeout=1s",
            before: |stage| {
                stage.pod("a");
                stage.container_waits("a", "ImagePullBackOff");
            },
            during: nothing,
            kubectl_ends: Kubectl::TimedOut,
            kdelta_ends: Kdelta::TimedOut("ContainersNotReady (ImagePullBackOff"),
        },
        Scenario {
            complaint: "B22, k/k#73205",
            text: "the events of a pod say why it is not ready",
            kubectl: "pod/a --for=condition=Ready --timeout=1s",
            kdelta: "pod/a --for ready --timeout=1s",
            before: |stage| {
                stage.pod("a");
                stage.event("a", "no such image");
            },
            during: nothing,
            kubectl_ends: Kubectl::TimedOut,
            kdelta_ends: Kdelta::TimedOut("Failed: no such image (4 times)"),
        },
        Scenario {
            complaint: "B22",
            text: "an image can't be pulled; the wait is to end",
            kubectl: "",
            kdelta: "pod/a --for ready --fail-fast",
            before: |stage| stage.pod("a"),
            during: |stage| stage.container_waits("a", "ImagePullBackOff"),
            kubectl_ends: Kubectl::Inexpressible,
            kdelta_ends: Kdelta::Failed("container c waits: ImagePullBackOff"),
        },
        Scenario {
            complaint: "B22",
            text: "a container crashes again and again; the wait is to end",
            kubectl: "",
            kdelta: "pods --all --for ready --fail-fast",
            before: two_pods,
            during: |stage| stage.container_waits("b", "CrashLoopBackOff"),
            kubectl_ends: Kubectl::Inexpressible,
            kdelta_ends: Kdelta::Failed("container c waits: CrashLoopBackOff"),
        },
        Scenario {
            complaint: "B22, argo-cd#13371",
            text: "a deployment exceeds its deadline; the wait is to end",
            kubectl: "deploy/web --for=condition=Available",
            kdelta: "deploy/web --for ready --fail-fast",
            before: |stage| stage.deployment("web"),
            during: |stage| stage.exceed_deadline("web"),
            kubectl_ends: Kubectl::TimedOut,
            kdelta_ends: Kdelta::Failed("ProgressDeadlineExceeded"),
        },
        Scenario {
            complaint: "B22",
            text: "a deployment has one of three replicas when the time passes",
            kubectl: "deploy/web --for=condition=Available --timeout=1s",
            kdelta: "deploy/web --for ready --timeout=1s",
            before: |stage| {
                stage.deployment("web");
                stage.ready_replicas("web", 1);
            },
            during: nothing,
            kubectl_ends: Kubectl::TimedOut,
            kdelta_ends: Kdelta::TimedOut("Available: 1/3"),
        },
    ]
}
