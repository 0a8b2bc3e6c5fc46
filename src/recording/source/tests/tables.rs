//! Tables of recorded rows and of computed ones.

use super::*;

#[tokio::test]
async fn tables_have_the_recorded_columns_and_ages_of_the_moment() {
    let recorded = documented()
        .pod("a/web", 5, Some(&["web", "Running", "70s", "z1"]), 10)
        .pod("a/done", 6, Some(&["done", "Completed", "70s", "z2"]), 10)
        .synced(&pods(), 6, 11)
        .pod("a/late", 7, None, 400);
    let (server, _dir) = recorded.serve(Moment::Time(at(300)));
    for include in ["None", "Metadata", "Object"] {
        let table =
            request(&server, "GET", &format!("/api/v1/pods?includeObject={include}"), TABLE).await.json();
        let columns: Vec<_> = table["columnDefinitions"].as_array().expect("columns").iter().collect();
        assert_eq!(
            columns.iter().map(|column| &column["name"]).collect::<Vec<_>>(),
            ["Name", "Phase", "Age", "Zone"]
        );
        assert_eq!((&columns[0]["format"], &columns[3]["priority"]), (&json!("name"), &json!(1)));
        let rows = &table["rows"];
        assert_eq!(rows[0]["cells"], json!(["done", "Completed", "6m", "z2"]), "{include}");
        assert_eq!(rows[1]["cells"], json!(["web", "Running", "6m", "z1"]), "{include}");
        let namespace = &rows[1]["object"]["metadata"]["namespace"];
        assert_eq!(*namespace, if include == "None" { Value::Null } else { json!("a") });
        assert_eq!(rows[1].get("conditions"), None);
        assert_eq!(rows[0].get("conditions").is_some(), include != "None", "of a finished pod");
    }
    for include in ["None", "Metadata"] {
        let watch = format!("/api/v1/pods?watch=1&timeoutSeconds=1&includeObject={include}");
        let events = request(&server, "GET", &watch, TABLE).await.text;
        let first: Value = serde_json::from_str(events.lines().next().expect("an event")).expect("JSON");
        assert_eq!(first["object"]["columnDefinitions"][3]["name"], "Zone");
        let row = &first["object"]["rows"][0];
        assert_eq!(row["cells"], json!(["done", "Completed", "6m", "z2"]), "{include}");
        assert!(row["conditions"].is_array(), "of a finished pod, {include}");
    }
}

#[tokio::test]
async fn a_table_with_an_unrecorded_row_is_computed() {
    let recorded =
        documented().pod("a/web", 5, Some(&["web", "Running", "70s", "z1"]), 10).pod("a/x", 6, None, 10);
    let (server, _dir) = recorded.synced(&pods(), 6, 11).serve(Moment::End);
    let table = request(&server, "GET", "/api/v1/pods?includeObject=None", TABLE).await.json();
    assert_eq!(table["columnDefinitions"][1]["name"], "Ready");
    assert_eq!(table["rows"].as_array().map(Vec::len), Some(2));
    assert_eq!(table["rows"][1]["cells"][0], "x");
}

#[tokio::test]
async fn custom_resources_have_the_columns_of_their_definition() {
    let definitions =
        resource("apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition");
    let version = |name: &str, column: &str| {
        let columns = json!([{"name": column, "type": "integer", "jsonPath": ".spec.size"}]);
        json!({"name": name, "storage": name == "v2", "additionalPrinterColumns": columns, "schema": {}})
    };
    let definition = json!({
        "metadata": {"name": "gadgets.example.com", "resourceVersion": "3"},
        "spec": {
            "group": "example.com", "scope": "Namespaced", "names": {"plural": "gadgets", "kind": "Gadget"},
            "versions": [version("v1", "Size"), version("v2", "Other")],
        },
    });
    let gadget =
        json!({"metadata": {"name": "g", "namespace": "a", "resourceVersion": "4"}, "spec": {"size": 3}});
    let recorded =
        Recorded::new().change(&definitions, &definition, None, 5).change(&gadgets(), &gadget, None, 6);
    let (server, _dir) = recorded.synced(&gadgets(), 4, 11).serve(Moment::End);
    let table = request(&server, "GET", "/apis/example.com/v1/gadgets", TABLE).await.json();
    assert_eq!(table["rows"][0]["cells"], json!(["g", 3]));
    assert_eq!(table["columnDefinitions"][1]["name"], "Size", "of the recorded version");
    let list = get(&server, "/apis/example.com/v1/gadgets").await;
    assert_eq!(list["items"][0]["kind"], "Gadget", "lists of custom resources have types");
}

