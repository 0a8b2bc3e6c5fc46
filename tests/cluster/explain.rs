//! `kdelta explain` and `kubectl explain`: equal output and equal errors.

use serde_json::{Value, json};

use super::kubectl;
use crate::support::{Api, TestEnv, eventually};

/// A description with everything that wrapping treats differently.
const DESCRIPTION: &str = "Gear turns.\n\nExample:\n    preformatted:   text\n - item one\n - item two\n1. first\n* star\n\
    A line that is long enough to be wrapped because it has more than seventy-six characters in it, and \
    a-very-long-word-that-can-not-be-broken-since-it-has-no-white-space-within-it-at-all-really-none follows.   \
    Trailing  spaces   \n\u{a0}no\u{a0}break and characters beyond ASCII: ünïcödé wörds thät äre wïder thän thëïr nümbër";

fn gear_spec() -> Value {
    let tooth = json!({
        "type": "object", "description": "A tooth.", "required": ["length"],
        "properties": {"length": {"type": "integer"}, "shape": {"type": "string"}},
    });
    let bolts =
        json!({"type": "array", "items": {"type": "object", "properties": {"torque": {"type": "number"}}}});
    let axle = json!({
        "type": "object", "description": "An axle.",
        "properties": {"bolts": {"type": "object", "additionalProperties": bolts}},
    });
    json!({"type": "object", "required": ["size", "mode"], "properties": {
        "size": {"type": "integer", "enum": [1, 2, 10_000_000, 4, 5]},
        "mode": {"type": "string", "enum": ["", "fast", "slow"], "default": "fast", "description": "Fast:\nor slow"},
        "ratio": {"type": "number", "enum": [0.5, 1.5, 1e21]},
        "nullable": {"type": "string", "nullable": true, "enum": ["a", null]},
        "any": {"x-kubernetes-preserve-unknown-fields": true},
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true, "description": "Free form."},
        "port": {"x-kubernetes-int-or-string": true, "description": "A port."},
        "docs": {"type": "string", "externalDocs": {"url": "https://docs.test", "description": "See there."}},
        "teeth": {"type": "array", "description": "The teeth.", "items": tooth},
        "grid": {"type": "array", "items": {"type": "array", "items": {"type": "string"}}},
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
        "axles": {"type": "object", "description": "Axles by name.", "additionalProperties": axle},
        "template": {
            "type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true,
        },
        "properties": {"type": "object", "properties": {"items": {"type": "string"}}},
        "nothing": {"type": "object"},
        "when": {"type": "string", "format": "date-time"},
    }})
}

