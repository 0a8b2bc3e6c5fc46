//! The content of objects: defaults, manifests, and the stages of pods.

pub(super) mod conditions;
pub(super) mod defaults;
pub(super) mod manifests;
pub(super) mod pod_stages;
