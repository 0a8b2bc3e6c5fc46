//! Creates, replaces, patches and deletes, with what a real server checks and fills in on the way.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::cluster::{Cluster, stamp};
use super::defaults;
use super::kinds::{self, Kind};
use super::patch;
use super::protobuf;
use super::query::Query;
use super::refusal::{Cause, Refusal};
use super::store::{Edit, KindId};
use super::stored::Stored;

/// One object's place in the API.
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

/// How a patch is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PatchKind {
    Merge,
    Strategic,
    Json,
    Apply,
}

impl PatchKind {
    /// What the content type of a patch says.
    ///
    /// # Errors
    /// Nothing that we know; a strategic merge of a custom resource.
    pub(super) fn of(content_type: &str, kind: &Kind) -> Result<Self, Refusal> {
        match content_type {
            "application/merge-patch+json" => Ok(Self::Merge),
            "application/strategic-merge-patch+json" if !kind.is_custom() => Ok(Self::Strategic),
            "application/json-patch+json" => Ok(Self::Json),
            "application/apply-patch+yaml" => Ok(Self::Apply),
            _ => Err(Refusal::unsupported_media_type()),
        }
    }
}

/// Whether a body is in Kubernetes' protobuf encoding.
pub(super) fn is_protobuf(content_type: &str) -> bool {
    content_type == "application/vnd.kubernetes.protobuf"
}

/// The body of a request as a tree.
///
/// # Errors
/// It can't be read.
pub(super) fn read(content_type: &str, body: &[u8]) -> Result<Value, Refusal> {
    if is_protobuf(content_type) {
        return protobuf::decode(body).map_err(Refusal::bad_request);
    }
    serde_json::from_slice(body).map_err(|error| {
        Refusal::bad_request(format!("couldn't get version/kind; json parse error: {error}"))
    })
}

/// The body of a request as an object of that kind.
///
/// # Errors
/// It can't be read, or is of another kind.
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

/// Creates an object.
pub(super) fn create(
    cluster: &Cluster,
    target: &Target,
    mut object: Value,
    query: &Query,
) -> Result<Arc<Stored>, Refusal> {
    let Target { kind, namespace, .. } = target;
    let store = &cluster.store;
    if !object["metadata"].is_object() {
        object["metadata"] = json!({});
    }
    let metadata = &mut object["metadata"];
    let text = |metadata: &Value, key: &str| metadata[key].as_str().unwrap_or_default().to_owned();
    let (mut name, generated) = (text(metadata, "name"), text(metadata, "generateName"));
    if name.is_empty() && !generated.is_empty() {
        name = format!("{generated}{}", store.suffix());
    }
    check_name(kind, &name)?;
    if !namespace.is_empty() {
        check_namespace(cluster, target, &name, &text(metadata, "namespace"))?;
        metadata["namespace"] = namespace.as_str().into();
    }
    metadata["name"] = name.into();
    metadata["uid"] = store.uid().into();
    metadata["creationTimestamp"] = stamp(cluster.clock.now()).into();
    for own in ["resourceVersion", "selfLink", "deletionTimestamp", "deletionGracePeriodSeconds"] {
        metadata.as_object_mut().map(|metadata| metadata.remove(own));
    }
    defaults::fill(cluster, kind, &mut object);
    drop_empty(&mut object["metadata"]);
    managed(&mut object, kind, query, cluster.clock.now());
    if query.dry_run() {
        let name = object["metadata"]["name"].as_str().unwrap_or_default();
        return match store.get(target.id, namespace, name) {
            Some(_) => Err(Refusal::already_exists(kind, name)),
            None => Ok(Arc::new(Stored::new(kind, object, 0))),
        };
    }
    let stored = store.create(target.id, object)?;
    define(cluster, kind, &stored);
    Ok(stored)
}

/// A resource comes with its definition.
fn define(cluster: &Cluster, kind: &Kind, stored: &Stored) {
    if kind.plural == "customresourcedefinitions"
        && let Some(defined) = Kind::of_definition(&stored.value())
    {
        cluster.store.define(defined);
    }
}

fn check_name(kind: &Kind, name: &str) -> Result<(), Refusal> {
    const FIELD: &str = "metadata.name";
    if name.is_empty() {
        let cause = Cause::required(FIELD, "name or generateName is required");
        return Err(Refusal::invalid(kind, "", &cause));
    }
    let label = |label: &str| {
        let fine = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        !label.is_empty() && label.chars().all(fine) && !label.starts_with('-') && !label.ends_with('-')
    };
    if name.len() <= 253 && name.split('.').all(label) {
        return Ok(());
    }
    let why = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and \
               must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is \
               '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
    Err(Refusal::invalid(kind, name, &Cause::invalid(FIELD, name, why)))
}

