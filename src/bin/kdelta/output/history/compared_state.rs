//! A state of an object that is compared with the version before it and with the one after it.

use std::sync::Arc;

use kdelta::diff::Document;
use kdelta::object::{JsonBrackets, JsonNode, Object};

use crate::view::{Health, HealthChange};

/// A state, and what both of its comparisons read.
pub(super) struct ComparedState {
    object: Arc<Object>,
    brackets: JsonBrackets,
    health: Health,
}

impl ComparedState {
    /// Reads the state of an object from its text.
    pub(super) fn of(object: &Arc<Object>, text: &str) -> Self {
        let brackets = JsonBrackets::of(text.as_bytes());
        let health = Health::of(JsonNode::within(text, 0, &brackets));
        Self { object: Arc::clone(object), brackets, health }
    }

    /// Whether this is the state of that object.
    pub(super) fn is_of(&self, object: &Arc<Object>) -> bool {
        Arc::ptr_eq(&self.object, object)
    }

    /// Returns the object, of which this is the text, as a document.
    pub(super) fn document<'a>(&'a self, text: &'a str) -> Document<'a> {
        Document::with_brackets(text, &self.brackets)
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
