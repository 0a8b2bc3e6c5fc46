//! Imports the JSON lines of a watch as recordings.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::value::RawValue;

use super::line_scope::LineScopes;
use super::new_recording::NewRecording;
use crate::lines::{Change, ChangeKind, Line, Mark, MarkKind, ReadError};
use crate::listwatch::Status;
use crate::object::{Ingest, Object, Origin, ResourceVersion};
use crate::recording::encryption::Encryption;
use crate::recording::entry::{Author, Item};
use crate::recording::error::RecordingError;
use crate::recording::writer::Writer;

/// The results of an import.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Imports {
    /// The contexts.
    pub contexts: Vec<String>,
    /// The lines that became entries.
    pub entries: u64,
    /// The lines that are not entries: resyncs, and types of a later version of the format.
    pub skipped: u64,
    /// The lines with an earlier time than a preceding line of their context. Their entries have its time.
    pub raised: u64,
}

/// Imports JSON lines as recordings, one for each context, in a directory of recordings.
///
/// The lines must have their objects and times. They have no rows, and the author of a change has no subresource.
/// The recordings are removed unless the import is finished.
#[derive(Debug)]
pub struct Importer {
    dir: PathBuf,
    encryption: Option<Encryption>,
    contexts: BTreeMap<String, ImportedContext>,
    lines: u64,
    entries: u64,
    skipped: u64,
}

#[derive(Debug)]
struct ImportedContext {
    name: Arc<str>,
    recording: NewRecording,
    scopes: LineScopes,
    /// The latest time of a line.
    latest: Timestamp,
    raised: u64,
}

/// The fields that every line has.
struct Head {
    received: Timestamp,
    context: String,
    /// Group, version, plural and kind.
    names: [String; 4],
}

impl Importer {
    /// Creates an importer to this directory.
    #[must_use]
    pub fn new(dir: &Path) -> Self {
        let (dir, contexts) = (dir.to_owned(), BTreeMap::new());
        Self { dir, encryption: None, contexts, lines: 0, entries: 0, skipped: 0 }
    }

    /// Encrypts the recordings.
    #[must_use]
    pub fn encryption(self, encryption: Option<Encryption>) -> Self {
        Self { encryption, ..self }
    }

    /// Imports the next line; an empty one is skipped. The caller bounds its length.
    ///
    /// # Errors
    /// [`RecordingError::Line`] for a line that can't be imported, and others when the recording can't be written.
    pub fn line(&mut self, line: &[u8]) -> Result<(), RecordingError> {
        self.lines += 1;
        if line.trim_ascii().is_empty() {
            return Ok(());
        }
        let number = self.lines;
        let refused = |reason: String| RecordingError::Line { number, reason };
        let line = Line::read(line).map_err(|error| refused(unreadable(&error)))?;
        let kind = line.line_type.clone().ok_or_else(|| refused(missing("type")))?;
        let event = match kind.as_str() {
            "ADDED" => Event::Change(ChangeKind::Added),
            "MODIFIED" => Event::Change(ChangeKind::Modified),
            "DELETED" => Event::Change(ChangeKind::Deleted),
            "SYNCED" => Event::Mark(|line| Ok(Self::synced(line))),
            "GAP" => Event::Mark(Self::gap),
            "ERROR" => Event::Mark(Self::error),
            _ => {
                self.skipped += 1;
                return Ok(());
            }
        };
        let head = Head::read(&line).map_err(refused)?;
        match event {
            Event::Change(kind) => self.change(kind, &head, &line).map_err(|error| error.at(number)),
            Event::Mark(read) => {
                let kind = read(&line).map_err(refused)?;
                self.mark(kind, &head, &line)
            }
        }?;
        self.entries += 1;
        Ok(())
    }

    /// Completes the recordings.
    ///
    /// # Errors
    /// [`RecordingError`] when a recording can't be written.
    pub fn finish(self) -> Result<Imports, RecordingError> {
        let contexts = self.contexts.keys().cloned().collect();
        let raised = self.contexts.values().map(|context| context.raised).sum();
        for context in self.contexts.into_values() {
            let ImportedContext { mut recording, scopes, .. } = context;
            for (received, item) in scopes.finish() {
                recording.append(received, &item)?;
            }
            recording.finish()?;
        }
        Ok(Imports { contexts, entries: self.entries, skipped: self.skipped, raised })
    }

    /// Returns the context of a line, with the time of the line.
    fn context(&mut self, head: &Head) -> Result<&mut ImportedContext, RecordingError> {
        let name = &*head.context;
        if !self.contexts.contains_key(name) {
            let recording = {
                let dir = Writer::directory(&self.dir, name);
                NewRecording::create(&dir, name, self.encryption.as_ref())?
            };
            let context = ImportedContext {
                name: name.into(),
                recording,
                scopes: LineScopes::default(),
                latest: head.received,
                raised: 0,
            };
            self.contexts.insert(name.to_owned(), context);
        }
        // Inserted above if it was missing.
        let context = self.contexts.get_mut(name);
        let context = context.ok_or_else(|| RecordingError::NotARecording { path: self.dir.clone() })?;
        context.raised += u64::from(head.received < context.latest);
        context.latest = context.latest.max(head.received);
        Ok(context)
    }