fn check_namespace(cluster: &Cluster, target: &Target, name: &str, said: &str) -> Result<(), Refusal> {
    let namespace = target.namespace.as_str();
    if !said.is_empty() && said != namespace {
        let why = "the namespace of the provided object does not match the namespace sent on the request";
        return Err(Refusal::bad_request(why));
    }
    match cluster.store.get(kinds::NAMESPACES, "", namespace) {
        None => Err(Refusal::not_found(&cluster.store.kind(kinds::NAMESPACES), namespace)),
        Some(stored) if stored.value()["metadata"]["deletionTimestamp"].is_string() => {
            let why = format!(
                "unable to create new content in namespace {namespace} because it is being terminated"
            );
            Err(Refusal::forbidden(&target.kind, name, &why))
        }
        Some(_) => Ok(()),
    }
}

/// Replaces an object, or one of its subresources.
pub(super) fn replace(
    cluster: &Cluster,
    target: &Target,
    object: &Value,
    query: &Query,
) -> Result<Arc<Stored>, Refusal> {
    let said = object["metadata"]["name"].as_str().unwrap_or_default();
    if said != target.name {
        return Err(Refusal::bad_request(format!(
            "the name of the object ({said}) does not match the name on the URL ({})",
            target.name
        )));
    }
    change(cluster, target, query, |value| {
        if target.subresource.as_deref() == Some("scale") {
            value["spec"]["replicas"] = object["spec"]["replicas"].clone();
            if object["metadata"]["resourceVersion"].is_string() {
                value["metadata"]["resourceVersion"] = object["metadata"]["resourceVersion"].clone();
            }
        } else {
            value.clone_from(object);
        }
        Ok(())
    })
}

/// Patches an object, or one of its subresources; an apply creates what is not there.
pub(super) fn patch(
    cluster: &Cluster,
    target: &Target,
    how: PatchKind,
    body: &[u8],
    query: &Query,
) -> Result<(Arc<Stored>, bool), Refusal> {
    let patch: Value = serde_json::from_slice(body)
        .map_err(|error| Refusal::bad_request(format!("error decoding patch: {error}")))?;
    let is_there = cluster.store.get(target.id, &target.namespace, &target.name).is_some();
    if how == PatchKind::Apply && !is_there && target.subresource.is_none() {
        return create(cluster, target, patch, query).map(|created| (created, true));
    }
    let apply = |value: &mut Value| {
        match how {
            PatchKind::Merge => patch::merge(value, &patch),
            PatchKind::Strategic | PatchKind::Apply => patch::strategic(value, &patch),
            PatchKind::Json => patch::json_patch(value, &patch).map_err(|why| {
                let cause = Cause::invalid("patch", "", &why);
                Refusal::invalid(&target.kind, &target.name, &cause)
            })?,
        }
        Ok(())
    };
    change(cluster, target, query, apply).map(|changed| (changed, false))
}

/// Changes an object by `edit`, and keeps what a client may not change.
fn change(
    cluster: &Cluster,
    target: &Target,
    query: &Query,
    edit: impl FnOnce(&mut Value) -> Result<(), Refusal>,
) -> Result<Arc<Stored>, Refusal> {
    let Target { id, kind, namespace, name, subresource } = target;
    let stored = cluster.store.edit(*id, namespace, name, |value| {
        let before = value.clone();
        edit(value)?;
        let version = value["metadata"]["resourceVersion"].as_str().unwrap_or_default();
        if !version.is_empty() && before["metadata"]["resourceVersion"] != version {
            let why =
                "the object has been modified; please apply your changes to the latest version and try again";
            return Err(Refusal::conflict(kind, name, why));
        }
        keep(value, &before, kind, subresource.as_deref());
        if let (Some(generation), true) =
            (before["metadata"]["generation"].as_u64(), value["spec"] != before["spec"])
        {
            value["metadata"]["generation"] = (generation + 1).into();
        }
        if query.dry_run() {
            return Ok(Edit::Discard);
        }
        let held =
            |value: &Value| value["metadata"]["finalizers"].as_array().is_some_and(|all| !all.is_empty());
        let is_free = value["metadata"]["deletionTimestamp"].is_string() && held(&before) && !held(value);
        Ok(if is_free { Edit::Remove } else { Edit::Keep })
    })?;
    if !query.dry_run() {
        define(cluster, kind, &stored);
    }
    Ok(stored)
}

/// Puts back what this request could not change.
fn keep(value: &mut Value, before: &Value, kind: &Kind, subresource: Option<&str>) {
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
            Some(kept) => metadata[own] = kept.clone(),
            None => drop(metadata.as_object_mut().map(|metadata| metadata.remove(own))),
        }
    }
    drop_empty(&mut metadata);
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

/// Maps without a member are left out of metadata.
fn drop_empty(metadata: &mut Value) {
    if let Some(metadata) = metadata.as_object_mut() {
        let is_empty = |value: &Value| value.as_object().is_none_or(serde_json::Map::is_empty);
        metadata.retain(|key, value| !["labels", "annotations"].contains(&key.as_str()) || !is_empty(value));
    }
}

/// What became of an object that was to be deleted.
pub(super) enum Deleted {
    /// It is gone, or was dry-run to be.
    Gone(Arc<Stored>),
    /// It goes later, when who holds it lets go.
    Going(Arc<Stored>),
}

