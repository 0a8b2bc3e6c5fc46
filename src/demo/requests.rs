//! The requests that a read-only server does not serve: writes, access reviews, scales, and requests to containers.

use std::sync::Arc;

use http::{HeaderValue, Method, Response, header};
use serde_json::{Value, json};

use super::cluster::Cluster;
use super::write::{self, Deletion, PatchKind, WriteResult};
use super::{access_reviews, errors, kinds};
use crate::server::api_error::ApiError;
use crate::server::http::accept::{self, ResponseForm};
use crate::server::http::request::ApiRequest;
use crate::server::http::response::{self, Body};
use crate::server::list;
use crate::server::representations::writer::ListMeta;
use crate::server::resources::{found, object_response};
use crate::server::selection::Selection;
use crate::server::source::{CollectionRange, Kind, Source, StoredObject};
use crate::server::target::Target;

/// Returns the response to a request, or `None` if the server itself is to respond.
pub(super) fn respond(cluster: &Arc<Cluster>, request: &ApiRequest) -> Option<Response<Body>> {
    let path: Vec<&str> = request.path.iter().map(String::as_str).collect();
    if let ["apis", group, "v1", plural] | ["apis", group, "v1", "namespaces", _, plural] = path.as_slice()
        && request.method == Method::POST
        && access_reviews::respond(group, plural, &Value::Null).is_some()
    {
        return Some(review(request, group, plural));
    }
    let target = Target::of_path(&**cluster, &request.path)?.ok()?;
    let result = if target.name.is_empty() {
        collection(cluster, request, &target)
    } else {
        object(cluster, request, &target)
    };
    result.unwrap_or_else(|error| Some(response::error_response(&error)))
}

fn review(request: &ApiRequest, group: &str, plural: &str) -> Response<Body> {
    match write::read(&request.content_type, &request.body.bytes) {
        Ok(review) => access_reviews::respond(group, plural, &review)
            .map_or_else(response::unknown_path, |review| response::json(201, &review)),
        Err(error) => response::error_response(&error),
    }
}

/// Creates autoscalers in version 1 too, which `kubectl autoscale` sends.
fn old_autoscaler(
    cluster: &Arc<Cluster>,
    request: &ApiRequest,
    old: &Target,
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
    let target = Target { kind, ..old.clone() };
    let created = write::create(cluster, &target, object, &request.query)?;
    Ok(object_response(cluster.clock.now(), &old.kind, ResponseForm::Objects, &created.stored, 201))
}

fn collection(
    cluster: &Arc<Cluster>,
    request: &ApiRequest,
    target: &Target,
) -> Result<Option<Response<Body>>, ApiError> {
    let can = |verb| target.kind.verbs.contains(&verb);
    let is_complete = !target.kind.namespaced || target.namespace().is_some();
    match request.method {
        Method::POST if is_old_autoscaler(&target.kind) && is_complete => {
            old_autoscaler(cluster, request, target).map(Some)
        }
        Method::POST if can("create") && is_complete => {
            let representation = accept::representation(request.accept.as_deref(), &request.query)?;
            let object = write::decode(&target.kind, &request.content_type, &request.body.bytes)?;
            let created = write::create(cluster, target, object, &request.query)?;
            let now = cluster.clock.now();
            let response = object_response(now, &target.kind, representation, &created.stored, 201);
            Ok(Some(with_warnings(response, &created)))
        }
        Method::DELETE if can("deletecollection") => delete_collection(cluster, request, target).map(Some),
        _ => Ok(None),
    }
}

fn is_old_autoscaler(kind: &Kind) -> bool {
    (kind.group.as_str(), kind.version.as_str()) == ("autoscaling", "v1")
}

fn object(
    cluster: &Arc<Cluster>,
    request: &ApiRequest,
    target: &Target,
) -> Result<Option<Response<Body>>, ApiError> {
    match target.subresource.as_deref() {
        Some("log") => return no_containers(cluster, target, "log").map(Some),
        Some("exec") => return no_containers(cluster, target, "run a command in").map(Some),
        Some("eviction") => return eviction(cluster, request, target).map(Some),
        _ => {}
    }
    let is_scale = target.subresource.as_deref() == Some("scale");
    if request.method == Method::GET && !is_scale {
        return Ok(None);
    }
    let representation = accept::representation(request.accept.as_deref(), &request.query)?;
    let respond = |stored: &StoredObject, code: u16| {
        if is_scale {
            response::json(code, &write::scale(&target.kind, stored))
        } else {
            object_response(cluster.clock.now(), &target.kind, representation, stored, code)
        }
    };
    let response = match request.method {
        Method::GET => respond(&*found(&**cluster, target)?, 200),
        Method::PUT | Method::PATCH if !target.kind.verbs.contains(&"update") => return Ok(None),
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
            with_warnings(respond(&written.stored, 200), &written)
        }
        Method::PATCH => {
            let patch_kind = PatchKind::of(&request.content_type, &target.kind)?;
            let written = write::patch(cluster, target, patch_kind, &request.body.bytes, &request.query)?;
            with_warnings(respond(&written.stored, if written.created { 201 } else { 200 }), &written)
        }
        Method::DELETE if target.subresource.is_none() => {
            match write::delete(cluster, target, &delete_options(request)?, &request.query)? {
                Deletion::Pending(stored) => {
                    object_response(cluster.clock.now(), &target.kind, representation, &stored, 200)
                }
                // The response to a pod's deletion is the pod, for compatibility.
                Deletion::Removed(stored) if target.kind.plural == "pods" => {
                    object_response(cluster.clock.now(), &target.kind, representation, &stored, 200)
                }
                Deletion::Removed(stored) => response::json(200, &success(&target.kind, &stored)),
            }
        }
        _ => return Ok(None),
    };
    Ok(Some(response))
}

fn no_containers(cluster: &Arc<Cluster>, target: &Target, action: &str) -> Result<Response<Body>, ApiError> {
    found(&**cluster, target)?;
    Err(errors::no_containers(action))
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
fn with_warnings(mut response: Response<Body>, written: &WriteResult) -> Response<Body> {
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
    let namespace = target.namespace();
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
    let source: Arc<dyn Source> = Arc::clone(cluster) as Arc<dyn Source>;
    Ok(list::list_response(source, Arc::clone(&target.kind), representation, page, request.gzip))
}
