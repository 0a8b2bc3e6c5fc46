//! Sets of objects that grow and shrink, and how many must meet the conditions.

use serde_json::json;

use super::{Kdelta, Kubectl, Scenario, nothing};
use crate::cluster::set_wait::stage::Stage;

fn two_pods(stage: &Stage) {
    stage.pod("a");
    stage.pod("b");
}

pub(super) fn scenarios() -> Vec<Scenario> {
    let groups = [changing_sets(), numbers()];
    groups.into_iter().flatten().collect()
}

fn changing_sets() -> Vec<Scenario> {
    vec![
        Scenario {
            complaint: "B18, kubectl#1219",
            text: "three pods stay unready; one time limit for all",
            kubectl: "pods --all --for=condition=Ready --timeout=1s",
            kdelta: "pods --all --for ready --timeout=1s",
            before: |stage| {
                two_pods(stage);
                stage.pod("c");
            },
            during: nothing,
            kubectl_ends: Kubectl::TimedOut,
            kdelta_ends: Kdelta::TimedOut("pods/c: Pending"),
        },
        Scenario {
            complaint: "B18",
            text: "a third pod joins; three are needed",
            kubectl: "",
            kdelta: "pods -l app=web --for ready --at-least 3",
            before: |stage| {
                two_pods(stage);
                stage.ready("a", true);
                stage.ready("b", true);
            },
            during: |stage| {
                stage.pod("c");
                stage.ready("c", true);
            },
            kubectl_ends: Kubectl::Inexpressible,
            kdelta_ends: Kdelta::Met,
        },
        Scenario {
            complaint: "B18, kubectl#754",
            text: "an unready pod is deleted; the rest is ready",
            kubectl: "pods --all --for=condition=Ready",
            kdelta: "pods --all --for ready",
            before: |stage| {
                two_pods(stage);
                stage.ready("a", true);
            },
            during: |stage| stage.delete_pod("b"),
            kubectl_ends: Kubectl::Error("pods \"b\" not found"),
            kdelta_ends: Kdelta::Met,
        },
        Scenario {
            complaint: "B18",
            text: "an unready pod joins while the first is waited for",
            kubectl: "pods --all --for=condition=Ready",
            kdelta: "pods --all --for ready",
            before: |stage| stage.pod("a"),
            during: |stage| {
                stage.pod("b");
                stage.ready("a", true);
            },
            kubectl_ends: Kubectl::Met,
            kdelta_ends: Kdelta::TimedOut("pods/b: Pending"),
        },
        Scenario {
            complaint: "B18",
            text: "one pod is ready, then only the other: never both",
            kubectl: "pods --all --for=condition=Ready",
            kdelta: "pods --all --for ready",
            before: two_pods,
            during: |stage| {
                stage.ready("a", true);
                stage.pause();
                stage.ready("a", false);
                stage.ready("b", true);
            },
            kubectl_ends: Kubectl::Met,
            kdelta_ends: Kdelta::TimedOut("pods/a: ContainersNotReady"),
        },
        Scenario {
            complaint: "B18",
            text: "the second of two pods gets ready; any is enough",
            kubectl: "pods --all --for=condition=Ready",
            kdelta: "pods --all --for ready --any",
            before: two_pods,
            during: |stage| stage.ready("b", true),
            kubectl_ends: Kubectl::TimedOut,
            kdelta_ends: Kdelta::Met,
        },
    ]
}

fn numbers() -> Vec<Scenario> {
    vec![
        Scenario {
            complaint: "B18",
            text: "objects of two types, each ready in its way",
            kubectl: "",
            kdelta: "deploy/web job/x pod/a --for ready",
            before: |stage| {
                stage.deployment("web");
                stage.job("x");
                stage.pod("a");
            },
            during: |stage| {
                stage.ready_replicas("web", 3);
                stage.finish_job("x", true);
                stage.ready("a", true);
            },
            kubectl_ends: Kubectl::Inexpressible,
            kdelta_ends: Kdelta::Met,
        },
        Scenario {
            complaint: "B18",
            text: "pods of two namespaces",
            kubectl: "pods --all -n {ns},{other} --for=condition=Ready",
            kdelta: "pods --all -n {ns},{other} --for ready --at-least 2",
            before: |stage| {
                stage.create_other();
                stage.pod("a");
                stage.in_other(|other| other.pod("a"));
            },
            during: |stage| {
                stage.ready("a", true);
                stage.in_other(|other| other.ready("a", true));
            },
            kubectl_ends: Kubectl::Error("no matching resources found"),
            kdelta_ends: Kdelta::Met,
        },
        Scenario {
            complaint: "B18",
            text: "only pods that a local filter selects count",
            kubectl: "",
            kdelta: "pods --all --where 'object.metadata.name != \"b\"' --for ready",
            before: two_pods,
            during: |stage| stage.ready("a", true),
            kubectl_ends: Kubectl::Inexpressible,
            kdelta_ends: Kdelta::Met,
        },
        Scenario {
            complaint: "B18",
            text: "only objects of an index count",
            kubectl: "",
            kdelta: "cm --all --by label:a=b --for 'object.data.n == \"1\"'",
            before: |stage| {
                stage.config_map("x", &json!({"a": "b"}));
                stage.config_map("y", &json!({}));
            },
            during: |stage| stage.set_data("x", &json!({"n": "1"})),
            kubectl_ends: Kubectl::Inexpressible,
            kdelta_ends: Kdelta::Met,
        },
        Scenario {
            complaint: "B23",
            text: "no pod is failed any more",
            kubectl: "",
            kdelta: "pods --all --for failed --none",
            before: |stage| {
                two_pods(stage);
                stage.finish("a", "Failed");
            },
            during: |stage| stage.delete_pod("a"),
            kubectl_ends: Kubectl::Inexpressible,
            kdelta_ends: Kdelta::Met,
        },
        Scenario {
            complaint: "B23",
            text: "at most one pod is not ready",
            kubectl: "",
            kdelta: "pods --all --for '!ready' --at-most 1",
            before: two_pods,
            during: |stage| stage.ready("a", true),
            kubectl_ends: Kubectl::Inexpressible,
            kdelta_ends: Kdelta::Met,
        },
    ]
}
