//! Reads of collections, objects and their status.

use std::sync::Arc;

use http::{Method, Response};
use jiff::Timestamp;

use super::api_error::ApiError;
use super::http::accept::{self, ResponseForm};
use super::http::query::ListOptions;
use super::http::request::ApiRequest;
use super::http::response::{self, Body, JSON};
use super::representations::writer::Writer;
use super::selection::Selection;
use super::source::{Kind, Source, StoredObject};
use super::target::Target;
use super::{list, watch};

/// Responds to a request to a path below a group version.
pub(super) fn respond(source: &Arc<dyn Source>, request: &ApiRequest) -> Response<Body> {
    let target = Target::of_path(&**source, &request.path);
    // A command in a container is not a write.
    if let Some(Ok(target)) = &target
        && let Some(refusal) = target.subresource_refusal(&**source)
    {
        return response::error_response(&ApiError::read_only(&refusal));
    }
    if request.method != Method::GET
        && let Some(refusal) = source.write_refusal()
    {
        return response::error_response(&ApiError::read_only(refusal));
    }
    let target = match target {
        Some(Ok(target)) => target,
        Some(Err(error)) => return response::error_response(&error),
        None => return response::unknown_path(),
    };
    let result = if target.name.is_empty() {
        collection(source, request, &target)
    } else {
        object(source, request, &target)
    };
    let mut response = result.unwrap_or_else(|error| response::error_response(&error));
    for text in source.warnings(target.id, target.namespace()) {
        response::add_warning(&mut response, &text);
    }
    response
}

fn collection(
    source: &Arc<dyn Source>,
    request: &ApiRequest,
    target: &Target,
) -> Result<Response<Body>, ApiError> {
    if request.method != Method::GET {
        return Err(ApiError::method_not_allowed());
    }
    let representation = accept::representation(request.accept.as_deref(), &request.query)?;
    let selection = Selection::read(&request.query, &target.kind, target.namespace())?;
    let options = ListOptions::read(&request.query)?;
    let (id, kind) = (target.id, Arc::clone(&target.kind));
    if options.watch {
        let body = watch::body(Arc::clone(source), (id, kind), representation, selection, &options);
        return Ok(response::with_body(200, JSON, body));
    }
    let page = list::page(&**source, id, representation, &selection, &options)?;
    Ok(list::list_response(Arc::clone(source), kind, representation, page, request.gzip))
}

fn object(
    source: &Arc<dyn Source>,
    request: &ApiRequest,
    target: &Target,
) -> Result<Response<Body>, ApiError> {
    let representation = accept::representation(request.accept.as_deref(), &request.query)?;
    if request.method != Method::GET || target.subresource.as_deref().is_some_and(|name| name != "status") {
        return Err(ApiError::method_not_allowed());
    }
    let found = found(&**source, target)?;
    Ok(object_response(source.clock().now(), &target.kind, representation, &found, 200))
}

/// Returns the object of a target.
///
/// # Errors
/// Returns an error if the object does not exist or can't be read.
pub(crate) fn found(source: &dyn Source, target: &Target) -> Result<Arc<StoredObject>, ApiError> {
    let found = source.get(target.id, &target.namespace, &target.name).map_err(ApiError::unreadable)?;
    found.ok_or_else(|| ApiError::not_found(&target.kind, &target.name))
}

/// Creates a response with an object.
pub(crate) fn object_response(
    now: Timestamp,
    kind: &Arc<Kind>,
    representation: ResponseForm,
    stored: &StoredObject,
    code: u16,
) -> Response<Body> {
    let mut out = Vec::new();
    Writer::new(Arc::clone(kind), representation).single(&mut out, stored, now);
    out.push(b'\n');
    response::complete(code, JSON, out)
}
