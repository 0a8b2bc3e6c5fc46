//! Tests of summaries.

use std::collections::HashMap;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use kdelta::lines::{Change, ChangeKind};
use kdelta::object::{ApiResource, Ingest, Object, Origin};
use serde_json::{Value, json};

use super::{ChangeGroup, ChangeSummary, ChangeTracker, ObjectChanges, brief};

fn resource(group: &str, plural: &str, kind: &str) -> Arc<ApiResource> {
    let [group, version, resource, kind] = [group, "v1", plural, kind].map(str::to_owned);
    let namespaced = kind != "Node";
    Arc::new(ApiResource { group, version, resource, kind, namespaced })
}

fn pods() -> Arc<ApiResource> {
    resource("", "pods", "Pod")
}

fn deployments() -> Arc<ApiResource> {
    resource("apps", "deployments", "Deployment")
}

fn replicasets() -> Arc<ApiResource> {
    resource("apps", "replicasets", "ReplicaSet")
}

fn at(seconds: i64) -> Timestamp {
    let start: Timestamp = "2026-11-24T03:00:00Z".parse().expect("a time");
    start + SignedDuration::from_secs(seconds)
}

fn object(resource: &ApiResource, json: &Value) -> Arc<Object> {
    let ingest = Ingest::of(resource.type_meta());
    Arc::new(Object::from_json(json.to_string().as_bytes(), &ingest).expect("an object"))
}

fn change(
    kind: ChangeKind,
    resource: &Arc<ApiResource>,
    new: &Value,
    old: Option<&Value>,
    seconds: i64,
) -> Change {
    Change {
        kind,
        object: object(resource, new),
        old: old.map(|old| object(resource, old)),
        origin: Origin::Watch,
        final_state_unknown: false,
        resource: Arc::clone(resource),
        context: "prod".into(),
        received: at(seconds),
    }
}

fn owned(name: &str, owner: Option<(&str, &str)>) -> Value {
    let mut metadata = json!({"name": name, "namespace": "shop", "uid": format!("u-{name}")});
    if let Some((kind, owner)) = owner {
        metadata["ownerReferences"] = json!([
            {"kind": "Other", "name": "x", "uid": "u-x", "apiVersion": "v1"},
            {"kind": kind, "name": owner, "uid": format!("u-{owner}"), "apiVersion": "apps/v1", "controller": true},
        ]);
    }
    metadata
}

fn pod(name: &str, set: &str, ready: &str, restarts: u64, waiting: Option<&str>) -> Value {
    let state = waiting.map_or_else(|| json!({}), |reason| json!({"waiting": {"reason": reason}}));
    json!({"metadata": owned(name, Some(("ReplicaSet", set))), "status": {
        "conditions": [{"type": "Ready", "status": ready, "reason": "ContainersNotReady"}],
        "containerStatuses": [{"name": "c", "restartCount": restarts, "state": state,
            "lastState": {"terminated": {"reason": "Error", "exitCode": 1}}}],
    }})
}

fn set(name: &str, deployment: &str) -> Value {
    json!({"metadata": owned(name, Some(("Deployment", deployment))), "spec": {}})
}

fn deployment(image: &str) -> Value {
    let mut metadata = owned("web", None);
    metadata["generation"] = json!(image.len());
    json!({"metadata": metadata, "spec": {"image": image}})
}

/// Returns the summary after the owners were loaded.
fn summarized(changes: &[Change], sets: &[Value]) -> ChangeSummary {
    let mut objects: HashMap<_, ObjectChanges> = HashMap::new();
    for (number, change) in (0..).zip(changes) {
        let of_object = objects.entry((change.resource.kind.clone(), change.object.key().clone()));
        of_object.or_default().record(number, change, Some("helm"));
    }
    let mut tracker = ChangeTracker::of(objects.into_values().collect());
    let sets: Vec<_> = sets.iter().map(|set| object(&replicasets(), set)).collect();
    let mut rounds = 0;
    loop {
        let missing = tracker.missing_owners();
        if missing.is_empty() {
            break;
        }
        rounds += 1;
        assert!(rounds < 5, "{missing:?}");
        for owner_type in missing {
            let is_set = owner_type.kind == "ReplicaSet";
            tracker.add_owners(owner_type, is_set.then_some((&*replicasets(), sets.as_slice())));
        }
    }
    tracker.summary(at(3600))
}

