//! Conditions that are expressions: any of several, comparisons, negation.

use serde_json::json;

use super::{Kdelta, Kubectl, Scenario, nothing};

pub(super) fn scenarios() -> Vec<Scenario> {
    let groups = [alternatives(), comparisons(), negations()];
    groups.into_iter().flatten().collect()
}

fn alternatives() -> Vec<Scenario> {
    vec![
        Scenario {
            complaint: "B4, kubectl#1629",
            text: "a Job fails; success and failure both end the wait",
            kubectl: "job/x --for=condition=Complete",
            kdelta: "job/x --for 'complete || failed'",
            before: |stage| stage.job("x"),
            during: |stage| stage.finish_job("x", false),
            kubectl_ends: Kubectl::TimedOut,
            kdelta_ends: Kdelta::Met,
        },
        Scenario {
            complaint: "B4, kubectl#1629",
            text: "a Job succeeds; success and failure both end the wait",
            kubectl: "job/x --for=condition=Complete",
            kdelta: "job/x --for 'complete || failed'",
            before: |stage| stage.job("x"),
            during: |stage| stage.finish_job("x", true),
            kubectl_ends: Kubectl::Met,
            kdelta_ends: Kdelta::Met,
        },
        Scenario {
            complaint: "B4, k/k#100248",
            text: "a pod fails; being ready or having failed ends the wait",
            kubectl: "pod/web --for='condition=Ready || jsonpath={.status.phase}=Failed'",
            kdelta: "pod/web --for 'ready || failed'",
            before: |stage| stage.pod("web"),
            during: |stage| stage.finish("web", "Failed"),
            kubectl_ends: Kubectl::TimedOut,
            kdelta_ends: Kdelta::Met,
        },
        Scenario {
            complaint: "B4, k/k#95759",
            text: "a Job fails; failure is to end the wait without success",
            kubectl: "",
            kdelta: "job/x --for 'object.status.succeeded == 1' --fail-on failed",
            before: |stage| stage.job("x"),
            during: |stage| stage.finish_job("x", false),
            kubectl_ends: Kubectl::Inexpressible,
            kdelta_ends: Kdelta::Failed("failed is true"),
        },
        Scenario {
            complaint: "B4, k/k#95759",
            text: "two conditions hold one after the other, never in one version",
            kubectl: "gadgets.{ns}.kdelta.test/x --for=jsonpath='{.spec.a}'=1 --for=jsonpath='{.spec.b}'=1",
            kdelta: "cm/x --for 'object.data.a == \"1\" && object.data.b == \"1\"'",
            before: |stage| {
                stage.config_map("x", &json!({}));
                stage.define_gadgets();
                stage.gadget("x");
            },
            during: |stage| {
                for (a, b) in [("1", "0"), ("0", "1")] {
                    stage.set_data("x", &json!({"a": a, "b": b}));
                    stage.set_gadget("x", &json!({"a": a, "b": b}));
                    stage.pause();
                }
            },
            kubectl_ends: Kubectl::Met,
            kdelta_ends: Kdelta::TimedOut("is false"),
        },
        Scenario {
            complaint: "B19, kubectl#1259",
            text: "a deployment has at least two ready replicas; the number skips two",
            kubectl: "deploy/web --for=jsonpath='{.status.readyReplicas}'=2",
            kdelta: "deploy/web --for 'object.status.readyReplicas >= 2'",
            before: |stage| stage.deployment("web"),
            during: |stage| stage.ready_replicas("web", 3),
            kubectl_ends: Kubectl::TimedOut,
            kdelta_ends: Kdelta::Met,
        },
        Scenario {
            complaint: "B19, kubectl#1448",
            text: "no container waits any more; a path with two values",
            kubectl: "deploy/web --for=jsonpath='{.status.conditions[*].status}'=True",
            kdelta: "deploy/web --for 'object.status.conditions.all(c, c.status == \"True\")'",
            before: |stage| stage.deployment("web"),
            during: |stage| stage.ready_replicas("web", 3),
            kubectl_ends: Kubectl::Error("given jsonpath expression matches more than one value"),
            kdelta_ends: Kdelta::Met,
        },
    ]
}

