//! Routing of requests to their handlers.

use std::sync::Arc;

use bytes::Bytes;
use http::{Method, Request, Response};
use hyper::body::Body as HttpBody;
use serde_json::{Value, json};
use tracing::{Level, debug, enabled};

use super::api_error::ApiError;
use super::http::access::Access;
use super::http::request::ApiRequest;
use super::http::request_body::BodyBudget;
use super::http::response::{self, Body, JSON};
use super::http::{accept, gzip};
use super::source::{Kind, Source};
use super::{discovery, metrics, openapi, resources};

/// A handler that receives each request first. It returns `None` for a request that the server is to respond to.
pub(crate) type Handler = Box<dyn Fn(&ApiRequest) -> Option<Response<Body>> + Send + Sync>;

/// A server of a source.
pub(crate) struct Server {
    source: Arc<dyn Source>,
    /// The address in the discovery of the core group.
    address: String,
    access: Access,
    bodies: BodyBudget,
    handler: Option<Handler>,
    /// Whether large responses are compressed for clients that accept it.
    compresses: bool,
    logs_requests: bool,
}

/// The target of the log of requests.
const LOG: &str = "kdelta::serve";

impl Server {
    /// Creates a read-only server.
    pub(crate) fn new(source: Arc<dyn Source>, address: String) -> Self {
        Self {
            source,
            address,
            access: Access::default(),
            bodies: BodyBudget::default(),
            handler: None,
            compresses: true,
            logs_requests: false,
        }
    }

    /// Adds a handler for writes and other requests that the source does not serve.
    pub(crate) fn with_handler(self, handler: Handler) -> Self {
        Self { handler: Some(handler), ..self }
    }

    /// Sends all responses uncompressed: a client in the same process would only decompress them again.
    #[cfg(feature = "serve")]
    pub(crate) fn without_compression(self) -> Self {
        Self { compresses: false, ..self }
    }

    /// Accepts only requests that meet these conditions.
    #[cfg(feature = "serve")]
    pub(crate) fn with_access(self, access: Access) -> Self {
        Self { access, ..self }
    }

    /// Logs each request. A client in the same process has a log of its own.
    #[cfg(feature = "serve")]
    pub(crate) fn with_request_log(self) -> Self {
        Self { logs_requests: true, ..self }
    }

    /// Responds to a request.
    pub(super) async fn respond<B>(&self, request: Request<B>) -> Response<Body>
    where
        B: HttpBody<Data = Bytes>,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        if !self.logs_requests || !enabled!(target: LOG, Level::DEBUG) {
            return self.response(request).await;
        }
        // No headers: they have the token.
        let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
        let title = format!("{} {path}", request.method());
        let started = self.source.clock().elapsed();
        let response = self.response(request).await;
        let taken = self.source.clock().elapsed().saturating_sub(started).as_millis();
        debug!(target: LOG, "{title} {} in {taken} milliseconds", response.status());
        response
    }

    async fn response<B>(&self, request: Request<B>) -> Response<Body>
    where
        B: HttpBody<Data = Bytes>,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        match ApiRequest::read(request, &self.access, &self.bodies, self.source.clock()).await {
            Ok(mut request) => {
                request.gzip &= self.compresses;
                let handled = self.handler.as_ref().and_then(|handler| handler(&request));
                let response = handled.unwrap_or_else(|| route(&self.source, &self.address, &request));
                if request.gzip { gzip::compress_if_large(response).await } else { response }
            }
            Err(error) => response::error_response(&error),
        }
    }
}

fn route(source: &Arc<dyn Source>, address: &str, request: &ApiRequest) -> Response<Body> {
    let path: Vec<&str> = request.path.iter().map(String::as_str).collect();
    let kinds = source.kinds();
    let served = || kinds.iter().filter(|kind| kind.is_readable()).cloned().collect::<Vec<_>>();
    let accept = request.accept.as_deref();
    let found =
        |value: Option<Value>| value.map_or_else(response::unknown_path, |value| response::json(200, &value));
    let document =
        |group: &str, version: &str| found(openapi::document(&served(), source.schemas(), group, version));
    if ![Method::GET, Method::HEAD].contains(&request.method) && is_discovery(&path) {
        return response::error_response(&ApiError::method_not_allowed());
    }
    if let Some(document) = stored_document(&**source, &path, accept) {
        return document;
    }
    match path.as_slice() {
        ["healthz" | "livez" | "readyz"] => health(path[0], request),
        ["healthz" | "livez" | "readyz", "ping"] => response::complete(200, TEXT, "ok"),
        ["metrics"] => {
            response::complete(200, "text/plain; version=0.0.4; charset=utf-8", metrics::text(&**source))
        }
        ["version"] => response::json(200, &source.server_version()),
        ["openapi", "v2"] => swagger(accept),
        ["openapi", "v3"] => response::json(200, &openapi::index(&served())),
        ["openapi", "v3", "api", version] => document("", version),
        ["openapi", "v3", "apis", group, version] => document(group, version),
        ["api" | "apis"] => discovery_root(address, &kinds, path[0] == "api", accept),
        ["api", version] => found(discovery::resource_list(&kinds, "", version)),
        ["apis", group] => found(discovery::group(&kinds, group)),
        ["apis", group, version] => found(discovery::resource_list(&kinds, group, version)),
        ["api" | "apis", ..] => resources::respond(source, request),
        [] => response::json(200, &json!({"paths": roots(&served())})),
        _ => response::unknown_path(),
    }
}

