//! The line of a change, with the variables that describe it.

use kdelta::lines::{Change, ChangeKind, Line, LineOptions, LineWriter};
use kdelta::object::ResourceVersion;
use serde_json::value::RawValue;

use super::queue;
use crate::view::masked_secret;

/// A change, as `kdelta watch -o json` prints it. The text is made for each call: it is larger than the object in memory,
/// which the store shares.
#[derive(Debug, Clone)]
pub(super) struct ChangeLine {
    pub(super) change: Change,
    pub(super) resume: Option<ResourceVersion>,
    /// The number of the line, from 1.
    pub(super) seq: u64,
}

impl ChangeLine {
    /// Appends the line, with its line break.
    pub(super) fn write(&self, masks_secrets: bool, out: &mut Vec<u8>) {
        let mut writer = LineWriter::starting_after(LineOptions::default(), self.seq - 1);
        let start = out.len();
        writer.change(&self.change, self.resume.as_ref(), out);
        let masked = if masks_secrets { self.masked(&out[start..]) } else { None };
        if let Some(masked) = masked {
            out.truncate(start);
            out.extend(masked);
        }
    }

    /// Returns the line with masked data if it is one of a Secret.
    fn masked(&self, line: &[u8]) -> Option<Vec<u8>> {
        let json = self.change.object.json_or_names();
        let text = masked_secret(&self.change.resource, std::str::from_utf8(&json).unwrap_or_default())?;
        // The line was written above, and the text is JSON.
        let (mut line, object) = (Line::read(line).ok()?, RawValue::from_string(text).ok()?);
        line.object = Some(&object);
        let mut masked = serde_json::to_vec(&line).ok()?;
        masked.push(b'\n');
        Some(masked)
    }

    /// Returns the variables of a call with this line alone.
    pub(super) fn variables(&self) -> Vec<(&'static str, String)> {
        let Change { kind, object, origin, resource, context, .. } = &self.change;
        vec![
            ("KDELTA_EVENT_TYPE", kind.as_str().to_owned()),
            ("KDELTA_EVENT_NAME", text(object.name())),
            ("KDELTA_EVENT_NAMESPACE", text(object.namespace())),
            ("KDELTA_EVENT_KIND", text(&resource.kind)),
            ("KDELTA_EVENT_RESOURCE", text(&resource.resource)),
            ("KDELTA_EVENT_GROUP", text(&resource.group)),
            ("KDELTA_EVENT_VERSION", text(&resource.version)),
            ("KDELTA_EVENT_UID", text(&object.uid().to_string())),
            ("KDELTA_EVENT_RESOURCE_VERSION", text(&object.resource_version().to_string())),
            ("KDELTA_EVENT_ORIGIN", origin.as_str().to_owned()),
            ("KDELTA_EVENT_CONTEXT", text(context)),
        ]
    }

    /// Returns the title of the object in messages: `pods shop/web`.
    pub(super) fn title(&self) -> String {
        format!("{} {}", self.change.resource.group_resource(), self.change.object.key())
    }
}

/// Removes NUL, which the text of a server may contain and an environment variable can't.
fn text(text: &str) -> String {
    text.replace('\0', "")
}

impl queue::Line for ChangeLine {
    fn weight(&self) -> usize {
        self.change.object.weight() + self.change.old.as_ref().map_or(0, |old| old.weight())
    }

    /// Merges an update with the addition or update before it, which keeps its type.
    fn merged_with(&self, later: &Self) -> Option<Self> {
        let is_merged = matches!(
            (self.change.kind, later.change.kind),
            (ChangeKind::Added | ChangeKind::Modified, ChangeKind::Modified)
        );
        is_merged.then(|| {
            let change = Change {
                kind: self.change.kind,
                old: self.change.old.clone(),
                origin: self.change.origin,
                ..later.change.clone()
            };
            Self { change, ..later.clone() }
        })
    }
}
