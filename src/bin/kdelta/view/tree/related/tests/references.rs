//! The fields of each kind that refer to other objects.

use serde_json::{Value, json};

use super::resource;
use crate::view::tree::related::Relations;
use crate::view::tree::related::kinds::{
    AUTOSCALER, CLAIM, CONFIG_MAP, CRON_JOB, EVENT, INGRESS, KindName, NODE, POD, SERVICE, SLICE, VOLUME,
    WORKLOADS,
};
use crate::view::tree::related::reference::Reference;

fn relations(of: KindName, object: &Value) -> Relations {
    Relations::read(&resource(of), &super::json(object))
}

/// Returns the references of an object as `edge Kind.group namespace/name`.
fn references(of: KindName, object: &Value) -> Vec<String> {
    let line = |reference: &Reference| {
        let target = &reference.target;
        let flags = [
            (" reverse", reference.is_reverse),
            (" optional", reference.is_optional),
            (" ambient", reference.is_ambient),
        ];
        let flags: String = flags.into_iter().filter(|(_, is_set)| *is_set).map(|(name, _)| name).collect();
        let (edge, kind) = (reference.edge.name(), &target.kind);
        let group = if target.group.is_empty() { String::new() } else { format!(".{}", target.group) };
        format!("{edge} {kind}{group} {}/{}{flags}", target.namespace, target.name)
    };
    relations(of, object).references.iter().map(line).collect()
}

fn in_namespace(spec: Value) -> Value {
    let mut object = json!({"metadata": {"namespace": "n"}});
    object["spec"] = spec;
    object
}

fn pod_spec() -> Value {
    json!({
        "nodeName": "w",
        "serviceAccountName": "a",
        "volumes": [
            {"configMap": {"name": "c"}},
            {"secret": {"secretName": "s", "optional": true}},
            {"persistentVolumeClaim": {"claimName": "d"}},
            {"projected": {"sources": [
                {"secret": {"name": "p"}}, {"configMap": {"name": "c"}}, {"configMap": {"name": "kube-root-ca.crt"}},
                {"serviceAccountToken": {"path": "token"}},
            ]}},
            {"csi": {"driver": "x", "nodePublishSecretRef": {"name": "csi"}}},
            {"azureFile": {"secretName": "azure"}},
            {"emptyDir": {}},
        ],
        "imagePullSecrets": [{"name": "r"}],
        "initContainers": [{"envFrom": [{"configMapRef": {"name": "e"}}]}],
        "ephemeralContainers": [{"envFrom": [{"secretRef": {"name": "debug"}}]}],
        "containers": [{"env": [
            {"valueFrom": {"secretKeyRef": {"name": "k", "key": "x"}}},
            {"valueFrom": {"configMapKeyRef": {"name": "m", "key": "x", "optional": true}}},
            {"valueFrom": {"fieldRef": {}}},
            {"value": "x"},
        ]}],
    })
}

const OF_POD: [&str; 14] = [
    "runsOn Node /w",
    "uses ServiceAccount n/a",
    "uses ConfigMap n/c",
    "uses Secret n/s optional",
    "uses PersistentVolumeClaim n/d",
    "uses ConfigMap n/kube-root-ca.crt ambient",
    "uses Secret n/p",
    "uses Secret n/csi",
    "uses Secret n/azure",
    "uses Secret n/r optional",
    "uses Secret n/k",
    "uses ConfigMap n/m optional",
    "uses ConfigMap n/e",
    "uses Secret n/debug",
];

#[test]
fn pods_refer_to_their_node_account_volumes_and_environment() {
    let mut found = references(POD, &in_namespace(pod_spec()));
    let mut expected = OF_POD.map(str::to_owned).to_vec();
    found.sort_unstable();
    expected.sort_unstable();
    assert_eq!(found, expected);
    let default = in_namespace(json!({"serviceAccountName": "default"}));
    assert_eq!(references(POD, &default), ["uses ServiceAccount n/default ambient"]);
}

#[test]
fn templates_refer_to_all_that_their_pods_use() {
    let of_pod = references(POD, &in_namespace(pod_spec()));
    for of in WORKLOADS {
        let spec = json!({"template": {"spec": pod_spec()}});
        assert_eq!(references(of, &in_namespace(spec)), of_pod, "{of:?}");
    }
    let spec = json!({"jobTemplate": {"spec": {"template": {"spec": pod_spec()}}}});
    assert_eq!(references(CRON_JOB, &in_namespace(spec)), of_pod);
}

#[test]
fn claims_and_volumes_refer_to_each_other() {
    let claim = in_namespace(json!({"volumeName": "v"}));
    assert_eq!(references(CLAIM, &claim), ["bound PersistentVolume /v"]);
    let volume = json!({"spec": {"claimRef": {"namespace": "m", "name": "c"}}});
    assert_eq!(references(VOLUME, &volume), ["bound PersistentVolumeClaim m/c reverse"]);
    assert_eq!(references(CLAIM, &in_namespace(json!({}))), Vec::<String>::new());
}

