use bytes::Bytes;
use jiff::{Timestamp, ToSpan};
use serde_json::{Value, json};

use super::*;
use crate::lines::ChangeKind;
use crate::object::{Column, Ingest, Object, Origin, Row};
use crate::server::source::{CollectionRange, ObjectData, Source, StoredObject};

fn resource(group: &str, plural: &str, kind: &str) -> Arc<ApiResource> {
    let [group, version, resource, kind] = [group, "v1", plural, kind].map(str::to_owned);
    Arc::new(ApiResource {
        group,
        version,
        namespaced: plural != "customresourcedefinitions",
        resource,
        kind,
    })
}

/// Applies the creation of an object, whose cells are those of a table of names and ages.
fn add(mirror: &Mirror, part: usize, resource: &Arc<ApiResource>, object: &Value, cells: Option<[&str; 2]>) {
    let ingest = Ingest::of(resource.type_meta());
    let mut read = Object::from_json(object.to_string().as_bytes(), &ingest).expect("an object");
    if let Some(cells) = cells {
        let column = |name: &str| Column { name: name.to_owned(), format: String::new(), priority: 0 };
        read = read.with_row(Row::new(["Name", "Age"].map(column).into(), cells));
    }
    let change = Change {
        kind: ChangeKind::Added,
        object: Arc::new(read),
        old: None,
        origin: Origin::List,
        final_state_unknown: false,
        resource: Arc::clone(resource),
        context: "".into(),
        received: Timestamp::now(),
    };
    mirror.apply(part, &change);
}

fn pod(name: &str, version: u64, created: Timestamp) -> Value {
    json!({"metadata": {
        "name": name, "namespace": "n", "resourceVersion": version.to_string(),
        "creationTimestamp": created.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
    }})
}

fn source(mirror: &Mirror) -> MirrorSource {
    MirrorSource::new(Arc::clone(&mirror.shared))
}

fn list(source: &MirrorSource, plural: &str) -> (u64, Vec<Arc<StoredObject>>) {
    let (id, _) = source.find("", "v1", plural).expect("it is served");
    let snapshot = source.now(&CollectionRange::all(id, None)).expect("a list");
    (snapshot.version, snapshot.items)
}

fn discovery() -> Bytes {
    let of = |plural: &str, kind: &str| {
        json!({
            "resource": plural, "responseKind": {"group": "", "version": "v1", "kind": kind}, "scope": "Namespaced",
            "singularResource": kind.to_lowercase(), "verbs": ["get", "list", "watch", "delete"],
        })
    };
    let version = json!({"version": "v1", "resources": [of("pods", "Pod"), of("secrets", "Secret")]});
    let document = json!({
        "kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2",
        "items": [{"metadata": {"name": ""}, "versions": [version]}],
    });
    Bytes::from(document.to_string())
}

#[tokio::test]
async fn types_are_served_from_their_initial_state_until_their_last_part_ends() {
    let (mirror, pods) = (Mirror::new(), resource("", "pods", "Pod"));
    mirror.set_document("/api", &discovery());
    mirror.begin(0, &pods);
    mirror.begin(1, &pods);
    add(&mirror, 0, &pods, &pod("a", 5, Timestamp::now()), None);
    let source = source(&mirror);
    assert!(source.find("", "v1", "pods").is_none());
    assert_eq!(source.unavailable_reason("", "v1", "pods").as_deref(), Some("pods is not mirrored"));
    mirror.synced(0, &"9".into());
    add(&mirror, 1, &pods, &pod("b", 7, Timestamp::now()), None);
    let (version, items) = list(&source, "pods");
    assert_eq!((version, items.len()), (10, 2), "the second part is still being listed");
    assert_eq!(source.unavailable_reason("", "v1", "pods"), None);
    let reason = source.unavailable_reason("", "v1", "secrets");
    assert_eq!(reason.as_deref(), Some("secrets is not mirrored: the mirror has pods"));
    let (id, _) = source.find("", "v1", "pods").expect("pods");
    mirror.synced(1, &"9".into());
    mirror.end(0);
    assert_eq!(list(&source, "pods").1.len(), 1);
    mirror.end(1);
    assert!(!source.serves(id) && source.find("", "v1", "pods").is_none());
}

