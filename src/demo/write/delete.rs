//! Deletion of objects, immediate or delayed by finalizers and grace periods.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::definitions::undefine;
use crate::demo::clock::stamp;
use crate::demo::cluster::Cluster;
use crate::demo::kinds;
use crate::demo::store::Edit;
use crate::server::api_error::ApiError;
use crate::server::http::query::Query;
use crate::server::source::{Kind, StoredObject};
use crate::server::target::Target;

/// The outcome of a deletion.
pub(in crate::demo) enum Deletion {
    /// Removed, or a dry run of it.
    Removed(Arc<StoredObject>),
    /// Marked for deletion; removed later.
    Pending(Arc<StoredObject>),
}

/// Deletes an object, at once unless a finalizer, a kubelet or its content must be handled first.
pub(in crate::demo) fn delete(
    cluster: &Cluster,
    target: &Target,
    options: &Value,
    query: &Query,
) -> Result<Deletion, ApiError> {
    let Target { id, kind, namespace, name, .. } = target;
    let grace = query.text("gracePeriodSeconds").parse().ok();
    let grace: Option<i64> = options["gracePeriodSeconds"].as_i64().or(grace);
    let is_dry_run = query.dry_run() || options["dryRun"].as_array().is_some_and(|dry| !dry.is_empty());
    if kind.plural == "namespaces" && ["default", "kube-system", "kube-public"].contains(&name.as_str()) {
        return Err(ApiError::forbidden(kind, name, "this namespace may not be deleted"));
    }
    let now = cluster.clock.now();
    let mut is_removed = true;
    if kind.plural == "customresourcedefinitions" && !is_dry_run {
        undefine(cluster, name);
    }
    let stored = cluster.store.edit(*id, namespace, name, |value| {
        check_preconditions(value, target, options)?;
        if is_dry_run {
            return Ok(Edit::Discard);
        }
        is_removed = !begin_deletion(value, kind, grace, now);
        Ok(if is_removed { Edit::Remove } else { Edit::Keep })
    })?;
    if options["propagationPolicy"] == "Orphan" || options["orphanDependents"] == true {
        orphan(cluster, &stored);
    }
    Ok(if is_removed { Deletion::Removed(stored) } else { Deletion::Pending(stored) })
}

fn check_preconditions(value: &Value, target: &Target, options: &Value) -> Result<(), ApiError> {
    const RECREATED: &str = "The object might have been deleted and then recreated";
    const MODIFIED: &str = "The object might have been modified";
    for (key, label, why) in [("uid", "UID", RECREATED), ("resourceVersion", "ResourceVersion", MODIFIED)] {
        let actual = value["metadata"][key].as_str().unwrap_or_default();
        if let Some(required) = options["preconditions"][key].as_str()
            && required != actual
        {
            let why = format!(
                "the {label} in the precondition ({required}) does not match the {label} in record ({actual}). {why}"
            );
            return Err(ApiError::precondition(&target.kind, &target.name, &why));
        }
    }
    Ok(())
}

/// Marks an object that can't be removed at once. Returns whether it was marked and stays for now.
pub(in crate::demo) fn begin_deletion(
    value: &mut Value,
    kind: &Kind,
    grace: Option<i64>,
    now: Timestamp,
) -> bool {
    let has_finalizers = value["metadata"]["finalizers"].as_array().is_some_and(|all| !all.is_empty());
    let is_bound = kind.plural == "pods" && value["spec"]["nodeName"].is_string();
    let is_finished =
        ["Succeeded", "Failed"].contains(&value["status"]["phase"].as_str().unwrap_or_default());
    let default_grace = value["spec"]["terminationGracePeriodSeconds"].as_i64().unwrap_or(30);
    let grace = if is_bound && !is_finished { grace.unwrap_or(default_grace).max(0) } else { 0 };
    let is_namespace = kind.plural == "namespaces";
    if !has_finalizers && !is_namespace && grace == 0 {
        return false;
    }
    if !value["metadata"]["deletionTimestamp"].is_string() {
        let at = now.checked_add(SignedDuration::from_secs(grace)).unwrap_or(now);
        value["metadata"]["deletionTimestamp"] = stamp(at).into();
        value["metadata"]["deletionGracePeriodSeconds"] = grace.into();
    }
    if is_namespace {
        value["status"]["phase"] = "Terminating".into();
        value["metadata"].as_object_mut().map(|metadata| metadata.remove("deletionGracePeriodSeconds"));
    }
    true
}

/// Removes an owner from its dependents, which stay.
fn orphan(cluster: &Cluster, owner: &StoredObject) {
    for id in kinds::DEPENDENTS {
        for item in cluster.store.owned(id, &owner.namespace, &owner.uid) {
            // A dependent that was deleted meanwhile is fine.
            let _missing = cluster.store.edit(id, &item.namespace, &item.name, |value| {
                value["metadata"].as_object_mut().map(|metadata| metadata.remove("ownerReferences"));
                Ok(Edit::Keep)
            });
        }
    }
}
