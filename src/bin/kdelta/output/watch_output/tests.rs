//! Tests of the rows and documents of changes.

use std::sync::Arc;

use jiff::tz::TimeZone;
use kdelta::lines::{Change, ChangeKind};
use kdelta::object::{ApiResource, Column, Ingest, Object, Origin, Row};

use super::{RowOptions, WatchOutput};
use crate::output::{ChangeForm, ChangeOptions};
use crate::view::{Details, Layout, RowTimes, TimeForm};

fn change(kind: ChangeKind, plural: &str, cells: &[&str]) -> Change {
    let resource = Arc::new(ApiResource {
        group: String::new(),
        version: "v1".into(),
        resource: plural.into(),
        kind: "Pod".into(),
        namespaced: true,
    });
    let column = |name: &str| Column { name: name.into(), format: String::new(), priority: 0 };
    let columns: Arc<[Column]> = ["Name", "Status", "Age"].into_iter().map(column).collect();
    let json = br#"{"metadata":{"name":"a","namespace":"shop","creationTimestamp":"2026-11-21T09:00:00Z"}}"#;
    let object = Object::from_json(json, &Ingest::of(resource.type_meta())).expect("a pod");
    Change {
        kind,
        object: Arc::new(object.with_row(Row::new(columns, cells))),
        old: None,
        origin: Origin::Watch,
        final_state_unknown: false,
        resource,
        context: "".into(),
        received: "2026-11-21T10:30:00Z".parse().expect("a time"),
    }
}

#[test]
fn event_column_is_first_and_widths_are_kept() {
    let layout = Layout { event: true, ..Layout::default() };
    let (mut stream, mut out) = (WatchOutput::table(layout, true, false, RowOptions::default()), Vec::new());
    for (kind, name) in [(ChangeKind::Added, "web-1"), (ChangeKind::Modified, "web-1")] {
        stream.change(&change(kind, "pods", &[name, "Pending", "1s"]), None, &mut out).expect("fine");
    }
    assert_eq!(out, b"");
    stream.flush(&mut out).expect("fine");
    stream
        .change(&change(ChangeKind::Deleted, "pods", &["x", "Running", "3s"]), None, &mut out)
        .expect("fine");
    stream.flush(&mut out).expect("fine");
    assert_eq!(
        String::from_utf8(out).expect("text"),
        "EVENT      NAME    STATUS    AGE\n\
         ADDED      web-1   Pending   1s\n\
         MODIFIED   web-1   Pending   1s\n\
         DELETED    x       Running   3s\n"
    );
}

#[test]
fn inferred_delete_shows_current_age() {
    let gone =
        Change { final_state_unknown: true, ..change(ChangeKind::Deleted, "pods", &["a", "Running", "3s"]) };
    let mut stream = WatchOutput::table(Layout::default(), false, false, RowOptions::default());
    let mut out = Vec::new();
    stream.change(&gone, None, &mut out).expect("fine");
    stream.flush(&mut out).expect("fine");
    assert_eq!(String::from_utf8(out).expect("text"), "a     Running   90m\n");
}

fn update(from: &[&str], to: &[&str]) -> Change {
    Change {
        old: Some(change(ChangeKind::Added, "pods", from).object),
        ..change(ChangeKind::Modified, "pods", to)
    }
}

fn rows(options: RowOptions, change: &Change) -> (bool, String) {
    let (mut stream, mut out) = (WatchOutput::table(Layout::default(), false, false, options), Vec::new());
    let printed = stream.change(change, None, &mut out).expect("fine");
    stream.flush(&mut out).expect("fine");
    (printed, String::from_utf8(out).expect("text"))
}

#[test]
fn unchanged_row_is_suppressed_by_default() {
    let beat = update(&["a", "Ready", "1s"], &["a", "Ready", "9s"]);
    assert_eq!(rows(RowOptions::default(), &beat), (false, String::new()));
    let all = RowOptions { all: true, ..RowOptions::default() };
    assert_eq!(rows(all, &beat), (true, "a     Ready   9s\n".into()));
    let unknown = Change { old: None, ..beat };
    assert!(rows(RowOptions::default(), &unknown).0, "the old row is unknown");
    assert!(rows(RowOptions::default(), &update(&["a", "Ready", "1s"], &["a", "Gone", "9s"])).0);
}

