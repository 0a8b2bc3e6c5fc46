//! Lines of each kind, compared with the schema, and read again.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use proptest::prelude::*;
use serde_json::json;

use crate::listwatch::Status;
use crate::object::{ApiResource, Ingest, Object, Origin, ResourceVersion};

use super::model::{Change, ChangeKind, Mark, MarkKind};
use super::{FIELDS, Line, LineOptions, LineWriter};

fn deployments() -> Arc<ApiResource> {
    Arc::new(ApiResource {
        group: "apps".into(),
        version: "v1".into(),
        resource: "deployments".into(),
        kind: "Deployment".into(),
        namespaced: true,
    })
}

fn object(json: &str) -> Arc<Object> {
    Arc::new(Object::from_json(json.as_bytes(), &Ingest::of(deployments().type_meta())).expect("an object"))
}

fn change(kind: ChangeKind) -> Change {
    Change {
        kind,
        object: object(
            r#"{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"web","namespace":"shop","uid":"u-1","resourceVersion":"17"},"z":1.50,"a":"<\u003c"}"#,
        ),
        old: None,
        origin: Origin::Watch,
        final_state_unknown: false,
        resource: deployments(),
        context: "prod".into(),
        received: "2026-11-21T10:00:00.0123456Z".parse().expect("a time"),
    }
}

fn mark(kind: MarkKind) -> Mark {
    Mark {
        kind,
        resource: deployments(),
        context: "prod".into(),
        namespace: "".into(),
        name: None,
        received: "2026-11-21T10:00:00Z".parse().expect("a time"),
    }
}

#[test]
fn delta_is_one_line_with_original_object() {
    let mut out = Vec::new();
    let resume = ResourceVersion::new("17");
    LineWriter::default().change(&change(ChangeKind::Modified), Some(&resume), &mut out);
    assert_eq!(
        String::from_utf8(out).expect("text"),
        concat!(
            r#"{"v":1,"seq":1,"ts":"2026-11-21T10:00:00.012Z","type":"MODIFIED","origin":"watch","resume":"17","#,
            r#""context":"prod","group":"apps","version":"v1","kind":"Deployment","resource":"deployments","#,
            r#""namespace":"shop","name":"web","uid":"u-1","resourceVersion":"17","#,
            r#""object":{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"web","namespace":"shop","uid":"u-1","resourceVersion":"17"},"z":1.50,"a":"<\u003c"}}"#,
            "\n"
        )
    );
}

