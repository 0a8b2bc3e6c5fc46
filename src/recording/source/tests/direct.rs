//! Lists without requests, compared with those of the server.

use super::*;
use crate::listwatch::{DirectContents, DirectList};

/// Returns the list of a resource, if it need not be requested.
fn direct(
    server: &RecordedServer,
    resource: &ApiResource,
    namespace: Option<&str>,
    contents: DirectContents,
) -> Option<DirectList> {
    let ingest = Ingest::of(resource.type_meta());
    server.direct_lists().list(resource, namespace, contents, &ingest).expect("readable")
}

fn keys(list: &DirectList) -> Vec<&str> {
    list.objects.iter().map(|object| &**object.key()).collect()
}

#[tokio::test]
async fn direct_lists_have_what_the_server_sends() {
    let mut recorded = documented();
    for (version, namespace) in (5..45).zip(["b", "a", "a-b"].into_iter().cycle()) {
        let name = format!("p{}", version * 7 % 40);
        let row = [name.as_str(), "Running", "70s", "z1"];
        recorded = recorded.pod(&format!("{namespace}/{name}"), version, Some(&row), 10);
    }
    let (server, _dir) = recorded.synced(&pods(), 50, 11).serve(Moment::Time(at(300)));
    for namespace in [None, Some("a"), Some("none")] {
        let path = namespace.map_or_else(String::new, |namespace| format!("namespaces/{namespace}/"));
        let list = get(&server, &format!("/api/v1/{path}pods")).await;
        let items = list["items"].as_array().expect("items");
        let table =
            request(&server, "GET", &format!("/api/v1/{path}pods?includeObject=None"), TABLE).await.json();
        let text = |value: &Value| value.as_str().expect("text").to_owned();
        let expected: Vec<_> = items.iter().map(|item| text(&item["metadata"]["name"])).collect();
        for contents in [
            DirectContents::Names,
            DirectContents::Rows,
            DirectContents::Objects,
            DirectContents::RowsAndObjects,
        ] {
            let direct = direct(&server, &pods(), namespace, contents).expect("a list");
            assert_eq!(direct.version.to_string(), text(&list["metadata"]["resourceVersion"]));
            let names: Vec<_> = direct.objects.iter().map(|object| object.name().to_owned()).collect();
            assert_eq!(names, expected, "{contents:?} {namespace:?}");
            let has_rows = matches!(contents, DirectContents::Rows | DirectContents::RowsAndObjects);
            for ((object, item), row) in
                direct.objects.iter().zip(items).zip(table["rows"].as_array().expect("rows"))
            {
                assert_eq!(object.resource_version().to_string(), text(&item["metadata"]["resourceVersion"]));
                let cells = object.row().map(|row| row.cells().map(Value::from).collect::<Vec<_>>());
                assert_eq!(cells.map(Value::from), has_rows.then(|| row["cells"].clone()));
                if matches!(contents, DirectContents::Objects | DirectContents::RowsAndObjects) {
                    let mut own: Value = serde_json::from_slice(&object.json()).expect("JSON");
                    let types = [own["kind"].take(), own["apiVersion"].take()];
                    assert_eq!(types, ["Pod", "v1"]);
                    assert_eq!(
                        (&own["metadata"], &own["status"]),
                        (&item["metadata"], &item["status"]),
                        "{namespace:?}"
                    );
                }
            }
        }
    }
}

#[tokio::test]
async fn managed_fields_are_kept_on_request() {
    let fields =
        json!([{"manager": "m", "operation": "Update", "fieldsType": "FieldsV1", "fieldsV1": {"f:x": {}}}]);
    let pod = json!({
        "kind": "Pod", "apiVersion": "v1",
        "metadata": {"name": "p", "namespace": "a", "resourceVersion": "5", "managedFields": fields},
    });
    let own = Ingest { keep_managed_fields: true, ..Ingest::of(pods().type_meta()) };
    let object = Object::from_json(pod.to_string().as_bytes(), &own).expect("an object");
    let (server, _dir) = documented().object(&pods(), object, 10).synced(&pods(), 5, 11).serve(Moment::End);
    for keep in [true, false] {
        let ingest = Ingest { keep_managed_fields: keep, ..own.clone() };
        let lists = server.direct_lists();
        let list = lists.list(&pods(), None, DirectContents::Objects, &ingest).expect("readable");
        let list = list.expect("a list");
        let json: Value = serde_json::from_slice(&list.objects[0].json()).expect("JSON");
        assert_eq!(json["metadata"].get("managedFields").is_some(), keep, "{json}");
        assert_eq!(json["metadata"]["name"], "p");
    }
}

#[tokio::test]
async fn other_lists_must_be_requested() {
    let recorded = documented()
        .pod("a/web", 5, Some(&["web", "Running", "70s", "z1"]), 10)
        .pod("a/x", 6, None, 10)
        .synced(&pods(), 6, 11);
    let (server, _dir) = recorded.serve(Moment::End);
    // A row is missing: the server computes all of them.
    for contents in [DirectContents::Rows, DirectContents::RowsAndObjects] {
        assert!(direct(&server, &pods(), None, contents).is_none(), "{contents:?}");
    }
    let objects = direct(&server, &pods(), None, DirectContents::Objects).expect("a list");
    assert_eq!(keys(&objects), ["a/web", "a/x"]);
    assert!(direct(&server, &gadgets(), None, DirectContents::Objects).is_none(), "it was not recorded");
    let other_kind = Ingest {
        type_meta: resource("", "v1", "pods", "Other").type_meta(),
        ..Ingest::of(pods().type_meta())
    };
    let list = server.direct_lists().list(&pods(), None, DirectContents::Objects, &other_kind);
    assert!(list.expect("readable").is_none(), "the server sends the kind of the resource");
    let other_version = ApiResource { version: "v2".into(), ..(*pods()).clone() };
    assert!(direct(&server, &other_version, None, DirectContents::Names).is_none());
}
