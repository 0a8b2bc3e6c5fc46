//! The objects that files name, with the resource and the namespace that each has in a cluster.

use std::sync::Arc;

use anyhow::anyhow;
use kdelta::listwatch::{Error, Status};
use kdelta::object::{ApiResource, Ingest, Object, TypeMeta, go_quote};
use serde_json::Value;

use super::{Cluster, Part, Session};
use crate::manifest::{Described, Document, Entry};
use crate::settings::Namespaces;

/// An object of a file in one cluster.
#[derive(Debug)]
pub(crate) struct FileObject {
    pub(crate) part: Part,
    /// The object of the file itself if it has no name, so that the server has none. The part has no name then.
    pub(crate) unnamed: Option<Arc<Object>>,
    /// Why the object can't be requested.
    pub(crate) refused: Option<anyhow::Error>,
    /// The error for a namespace that differs from the requested one. kubectl reports it once the object is known to
    /// exist.
    pub(crate) wrong_namespace: Option<anyhow::Error>,
}

/// The objects of a document in one cluster, or an error in their place.
#[derive(Debug)]
pub(crate) enum ResolvedDocument {
    Object(FileObject),
    Failed(anyhow::Error),
    /// The items of a list.
    List(Vec<ResolvedDocument>),
}

impl Session {
    /// Resolves the documents in every cluster, one cluster after the other. Errors of the documents themselves are
    /// reported for the first cluster only.
    pub(crate) async fn resolve_files(
        &self,
        entries: &[Entry],
        namespaces: &Namespaces,
    ) -> Vec<ResolvedDocument> {
        let mut resolved = Vec::new();
        for (position, cluster) in self.clusters.iter().enumerate() {
            for Entry { source, found } in entries {
                match found {
                    Ok(document) => {
                        resolved.push(cluster.resolve_document(source, document, namespaces).await);
                    }
                    Err(error) if position == 0 => {
                        resolved.push(ResolvedDocument::Failed(anyhow::Error::new(error.clone())));
                    }
                    Err(_) => {}
                }
            }
        }
        resolved
    }
}

impl Cluster {
    async fn resolve_document(
        &self,
        source: &str,
        document: &Document,
        namespaces: &Namespaces,
    ) -> ResolvedDocument {
        let (described, items) = match document {
            Document::Object(object) => (object, None),
            Document::List { list, items } => (list, Some(items)),
        };
        let not_mapped = |reason: String| {
            let Described { name, namespace, .. } = described;
            let [name, namespace, source_name] = [name.as_str(), namespace, source].map(go_quote);
            anyhow::Error::new(UnmappedKind { name, namespace, source_name, reason })
        };
        let resource = match self.resource_of(described).await {
            Ok(resource) => resource,
            Err(error) => return ResolvedDocument::Failed(error.with(not_mapped)),
        };
        let Some(items) = items else {
            return ResolvedDocument::Object(self.file_object(described, &resource, namespaces));
        };
        let mut resolved = Vec::with_capacity(items.len());
        for item in items {
            resolved.push(self.resolve_item(item, namespaces).await);
        }
        ResolvedDocument::List(resolved)
    }

    async fn resolve_item(&self, item: &Described, namespaces: &Namespaces) -> ResolvedDocument {
        if let Some(reason) = item.missing_type() {
            return ResolvedDocument::Failed(anyhow!(
                "unable to get type info from the object \"*unstructured.Unstructured\": {reason}"
            ));
        }
        match self.resource_of(item).await {
            Ok(resource) => ResolvedDocument::Object(self.file_object(item, &resource, namespaces)),
            Err(error) => {
                ResolvedDocument::Failed(error.with(|reason| anyhow!("unable to recognize {reason}")))
            }
        }
    }

    /// Returns the resource of an object's kind.
    async fn resource_of(&self, described: &Described) -> Result<Arc<ApiResource>, NoResource> {
        let (group, version) = described.group_version();
        match self.discovery().resource_of_kind(group, version, &described.kind).await {
            Ok(Some(resource)) => Ok(Arc::new(resource)),
            Ok(None) => {
                let (kind, version) = (go_quote(&described.kind), go_quote(&described.api_version));
                Err(NoResource::Unmatched(format!("no matches for kind {kind} in version {version}")))
            }
            Err(error) => Err(NoResource::Undiscovered(error.into())),
        }
    }

