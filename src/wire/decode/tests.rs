//! Tests of decoded objects, rows and events.

use crate::listwatch::{ListMeta, WatchEvent};
use crate::object::ApiResource;
use crate::wire::protobuf::testing::{field, frame as packed, frame_of, number};

use super::*;

fn decoder(representation: Representation) -> Decoder {
    let resource = ApiResource {
        group: String::new(),
        version: "v1".into(),
        resource: "configmaps".into(),
        kind: "ConfigMap".into(),
        namespaced: true,
    };
    let noon = || "2026-11-21T12:00:00Z".parse().expect("a time");
    Decoder::new(
        Ingest::of(resource.type_meta()),
        representation,
        "requested".into(),
        Naming::RequestedNamespace,
        noon,
    )
}

const TABLE: Representation = Representation::Table(IncludeObject::Metadata);
const COLUMNS: &str =
    r#"[{"name":"Name","format":"name","priority":0},{"name":"Data","format":"","priority":0}]"#;
const PARTIAL: &str = r#"{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"c1","namespace":"shop","resourceVersion":"209"}}"#;

fn table(columns: &str, cells: &str, object: &str, version: &str) -> String {
    format!(
        r#"{{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{{"resourceVersion":"{version}"}},"columnDefinitions":{columns},"rows":[{{"cells":{cells},"object":{object}}}]}}"#
    )
}

