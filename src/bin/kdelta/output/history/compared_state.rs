//! A state of an object that is compared with the version before it and with the one after it.

use std::sync::Arc;

use kdelta::diff::Document;
use kdelta::object::{ApiResource, JsonBrackets, JsonNode, Object};

use crate::view::{Details, Health, HealthChange};

/// A state, and what both of its comparisons read.
pub(super) struct ComparedState {
    object: Arc<Object>,
    brackets: JsonBrackets,
    health: Health,
}

impl ComparedState {
    pub(super) fn of(object: &Arc<Object>) -> Self {
        let json = object.json();
        let brackets = JsonBrackets::of(&json);
        let health = Health::of(JsonNode::within(&json, 0, &brackets));
        Self { object: Arc::clone(object), brackets, health }
    }

    /// Whether this is the state of that object.
    pub(super) fn is_of(&self, object: &Arc<Object>) -> bool {
        Arc::ptr_eq(&self.object, object)
    }

    /// Returns the lines of the fields that differ from the state before.
    pub(super) fn changed_fields(
        &self,
        before: &Self,
        resource: &ApiResource,
        details: Details,
    ) -> Vec<String> {
        let [old, new] = [before, self].map(|state| state.object.json());
        // Objects are valid UTF-8.
        let [old, new] = [&old, &new].map(|json| str::from_utf8(json).unwrap_or_default());
        let old = Document::with_brackets(old, &before.brackets);
        details.lines_between(old, Document::with_brackets(new, &self.brackets), resource)
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
