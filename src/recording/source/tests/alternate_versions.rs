//! Alternate versions of recorded resources: Events, and autoscalers in version 1.

use super::*;
use crate::recording::source::tests::moves::Served;

fn events() -> Arc<ApiResource> {
    resource("", "v1", "events", "Event")
}

fn group_events() -> Arc<ApiResource> {
    resource("events.k8s.io", "v1", "events", "Event")
}

fn event(name: &str, version: u64) -> Value {
    json!({
        "metadata": {
            "name": name, "namespace": "a", "uid": format!("u-{name}"), "resourceVersion": version.to_string(),
        },
        "involvedObject": {"kind": "Pod", "name": "web"}, "reason": "Failed", "message": "no image", "type": "Warning",
        "count": 3, "source": {"component": "kubelet"}, "reportingComponent": "", "reportingInstance": "",
        "lastTimestamp": "2026-11-23T23:59:00Z",
    })
}

fn group_event(name: &str, version: u64) -> Value {
    json!({
        "metadata": {
            "name": name, "namespace": "a", "uid": format!("u-{name}"), "resourceVersion": version.to_string(),
        },
        "regarding": {"kind": "Pod", "name": "web"}, "reason": "Failed", "note": "no image", "type": "Warning",
        "deprecatedCount": 3, "deprecatedSource": {"component": "kubelet"},
        "deprecatedLastTimestamp": "2026-11-23T23:59:00Z",
    })
}

const CORE: &str = "/api/v1/events";
const GROUP: &str = "/apis/events.k8s.io/v1/events";

/// Returns the rows of a table without ages.
async fn rows(server: &RecordedServer, path: &str) -> Value {
    let table = request(server, "GET", path, TABLE).await.json();
    assert_eq!(table["columnDefinitions"][0]["name"], "Last Seen", "{table}");
    let cells = |row: &Value| Value::from(&row["cells"].as_array().expect("cells")[1..]);
    table["rows"].as_array().expect("rows").iter().map(cells).collect()
}

#[tokio::test]
async fn events_are_served_in_both_groups() {
    let core = Recorded::new().change(&events(), &event("e", 5), None, 10).synced(&events(), 5, 11);
    let group = Recorded::new().change(&group_events(), &group_event("e", 5), None, 10);
    for recorded in [core, group.synced(&group_events(), 5, 11)] {
        let (server, _dir) = recorded.serve_in(Moment::End, ServedVersions::WithAlternates);
        let list = get(&server, CORE).await;
        assert_eq!((&list["kind"], &list["apiVersion"]), (&json!("EventList"), &json!("v1")));
        assert_eq!(list["items"], json!([event("e", 5)]));
        let list = get(&server, GROUP).await;
        assert_eq!((&list["kind"], &list["apiVersion"]), (&json!("EventList"), &json!("events.k8s.io/v1")));
        assert_eq!(list["items"], json!([group_event("e", 5)]));
        let one = get(&server, "/apis/events.k8s.io/v1/namespaces/a/events/e").await;
        assert_eq!((&one["apiVersion"], &one["note"]), (&json!("events.k8s.io/v1"), &json!("no image")));
        let one = get(&server, "/api/v1/namespaces/a/events/e").await;
        assert_eq!((&one["apiVersion"], &one["message"]), (&json!("v1"), &json!("no image")));
        let selected = |path: &str, field: &str| format!("{path}?fieldSelector={field}%3Dweb");
        assert_eq!(names(&get(&server, &selected(CORE, "involvedObject.name")).await), ["e"]);
        assert_eq!(names(&get(&server, &selected(GROUP, "regarding.name")).await), ["e"]);
        let expected =
            json!([["Warning", "Failed", "pod/web", "", "kubelet", "no image", "<unknown>", 3, "e"]]);
        for path in [CORE, GROUP] {
            assert_eq!(rows(&server, path).await, expected, "{path}");
        }
        let groups = get(&server, "/apis").await;
        assert_eq!(groups["groups"][0]["name"], "events.k8s.io", "{groups}");
        for path in ["/api/v1", "/apis/events.k8s.io/v1"] {
            let listed = get(&server, path).await;
            assert_eq!(listed["resources"][0]["name"], "events", "{path}");
            assert_eq!(listed["resources"][0]["verbs"], json!(["get", "list", "watch"]), "{path}");
        }
    }
}

#[tokio::test]
async fn own_reads_use_the_recorded_versions() {
    let recorded = Recorded::new().change(&group_events(), &group_event("e", 5), None, 10);
    let (server, _dir) = recorded.synced(&group_events(), 5, 11).serve(Moment::End);
    assert_eq!(names(&get(&server, GROUP).await), ["e"]);
    assert_eq!(request(&server, "GET", CORE, "").await.code, 404);
}

#[tokio::test]
async fn recorded_rows_are_those_of_both_groups() {
    let row = Row::new(
        ["Last Seen", "Name"]
            .map(|name| Column { name: name.to_owned(), format: String::new(), priority: 0 })
            .into(),
        ["5m", "e"],
    );
    let recorded = Recorded::new().change(&events(), &event("e", 5), Some(row), 10).synced(&events(), 5, 11);
    let (server, _dir) = recorded.serve_in(Moment::End, ServedVersions::WithAlternates);
    for path in [CORE, GROUP] {
        assert_eq!(rows(&server, path).await, json!([["e"]]), "{path}");
    }
}

