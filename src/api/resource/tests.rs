//! Tests of lists and watches of one collection.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::client::test_server::{TestServer, json};
use crate::kubeconfig::Config;
use crate::listwatch::{ListStream, ResourceVersionMatch, WatchEvent, WatchStream};
use crate::wire::IncludeObject;
use crate::wire::protobuf::testing::field;

fn deployments() -> ApiResource {
    ApiResource {
        group: "apps".into(),
        version: "v1".into(),
        resource: "deployments".into(),
        kind: "Deployment".into(),
        namespaced: true,
    }
}

fn nodes() -> ApiResource {
    ApiResource {
        group: String::new(),
        version: "v1".into(),
        resource: "nodes".into(),
        kind: "Node".into(),
        namespaced: false,
    }
}

fn client(url: &str) -> Client {
    Client::new(&Config::for_server(url).expect("a config")).expect("a client")
}

/// A 200 whose body comes in these chunks, and ends or stays open.
fn chunked(chunks: &[&str], ended: bool) -> String {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
    let chunks = chunks.iter().map(|chunk| format!("{:x}\r\n{chunk}\r\n", chunk.len()));
    let response: String = std::iter::once(head.to_owned()).chain(chunks).collect();
    if ended { response + "0\r\n\r\n" } else { response }
}

/// Returns the target and the Accept header of a request.
fn seen(server: &TestServer) -> (String, String) {
    let head = server.requests().pop().expect("a request");
    let target = head.split(' ').nth(1).expect("a target").to_owned();
    let accept = head.lines().find_map(|line| line.strip_prefix("accept: ")).expect("an Accept header");
    (target, accept.to_owned())
}

#[test]
fn missing_watch_list_is_remembered_per_server_and_resource() {
    let client = client("http://127.0.0.1:1");
    let of = |resource: ApiResource| ResourceClient::new(client.clone(), resource);
    of(deployments()).namespace(Some("a".into())).disable_watch_list();
    assert!(!of(deployments()).namespace(Some("b".into())).supports_watch_list());
    assert!(of(nodes()).supports_watch_list());
}

