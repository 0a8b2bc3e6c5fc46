//! From a request to who answers it.

use std::sync::Arc;

use bytes::Bytes;
use http::{Method, Request, Response, header};
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use percent_encoding::percent_decode_str;
use serde_json::{Value, json};

use super::accept::{self, Form};
use super::answer::{self, Body, JSON};
use super::cluster::Cluster;
use super::kinds::Kind;
use super::query::{ListOptions, Query, Selection};
use super::refusal::Refusal;
use super::represent::Writer;
use super::store::Part;
use super::stored::Stored;
use super::write::{self, Deleted, PatchKind, Target};
use super::{discovery, list, openapi, watch};

/// The largest body that a real server takes.
const BODY_LIMIT: usize = 3 * 1024 * 1024;

/// A request, taken apart.
struct Asked {
    method: Method,
    path: Vec<String>,
    query: Query,
    accept: Option<String>,
    content_type: String,
    body: Bytes,
}

/// Answers one request.
pub(super) async fn answer(cluster: Arc<Cluster>, request: Request<Incoming>) -> Response<Body> {
    match read(request).await {
        Ok(asked) => route(&cluster, &asked),
        Err(refusal) => answer::refused(&refusal),
    }
}

async fn read(request: Request<Incoming>) -> Result<Asked, Refusal> {
    let (head, body) = request.into_parts();
    let text = |name: header::HeaderName| head.headers.get(name).and_then(|value| value.to_str().ok());
    let content_type = text(header::CONTENT_TYPE).unwrap_or_default();
    let segments = head.uri.path().split('/').filter(|segment| !segment.is_empty());
    let body = Limited::new(body, BODY_LIMIT).collect().await.map_err(|_| Refusal::too_large())?;
    Ok(Asked {
        path: segments.map(|segment| percent_decode_str(segment).decode_utf8_lossy().into_owned()).collect(),
        query: Query::parse(head.uri.query().unwrap_or_default()),
        accept: text(header::ACCEPT).map(str::to_owned),
        content_type: content_type.split(';').next().unwrap_or_default().trim().to_owned(),
        body: body.to_bytes(),
        method: head.method,
    })
}

fn route(cluster: &Arc<Cluster>, asked: &Asked) -> Response<Body> {
    let path: Vec<&str> = asked.path.iter().map(String::as_str).collect();
    let kinds: Vec<Arc<Kind>> = cluster.store.kinds().into_iter().map(|(_, kind)| kind).collect();
    let accept = asked.accept.as_deref();
    let found = |value: Option<Value>| value.map_or_else(answer::no_page, |value| answer::json(200, &value));
    match path.as_slice() {
        ["healthz" | "livez" | "readyz", ..] => answer::whole(200, "text/plain; charset=utf-8", "ok"),
        ["version"] => answer::json(200, &openapi::version()),
        ["openapi", "v2"] => swagger(accept),
        ["openapi", "v3"] => answer::json(200, &openapi::index(&kinds)),
        ["openapi", "v3", "api", version] => found(openapi::document(&kinds, "", version)),
        ["openapi", "v3", "apis", group, version] => found(openapi::document(&kinds, group, version)),
        ["api" | "apis"] => discovery_root(cluster, &kinds, path[0] == "api", accept),
        ["api", version] => found(discovery::resource_list(&kinds, "", version)),
        ["apis", group] => found(discovery::group(&kinds, group)),
        ["apis", group, version] => found(discovery::resource_list(&kinds, group, version)),
        ["apis", "authorization.k8s.io", "v1", "selfsubjectaccessreviews"] => allowed(asked),
        ["api", version, rest @ ..] => resource(cluster, asked, &kinds, ["", version], rest),
        ["apis", group, version, rest @ ..] => resource(cluster, asked, &kinds, [group, version], rest),
        [] => answer::json(200, &json!({"paths": ["/api", "/apis", "/healthz", "/openapi/v3", "/version"]})),
        _ => answer::no_page(),
    }
}

fn swagger(accept: Option<&str>) -> Response<Body> {
    const PROTOBUF: &str = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
    if accept.is_some_and(|accept| accept.contains("protobuf")) {
        return answer::whole(200, PROTOBUF, Bytes::from_static(openapi::SWAGGER_PROTOBUF));
    }
    answer::json(200, &openapi::swagger())
}

