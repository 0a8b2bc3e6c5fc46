//! Tests of columns, headings and cells.

use kdelta::object::{Ingest, Row};

use super::*;

fn pods() -> Arc<ApiResource> {
    Arc::new(ApiResource {
        group: String::new(),
        version: "v1".into(),
        resource: "pods".into(),
        kind: "Pod".into(),
        namespaced: true,
    })
}

fn as_sent() -> Age {
    Age::AsSent { now: jiff::Timestamp::UNIX_EPOCH }
}

fn columns() -> Arc<[Column]> {
    let column =
        |name: &str, format: &str, priority| Column { name: name.into(), format: format.into(), priority };
    Arc::new([column("Name", "name", 0), column("Status", "", 0), column("Age", "", 0), column("IP", "", 1)])
}

fn pod() -> Object {
    let json = br#"{"metadata":{"name":"web-1","namespace":"shop","creationTimestamp":"2026-11-21T10:00:00Z","labels":{"tier":"front","app.x/name":"web"}}}"#;
    let object = Object::from_json(json, &Ingest::of(pods().type_meta())).expect("a pod");
    object.with_row(Row::new(columns(), ["web-1", "Running", "5m", "10.0.0.7"]))
}

fn shown(layout: &Layout, object: &Object, age: Age) -> (Vec<String>, Vec<String>) {
    let line = layout.line(object, (&pods(), ""), Some(ChangeKind::Added), age, Cells::default());
    let headings = layout.headings(&line.columns, &line.resource);
    (headings, line.cells.iter().map(str::to_owned).collect())
}

#[test]
fn server_columns_of_priority_0_are_shown() {
    let (headings, cells) = shown(&Layout::default(), &pod(), as_sent());
    assert_eq!(headings, ["NAME", "STATUS", "AGE"]);
    assert_eq!(cells, ["web-1", "Running", "5m"]);
}

#[test]
fn optional_columns_are_in_order() {
    let layout = Layout {
        wide: true,
        context: false,
        event: true,
        namespace: NamespaceColumn::Namespaced,
        kind: KindPrefix::Always,
        shared: false,
        labels: vec!["app.x/name".into(), "none".into()],
        show_labels: true,
    };
    let (headings, cells) = shown(&layout, &pod(), as_sent());
    assert_eq!(headings, ["EVENT", "NAMESPACE", "NAME", "STATUS", "AGE", "IP", "NAME", "NONE", "LABELS"]);
    assert_eq!(
        cells,
        [
            "ADDED   ",
            "shop",
            "pod/web-1",
            "Running",
            "5m",
            "10.0.0.7",
            "web",
            "",
            "app.x/name=web,tier=front"
        ]
    );
}

#[test]
fn event_column_has_fixed_width() {
    for kind in [ChangeKind::Added, ChangeKind::Modified, ChangeKind::Deleted, ChangeKind::Sync] {
        assert_eq!(padded(kind), format!("{:<8}", kind.as_str()));
    }
}

#[test]
fn context_column_is_first() {
    let layout = Layout { context: true, event: true, ..Layout::default() };
    let used = ["of", "another", "line"].into_iter().collect();
    let line = layout.line(&pod(), (&pods(), "prod"), Some(ChangeKind::Added), as_sent(), used);
    assert_eq!(layout.headings(&line.columns, &pods())[..3], ["CONTEXT", "EVENT", "NAME"]);
    assert_eq!(line.cells.iter().take(3).collect::<Vec<_>>(), ["prod", "ADDED   ", "web-1"]);
}

#[test]
fn cells_are_empty_without_metadata() {
    let layout = Layout {
        namespace: NamespaceColumn::Namespaced,
        labels: vec!["a".into()],
        show_labels: true,
        ..Layout::default()
    };
    let bare = Object::named(pods().type_meta(), "", "web-1")
        .with_row(Row::new(columns(), ["web-1", "Running", "5m", "10.0.0.7"]));
    assert_eq!(shown(&layout, &bare, as_sent()).1, ["", "web-1", "Running", "5m", "", ""]);
    let unlabelled = Object::from_json(br#"{"metadata":{"name":"x"}}"#, &Ingest::of(pods().type_meta()));
    let unlabelled = unlabelled.expect("a pod").with_row(Row::new(columns(), ["x", "", "", ""]));
    assert_eq!(shown(&layout, &unlabelled, as_sent()).1, ["", "x", "", "", "", "<none>"]);
}

#[test]
fn kept_age_is_recomputed() {
    let noon: jiff::Timestamp = "2026-11-21T12:30:00Z".parse().expect("a time");
    assert_eq!(shown(&Layout::default(), &pod(), Age::Fresh { now: noon }).1, ["web-1", "Running", "150m"]);
    let bare = Object::named(pods().type_meta(), "", "x").with_row(Row::new(columns(), ["x", "", "5m"]));
    assert_eq!(shown(&Layout::default(), &bare, Age::Fresh { now: noon }).1, ["x", "", "5m"]);
}

#[test]
fn object_without_cells_shows_name_and_age() {
    let json = br#"{"metadata":{"name":"x","creationTimestamp":"2026-11-21T10:00:00Z"}}"#;
    let object = Object::from_json(json, &Ingest::of(pods().type_meta())).expect("an object");
    let noon: jiff::Timestamp = "2026-11-21T12:00:00Z".parse().expect("a time");
    let (headings, cells) = shown(&Layout::default(), &object, Age::Fresh { now: noon });
    assert_eq!((headings, cells), (vec!["NAME".into(), "AGE".into()], vec!["x".into(), "120m".into()]));
}

#[test]
fn extra_cells_are_ignored_and_missing_cells_stay_missing() {
    let long = pod().with_row(Row::new(columns(), ["a", "b", "c", "d", "e", "f"]));
    assert_eq!(shown(&Layout::default(), &long, as_sent()).1, ["a", "b", "c"]);
    let short = pod().with_row(Row::new(columns(), ["a"]));
    assert_eq!(shown(&Layout::default(), &short, as_sent()).1, ["a"]);
}

#[test]
fn rows_of_several_kinds_share_one_header() {
    let layout = Layout {
        shared: true,
        event: true,
        namespace: NamespaceColumn::Namespaced,
        labels: vec!["app".into()],
        show_labels: true,
        ..Layout::default()
    };
    let node = ApiResource { kind: "Node".into(), namespaced: false, ..(*pods()).clone() };
    let headings =
        ["EVENT", "NAMESPACE", "KIND", "NAME", "READY", "STATUS", "AGE", "APP", "LABELS", "DETAILS"];
    assert_eq!(shown(&layout, &pod(), as_sent()).0, headings);
    assert_eq!(layout.headings(&columns(), &node), headings);
    let cells = shown(&Layout { wide: true, ..layout }, &pod(), as_sent()).1;
    assert_eq!(cells[2..7], ["Pod", "web-1", "", "Running", "5m"]);
    assert_eq!(cells.last().map(String::as_str), Some("ip: 10.0.0.7"));
}

#[test]
fn cells_are_escaped() {
    let evil = pod().with_row(Row::new(columns(), ["\x1b[2Jx", "first\nsecond", "1d"]));
    assert_eq!(shown(&Layout::default(), &evil, as_sent()).1, ["^[[2Jx", "first...", "1d"]);
}
