//! Replacing and patching of objects.

use serde_json::{Value, json};

use super::create::create;
use super::definitions::define;
use super::ownership::{self, FieldManager};
use super::validate::{self, checked};
use super::write_result::WriteResult;
use super::{patch as patches, scale};
use crate::demo::clock::stamp;
use crate::demo::cluster::Cluster;
use crate::demo::objects::defaults::{self, drop_empty_maps};
use crate::demo::schema;
use crate::demo::store::Edit;
use crate::server::api_error::{ApiError, Cause};
use crate::server::http::query::{Query, Validation};
use crate::server::source::Kind;
use crate::server::target::Target;

/// The type of a patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::demo) enum PatchKind {
    Merge,
    Strategic,
    Json,
    Apply,
}

impl PatchKind {
    /// Returns the type of a patch by its content type.
    ///
    /// # Errors
    /// The content type is unknown, or is a strategic merge of a custom resource.
    pub(in crate::demo) fn of(content_type: &str, kind: &Kind) -> Result<Self, ApiError> {
        match content_type {
            "application/merge-patch+json" => Ok(Self::Merge),
            "application/strategic-merge-patch+json" if !kind.is_custom() => Ok(Self::Strategic),
            "application/json-patch+json" => Ok(Self::Json),
            "application/apply-patch+yaml" => Ok(Self::Apply),
            _ => Err(ApiError::unsupported_media_type()),
        }
    }
}

/// Replaces an object or a subresource.
///
/// # Errors
/// As [`patch`], and for different names.
pub(in crate::demo) fn replace(
    cluster: &Cluster,
    target: &Target,
    mut object: Value,
    query: &Query,
) -> Result<WriteResult, ApiError> {
    let given_name = object["metadata"]["name"].as_str().unwrap_or_default();
    if given_name != target.name {
        return Err(ApiError::bad_request(format!(
            "the name of the object ({given_name}) does not match the name on the URL ({})",
            target.name
        )));
    }
    let is_scale = target.subresource.as_deref() == Some("scale");
    let warnings = if is_scale { Vec::new() } else { checked(&target.kind, &mut object, query)? };
    let mut written = change(cluster, target, query, |value| {
        if is_scale {
            scale_to(target, value, &object)?;
            let version = &object["metadata"]["resourceVersion"];
            if version.is_string() {
                value["metadata"]["resourceVersion"] = version.clone();
            }
        } else {
            *value = object;
        }
        Ok(())
    })?;
    written.warnings = warnings;
    Ok(written)
}

fn scale_to(target: &Target, object: &mut Value, scale: &Value) -> Result<(), ApiError> {
    if let Some(replicas) = scale["spec"]["replicas"].as_i64().filter(|replicas| *replicas < 0) {
        let why = "must be greater than or equal to 0";
        let cause = Cause::invalid_value("spec.replicas", &replicas.into(), why);
        return Err(ApiError::invalid_of("autoscaling", "Scale", &target.name, &[cause]));
    }
    scale::rescale(&target.kind, object, scale);
    Ok(())
}

/// Patches an object or a subresource; an apply creates a missing object.
///
/// # Errors
/// The patch is invalid or not applicable, the object does not exist, was changed meanwhile or would become invalid, or
/// an apply conflicts with other managers.
pub(in crate::demo) fn patch(
    cluster: &Cluster,
    target: &Target,
    patch_kind: PatchKind,
    body: &[u8],
    query: &Query,
) -> Result<WriteResult, ApiError> {
    let patch: Value = serde_json::from_slice(body)
        .map_err(|error| ApiError::bad_request(format!("error decoding patch: {error}")))?;
    if patch_kind == PatchKind::Apply {
        return apply(cluster, target, patch, query);
    }
    let mut warnings = Vec::new();
    let is_scale = target.subresource.as_deref() == Some("scale");
    let mut written = change(cluster, target, query, |value| {
        if is_scale {
            let mut scale = json!({"spec": {"replicas": replicas(&target.kind, value)}});
            apply_patch(target, patch_kind, &mut scale, &patch)?;
            return scale_to(target, value, &scale);
        }
        apply_patch(target, patch_kind, value, &patch)?;
        let found = schema::check(&target.kind, value);
        let unknown: Vec<String> =
            found.unknown.iter().map(|field| format!("unknown field {field:?}")).collect();
        let strict = query.validation() == Validation::Strict && !unknown.is_empty();
        let error =
            found.type_error.or(strict.then(|| format!("strict decoding error: {}", unknown.join(", "))));
        if let Some(error) = error {
            let cause = Cause::invalid("patch", &patch.to_string(), &error);
            return Err(ApiError::invalid_of("", "", "", &[cause]));
        }
        if query.validation() == Validation::Warn {
            warnings = unknown;
        }
        Ok(())
    })?;
    written.warnings = warnings;
    Ok(written)
}

fn replicas(kind: &Kind, object: &Value) -> Value {
    object.pointer(&scale::pointers(kind).0).cloned().unwrap_or_default()
}

