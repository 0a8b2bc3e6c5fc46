//! The JSON lines of a watch: one line per delta and mark, a superset of kubectl's `{"type","object"}`.
//!
//! Each line is buffered and written with a single `write` and a flush, so that a reader of the pipe receives whole
//! lines at once. The bytes of objects are copied as the server sent them.

use std::io::{self, Write};

use jiff::Timestamp;
use kdelta::diff::changes;
use kdelta::listwatch::Status;
use kdelta::object::{ApiResource, FieldPath, Object, ResourceVersion};
use serde::Serialize;
use serde_json::{Value, json};

use super::json::write;
use super::tree;
use crate::view::{Change, ChangeKind, Mark, MarkKind};

/// The version of the line format.
const FORMAT: u8 = 1;

/// The optional contents of a line.
#[derive(Debug, Clone, Default)]
pub(crate) struct LineOptions {
    /// The fields to write; `None` selects all.
    pub(crate) fields: Option<Vec<String>>,
    /// Whether to write the state before an update.
    pub(crate) old: bool,
    /// Whether to write the differences between both states.
    pub(crate) changes: bool,
    /// Whether a terminal displays the lines, so that text of the cluster must be escaped.
    pub(crate) for_terminal: bool,
}

/// Writes and counts JSON lines.
#[derive(Default)]
pub(crate) struct JsonLines {
    options: LineOptions,
    /// The number of lines written.
    seq: u64,
    line: Vec<u8>,
}

impl JsonLines {
    /// Creates a writer with these options.
    pub(crate) fn new(options: LineOptions) -> Self {
        Self { options, ..Self::default() }
    }

    /// Writes a delta. `resume` is the version up to which its collection has been printed, if known.
    ///
    /// # Errors
    /// `out` failed; the line may be partially written.
    pub(crate) fn change(
        &mut self,
        change: &Change,
        resume: Option<&ResourceVersion>,
        out: &mut impl Write,
    ) -> io::Result<()> {
        let object = &change.object;
        self.begin(change.received, change.kind.as_str());
        self.value("origin", change.origin.as_str());
        self.resume(resume);
        self.resource(&change.context, &change.resource);
        self.value("namespace", object.namespace());
        self.value("name", object.name());
        self.value("uid", &format_args!("{}", object.uid()));
        self.value("resourceVersion", &format_args!("{}", object.resource_version()));
        if self.has("object") {
            self.field("object", &tree::json_of(object));
        }
        if change.kind == ChangeKind::Deleted && change.final_state_unknown {
            self.field("finalStateUnknown", b"true");
        }
        if let Some(old) = change.old.as_ref().filter(|_| change.kind == ChangeKind::Modified) {
            if self.options.old && self.has("old") {
                self.field("old", &tree::json_of(old));
            }
            if self.options.changes && self.has("changes") {
                self.changes(old, object);
            }
        }
        self.end(out)
    }

    /// Excludes `resourceVersion`, which the line itself has.
    fn changes(&mut self, old: &Object, new: &Object) {
        let (old, new) = (tree::json_of(old), tree::json_of(new));
        let version = FieldPath::of_names(["metadata", "resourceVersion"]);
        // Objects are valid UTF-8.
        let text = |json| std::str::from_utf8(json).unwrap_or_default();
        self.member("changes");
        self.line.push(b'[');
        for (at, change) in changes(text(&old), text(&new), &[version]).iter().enumerate() {
            self.line.extend(if at == 0 { &b"{"[..] } else { b",{" });
            self.member("op");
            self.json(change.op.as_str());
            self.member("path");
            self.json(&change.path.pointer());
            for (name, value) in [("old", change.old), ("new", change.new)] {
                if let Some(value) = value {
                    self.member(name);
                    self.line.extend(value.bytes());
                }
            }
            self.line.push(b'}');
        }
        self.line.push(b']');
    }

    /// Whether the field is written.
    fn has(&self, field: &str) -> bool {
        self.options.fields.as_ref().is_none_or(|fields| fields.iter().any(|selected| selected == field))
    }

    /// Writes a mark.
    ///
    /// # Errors
    /// As [`JsonLines::change`].
    pub(crate) fn mark(
        &mut self,
        mark: &Mark,
        resume: Option<&ResourceVersion>,
        out: &mut impl Write,
    ) -> io::Result<()> {
        self.begin(mark.received, mark.kind.as_str());
        self.resume(resume);
        self.resource(&mark.context, &mark.resource);
        self.value("namespace", &*mark.namespace);
        if let Some(name) = &mark.name {
            self.value("name", &**name);
        }
        match &mark.kind {
            MarkKind::Synced { version } => self.bookmark(&mark.resource, version),
            MarkKind::Gap { from, to, lasted } => {
                self.version("from", from);
                self.version("to", to);
                // Whole milliseconds, the precision of the measurement.
                self.field("seconds", format!("{:.3}", lasted.as_secs_f64()).as_bytes());
                self.bookmark(&mark.resource, to);
            }
            MarkKind::Error(status) if !status.json.is_empty() => {
                self.field("object", status.json.as_bytes());
            }
            MarkKind::Error(status) => {
                self.field("object", substitute_status(mark, status).to_string().as_bytes());
            }
        }
        self.end(out)
    }