/// Returns whether a path is that of the version or of a discovery document, which can only be read.
fn is_discovery(path: &[&str]) -> bool {
    matches!(path, ["version" | "api" | "apis"] | ["api" | "apis", _] | ["apis", _, _])
}

/// Returns a document that the source has. Discovery documents are aggregated; other forms are created from the
/// resources.
fn stored_document(source: &dyn Source, path: &[&str], accept: Option<&str>) -> Option<Response<Body>> {
    let stored = || source.document(&format!("/{}", path.join("/")));
    match path {
        ["version"] | ["openapi", "v3", ..] => Some(response::complete(200, JSON, stored()?)),
        ["api" | "apis"] => {
            let version = accept::aggregated(accept)?;
            let document = stored()?;
            // A server that prefers another version of the format wrote the document in that one.
            let written = format!("apidiscovery.k8s.io/{version}\"");
            memchr::memmem::find(&document, written.as_bytes())?;
            Some(response::complete(200, &discovery_type(version), document))
        }
        _ => None,
    }
}

/// Returns the content type of aggregated discovery.
fn discovery_type(version: &str) -> String {
    format!("application/json;g=apidiscovery.k8s.io;v={version};as=APIGroupDiscoveryList")
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

fn swagger(accept: Option<&str>) -> Response<Body> {
    const PROTOBUF: &str = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
    if accept.is_some_and(|accept| accept.contains("protobuf")) {
        return response::complete(200, PROTOBUF, Bytes::from_static(openapi::SWAGGER_PROTOBUF));
    }
    response::json(200, &openapi::swagger())
}

fn discovery_root(address: &str, kinds: &[Arc<Kind>], core: bool, accept: Option<&str>) -> Response<Body> {
    if let Some(version) = accept::aggregated(accept) {
        let body = discovery::aggregated(kinds, core, version).to_string();
        return response::complete(200, &discovery_type(version), body);
    }
    let plain = if core { discovery::versions(address) } else { discovery::group_list(kinds) };
    response::json(200, &plain)
}

#[cfg(test)]
mod tests {
    use http_body_util::{BodyExt, Full};

    use super::*;
    use crate::server::memory_source::MemorySource;

    fn server() -> Server {
        let source = MemorySource::new();
        source.put("a", &json!({"app": "web"}), "");
        Server::new(Arc::new(source), "127.0.0.1:1".into())
    }

    async fn request(server: &Server, method: &str, path: &str) -> (u16, Value) {
        let request = Request::builder().method(method).uri(path).header("Host", "localhost");
        let request = request.header("Accept", "application/json");
        let response = server.respond(request.body(Full::new(Bytes::new())).expect("a request")).await;
        let code = response.status().as_u16();
        let Ok(body) = response.into_body().collect().await;
        (code, serde_json::from_slice(&body.to_bytes()).unwrap_or_default())
    }

    #[tokio::test(start_paused = true)]
    async fn a_read_only_server_rejects_writes() {
        let server = server();
        let maps = "/api/v1/namespaces/n/configmaps";
        for (method, path) in [
            ("POST", maps.to_owned()),
            ("DELETE", maps.to_owned()),
            ("PUT", format!("{maps}/a")),
            ("PATCH", format!("{maps}/a")),
            ("DELETE", format!("{maps}/a")),
            ("PATCH", format!("{maps}/a/status")),
        ] {
            let (code, status) = request(&server, method, &path).await;
            assert_eq!((code, &status["reason"]), (405, &json!("MethodNotAllowed")), "{method} {path}");
        }
        let (code, map) = request(&server, "GET", &format!("{maps}/a")).await;
        assert_eq!((code, &map["metadata"]["name"]), (200, &json!("a")));
    }

    #[tokio::test(start_paused = true)]
    async fn paths_of_resources_are_resolved_by_the_source() {
        let server = server();
        for (path, expected, name) in [
            ("/api/v1/configmaps", 200, "ConfigMapList"),
            ("/api/v1/namespaces/n/configmaps/a/status", 200, "ConfigMap"),
            ("/api/v1/namespaces/n/configmaps/b", 404, "Status"),
            ("/api/v1/configmaps/a", 404, "Status"),
            ("/api/v1/namespaces/n/configmaps/a/scale", 404, "Status"),
            ("/api/v1/nodes", 404, "Status"),
            ("/apis/apps/v1/deployments", 404, ""),
            ("/api/v1", 200, "APIResourceList"),
        ] {
            let (code, body) = request(&server, "GET", path).await;
            assert_eq!((code, body["kind"].as_str().unwrap_or_default()), (expected, name), "{path}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn documents_are_only_read() {
        let server = server();
        for path in ["/version", "/api", "/apis", "/api/v1", "/apis/apps", "/apis/apps/v1"] {
            for method in ["POST", "PUT", "PATCH", "DELETE"] {
                let (code, status) = request(&server, method, path).await;
                assert_eq!((code, &status["reason"]), (405, &json!("MethodNotAllowed")), "{method} {path}");
            }
        }
        for path in ["/version", "/api", "/apis", "/api/v1"] {
            assert_eq!(request(&server, "GET", path).await.0, 200, "{path}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_handler_receives_requests_first() {
        let server = server().with_handler(Box::new(|request| {
            (request.method == http::Method::POST).then(|| response::json(201, &json!({"kind": "Created"})))
        }));
        let (code, body) = request(&server, "POST", "/api/v1/namespaces/n/configmaps").await;
        assert_eq!((code, &body["kind"]), (201, &json!("Created")));
        assert_eq!(request(&server, "GET", "/api/v1/configmaps").await.0, 200);
    }
}