fn discovery_root(
    cluster: &Cluster,
    kinds: &[Arc<Kind>],
    core: bool,
    accept: Option<&str>,
) -> Response<Body> {
    if let Some(version) = accept::aggregated(accept) {
        let content_type =
            format!("application/json;g=apidiscovery.k8s.io;v={version};as=APIGroupDiscoveryList");
        let body = discovery::aggregated(kinds, core, version).to_string();
        return answer::whole(200, &content_type, body);
    }
    let plain = if core { discovery::versions(&cluster.address) } else { discovery::group_list(kinds) };
    answer::json(200, &plain)
}

/// Nobody is refused anything here, and clients that ask first are told so.
fn allowed(asked: &Asked) -> Response<Body> {
    let review: Value = serde_json::from_slice(&asked.body).unwrap_or_default();
    let answer = json!({
        "kind": "SelfSubjectAccessReview", "apiVersion": "authorization.k8s.io/v1", "metadata": {},
        "spec": review["spec"], "status": {"allowed": true},
    });
    answer::json(201, &answer)
}

/// A path below a group version.
fn resource(
    cluster: &Arc<Cluster>,
    asked: &Asked,
    kinds: &[Arc<Kind>],
    [group, version]: [&str; 2],
    rest: &[&str],
) -> Response<Body> {
    if !kinds.iter().any(|kind| kind.group == group && kind.version == version) {
        return answer::no_page();
    }
    let (namespace, rest) = match rest {
        // A namespace is an object itself, and has a subresource.
        ["namespaces", namespace, rest @ ..] if !rest.is_empty() && *rest != ["status"] => {
            (Some(*namespace), rest)
        }
        rest => (None, rest),
    };
    let [plural, rest @ ..] = rest else { return answer::no_page() };
    let done = match (cluster.store.find(group, version, plural), rest) {
        (Some((id, kind)), rest) if namespace.is_none() || kind.namespaced => {
            let target = Target {
                id,
                kind,
                namespace: namespace.unwrap_or_default().to_owned(),
                name: rest.first().copied().unwrap_or_default().to_owned(),
                subresource: rest.get(1).map(|&name| name.to_owned()),
            };
            match rest {
                [] => collection(cluster, asked, target),
                [_] if target.kind.namespaced && namespace.is_none() => Err(Refusal::no_resource()),
                [_] => object(cluster, asked, &target),
                [_, name] if target.kind.has_subresource(name) => object(cluster, asked, &target),
                _ => Err(Refusal::no_resource()),
            }
        }
        _ => Err(Refusal::no_resource()),
    };
    done.unwrap_or_else(|refusal| answer::refused(&refusal))
}

fn collection(cluster: &Arc<Cluster>, asked: &Asked, target: Target) -> Result<Response<Body>, Refusal> {
    let namespace = Some(target.namespace.as_str()).filter(|namespace| !namespace.is_empty());
    match asked.method {
        Method::GET => {
            let form = accept::form(asked.accept.as_deref(), &asked.query)?;
            let selection = Selection::read(&asked.query, &target.kind, namespace)?;
            let options = ListOptions::read(&asked.query)?;
            let Target { id, kind, .. } = target;
            let body = if options.watch {
                watch::body(Arc::clone(cluster), (id, kind), form, selection, &options)
            } else {
                let page = list::page(&cluster.store, id, &selection, &options)?;
                list::body(Arc::clone(cluster), kind, form, page)
            };
            Ok(answer::with_body(200, JSON, body))
        }
        Method::POST if !target.kind.namespaced || namespace.is_some() => {
            let form = accept::form(asked.accept.as_deref(), &asked.query)?;
            check_media_type(asked)?;
            let object = write::decode(&target.kind, &asked.content_type, &asked.body)?;
            let created = write::create(cluster, &target, object, &asked.query)?;
            Ok(one(cluster, &target.kind, form, &created, 201))
        }
        Method::DELETE if target.kind.verbs().contains(&"deletecollection") => {
            delete_collection(cluster, asked, &target)
        }
        _ => Err(Refusal::method_not_allowed()),
    }
}