    fn begin(&mut self, received: Timestamp, kind: &str) {
        self.line.clear();
        self.line.push(b'{');
        self.value("v", &FORMAT);
        self.value("seq", &(self.seq + 1));
        self.value("ts", &format_args!("{}", received.strftime("%Y-%m-%dT%H:%M:%S%.3fZ")));
        self.value("type", kind);
    }

    fn resume(&mut self, resume: Option<&ResourceVersion>) {
        if let Some(version) = resume {
            self.version("resume", version);
        }
    }

    /// Writes a version for resuming or comparing; omitted if the server gave none.
    fn version(&mut self, name: &str, version: &ResourceVersion) {
        if !version.is_unset() {
            self.value(name, &format_args!("{version}"));
        }
    }

    fn resource(&mut self, context: &str, resource: &ApiResource) {
        self.value("context", context);
        self.value("group", &resource.group);
        self.value("version", &resource.version);
        self.value("kind", &resource.kind);
        self.value("resource", &resource.resource);
    }

    /// Writes the content of a server's bookmark.
    fn bookmark(&mut self, resource: &ApiResource, version: &ResourceVersion) {
        let version = version.to_string();
        self.value("resourceVersion", &version);
        let json = json!({
            "apiVersion": resource.api_version(), "kind": resource.kind, "metadata": {"resourceVersion": version},
        });
        self.field("object", json.to_string().as_bytes());
    }

    /// Serializes a field directly into the line, if it is selected.
    fn value(&mut self, name: &str, value: &(impl Serialize + ?Sized)) {
        if self.has(name) {
            self.member(name);
            self.json(value);
        }
    }

    /// Writes a field with JSON as its value, if it is selected.
    fn field(&mut self, name: &str, json: &[u8]) {
        if self.has(name) {
            self.member(name);
            self.line.extend(json);
        }
    }

    /// Writes the name of a member of any object.
    fn member(&mut self, name: &str) {
        if self.line.last() != Some(&b'{') {
            self.line.push(b',');
        }
        self.line.push(b'"');
        self.line.extend(name.bytes());
        self.line.extend(b"\":");
    }

    fn json(&mut self, value: &(impl Serialize + ?Sized)) {
        // Cannot fail: texts and numbers are valid JSON, and the target is a Vec.
        let _ = serde_json::to_writer(&mut self.line, value);
    }

    fn end(&mut self, out: &mut impl Write) -> io::Result<()> {
        self.line.extend(b"}\n");
        write(&self.line, self.options.for_terminal, out)?;
        out.flush()?;
        self.seq += 1;
        Ok(())
    }
}

