//! The recorded documents as they are served.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use serde_json::{Value, json};

use super::kinds::{Origin, RecordedKinds};
use crate::server::discovery;
use crate::server::source::Source;

/// The paths of aggregated discovery: the core group, and the others.
const DISCOVERY: [&str; 2] = ["/api", "/apis"];

/// The recorded documents by their paths.
pub(super) struct Documents(BTreeMap<Arc<str>, Bytes>);

impl Documents {
    /// Creates the documents. In aggregated discovery, unrecorded resources lose the verbs to list and watch, so
    /// that clients that read all types request only the recorded ones, and readable resources that it lacks are added.
    /// All other documents are served as recorded.
    pub(super) fn new(mut documents: BTreeMap<Arc<str>, Bytes>, kinds: &RecordedKinds) -> Self {
        for path in DISCOVERY {
            if let Some(body) = documents.get_mut(path)
                && let Some(adapted) = adapted(path, body, kinds)
            {
                *body = adapted;
            }
        }
        Self(documents)
    }

    /// Replaces a document by a later version.
    pub(super) fn set(&mut self, path: &Arc<str>, body: &Bytes, kinds: &RecordedKinds) {
        let is_discovery = DISCOVERY.contains(&&**path);
        let adapted = if is_discovery { adapted(path, body, kinds) } else { None };
        self.0.insert(Arc::clone(path), adapted.unwrap_or_else(|| body.clone()));
    }

    /// Returns the document at a path.
    pub(super) fn get(&self, path: &str) -> Option<Bytes> {
        self.0.get(path).cloned()
    }
}

/// Returns the document of `/version` of a source: the recorded one, or else one whose numbers can't be mistaken for
/// those of a release.
pub(super) fn server_version(source: &dyn Source, origin: Origin) -> Value {
    let document = source.document("/version").and_then(|body| serde_json::from_slice(&body).ok());
    document.filter(Value::is_object).unwrap_or_else(|| {
        let own = match origin {
            Origin::Recording => "recording",
            Origin::Mirror => "mirror",
        };
        json!({
            "major": "0", "minor": "0", "gitVersion": format!("v0.0.0-kdelta-{own}"), "gitCommit": "",
            "gitTreeState": "", "buildDate": "1970-01-01T00:00:00Z", "goVersion": "", "compiler": "", "platform": "",
        })
    })
}

/// Returns a document of discovery with the resources as they are served; `None` if it does not change.
fn adapted(path: &str, body: &[u8], kinds: &RecordedKinds) -> Option<Bytes> {
    let mut document: Value = serde_json::from_slice(body).ok()?;
    let is_restricted = restrict(&mut document, kinds);
    let is_extended = extend(&mut document, path, kinds);
    (is_restricted || is_extended).then(|| Bytes::from(document.to_string()))
}

/// Removes the verbs of unrecorded resources, and returns whether there are any.
fn restrict(document: &mut Value, kinds: &RecordedKinds) -> bool {
    let mut has_changed = false;
    for group in elements(document, "items") {
        let name = text(&group["metadata"], "name");
        for version in elements(group, "versions") {
            let of = text(version, "version");
            for resource in elements(version, "resources") {
                let plural = text(resource, "resource");
                if kinds.is_unavailable(&name, &of, &plural) {
                    has_changed = true;
                    remove_reads(resource);
                }
            }
        }
    }
    has_changed
}

/// Adds the readable resources that the document lacks, and returns whether there are any.
fn extend(document: &mut Value, path: &str, kinds: &RecordedKinds) -> bool {
    let Some(groups) = list(document, "items") else { return false };
    let mut has_changed = false;
    let is_core = path == "/api";
    for kind in kinds.all.iter().filter(|kind| kind.is_readable() && kind.group.is_empty() == is_core) {
        let new = || json!({"metadata": {"name": kind.group}, "versions": []});
        let group = entry(groups, |group| text(&group["metadata"], "name") == kind.group, new);
        let Some(versions) = list(group, "versions") else { continue };
        let new = || json!({"version": kind.version, "resources": [], "freshness": "Current"});
        let version = entry(versions, |version| text(version, "version") == kind.version, new);
        let Some(resources) = list(version, "resources") else { continue };
        let count = resources.len();
        let new = || discovery::aggregated_resource(kind);
        entry(resources, |resource| text(resource, "resource") == kind.plural, new);
        has_changed |= resources.len() > count;
    }
    has_changed
}

/// Returns an element of a list, which is appended if it is missing.
fn entry(list: &mut Vec<Value>, is_it: impl Fn(&Value) -> bool, new: impl FnOnce() -> Value) -> &mut Value {
    let at = list.iter().position(is_it).unwrap_or(list.len());
    if at == list.len() {
        list.push(new());
    }
    &mut list[at]
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
    list(value, name).into_iter().flatten()
}

fn list<'a>(value: &'a mut Value, name: &str) -> Option<&'a mut Vec<Value>> {
    value.get_mut(name)?.as_array_mut()
}

fn text(value: &Value, name: &str) -> String {
    value.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
}
