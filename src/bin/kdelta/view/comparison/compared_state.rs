//! A state of an object that is compared with the version before it and with the one after it.

use std::sync::Arc;

use kdelta::diff::Document;
use kdelta::object::{JsonNode, JsonText, Object};

use crate::view::health::{Health, HealthChange};

/// A state, and what both of its comparisons read.
pub(super) struct ComparedState {
    object: Arc<Object>,
    /// A copy, because the bytes of an object are checked each time they are used as text.
    text: JsonText,
    health: Health,
}

impl ComparedState {
    /// Reads the state of an object. What it has in common with the state before it is not read again. `memory` is a text whose
    /// memory is used again.
    pub(super) fn of(object: &Arc<Object>, before: Option<&Self>, memory: JsonText) -> Self {
        let json = object.json();
        // Objects are valid UTF-8.
        let text = str::from_utf8(&json).unwrap_or_default();
        let text = match before {
            Some(before) => JsonText::after(text, &before.text, memory),
            None => JsonText::of(text),
        };
        let health = Health::of(JsonNode::of(&text));
        Self { object: Arc::clone(object), text, health }
    }

    /// Returns the text of the object.
    pub(super) fn into_text(self) -> JsonText {
        self.text
    }

    /// Whether this is the state of that object.
    pub(super) fn is_of(&self, object: &Arc<Object>) -> bool {
        Arc::ptr_eq(&self.object, object)
    }

    /// Returns the object as a document.
    pub(super) fn document(&self) -> Document<'_> {
        Document::of_text(&self.text)
    }

    /// Returns the differences of the health from the state before, as texts. `ContainersReady` adds nothing to `Ready`.
    pub(super) fn health_changes(&self, before: &Self) -> Vec<String> {
        let changes = self.health.changes_since(&before.health);
        let is = |change: &HealthChange, name: &str| matches!(change, HealthChange::Condition { kind, .. } if kind == name);
        let has_ready = changes.iter().any(|change| is(change, "Ready"));
        let shown = changes.iter().filter(|change| !(has_ready && is(change, "ContainersReady")));
        shown.map(ToString::to_string).collect()
    }
}