#[test]
fn inferred_delete_is_marked() {
    let mut out = Vec::new();
    let gone = Change { final_state_unknown: true, origin: Origin::Relist, ..change(ChangeKind::Deleted) };
    LineWriter::default().change(&gone, None, &mut out);
    let text = String::from_utf8(out).expect("text");
    assert!(text.contains(r#""type":"DELETED","origin":"relist","context""#), "{text}");
    assert!(text.ends_with("},\"finalStateUnknown\":true}\n"), "{text}");
}

fn update() -> Change {
    let old = r#"{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"web","namespace":"shop","uid":"u-1","resourceVersion":"9"},"z":1.5,"b/c":["x"]}"#;
    Change { old: Some(object(old)), ..change(ChangeKind::Modified) }
}

fn line_of(options: LineOptions, change: &Change) -> String {
    let mut out = Vec::new();
    LineWriter::new(options).change(change, None, &mut out);
    String::from_utf8(out).expect("text")
}

#[test]
fn old_state_and_changes_are_optional() {
    let options = LineOptions { old: true, changes: true, ..LineOptions::default() };
    let text = line_of(options.clone(), &update());
    assert!(
        text.ends_with(concat!(
            r#""old":{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"web","namespace":"shop","uid":"u-1","resourceVersion":"9"},"z":1.5,"b/c":["x"]},"#,
            r#""changes":[{"op":"remove","path":"/b~1c","old":["x"]},{"op":"add","path":"/a","new":"<\u003c"}]}"#,
            "\n"
        )),
        "{text}"
    );
    for other in [
        line_of(LineOptions::default(), &update()),
        line_of(options.clone(), &change(ChangeKind::Modified)),
        line_of(options, &Change { kind: ChangeKind::Sync, ..update() }),
    ] {
        assert!(!other.contains("\"old\"") && !other.contains("changes"), "{other}");
    }
}

/// Returns an update whose managedFields name its manager.
fn managed_update() -> Change {
    let ingest = Ingest { record_manager: true, ..Ingest::of(deployments().type_meta()) };
    let state = |time: &str| {
        let fields = format!(
            r#"[{{"manager":"kubectl \"x\"","time":"{time}"}},{{"manager":"helm","time":"{time}"}}]"#
        );
        let json = format!(r#"{{"metadata":{{"name":"web","managedFields":{fields}}}}}"#);
        Arc::new(Object::from_json(json.as_bytes(), &ingest).expect("an object"))
    };
    let (old, new) = (state("2026-11-21T09:00:00Z"), state("2026-11-21T10:00:01Z"));
    Change { object: new, old: Some(old), ..change(ChangeKind::Modified) }
}

#[test]
fn manager_is_named_on_updates_that_it_made() {
    let update = managed_update();
    let text = line_of(LineOptions::default(), &update);
    assert!(text.ends_with("}},\"manager\":\"helm\"}\n"), "{text}");
    let fields = Some(vec!["manager".to_owned(), "type".to_owned()]);
    let selected = LineOptions { fields, ..LineOptions::default() };
    assert_eq!(line_of(selected, &update), "{\"type\":\"MODIFIED\",\"manager\":\"helm\"}\n");
    for other in [
        Change { old: Some(Arc::clone(&update.object)), ..update.clone() },
        Change { old: None, ..update.clone() },
        Change { kind: ChangeKind::Deleted, ..update.clone() },
    ] {
        let text = line_of(LineOptions::default(), &other);
        assert!(!text.contains("\"manager\""), "{text}");
    }
}

#[test]
fn recorded_author_is_named_with_its_subresource() {
    let text = |author, change: &Change| {
        let mut out = Vec::new();
        LineWriter::default().change_by(Some(author), change, None, &mut out);
        String::from_utf8(out).expect("text")
    };
    let added = text(("kubelet", "status"), &change(ChangeKind::Added));
    assert!(added.ends_with(",\"manager\":\"kubelet\",\"subresource\":\"status\"}\n"), "{added}");
    let modified = text(("helm", ""), &change(ChangeKind::Modified));
    assert!(modified.ends_with(",\"manager\":\"helm\"}\n"), "{modified}");
    assert!(!text(("helm", ""), &change(ChangeKind::Sync)).contains("manager"));
}

#[test]
fn start_of_a_recorder_has_the_time_before_it() {
    let mut out = Vec::new();
    let received = change(ChangeKind::Added).received;
    LineWriter::default().started("prod", received, Duration::from_millis(2500), &mut out);
    assert_eq!(
        String::from_utf8(out).expect("text"),
        concat!(
            r#"{"v":1,"seq":1,"ts":"2026-11-21T10:00:00.012Z","type":"STARTED","context":"prod","seconds":2.500}"#,
            "\n"
        )
    );
}

#[test]
fn selected_fields_keep_fixed_order() {
    let fields = |names: &[&str]| Some(names.iter().map(|name| (*name).to_owned()).collect());
    let some = LineOptions { fields: fields(&["uid", "type", "changes"]), changes: true, old: true };
    assert_eq!(
        line_of(some, &update()),
        concat!(
            r#"{"type":"MODIFIED","uid":"u-1","changes":[{"op":"remove","path":"/b~1c","old":["x"]},"#,
            r#"{"op":"add","path":"/a","new":"<\u003c"}]}"#,
            "\n"
        )
    );
    let mut out = Vec::new();
    let seconds = LineOptions { fields: fields(&["seconds", "v"]), ..LineOptions::default() };
    let mut lines = LineWriter::new(seconds);
    lines.mark(&mark(MarkKind::Synced { version: "1".into() }), None, &mut out);
    let gap = MarkKind::Gap { from: "1".into(), to: "2".into(), lasted: Duration::from_secs(1) };
    lines.mark(&mark(gap), None, &mut out);
    assert_eq!(String::from_utf8(out).expect("text"), "{\"v\":1}\n{\"v\":1,\"seconds\":1.000}\n");
}

/// Returns one line of each kind.
fn all_kinds() -> Vec<serde_json::Value> {
    let mut lines = LineWriter::new(LineOptions { old: true, changes: true, ..LineOptions::default() });
    let (mut out, version) = (Vec::new(), ResourceVersion::new("7"));
    let unknown = Change { final_state_unknown: true, ..change(ChangeKind::Deleted) };
    let sync = Change { origin: Origin::Resync, ..change(ChangeKind::Sync) };
    let changes = [change(ChangeKind::Added), update(), managed_update(), change(ChangeKind::Deleted)];
    for change in changes.into_iter().chain([unknown, sync]) {
        lines.change(&change, Some(&version), &mut out);
    }
    let gap = MarkKind::Gap { from: "20".into(), to: "31".into(), lasted: Duration::from_millis(2500) };
    let error = MarkKind::Error(Status { code: Some(410), message: "gone".into(), ..Status::default() });
    for kind in [MarkKind::Synced { version: "20".into() }, gap, error] {
        lines.mark(&mark(kind), None, &mut out);
    }
    lines.change_by(Some(("kubelet", "status")), &change(ChangeKind::Added), None, &mut out);
    lines.started("prod", change(ChangeKind::Added).received, Duration::from_secs(1), &mut out);
    let text = String::from_utf8(out).expect("text");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn lines_match_schema_and_cover_its_fields() {
    let schema = include_str!("../../schema/watch-line.schema.json");
    let schema: serde_json::Value = serde_json::from_str(schema).expect("JSON");
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let mut occurred = std::collections::BTreeSet::new();
    for line in all_kinds() {
        let wrong: Vec<String> = validator.iter_errors(&line).map(|error| error.to_string()).collect();
        assert_eq!(wrong, [""; 0], "{line}");
        occurred.extend(line.as_object().expect("an object").keys().cloned());
    }
    let known = schema["properties"].as_object().expect("properties").keys().cloned().collect();
    assert_eq!(occurred, known);
}

#[test]
fn missing_versions_are_omitted() {
    let (mut lines, mut out) = (LineWriter::default(), Vec::new());
    let unset = ResourceVersion::UNSET;
    lines.change(&change(ChangeKind::Added), Some(&unset), &mut out);
    let gap = MarkKind::Gap { from: unset.clone(), to: unset.clone(), lasted: Duration::ZERO };
    for (kind, resume) in [(MarkKind::Synced { version: unset.clone() }, Some(&unset)), (gap, None)] {
        lines.mark(&mark(kind), resume, &mut out);
    }
    let schema = include_str!("../../schema/watch-line.schema.json");
    let schema: serde_json::Value = serde_json::from_str(schema).expect("JSON");
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    for line in String::from_utf8(out).expect("text").lines() {
        let line: serde_json::Value = serde_json::from_str(line).expect("JSON");
        let found = ["resume", "from", "to"].map(|field| line.get(field));
        assert_eq!(found, [None; 3], "{line}");
        assert!(validator.is_valid(&line), "{line}");
    }
}

#[test]
fn schema_rejects_other_lines() {
    let schema = include_str!("../../schema/watch-line.schema.json");
    let schema: serde_json::Value = serde_json::from_str(schema).expect("JSON");
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    for line in all_kinds() {
        for (field, value) in
            [("v", 2.into()), ("extra", 1.into()), ("seq", "1".into()), ("type", "X".into())]
        {
            let mut wrong = line.clone();
            wrong[field] = value;
            assert!(!validator.is_valid(&wrong), "{field}: {wrong}");
        }
        for field in ["seq", "ts", "type", "context", "kind", "namespace", "object"] {
            let mut wrong = line.clone();
            if wrong.as_object_mut().expect("an object").remove(field).is_none() {
                assert_eq!(line["type"], "STARTED");
                continue;
            }
            assert!(!validator.is_valid(&wrong), "without {field}: {wrong}");
        }
    }
}

#[test]
fn marks_have_bookmark_content() {
    let mut out = Vec::new();
    let mut lines = LineWriter::default();
    let version = ResourceVersion::new("20");
    lines.mark(&mark(MarkKind::Synced { version: version.clone() }), Some(&version), &mut out);
    let gap = MarkKind::Gap { from: "20".into(), to: "31".into(), lasted: Duration::from_millis(2500) };
    lines.mark(&mark(gap), None, &mut out);
    assert_eq!(
        String::from_utf8(out).expect("text"),
        concat!(
            r#"{"v":1,"seq":1,"ts":"2026-11-21T10:00:00.000Z","type":"SYNCED","resume":"20","context":"prod","#,
            r#""group":"apps","version":"v1","kind":"Deployment","resource":"deployments","namespace":"","#,
            r#""resourceVersion":"20","object":{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"resourceVersion":"20"}}}"#,
            "\n",
            r#"{"v":1,"seq":2,"ts":"2026-11-21T10:00:00.000Z","type":"GAP","context":"prod","#,
            r#""group":"apps","version":"v1","kind":"Deployment","resource":"deployments","namespace":"","#,
            r#""from":"20","to":"31","seconds":2.500,"#,
            r#""resourceVersion":"31","object":{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"resourceVersion":"31"}}}"#,
            "\n"
        )
    );
}

#[test]
fn error_line_has_original_status() {
    let error_line = |name: Option<&str>, json: &str, code| {
        let mut out = Vec::new();
        let status = Status {
            code,
            reason: "Expired".into(),
            message: "too old".into(),
            json: json.into(),
            ..Status::default()
        };
        let mark = Mark { name: name.map(Arc::from), ..mark(MarkKind::Error(status)) };
        LineWriter::default().mark(&mark, None, &mut out);
        String::from_utf8(out).expect("text").split_once("\"namespace\":\"\",").expect("it").1.to_owned()
    };
    assert_eq!(
        error_line(None, r#"{"kind":"Status","code":410}"#, Some(404)),
        "\"object\":{\"kind\":\"Status\",\"code\":410}}\n"
    );
    // The substitute is as specific: a missing name differs from other errors.
    for (name, code, expected) in [
        (
            None,
            None,
            r#""object":{"apiVersion":"v1","kind":"Status","message":"too old","reason":"Expired","status":"Failure"}}"#,
        ),
        (
            Some("web"),
            Some(410),
            concat!(
                r#""name":"web","object":{"apiVersion":"v1","code":410,"#,
                r#""details":{"group":"apps","kind":"deployments","name":"web"},"#,
                r#""kind":"Status","message":"too old","reason":"Expired","status":"Failure"}}"#
            ),
        ),
    ] {
        assert_eq!(error_line(name, "", code).trim_end(), expected);
    }
}

#[test]
fn fields_are_those_of_the_schema() {
    let schema = include_str!("../../schema/watch-line.schema.json");
    let schema: serde_json::Value = serde_json::from_str(schema).expect("JSON");
    let mut known: Vec<&str> =
        schema["properties"].as_object().expect("properties").keys().map(String::as_str).collect();
    let mut fields = FIELDS.to_vec();
    known.sort_unstable();
    fields.sort_unstable();
    assert_eq!(fields, known);
}

/// A text with characters that JSON escapes.
fn text() -> impl Strategy<Value = String> {
    "[a-z\"\\\\\n\u{1b}é😀]{0,6}"
}

fn any_kind() -> impl Strategy<Value = ChangeKind> {
    prop::sample::select(vec![ChangeKind::Added, ChangeKind::Modified, ChangeKind::Deleted, ChangeKind::Sync])
}

proptest! {
    #[test]
    fn written_line_is_read_as_its_model(
        kind in any_kind(),
        context in text(),
        value in text(),
        milliseconds in 0i64..4_102_444_800_000,
        resume in prop::option::of(1u64..),
        is_inferred: bool,
        fields in prop::option::of(prop::sample::subsequence(FIELDS.to_vec(), 1..FIELDS.len())),
    ) {
        let json = json!({"kind": "Deployment", "apiVersion": "apps/v1", "metadata": {"name": "web"}, "value": value});
        let change = Change {
            kind,
            object: object(&json.to_string()),
            context: context.as_str().into(),
            received: Timestamp::from_millisecond(milliseconds).expect("a time"),
            final_state_unknown: is_inferred,
            ..update()
        };
        let options = LineOptions::default().old(true).changes(true);
        let options = options.fields(fields.clone().map(|fields| fields.into_iter().map(Into::into).collect()));
        let resume = resume.map(|version| ResourceVersion::new(&version.to_string()));
        let mut out = Vec::new();
        LineWriter::new(options).change(&change, resume.as_ref(), &mut out);
        let line = Line::read(&out).expect("a line");
        prop_assert_eq!(serde_json::to_string(&line).expect("JSON") + "\n", String::from_utf8(out.clone()).expect("text"));
        let has = |field: &str| fields.as_ref().is_none_or(|fields| fields.contains(&field));
        prop_assert_eq!(line.line_type.as_deref(), has("type").then_some(kind.as_str()));
        prop_assert_eq!(line.context.as_deref(), has("context").then_some(context.as_str()));
        prop_assert_eq!(line.ts, has("ts").then_some(change.received));
        prop_assert_eq!(line.resume, resume.filter(|_| has("resume")).map(|version| version.to_string()));
        let object = line.object.map(|object| serde_json::from_str::<serde_json::Value>(object.get()).expect("JSON"));
        prop_assert_eq!(object, has("object").then_some(json));
        let inferred = (kind == ChangeKind::Deleted && is_inferred && has("finalStateUnknown")).then_some(true);
        prop_assert_eq!(line.final_state_unknown, inferred);
        prop_assert_eq!(line.old.is_some(), kind == ChangeKind::Modified && has("old"));
    }

    #[test]
    fn arbitrary_bytes_are_no_panic(line: Vec<u8>, json in "[{}\\[\\]\":,a1v ]{0,40}") {
        let _ = (Line::read(&line), Line::read(json.as_bytes()));
    }
}

#[test]
fn marks_are_read_and_written_again() {
    for line in all_kinds() {
        let text = line.to_string();
        let read = Line::read(text.as_bytes()).expect("a line");
        let written = serde_json::to_value(&read).expect("JSON");
        assert_eq!(written, line);
    }
}
