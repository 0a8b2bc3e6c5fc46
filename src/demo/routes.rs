//! From a request to who answers it.

use std::sync::Arc;

use bytes::Bytes;
use http::{Method, Request, Response, header};
use hyper::body::Incoming;
use percent_encoding::percent_decode_str;
use serde_json::{Value, json};

use super::accept;
use super::alternate_versions;
use super::answer::{self, Body};
use super::cluster::Cluster;
use super::kinds::Kind;
use super::query::Query;
use super::refusal::Refusal;
use super::request_body::RequestBody;
use super::schema::openapi;
use super::{access_reviews, discovery, gzip, host, metrics, resource, write};

/// A request, taken apart.
pub(super) struct Asked {
    pub(super) method: Method,
    path: Vec<String>,
    pub(super) query: Query,
    pub(super) accept: Option<String>,
    pub(super) content_type: String,
    /// Whether the answer may be compressed.
    pub(super) gzip: bool,
    pub(super) body: RequestBody,
}

/// Answers one request.
pub(super) async fn answer(cluster: Arc<Cluster>, request: Request<Incoming>) -> Response<Body> {
    match read(&cluster, request).await {
        Ok(asked) => {
            let response = route(&cluster, &asked);
            if asked.gzip { gzip::whole(response).await } else { response }
        }
        Err(refusal) => answer::refused(&refusal),
    }
}

async fn read(cluster: &Cluster, request: Request<Incoming>) -> Result<Asked, Refusal> {
    let (head, body) = request.into_parts();
    host::check(&head)?;
    let text = |name: header::HeaderName| head.headers.get(name).and_then(|value| value.to_str().ok());
    let content_type = text(header::CONTENT_TYPE).unwrap_or_default();
    let segments = head.uri.path().split('/').filter(|segment| !segment.is_empty());
    let body = cluster.bodies.read(&cluster.clock, body).await?;
    Ok(Asked {
        path: segments.map(|segment| percent_decode_str(segment).decode_utf8_lossy().into_owned()).collect(),
        query: Query::parse(head.uri.query().unwrap_or_default())
            .by(text(header::USER_AGENT).unwrap_or_default()),
        accept: text(header::ACCEPT).map(str::to_owned),
        content_type: content_type.split(';').next().unwrap_or_default().trim().to_owned(),
        gzip: gzip::accepted(&head.headers),
        body,
        method: head.method,
    })
}

fn route(cluster: &Arc<Cluster>, asked: &Asked) -> Response<Body> {
    let path: Vec<&str> = asked.path.iter().map(String::as_str).collect();
    let served =
        alternate_versions::insert_into(cluster.store.kinds().into_iter().map(|(_, kind)| kind).collect());
    let kinds: Vec<Arc<Kind>> = served.iter().cloned().chain(access_reviews::kinds().map(Arc::new)).collect();
    let accept = asked.accept.as_deref();
    let found = |value: Option<Value>| value.map_or_else(answer::no_page, |value| answer::json(200, &value));
    match path.as_slice() {
        ["healthz" | "livez" | "readyz"] => health(path[0], asked),
        ["healthz" | "livez" | "readyz", "ping"] => answer::whole(200, TEXT, "ok"),
        ["metrics"] => {
            answer::whole(200, "text/plain; version=0.0.4; charset=utf-8", metrics::text(&cluster.store))
        }
        ["version"] => answer::json(200, &openapi::version()),
        ["openapi", "v2"] => swagger(accept),
        ["openapi", "v3"] => answer::json(200, &openapi::index(&served)),
        ["openapi", "v3", "api", version] => found(openapi::document(&served, "", version)),
        ["openapi", "v3", "apis", group, version] => found(openapi::document(&served, group, version)),
        ["api" | "apis"] => discovery_root(cluster, &kinds, path[0] == "api", accept),
        ["api", version] => found(discovery::resource_list(&kinds, "", version)),
        ["apis", group] => found(discovery::group(&kinds, group)),
        ["apis", group, version] => found(discovery::resource_list(&kinds, group, version)),
        ["apis", group, "v1", plural] | ["apis", group, "v1", "namespaces", _, plural]
            if asked.method == Method::POST
                && access_reviews::respond(group, plural, &Value::Null).is_some() =>
        {
            review(asked, group, plural)
        }
        ["api", version, rest @ ..] => resource::answer(cluster, asked, &served, ["", version], rest),
        ["apis", group, version, rest @ ..] => {
            resource::answer(cluster, asked, &served, [group, version], rest)
        }
        [] => answer::json(200, &json!({"paths": roots(&served)})),
        _ => answer::no_page(),
    }
}

const TEXT: &str = "text/plain; charset=utf-8";

fn health(check: &str, asked: &Asked) -> Response<Body> {
    if asked.query.has("verbose") {
        return answer::whole(200, TEXT, format!("[+]ping ok\n{check} check passed\n"));
    }
    answer::whole(200, TEXT, "ok")
}

/// The paths that there are.
fn roots(kinds: &[Arc<Kind>]) -> Vec<String> {
    let mut paths = vec!["/api".to_owned(), "/api/v1".to_owned(), "/apis".to_owned()];
    for (group, versions) in discovery::groups(kinds).into_iter().filter(|(group, _)| !group.is_empty()) {
        paths.push(format!("/apis/{group}"));
        paths.extend(versions.iter().map(|version| format!("/apis/{group}/{version}")));
    }
    let others = ["/healthz", "/livez", "/metrics", "/openapi/v2", "/openapi/v3", "/readyz", "/version"];
    paths.extend(others.map(str::to_owned));
    paths
}

fn review(asked: &Asked, group: &str, plural: &str) -> Response<Body> {
    match write::read(&asked.content_type, &asked.body.bytes) {
        Ok(review) => access_reviews::respond(group, plural, &review)
            .map_or_else(answer::no_page, |answer| answer::json(201, &answer)),
        Err(refusal) => answer::refused(&refusal),
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