fn lines(summary: &ChangeSummary) -> Vec<String> {
    let line = |group: &ChangeGroup| format!("{}: {}", group.title(), group.phrases().join("; "));
    summary.groups.iter().map(line).collect()
}

#[test]
fn objects_are_grouped_by_their_topmost_owner() {
    let (a, b) = (pod("a", "web-1", "True", 0, None), pod("b", "web-1", "True", 0, None));
    let crashed = pod("a", "web-1", "False", 2, Some("CrashLoopBackOff"));
    let summary = summarized(
        &[
            change(
                ChangeKind::Modified,
                &deployments(),
                &deployment("web:22"),
                Some(&deployment("web:1")),
                5,
            ),
            change(ChangeKind::Modified, &pods(), &crashed, Some(&a), 10),
            change(ChangeKind::Deleted, &pods(), &b, None, 20),
        ],
        &[set("web-1", "web")],
    );
    assert_eq!((summary.changes, summary.objects), (3, 3));
    assert_eq!(
        lines(&summary),
        [
            "deployment.apps/web: 1 pod unready (CrashLoopBackOff); 2 restarts (Error, exit code 1); changed: spec.image: web:1 → web:22 (by helm); 1 pod vanished"
        ]
    );
}

#[test]
fn an_owner_that_is_not_recorded_is_the_topmost() {
    let new = change(ChangeKind::Added, &pods(), &pod("a", "gone", "True", 0, None), None, 10);
    assert_eq!(lines(&summarized(&[new], &[])), ["replicaset.apps/gone: 1 pod appeared"]);
}

#[test]
fn important_groups_are_first() {
    let lone = |name: &str| json!({"metadata": owned(name, None), "data": {"a": "1"}});
    let maps = resource("", "configmaps", "ConfigMap");
    let edited = |name: &str| json!({"metadata": owned(name, None), "data": {"a": "2"}});
    let node = |ready: &str| {
        json!({"metadata": {"name": "worker-1", "uid": "u-n"}, "spec": {},
            "status": {"conditions": [{"type": "Ready", "status": ready, "reason": "NodeStatusUnknown"}]}})
    };
    let nodes = resource("", "nodes", "Node");
    let status = json!({"metadata": owned("quiet", None), "status": {"x": 1}});
    let well = pod("a", "flaky", "True", 0, None);
    let unwell = pod("a", "flaky", "False", 0, None);
    let restarted = pod("c", "busy", "True", 3, None);
    let before = pod("c", "busy", "True", 1, None);
    let summary = summarized(
        &[
            change(ChangeKind::Modified, &maps, &status, Some(&json!({"metadata": owned("quiet", None)})), 1),
            change(ChangeKind::Added, &maps, &lone("new"), None, 2),
            change(ChangeKind::Modified, &maps, &edited("edited"), Some(&lone("edited")), 3),
            change(ChangeKind::Modified, &pods(), &restarted, Some(&before), 4),
            change(ChangeKind::Modified, &pods(), &unwell, Some(&well), 5),
            change(ChangeKind::Modified, &pods(), &well, Some(&unwell), 6),
            change(ChangeKind::Deleted, &maps, &lone("old"), None, 7),
            change(ChangeKind::Modified, &nodes, &node("Unknown"), Some(&node("True")), 8),
        ],
        &[],
    );
    assert_eq!(
        lines(&summary),
        [
            "node/worker-1: unready (NodeStatusUnknown)",
            "configmap/old: deleted",
            "replicaset.apps/flaky: unready for some time (ContainersNotReady)",
            "replicaset.apps/busy: 2 restarts (Error, exit code 1)",
            "configmap/edited: changed: data.a: 1 → 2 (by helm)",
            "configmap/new: created",
            "configmap/quiet: 1 update",
        ]
    );
}