#[test]
fn ingresses_refer_to_their_backends_and_certificates() {
    let backend = |name: &str| json!({"backend": {"service": {"name": name}}});
    let ingress = in_namespace(json!({
        "defaultBackend": {"service": {"name": "a"}},
        "tls": [{"secretName": "t"}, {"hosts": ["h"]}],
        "rules": [
            {"http": {"paths": [backend("a"), backend("b"), {"backend": {"resource": {"name": "bucket"}}}]}},
            {"host": "h"},
        ],
    }));
    assert_eq!(
        references(INGRESS, &ingress),
        ["routes Service n/a", "routes Service n/b", "uses Secret n/t"]
    );
}

#[test]
fn slices_refer_to_their_service_and_pods() {
    let slice = json!({
        "metadata": {"namespace": "n", "labels": {"kubernetes.io/service-name": "web"}},
        "endpoints": [{"targetRef": {"kind": "Pod", "name": "p"}}, {"targetRef": {"kind": "VM", "name": "v"}}, {}],
    });
    assert_eq!(references(SLICE, &slice), ["backedBy Service n/web reverse", "endpoint Pod n/p"]);
}

#[test]
fn autoscalers_refer_to_their_target() {
    let target = |api_version: &str, kind: &str| json!({"scaleTargetRef": {"apiVersion": api_version, "kind": kind, "name": "w"}});
    for (spec, expected) in [
        (target("apps/v1", "Deployment"), "scales Deployment.apps n/w"),
        (target("v1", "ReplicationController"), "scales ReplicationController n/w"),
        (target("argoproj.io/v1alpha1", "Rollout"), "scales Rollout.argoproj.io n/w"),
    ] {
        assert_eq!(references(AUTOSCALER, &in_namespace(spec)), [expected]);
    }
}

#[test]
fn events_refer_to_their_object() {
    let event = json!({
        "metadata": {"namespace": "n"},
        "involvedObject": {"apiVersion": "v1", "kind": "Pod", "namespace": "n", "name": "p", "uid": "u"},
        "type": "Warning", "reason": "BackOff", "message": "restarting\n", "count": 12,
        "firstTimestamp": "2026-01-01T00:00:00Z", "lastTimestamp": "2026-01-01T00:10:00Z",
    });
    assert_eq!(references(EVENT, &event), ["about Pod n/p"]);
    let note = relations(EVENT, &event).event.expect("an event");
    assert!(note.is_warning());
    assert_eq!((note.title().as_str(), note.message.as_str()), ("BackOff (x12)", "restarting"));
    assert_eq!(note.last_seen.map(|time| time.to_string()).as_deref(), Some("2026-01-01T00:10:00Z"));
    assert_eq!(note.about.as_deref(), Some("u"));
    // As events.k8s.io writes it.
    let event = json!({
        "metadata": {"namespace": "default"},
        "involvedObject": {"kind": "Node", "name": "w", "uid": "w"},
        "eventTime": "2026-01-01T00:00:00.000001Z", "lastTimestamp": null,
        "series": {"count": 3, "lastObservedTime": "2026-01-01T00:05:00.000001Z"},
    });
    assert_eq!(references(EVENT, &event), ["about Node /w"]);
    let note = relations(EVENT, &event).event.expect("an event");
    assert_eq!((note.count, note.about), (3, None), "the UID of a node is its name");
    assert!(note.last_seen.is_some_and(|time| time.to_string().starts_with("2026-01-01T00:05:00")));
}

#[test]
fn members_of_wrong_types_are_skipped() {
    let objects = [
        json!(7),
        json!({"metadata": [], "spec": "x", "endpoints": {}, "involvedObject": 1}),
        json!({"metadata": {"labels": ["kubernetes.io/service-name"]}, "spec": {
            "volumes": {"a": 1}, "containers": [1, null], "volumeName": {}, "claimRef": [], "rules": [{"http": 5}],
            "scaleTargetRef": "x", "nodeName": "", "template": {"spec": [1]}, "jobTemplate": null,
        }, "endpoints": [1, {"targetRef": {"kind": "Pod", "name": 5}}], "involvedObject": {"kind": "Pod"}}),
    ];
    let kinds = [POD, CLAIM, VOLUME, SERVICE, SLICE, INGRESS, AUTOSCALER, EVENT, CRON_JOB, CONFIG_MAP, NODE];
    for of in kinds.into_iter().chain(WORKLOADS) {
        for object in &objects {
            assert_eq!(references(of, object), Vec::<String>::new(), "{of:?} {object}");
        }
    }
}

#[test]
fn the_number_of_references_is_bounded() {
    let names: Vec<Value> = (0..5000).map(|number| json!({"name": format!("s{number}")})).collect();
    let pod = in_namespace(json!({"imagePullSecrets": names}));
    assert_eq!(references(POD, &pod).len(), 2000);
}
