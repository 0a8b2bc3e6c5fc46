//! Objects, types and namespaces that do not exist yet.

use serde_json::json;

use super::{Kdelta, Kubectl, Scenario, nothing};
use crate::cluster::set_wait::stage::Stage;

fn create_ready(stage: &Stage) {
    stage.pod("web");
    stage.ready("web", true);
}

pub(super) fn scenarios() -> Vec<Scenario> {
    let groups = [created_later(), other_absences()];
    groups.into_iter().flatten().collect()
}

fn created_later() -> Vec<Scenario> {
    vec![
        Scenario {
            complaint: "B5, k/k#83242",
            text: "a named pod is created later and gets ready",
            kubectl: "pod/web --for=condition=Ready",
            kdelta: "pod/web --for ready",
            before: nothing,
            during: create_ready,
            kubectl_ends: Kubectl::Error("pods \"web\" not found"),
            kdelta_ends: Kdelta::Met,
        },
        Scenario {
            complaint: "B5, k/k#75227",
            text: "the first pod with a label is created later and gets ready",
            kubectl: "pods -l app=web --for=condition=Ready",
            kdelta: "pods -l app=web --for ready",
            before: nothing,
            during: create_ready,
            kubectl_ends: Kubectl::Error("no matching resources found"),
            kdelta_ends: Kdelta::Met,
        },
        Scenario {
            complaint: "B5, kubectl#1516",
            text: "a named pod is created later, with kubectl's conditions",
            kubectl: "pod/web --for=create --for=condition=Ready",
            kdelta: "pod/web --for=condition=Ready --wait-for-create",
            before: nothing,
            during: create_ready,
            kubectl_ends: Kubectl::Met,
            kdelta_ends: Kdelta::Met,
        },
        Scenario {
            complaint: "B5, kubectl#1487",
            text: "an object exists",
            kubectl: "cm/x --for=create",
            kdelta: "cm/x --for exists",
            before: nothing,
            during: |stage| stage.config_map("x", &json!({})),
            kubectl_ends: Kubectl::Met,
            kdelta_ends: Kdelta::Met,
        },
        Scenario {
            complaint: "B5, inspektor-gadget#5048",
            text: "any object with a label exists",
            kubectl: "cm -l a=b --for=create",
            kdelta: "cm -l a=b --for create --any",
            before: nothing,
            during: |stage| stage.config_map("x", &json!({"a": "b"})),
            kubectl_ends: Kubectl::Met,
            kdelta_ends: Kdelta::Met,
        },
    ]
}

fn other_absences() -> Vec<Scenario> {
    vec![
        Scenario {
            complaint: "B5, k/k#87352",
            text: "the type is defined later, then an object of it gets ready",
            kubectl: "gadgets.{ns}.kdelta.test/x --for=condition=Ready",
            kdelta: "gadgets.{ns}.kdelta.test/x --for ready",
            before: nothing,
            during: |stage| {
                stage.define_gadgets();
                stage.gadget("x");
                stage.gadget_is_ready("x", true);
            },
            kubectl_ends: Kubectl::Error("the server doesn't have a resource type \"gadgets\""),
            kdelta_ends: Kdelta::Met,
        },
        Scenario {
            complaint: "B5, k/k#87352",
            text: "the type never comes",
            kubectl: "gadgets.{ns}.kdelta.test/x --for=condition=Ready",
            kdelta: "gadgets.{ns}.kdelta.test/x --for ready --timeout=1s",
            before: nothing,
            during: nothing,
            kubectl_ends: Kubectl::Error("the server doesn't have a resource type \"gadgets\""),
            kdelta_ends: Kdelta::TimedOut("the server doesn't have the resource type"),
        },
        Scenario {
            complaint: "B5",
            text: "the namespace is created later, then a pod in it",
            kubectl: "pod/web -n {other} --for=condition=Ready",
            kdelta: "pod/web -n {other} --for ready",
            before: nothing,
            during: |stage| {
                stage.create_other();
                stage.in_other(|other| {
                    other.pod("web");
                    other.ready("web", true);
                });
            },
            kubectl_ends: Kubectl::Error("not found"),
            kdelta_ends: Kdelta::Met,
        },
        Scenario {
            complaint: "B5",
            text: "the object never comes",
            kubectl: "cm/x --for=create --timeout=1s",
            kdelta: "cm/x --for exists --timeout=1s",
            before: nothing,
            during: nothing,
            kubectl_ends: Kubectl::TimedOut,
            kdelta_ends: Kdelta::TimedOut("configmaps/x: not found"),
        },
        Scenario {
            complaint: "B5",
            text: "one of two named objects exists; any is enough",
            kubectl: "cm/x cm/y --for=create",
            kdelta: "cm/x cm/y --for exists --any",
            before: |stage| stage.config_map("y", &json!({})),
            during: nothing,
            kubectl_ends: Kubectl::TimedOut,
            kdelta_ends: Kdelta::Met,
        },
    ]
}
