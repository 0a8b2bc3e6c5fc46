//! The counters by type of objects, and their labels.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use kdelta::object::ApiResource;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::registry::Registry;

/// A type of objects in a context. The group of built-in types is empty.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, EncodeLabelSet)]
pub(super) struct TypeLabels {
    pub(super) context: Arc<str>,
    pub(super) group: Arc<str>,
    pub(super) resource: Arc<str>,
}

impl TypeLabels {
    pub(super) fn new(context: &str, resource: &ApiResource) -> Self {
        Self {
            context: context.into(),
            group: resource.group.as_str().into(),
            resource: resource.resource.as_str().into(),
        }
    }

    /// Returns the type for messages: `pods`, `deployments.apps`, `prod: pods`.
    pub(super) fn title(&self) -> String {
        let Self { context, group, resource } = self;
        let prefix = if context.is_empty() { String::new() } else { format!("{context}: ") };
        if group.is_empty() { format!("{prefix}{resource}") } else { format!("{prefix}{resource}.{group}") }
    }
}

/// A kind of delta of a type.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct DeltaLabels {
    #[prometheus(flatten)]
    pub(super) of: TypeLabels,
    /// `added`, `modified`, `deleted` or `sync`.
    pub(super) r#type: &'static str,
    /// The word of the JSON line.
    pub(super) origin: &'static str,
}

/// A kind of failure of a type.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct FailureLabels {
    #[prometheus(flatten)]
    pub(super) of: TypeLabels,
    pub(super) phase: &'static str,
    pub(super) reason: &'static str,
}

/// A counter of seconds.
pub(super) type Seconds = Counter<f64, AtomicU64>;

/// The counters by labels. Clones share them.
#[derive(Debug, Clone, Default)]
pub(super) struct Families {
    pub(super) deltas: Family<DeltaLabels, Counter>,
    pub(super) failures: Family<FailureLabels, Counter>,
    pub(super) gaps: Family<TypeLabels, Counter>,
    pub(super) gap_seconds: Family<TypeLabels, Seconds>,
    pub(super) relists: Family<TypeLabels, Counter>,
    pub(super) reconnects: Family<TypeLabels, Counter>,
    pub(super) disconnected_seconds: Family<TypeLabels, Seconds>,
}

impl Families {
    pub(super) fn register(&self, registry: &mut Registry) {
        registry.register(
            "kdelta_deltas",
            "Changes that were handed to the output, objects of the initial state included, with the origin as in JSON lines",
            self.deltas.clone(),
        );
        registry.register(
            "kdelta_failures",
            "Lists and watches that failed, each of which is tried again, by the step and the reason",
            self.failures.clone(),
        );
        registry.register(
            "kdelta_gaps",
            "Times that the server no longer had the history of a watch, so that intermediate states were missed; the difference was found by a list",
            self.gaps.clone(),
        );
        registry.register(
            "kdelta_gap_seconds",
            "Length of these gaps in seconds, from the moment the loss was noticed to the list",
            self.gap_seconds.clone(),
        );
        registry.register(
            "kdelta_relists",
            "Lists that replaced the history of a watch",
            self.relists.clone(),
        );
        registry.register(
            "kdelta_reconnects",
            "Watches that continued after a loss without missing an event",
            self.reconnects.clone(),
        );
        registry.register(
            "kdelta_disconnected_seconds",
            "Length of the losses that have ended, in seconds, from the moment each was noticed",
            self.disconnected_seconds.clone(),
        );
    }
}
