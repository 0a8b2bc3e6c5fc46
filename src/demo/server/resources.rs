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
pub(in crate::demo) fn answer(
    cluster: &Arc<Cluster>,
    asked: &ApiRequest,
    kinds: &[Arc<Kind>],
    [group, version]: [&str; 2],
    rest: &[&str],
) -> Response<Body> {
    if let ("autoscaling", "v1", ["namespaces", namespace, "horizontalpodautoscalers"], &Method::POST) =
        (group, version, rest, &asked.method)
    {
        return old_autoscaler(cluster, asked, namespace)
            .unwrap_or_else(|refusal| response::error_response(&refusal));
    }
    if !kinds.iter().any(|kind| kind.group == group && kind.version == version) {
        return response::no_page();
    }
    let (namespace, rest) = match rest {
        // A namespace is itself an object with a subresource.
        ["namespaces", namespace, rest @ ..] if !rest.is_empty() && *rest != ["status"] => {
            (Some(*namespace), rest)
        }
        rest => (None, rest),
    };
    let [plural, rest @ ..] = rest else { return response::no_page() };
    let found = alternate_versions::find(group, version, plural)
        .or_else(|| cluster.store.find(group, version, plural));
    let done = match (found, rest) {
        (Some((id, kind)), rest) if namespace.is_none() || kind.namespaced => {
            let target = Target {
                id,
                kind,
                namespace: namespace.unwrap_or_default().to_owned(),
                name: rest.first().copied().unwrap_or_default().to_owned(),
                subresource: rest.get(1).map(|&name| name.to_owned()),
            };
            match rest {
                [] => collection(cluster, asked, &target),
                [_] if target.kind.namespaced && namespace.is_none() => Err(ApiError::no_resource()),
                [_] => object(cluster, asked, &target),
                [_, name] if target.kind.has_subresource(name) => object(cluster, asked, &target),
                _ => Err(ApiError::no_resource()),
            }
        }
        _ => Err(ApiError::no_resource()),
    };
    done.unwrap_or_else(|refusal| response::error_response(&refusal))
}

/// Creates autoscalers in version 1 too, which `kubectl autoscale` sends.
fn old_autoscaler(
    cluster: &Arc<Cluster>,
    asked: &ApiRequest,
    namespace: &str,
) -> Result<Response<Body>, ApiError> {
    let mut object = write::read(&asked.content_type, &asked.body.bytes)?;
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
    let created = write::create(cluster, &target, object, &asked.query)?;
    let (_, old) = alternate_versions::find("autoscaling", "v1", "horizontalpodautoscalers")
        .ok_or_else(ApiError::no_resource)?;
    Ok(one(cluster, &old, Representation::Objects, &created.stored, 201))
}

fn collection(
    cluster: &Arc<Cluster>,
    asked: &ApiRequest,
    target: &Target,
) -> Result<Response<Body>, ApiError> {
    let namespace = Some(target.namespace.as_str()).filter(|namespace| !namespace.is_empty());
    let can = |verb| target.kind.verbs.contains(&verb);
    match asked.method {
        Method::GET => {
            let form = accept::form(asked.accept.as_deref(), &asked.query)?;
            let selection = Selection::read(&asked.query, &target.kind, namespace)?;
            let options = ListOptions::read(&asked.query)?;
            let (id, kind) = (target.id, Arc::clone(&target.kind));
            if options.watch {
                let body = watch::body(Arc::clone(cluster), (id, kind), form, selection, &options);
                return Ok(response::with_body(200, JSON, body));
            }
            let page = list::page(&cluster.store, id, &selection, &options)?;
            Ok(list::answer(Arc::clone(cluster), kind, form, page, asked.gzip))
        }
        Method::POST if can("create") && (!target.kind.namespaced || namespace.is_some()) => {
            let form = accept::form(asked.accept.as_deref(), &asked.query)?;
            let object = write::decode(&target.kind, &asked.content_type, &asked.body.bytes)?;
            let created = write::create(cluster, target, object, &asked.query)?;
            Ok(with_warnings(one(cluster, &target.kind, form, &created.stored, 201), &created))
        }
        Method::DELETE if can("deletecollection") => delete_collection(cluster, asked, target),
        _ => Err(ApiError::method_not_allowed()),
    }
}