#[test]
fn changed_specs_of_pods_are_named() {
    let spec = |spec: &Value| {
        let mut pod = pod("a", "web-1", "True", 0, None);
        pod["spec"] = spec.clone();
        pod
    };
    let cpu = |cpu: &str| json!({"name": "c", "image": "web:1", "resources": {"limits": {"cpu": cpu}}});
    let unbound = spec(&json!({"containers": [cpu("1")]}));
    let bound = spec(&json!({"nodeName": "worker-1", "containers": [cpu("1")]}));
    let resized = spec(&json!({"nodeName": "worker-1", "containers": [cpu("2")]}));
    let summary = summarized(
        &[
            change(ChangeKind::Modified, &pods(), &bound, Some(&unbound), 1),
            change(ChangeKind::Modified, &pods(), &resized, Some(&bound), 2),
        ],
        &[],
    );
    assert_eq!(
        lines(&summary),
        ["replicaset.apps/web-1: changed: spec.containers[c].resources.limits.cpu: 1 → 2 (by helm)"]
    );
    let bound = change(ChangeKind::Modified, &pods(), &bound, Some(&unbound), 1);
    assert_eq!(lines(&summarized(&[bound], &[])), ["replicaset.apps/web-1: 1 update"]);
}

#[test]
fn equal_changes_are_printed_once() {
    let spec = |name: &str, image: &str, cpu: u64| {
        let mut pod = pod(name, "web-1", "True", 0, None);
        pod["spec"] = json!({"containers": [{"name": "c", "image": image, "cpu": cpu}]});
        pod
    };
    let mut changes = Vec::new();
    for name in ["a", "b", "c"] {
        for (old, new) in [
            (spec(name, "web:1", 1), spec(name, "web:2", 1)),
            (spec(name, "web:2", 1), spec(name, "web:2", 2)),
        ] {
            changes.push(change(ChangeKind::Modified, &pods(), &new, Some(&old), 1));
        }
    }
    let set = |replicas: u64| {
        let mut set = set("web-1", "web");
        set["spec"] = json!({"replicas": replicas});
        set
    };
    let pods_only = changes.len();
    for (from, to) in [(1, 2), (2, 1), (1, 2)] {
        changes.push(change(ChangeKind::Modified, &replicasets(), &set(to), Some(&set(from)), 2));
    }
    let of_pods =
        "spec.containers[c].image: web:1 → web:2 (by helm), spec.containers[c].cpu: 1 → 2 (by helm)";
    assert_eq!(
        lines(&summarized(&changes[..pods_only], &[])),
        [format!("replicaset.apps/web-1: changed 6 times: {of_pods}")]
    );
    assert_eq!(
        lines(&summarized(&changes, &[])),
        [format!("deployment.apps/web: changed 9 times: {of_pods}, spec.replicas: 1 → 2 (by helm)")]
    );
    assert_eq!(
        lines(&summarized(&changes[pods_only..], &[])),
        [
            "deployment.apps/web: changed 3 times: spec.replicas: 1 → 2 (by helm), spec.replicas: 2 → 1 (by helm)"
        ]
    );
}

#[test]
fn new_objects_have_time_to_become_ready() {
    let starting = pod("a", "web-1", "False", 0, None);
    for (seconds, expected) in
        [(3000, "1 pod unready (ContainersNotReady); 1 pod appeared"), (3590, "1 pod appeared")]
    {
        let objects = [
            change(ChangeKind::Added, &pods(), &starting, None, seconds),
            change(ChangeKind::Added, &replicasets(), &set("web-1", "web"), None, 0),
        ];
        let text = lines(&summarized(&objects, &[])).remove(0);
        let expected = expected.replace("1 pod appeared", "1 pod, 1 replicaset appeared");
        assert_eq!(text, format!("deployment.apps/web: {expected}"), "{seconds}");
    }
}

#[test]
fn a_recreated_object_is_named() {
    let lone = json!({"metadata": owned("db-0", None)});
    let again = [
        change(ChangeKind::Deleted, &pods(), &lone, None, 1),
        change(ChangeKind::Added, &pods(), &lone, None, 2),
    ];
    assert_eq!(lines(&summarized(&again, &[])), ["pod/db-0: deleted and created again"]);
}

