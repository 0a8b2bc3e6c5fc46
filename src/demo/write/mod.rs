//! The write operations, with a real server's validation and defaulting.

mod change;
mod create;
mod delete;
pub(super) mod evict;
mod patch;
mod scale;
mod validate;

use std::sync::Arc;

use serde_json::Value;

use super::answer::JSON;
use super::cluster::Cluster;
use super::kinds::Kind;
use super::protobuf;
use super::query::{Query, Validation};
use super::refusal::Refusal;
use super::schema;
use super::store::KindId;
use super::stored::Stored;

pub(super) use change::{PatchKind, patch, replace};
pub(super) use create::create;
pub(super) use delete::{Deleted, begin_deletion, delete};
pub(super) use scale::scale;

/// The target of a request.
#[derive(Debug, Clone)]
pub(super) struct Target {
    pub(super) id: KindId,
    pub(super) kind: Arc<Kind>,
    /// Empty for a cluster-scoped object.
    pub(super) namespace: String,
    pub(super) name: String,
    /// `status` or `scale`.
    pub(super) subresource: Option<String>,
}

/// The result of a write.
pub(super) struct Written {
    pub(super) stored: Arc<Stored>,
    pub(super) created: bool,
    /// Warnings for the client.
    pub(super) warnings: Vec<String>,
}

/// Returns whether a body has Kubernetes' protobuf encoding.
pub(super) fn is_protobuf(content_type: &str) -> bool {
    content_type == "application/vnd.kubernetes.protobuf"
}

/// Parses the body of a request.
///
/// A real server treats a body without `Content-Type` as JSON. The demo requires the header: a web page can send bodies
/// without it, or with a few simple types, to any server, but JSON only to servers that allow it.
///
/// # Errors
/// The type is neither JSON nor protobuf, or the body can't be parsed.
pub(super) fn read(content_type: &str, body: &[u8]) -> Result<Value, Refusal> {
    if is_protobuf(content_type) {
        return protobuf::decode(body).map_err(Refusal::bad_request);
    }
    if content_type != JSON {
        return Err(Refusal::unsupported_media_type());
    }
    serde_json::from_slice(body).map_err(|error| {
        Refusal::bad_request(format!("couldn't get version/kind; json parse error: {error}"))
    })
}

/// Parses the body of a request as an object of this kind.
///
/// # Errors
/// The body is invalid or of another kind.
pub(super) fn decode(kind: &Kind, content_type: &str, body: &[u8]) -> Result<Value, Refusal> {
    let value = read(content_type, body)?;
    let (own, version) = (value["kind"].as_str(), value["apiVersion"].as_str());
    let is_it = own.is_none_or(|own| own == kind.kind) && version.is_none_or(|own| own == kind.api_version());
    if value.is_object() && is_it {
        return Ok(value);
    }
    Err(Refusal::bad_request(format!(
        "{} in version {:?} cannot be handled as a {}",
        own.unwrap_or("the object"),
        version.unwrap_or_default(),
        kind.kind
    )))
}

/// Removes unknown fields from an object and returns the warnings about them.
///
/// # Errors
/// There are unknown fields and the client requested strict validation, or a field has the wrong type.
fn checked(kind: &Kind, object: &mut Value, query: &Query) -> Result<Vec<String>, Refusal> {
    let found = schema::check(kind, object);
    if let Some(wrong) = &found.wrong {
        return Err(Refusal::undecodable(kind, wrong));
    }
    let unknown: Vec<String> = found.unknown.iter().map(|field| format!("unknown field {field:?}")).collect();
    match query.validation() {
        Validation::Strict if !unknown.is_empty() => {
            Err(Refusal::undecodable(kind, &format!("strict decoding error: {}", unknown.join(", "))))
        }
        Validation::Warn => Ok(unknown),
        Validation::Strict | Validation::Ignore => Ok(Vec::new()),
    }
}

/// Defines the resource of a definition.
fn define(cluster: &Cluster, kind: &Kind, stored: &Stored) {
    if kind.plural == "customresourcedefinitions"
        && let Some(defined) = Kind::of_definition(&stored.value())
    {
        cluster.store.define(defined);
    }
}

/// Removes empty maps from metadata.
fn drop_empty(metadata: &mut Value) {
    if let Some(metadata) = metadata.as_object_mut() {
        let is_empty = |value: &Value| value.as_object().is_none_or(serde_json::Map::is_empty);
        metadata.retain(|key, value| !["labels", "annotations"].contains(&key.as_str()) || !is_empty(value));
    }
}