/// Returns the Status that a server would have sent. The kind in its details is the name of the resource.
fn substitute_status(mark: &Mark, status: &Status) -> Value {
    let mut json = json!({
        "apiVersion": "v1", "kind": "Status", "status": "Failure", "reason": status.reason, "message": status.message,
    });
    if let Some(code) = status.code {
        json["code"] = code.into();
    }
    if let Some(name) = &mark.name {
        json["details"] = json!({"name": **name, "kind": mark.resource.resource});
        if !mark.resource.group.is_empty() {
            json["details"]["group"] = mark.resource.group.as_str().into();
        }
    }
    json
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use kdelta::listwatch::Status;
    use kdelta::object::{Ingest, Object, Origin};

    use super::*;

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
        Arc::new(
            Object::from_json(json.as_bytes(), &Ingest::of(deployments().type_meta())).expect("an object"),
        )
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

    /// Counts the writes: one per line.
    #[derive(Default)]
    struct Counted {
        text: Vec<u8>,
        writes: usize,
        flushes: usize,
    }

    impl Write for Counted {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.writes += 1;
            self.text.write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            self.flushes += 1;
            Ok(())
        }
    }

    #[test]
    fn delta_is_one_line_with_original_object() {
        let mut out = Vec::new();
        let resume = ResourceVersion::new("17");
        JsonLines::default()
            .change(&change(ChangeKind::Modified), Some(&resume), &mut out)
            .expect("a Vec takes all");
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
    fn line_is_one_flushed_write() {
        let (mut lines, mut out) = (JsonLines::default(), Counted::default());
        for _ in 0..3 {
            lines.change(&change(ChangeKind::Added), None, &mut out).expect("it takes all");
        }
        let synced = mark(MarkKind::Synced { version: "20".into() });
        lines.mark(&synced, None, &mut out).expect("it takes all");
        assert_eq!((out.writes, out.flushes), (4, 4));
        let text = String::from_utf8(out.text).expect("text");
        let seqs: Vec<u64> = text
            .lines()
            .map(|line| {
                serde_json::from_str::<serde_json::Value>(line).expect("JSON")["seq"]
                    .as_u64()
                    .expect("a number")
            })
            .collect();
        assert_eq!(seqs, [1, 2, 3, 4]);
    }

    #[test]
    fn inferred_delete_is_marked() {
        let mut out = Vec::new();
        let gone =
            Change { final_state_unknown: true, origin: Origin::Relist, ..change(ChangeKind::Deleted) };
        JsonLines::default().change(&gone, None, &mut out).expect("a Vec takes all");
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
        JsonLines::new(options).change(change, None, &mut out).expect("a Vec takes all");
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

    #[test]
    fn selected_fields_keep_fixed_order() {
        let fields = |names: &[&str]| Some(names.iter().map(|name| (*name).to_owned()).collect());
        let some = LineOptions {
            fields: fields(&["uid", "type", "changes"]),
            changes: true,
            old: true,
            for_terminal: false,
        };
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
        let mut lines = JsonLines::new(seconds);
        lines.mark(&mark(MarkKind::Synced { version: "1".into() }), None, &mut out).expect("fine");
        let gap = MarkKind::Gap { from: "1".into(), to: "2".into(), lasted: Duration::from_secs(1) };
        lines.mark(&mark(gap), None, &mut out).expect("fine");
        assert_eq!(String::from_utf8(out).expect("text"), "{\"v\":1}\n{\"v\":1,\"seconds\":1.000}\n");
    }

    /// Returns one line of each kind.
    fn all_kinds() -> Vec<serde_json::Value> {
        let mut lines = JsonLines::new(LineOptions { old: true, changes: true, ..LineOptions::default() });
        let (mut out, version) = (Vec::new(), ResourceVersion::new("7"));
        let unknown = Change { final_state_unknown: true, ..change(ChangeKind::Deleted) };
        let sync = Change { origin: Origin::Resync, ..change(ChangeKind::Sync) };
        for change in [change(ChangeKind::Added), update(), change(ChangeKind::Deleted), unknown, sync] {
            lines.change(&change, Some(&version), &mut out).expect("fine");
        }
        let gap = MarkKind::Gap { from: "20".into(), to: "31".into(), lasted: Duration::from_millis(2500) };
        let error = MarkKind::Error(Status { code: Some(410), message: "gone".into(), ..Status::default() });
        for kind in [MarkKind::Synced { version: "20".into() }, gap, error] {
            lines.mark(&mark(kind), None, &mut out).expect("fine");
        }
        let text = String::from_utf8(out).expect("text");
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }

    #[test]
    fn lines_match_schema_and_cover_its_fields() {
        let schema = include_str!("../../../../schema/watch-line.schema.json");
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
        let (mut lines, mut out) = (JsonLines::default(), Vec::new());
        let unset = ResourceVersion::UNSET;
        lines.change(&change(ChangeKind::Added), Some(&unset), &mut out).expect("fine");
        let gap = MarkKind::Gap { from: unset.clone(), to: unset.clone(), lasted: Duration::ZERO };
        for kind in [MarkKind::Synced { version: unset.clone() }, gap] {
            lines.mark(&mark(kind), Some(&unset).filter(|_| lines.seq == 1), &mut out).expect("fine");
        }
        let schema = include_str!("../../../../schema/watch-line.schema.json");
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
        let schema = include_str!("../../../../schema/watch-line.schema.json");
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
                wrong.as_object_mut().expect("an object").remove(field);
                assert!(!validator.is_valid(&wrong), "without {field}: {wrong}");
            }
        }
    }

    #[test]
    fn marks_have_bookmark_content() {
        let mut out = Vec::new();
        let mut lines = JsonLines::default();
        let version = ResourceVersion::new("20");
        lines
            .mark(&mark(MarkKind::Synced { version: version.clone() }), Some(&version), &mut out)
            .expect("fine");
        let gap = MarkKind::Gap { from: "20".into(), to: "31".into(), lasted: Duration::from_millis(2500) };
        lines.mark(&mark(gap), None, &mut out).expect("fine");
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
            JsonLines::default().mark(&mark, None, &mut out).expect("fine");
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
}