#[tokio::test]
async fn rows_with_identities_need_no_bodies() {
    let recorded =
        documented().pod("a/web", 5, Some(&["web", "Running", "70s", "z1"]), 10).synced(&pods(), 5, 11);
    let (server, _dir) = recorded.serve(Moment::End);
    let table = request(&server, "GET", "/api/v1/pods?includeObject=Identity", TABLE).await.json();
    let metadata = json!({"name": "web", "namespace": "a", "resourceVersion": "5"});
    let object =
        json!({"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": metadata});
    assert_eq!(table["rows"], json!([{"cells": ["web", "Running", "71s", "z1"], "object": object}]));
}

#[tokio::test]
async fn recorded_rows_are_read_though_objects_were_read_before() {
    let recorded =
        documented().pod("a/web", 5, Some(&["web", "Running", "70s", "z1"]), 10).synced(&pods(), 5, 11);
    let (server, _dir) = recorded.serve(Moment::End);
    let list = get(&server, "/api/v1/pods").await;
    for include in ["Object", "Metadata", "Identity", "None"] {
        let path = format!("/api/v1/pods?includeObject={include}");
        let table = request(&server, "GET", &path, TABLE).await.json();
        assert_eq!(table["rows"][0]["cells"], json!(["web", "Running", "71s", "z1"]), "{include}");
    }
    assert_eq!(get(&server, "/api/v1/pods").await, list);
    let watch = "/api/v1/pods?watch=1&timeoutSeconds=1";
    let events = request(&server, "GET", watch, "application/json").await.text;
    let event: Value = serde_json::from_str(events.lines().next().expect("an event")).expect("JSON");
    assert_eq!(event["object"]["metadata"], list["items"][0]["metadata"]);
}

#[tokio::test]
async fn object_without_a_body_has_its_names_whatever_was_read_before() {
    let without_body = |resource: &Arc<ApiResource>| {
        Object::named(resource.type_meta(), "a", "web")
            .with_resource_version(ResourceVersion::new("5"))
            .with_row(row_of(&["web", "Running", "70s", "z1"]))
    };
    for (resource, list) in [(pods(), "/api/v1/pods"), (gadgets(), "/apis/example.com/v1/gadgets")] {
        let recorded = Recorded::new().object(&resource, without_body(&resource), 10);
        let (server, _dir) = recorded.synced(&resource, 5, 11).serve(Moment::End);
        for include in ["Object", "Metadata"] {
            let path = format!("{list}?includeObject={include}");
            let table = request(&server, "GET", &path, TABLE).await.json();
            // Without a time of its creation, the age stays that of the recording.
            assert_eq!(table["rows"][0]["cells"], json!(["web", "Running", "70s", "z1"]), "{path}");
            assert_eq!(table["rows"][0]["object"]["metadata"]["name"], "web", "{path}");
        }
        let metadata = json!({"name": "web", "namespace": "a", "resourceVersion": "5"});
        assert_eq!(get(&server, list).await["items"][0]["metadata"], metadata);
    }
}

#[tokio::test]
async fn numbers_in_cells_stay_numbers() {
    let config_maps = resource("", "v1", "configmaps", "ConfigMap");
    let columns = [("Name", "name"), ("Data", ""), ("Age", "")];
    let columns =
        columns.map(|(name, format)| Column { name: name.into(), format: format.into(), priority: 0 });
    let map =
        json!({"metadata": {"name": "7", "namespace": "a", "resourceVersion": "4"}, "data": {"a": "b"}});
    let row = Row::new(columns.into(), ["7", "1", "<unknown>"]);
    let recorded = Recorded::new().change(&config_maps, &map, Some(row), 6).synced(&config_maps, 4, 7);
    let (server, _dir) = recorded.serve(Moment::End);
    let table = request(&server, "GET", "/api/v1/configmaps", TABLE).await.json();
    assert_eq!(table["rows"][0]["cells"], json!(["7", 1, "<unknown>"]));
    assert_eq!(table["columnDefinitions"][1]["type"], "string", "as on a server");
}