    fn change(&mut self, kind: ChangeKind, head: &Head, line: &Line<'_>) -> Result<(), LineError> {
        let body = line.object.ok_or_else(|| LineError::Refused(missing("object")))?;
        let context = self.context(head)?;
        let [group, version, _, object_kind] = &head.names;
        let api_version = if group.is_empty() { version.clone() } else { format!("{group}/{version}") };
        let type_meta = crate::object::TypeMeta { api_version, kind: object_kind.clone() };
        let object = Object::from_json(body.get().as_bytes(), &Ingest::of(Arc::new(type_meta)))
            .map_err(|error| LineError::Refused(format!("its object can't be read: {error}")))?;
        let scoped = context.scopes.of_namespace(&head.names, object.namespace());
        if object.namespace().is_empty() == scoped.resource.namespaced {
            return Err(LineError::Refused(format!(
                "its object has {} namespace, unlike the other objects of {}",
                if object.namespace().is_empty() { "no" } else { "a" },
                scoped.resource.group_resource(),
            )));
        }
        for (received, item) in scoped.waiting {
            context.recording.append(received, &item)?;
        }
        let subresource = "".into();
        let author = line.manager.as_deref().map(|name| Author { manager: name.into(), subresource });
        let change = Change {
            kind,
            object: Arc::new(object),
            old: None,
            origin: origin(line.origin.as_deref()),
            final_state_unknown: line.final_state_unknown.unwrap_or_default(),
            resource: scoped.resource,
            context: Arc::clone(&context.name),
            received: head.received,
        };
        context.recording.append(head.received, &Item::Change { change, author })?;
        Ok(())
    }

    fn mark(&mut self, kind: MarkKind, head: &Head, line: &Line<'_>) -> Result<(), RecordingError> {
        let context = self.context(head)?;
        let namespace: Arc<str> = line.namespace.as_deref().unwrap_or_default().into();
        let (name, received) = (line.name.as_deref().map(Arc::from), head.received);
        let of_context = Arc::clone(&context.name);
        let mark = |resource, namespace| {
            Item::Mark(Mark { kind, resource, context: of_context, namespace, name, received })
        };
        if namespace.is_empty() {
            let items = context.scopes.of_all(&head.names, received, |resource| mark(resource, namespace));
            let mut items = items.into_iter();
            return items.try_for_each(|(received, item)| context.recording.append(received, &item));
        }
        let scoped = context.scopes.of_namespace(&head.names, &namespace);
        for (received, item) in scoped.waiting {
            context.recording.append(received, &item)?;
        }
        context.recording.append(received, &mark(scoped.resource, namespace))
    }

    fn synced(line: &Line<'_>) -> MarkKind {
        MarkKind::Synced { version: version(line.resource_version.as_deref()) }
    }

    fn gap(line: &Line<'_>) -> Result<MarkKind, String> {
        let seconds = line.seconds.and_then(|seconds| seconds.get().parse::<f64>().ok());
        let lasted = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        let lasted = lasted.ok_or_else(|| missing("seconds"))?;
        Ok(MarkKind::Gap { from: version(line.from.as_deref()), to: version(line.to.as_deref()), lasted })
    }

    fn error(line: &Line<'_>) -> Result<MarkKind, String> {
        let json = line.object.map(RawValue::get).ok_or_else(|| missing("object"))?;
        Ok(MarkKind::Error(status(json)))
    }
}

/// The meaning of a line's type.
enum Event {
    Change(ChangeKind),
    /// A mark, and the function that reads the fields that only this kind of mark has.
    Mark(fn(&Line<'_>) -> Result<MarkKind, String>),
}

/// The error of a line whose number is not known yet.
enum LineError {
    Refused(String),
    Recording(RecordingError),
}

impl LineError {
    fn at(self, number: u64) -> RecordingError {
        match self {
            Self::Refused(reason) => RecordingError::Line { number, reason },
            Self::Recording(error) => error,
        }
    }
}

impl From<RecordingError> for LineError {
    fn from(error: RecordingError) -> Self {
        Self::Recording(error)
    }
}

impl Head {
    fn read(line: &Line<'_>) -> Result<Self, String> {
        let field = |name: &str, value: &Option<String>| value.clone().ok_or_else(|| missing(name));
        Ok(Self {
            received: line.ts.ok_or_else(|| missing("ts"))?,
            context: field("context", &line.context)?,
            names: [
                field("group", &line.group)?,
                field("version", &line.version)?,
                field("resource", &line.resource)?,
                field("kind", &line.kind)?,
            ],
        })
    }
}

fn missing(field: &str) -> String {
    format!(
        "the field {field:?} is missing: only lines with all fields can be imported, as `watch -o json` writes them without --fields"
    )
}

fn unreadable(error: &ReadError) -> String {
    match error {
        ReadError::Malformed(reason) => format!("it is no JSON line of `watch -o json`: {reason}"),
        error => error.to_string(),
    }
}

fn version(text: Option<&str>) -> ResourceVersion {
    ResourceVersion::new(text.unwrap_or_default())
}

/// Returns the origin of a change. A line without one is from the watch of another program.
fn origin(text: Option<&str>) -> Origin {
    let all = [Origin::List, Origin::Relist, Origin::Filter];
    all.into_iter().find(|origin| Some(origin.as_str()) == text).unwrap_or(Origin::Watch)
}

/// Parses a Status. Other JSON becomes a Status that has only this JSON.
fn status(json: &str) -> Status {
    let value: serde_json::Value = serde_json::from_str(json).unwrap_or_default();
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    Status {
        code: value["code"].as_u64().and_then(|code| u16::try_from(code).ok()),
        reason: text(&value["reason"]),
        message: text(&value["message"]),
        name: value["details"]["name"].as_str().map(Into::into),
        json: json.to_owned(),
    }
}