fn object(cluster: &Arc<Cluster>, asked: &Asked, target: &Target) -> Result<Response<Body>, Refusal> {
    let form = accept::form(asked.accept.as_deref(), &asked.query)?;
    let is_scale = target.subresource.as_deref() == Some("scale");
    let said = |stored: &Stored, code: u16| {
        if is_scale {
            answer::json(code, &write::scale(stored))
        } else {
            one(cluster, &target.kind, form, stored, code)
        }
    };
    match asked.method {
        Method::GET => {
            let found = cluster.store.get(target.id, &target.namespace, &target.name);
            let found = found.ok_or_else(|| Refusal::not_found(&target.kind, &target.name))?;
            Ok(said(&found, 200))
        }
        Method::PUT => {
            check_media_type(asked)?;
            let object = if is_scale {
                serde_json::from_slice(&asked.body)
                    .map_err(|error| Refusal::bad_request(error.to_string()))?
            } else {
                write::decode(&target.kind, &asked.content_type, &asked.body)?
            };
            Ok(said(&*write::replace(cluster, target, &object, &asked.query)?, 200))
        }
        Method::PATCH => {
            let how = PatchKind::of(&asked.content_type, &target.kind)?;
            let (patched, created) = write::patch(cluster, target, how, &asked.body, &asked.query)?;
            Ok(said(&patched, if created { 201 } else { 200 }))
        }
        Method::DELETE if target.subresource.is_none() => {
            Ok(match write::delete(cluster, target, &delete_options(asked)?, &asked.query)? {
                Deleted::Going(stored) => one(cluster, &target.kind, form, &stored, 200),
                // A pod is answered as it was, by an old promise.
                Deleted::Gone(stored) if target.kind.plural == "pods" => {
                    one(cluster, &target.kind, form, &stored, 200)
                }
                Deleted::Gone(stored) => answer::json(200, &success(&target.kind, &stored)),
            })
        }
        _ => Err(Refusal::method_not_allowed()),
    }
}

fn delete_options(asked: &Asked) -> Result<Value, Refusal> {
    if asked.body.is_empty() {
        return Ok(json!({}));
    }
    write::read(&asked.content_type, &asked.body)
}

fn success(kind: &Kind, stored: &Stored) -> Value {
    let mut details = kind.details(&stored.name);
    details["uid"] = (*stored.uid).into();
    json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details})
}

/// Deletes what is selected, and answers with the list of it.
fn delete_collection(
    cluster: &Arc<Cluster>,
    asked: &Asked,
    target: &Target,
) -> Result<Response<Body>, Refusal> {
    let namespace = Some(target.namespace.as_str()).filter(|namespace| !namespace.is_empty());
    let selection = Selection::read(&asked.query, &target.kind, namespace)?;
    let options = delete_options(asked)?;
    let now = cluster.store.now(&Part::all(target.id, namespace));
    let items: Vec<_> = now.items.into_iter().filter(|item| selection.matches(&item.json)).collect();
    for item in &items {
        let each =
            Target { namespace: item.namespace.to_string(), name: item.name.to_string(), ..target.clone() };
        match write::delete(cluster, &each, &options, &asked.query) {
            // Who was deleted meanwhile is as wanted.
            Ok(_) | Err(Refusal { code: 404, .. }) => {}
            Err(refusal) => return Err(refusal),
        }
    }
    let form = accept::form(asked.accept.as_deref(), &asked.query)?;
    let meta = super::represent::ListMeta { version: now.version, ..Default::default() };
    let body = list::body(Arc::clone(cluster), Arc::clone(&target.kind), form, list::Page { meta, items });
    Ok(answer::with_body(200, JSON, body))
}

fn check_media_type(asked: &Asked) -> Result<(), Refusal> {
    let own = asked.content_type.as_str();
    let fine = own.is_empty() || own == JSON || write::is_protobuf(own);
    if fine { Ok(()) } else { Err(Refusal::unsupported_media_type()) }
}

fn one(cluster: &Cluster, kind: &Arc<Kind>, form: Form, stored: &Stored, code: u16) -> Response<Body> {
    let mut out = Vec::new();
    Writer::new(Arc::clone(kind), form).one(&mut out, stored, cluster.clock.now());
    out.push(b'\n');
    answer::whole(code, JSON, out)
}
