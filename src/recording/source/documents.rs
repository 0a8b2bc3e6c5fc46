//! The recorded documents as they are served.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use serde_json::Value;

use super::kinds::RecordedKinds;

/// The recorded documents by their paths.
pub(super) struct Documents(BTreeMap<Arc<str>, Bytes>);

impl Documents {
    /// Creates the documents. In aggregated discovery, unrecorded resources lose the verbs to list and watch, so
    /// that clients that read all types request only the recorded ones. All other documents are served as recorded.
    pub(super) fn new(mut documents: BTreeMap<Arc<str>, Bytes>, kinds: &RecordedKinds) -> Self {
        for path in ["/api", "/apis"] {
            if let Some(body) = documents.get_mut(path)
                && let Some(restricted) = restricted(body, kinds)
            {
                *body = restricted;
            }
        }
        Self(documents)
    }

    /// Replaces a document by a later version.
    pub(super) fn set(&mut self, path: &Arc<str>, body: &Bytes, kinds: &RecordedKinds) {
        let is_discovery = ["/api", "/apis"].contains(&&**path);
        let restricted = if is_discovery { restricted(body, kinds) } else { None };
        self.0.insert(Arc::clone(path), restricted.unwrap_or_else(|| body.clone()));
    }

    /// Returns the document at a path.
    pub(super) fn get(&self, path: &str) -> Option<Bytes> {
        self.0.get(path).cloned()
    }
}

/// Returns the document without the verbs; `None` if it does not change.
fn restricted(body: &[u8], kinds: &RecordedKinds) -> Option<Bytes> {
    let mut document: Value = serde_json::from_slice(body).ok()?;
    let mut has_changed = false;
    for group in elements(&mut document, "items") {
        let name = text(&group["metadata"], "name");
        for version in elements(group, "versions") {
            let of = text(version, "version");
            for resource in elements(version, "resources") {
                let plural = text(resource, "resource");
                if kinds.unavailable_reason(&name, &of, &plural).is_some() {
                    has_changed = true;
                    remove_reads(resource);
                }
            }
        }
    }
    has_changed.then(|| Bytes::from(document.to_string()))
}

/// Removes the verbs of reads. Clients ignore a resource without any verb, so one that can only be read keeps `get`.
fn remove_reads(resource: &mut Value) {
    let Some(verbs) = resource["verbs"].as_array_mut() else { return };
    verbs.retain(|verb| !["get", "list", "watch"].contains(&verb.as_str().unwrap_or_default()));
    if verbs.is_empty() {
        verbs.push("get".into());
    }
}

fn elements<'a>(value: &'a mut Value, name: &str) -> impl Iterator<Item = &'a mut Value> {
    value.get_mut(name).and_then(Value::as_array_mut).into_iter().flatten()
}

fn text(value: &Value, name: &str) -> String {
    value.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
}