#[tokio::test]
async fn list_options_become_query_parameters() {
    let server = TestServer::start(|_| json(200, r#"{"items":[]}"#)).await;
    let all = ResourceClient::new(client(&server.url), deployments());
    let some = all.clone().namespace(Some("shop".into())).label_selector("app in (a, b),x!=1");
    let first = ListOptions {
        limit: 500,
        resource_version: "7".into(),
        version_match: Some(ResourceVersionMatch::Exact),
        ..ListOptions::default()
    };
    let next = ListOptions { continue_token: "t/=".into(), ..first.clone() };
    for (resource, options, target) in [
        (&all, &ListOptions::default(), "/apis/apps/v1/deployments"),
        (
            &all,
            &ListOptions { resource_version: "0".into(), ..ListOptions::default() },
            "/apis/apps/v1/deployments?resourceVersion=0",
        ),
        (
            &some,
            &first,
            "/apis/apps/v1/namespaces/shop/deployments?labelSelector=app+in+%28a%2C+b%29%2Cx%21%3D1&limit=500&resourceVersion=7&resourceVersionMatch=Exact",
        ),
        // The version belongs to the first page only; the selectors to all.
        (
            &some,
            &next,
            "/apis/apps/v1/namespaces/shop/deployments?labelSelector=app+in+%28a%2C+b%29%2Cx%21%3D1&limit=500&continue=t%2F%3D",
        ),
        (
            &ResourceClient::new(client(&server.url), nodes())
                .namespace(Some("shop".into()))
                .representation(Representation::Table(IncludeObject::None)),
            &ListOptions::default(),
            "/api/v1/nodes?includeObject=None",
        ),
    ] {
        let mut list = resource.list(options).await.expect("a list");
        assert!(list.next().await.expect("a page").is_none());
        assert_eq!(seen(&server).0, target);
    }
}

#[tokio::test]
async fn watch_options_become_query_parameters() {
    let server = TestServer::start(|_| json(200, "")).await;
    let table = Representation::Table(IncludeObject::Object);
    let resource =
        ListWatch::from_client(client(&server.url), nodes(), "", "metadata.name=a").representation(table);
    let options = WatchOptions {
        resource_version: "7".into(),
        version_match: Some(ResourceVersionMatch::NotOlderThan),
        send_initial_events: true,
        allow_bookmarks: true,
        timeout: Some(Duration::from_millis(290_500)),
    };
    let mut watch = resource.watch(&options).await.expect("a watch");
    assert!(watch.next().await.is_none());
    let (target, accept) = seen(&server);
    assert_eq!(
        target,
        "/api/v1/nodes?includeObject=Object&watch=true&fieldSelector=metadata.name%3Da&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersion=7&resourceVersionMatch=NotOlderThan&timeoutSeconds=290"
    );
    assert_eq!(
        accept,
        "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json"
    );
    resource.watch(&WatchOptions::default()).await.expect("a watch");
    assert_eq!(
        seen(&server).0,
        "/api/v1/nodes?includeObject=Object&watch=true&fieldSelector=metadata.name%3Da"
    );
}

#[tokio::test]
async fn items_arrive_with_the_body_and_metadata_may_come_last() {
    let server = TestServer::start(|_| {
        chunked(
            &[
                r#"{"apiVersion":"v1","items":[{"metadata":{"name":"a"#,
                r#""}},{"metadata":{"name":"b"}}"#,
                r#"],"kind":"NodeList","metadata":{"continue":"t","resourceVersion":"9"}}"#,
            ],
            true,
        )
    })
    .await;
    let mut list = ResourceClient::new(client(&server.url), nodes())
        .list(&ListOptions::default())
        .await
        .expect("a list");
    let mut names = Vec::new();
    while let Some(object) = list.next().await.expect("an item") {
        names.push((object.name().to_owned(), object.type_meta().kind.clone()));
    }
    assert_eq!(names, [("a".into(), "Node".into()), ("b".into(), "Node".into())]);
    assert_eq!((&list.meta().resource_version, list.meta().continue_token.as_str()), (&"9".into(), "t"));
    assert!(list.next().await.expect("the end again").is_none());
}

/// In the order of servers; it allows requesting the next page early.
#[tokio::test]
async fn leading_metadata_is_available_with_the_first_item() {
    let server = TestServer::start(|_| {
        let head = r#"{"kind":"NodeList","apiVersion":"v1","metadata":{"resourceVersion":"9","continue":"t"},"items":[{"metadata":{"name":"a"}},"#;
        chunked(&[head], false)
    })
    .await;
    let nodes = ResourceClient::new(client(&server.url), nodes());
    let mut list = nodes.list(&ListOptions::default()).await.expect("a list");
    assert!(list.next().await.expect("an item").is_some());
    assert_eq!((&list.meta().resource_version, list.meta().continue_token.as_str()), (&"9".into(), "t"));
}

#[tokio::test]
async fn truncated_page_and_other_bodies_are_errors() {
    for (body, decode) in
        [(r#"{"items":[{"metadata":{"name":"a"}}"#, false), ("<html>log in</html>", true), ("{}", true)]
    {
        let server = TestServer::start(move |_| json(200, body)).await;
        let mut list = ResourceClient::new(client(&server.url), nodes())
            .list(&ListOptions::default())
            .await
            .expect("a list");
        let error = loop {
            match list.next().await {
                Ok(object) => assert!(object.is_some(), "{body}"),
                Err(error) => break error,
            }
        };
        assert_eq!(matches!(error, Error::Decode(_)), decode, "{error:?}");
        assert_eq!(matches!(error, Error::Transport(_)), !decode, "{error:?}");
    }
}

/// Returns the items of a list by name and kind, or its error.
async fn items_of(server: &TestServer, representation: Representation) -> Result<Vec<String>, Error> {
    let nodes = ResourceClient::new(client(&server.url), nodes()).representation(representation);
    let mut list = nodes.list(&ListOptions::default()).await?;
    let mut items = Vec::new();
    while let Some(object) = list.next().await? {
        items.push(format!("{} {}", object.type_meta().kind, object.name()));
    }
    Ok(items)
}

#[tokio::test]
async fn untyped_items_of_another_kind_are_refused() {
    let item = r#"{"metadata":{"name":"a"}}"#;
    for (list_type, expected) in [
        (r#""kind":"NodeList","apiVersion":"v1""#, Some("Node a")),
        (r#""kind":"NodeList","apiVersion":"v2""#, Some("Node a")),
        (r#""kind":"NodeList""#, Some("Node a")),
        (r#""kind":"List","apiVersion":"v1""#, Some("Node a")),
        (r#""kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1""#, Some("Node a")),
        (r#""kind":"Nodes","apiVersion":"v1""#, Some("Node a")),
        (r#""kind":null,"apiVersion":null"#, Some("Node a")),
        (r#""kind":"ServiceList","apiVersion":"v1""#, None),
        (r#""apiVersion":"v1","kind":"ServiceList""#, None),
        (r#""kind":"NodeList","apiVersion":"example.com/v1""#, None),
    ] {
        let body = format!(r#"{{{list_type},"metadata":{{"resourceVersion":"7"}},"items":[{item}]}}"#);
        let server = TestServer::start(move |_| json(200, &body)).await;
        for representation in [
            Representation::Objects,
            Representation::Metadata,
            Representation::Table(IncludeObject::Metadata),
        ] {
            let items = items_of(&server, representation).await;
            match expected {
                Some(expected) => assert_eq!(items.expect(list_type), [expected], "{representation:?}"),
                None => assert!(matches!(items, Err(Error::Decode(_))), "{list_type}: {items:?}"),
            }
        }
    }
}

#[tokio::test]
async fn items_with_their_own_type_keep_it() {
    let node = r#"{"apiVersion":"v1","kind":"Node","metadata":{"name":"a"}}"#;
    for body in [
        format!(r#"{{"apiVersion":"v1","kind":"NodesList","items":[{node}],"metadata":{{}}}}"#),
        format!(r#"{{"apiVersion":"v1","items":[{node}],"kind":"NodesList","metadata":{{}}}}"#),
    ] {
        let server = TestServer::start(move |_| json(200, &body)).await;
        assert_eq!(items_of(&server, Representation::Objects).await.expect("items"), ["Node a"]);
    }
}

/// A response in Protocol Buffers.
fn protobuf(body: &[u8]) -> Vec<u8> {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/vnd.kubernetes.protobuf\r\n";
    [format!("{head}Content-Length: {}\r\n\r\n", body.len()).as_bytes(), body].concat()
}

fn envelope(api_version: &str, kind: &str, message: &[u8]) -> Vec<u8> {
    let type_meta = [field(1, api_version.as_bytes()), field(2, kind.as_bytes())].concat();
    // As servers write it: two empty fields follow.
    [&b"k8s\0"[..], &field(1, &type_meta), &field(2, message), &field(3, b""), &field(4, b"")].concat()
}

#[tokio::test]
async fn protobuf_list_of_another_kind_is_refused() {
    let metadata = field(1, &[field(1, b"a"), field(6, b"7")].concat());
    let list = [field(1, &field(2, b"7")), field(2, &metadata)].concat();
    for (api_version, kind, expected) in [
        ("meta.k8s.io/v1", "PartialObjectMetadataList", true),
        ("v1", "NodeList", true),
        ("v1", "ServiceList", false),
    ] {
        let body = envelope(api_version, kind, &list);
        let server = TestServer::start(move |_| protobuf(&body)).await;
        let items = items_of(&server, Representation::Metadata).await;
        if expected {
            assert_eq!(items.expect(kind), ["Node a"]);
        } else {
            assert!(matches!(items, Err(Error::Decode(_))), "{kind}: {items:?}");
        }
    }
}

#[tokio::test]
async fn protobuf_events_carry_the_type_of_their_object() {
    let metadata = field(1, &[field(1, b"a"), field(6, b"7")].concat());
    for (api_version, kind, expected) in [
        ("meta.k8s.io/v1", "PartialObjectMetadata", "v1 Node"),
        ("v1", "Node", "v1 Node"),
        ("apps/v1", "Deployment", "apps/v1 Deployment"),
        ("v1", "Service", "v1 Service"),
    ] {
        let event =
            [field(1, b"ADDED"), field(2, &field(1, &envelope(api_version, kind, &metadata)))].concat();
        let body = [&u32::try_from(event.len()).expect("short").to_be_bytes()[..], &event].concat();
        let server = TestServer::start(move |_| protobuf(&body)).await;
        let nodes =
            ResourceClient::new(client(&server.url), nodes()).representation(Representation::Metadata);
        let mut watch = nodes.watch(&WatchOptions::default()).await.expect("a watch");
        let event = watch.next().await.expect("an event").expect("an object");
        let WatchEvent::Added(object) = event else { panic!("{event:?}") };
        let found = object.type_meta();
        assert_eq!(format!("{} {}", found.api_version, found.kind), expected);
    }
}

#[tokio::test]
async fn rows_become_objects() {
    let server = TestServer::start(|_| {
        json(200, r#"{"kind":"Table","metadata":{"resourceVersion":"9"},"columnDefinitions":[{"name":"Name","format":"name"},{"name":"Status"}],"rows":[{"cells":["a","Ready"],"object":{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"a","resourceVersion":"8"}}}]}"#)
    })
    .await;
    let resource = ResourceClient::new(client(&server.url), nodes())
        .representation(Representation::Table(IncludeObject::Metadata));
    let mut list = resource.list(&ListOptions::default()).await.expect("a list");
    let listed = list.next().await.expect("a row").expect("one");
    let single = resource.get_named("a").await.expect("a row");
    assert_eq!(seen(&server).0, "/api/v1/nodes/a");
    for object in [listed, single] {
        assert_eq!((object.name(), object.type_meta().kind.as_str()), ("a", "Node"));
        assert_eq!(object.row().expect("cells").cells().collect::<Vec<_>>(), ["a", "Ready"]);
    }
}

#[tokio::test]
async fn watch_returns_events_bookmarks_and_its_end() {
    let server = TestServer::start(|_| {
        chunked(
            &[
                r#"{"type":"ADDED","object":{"kind":"Node","apiVersion":"v1","metadata":{"name":"a","resourceVersion":"1"}}}"#,
                "\n{\"type\":\"MODI",
                "FIED\",\"object\":{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"2\"}}}\n{\"type\":\"DELETED\",\"object\":{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"3\"}}}\n",
                r#"{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"4","annotations":{"k8s.io/initial-events-end":"true"}}}}"#,
            ],
            true,
        )
    })
    .await;
    let mut watch = ResourceClient::new(client(&server.url), nodes())
        .watch(&WatchOptions::default())
        .await
        .expect("a watch");
    let mut seen = Vec::new();
    while let Some(event) = watch.next().await {
        seen.push(match event.expect("an event") {
            WatchEvent::Added(object) => format!("+{}", object.resource_version()),
            WatchEvent::Modified(object) => format!("~{}", object.resource_version()),
            WatchEvent::Deleted(object) => format!("-{}", object.resource_version()),
            WatchEvent::Bookmark { resource_version, initial_events_end } => {
                format!("={resource_version} {initial_events_end}")
            }
        });
    }
    assert_eq!(seen, ["+1", "~2", "-3", "=4 true"]);
}

#[tokio::test]
async fn watch_ends_with_its_first_error() {
    for (frames, expected) in [
        (
            r#"{"type":"ERROR","object":{"kind":"Status","reason":"Expired","code":410}}{"type":"ADDED"}"#,
            "Expired",
        ),
        (r#"{"type":"ODD","object":{}}"#, "Decode"),
        ("upstream error", "Decode"),
        (r#"{"type":"ADDED","object":{"metadata":{"na"#, "Transport"),
    ] {
        let server = TestServer::start(move |_| json(200, frames)).await;
        let mut watch = ResourceClient::new(client(&server.url), nodes())
            .watch(&WatchOptions::default())
            .await
            .expect("a watch");
        let error = watch.next().await.expect("an error").expect_err(frames);
        assert!(format!("{error:?}").starts_with(expected), "{frames}: {error:?}");
        assert!(watch.next().await.is_none());
    }
}

#[tokio::test]
async fn dropped_next_loses_no_event() {
    let server = TestServer::start(|_| {
        chunked(&[r#"{"type":"ADDED","object":{"metadata":{"name":"a"}}}{"type":"ADDED","object":{"#], false)
    })
    .await;
    let mut watch = ResourceClient::new(client(&server.url), nodes())
        .watch(&WatchOptions::default())
        .await
        .expect("a watch");
    let polled = AtomicUsize::new(0);
    // Polls once and drops, until there is an event.
    let event = loop {
        let once = futures_util::FutureExt::now_or_never(watch.next());
        polled.fetch_add(1, Ordering::Relaxed);
        match once {
            Some(event) => break event,
            None => tokio::task::yield_now().await,
        }
    };
    assert!(matches!(event, Some(Ok(WatchEvent::Added(_)))), "after {polled:?} polls: {event:?}");
    assert!(futures_util::FutureExt::now_or_never(watch.next()).is_none());
}

#[tokio::test]
async fn refusal_keeps_its_meaning() {
    let server = TestServer::start(|_| {
        json(404, r#"{"kind":"Status","message":"nodes \"x\" not found","reason":"NotFound","code":404}"#)
    })
    .await;
    let error =
        ResourceClient::new(client(&server.url), nodes()).get_named("x").await.expect_err("no such node");
    assert!(
        matches!(&error, Error::NotFound(status) if status.message == "nodes \"x\" not found"),
        "{error:?}"
    );
}

#[tokio::test]
async fn name_stays_within_its_path_segment() {
    let server = TestServer::start(|_| json(200, r#"{"metadata":{"name":"a"}}"#)).await;
    let resource = ResourceClient::new(client(&server.url), nodes());
    for name in ["", ".", "..", "a/b", "a%2fb"] {
        let error = resource.get_named(name).await.expect_err(name);
        assert!(matches!(&error, Error::Invalid(_)), "{error:?}");
    }
    assert!(server.requests().is_empty());
    resource.get_named("system:a b?c#d").await.expect("an object");
    assert_eq!(seen(&server).0, "/api/v1/nodes/system:a%20b%3Fc%23d");
    let elsewhere = ResourceClient::new(client(&server.url), deployments()).namespace(Some("..".into()));
    assert!(matches!(elsewhere.list(&ListOptions::default()).await, Err(Error::Invalid(_))));
}

#[tokio::test]
async fn subresource_of_a_named_object_is_requested() {
    let scale = r#"{"kind":"Scale","apiVersion":"autoscaling/v1","metadata":{"name":"a"}}"#;
    let server = TestServer::start(move |_| json(200, scale)).await;
    let of = |subresource: &str| {
        ResourceClient::new(client(&server.url), deployments())
            .namespace(Some("shop".into()))
            .subresource(Some(subresource.to_owned()))
    };
    let object = of("scale").get_named("a").await.expect("a scale");
    assert_eq!(object.type_meta().kind, "Scale");
    assert_eq!(seen(&server).0, "/apis/apps/v1/namespaces/shop/deployments/a/scale");
    of("").get_named("a").await.expect("an object");
    assert_eq!(seen(&server).0, "/apis/apps/v1/namespaces/shop/deployments/a");
    let error = of("a/b").get_named("a").await.expect_err("two segments");
    assert_eq!(error.to_string(), "invalid subresource \"a/b\": [may not contain '/']");
}

/// An HTTP URL parser takes a backslash for a slash, and drops tabs and newlines.
#[tokio::test]
async fn characters_special_to_url_parsers_are_encoded() {
    let server = TestServer::start(|_| json(200, r#"{"metadata":{"name":"a"}}"#)).await;
    let resource = ResourceClient::new(client(&format!("{}/base", server.url)), nodes());
    for (name, segment) in [
        ("a\\..\\..\\b", "a%5C..%5C..%5Cb"),
        (".\t.", ".%09."),
        ("a\nb", "a%0Ab"),
        ("ü@:,;=$&+", "%C3%BC@:,;=$&+"),
    ] {
        // The response has another name.
        let _ = resource.get_named(name).await;
        assert_eq!(seen(&server).0, format!("/base/api/v1/nodes/{segment}"), "{name:?}");
    }
    let namespace = "a\\..\\b".to_owned();
    let scoped = ResourceClient::new(client(&server.url), deployments()).namespace(Some(namespace));
    let _ = scoped.list(&ListOptions::default()).await;
    assert_eq!(seen(&server).0, "/apis/apps/v1/namespaces/a%5C..%5Cb/deployments");
}

#[tokio::test]
async fn resource_with_an_unusable_name_is_refused() {
    let server = TestServer::start(|_| json(200, r#"{"items":[]}"#)).await;
    let resources = [
        ApiResource { group: "../../../gr".into(), ..deployments() },
        ApiResource { version: "../v1".into(), ..deployments() },
        ApiResource { version: String::new(), ..nodes() },
        ApiResource { resource: "../../../../etc/passwd".into(), ..deployments() },
        ApiResource { resource: "%2e%2e".into(), ..deployments() },
    ];
    for resource in resources {
        let client = ResourceClient::new(client(&server.url), resource.clone());
        let listed = client.list(&ListOptions::default()).await.err();
        let watched = client.watch(&WatchOptions::default()).await.err();
        let one = client.get_named("a").await.err();
        for error in [listed, watched, one] {
            assert!(matches!(error, Some(Error::Invalid(_))), "{resource:?}: {error:?}");
        }
    }
    assert!(server.requests().is_empty(), "{:?}", server.requests());
}

#[tokio::test]
async fn objects_of_one_name_are_selected_by_name() {
    let server = TestServer::start(|_| json(200, r#"{"items":[]}"#)).await;
    let named = |name: &str| {
        let client = ResourceClient::new(client(&server.url), nodes()).field_selector("spec.x=y");
        client.named(Some(name.to_owned()))
    };
    named("a,b=\\c").list(&ListOptions::default()).await.expect("a list");
    assert_eq!(
        seen(&server).0,
        "/api/v1/nodes?fieldSelector=metadata.name%3Da%5C%2Cb%5C%3D%5C%5Cc%2Cspec.x%3Dy"
    );
    let request_count = server.requests().len();
    for name in ["", "..", "a/b", "a%b"] {
        assert!(matches!(named(name).list(&ListOptions::default()).await, Err(Error::Invalid(_))));
        assert!(matches!(named(name).watch(&WatchOptions::default()).await, Err(Error::Invalid(_))));
    }
    assert_eq!(server.requests().len(), request_count);
}