#[test]
fn objects_that_came_and_went_count_as_both() {
    let events = [
        change(ChangeKind::Added, &pods(), &pod("a", "job", "True", 0, None), None, 1),
        change(ChangeKind::Deleted, &pods(), &pod("a", "job", "True", 0, None), None, 2),
        change(ChangeKind::Added, &pods(), &json!({"metadata": owned("lone", None)}), None, 3),
        change(ChangeKind::Deleted, &pods(), &json!({"metadata": owned("lone", None)}), None, 4),
    ];
    let mut texts = lines(&summarized(&events, &[]));
    texts.sort();
    assert_eq!(
        texts,
        ["pod/lone: created and deleted", "replicaset.apps/job: 1 pod appeared; 1 pod vanished"]
    );
}

#[test]
fn warnings_belong_to_the_owner_of_their_object() {
    let events = resource("", "events", "Event");
    let event = |name: &str, kind: &str, reason: &str| {
        json!({"metadata": owned(name, None), "type": kind, "reason": reason,
            "involvedObject": {"kind": "Pod", "name": "a", "namespace": "shop", "uid": "u-a"}})
    };
    let appeared = change(ChangeKind::Added, &pods(), &pod("a", "web-1", "True", 0, None), None, 1);
    let summary = summarized(
        &[
            appeared,
            change(ChangeKind::Added, &events, &event("e1", "Warning", "BackOff"), None, 2),
            change(ChangeKind::Modified, &events, &event("e1", "Warning", "BackOff"), None, 3),
            change(ChangeKind::Added, &events, &event("e2", "Warning", "Unhealthy"), None, 4),
            change(ChangeKind::Added, &events, &event("e3", "Normal", "Started"), None, 5),
            change(ChangeKind::Deleted, &events, &event("e1", "Warning", "BackOff"), None, 6),
        ],
        &[set("web-1", "web")],
    );
    assert_eq!((summary.changes, summary.objects), (6, 1));
    assert_eq!(
        lines(&summary),
        ["deployment.apps/web: 1 pod appeared; 3 warnings (BackOff ×2; Unhealthy ×1)"]
    );
}

#[test]
fn warnings_without_a_uid_belong_to_the_last_object_of_the_name() {
    let events = resource("", "events", "Event");
    let event = json!({"metadata": owned("e", None), "type": "Warning", "reason": "FailedMount",
        "involvedObject": {"apiVersion": "v1", "kind": "Pod", "name": "a", "namespace": "shop"}});
    let with_uid = |uid: &str, set: &str| {
        let mut pod = pod("a", set, "True", 0, None);
        pod["metadata"]["uid"] = uid.into();
        pod
    };
    let changes = [
        change(ChangeKind::Deleted, &pods(), &with_uid("u-1", "old"), None, 1),
        change(ChangeKind::Added, &pods(), &with_uid("u-2", "new"), None, 2),
        change(ChangeKind::Added, &events, &event, None, 3),
    ];
    // Each hash map has another order.
    for _ in 0..32 {
        // As of a type that was recorded in two versions.
        let objects = (0..).zip(&changes).map(|(number, change)| {
            let mut changes = ObjectChanges::default();
            changes.record(number, change, None);
            changes
        });
        let mut lines = lines(&ChangeTracker::of(objects.collect()).summary(at(3600)));
        lines.sort();
        assert_eq!(
            lines,
            [
                "replicaset.apps/new: 1 pod appeared; 1 warning (FailedMount)",
                "replicaset.apps/old: 1 pod vanished"
            ]
        );
    }
}

