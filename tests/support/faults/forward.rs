//! Requests: handled by the script or forwarded to the server.

use std::convert::Infallible;
use std::io;
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::{Request, Response, header};
use tokio::sync::mpsc;

use super::body::{forward_body, forward_watch};
use super::own_response::FaultResponse;
use super::script::Shared;

/// The capacity between the server and a slow client: enough to keep both busy.
const PIECES: usize = 16;

/// Headers that concern one connection and are not forwarded.
const HOP_BY_HOP: [header::HeaderName; 5] =
    [header::CONNECTION, header::TRANSFER_ENCODING, header::HOST, header::AUTHORIZATION, header::UPGRADE];

type Body = UnsyncBoxBody<Bytes, io::Error>;

/// Responds to one request. An error breaks the connection or the HTTP/2 stream.
pub(super) async fn respond(
    request: Request<Incoming>,
    shared: Arc<Shared>,
) -> Result<Response<Body>, io::Error> {
    let query = request.uri().query().unwrap_or_default().to_owned();
    if let Some(response) = scripted_response(&request, &query, &shared) {
        let never = |never: Infallible| -> io::Error { match never {} };
        return Ok(response.response().map(|body| body.map_err(never).boxed_unsync()));
    }
    forward(&request, &query, shared).await
}

fn scripted_response(request: &Request<Incoming>, query: &str, shared: &Shared) -> Option<FaultResponse> {
    let mut script = shared.script();
    let target = request.uri().path_and_query().map_or("", |target| target.as_str());
    let accept = request.headers().get(header::ACCEPT).and_then(|value| value.to_str().ok());
    script.requests.push((target.to_owned(), accept.unwrap_or_default().to_owned()));
    let shown = request.headers().get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let shown = shown.and_then(|value| value.strip_prefix("Bearer ")).unwrap_or_default();
    if script.token.as_deref().is_some_and(|token| !shown.starts_with(token)) {
        return Some(FaultResponse::status(401));
    }
    if !is_of_a_collection(request.uri().path()) {
        return None;
    }
    if let Some((_, response, left)) =
        script.responses.iter_mut().find(|(class, _, left)| *left > 0 && class.matches(query))
    {
        *left -= 1;
        return Some(response.clone());
    }
    let mut matching = script.first_responses.iter_mut().filter(|(class, ..)| class.matches(query));
    matching.find_map(|(_, response, reported)| reported.insert(shown.to_owned()).then(|| response.clone()))
}

/// Returns whether the path is that of a collection, not of discovery.
fn is_of_a_collection(path: &str) -> bool {
    let depth = path.trim_matches('/').split('/').count();
    (path.starts_with("/api/") && depth > 2) || (path.starts_with("/apis/") && depth > 3)
}

/// Removes protobuf from an Accept header: most faults apply to JSON frames.
fn without_protobuf(accept: &str) -> String {
    let clauses = accept.split(',').filter(|clause| !clause.contains("protobuf"));
    clauses.collect::<Vec<_>>().join(",")
}

async fn forward(
    request: &Request<Incoming>,
    query: &str,
    shared: Arc<Shared>,
) -> Result<Response<Body>, io::Error> {
    let (drops_initial_events, allows_protobuf, max_list_bytes) = {
        let script = shared.script();
        (script.drop_initial_events, script.allows_protobuf, script.max_list_bytes)
    };
    let hidden = ["sendInitialEvents=", "resourceVersionMatch="];
    let query: Vec<&str> = query
        .split('&')
        .filter(|pair| !drops_initial_events || !hidden.iter().any(|name| pair.starts_with(name)))
        .collect();
    let query = query.join("&");
    let is_watch = query.contains("watch=true");
    let url = format!("{}{}?{query}", shared.server, request.uri().path());
    let mut upstream_request = shared.upstream.get(url).bearer_auth(&shared.admin);
    for (name, value) in request.headers() {
        if name == header::ACCEPT && is_watch && !allows_protobuf {
            upstream_request =
                upstream_request.header(name, without_protobuf(value.to_str().unwrap_or_default()));
        } else if !HOP_BY_HOP.contains(name) {
            upstream_request = upstream_request.header(name, value);
        }
    }
    // Subscribed before the server responds: faults from now on apply to this watch.
    let faults = shared.faults.subscribe();
    let response = upstream_request.send().await.map_err(io::Error::other)?;
    let mut building = Response::builder().status(response.status());
    for (name, value) in response.headers() {
        if !HOP_BY_HOP.contains(name) {
            building = building.header(name, value);
        }
    }
    // Bounded; it closes with the body that the client reads, or with the server's.
    let (sender, receiver) = mpsc::channel(PIECES);
    if is_watch && response.status().is_success() {
        tokio::spawn(forward_watch(response, sender, faults, shared));
    } else {
        let is_list = is_of_a_collection(request.uri().path());
        tokio::spawn(forward_body(response, sender, max_list_bytes.filter(|_| is_list)));
    }
    let pieces = futures_util::stream::unfold(receiver, |mut receiver| async move {
        let piece: Result<Bytes, io::Error> = receiver.recv().await?;
        Some((piece.map(Frame::data), receiver))
    });
    building.body(StreamBody::new(pieces).boxed_unsync()).map_err(io::Error::other)
}
