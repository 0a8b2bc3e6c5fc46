//! Requests to collections, objects and subresources.

use std::sync::Arc;

use http::{HeaderValue, Method, Response, header};
use serde_json::{Value, json};

use super::selection::Selection;
use super::{list, watch};
use crate::demo::alternate_versions;
use crate::demo::api_error::ApiError;
use crate::demo::cluster::Cluster;
use crate::demo::http::accept::{self, Representation};
use crate::demo::http::query::ListOptions;
use crate::demo::http::request::ApiRequest;
use crate::demo::http::response::{self, Body, JSON};
use crate::demo::kinds::{self, Kind};
use crate::demo::representations::writer::{ListMeta, Writer};
use crate::demo::store::{CollectionRange, StoredObject};
use crate::demo::write::{self, Deleted, PatchKind, Target, Written};

/// Responds to a request to a path below a group version.
pub(super) fn respond(
    cluster: &Arc<Cluster>,
    request: &ApiRequest,
    kinds: &[Arc<Kind>],
    [group, version]: [&str; 2],
    rest: &[&str],
) -> Response<Body> {
    if let ("autoscaling", "v1", ["namespaces", namespace, "horizontalpodautoscalers"], &Method::POST) =
        (group, version, rest, &request.method)
    {
        return old_autoscaler(cluster, request, namespace)
            .unwrap_or_else(|error| response::error_response(&error));
    }
    if !kinds.iter().any(|kind| kind.group == group && kind.version == version) {
        return response::unknown_path();
    }
    let (namespace, rest) = match rest {
        // A namespace is itself an object with a subresource.
        ["namespaces", namespace, rest @ ..] if !rest.is_empty() && *rest != ["status"] => {
            (Some(*namespace), rest)
        }
        rest => (None, rest),
    };
    let [plural, rest @ ..] = rest else { return response::unknown_path() };
    let found = alternate_versions::find(group, version, plural)
        .or_else(|| cluster.store.find(group, version, plural));
    let result = match (found, rest) {
        (Some((id, kind)), rest) if namespace.is_none() || kind.namespaced => {
            let target = Target {
                id,
                kind,
                namespace: namespace.unwrap_or_default().to_owned(),
                name: rest.first().copied().unwrap_or_default().to_owned(),
                subresource: rest.get(1).map(|&name| name.to_owned()),
            };
            match rest {
                [] => collection(cluster, request, &target),
                [_] if target.kind.namespaced && namespace.is_none() => Err(ApiError::no_resource()),
                [_] => object(cluster, request, &target),
                [_, name] if target.kind.has_subresource(name) => object(cluster, request, &target),
                _ => Err(ApiError::no_resource()),
            }
        }
        _ => Err(ApiError::no_resource()),
    };
    result.unwrap_or_else(|error| response::error_response(&error))
}

/// Creates autoscalers in version 1 too, which `kubectl autoscale` sends.
fn old_autoscaler(
    cluster: &Arc<Cluster>,
    request: &ApiRequest,
    namespace: &str,
) -> Result<Response<Body>, ApiError> {
    let mut object = write::read(&request.content_type, &request.body.bytes)?;
    let share = object["spec"].as_object_mut().and_then(|spec| spec.remove("targetCPUUtilizationPercentage"));
    if let Some(share) = &share {
        let target = json!({"type": "Utilization", "averageUtilization": share});
        object["spec"]["metrics"] =
            json!([{"type": "Resource", "resource": {"name": "cpu", "target": target}}]);
    }
    object["apiVersion"] = "autoscaling/v2".into();
    let kind = cluster.store.kind(kinds::AUTOSCALERS);
    let target = Target {
        id: kinds::AUTOSCALERS,
        kind,
        namespace: namespace.to_owned(),
        name: String::new(),
        subresource: None,
    };
    let created = write::create(cluster, &target, object, &request.query)?;
    let (_, old) = alternate_versions::find("autoscaling", "v1", "horizontalpodautoscalers")
        .ok_or_else(ApiError::no_resource)?;
    Ok(object_response(cluster, &old, Representation::Objects, &created.stored, 201))
}

fn collection(
    cluster: &Arc<Cluster>,
    request: &ApiRequest,
    target: &Target,
) -> Result<Response<Body>, ApiError> {
    let namespace = Some(target.namespace.as_str()).filter(|namespace| !namespace.is_empty());
    let can = |verb| target.kind.verbs.contains(&verb);
    match request.method {
        Method::GET => {
            let representation = accept::representation(request.accept.as_deref(), &request.query)?;
            let selection = Selection::read(&request.query, &target.kind, namespace)?;
            let options = ListOptions::read(&request.query)?;
            let (id, kind) = (target.id, Arc::clone(&target.kind));
            if options.watch {
                let body = watch::body(Arc::clone(cluster), (id, kind), representation, selection, &options);
                return Ok(response::with_body(200, JSON, body));
            }
            let page = list::page(&cluster.store, id, &selection, &options)?;
            Ok(list::list_response(Arc::clone(cluster), kind, representation, page, request.gzip))
        }
        Method::POST if can("create") && (!target.kind.namespaced || namespace.is_some()) => {
            let representation = accept::representation(request.accept.as_deref(), &request.query)?;
            let object = write::decode(&target.kind, &request.content_type, &request.body.bytes)?;
            let created = write::create(cluster, target, object, &request.query)?;
            Ok(with_warnings(
                object_response(cluster, &target.kind, representation, &created.stored, 201),
                &created,
            ))
        }
        Method::DELETE if can("deletecollection") => delete_collection(cluster, request, target),
        _ => Err(ApiError::method_not_allowed()),
    }
}