fn comparisons() -> Vec<Scenario> {
    vec![
        Scenario {
            complaint: "B19, k/k#117761",
            text: "a nested value exists and has a member",
            kubectl: "gadgets.{ns}.kdelta.test/x --for=jsonpath='{.spec}'=a",
            kdelta: "gadgets.{ns}.kdelta.test/x --for 'has(object.spec.a)'",
            before: |stage| {
                stage.define_gadgets();
                stage.gadget("x");
                stage.set_gadget("x", &json!({"b": "1"}));
            },
            during: |stage| stage.set_gadget("x", &json!({"a": "1"})),
            kubectl_ends: Kubectl::Error("jsonpath leads to a nested object or list which is not supported"),
            kdelta_ends: Kdelta::Met,
        },
        Scenario {
            complaint: "B19, k/k#111359",
            text: "a text matches a regular expression",
            kubectl: "",
            kdelta: "cm/x --for 'object.data.n.matches(\"^v[0-9]+$\")'",
            before: |stage| stage.config_map("x", &json!({})),
            during: |stage| stage.set_data("x", &json!({"n": "v12"})),
            kubectl_ends: Kubectl::Inexpressible,
            kdelta_ends: Kdelta::Met,
        },
        Scenario {
            complaint: "B19",
            text: "quantities are compared as numbers",
            kubectl: "",
            kdelta: "cm/x --for 'quantity(object.data.n).isGreaterThan(quantity(\"1Gi\"))'",
            before: |stage| {
                stage.config_map("x", &json!({}));
                stage.set_data("x", &json!({"n": "900Mi"}));
            },
            during: |stage| stage.set_data("x", &json!({"n": "2000Mi"})),
            kubectl_ends: Kubectl::Inexpressible,
            kdelta_ends: Kdelta::Met,
        },
        Scenario {
            complaint: "B19",
            text: "a condition of one value, in kubectl's form",
            kubectl: "pod/web --for=jsonpath='{.status.phase}'=Running",
            kdelta: "pod/web --for=jsonpath='{.status.phase}'=Running --wait-for-create",
            before: |stage| stage.pod("web"),
            during: |stage| stage.ready("web", true),
            kubectl_ends: Kubectl::Met,
            kdelta_ends: Kdelta::Met,
        },
        Scenario {
            complaint: "B23, kubectl#1881",
            text: "a value differs from another",
            kubectl: "pod/web --for=jsonpath='{.status.phase}'!=Pending",
            kdelta: "pod/web --for 'object.status.phase != \"Pending\"'",
            before: |stage| stage.pod("web"),
            during: |stage| stage.ready("web", false),
            kubectl_ends: Kubectl::Error("unexpected path string"),
            kdelta_ends: Kdelta::Met,
        },
        Scenario {
            complaint: "B23, kubectl#1878",
            text: "a pod is no longer ready",
            kubectl: "pod/web --for=condition=Ready=false",
            kdelta: "pod/web --for '!ready'",
            before: |stage| {
                stage.pod("web");
                stage.ready("web", true);
            },
            during: |stage| stage.ready("web", false),
            kubectl_ends: Kubectl::Met,
            kdelta_ends: Kdelta::Met,
        },
        Scenario {
            complaint: "B23, kubectl#1878",
            text: "a condition disappears",
            kubectl: "",
            kdelta: "deploy/web --for '!object.status.conditions.exists(c, c.type == \"Progressing\" && c.status == \"True\")'",
            before: |stage| {
                stage.deployment("web");
                stage.ready_replicas("web", 1);
            },
            during: |stage| stage.exceed_deadline("web"),
            kubectl_ends: Kubectl::Inexpressible,
            kdelta_ends: Kdelta::Met,
        },
    ]
}

fn negations() -> Vec<Scenario> {
    vec![
        Scenario {
            complaint: "B23",
            text: "a pod flaps; it is to be ready for two seconds",
            kubectl: "pod/web --for=condition=Ready",
            kdelta: "pod/web --for ready --stable 2s --timeout=1s",
            before: |stage| stage.pod("web"),
            during: |stage| stage.ready("web", true),
            kubectl_ends: Kubectl::Met,
            kdelta_ends: Kdelta::TimedOut("it held for"),
        },
        Scenario {
            complaint: "B23",
            text: "a pod stays ready for half a second",
            kubectl: "",
            kdelta: "pod/web --for ready --stable 500ms",
            before: |stage| stage.pod("web"),
            during: |stage| stage.ready("web", true),
            kubectl_ends: Kubectl::Inexpressible,
            kdelta_ends: Kdelta::Met,
        },
        Scenario {
            complaint: "B38, cluster-api#9299",
            text: "a custom resource gets its first status after a moment: not ready",
            kubectl: "gadgets.{ns}.kdelta.test/x --for=condition=Ready",
            kdelta: "gadgets.{ns}.kdelta.test/x --for current",
            before: |stage| {
                stage.define_gadgets();
                stage.gadget("x");
            },
            during: |stage| stage.gadget_is_ready("x", false),
            kubectl_ends: Kubectl::TimedOut,
            kdelta_ends: Kdelta::TimedOut("Gadgeting"),
        },
        Scenario {
            complaint: "B38, cluster-api#9299",
            text: "a custom resource gets its first status after a moment: ready",
            kubectl: "gadgets.{ns}.kdelta.test/x --for=condition=Ready",
            kdelta: "gadgets.{ns}.kdelta.test/x --for current",
            before: |stage| {
                stage.define_gadgets();
                stage.gadget("x");
            },
            during: |stage| stage.gadget_is_ready("x", true),
            kubectl_ends: Kubectl::Met,
            kdelta_ends: Kdelta::Met,
        },
        Scenario {
            complaint: "B19",
            text: "an expression that is no condition is a usage error at once in kubectl",
            kubectl: "pod/web --for=ready",
            kdelta: "pod/web --for ready",
            before: |stage| {
                stage.pod("web");
                stage.ready("web", true);
            },
            during: nothing,
            kubectl_ends: Kubectl::Error("unrecognized condition: \"ready\""),
            kdelta_ends: Kdelta::Met,
        },
    ]
}