fn apply_patch(
    target: &Target,
    patch_kind: PatchKind,
    value: &mut Value,
    patch: &Value,
) -> Result<(), ApiError> {
    match patch_kind {
        PatchKind::Merge => patches::merge(value, patch),
        PatchKind::Strategic | PatchKind::Apply => patches::strategic(value, patch, schema::of(&target.kind)),
        PatchKind::Json => patches::json_patch(value, patch).map_err(|_| ApiError::patch_failed())?,
    }
    Ok(())
}

/// Performs a server-side apply.
fn apply(
    cluster: &Cluster,
    target: &Target,
    mut given: Value,
    query: &Query,
) -> Result<WriteResult, ApiError> {
    let Target { id, kind, namespace, name, subresource } = target;
    if query.text("fieldManager").is_empty() {
        let cause = Cause::required("fieldManager", "is required for apply patch");
        return Err(ApiError::invalid_of("meta.k8s.io", "PatchOptions", "", &[cause]));
    }
    let found = schema::check(kind, &mut given);
    if let Some(field) = found.unknown.first() {
        let given_namespace = given["metadata"]["namespace"].as_str().unwrap_or_default();
        return Err(ApiError::not_in_schema(kind, &format!("{given_namespace}/{name}"), field));
    }
    if let Some(error) = found.type_error {
        return Err(ApiError::undecodable(kind, &error));
    }
    if !given["metadata"].is_object() {
        given["metadata"] = json!({});
    }
    given["metadata"]["name"] = name.as_str().into();
    let query = &query.applying();
    if cluster.store.get(*id, namespace, name).is_none() && subresource.is_none() {
        return create(cluster, target, given, query);
    }
    let manager =
        FieldManager::of(query, subresource.as_deref(), &kind.api_version(), &stamp(cluster.clock.now()));
    change(cluster, target, query, |value| {
        let conflicts = ownership::conflicts(value, &given, kind, &manager);
        let permitted = if query.manager() == "kubectl" {
            ownership::client_side_applied(value, kind)
        } else {
            Vec::new()
        };
        let is_contested = conflicts.iter().any(|(_, field)| !permitted.contains(field));
        if is_contested && !query.force() {
            return Err(ApiError::apply_conflict(&conflicts));
        }
        ownership::apply(value, &given, kind, &manager);
        Ok(())
    })
}

/// Changes an object by `edit`, and restores the fields that clients may not change.
fn change(
    cluster: &Cluster,
    target: &Target,
    query: &Query,
    edit: impl FnOnce(&mut Value) -> Result<(), ApiError>,
) -> Result<WriteResult, ApiError> {
    let Target { id, kind, namespace, name, subresource } = target;
    let manager =
        FieldManager::of(query, subresource.as_deref(), &kind.api_version(), &stamp(cluster.clock.now()));
    cluster.store.check_room()?;
    let stored = cluster.store.edit(*id, namespace, name, |value| {
        let before = value.clone();
        edit(value)?;
        let version = value["metadata"]["resourceVersion"].as_str().unwrap_or_default();
        if !version.is_empty() && before["metadata"]["resourceVersion"] != version {
            let why =
                "the object has been modified; please apply your changes to the latest version and try again";
            return Err(ApiError::conflict(kind, name, why));
        }
        restore_protected(value, &before, kind, subresource.as_deref());
        defaults::refill(cluster, kind, value);
        if let (Some(generation), true) =
            (before["metadata"]["generation"].as_u64(), value["spec"] != before["spec"])
        {
            value["metadata"]["generation"] = (generation + 1).into();
        }
        validate::refuse(kind, name, &validate::causes(kind, value, Some(&before)))?;
        if !query.applies() {
            ownership::record_update(value, &before, kind, &manager);
        }
        if query.dry_run() {
            return Ok(Edit::Discard);
        }
        let has_finalizers =
            |value: &Value| value["metadata"]["finalizers"].as_array().is_some_and(|all| !all.is_empty());
        let is_released = value["metadata"]["deletionTimestamp"].is_string()
            && has_finalizers(&before)
            && !has_finalizers(value);
        Ok(if is_released { Edit::Remove } else { Edit::Keep })
    })?;
    if !query.dry_run() {
        define(cluster, kind, &stored);
    }
    Ok(WriteResult { stored, created: false, warnings: Vec::new() })
}

/// Restores the fields that this request may not change.
fn restore_protected(value: &mut Value, before: &Value, kind: &Kind, subresource: Option<&str>) {
    let mut metadata = value["metadata"].take();
    for own in [
        "name",
        "namespace",
        "uid",
        "resourceVersion",
        "creationTimestamp",
        "deletionTimestamp",
        "generation",
    ] {
        match before["metadata"].get(own) {
            Some(value) => metadata[own] = value.clone(),
            None => drop(metadata.as_object_mut().map(|metadata| metadata.remove(own))),
        }
    }
    drop_empty_maps(&mut metadata);
    value["metadata"] = metadata;
    if subresource == Some("status") {
        let status = value["status"].take();
        value.clone_from(before);
        value["status"] = status;
    } else if kind.has_subresource("status") {
        match before.get("status") {
            Some(status) => value["status"] = status.clone(),
            None => drop(value.as_object_mut().map(|value| value.remove("status"))),
        }
    }
}
