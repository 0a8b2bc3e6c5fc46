//! Tests of pages of objects that are joined with their rows.

use super::{EXPIRED, NAMED, ROWS, pods, table, table_with_metadata};
use crate::client::test_server::{TestServer, json};
use crate::listwatch::{Error, ListOptions, ListStream, ListerWatcher};
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

/// Lists the pages after two continue tokens from a new server. Returns the objects, the targets of the requests, and the end
/// of the last page.
async fn list_pages(
    rows: (u16, String),
    objects: [String; 2],
) -> (Vec<String>, Vec<String>, Result<(), Error>) {
    let server = TestServer::start(move |head| {
        let (target, _) = head.split_once(" HTTP").expect("a request");
        if target.contains("includeObject=None") {
            json(rows.0, &rows.1)
        } else if target.contains("includeObject=Object") {
            json(200, &table_with_metadata())
        } else {
            json(200, &objects[usize::from(target.contains("continue=b"))])
        }
    })
    .await;
    let resource = pods(&server.url, Representation::RowsAndObjects);
    let (mut found, mut end) = (Vec::new(), Ok(()));
    for token in ["a", "b"] {
        let mut page = ListOptions::default().limit(2);
        page.continue_token = token.to_owned();
        let mut page = resource.list(&page).await.expect("a page");
        end = loop {
            match page.next().await {
                Ok(Some(object)) => {
                    let cell = object.row().and_then(|row| row.cells().nth(1)).unwrap_or_default();
                    found.push(format!("{} {cell}", object.key()));
                }
                Ok(None) => break Ok(()),
                Err(error) => break Err(error),
            }
        };
        assert_eq!(page.meta().resource_version.to_string(), "40");
    }
    let target = |head: &String| head.split(' ').nth(1).expect("a target").replace("/api/v1/pods?", "");
    (found, server.requests().iter().map(target).collect(), end)
}

const ROWS_FROM: &str = "includeObject=None&continue=a";

#[tokio::test]
async fn rows_are_requested_once_and_join_the_objects_of_all_pages() {
    let pages = [objects("40", &[("b", "z"), ("a", "x")]), objects("40", &[("a", "y")])];
    let (found, requests, end) = list_pages((200, table("40", NAMED, ROWS)), pages).await;
    assert_eq!(found, ["b/z 3", "a/x 1", "a/y 2"]);
    assert_eq!(requests, ["limit=2&continue=a", ROWS_FROM, "limit=2&continue=b"]);
    assert!(end.is_ok());
}

#[tokio::test]
async fn rows_come_with_their_objects_if_they_cant_be_joined() {
    let twins = r#"{"cells":["x",1]},{"cells":["x",2]},{"cells":["y",3]}"#;
    for rows in [
        (200, table("40", NAMED, twins)),
        (200, table("41", NAMED, ROWS)),
        (200, table("40", NAMED, ROWS).replace(r#""40""#, r#""40","continue":"more""#)),
        (200, objects("40", &[("a", "x")])),
        (200, r#"{"kind":"Table","rows":[{"cells":7}]}"#.to_owned()),
        (410, EXPIRED.to_owned()),
    ] {
        let whole = ["a/y 2", "b/z 3", "a/x 1"];
        let pages = [objects("40", &[("a", "x")]), String::new()];
        let (found, requests, end) = list_pages(rows, pages).await;
        assert_eq!(found, [whole, whole].concat());
        let [first, rows, whole, next] = &requests[..] else { panic!("{requests:?}") };
        assert_eq!([first.as_str(), rows], ["limit=2&continue=a", ROWS_FROM]);
        assert_eq!(whole, "includeObject=Object&limit=2&continue=a");
        // No second try for the next page.
        assert_eq!(next, "includeObject=Object&limit=2&continue=b");
        assert!(end.is_ok(), "{end:?}");
    }
}

#[tokio::test]
async fn objects_before_a_missing_row_are_not_returned_again() {
    let pages = [objects("40", &[("a", "y"), ("a", "w")]), objects("40", &[])];
    let (found, requests, end) = list_pages((200, table("40", NAMED, ROWS)), pages).await;
    assert_eq!(found, ["a/y 2", "b/z 3", "a/x 1"]);
    assert_eq!(requests[2], "includeObject=Object&limit=2&continue=a");
    assert!(end.is_ok(), "{end:?}");
}
