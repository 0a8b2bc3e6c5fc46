//! Imports the JSON lines of a watch as recordings.

mod differences;
mod fields;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::value::RawValue;

use self::differences::Differences;
use self::fields::{Head, Place, lasted, missing, origin, status, unreadable, version};
use super::line_scope::LineScopes;
use super::new_recording::NewRecording;
use super::selectors::FurtherRedaction;
use crate::lines::{Change, ChangeKind, Line, Mark, MarkKind};
use crate::object::{Ingest, Object, Origin};
use crate::recording::encryption::Encryption;
use crate::recording::entry::{Author, Item};
use crate::recording::error::RecordingError;
use crate::recording::redaction::{Redaction, SecretValues};
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
/// The lines must have their objects and times. They have no rows.
/// The recordings are removed unless the import is finished.
#[derive(Debug)]
pub struct Importer {
    dir: PathBuf,
    encryption: Option<Encryption>,
    redaction: Option<Arc<Redaction>>,
    /// The redaction, as the selectors of a recorder name it.
    selectors: FurtherRedaction,
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
    differences: Differences,
    /// The latest time of a line.
    latest: Timestamp,
    raised: u64,
}

impl Importer {
    /// Creates an importer to this directory.
    #[must_use]
    pub fn new(dir: &Path) -> Self {
        Self {
            dir: dir.to_owned(),
            encryption: None,
            redaction: None,
            selectors: FurtherRedaction { secrets: SecretValues::Keep, paths: Vec::new() },
            contexts: BTreeMap::new(),
            lines: 0,
            entries: 0,
            skipped: 0,
        }
    }

    /// Encrypts the recordings.
    #[must_use]
    pub fn encryption(self, encryption: Option<Encryption>) -> Self {
        Self { encryption, ..self }
    }

    /// Removes confidential values; without a redaction, all are recorded as they are. `paths` are those of the redaction,
    /// as the selectors of a recorder name them: a recorder that continues a recording must redact the same.
    #[must_use]
    pub fn redaction(self, redaction: Option<Arc<Redaction>>, paths: Vec<String>) -> Self {
        let secrets =
            redaction.as_ref().map_or(SecretValues::Keep, |redaction| redaction.treatment_of_secrets());
        Self { redaction, selectors: FurtherRedaction { secrets, paths }, ..self }
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
            "STARTED" => Event::Started,
            _ => {
                self.skipped += 1;
                return Ok(());
            }
        };
        let head = || Head::read(&line).map_err(refused);
        match event {
            Event::Change(kind) => self.change(kind, &head()?, &line).map_err(|error| error.at(number)),
            Event::Mark(read) => {
                let head = head()?;
                let kind = read(&line).map_err(refused)?;
                self.mark(kind, &head, &line)
            }
            Event::Started => {
                let place = Place::read(&line).map_err(refused)?;
                self.started(&place, lasted(&line).map_err(refused)?)
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
            let ImportedContext { mut recording, mut scopes, differences, latest, .. } = context;
            let bookmarks = differences.finish(latest, &mut scopes);
            for (received, item) in bookmarks.into_iter().chain(scopes.finish()) {
                recording.append(received, &item)?;
            }
            recording.finish()?;
        }
        Ok(Imports { contexts, entries: self.entries, skipped: self.skipped, raised })
    }

    /// Returns the context of a line, with the time of the line.
    fn context(&mut self, place: &Place) -> Result<&mut ImportedContext, RecordingError> {
        let name = &*place.context;
        if !self.contexts.contains_key(name) {
            let dir = Writer::directory(&self.dir, name);
            let mut recording = NewRecording::create(&dir, name, self.encryption.as_ref())?;
            recording.set_selectors(self.selectors.as_recorded());
            recording.set_redaction(Some(self.selectors.clone()));
            let context = ImportedContext {
                name: name.into(),
                recording,
                scopes: LineScopes::default(),
                differences: Differences::default(),
                latest: place.received,
                raised: 0,
            };
            self.contexts.insert(name.to_owned(), context);
        }
        // Inserted above if it was missing.
        let context = self.contexts.get_mut(name);
        let context = context.ok_or_else(|| RecordingError::NotARecording { path: self.dir.clone() })?;
        context.raised += u64::from(place.received < context.latest);
        context.latest = context.latest.max(place.received);
        Ok(context)
    }

    fn change(&mut self, kind: ChangeKind, head: &Head, line: &Line<'_>) -> Result<(), LineError> {
        let body = line.object.ok_or_else(|| LineError::Refused(missing("object")))?;
        let redaction = self.redaction.clone();
        let context = self.context(&head.place)?;
        let [group, version, _, object_kind] = &head.names;
        let api_version = if group.is_empty() { version.clone() } else { format!("{group}/{version}") };
        let type_meta = crate::object::TypeMeta { api_version, kind: object_kind.clone() };
        let object = Object::from_json(body.get().as_bytes(), &Ingest::of(Arc::new(type_meta)))
            .map_err(|error| LineError::Refused(format!("its object can't be read: {error}")))?;
        let object = Arc::new(object);
        let object = redaction.map_or(Arc::clone(&object), |redaction| redaction.object(&object));
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
        let origin = origin(line.origin.as_deref());
        if origin == Origin::Watch {
            context.differences.end(&head.names, object.namespace());
        }
        let author = line.manager.as_deref().map(|name| Author {
            manager: name.into(),
            subresource: line.subresource.as_deref().unwrap_or_default().into(),
        });
        let received = head.place.received;
        let change = Change {
            kind,
            object,
            old: None,
            origin,
            final_state_unknown: line.final_state_unknown.unwrap_or_default(),
            resource: scoped.resource,
            context: Arc::clone(&context.name),
            received,
        };
        context.recording.append(received, &Item::Change { change, author })?;
        Ok(())
    }

    fn mark(&mut self, kind: MarkKind, head: &Head, line: &Line<'_>) -> Result<(), RecordingError> {
        let context = self.context(&head.place)?;
        let namespace: Arc<str> = line.namespace.as_deref().unwrap_or_default().into();
        let (name, received) = (line.name.as_deref().map(Arc::from), head.place.received);
        match &kind {
            MarkKind::Gap { to, .. } if name.is_none() => {
                context.differences.begin(&head.names, &namespace, to);
            }
            MarkKind::Synced { .. } => context.differences.end(&head.names, &namespace),
            _ => {}
        }
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

    /// Records the start of a recorder, before which nothing was observed for this time.
    fn started(&mut self, place: &Place, unobserved: Duration) -> Result<(), RecordingError> {
        let context = self.context(place)?;
        if let Ok(last) = place.received.checked_sub(unobserved) {
            context.recording.observe(last)?;
        }
        context.recording.append(place.received, &Item::Started)
    }

    fn synced(line: &Line<'_>) -> MarkKind {
        MarkKind::Synced { version: version(line.resource_version.as_deref()) }
    }

    fn gap(line: &Line<'_>) -> Result<MarkKind, String> {
        let (from, to) = (version(line.from.as_deref()), version(line.to.as_deref()));
        Ok(MarkKind::Gap { from, to, lasted: lasted(line)? })
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
    /// The start of a recorder.
    Started,
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