/// Creates a kind with two versions and a hard schema, and another with the same short name.
fn define_kinds(api: &Api) {
    let docs = json!({"url": "https://gears.test", "description": DESCRIPTION});
    let v1 = json!({
        "type": "object", "description": DESCRIPTION, "externalDocs": docs, "required": ["spec"],
        "properties": {"spec": gear_spec()},
    });
    let old =
        json!({"type": "object", "properties": {"old": {"type": "string", "description": "An old field."}}});
    let beta = json!({"type": "object", "properties": {"spec": old}});
    let version = |name: &str, stored: bool, schema: &Value| json!({"name": name, "served": true, "storage": stored, "schema": {"openAPIV3Schema": schema}});
    for (group, plural, kind, versions) in [
        (
            "explain.kdelta.test",
            "gears",
            "Gear",
            vec![version("v1", true, &v1), version("v1beta1", false, &beta)],
        ),
        ("other.explain.kdelta.test", "gearboxes", "Gearbox", vec![version("v1", true, &beta)]),
    ] {
        let singular = kind.to_lowercase();
        let names = json!({"plural": plural, "singular": singular, "kind": kind, "shortNames": ["gr"]});
        api.create(
            "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
            &json!({
                "metadata": {"name": format!("{plural}.{group}")},
                "spec": {"group": group, "scope": "Namespaced", "names": names, "versions": versions},
            }),
        );
        eventually("the server serves the kind and its documentation", || {
            let v3 = api.find(&format!("/openapi/v3/apis/{group}/v1"));
            let is_in = |document: Option<Value>, key: &str| {
                let schemas = document.unwrap_or_default()[key].to_string();
                schemas.contains(&format!(".v1.{kind}\""))
            };
            let is_documented = is_in(v3, "components") && is_in(api.find("/openapi/v2"), "definitions");
            (is_documented && api.discovers(group, plural)).then_some(())
        });
    }
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn explanations_equal_kubectls() {
    // A server of its own: its kinds would appear in tests that watch all kinds.
    let env = TestEnv::new();
    let testbed = &env.own_server();
    define_kinds(&Api::of(testbed));
    for line in INVOCATIONS {
        let words: Vec<&str> = line.split(' ').collect();
        let theirs = kubectl(testbed.kubeconfig(), &words).output().expect("kubectl runs");
        let ours = env.kdelta_on(testbed, &words).finish();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace("kubectl", "kdelta");
        assert_eq!(ours.stdout.replace("kubectl", "kdelta"), text(&theirs.stdout), "{line}");
        assert_eq!(ours.stderr, text(&theirs.stderr), "{line}");
        assert_eq!(ours.code == 0, theirs.status.success(), "{line}");
    }
}

const INVOCATIONS: [&str; 97] = [
    // Resources by plural, singular and short name, in any case.
    "explain pods",
    "explain po",
    "explain PODS",
    "explain Pod.spec",
    "explain deployments",
    "explain ingress.spec.rules.http.paths.backend",
    "explain sa",
    "explain bindings",
    "explain tokenreviews",
    "explain localsubjectaccessreviews.spec",
    "explain componentstatuses",
    // Fields: references, lists, maps, enumerations, defaults, circles.
    "explain pods.spec",
    "explain pods.spec.containers",
    "explain pods.spec.containers.ports.protocol",
    "explain pods.spec.containers.resources.limits",
    "explain pods.spec.nodeSelector",
    "explain pods.metadata",
    "explain pods.metadata.labels",
    "explain pods.metadata.managedFields.fieldsV1",
    "explain pods.metadata.creationTimestamp",
    "explain pvc.spec.accessModes",
    "explain services.spec.type",
    "explain services.spec.ports.targetPort",
    "explain secrets.data",
    "explain crds.spec.versions.schema.openAPIV3Schema",
    "explain crds.spec.versions.schema.openAPIV3Schema.properties.items",
    // Recursion.
    "explain pods --recursive",
    "explain pods -R",
    "explain pods --recursive=false",
    "explain pods.spec.volumes --recursive=true",
    "explain crds --recursive",
    // Groups and versions.
    "explain deployments.apps",
    "explain deployments.apps.spec.replicas",
    "explain deploy.apps.spec",
    "explain deployments.v1.apps",
    "explain events",
    "explain ev",
    "explain events.events.k8s.io",
    "explain events --api-version=events.k8s.io/v1",
    "explain hpa",
    "explain hpa.spec --api-version=autoscaling/v1",
    "explain deployments --api-version=v9",
    "explain pods --api-version=apps/v1",
    "explain pods --api-version=a/b/c",
    "explain pods --api-version=../v1",
    "explain pods --api-version=",
    "explain nope --api-version=v1",
    "explain pods[0] --api-version=v1",
    // Version 2 of OpenAPI.
    "explain pods --output plaintext-openapiv2",
    "explain pods.spec --recursive -o plaintext-openapiv2",
    "explain pods.spec.containers -o plaintext-openapiv2",
    "explain pods.spec.nodeSelector -o plaintext-openapiv2",
    "explain pods.spec.nope.x -o plaintext-openapiv2",
    "explain pods.kind.x -o plaintext-openapiv2",
    "explain services.spec.ports.targetPort -o plaintext-openapiv2",
    "explain crds --recursive -o plaintext-openapiv2",
    "explain podlist -o plaintext-openapiv2",
    "explain hpa --api-version=autoscaling/v1 -o plaintext-openapiv2",
    "explain deployments --api-version=apps/v9 -o plaintext-openapiv2",
    "explain pods --api-version=a/b/c -o plaintext-openapiv2",
    // Custom resources.
    "explain gears",
    "explain gears --recursive",
    "explain gears.spec",
    "explain gears.spec.mode",
    "explain gears.spec.size",
    "explain gears.spec.nullable",
    "explain gears.spec.docs",
    "explain gears.spec.teeth",
    "explain gears.spec.grid",
    "explain gears.spec.axles.bolts.torque",
    "explain gears.spec.any",
    "explain gears.spec.nothing.x",
    "explain gears.spec.template --recursive",
    "explain gears.explain.kdelta.test.spec.port",
    "explain gears.spec --api-version=explain.kdelta.test/v1beta1",
    "explain gears -o plaintext-openapiv2",
    "explain gears --recursive -o plaintext-openapiv2",
    "explain gears.spec.free -o plaintext-openapiv2",
    "explain gears.spec.any -o plaintext-openapiv2",
    "explain gears.spec.axles -o plaintext-openapiv2",
    // A short name of two kinds.
    "explain gr.spec",
    // Errors.
    "explain",
    "explain a b",
    "explain nope",
    "explain nope.spec",
    "explain podlist",
    "explain pods.nope",
    "explain pods.spec.containers.nope.deeper",
    "explain pods..",
    "explain pods[x",
    "explain pods['spec']",
    "explain .pods",
    "explain pods,svc",
    "explain pods/x",
    "explain a}b",
    "explain pods -o nope",
    "explain nope -o json",
];