/// Deletes an object: at once, unless a finalizer, a kubelet or its content has to go first.
pub(super) fn delete(
    cluster: &Cluster,
    target: &Target,
    options: &Value,
    query: &Query,
) -> Result<Deleted, Refusal> {
    let Target { id, kind, namespace, name, .. } = target;
    let grace = query.text("gracePeriodSeconds").parse().ok();
    let grace: Option<i64> = options["gracePeriodSeconds"].as_i64().or(grace);
    let is_dry = query.dry_run() || options["dryRun"].as_array().is_some_and(|dry| !dry.is_empty());
    if kind.plural == "namespaces" && ["default", "kube-system", "kube-public"].contains(&name.as_str()) {
        return Err(Refusal::forbidden(kind, name, "this namespace may not be deleted"));
    }
    let now = cluster.clock.now();
    let mut gone = true;
    let stored = cluster.store.edit(*id, namespace, name, |value| {
        check_preconditions(value, target, options)?;
        if is_dry {
            return Ok(Edit::Discard);
        }
        gone = !begin_deletion(value, kind, grace, now);
        Ok(if gone { Edit::Remove } else { Edit::Keep })
    })?;
    if options["propagationPolicy"] == "Orphan" || options["orphanDependents"] == true {
        orphan(cluster, &stored);
    }
    Ok(if gone { Deleted::Gone(stored) } else { Deleted::Going(stored) })
}

fn check_preconditions(value: &Value, target: &Target, options: &Value) -> Result<(), Refusal> {
    for (key, own) in [("uid", "UID"), ("resourceVersion", "ResourceVersion")] {
        let (wanted, is) = (&options["preconditions"][key], &value["metadata"][key]);
        if wanted.is_string() && wanted != is {
            let why =
                format!("the {own} in the precondition ({wanted}) does not match the {own} in record ({is})");
            return Err(Refusal::conflict(&target.kind, &target.name, &why));
        }
    }
    Ok(())
}

/// Marks an object that can't go at once; answers whether it stays for now.
pub(super) fn begin_deletion(value: &mut Value, kind: &Kind, grace: Option<i64>, now: Timestamp) -> bool {
    let is_held = value["metadata"]["finalizers"].as_array().is_some_and(|all| !all.is_empty());
    let is_bound = kind.plural == "pods" && value["spec"]["nodeName"].is_string();
    let is_over = ["Succeeded", "Failed"].contains(&value["status"]["phase"].as_str().unwrap_or_default());
    let own = value["spec"]["terminationGracePeriodSeconds"].as_i64().unwrap_or(30);
    let grace = if is_bound && !is_over { grace.unwrap_or(own).max(0) } else { 0 };
    let is_namespace = kind.plural == "namespaces";
    if !is_held && !is_namespace && grace == 0 {
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

/// Lets what an object owns live on without it.
fn orphan(cluster: &Cluster, owner: &Stored) {
    for id in [kinds::REPLICA_SETS, kinds::PODS] {
        for item in cluster.store.owned(id, &owner.namespace, &owner.uid) {
            // Who is gone meanwhile needs no freedom.
            let _gone = cluster.store.edit(id, &item.namespace, &item.name, |value| {
                value["metadata"].as_object_mut().map(|metadata| metadata.remove("ownerReferences"));
                Ok(Edit::Keep)
            });
        }
    }
}

/// `autoscaling/v1 Scale` of what can be scaled.
pub(super) fn scale(stored: &Stored) -> Value {
    let object = stored.value();
    let mut metadata = json!({});
    for key in ["name", "namespace", "uid", "resourceVersion", "creationTimestamp"] {
        metadata[key] = object["metadata"][key].clone();
    }
    let labels = object["spec"]["selector"]["matchLabels"].as_object().into_iter().flatten();
    let labels = labels.map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or_default()));
    json!({
        "kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": metadata,
        "spec": {"replicas": object["spec"]["replicas"]},
        "status": {
            "replicas": object["status"]["replicas"].as_u64().unwrap_or(0),
            "selector": labels.collect::<Vec<_>>().join(","),
        },
    })
}

/// Who wrote which parts: one entry, by the names of the top-level fields.
fn managed(object: &mut Value, kind: &Kind, query: &Query, now: Timestamp) {
    let manager = match query.text("fieldManager") {
        "" => "unknown",
        manager => manager,
    };
    let own = ["apiVersion", "kind", "metadata", "status"];
    let fields = object.as_object().into_iter().flatten().filter(|(key, _)| !own.contains(&key.as_str()));
    let mut fields: serde_json::Map<_, _> = fields.map(|(key, _)| (format!("f:{key}"), json!({}))).collect();
    if object["metadata"]["labels"].is_object() {
        fields.insert("f:metadata".into(), json!({"f:labels": {}}));
    }
    if !fields.is_empty() {
        object["metadata"]["managedFields"] = json!([{
            "manager": manager, "operation": "Update", "apiVersion": kind.api_version(), "time": stamp(now),
            "fieldsType": "FieldsV1", "fieldsV1": fields,
        }]);
    }
}
