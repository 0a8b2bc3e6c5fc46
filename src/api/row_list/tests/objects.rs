//! Tests of rows that are joined with their complete objects.

use super::{EXPIRED, NAMED, ROWS, first_page, list_from, table, table_with_metadata};
use crate::client::test_server::{TestServer, json};
use crate::listwatch::Error;
use crate::wire::representation::Representation;

/// Returns whole objects, in another order than the rows.
fn objects(version: &str, keys: &[(&str, &str)]) -> String {
    let item = |(namespace, name): &(&str, &str)| {
        format!(r#"{{"metadata":{{"name":"{name}","namespace":"{namespace}"}}}}"#)
    };
    let items = keys.iter().map(item).collect::<Vec<_>>().join(",");
    format!(
        r#"{{"kind":"PodList","apiVersion":"v1","metadata":{{"resourceVersion":"{version}"}},"items":[{items}]}}"#
    )
}

/// Lists rows with their objects from a new server.
async fn list_rows_and_objects(
    rows: (u16, String),
    objects: impl Fn(bool) -> (u16, String) + Send + Sync + 'static,
) -> (Vec<String>, Vec<String>, Result<(), Error>) {
    let server = TestServer::start(move |head| {
        let (target, _) = head.split_once(" HTTP").expect("a request");
        if target.contains("includeObject=None") {
            json(rows.0, &rows.1)
        } else if target.contains("limit=250") {
            json(200, &first_page())
        } else if target.contains("includeObject=Object") {
            json(200, &table_with_metadata())
        } else {
            let (code, text) = objects(target.contains("Exact"));
            json(code, &text)
        }
    })
    .await;
    list_from(&server, Representation::RowsAndObjects).await
}

const OBJECT_PROBE: &str = "?includeObject=Object&limit=250";
const OBJECTS: &str = "?resourceVersion=40&resourceVersionMatch=NotOlderThan";
const EXACT_OBJECTS: &str = "?resourceVersion=40&resourceVersionMatch=Exact";
const ANY_ORDER: [(&str, &str); 3] = [("b", "z"), ("a", "x"), ("a", "y")];

#[tokio::test]
async fn rows_join_their_objects_at_one_version_in_any_order() {
    let rows = || (200, table("40", NAMED, ROWS));
    let (found, requests, end) = list_rows_and_objects(rows(), |_| (200, objects("40", &ANY_ORDER))).await;
    assert_eq!(found, ["b/z 3", "a/x 1", "a/y 2"]);
    assert_eq!(requests, [OBJECT_PROBE, "?includeObject=None", OBJECTS]);
    assert!(end.is_ok());
    // The collection changed in between.
    let changing = |exact: bool| (200, objects(if exact { "40" } else { "41" }, &ANY_ORDER));
    let (found, requests, end) = list_rows_and_objects(rows(), changing).await;
    assert_eq!(found, ["b/z 3", "a/x 1", "a/y 2"]);
    assert_eq!(requests, [OBJECT_PROBE, "?includeObject=None", OBJECTS, EXACT_OBJECTS]);
    assert!(end.is_ok());
}

#[tokio::test]
async fn rows_come_with_their_objects_if_they_cant_be_joined() {
    let whole = ["a/y 2", "b/z 3", "a/x 1"];
    let twins = r#"{"cells":["x",1]},{"cells":["x",2]},{"cells":["y",3]}"#;
    for rows in
        [(200, table("40", NAMED, twins)), (200, objects("40", &ANY_ORDER)), (410, EXPIRED.to_owned())]
    {
        let (found, requests, end) = list_rows_and_objects(rows, |_| (200, String::new())).await;
        assert_eq!(found, whole);
        assert_eq!(requests, [OBJECT_PROBE, "?includeObject=None", "?includeObject=Object"]);
        assert!(end.is_ok(), "{end:?}");
    }
    for objects in [(200, objects("40", &[("a", "w")])), (410, EXPIRED.to_owned())] {
        let rows = (200, table("40", NAMED, ROWS));
        let (found, requests, end) = list_rows_and_objects(rows, move |_| objects.clone()).await;
        assert_eq!(found, whole);
        assert_eq!(requests.last().map(String::as_str), Some("?includeObject=Object"));
        assert!(end.is_ok(), "{end:?}");
    }
}

#[tokio::test]
async fn objects_that_were_returned_are_not_repeated_after_a_missing_row() {
    let rest = "?includeObject=Object&resourceVersion=40&resourceVersionMatch=Exact";
    for later in [&[("a", "y"), ("a", "w")][..], &[("a", "y")]] {
        let rows = (200, table("40", NAMED, ROWS));
        let (found, requests, end) = list_rows_and_objects(rows, move |_| (200, objects("40", later))).await;
        assert_eq!(found, ["a/y 2", "b/z 3", "a/x 1"]);
        assert_eq!(requests, [OBJECT_PROBE, "?includeObject=None", OBJECTS, rest]);
        assert!(end.is_ok(), "{end:?}");
    }
}
