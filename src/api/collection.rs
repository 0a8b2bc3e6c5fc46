//! The requests for one collection of objects, and the responses to lists.

use std::time::Duration;

use jiff::Timestamp;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, PercentEncode, utf8_percent_encode};

use super::list_response::ListResponse;
use super::row_list::ArrivalTime;
use super::{Client, Request};
use crate::listwatch::{Error, ListOptions, Status, WatchOptions};
use crate::object::{ApiResource, Ingest, path_segment_problems};
use crate::wire::Limits;
use crate::wire::decode::{Decoder, Naming};
use crate::wire::representation::{Representation, RequestKind};

/// The objects of one resource that match selectors, in one namespace or in all, and the options of their requests.
#[derive(Clone)]
pub(super) struct Collection {
    pub(super) client: Client,
    pub(super) resource: ApiResource,
    pub(super) ingest: Ingest,
    /// Never empty.
    pub(super) namespace: Option<String>,
    pub(super) name: Option<String>,
    /// The part of a named object that is requested instead of it; never empty.
    pub(super) subresource: Option<String>,
    pub(super) label_selector: String,
    pub(super) field_selector: String,
    pub(super) representation: Representation,
    pub(super) request_timeout: Option<Duration>,
    pub(super) silence_limit: Option<Duration>,
    pub(super) limits: Limits,
    pub(super) now: fn() -> Timestamp,
    /// The time that lists of several requests take before they begin.
    pub(super) arrival_time: ArrivalTime,
}

impl Collection {
    /// Returns `/api/v1/…` or `/apis/GROUP/VERSION/…`. Each name is one segment of the path.
    fn path(&self) -> Result<String, Error> {
        if !self.resource.has_valid_names() {
            let (version, resource) = (self.resource.api_version(), &self.resource.resource);
            return Err(invalid(format!("no server has a resource {resource:?} of {version:?}")));
        }
        let ApiResource { group, version, resource, .. } = &self.resource;
        let root =
            if group.is_empty() { format!("/api/{version}") } else { format!("/apis/{group}/{version}") };
        match self.scope() {
            "" => Ok(format!("{root}/{resource}")),
            namespace => {
                Ok(format!("{root}/namespaces/{}/{resource}", path_segment("namespace", namespace)?))
            }
        }
    }

    /// Returns the request for one object by its name, or for its subresource; selectors do not apply.
    ///
    /// # Errors
    /// [`Error::Invalid`] for an invalid name.
    pub(super) fn get_request(&self, representation: Representation, name: &str) -> Result<Request, Error> {
        let mut path = format!("{}/{}", self.path()?, path_segment("resource name", name)?);
        if let Some(subresource) = &self.subresource {
            path = format!("{path}/{}", path_segment("subresource", subresource)?);
        }
        Ok(self.request(path, representation, RequestKind::One).timeout(self.request_timeout))
    }

    /// Returns the namespace of the request; empty for all or none.
    pub(super) fn scope(&self) -> &str {
        self.namespace.as_deref().filter(|_| self.resource.namespaced).unwrap_or_default()
    }

    /// Returns whether the requests select objects of one name.
    pub(super) fn is_by_name(&self) -> bool {
        self.name.is_some() || self.field_selector.starts_with("metadata.name=")
    }

    fn request(&self, path: String, representation: Representation, kind: RequestKind) -> Request {
        let reads_managed_fields = self.ingest.keep_managed_fields || self.ingest.record_manager;
        let request = Request::new(path)
            .accept(representation.accept(kind, reads_managed_fields))
            .silence_limit(self.silence_limit);
        match representation.include_object() {
            Some(value) => request.query("includeObject", value),
            None => request,
        }
    }

    pub(super) fn list_request(
        &self,
        representation: Representation,
        options: &ListOptions,
    ) -> Result<Request, Error> {
        let mut request =
            self.request(self.path()?, representation, RequestKind::List).timeout(self.request_timeout);
        request = self.with_selectors(request)?;
        if options.limit != 0 {
            request = request.query("limit", options.limit.to_string());
        }
        if !options.continue_token.is_empty() {
            return Ok(request.query("continue", options.continue_token.as_str()));
        }
        if !options.resource_version.is_unset() {
            request = request.query("resourceVersion", options.resource_version.to_string());
        }
        Ok(match options.version_match {
            Some(version_match) => request.query("resourceVersionMatch", version_match.as_str()),
            None => request,
        })
    }

    pub(super) fn watch_request(&self, options: &WatchOptions) -> Result<Request, Error> {
        let representation = self.representation.for_single_request();
        let mut request =
            self.request(self.path()?, representation, RequestKind::Watch).query("watch", "true");
        request = self.with_selectors(request)?;
        if options.allow_bookmarks {
            request = request.query("allowWatchBookmarks", "true");
        }
        if options.send_initial_events {
            request = request.query("sendInitialEvents", "true");
        }
        if !options.resource_version.is_unset() {
            request = request.query("resourceVersion", options.resource_version.to_string());
        }
        if let Some(version_match) = options.version_match {
            request = request.query("resourceVersionMatch", version_match.as_str());
        }
        if let Some(timeout) = options.timeout {
            request = request.query("timeoutSeconds", timeout.as_secs().max(1).to_string());
        }
        Ok(request)
    }

    fn with_selectors(&self, mut request: Request) -> Result<Request, Error> {
        let fields = match &self.name {
            None => self.field_selector.clone(),
            Some(name) => {
                path_segment("resource name", name)?;
                let own_name = format!("metadata.name={}", escaped_value(name));
                let both = [own_name.as_str(), &self.field_selector];
                both.into_iter().filter(|term| !term.is_empty()).collect::<Vec<_>>().join(",")
            }
        };
        for (name, selector) in [("labelSelector", &self.label_selector), ("fieldSelector", &fields)] {
            if !selector.is_empty() {
                request = request.query(name, selector.as_str());
            }
        }
        Ok(request)
    }

    pub(super) fn decoder(&self, representation: Representation, naming: Naming) -> Decoder {
        Decoder::new(self.ingest.clone(), representation, self.scope().to_owned(), naming, self.now)
    }

    /// Requests a page in that representation.
    pub(super) async fn items(
        &self,
        representation: Representation,
        naming: Naming,
        options: &ListOptions,
    ) -> Result<ListResponse, Error> {
        let response = self.client.send(&self.list_request(representation, options)?).await?;
        Ok(ListResponse::new(response, self.decoder(representation, naming), self.limits))
    }
}

/// The characters of a name that are escaped in a path, by the rule of Go's `net/url`.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~')
    .remove(b'$')
    .remove(b'&')
    .remove(b'+')
    .remove(b',')
    .remove(b':')
    .remove(b';')
    .remove(b'=')
    .remove(b'@');

/// Encodes a name as one segment of a path.
///
/// # Errors
/// [`Error::Invalid`] for an invalid name, in client-go's words. The server checks the other rules.
fn path_segment<'a>(what: &str, name: &'a str) -> Result<PercentEncode<'a>, Error> {
    let problems = path_segment_problems(name);
    match () {
        () if name.is_empty() => Err(invalid(format!("{what} may not be empty"))),
        () if !problems.is_empty() => {
            Err(invalid(format!("invalid {what} {name:?}: [{}]", problems.join(" "))))
        }
        () => Ok(utf8_percent_encode(name, ENCODED)),
    }
}

/// Escapes a value for a term of a field selector.
fn escaped_value(value: &str) -> String {
    value.replace('\\', "\\\\").replace(',', "\\,").replace('=', "\\=")
}

fn invalid(message: String) -> Error {
    Error::Invalid(Status { message, ..Status::default() })
}