fn object(cluster: &Arc<Cluster>, request: &ApiRequest, target: &Target) -> Result<Response<Body>, ApiError> {
    match target.subresource.as_deref() {
        Some("log") => return no_containers(cluster, target, "log"),
        Some("exec") => return no_containers(cluster, target, "run a command in"),
        Some("eviction") => return eviction(cluster, request, target),
        _ => {}
    }
    let representation = accept::representation(request.accept.as_deref(), &request.query)?;
    let is_scale = target.subresource.as_deref() == Some("scale");
    let respond = |stored: &StoredObject, code: u16| {
        if is_scale {
            response::json(code, &write::scale(&target.kind, stored))
        } else {
            object_response(cluster, &target.kind, representation, stored, code)
        }
    };
    match request.method {
        Method::GET => Ok(respond(&*found(cluster, target)?, 200)),
        Method::PUT | Method::PATCH if !target.kind.verbs.contains(&"update") => {
            Err(ApiError::method_not_allowed())
        }
        Method::PUT => {
            if target.subresource.as_deref() == Some("status") && write::is_protobuf(&request.content_type) {
                return Err(ApiError::bad_request(
                    "the demo reads no status in protobuf: send JSON".to_owned(),
                ));
            }
            let object = if is_scale {
                write::read(&request.content_type, &request.body.bytes)?
            } else {
                write::decode(&target.kind, &request.content_type, &request.body.bytes)?
            };
            let written = write::replace(cluster, target, object, &request.query)?;
            Ok(with_warnings(respond(&written.stored, 200), &written))
        }
        Method::PATCH => {
            let patch_kind = PatchKind::of(&request.content_type, &target.kind)?;
            let written = write::patch(cluster, target, patch_kind, &request.body.bytes, &request.query)?;
            Ok(with_warnings(respond(&written.stored, if written.created { 201 } else { 200 }), &written))
        }
        Method::DELETE if target.subresource.is_none() => {
            Ok(match write::delete(cluster, target, &delete_options(request)?, &request.query)? {
                Deleted::Pending(stored) => {
                    object_response(cluster, &target.kind, representation, &stored, 200)
                }
                // The response to a pod's deletion is the pod, for compatibility.
                Deleted::Removed(stored) if target.kind.plural == "pods" => {
                    object_response(cluster, &target.kind, representation, &stored, 200)
                }
                Deleted::Removed(stored) => response::json(200, &success(&target.kind, &stored)),
            })
        }
        _ => Err(ApiError::method_not_allowed()),
    }
}

fn found(cluster: &Cluster, target: &Target) -> Result<Arc<StoredObject>, ApiError> {
    let found = cluster.store.get(target.id, &target.namespace, &target.name);
    found.ok_or_else(|| ApiError::not_found(&target.kind, &target.name))
}

fn no_containers(cluster: &Cluster, target: &Target, action: &str) -> Result<Response<Body>, ApiError> {
    found(cluster, target)?;
    Err(ApiError::no_containers(action))
}

fn eviction(cluster: &Cluster, request: &ApiRequest, target: &Target) -> Result<Response<Body>, ApiError> {
    if request.method != Method::POST {
        return Err(ApiError::method_not_allowed());
    }
    let eviction = write::read(&request.content_type, &request.body.bytes)?;
    write::evict(cluster, target, &eviction, &request.query)?;
    let status =
        json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201});
    Ok(response::json(201, &status))
}

/// Adds the warnings of a write to the response.
fn with_warnings(mut response: Response<Body>, written: &Written) -> Response<Body> {
    for warning in &written.warnings {
        let quoted = Value::from(warning.as_str());
        if let Ok(value) = HeaderValue::from_str(&format!("299 - {quoted}")) {
            response.headers_mut().append(header::WARNING, value);
        }
    }
    response
}

fn delete_options(request: &ApiRequest) -> Result<Value, ApiError> {
    if request.body.bytes.is_empty() {
        return Ok(json!({}));
    }
    write::read(&request.content_type, &request.body.bytes)
}

fn success(kind: &Kind, stored: &StoredObject) -> Value {
    let mut details = kind.details(&stored.name);
    details["uid"] = (*stored.uid).into();
    json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details})
}

/// Deletes the selected objects and returns their list.
fn delete_collection(
    cluster: &Arc<Cluster>,
    request: &ApiRequest,
    target: &Target,
) -> Result<Response<Body>, ApiError> {
    let namespace = Some(target.namespace.as_str()).filter(|namespace| !namespace.is_empty());
    let selection = Selection::read(&request.query, &target.kind, namespace)?;
    let options = delete_options(request)?;
    let now = cluster.store.now(&CollectionRange::all(target.id, namespace));
    let items: Vec<_> = now.items.into_iter().filter(|item| selection.matches(&item.json)).collect();
    for item in &items {
        let each =
            Target { namespace: item.namespace.to_string(), name: item.name.to_string(), ..target.clone() };
        match write::delete(cluster, &each, &options, &request.query) {
            // An object that was deleted meanwhile is fine.
            Ok(_) | Err(ApiError { code: 404, .. }) => {}
            Err(error) => return Err(error),
        }
    }
    let representation = accept::representation(request.accept.as_deref(), &request.query)?;
    let meta = ListMeta { version: now.version, ..Default::default() };
    let page = list::Page { meta, items };
    Ok(list::list_response(Arc::clone(cluster), Arc::clone(&target.kind), representation, page, request.gzip))
}

fn object_response(
    cluster: &Cluster,
    kind: &Arc<Kind>,
    representation: Representation,
    stored: &StoredObject,
    code: u16,
) -> Response<Body> {
    let mut out = Vec::new();
    Writer::new(Arc::clone(kind), representation).one(&mut out, stored, cluster.clock.now());
    out.push(b'\n');
    response::complete(code, JSON, out)
}