fn frame(event_type: &str, object: &str) -> String {
    format!(r#"{{"type":"{event_type}","object":{object}}}"#)
}

fn cells(object: &Object) -> Vec<&str> {
    object.row().expect("a row").cells().collect()
}

fn text(object: &Object) -> String {
    String::from_utf8(object.json().into_owned()).expect("UTF-8")
}

#[test]
fn event_of_an_unknown_type_is_an_error() {
    for event_type in ["RENAMED", "added", ""] {
        let event = decoder(Representation::Objects).frame(frame(event_type, PARTIAL).as_bytes());
        assert!(matches!(event, Err(Error::Decode(_))), "{event_type}: {event:?}");
    }
}

#[test]
fn partial_metadata_has_the_kind_of_the_resource() {
    let expected = r#"{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"c1","namespace":"shop","resourceVersion":"209"}}"#;
    let sorted = r#"{"apiVersion":"meta.k8s.io/v1","kind":"PartialObjectMetadata","metadata":{"name":"c1","namespace":"shop","resourceVersion":"209"}}"#;
    let bare = r#"{"metadata":{"name":"c1","namespace":"shop","resourceVersion":"209"}}"#;
    for representation in [Representation::Metadata, TABLE, Representation::Table(IncludeObject::Object)] {
        for given in [PARTIAL, sorted, bare, &sorted.replace(',', ",\n ")] {
            let object = decoder(representation).item(given.as_bytes()).expect("an object");
            assert_eq!(text(&object), expected, "{representation:?} {given}");
            assert_eq!(object.type_meta().kind, "ConfigMap");
        }
    }
}

#[test]
fn object_of_a_protobuf_event_has_the_type_of_its_envelope() {
    let object = field(1, &field(1, b"a"));
    for (kind, expected) in [
        ("PartialObjectMetadata", "v1 ConfigMap"),
        ("ConfigMap", "example.com/v1 ConfigMap"),
        ("Service", "example.com/v1 Service"),
    ] {
        let mut decoder = decoder(Representation::Metadata);
        for _ in 0..2 {
            let frame = frame_of("ADDED", "example.com/v1", kind, &object);
            let Ok(WatchEvent::Added(object)) = decoder.protobuf_frame(&frame) else { panic!("{kind}") };
            let found = object.type_meta();
            assert_eq!(format!("{} {}", found.api_version, found.kind), expected);
        }
        assert_eq!(decoder.ingest.type_meta.kind, "ConfigMap");
    }
}

#[test]
fn watched_table_has_columns_once_and_bookmarks_in_its_row() {
    let mut decoder = decoder(TABLE);
    let first = frame("ADDED", &table(COLUMNS, r#"["c1",1]"#, PARTIAL, "209"));
    let WatchEvent::Added(first) = decoder.frame(first.as_bytes()).expect("an event") else { panic!() };
    assert_eq!((&**first.key(), cells(&first)), ("shop/c1", vec!["c1", "1"]));
    assert_eq!(first.resource_version(), &"209".into());

    let second = frame("DELETED", &table("null", r#"["c1",2]"#, PARTIAL, "211"));
    let WatchEvent::Deleted(second) = decoder.frame(second.as_bytes()).expect("an event") else { panic!() };
    assert!(Arc::ptr_eq(second.row().expect("a row").columns(), first.row().expect("a row").columns()));

    let mark = r#"{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"212","annotations":{"k8s.io/initial-events-end":"true"}}}"#;
    for (object, end) in [(mark.to_owned(), true), (mark.replace(r#""true""#, r#""false""#), false)] {
        let mark = frame("BOOKMARK", &table("null", r#"["",0]"#, &object, "212"));
        match decoder.frame(mark.as_bytes()).expect("an event") {
            WatchEvent::Bookmark { resource_version, initial_events_end } => {
                assert_eq!((resource_version, initial_events_end), ("212".into(), end));
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn bookmark_without_object_has_its_tables_version() {
    let mut decoder = decoder(Representation::Table(IncludeObject::None));
    // The first event carries the columns, even if it is a bookmark: so a watch-list of no objects ends.
    let mark = frame("BOOKMARK", &table(COLUMNS, r#"["",0]"#, "null", "392"));
    let mark = decoder.frame(mark.as_bytes()).expect("an event");
    assert!(
        matches!(&mark, WatchEvent::Bookmark { resource_version, initial_events_end: false } if *resource_version == "392".into()),
        "{mark:?}"
    );
    let next = frame("ADDED", &table("null", r#"["c1",1]"#, "null", "393"));
    assert!(matches!(decoder.frame(next.as_bytes()), Ok(WatchEvent::Added(_))));
}

#[test]
fn row_without_object_has_its_cells_name_and_its_tables_version() {
    let mut decoder = decoder(Representation::Table(IncludeObject::None));
    let event = frame("ADDED", &table(COLUMNS, r#"["c1",1]"#, "null", "209"));
    let WatchEvent::Added(object) = decoder.frame(event.as_bytes()).expect("an event") else { panic!() };
    assert_eq!((&**object.key(), object.resource_version()), ("requested/c1", &"209".into()));
    assert!(object.json().is_empty());
    let listed = decoder.row(br#"{"cells":["c2",0],"object":null}"#).expect("a row");
    assert_eq!((&**listed.key(), listed.resource_version().is_unset()), ("requested/c2", true));
}

#[test]
fn row_before_its_columns_is_refused() {
    let event = frame("ADDED", &table("null", r#"["c1",1]"#, PARTIAL, "209"));
    assert!(matches!(decoder(TABLE).frame(event.as_bytes()), Err(Error::Decode(_))));
    assert!(matches!(decoder(TABLE).row(br#"{"cells":["c1"],"object":null}"#), Err(Error::Decode(_))));
}

#[test]
fn plain_object_instead_of_a_table_gets_name_and_age() {
    let json = r#"{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"c1","creationTimestamp":"2026-11-21T11:00:00Z"},"data":{}}"#;
    let mut decoder = decoder(TABLE);
    let listed = decoder.item(json.as_bytes()).expect("an object");
    let WatchEvent::Added(watched) = decoder.frame(frame("ADDED", json).as_bytes()).expect("an event") else {
        panic!()
    };
    for object in [listed, watched] {
        assert_eq!((cells(&object), text(&object).as_str()), (vec!["c1", "60m"], json));
        let names: Vec<_> =
            object.row().expect("a row").columns().iter().map(|column| column.name.clone()).collect();
        assert_eq!(names, ["Name", "Age"]);
    }
}

#[test]
fn events_decode_in_any_json_notation() {
    let object = r#"{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"c1"}}"#;
    for text in [
        frame("MODIFIED", object),
        format!("{{\n  \"type\": \"MODIFIED\",\n  \"object\": {object}\n}}"),
        format!(r#"{{"object":{object},"type":"MODIFIED"}}"#),
        format!(r#"{{"type":"MODIFIED","object":{object},"more":{{}}}}"#),
    ] {
        let event = decoder(Representation::Objects).frame(text.as_bytes()).expect(&text);
        assert!(matches!(event, WatchEvent::Modified(object) if object.name() == "c1"), "{text}");
    }
}

#[test]
fn plain_rows_decode_like_others() {
    let object = r#"{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"c1","namespace":"shop"}}"#;
    let all_of = |object: &Object| {
        format!("{object:?} {:?} {}", object.row().map(|row| row.cells().collect::<Vec<_>>()), text(object))
    };
    for (include, object) in [(IncludeObject::Metadata, PARTIAL), (IncludeObject::Object, object)] {
        let line = format!(r#"{{"cells":["c]\"1",1,null],"object":{object}}}"#);
        let mut decoder = decoder(Representation::Table(include));
        assert!(decoder.plain_row(line.as_bytes()).is_none(), "there are no columns yet");
        decoder.columns(COLUMNS.as_bytes()).expect("columns");
        assert!(decoder.plain_row(line.as_bytes()).is_some(), "{line}");
        for at in 0..=line.len() {
            let others = ["{", "}", "[", "]", "\"", ",", ":", "\\", "1", " ", "null"];
            let damaged = others.map(|other| [&line[..at], other, &line[at..]].concat());
            let shorter = [&line[..at], &line[(at + 1).min(line.len())..]].concat();
            for line in damaged.iter().chain([&shorter, &line]) {
                let Some(object) = decoder.plain_row(line.as_bytes()) else { continue };
                let expected = decoder.any_row(line.as_bytes()).expect(line);
                assert_eq!(all_of(&object), all_of(&expected), "{line}");
            }
        }
    }
}

/// Formats all of an event.
fn reported(event: &WatchEvent) -> String {
    match event {
        WatchEvent::Added(object) | WatchEvent::Modified(object) | WatchEvent::Deleted(object) => {
            let row = object.row().map(|row| row.cells().collect::<Vec<_>>());
            let kind = std::mem::discriminant(event);
            format!("{kind:?} {object:?} {row:?} {}", text(object))
        }
        mark @ WatchEvent::Bookmark { .. } => format!("{mark:?}"),
    }
}

#[test]
fn plain_lines_decode_like_frames() {
    let object = r#"{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"c1","namespace":"shop"}}"#;
    let cells = r#"["c]\"1",1,null]"#;
    for (representation, line) in [
        (Representation::Objects, frame("ADDED", object)),
        (Representation::Metadata, frame("DELETED", PARTIAL)),
        (TABLE, frame("MODIFIED", &table("null", cells, PARTIAL, "209"))),
        (Representation::Table(IncludeObject::Object), frame("ADDED", &table("null", cells, object, "209"))),
    ] {
        let mut decoder = decoder(representation);
        if matches!(representation, Representation::Table(_)) {
            assert!(decoder.plain_frame(line.as_bytes()).is_none(), "there are no columns yet");
        }
        decoder.columns(COLUMNS.as_bytes()).expect("columns");
        assert!(decoder.plain_frame(line.as_bytes()).is_some(), "{line}");
        for at in 0..=line.len() {
            let others = ["{", "}", "[", "]", "\"", ",", ":", "\\", "1", " ", "null"];
            let damaged = others.map(|other| [&line[..at], other, &line[at..]].concat());
            let shorter = [&line[..at], &line[(at + 1).min(line.len())..]].concat();
            for line in damaged.iter().chain([&shorter, &line]) {
                let Some(event) = decoder.plain_frame(line.as_bytes()) else { continue };
                let expected = decoder.frame(line.as_bytes()).expect(line);
                assert_eq!(reported(&event), reported(&expected), "{line}");
            }
        }
    }
}

#[test]
fn lines_without_row_and_object_are_not_plain() {
    let mut decoder = decoder(TABLE);
    decoder.columns(COLUMNS.as_bytes()).expect("columns");
    for line in [
        frame("ADDED", &table(COLUMNS, r#"["c1",1]"#, PARTIAL, "209")),
        frame("BOOKMARK", &table("null", r#"["",0]"#, PARTIAL, "212")),
        frame("ADDED", &table("null", r#"["c1",1]"#, "null", "209")),
        frame("ADDED", &table("null", r#""c1""#, PARTIAL, "209")),
        frame("ADDED", &table("null", r#"["c1",[1]]"#, PARTIAL, "209")),
        frame("ADDED", PARTIAL),
    ] {
        assert!(decoder.plain_frame(line.as_bytes()).is_none(), "{line}");
    }
}

#[test]
fn plain_bookmarks_carry_a_version() {
    let mark = |annotations: &str| {
        let object = format!(
            r#"{{"kind":"ConfigMap","apiVersion":"v1","metadata":{{"resourceVersion":"12","creationTimestamp":null{annotations}}}}}"#
        );
        match decoder(Representation::Objects).frame(frame("BOOKMARK", &object).as_bytes()) {
            Ok(WatchEvent::Bookmark { resource_version, initial_events_end }) => {
                (resource_version.to_string(), initial_events_end)
            }
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(mark(""), ("12".into(), false));
    assert_eq!(mark(r#","annotations":{"k8s.io/initial-events-end":"true"}"#), ("12".into(), true));
    // A value other than `true` means that it is not the end.
    assert_eq!(mark(r#","annotations":{"k8s.io/initial-events-end":"false"}"#), ("12".into(), false));
    let none = frame("BOOKMARK", r#"{"metadata":{}}"#);
    assert!(matches!(decoder(Representation::Objects).frame(none.as_bytes()), Err(Error::Decode(_))));
}

#[test]
fn error_frame_becomes_its_error() {
    let gone = r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"too old resource version: 1 (5)","reason":"Expired","code":410}"#;
    for representation in [Representation::Objects, Representation::Metadata, TABLE] {
        let error = decoder(representation).frame(frame("ERROR", gone).as_bytes()).expect_err("an error");
        assert!(matches!(&error, Error::Expired(status) if status.json == gone), "{error:?}");
    }
}

#[test]
fn errors_do_not_repeat_their_input() {
    for json in [
        r#"{"metadata":"s3cret"}"#,
        r#"{"metadata":{"name":"a"},"x":s3cret}"#,
        r#"{"s3cret":{}}"#,
        r#"{"kind":["s3cret"],"metadata":{"name":"a"}}"#,
    ] {
        for representation in [Representation::Objects, TABLE, Representation::Metadata] {
            for frame in
                [frame("ADDED", json), frame("BOOKMARK", json), frame("ERROR", json), frame("s3cret", "{}")]
            {
                let error = decoder(representation).frame(frame.as_bytes()).expect_err(&frame);
                assert!(
                    matches!(error, Error::Decode(_)) && !error.to_string().contains("s3cret"),
                    "{error}"
                );
            }
        }
    }
}

#[test]
fn protobuf_events_equal_json_events() {
    let mut decoder = decoder(Representation::Metadata);
    let object = field(1, &[field(1, b"c1"), field(3, b"shop"), field(6, b"209")].concat());
    for event_type in ["ADDED", "MODIFIED", "DELETED"] {
        let event = decoder.protobuf_frame(&packed(event_type, &object)).expect("an event");
        let (reported, object) = match event {
            WatchEvent::Added(object) => ("ADDED", object),
            WatchEvent::Modified(object) => ("MODIFIED", object),
            WatchEvent::Deleted(object) => ("DELETED", object),
            other @ WatchEvent::Bookmark { .. } => panic!("{other:?}"),
        };
        assert_eq!((reported, &**object.key()), (event_type, "shop/c1"));
        assert_eq!(object.resource_version(), &"209".into());
        assert_eq!(object.type_meta().kind, "ConfigMap");
    }
    let mark = field(1, &field(6, b"392"));
    assert!(matches!(
        decoder.protobuf_frame(&packed("BOOKMARK", &mark)),
        Ok(WatchEvent::Bookmark { resource_version, initial_events_end: false }) if resource_version == "392".into()
    ));
    let gone = [field(2, b"Failure"), field(3, b"too old"), field(4, b"Expired"), number(6, 410)].concat();
    let error = decoder.protobuf_frame(&packed("ERROR", &gone)).expect_err("an error");
    assert!(matches!(&error, Error::Expired(status) if status.message == "too old"), "{error:?}");
    for broken in [packed("RENAMED", &object), packed("BOOKMARK", b""), packed("ADDED", b""), b"{}".to_vec()]
    {
        assert!(matches!(decoder.protobuf_frame(&broken), Err(Error::Decode(_))));
    }
}

#[test]
fn protobuf_object_has_nothing_of_the_previous_one() {
    let mut decoder = decoder(Representation::Metadata);
    let note = [field(1, b"note"), field(2, &vec![b'x'; KEPT_CAPACITY])].concat();
    let large = field(1, &[field(1, b"large"), field(12, &note)].concat());
    let nameless = field(1, &field(3, b"shop"));
    let cut = &large[..large.len() - 1];
    for before in [&large[..], &nameless, cut] {
        let _read_or_refused = decoder.protobuf_item(before);
        let object = decoder.protobuf_item(&field(1, &field(1, b"c1"))).expect("an object");
        assert_eq!(text(&object), r#"{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"c1"}}"#);
        assert!(decoder.buffer.capacity() <= KEPT_CAPACITY);
    }
}

#[test]
fn list_metadata_has_version_and_token() {
    let meta =
        list_meta(br#"{"resourceVersion":"17","continue":"abc","remainingItemCount":3}"#).expect("metadata");
    assert_eq!((meta.resource_version, meta.continue_token.as_str()), ("17".into(), "abc"));
    assert_eq!(list_meta(b"{}").expect("metadata"), ListMeta::default());
    assert_eq!(list_meta(b"null").expect("metadata"), ListMeta::default());
}