#[test]
fn warnings_about_unchanged_objects_belong_to_their_owner() {
    let events = resource("", "events", "Event");
    let event = |name: &str, about: Value| {
        let json = json!({"metadata": owned(name, None), "type": "Warning", "reason": "FailedMount",
            "involvedObject": about});
        change(ChangeKind::Added, &events, &json, None, 2)
    };
    let about = |name: &str| json!({"apiVersion": "v1", "kind": "Pod", "name": name, "namespace": "shop"});
    let with_uid = |name: &str| {
        let mut about = about(name);
        about["uid"] = format!("u-{name}").into();
        about
    };
    let changes = [
        change(ChangeKind::Added, &pods(), &pod("a", "web-1", "True", 0, None), None, 1),
        event("e1", with_uid("quiet")),
        // Without a UID, the object is that of the name, changed or not.
        event("e2", about("quiet")),
        event("e3", about("a")),
        event("e4", with_uid("gone")),
    ];
    let mut objects: HashMap<_, ObjectChanges> = HashMap::new();
    for (number, change) in (0..).zip(&changes) {
        objects.entry(change.object.key().clone()).or_default().record(number, change, None);
    }
    let mut tracker = ChangeTracker::of(objects.into_values().collect());
    let missing: Vec<_> = tracker.unchanged_warned().into_values().flatten().map(|(_, name)| name).collect();
    assert_eq!(missing, ["gone", "quiet"]);
    tracker.add_warned(&pods(), &[object(&pods(), &pod("quiet", "web-1", "True", 0, None))]);
    let sets = [object(&replicasets(), &set("web-1", "web"))];
    for owner_type in tracker.missing_owners() {
        tracker.add_owners(owner_type, Some((&*replicasets(), &sets)));
    }
    assert_eq!(
        lines(&tracker.summary(at(3600))),
        [
            "deployment.apps/web: 1 pod appeared; 3 warnings (FailedMount)",
            "pod/gone: 1 warning (FailedMount)"
        ]
    );
}

#[test]
fn secrets_and_control_characters_are_not_printed() {
    let secrets = resource("", "secrets", "Secret");
    let secret = |value: &str| json!({"metadata": owned("s\u{1b}[2J", None), "data": {"k\u{9b}": value}});
    let summary =
        summarized(&[change(ChangeKind::Modified, &secrets, &secret("bmV3"), Some(&secret("b2xk")), 1)], &[]);
    let text = lines(&summary).remove(0);
    assert!(!text.contains("bmV3") && !text.contains("b2xk") && text.contains("*** → ***"), "{text}");
    assert!(!text.contains(['\u{1b}', '\u{9b}']), "{text}");
}

#[test]
fn initial_list_is_no_change() {
    let mut listed = change(ChangeKind::Added, &pods(), &pod("a", "web-1", "False", 0, None), None, 0);
    listed.origin = Origin::List;
    let summary = summarized(&[listed], &[]);
    assert_eq!(summary, ChangeSummary { changes: 0, objects: 0, groups: Vec::new() });
}

#[test]
fn cycles_of_owners_end() {
    let a = json!({"metadata": owned("a", Some(("ReplicaSet", "b")))});
    let b = json!({"metadata": owned("b", Some(("ReplicaSet", "a")))});
    let both = [
        change(ChangeKind::Added, &replicasets(), &a, None, 1),
        change(ChangeKind::Added, &replicasets(), &b, None, 2),
    ];
    assert_eq!(summarized(&both, &[]).objects, 2);
}

#[test]
fn brief_fits_whatever_the_size() {
    let name = "x".repeat(253);
    let changes: Vec<Change> = (0..3000)
        .map(|number| {
            let object = json!({"metadata": owned(&format!("é{number}-{name}"), None), "status": {}});
            change(ChangeKind::Deleted, &pods(), &object, None, number)
        })
        .collect();
    let summary = summarized(&changes, &[]);
    let head: Vec<String> = (0..40).map(|number| format!("gap {number} {name}")).collect();
    for limit in [0, 1, 10, 40, 100, 500, 2048] {
        for head in [&head[..0], &head[..1], &head] {
            let text = brief(head, &summary, limit);
            assert!(text.len() <= limit, "{limit}: {} bytes", text.len());
        }
    }
    let text = brief(&head[..1], &summary, 2048);
    assert!(text.lines().count() > 5 && text.ends_with(" groups more\n"), "{text}");
}
