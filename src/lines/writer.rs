//! The writer of the published JSON lines.

use std::time::Duration;

use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Value, json};

use super::FORMAT;
use super::model::{Change, ChangeKind, Mark, MarkKind};
use crate::diff::changes;
use crate::listwatch::Status;
use crate::object::{ApiResource, FieldPath, Object, ResourceVersion};

/// The format of times: RFC 3339 in UTC, with milliseconds.
pub(super) const TIME: &str = "%Y-%m-%dT%H:%M:%S%.3fZ";

/// The optional contents of a line.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct LineOptions {
    /// The fields to write, a part of [`FIELDS`](super::FIELDS); `None` selects all.
    pub fields: Option<Vec<String>>,
    /// Whether to write the state before an update.
    pub old: bool,
    /// Whether to write the differences between both states.
    pub changes: bool,
}

setters!(LineOptions {
    fields: Option<Vec<String>>,
    old: bool,
    changes: bool,
});

/// Writes lines and counts them. The bytes of objects are copied as the server sent them.
#[derive(Debug, Default)]
pub struct LineWriter {
    options: LineOptions,
    /// The number of lines written.
    seq: u64,
}

impl LineWriter {
    /// Creates a writer whose first line has the number 1.
    #[must_use]
    pub fn new(options: LineOptions) -> Self {
        Self { options, seq: 0 }
    }

    /// Creates a writer whose first line follows the line with this number.
    #[must_use]
    pub fn starting_after(options: LineOptions, seq: u64) -> Self {
        Self { options, seq }
    }

    /// Appends the line of a delta, with its line break. `resume` is the version up to which its collection has been
    /// written, if known.
    pub fn change(&mut self, change: &Change, resume: Option<&ResourceVersion>, out: &mut Vec<u8>) {
        let old = change.old.as_ref().filter(|_| change.kind == ChangeKind::Modified);
        let author = old.and_then(|old| change.object.manager_and_subresource_since(old));
        let author = author.as_ref().map(|(manager, subresource)| (&**manager, &**subresource));
        self.change_by(author, change, resume, out);
    }

    /// Appends the line of a delta whose field manager and its subresource, which is empty for the object itself, are known
    /// from elsewhere, such as from a recording. Otherwise as [`LineWriter::change`].
    pub fn change_by(
        &mut self,
        author: Option<(&str, &str)>,
        change: &Change,
        resume: Option<&ResourceVersion>,
        out: &mut Vec<u8>,
    ) {
        let mut line = self.begin(change.received, change.kind.as_str(), out);
        line.change(change, author, resume);
        line.end();
    }

    /// Appends the line of a mark, with its line break. `resume` is as in [`LineWriter::change`].
    pub fn mark(&mut self, mark: &Mark, resume: Option<&ResourceVersion>, out: &mut Vec<u8>) {
        let mut line = self.begin(mark.received, mark.kind.as_str(), out);
        line.mark(mark, resume);
        line.end();
    }

    /// Appends the line of the start of a recorder, with its line break. Nothing was observed in the time `unobserved` before.
    pub fn started(&mut self, context: &str, received: Timestamp, unobserved: Duration, out: &mut Vec<u8>) {
        let mut line = self.begin(received, "STARTED", out);
        line.value("context", context);
        line.seconds(unobserved);
        line.end();
    }

    fn begin<'a>(&'a mut self, received: Timestamp, kind: &str, out: &'a mut Vec<u8>) -> LineBuffer<'a> {
        self.seq += 1;
        let mut line = LineBuffer { options: &self.options, out };
        line.out.push(b'{');
        line.value("v", &FORMAT);
        line.value("seq", &self.seq);
        line.value("ts", &format_args!("{}", received.strftime(TIME)));
        line.value("type", kind);
        line
    }
}

/// A line that is being written.
struct LineBuffer<'a> {
    options: &'a LineOptions,
    out: &'a mut Vec<u8>,
}

impl LineBuffer<'_> {
    fn change(&mut self, change: &Change, author: Option<(&str, &str)>, resume: Option<&ResourceVersion>) {
        let object = &change.object;
        self.value("origin", change.origin.as_str());
        self.resume(resume);
        self.resource(&change.context, &change.resource);
        self.value("namespace", object.namespace());
        self.value("name", object.name());
        self.value("uid", &format_args!("{}", object.uid()));
        self.value("resourceVersion", &format_args!("{}", object.resource_version()));
        if self.has("object") {
            self.field("object", &object.json_or_names());
        }
        if change.kind == ChangeKind::Deleted && change.final_state_unknown {
            self.field("finalStateUnknown", b"true");
        }
        if let Some(old) = change.old.as_ref().filter(|_| change.kind == ChangeKind::Modified) {
            if self.options.old && self.has("old") {
                self.field("old", &old.json_or_names());
            }
            if self.options.changes && self.has("changes") {
                self.changes(old, object);
            }
        }
        if let Some((manager, subresource)) = author.filter(|_| change.kind != ChangeKind::Sync) {
            self.value("manager", manager);
            if !subresource.is_empty() {
                self.value("subresource", subresource);
            }
        }
    }

    /// Excludes `resourceVersion`, which the line itself has.
    fn changes(&mut self, old: &Object, new: &Object) {
        let (old, new) = (old.json_or_names(), new.json_or_names());
        let version = FieldPath::of_names(["metadata", "resourceVersion"]);
        // Objects are valid UTF-8.
        let text = |json| std::str::from_utf8(json).unwrap_or_default();
        self.member("changes");
        self.out.push(b'[');
        for (at, change) in changes(text(&old), text(&new), &[version]).iter().enumerate() {
            self.out.extend(if at == 0 { &b"{"[..] } else { b",{" });
            self.member("op");
            self.json(change.op.as_str());
            self.member("path");
            self.json(&change.path.pointer());
            for (name, value) in [("old", change.old), ("new", change.new)] {
                if let Some(value) = value {
                    self.member(name);
                    self.out.extend(value.bytes());
                }
            }
            self.out.push(b'}');
        }
        self.out.push(b']');
    }

    /// Whether the field is written.
    fn has(&self, field: &str) -> bool {
        self.options.fields.as_ref().is_none_or(|fields| fields.iter().any(|selected| selected == field))
    }

    fn mark(&mut self, mark: &Mark, resume: Option<&ResourceVersion>) {
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
                self.seconds(*lasted);
                self.bookmark(&mark.resource, to);
            }
            MarkKind::Error(status) if !status.json.is_empty() => {
                self.field("object", status.json.as_bytes());
            }
            MarkKind::Error(status) => {
                self.field("object", substitute_status(mark, status).to_string().as_bytes());
            }
        }
    }

    /// Writes whole milliseconds, the precision of the measurement.
    fn seconds(&mut self, lasted: Duration) {
        self.field("seconds", format!("{:.3}", lasted.as_secs_f64()).as_bytes());
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
            self.out.extend(json);
        }
    }

    /// Writes the name of a member of any object.
    fn member(&mut self, name: &str) {
        if self.out.last() != Some(&b'{') {
            self.out.push(b',');
        }
        self.out.push(b'"');
        self.out.extend(name.bytes());
        self.out.extend(b"\":");
    }

    fn json(&mut self, value: &(impl Serialize + ?Sized)) {
        // Cannot fail: texts and numbers are valid JSON, and the target is a Vec.
        let _ = serde_json::to_writer(&mut *self.out, value);
    }

    fn end(self) {
        self.out.extend(b"}\n");
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