#[test]
fn changed_fields_are_printed_below_row() {
    let ingest = Ingest::of(change(ChangeKind::Added, "pods", &[]).resource.type_meta());
    let json = br#"{"metadata":{"name":"a"},"spec":{"x":"a\tb"}}"#;
    let object = Object::from_json(json, &ingest).expect("a pod");
    let shown = update(&["a", "Ready", "1s"], &["a", "Ready", "1s"]);
    let row = shown.object.row().expect("a row").clone();
    let shown = Change { object: Arc::new(object.with_row(row)), ..shown };
    let details = Details { noise: false, secrets: false };
    let changes = Some(ChangeOptions { form: ChangeForm::Inline, details });
    let (printed, text) = rows(RowOptions { changes, ..RowOptions::default() }, &shown);
    assert!(printed);
    assert!(text.starts_with("a     Ready   1s\n  - metadata.namespace: shop\n"), "{text}");
    assert!(text.ends_with("\n  + spec: {\"x\":\"a\\tb\"}\n"), "{text}");
}

#[test]
fn times_of_printed_rows_are_in_front() {
    let started = "2026-11-21T10:29:59Z".parse().expect("a time");
    let times = RowTimes::new(TimeForm::Delta, TimeZone::UTC, started);
    let options = RowOptions { times: Some(times), ..RowOptions::default() };
    let mut stream = WatchOutput::table(Layout::default(), true, false, options);
    let mut out = Vec::new();
    let beat = update(&["a", "Ready", "1s"], &["a", "Ready", "9s"]);
    let later = beat.received + jiff::SignedDuration::from_secs(2);
    for change in [
        change(ChangeKind::Added, "pods", &["a", "Ready", "1s"]),
        Change { received: later, ..beat },
        Change { received: later, ..change(ChangeKind::Deleted, "pods", &["a", "Ready", "9s"]) },
    ] {
        stream.change(&change, None, &mut out).expect("fine");
    }
    stream.flush(&mut out).expect("fine");
    assert_eq!(
        String::from_utf8(out).expect("text"),
        "DELTA     NAME   STATUS   AGE\n+1.000s   a      Ready    1s\n+2.000s   a      Ready    9s\n"
    );
}

#[test]
fn end_of_initial_state_is_marked_once_there_is_more_or_nothing() {
    for (marks_sync, objects, ends, expected) in [
        (true, 3, false, "── synced, 3 objects ──\n"),
        (true, 1, false, "── synced, 1 object ──\n"),
        (true, 0, false, "synced, 0 objects\n"),
        (true, 0, true, "synced, 0 objects\n"),
        (true, 3, true, ""),
        (false, 0, false, ""),
    ] {
        let options = RowOptions { marks_sync, ..RowOptions::default() };
        let mut stream = WatchOutput::table(Layout::default(), true, false, options);
        let mut out = Vec::new();
        stream.mark_initial_state(objects, ends);
        stream.flush(&mut out).expect("fine");
        assert_eq!(String::from_utf8(out).expect("text"), expected, "{marks_sync} {objects} {ends}");
    }
}

// kubectl get -w --output-watch-events -o yaml
#[test]
fn yaml_document_has_event_type() {
    let (mut stream, mut out) = (WatchOutput::yaml(false), Vec::new());
    for kind in [ChangeKind::Added, ChangeKind::Deleted] {
        stream.change(&change(kind, "pods", &[]), None, &mut out).expect("fine");
    }
    let document = |kind| {
        format!(
            "object:\n  apiVersion: v1\n  kind: Pod\n  metadata:\n    creationTimestamp: \"2026-11-21T09:00:00Z\"\n    name: a\n    namespace: shop\ntype: {kind}\n"
        )
    };
    assert_eq!(
        String::from_utf8(out).expect("text"),
        format!("{}---\n{}", document("ADDED"), document("DELETED"))
    );
}