#[tokio::test]
async fn rows_are_those_of_the_server_with_ages_that_grow() {
    let (mirror, pods) = (Mirror::new(), resource("", "pods", "Pod"));
    mirror.begin(0, &pods);
    let now = Timestamp::now();
    let created = |seconds: i64| now.checked_sub(seconds.seconds()).expect("a time");
    add(&mirror, 0, &pods, &pod("a", 5, created(30)), Some(["a", "30s"]));
    mirror.synced(0, &"9".into());
    let source = source(&mirror);
    let cells = |object: &StoredObject| {
        object.row.as_ref().map(|row| {
            let mut cells = Vec::new();
            row.write_cells(&object.name, &mut cells);
            String::from_utf8_lossy(&cells).into_owned()
        })
    };
    let (_, items) = list(&source, "pods");
    let (id, kind) = source.find("", "v1", "pods").expect("pods");
    let shown = cells(&items[0]).expect("a row");
    assert!(shown.starts_with(r#"["a","3"#), "{shown}");
    let later = now.checked_add(10.minutes()).expect("a time");
    let objects = [mirror.shared.lock().collections[id].get("n", "a").expect("a pod").clone()];
    let stored = mirrored::stored_objects(&kind, &objects, true, later);
    assert_eq!(cells(&stored[0]).as_deref(), Some(r#"["a","10m"]"#));
    let range = CollectionRange { data: ObjectData::Rows, ..CollectionRange::all(id, None) };
    let rows = source.now(&range).expect("a list").items;
    assert!(rows[0].json.is_empty() && rows[0].row == items[0].row && rows[0].version == 5);
    // A table has one set of columns.
    add(&mirror, 0, &pods, &pod("b", 10, created(5)), None);
    assert!(list(&source, "pods").1.iter().all(|item| item.row.is_none()));
    let row = source.get(id, "n", "a").expect("readable").expect("a pod");
    assert!(cells(&row).is_some());
}

#[tokio::test]
async fn custom_types_have_the_fields_of_their_definitions() {
    let definition = |field: &str| {
        json!({
            "metadata": {"name": "sites.example.com", "resourceVersion": "3"},
            "spec": {
                "group": "example.com", "scope": "Namespaced", "names": {"plural": "sites", "kind": "Site"},
                "versions": [{"name": "v1", "storage": true, "selectableFields": [{"jsonPath": field}]}],
            },
        })
    };
    let (mirror, sites) = (Mirror::new(), resource("example.com", "sites", "Site"));
    mirror.begin(0, &sites);
    mirror.synced(0, &"2".into());
    let source = source(&mirror);
    let selectable = || {
        let (_, kind) = source.find("example.com", "v1", "sites").expect("sites");
        kind.custom.as_ref().expect("a custom kind").selectable.clone()
    };
    assert_eq!(selectable(), [""; 0]);
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/sites.example.com";
    mirror.set_document(path, &Bytes::from(definition(".spec.zone").to_string()));
    assert_eq!(selectable(), ["spec.zone"]);
    let definitions =
        resource("apiextensions.k8s.io", "customresourcedefinitions", "CustomResourceDefinition");
    mirror.begin(1, &definitions);
    mirror.synced(1, &"2".into());
    add(&mirror, 1, &definitions, &definition(".spec.name"), None);
    assert_eq!(selectable(), ["spec.name"], "the object is more recent");
}

#[tokio::test]
async fn inferred_deletions_have_versions_of_their_own() {
    let (mirror, pods) = (Mirror::new(), resource("", "pods", "Pod"));
    mirror.begin(0, &pods);
    mirror.begin(1, &pods);
    add(&mirror, 0, &pods, &pod("a", 5, Timestamp::now()), Some(["a", "0s"]));
    mirror.synced(0, &"9".into());
    mirror.synced(1, &"9".into());
    // The part has no further event.
    mirror.end(0);
    let source = source(&mirror);
    let (id, _) = source.find("", "v1", "pods").expect("pods");
    let (changes, to) = source.changes(id, 9, 5).expect("changes");
    let [change] = changes.as_slice() else { panic!("{changes:?}") };
    assert!(change.deleted && change.new.row.is_some());
    assert_eq!((to, change.version, change.new.version), (10, 10, 10));
    assert_eq!(change.new.value()["metadata"]["resourceVersion"], "10");
}

#[tokio::test]
async fn events_are_served_in_both_groups_while_they_are_mirrored() {
    let (mirror, events) = (Mirror::new(), resource("", "events", "Event"));
    mirror.begin(0, &events);
    let event = json!({
        "metadata": {"name": "e", "namespace": "n", "resourceVersion": "5"},
        "involvedObject": {"kind": "Pod"}, "message": "no image",
    });
    add(&mirror, 0, &events, &event, None);
    let source = source(&mirror);
    assert!(source.find("events.k8s.io", "v1", "events").is_none());
    mirror.synced(0, &"9".into());
    let (own, _) = source.find("", "v1", "events").expect("events");
    let (id, kind) = source.find("events.k8s.io", "v1", "events").expect("events");
    assert_eq!((id, kind.conversion.is_some()), (own, true));
    let listed = source.kinds();
    assert_eq!(listed.iter().map(|kind| kind.api_version()).collect::<Vec<_>>(), ["v1", "events.k8s.io/v1"]);
    assert_eq!(source.server_version()["gitVersion"], "v0.0.0-kdelta-mirror");
    mirror.end(0);
    let pods = resource("", "pods", "Pod");
    assert!(source.find("events.k8s.io", "v1", "events").is_none());
    mirror.begin(1, &pods);
    mirror.synced(1, &"9".into());
    let (_, pods) = source.find("", "v1", "pods").expect("pods");
    assert_eq!(source.subresource_refusal(&pods, "log").as_deref(), Some("a mirror has no logs"));
}
