//! The responses of the HTTP server.

use std::time::Duration;

use bytes::Bytes;
use http::{Method, Response, StatusCode, Uri, header};
use http_body_util::Full;
use prometheus_client::encoding::prometheus_text::CONTENT_TYPE;

use super::{MAX_BEHIND, Metrics};

const TEXT: &str = "text/plain; charset=utf-8";
const PATHS: &str = "/metrics\n/healthz\n/readyz\n";

/// Returns the response to a request. Its body is dropped for HEAD by the connection.
pub(super) fn respond(metrics: &Metrics, method: &Method, uri: &Uri) -> Response<Full<Bytes>> {
    if method != Method::GET && method != Method::HEAD {
        let mut refused =
            response(StatusCode::METHOD_NOT_ALLOWED, TEXT, "only GET and HEAD are allowed\n".into());
        refused.headers_mut().insert(header::ALLOW, header::HeaderValue::from_static("GET, HEAD"));
        return refused;
    }
    match uri.path() {
        "/metrics" => response(StatusCode::OK, CONTENT_TYPE, metrics.text()),
        "/healthz" => response(StatusCode::OK, TEXT, "ok\n".into()),
        "/readyz" => match max_behind(uri.query().unwrap_or_default()) {
            Ok(max_behind) => ready(metrics, max_behind),
            Err(problem) => response(StatusCode::BAD_REQUEST, TEXT, problem.into()),
        },
        "/" => response(StatusCode::OK, TEXT, PATHS.into()),
        _ => response(StatusCode::NOT_FOUND, TEXT, format!("not found; the paths are\n{PATHS}")),
    }
}

/// Returns the limit of a request, `max-behind=SECONDS`, or the default.
fn max_behind(query: &str) -> Result<Duration, &'static str> {
    let Some(value) = query.split('&').find_map(|pair| pair.strip_prefix("max-behind=")) else {
        return Ok(MAX_BEHIND);
    };
    let seconds = value.parse::<f64>().ok();
    let limit = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    limit.ok_or("max-behind must be a number of seconds\n")
}

fn ready(metrics: &Metrics, max_behind: Duration) -> Response<Full<Bytes>> {
    let reasons = metrics.not_ready(max_behind);
    if reasons.is_empty() {
        return response(StatusCode::OK, TEXT, "ok\n".into());
    }
    response(StatusCode::SERVICE_UNAVAILABLE, TEXT, format!("not ready\n{}\n", reasons.join("\n")))
}

fn response(status: StatusCode, content_type: &'static str, body: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, header::HeaderValue::from_static(content_type));
    response
}
