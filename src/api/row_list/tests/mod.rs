//! Tests of row lists against a server that sends what each case needs and records the requests.

mod objects;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::sleep;

use crate::api::Client;
use crate::api::resource::ResourceClient;
use crate::client::test_server::{TestServer, json, with_headers};
use crate::kubeconfig::Config;
use crate::listwatch::{Error, ListOptions, ListStream, ListerWatcher};
use crate::object::ApiResource;
use crate::wire::representation::Representation;

const NAMED: &str = r#"[{"name":"Name","format":"name"},{"name":"Status"}]"#;
const ROWS: &str = r#"{"cells":["x",1]},{"cells":["y",2]},{"cells":["z",3]}"#;
const EXPIRED: &str = r#"{"kind":"Status","reason":"Expired","code":410}"#;

fn table(version: &str, columns: &str, rows: &str) -> String {
    format!(
        r#"{{"kind":"Table","metadata":{{"resourceVersion":"{version}"}},"columnDefinitions":{columns},"rows":[{rows}]}}"#
    )
}

/// Returns the metadata of three objects, with a continue token.
fn names(token: &str) -> String {
    names_of(token, [("a", "x"), ("a", "y"), ("b", "z")])
}

fn names_of(token: &str, keys: [(&str, &str); 3]) -> String {
    let item = |(namespace, name): (&str, &str)| {
        format!(r#"{{"metadata":{{"name":"{name}","namespace":"{namespace}","resourceVersion":"7"}}}}"#)
    };
    let items = keys.map(item).join(",");
    format!(
        r#"{{"kind":"PartialObjectMetadataList","metadata":{{"resourceVersion":"40","continue":"{token}"}},"items":[{items}]}}"#
    )
}

/// Returns the same three objects as rows with metadata, in another order: the first is the last.
fn table_with_metadata() -> String {
    let row = |namespace: &str, name: &str, cell: u8| {
        format!(
            r#"{{"cells":["{name}",{cell}],"object":{{"metadata":{{"name":"{name}","namespace":"{namespace}"}}}}}}"#
        )
    };
    table("40", NAMED, &[row("a", "y", 2), row("b", "z", 3), row("a", "x", 1)].join(","))
}

/// Returns the same rows as the first page of a longer list.
fn first_page() -> String {
    table_with_metadata().replace(r#"":"40""#, r#"":"40","continue":"more""#)
}

/// Lists from a new server. Returns the objects, the targets of the requests, and the end of the list. `names` is the list of
/// names, and `rows` returns the rows for whether they are requested at exactly the version of the names.
async fn list_all(
    representation: Representation,
    names: String,
    rows: impl Fn(bool) -> (u16, String) + Send + Sync + 'static,
) -> (Vec<String>, Vec<String>, Result<(), Error>) {
    let server = TestServer::start(move |head| {
        let (target, _) = head.split_once(" HTTP").expect("a request");
        if target.contains("includeObject=None") {
            let (code, text) = rows(target.contains("Exact"));
            json(code, &text)
        } else if target.contains("limit=500") {
            json(200, &first_page())
        } else if head.contains("as=PartialObjectMetadataList") {
            json(200, &names)
        } else {
            json(200, &table_with_metadata())
        }
    })
    .await;
    list_from(&server, representation).await
}

/// Lists from a server. Returns the objects, the targets of all its requests, and the end of the list.
async fn list_from(
    server: &TestServer,
    representation: Representation,
) -> (Vec<String>, Vec<String>, Result<(), Error>) {
    let (found, end) = collect_all(&pods(&server.url, representation)).await;
    let target = |head: &String| head.split(' ').nth(1).expect("a target").replace("/api/v1/pods", "");
    (found, server.requests().iter().map(target).collect(), end)
}

fn pods(url: &str, representation: Representation) -> ResourceClient {
    let client = Client::new(&Config::for_server(url).expect("a config")).expect("a client");
    let pods = ApiResource {
        group: String::new(),
        version: "v1".into(),
        resource: "pods".into(),
        kind: "Pod".into(),
        namespaced: true,
    };
    ResourceClient::new(client, pods).representation(representation)
}

/// Returns the objects of a list and its end. A refusal with a time to wait is repeated, as by a reflector.
async fn collect_all(resource: &ResourceClient) -> (Vec<String>, Result<(), Error>) {
    let mut list = loop {
        match resource.list(&ListOptions::default()).await {
            Ok(list) => break list,
            Err(error) if error.retry_after().is_some() => {}
            Err(error) => return (Vec::new(), Err(error)),
        }
    };
    let mut found = Vec::new();
    let end = loop {
        match list.next().await {
            Ok(Some(object)) => {
                let cell = object.row().and_then(|row| row.cells().nth(1)).unwrap_or_default();
                found.push(format!("{} {cell}", object.key()));
            }
            Ok(None) => break Ok(()),
            Err(error) => break Err(error),
        }
    };
    (found, end)
}

const PROBE: &str = "?limit=500";
const LATER: &str = "?includeObject=None&resourceVersion=40&resourceVersionMatch=NotOlderThan";
const EXACT: &str = "?includeObject=None&resourceVersion=40&resourceVersionMatch=Exact";
const JOINED: [&str; 3] = ["a/x 1", "a/y 2", "b/z 3"];

/// Responds the same for every version.
fn always(code: u16, text: impl Into<String>) -> impl Fn(bool) -> (u16, String) {
    let text = text.into();
    move |_| (code, text.clone())
}

#[tokio::test]
async fn rows_of_all_namespaces_join_their_names_at_one_version() {
    let rows = always(200, table("40", NAMED, ROWS));
    let (found, requests, end) = list_all(Representation::Rows, names(""), rows).await;
    assert_eq!(found, JOINED);
    assert_eq!(requests, [PROBE, "", LATER]);
    assert!(end.is_ok());
}

#[tokio::test]
async fn changed_collection_is_requested_at_the_names_exact_version() {
    for later in [
        (200, table("41", NAMED, ROWS)),
        (504, r#"{"kind":"Status","reason":"Timeout","code":504,"details":{"causes":[{"reason":"ResourceVersionTooLarge"}]}}"#.to_owned()),
        (410, EXPIRED.to_owned()),
    ] {
        let rows = move |exact| if exact { (200, table("40", NAMED, ROWS)) } else { later.clone() };
        let (found, requests, end) = list_all(Representation::Rows, names(""), rows).await;
        assert_eq!(found, JOINED);
        assert_eq!(requests, [PROBE, "", LATER, EXACT]);
        assert!(end.is_ok());
    }
}

const TWINS: [(&str, &str); 3] = [("a", "x"), ("a", "y"), ("b", "x")];
const ROWS_OF_TWINS: &str = r#"{"cells":["x",1]},{"cells":["y",2]},{"cells":["x",3]}"#;
const SWAPPED: &str = r#"{"cells":["x",3]},{"cells":["y",2]},{"cells":["x",1]}"#;

#[tokio::test]
async fn repeated_names_are_joined_in_key_order() {
    let rows = |exact| (200, table("40", NAMED, if exact { ROWS_OF_TWINS } else { SWAPPED }));
    let (found, requests, end) = list_all(Representation::Rows, names_of("", TWINS), rows).await;
    assert_eq!(found, ["a/x 1", "a/y 2", "b/x 3"]);
    assert_eq!(requests, [PROBE, "", EXACT]);
    assert!(end.is_ok());
}

#[tokio::test]
async fn repeated_names_are_not_joined_without_order() {
    let whole_list = ["a/y 2", "b/z 3", "a/x 1"];
    let unsorted = names_of("", [("b", "x"), ("a", "y"), ("a", "x")]);
    let rows = always(200, table("40", NAMED, SWAPPED));
    let (found, requests, end) = list_all(Representation::Rows, unsorted, rows).await;
    assert_eq!(found, whole_list);
    assert_eq!(requests, [PROBE, "", ""]);
    assert!(end.is_ok());
    // The first row matches, and is not returned before the others do.
    for rows in [r#"{"cells":["x",3]},{"cells":["x",1]},{"cells":["y",2]}"#, r#"{"cells":["x",3]}"#] {
        let rows = always(200, table("40", NAMED, rows));
        let (found, requests, end) = list_all(Representation::Rows, names_of("", TWINS), rows).await;
        assert_eq!(found, whole_list);
        assert_eq!(requests, [PROBE, "", EXACT, ""]);
        assert!(end.is_ok());
    }
}

#[tokio::test(start_paused = true)]
async fn refused_request_of_a_join_is_repeated() {
    // The rows end early, so that there is a fourth request, after a row that was returned.
    for refused in 0..4 {
        let count = AtomicUsize::new(0);
        let server = TestServer::start(move |head| {
            if count.fetch_add(1, Ordering::SeqCst) == refused {
                let status = r#"{"kind":"Status","reason":"TooManyRequests"}"#;
                return with_headers(429, "Retry-After: 1\r\n", status);
            }
            if head.contains("includeObject=None") {
                return json(200, &table("40", NAMED, r#"{"cells":["x",1]}"#));
            }
            if head.contains("as=PartialObjectMetadataList") {
                return json(200, &names(""));
            }
            let page = head.contains("limit=500");
            json(200, &if page { first_page() } else { table_with_metadata() })
        })
        .await;
        let (found, requests, end) = list_from(&server, Representation::Rows).await;
        assert_eq!(found, JOINED, "{refused}: {requests:?}");
        assert!(end.is_ok(), "{refused}: {end:?}");
    }
}

#[tokio::test]
async fn unfinished_rows_are_an_error_that_causes_no_relist() {
    for (code, rest) in [(410, EXPIRED.to_owned()), (200, table_with_metadata().replace("40", "41"))] {
        let server = TestServer::start(move |head| {
            if head.contains("includeObject=None") {
                json(200, &table("40", NAMED, r#"{"cells":["x",1]}"#))
            } else if head.contains("as=PartialObjectMetadataList") {
                json(200, &names(""))
            } else if head.contains("limit=500") {
                json(200, &first_page())
            } else {
                json(code, &rest)
            }
        })
        .await;
        let (found, _, end) = list_from(&server, Representation::Rows).await;
        assert_eq!(found, ["a/x 1"]);
        assert!(matches!(end, Err(Error::Decode(_))), "{end:?}");
    }
}

#[tokio::test]
async fn names_continue_from_metadata_after_a_row_without_name() {
    let rows = || always(200, table("40", NAMED, r#"{"cells":["x",1]},{"cells":["",2]}"#));
    let (found, requests, end) = list_all(Representation::Names, names(""), rows()).await;
    assert_eq!(found, ["x ", "a/y ", "b/z "]);
    assert_eq!(requests, ["?includeObject=None", "?resourceVersion=40&resourceVersionMatch=Exact"]);
    assert!(end.is_ok());
    let others = names_of("", [("a", "w"), ("a", "x"), ("b", "z")]);
    let (found, _, end) = list_all(Representation::Names, others, rows()).await;
    assert_eq!(found, ["x "]);
    assert!(matches!(end, Err(Error::Decode(_))), "{end:?}");
}

/// Serves one connection. Sends the list of names in three pieces, with that pause before each.
async fn respond_slowly(mut stream: TcpStream, pause: Duration) -> std::io::Result<()> {
    // The network's own delays must not count.
    stream.set_nodelay(true)?;
    let mut head = Vec::new();
    loop {
        head.push(stream.read_u8().await?);
        if !head.ends_with(b"\r\n\r\n") {
            continue;
        }
        let text = String::from_utf8_lossy(&std::mem::take(&mut head)).into_owned();
        let response = if text.contains("includeObject=None") {
            json(200, &table("40", NAMED, ROWS))
        } else if text.contains("limit=500") {
            json(200, &first_page())
        } else {
            let response = json(200, &names(""));
            for piece in response.as_bytes().chunks(response.len().div_ceil(3)) {
                // In small steps, so that the client reads what has arrived before its own timers expire.
                for _ in 0..pause.as_secs() {
                    sleep(Duration::from_secs(1)).await;
                }
                stream.write_all(piece).await?;
            }
            continue;
        };
        stream.write_all(response.as_bytes()).await?;
    }
}

// The paused clock advances whenever only the network is awaited.
#[tokio::test(start_paused = true)]
async fn slow_names_are_not_silence() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let pause = Duration::from_secs(35);
    let serving = tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(respond_slowly(stream, pause));
        }
    });
    let resource = pods(&url, Representation::Rows);
    let (found, end) = collect_all(&resource).await;
    assert_eq!(found, JOINED, "{:?}", resource.external_wait());
    assert!(end.is_ok(), "{end:?}");
    assert!(resource.external_wait() >= pause * 3, "{:?}", resource.external_wait());
    serving.abort();
}

#[tokio::test]
async fn single_page_takes_one_request() {
    let server = TestServer::start(|_| json(200, &table_with_metadata())).await;
    let (found, requests, end) = list_from(&server, Representation::Rows).await;
    assert_eq!(found, ["a/y 2", "b/z 3", "a/x 1"]);
    assert_eq!(requests, [PROBE]);
    assert!(end.is_ok());
}

#[tokio::test]
async fn partial_page_is_dropped_after_its_first_object() {
    let server = TestServer::start(|head| {
        if head.contains("limit=500") {
            let page = first_page();
            let (first, _) = page.split_once("}}},").expect("rows");
            return json(200, &format!("{first}}}}}}}, and no JSON from here on"));
        }
        if head.contains("includeObject=None") {
            return json(200, &table("40", NAMED, ROWS));
        }
        json(200, &names(""))
    })
    .await;
    let (found, requests, end) = list_from(&server, Representation::Rows).await;
    assert_eq!(found, JOINED);
    assert_eq!(requests, [PROBE, "", LATER]);
    assert!(end.is_ok(), "{end:?}");
}

#[tokio::test]
async fn page_with_a_late_continue_token_is_not_the_whole_list() {
    let server = TestServer::start(|head| {
        if head.contains("limit=500") {
            let rows = r#"{"cells":["y",2],"object":{"metadata":{"name":"y","namespace":"a"}}}"#;
            return json(
                200,
                &format!(
                    r#"{{"columnDefinitions":{NAMED},"rows":[{rows}],"metadata":{{"continue":"more"}}}}"#
                ),
            );
        }
        let rows = table("40", NAMED, ROWS);
        json(200, &if head.contains("includeObject=None") { rows } else { names("") })
    })
    .await;
    let (found, requests, _) = list_from(&server, Representation::Rows).await;
    assert_eq!(found, JOINED);
    assert_eq!(requests, [PROBE, "", LATER]);
}

#[tokio::test]
async fn server_that_ignores_the_limit_has_sent_all() {
    let row = |at: usize| {
        format!(r#"{{"cells":["x{at}",1],"object":{{"metadata":{{"name":"x{at}","namespace":"a"}}}}}}"#)
    };
    let rows: Vec<_> = (0..1200).map(row).collect();
    let server = TestServer::start(move |_| json(200, &table("40", NAMED, &rows.join(",")))).await;
    let (found, requests, end) = list_from(&server, Representation::Rows).await;
    assert_eq!((found.len(), found[1199].as_str()), (1200, "a/x1199 1"));
    assert_eq!(requests, [PROBE]);
    assert!(end.is_ok());
}

#[tokio::test]
async fn doubtful_rows_are_replaced_without_repeating_any() {
    let ok = |text: String| (200, text);
    let whole_list = ["a/y 2", "b/z 3", "a/x 1"];
    let exact = "?resourceVersion=40&resourceVersionMatch=Exact";
    for (case, names, rows, expected, last) in [
        ("refused", names(""), (410, EXPIRED.to_owned()), whole_list, ""),
        ("in pages", names("more"), ok(String::new()), whole_list, ""),
        ("of another version", names(""), ok(table("41", NAMED, ROWS)), whole_list, ""),
        ("without names", names(""), ok(table("40", r#"[{"name":"Name"}]"#, ROWS)), whole_list, ""),
        ("no list", names(""), ok("<html>".to_owned()), whole_list, ""),
        ("none", names(""), ok(table("40", NAMED, "")), whole_list, ""),
        ("too few", names(""), ok(table("40", NAMED, r#"{"cells":["x",1]}"#)), JOINED, exact),
        ("too many", names(""), ok(table("40", NAMED, &format!("{ROWS},{ROWS}"))), JOINED, exact),
        (
            "in another order",
            names(""),
            ok(table("40", NAMED, r#"{"cells":["x",1]},{"cells":["z",3]},{"cells":["y",2]}"#)),
            JOINED,
            exact,
        ),
    ] {
        let (found, requests, end) = list_all(Representation::Rows, names, always(rows.0, rows.1)).await;
        assert_eq!(found, expected, "{case}");
        assert_eq!(requests.last().map(String::as_str), Some(last), "{case}: {requests:?}");
        assert!(end.is_ok(), "{case}");
    }
}

// The paused clock advances whenever only the network is awaited.
#[tokio::test(start_paused = true)]
async fn endless_names_are_dropped() {
    let server = TestServer::start(|head| {
        if head.contains("as=PartialObjectMetadataList") {
            let headers = "Content-Type: application/json\r\nContent-Length: 9999\r\n\r\n";
            return format!("HTTP/1.1 200 OK\r\n{headers}{}", names(""));
        }
        let page = first_page();
        let all = table_with_metadata();
        json(200, if head.contains("limit=500") { &page } else { &all })
    })
    .await;
    let (found, requests, end) = list_from(&server, Representation::Rows).await;
    assert_eq!(found, ["a/y 2", "b/z 3", "a/x 1"]);
    assert_eq!(requests, [PROBE, "", ""]);
    assert!(end.is_ok(), "{end:?}");
}

#[tokio::test]
async fn server_without_tables_sends_objects() {
    for (representation, expected, age) in
        [(Representation::Rows, PROBE, "<unknown>"), (Representation::Names, "?includeObject=None", "")]
    {
        let server = TestServer::start(|_| json(200, &names(""))).await;
        let (found, requests, end) = list_from(&server, representation).await;
        assert_eq!(found, ["a/x", "a/y", "b/z"].map(|key| format!("{key} {age}")));
        assert_eq!(requests, [expected]);
        assert!(end.is_ok());
    }
}

#[tokio::test]
async fn names_come_from_the_name_cell_or_from_metadata() {
    let alone = always(200, table("40", NAMED, ROWS));
    let (found, requests, _) = list_all(Representation::Names, names(""), alone).await;
    assert_eq!(found, ["x ", "y ", "z "]);
    assert_eq!(requests, ["?includeObject=None"]);
    for (code, text) in
        [(200, table("40", r#"[{"name":"Name"}]"#, ROWS)), (410, EXPIRED.to_owned()), (200, "<html>".into())]
    {
        let (found, requests, end) = list_all(Representation::Names, names(""), always(code, text)).await;
        assert_eq!(found, ["a/x ", "a/y ", "b/z "]);
        assert_eq!(requests, ["?includeObject=None", ""]);
        assert!(end.is_ok());
    }
}

#[tokio::test]
async fn refusal_of_every_representation_is_returned_at_once() {
    let server = TestServer::start(|_| {
        with_headers(429, "Retry-After: 1\r\n", r#"{"kind":"Status","reason":"TooManyRequests"}"#)
    })
    .await;
    let client = Client::new(&Config::for_server(&server.url).expect("a config")).expect("a client");
    let nodes = ApiResource {
        group: String::new(),
        version: "v1".into(),
        resource: "nodes".into(),
        kind: "Node".into(),
        namespaced: false,
    };
    for representation in [Representation::Names, Representation::Rows] {
        let resource = ResourceClient::new(client.clone(), nodes.clone()).representation(representation);
        let error = resource.list(&ListOptions::default()).await.err().expect("a refusal");
        assert!(matches!(error, Error::TooManyRequests { .. }), "{error:?}");
    }
    assert_eq!(server.requests().len(), 2);
}