fn object(cluster: &Arc<Cluster>, asked: &ApiRequest, target: &Target) -> Result<Response<Body>, ApiError> {
    match target.subresource.as_deref() {
        Some("log") => return no_containers(cluster, target, "log"),
        Some("exec") => return no_containers(cluster, target, "run a command in"),
        Some("eviction") => return eviction(cluster, asked, target),
        _ => {}
    }
    let form = accept::form(asked.accept.as_deref(), &asked.query)?;
    let is_scale = target.subresource.as_deref() == Some("scale");
    let said = |stored: &StoredObject, code: u16| {
        if is_scale {
            response::json(code, &write::scale(&target.kind, stored))
        } else {
            one(cluster, &target.kind, form, stored, code)
        }
    };
    match asked.method {
        Method::GET => Ok(said(&*found(cluster, target)?, 200)),
        Method::PUT | Method::PATCH if !target.kind.verbs.contains(&"update") => {
            Err(ApiError::method_not_allowed())
        }
        Method::PUT => {
            if target.subresource.as_deref() == Some("status") && write::is_protobuf(&asked.content_type) {
                return Err(ApiError::bad_request(
                    "the demo reads no status in protobuf: send JSON".to_owned(),
                ));
            }
            let object = if is_scale {
                write::read(&asked.content_type, &asked.body.bytes)?
            } else {
                write::decode(&target.kind, &asked.content_type, &asked.body.bytes)?
            };
            let written = write::replace(cluster, target, object, &asked.query)?;
            Ok(with_warnings(said(&written.stored, 200), &written))
        }
        Method::PATCH => {
            let how = PatchKind::of(&asked.content_type, &target.kind)?;
            let written = write::patch(cluster, target, how, &asked.body.bytes, &asked.query)?;
            Ok(with_warnings(said(&written.stored, if written.created { 201 } else { 200 }), &written))
        }
        Method::DELETE if target.subresource.is_none() => {
            Ok(match write::delete(cluster, target, &delete_options(asked)?, &asked.query)? {
                Deleted::Going(stored) => one(cluster, &target.kind, form, &stored, 200),
                // The response to a pod's deletion is the pod, for compatibility.
                Deleted::Gone(stored) if target.kind.plural == "pods" => {
                    one(cluster, &target.kind, form, &stored, 200)
                }
                Deleted::Gone(stored) => response::json(200, &success(&target.kind, &stored)),
            })
        }
        _ => Err(ApiError::method_not_allowed()),
    }
}

fn found(cluster: &Cluster, target: &Target) -> Result<Arc<StoredObject>, ApiError> {
    let found = cluster.store.get(target.id, &target.namespace, &target.name);
    found.ok_or_else(|| ApiError::not_found(&target.kind, &target.name))
}

fn no_containers(cluster: &Cluster, target: &Target, what: &str) -> Result<Response<Body>, ApiError> {
    found(cluster, target)?;
    Err(ApiError::no_containers(what))
}

fn eviction(cluster: &Cluster, asked: &ApiRequest, target: &Target) -> Result<Response<Body>, ApiError> {
    if asked.method != Method::POST {
        return Err(ApiError::method_not_allowed());
    }
    let eviction = write::read(&asked.content_type, &asked.body.bytes)?;
    write::evict(cluster, target, &eviction, &asked.query)?;
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

fn delete_options(asked: &ApiRequest) -> Result<Value, ApiError> {
    if asked.body.bytes.is_empty() {
        return Ok(json!({}));
    }
    write::read(&asked.content_type, &asked.body.bytes)
}

fn success(kind: &Kind, stored: &StoredObject) -> Value {
    let mut details = kind.details(&stored.name);
    details["uid"] = (*stored.uid).into();
    json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details})
}

/// Deletes the selected objects and returns their list.
fn delete_collection(
    cluster: &Arc<Cluster>,
    asked: &ApiRequest,
    target: &Target,
) -> Result<Response<Body>, ApiError> {
    let namespace = Some(target.namespace.as_str()).filter(|namespace| !namespace.is_empty());
    let selection = Selection::read(&asked.query, &target.kind, namespace)?;
    let options = delete_options(asked)?;
    let now = cluster.store.now(&CollectionRange::all(target.id, namespace));
    let items: Vec<_> = now.items.into_iter().filter(|item| selection.matches(&item.json)).collect();
    for item in &items {
        let each =
            Target { namespace: item.namespace.to_string(), name: item.name.to_string(), ..target.clone() };
        match write::delete(cluster, &each, &options, &asked.query) {
            // An object that was deleted meanwhile is fine.
            Ok(_) | Err(ApiError { code: 404, .. }) => {}
            Err(refusal) => return Err(refusal),
        }
    }
    let form = accept::form(asked.accept.as_deref(), &asked.query)?;
    let meta = ListMeta { version: now.version, ..Default::default() };
    let page = list::Page { meta, items };
    Ok(list::answer(Arc::clone(cluster), Arc::clone(&target.kind), form, page, asked.gzip))
}

fn one(
    cluster: &Cluster,
    kind: &Arc<Kind>,
    form: Representation,
    stored: &StoredObject,
    code: u16,
) -> Response<Body> {
    let mut out = Vec::new();
    Writer::new(Arc::clone(kind), form).one(&mut out, stored, cluster.clock.now());
    out.push(b'\n');
    response::whole(code, JSON, out)
}
