//! Routing of requests to their handlers.

use std::sync::Arc;

use bytes::Bytes;
use http::{Method, Request, Response};
use hyper::body::Incoming;
use serde_json::{Value, json};

use super::{access_reviews, discovery, metrics, openapi, resources};
use crate::demo::cluster::Cluster;
use crate::demo::http::request::ApiRequest;
use crate::demo::http::response::{self, Body};
use crate::demo::http::{accept, gzip};
use crate::demo::kinds::Kind;
use crate::demo::{alternate_versions, write};

/// Responds to a request.
pub(super) async fn respond(cluster: Arc<Cluster>, request: Request<Incoming>) -> Response<Body> {
    match ApiRequest::read(request, &cluster.bodies, &cluster.clock).await {
        Ok(request) => {
            let response = route(&cluster, &request);
            if request.gzip { gzip::compress_if_large(response).await } else { response }
        }
        Err(error) => response::error_response(&error),
    }
}

fn route(cluster: &Arc<Cluster>, request: &ApiRequest) -> Response<Body> {
    let path: Vec<&str> = request.path.iter().map(String::as_str).collect();
    let served =
        alternate_versions::insert_into(cluster.store.kinds().into_iter().map(|(_, kind)| kind).collect());
    let kinds: Vec<Arc<Kind>> = served.iter().cloned().chain(access_reviews::kinds().map(Arc::new)).collect();
    let accept = request.accept.as_deref();
    let found =
        |value: Option<Value>| value.map_or_else(response::unknown_path, |value| response::json(200, &value));
    match path.as_slice() {
        ["healthz" | "livez" | "readyz"] => health(path[0], request),
        ["healthz" | "livez" | "readyz", "ping"] => response::complete(200, TEXT, "ok"),
        ["metrics"] => {
            response::complete(200, "text/plain; version=0.0.4; charset=utf-8", metrics::text(&cluster.store))
        }
        ["version"] => response::json(200, &openapi::version()),
        ["openapi", "v2"] => swagger(accept),
        ["openapi", "v3"] => response::json(200, &openapi::index(&served)),
        ["openapi", "v3", "api", version] => found(openapi::document(&served, "", version)),
        ["openapi", "v3", "apis", group, version] => found(openapi::document(&served, group, version)),
        ["api" | "apis"] => discovery_root(cluster, &kinds, path[0] == "api", accept),
        ["api", version] => found(discovery::resource_list(&kinds, "", version)),
        ["apis", group] => found(discovery::group(&kinds, group)),
        ["apis", group, version] => found(discovery::resource_list(&kinds, group, version)),
        ["apis", group, "v1", plural] | ["apis", group, "v1", "namespaces", _, plural]
            if request.method == Method::POST
                && access_reviews::respond(group, plural, &Value::Null).is_some() =>
        {
            review(request, group, plural)
        }
        ["api", version, rest @ ..] => resources::respond(cluster, request, &served, ["", version], rest),
        ["apis", group, version, rest @ ..] => {
            resources::respond(cluster, request, &served, [group, version], rest)
        }
        [] => response::json(200, &json!({"paths": roots(&served)})),
        _ => response::unknown_path(),
    }
}

const TEXT: &str = "text/plain; charset=utf-8";

fn health(check: &str, request: &ApiRequest) -> Response<Body> {
    if request.query.has("verbose") {
        return response::complete(200, TEXT, format!("[+]ping ok\n{check} check passed\n"));
    }
    response::complete(200, TEXT, "ok")
}

/// Returns all root paths.
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

fn review(request: &ApiRequest, group: &str, plural: &str) -> Response<Body> {
    match write::read(&request.content_type, &request.body.bytes) {
        Ok(review) => access_reviews::respond(group, plural, &review)
            .map_or_else(response::unknown_path, |review| response::json(201, &review)),
        Err(error) => response::error_response(&error),
    }
}

fn swagger(accept: Option<&str>) -> Response<Body> {
    const PROTOBUF: &str = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
    if accept.is_some_and(|accept| accept.contains("protobuf")) {
        return response::complete(200, PROTOBUF, Bytes::from_static(openapi::SWAGGER_PROTOBUF));
    }
    response::json(200, &openapi::swagger())
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
        return response::complete(200, &content_type, body);
    }
    let plain = if core { discovery::versions(&cluster.address) } else { discovery::group_list(kinds) };
    response::json(200, &plain)
}