#[tokio::test]
async fn documents_name_alternate_versions() {
    let entry = |plural: &str, kind: &str| {
        json!({
            "resource": plural, "responseKind": {"group": "", "version": "", "kind": kind}, "scope": "Namespaced",
            "singularResource": kind.to_lowercase(), "verbs": ["create", "list", "watch", "get"], "shortNames": ["own"],
        })
    };
    let group = |name: &str, resources: &[Value]| json!({"metadata": {"name": name}, "versions": [{"version": "v1", "resources": resources}]});
    let document = |groups: &[Value]| json!({"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "items": groups});
    let others = [
        group("example.com", &[entry("gadgets", "Gadget")]),
        group("events.k8s.io", &[entry("events", "Event")]),
    ];
    for (groups, at) in [(&others[..1], 1), (&others[..], 1)] {
        let recorded = Recorded::new()
            .document("/api", &document(&[group("", &[entry("events", "Event")])]))
            .document("/apis", &document(groups))
            .change(&events(), &event("e", 5), None, 10)
            .synced(&events(), 5, 11)
            .synced(&gadgets(), 5, 11);
        let (server, _dir) = recorded.serve_in(Moment::End, ServedVersions::WithAlternates);
        let found = request(&server, "GET", "/apis", AGGREGATED).await.json();
        let found = &found["items"][at];
        assert_eq!(found["metadata"]["name"], "events.k8s.io", "{found}");
        let resource = &found["versions"][0]["resources"][0];
        let verbs: Vec<&str> =
            resource["verbs"].as_array().expect("verbs").iter().filter_map(Value::as_str).collect();
        assert!(resource["resource"] == "events" && verbs.contains(&"list"), "{resource}");
        let plain = get(&server, "/apis/events.k8s.io/v1").await;
        assert_eq!(plain["resources"][0]["verbs"], json!(["get", "list", "watch"]), "{plain}");
        assert_eq!(names(&get(&server, GROUP).await), ["e"]);
    }
}

#[tokio::test]
async fn autoscalers_of_version_2_are_served_in_version_1() {
    let scalers = resource("autoscaling", "v2", "horizontalpodautoscalers", "HorizontalPodAutoscaler");
    let scaler = json!({
        "metadata": {"name": "web", "namespace": "a", "uid": "u", "resourceVersion": "5"},
        "spec": {"minReplicas": 1, "maxReplicas": 3, "scaleTargetRef": {"name": "web"}},
        "status": {"currentReplicas": 2, "desiredReplicas": 2},
    });
    let recorded = Recorded::new().change(&scalers, &scaler, None, 10).synced(&scalers, 5, 11);
    let (server, _dir) = recorded.serve_in(Moment::End, ServedVersions::WithAlternates);
    let path =
        |version: &str| format!("/apis/autoscaling/{version}/namespaces/a/horizontalpodautoscalers/web");
    for version in ["v1", "v2"] {
        let found = get(&server, &path(version)).await;
        assert_eq!(found["apiVersion"], format!("autoscaling/{version}"));
        assert_eq!(found["spec"], scaler["spec"]);
    }
    let group = get(&server, "/apis/autoscaling").await;
    assert_eq!(group["preferredVersion"]["version"], "v2", "{group}");
}

#[tokio::test(start_paused = true)]
async fn replayed_changes_are_sent_in_both_groups() {
    let recorded = Recorded::new().change(&events(), &event("first", 5), None, 10).synced(&events(), 5, 10);
    let recorded = recorded.change(&events(), &event("second", 6), None, 20);
    let recorded = recorded.kind(ChangeKind::Modified).change(&events(), &event("second", 7), None, 25);
    let recorded = recorded.kind(ChangeKind::Deleted).change(&events(), &event("second", 8), None, 30);
    let served = Served::from(recorded, 10, Some(ReplaySpeed::Times(1.0)));
    let (_, list) = served.json("GET", GROUP, "").await;
    assert_eq!(names(&list), ["first"]);
    let version = list["metadata"]["resourceVersion"].as_str().expect("a version");
    let field = "fieldSelector=regarding.name%3Dweb";
    let mut watch = served
        .watch_path(&format!("{GROUP}?watch=1&resourceVersion={version}&{field}&timeoutSeconds=600"))
        .await;
    for expected in ["ADDED", "MODIFIED", "DELETED"] {
        let event = watch.next().await.expect("an event");
        let object = &event["object"];
        assert_eq!((&event["type"], &object["apiVersion"]), (&json!(expected), &json!("events.k8s.io/v1")));
        assert_eq!((&object["metadata"]["name"], &object["note"]), (&json!("second"), &json!("no image")));
        assert_eq!(object.get("message"), None);
    }
    // The other moment has no events.
    let (code, _) = served.json("GET", "/kdelta/moment?to=end", "").await;
    assert_eq!((code, names(&served.json("GET", GROUP, "").await.1)), (200, vec!["first".to_owned()]));
}