    fn file_object(
        &self,
        described: &Described,
        resource: &Arc<ApiResource>,
        namespaces: &Namespaces,
    ) -> FileObject {
        let Described { api_version, kind, name, namespace, body } = described;
        let default = match namespaces {
            Namespaces::Named(names) => names.first().map_or("", String::as_str),
            Namespaces::Current => self.namespace(),
            Namespaces::All | Namespaces::Matching { .. } => "",
        };
        let namespace = match namespace.as_str() {
            _ if !resource.namespaced => "",
            "" => default,
            own => own,
        };
        let is_wrong =
            matches!(namespaces, Namespaces::Named(_)) && resource.namespaced && namespace != default;
        let wrong_namespace = is_wrong.then(|| {
            let (own, requested) = (go_quote(namespace), go_quote(default));
            anyhow!(
                "the namespace from the provided object {own} does not match the namespace {requested}. You must pass '--namespace={namespace}' to perform this operation."
            )
        });
        let part = self.object_of(Arc::clone(resource), namespace, name);
        if name.is_empty() {
            let type_meta = TypeMeta { api_version: api_version.clone(), kind: kind.clone() };
            let unnamed = unnamed(body, Arc::new(type_meta), namespace);
            let (unnamed, refused) = match unnamed {
                Ok(object) => (Some(Arc::new(object)), None),
                Err(error) => (None, Some(error)),
            };
            return FileObject { part: Part { name: None, ..part }, unnamed, refused, wrong_namespace };
        }
        let refused = if resource.namespaced && namespace.is_empty() {
            let ApiResource { group, version, resource, .. } = &**resource;
            let name = go_quote(name);
            Some(anyhow!("no namespace set on resource {group}/{version}, Resource={resource} {name}"))
        } else {
            // A request needs a version, and kubectl requests a path without one.
            api_version.is_empty().then(|| anyhow::Error::new(unserved()))
        };
        FileObject { part, unnamed: None, refused, wrong_namespace }
    }
}

/// The server has no resource of a document's kind. The names are quoted.
#[derive(Debug, thiserror::Error)]
#[error(
    "resource mapping not found for name: {name} namespace: {namespace} from {source_name}: {reason}\nensure CRDs are installed first"
)]
pub(crate) struct UnmappedKind {
    name: String,
    namespace: String,
    source_name: String,
    reason: String,
}

/// Why an object has no resource.
enum NoResource {
    /// The server has no such kind.
    Unmatched(String),
    Undiscovered(anyhow::Error),
}

impl NoResource {
    /// Returns the error, one for an unknown kind with the text that `describe` makes of the reason.
    fn with(self, describe: impl FnOnce(String) -> anyhow::Error) -> anyhow::Error {
        match self {
            Self::Unmatched(reason) => describe(reason),
            Self::Undiscovered(error) => error,
        }
    }
}

/// Returns the server's error for a path that it does not serve.
fn unserved() -> Error {
    Error::NotFound(Status {
        code: Some(404),
        reason: "NotFound".into(),
        message: "the server could not find the requested resource".into(),
        ..Status::default()
    })
}

/// Returns the object of a file, in the namespace that it belongs to.
fn unnamed(body: &str, type_meta: Arc<TypeMeta>, namespace: &str) -> anyhow::Result<Object> {
    let mut body: Value = serde_json::from_str(body)?;
    let own_namespace = (!namespace.is_empty()).then(|| Value::from(namespace));
    let metadata = body.get_mut("metadata").and_then(Value::as_object_mut);
    match (metadata, own_namespace) {
        (Some(metadata), None) => drop(metadata.remove("namespace")),
        (Some(metadata), Some(namespace)) => drop(metadata.insert("namespace".to_owned(), namespace)),
        (None, None) => {}
        (None, Some(namespace)) => body["metadata"] = serde_json::json!({ "namespace": namespace }),
    }
    let ingest = Ingest { keep_managed_fields: true, ..Ingest::of(type_meta) };
    Ok(Object::unnamed_from_json(body.to_string().as_bytes(), &ingest)?)
}
