//! Creation of objects: names, defaults and generated fields.

use std::sync::Arc;

use serde_json::{Value, json};

use super::definitions::define;
use super::ownership::{self, FieldManager};
use super::validate::{self, checked};
use super::write_result::WriteResult;
use crate::demo::clock::stamp;
use crate::demo::cluster::Cluster;
use crate::demo::kinds;
use crate::demo::objects::defaults::{self, drop_empty_maps};
use crate::server::api_error::{ApiError, Cause};
use crate::server::http::query::Query;
use crate::server::source::{Kind, StoredObject};
use crate::server::target::Target;

/// Creates an object.
///
/// # Errors
/// As on a real server: an invalid or taken name, a missing namespace, invalid fields.
pub(in crate::demo) fn create(
    cluster: &Cluster,
    target: &Target,
    mut object: Value,
    query: &Query,
) -> Result<WriteResult, ApiError> {
    let Target { kind, namespace, .. } = target;
    let store = &cluster.store;
    if !object["metadata"].is_object() {
        object["metadata"] = json!({});
    }
    let warnings = checked(kind, &mut object, query)?;
    let name = set_metadata(cluster, target, &mut object["metadata"])?;
    validate::refuse(kind, &name, &validate::causes(kind, &object, None))?;
    let applied = object.clone();
    defaults::fill(cluster, kind, &mut object);
    drop_empty_maps(&mut object["metadata"]);
    let manager = FieldManager::of(query, None, &kind.api_version(), &stamp(cluster.clock.now()));
    if query.applies() {
        ownership::record_creation(&mut object, &applied, kind, &manager);
    } else {
        ownership::record_update(&mut object, &json!({}), kind, &manager);
    }
    if query.dry_run() {
        return match store.get(target.id, namespace, &name) {
            Some(_) => Err(ApiError::already_exists(kind, &name)),
            None => Ok(WriteResult {
                stored: Arc::new(StoredObject::new(kind, object, 0)),
                created: true,
                warnings,
            }),
        };
    }
    store.check_room()?;
    let stored = store.create(target.id, object)?;
    define(cluster, kind, &stored);
    Ok(WriteResult { stored, created: true, warnings })
}

/// Sets the fields of the metadata that the server determines, and returns the name of the object.
fn set_metadata(cluster: &Cluster, target: &Target, metadata: &mut Value) -> Result<String, ApiError> {
    const REMOVED: [&str; 5] =
        ["resourceVersion", "selfLink", "deletionTimestamp", "deletionGracePeriodSeconds", "managedFields"];
    let namespace = target.namespace.as_str();
    let text = |key: &str| metadata[key].as_str().unwrap_or_default().to_owned();
    let (mut name, prefix, requested_namespace) = (text("name"), text("generateName"), text("namespace"));
    if name.is_empty() && !prefix.is_empty() {
        name = format!("{prefix}{}", cluster.store.suffix());
    }
    check_name(&target.kind, &name)?;
    if !namespace.is_empty() {
        check_namespace(cluster, target, &name, &requested_namespace)?;
        metadata["namespace"] = namespace.into();
    }
    metadata["name"] = name.as_str().into();
    metadata["uid"] = cluster.store.uid().into();
    metadata["creationTimestamp"] = stamp(cluster.clock.now()).into();
    for field in REMOVED {
        metadata.as_object_mut().map(|metadata| metadata.remove(field));
    }
    Ok(name)
}

/// Checks a name by the rules of Kubernetes, with its message.
fn check_name(kind: &Kind, name: &str) -> Result<(), ApiError> {
    const FIELD: &str = "metadata.name";
    if name.is_empty() {
        let cause = Cause::required(FIELD, "name or generateName is required");
        return Err(ApiError::invalid(kind, "", &[cause]));
    }
    let label = |label: &str| {
        let is_allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        !label.is_empty() && label.chars().all(is_allowed) && !label.starts_with('-') && !label.ends_with('-')
    };
    let is_path = kind.group == "rbac.authorization.k8s.io" && !name.contains(['/', '%']);
    if name.len() <= 253 && name.split('.').all(label) || is_path {
        return Ok(());
    }
    let why = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and \
               must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is \
               '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
    Err(ApiError::invalid(kind, name, &[Cause::invalid(FIELD, name, why)]))
}

/// Checks that the namespace of an object is that of the request, exists and is not being deleted.
fn check_namespace(cluster: &Cluster, target: &Target, name: &str, requested: &str) -> Result<(), ApiError> {
    let namespace = target.namespace.as_str();
    if !requested.is_empty() && requested != namespace {
        let why = "the namespace of the provided object does not match the namespace sent on the request";
        return Err(ApiError::bad_request(why));
    }
    match cluster.store.get(kinds::NAMESPACES, "", namespace) {
        None => Err(ApiError::not_found(&cluster.store.kind(kinds::NAMESPACES), namespace)),
        Some(stored) if stored.value()["metadata"]["deletionTimestamp"].is_string() => {
            let why = format!(
                "unable to create new content in namespace {namespace} because it is being terminated"
            );
            Err(ApiError::forbidden(&target.kind, name, &why))
        }
        Some(_) => Ok(()),
    }
}
