//! The parts of an object's metadata that tables show and that [`Object`] does not hold apart.

use std::collections::BTreeMap;

use jiff::Timestamp;
use kdelta::object::Object;
use serde::Deserialize;

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Metadata {
    pub(super) labels: Option<BTreeMap<String, String>>,
    pub(super) creation_timestamp: Option<String>,
}

#[derive(Deserialize)]
struct Envelope {
    #[serde(default)]
    metadata: Metadata,
}

/// The metadata of an object; nothing of one that is known by its names only, or whose metadata can't be read.
pub(super) fn read(object: &Object) -> Metadata {
    object.parse().map(|Envelope { metadata }| metadata).unwrap_or_default()
}

impl Metadata {
    /// All labels as kubectl shows them: `a=1,b=2`, `<none>`.
    pub(super) fn labels_text(&self) -> String {
        match &self.labels {
            Some(labels) if !labels.is_empty() => {
                let pairs: Vec<_> = labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
                pairs.join(",")
            }
            _ => "<none>".to_owned(),
        }
    }

    pub(super) fn label(&self, key: &str) -> &str {
        self.labels.as_ref().and_then(|labels| labels.get(key)).map_or("", String::as_str)
    }

    /// Whole seconds from the creation to `now`.
    pub(super) fn age(&self, now: Timestamp) -> Option<i64> {
        let created: Timestamp = self.creation_timestamp.as_deref()?.parse().ok()?;
        Some(now.duration_since(created).as_secs())
    }
}
