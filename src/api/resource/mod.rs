//! One collection of objects on a server as a [`ListerWatcher`]: its URLs, and its lists and watches.

#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, PercentEncode, utf8_percent_encode};

use super::row_list::{ArrivalTime, RowList};
use super::streams::{Items, ResourceList, ResourceWatch};
use super::{Client, Request};
use crate::listwatch::{Error, ListOptions, ListWatch, ListerWatcher, Status, WatchOptions};
use crate::object::{ApiResource, Ingest, Object, ResourceVersion, TypeMeta, path_segment_problems};
use crate::wire::Limits;
use crate::wire::decode::{Decoder, Naming};
use crate::wire::representation::{IncludeObject, Representation, RequestKind};

/// Lists and watches one resource, in one namespace or in all, always with the same selectors.
#[derive(Clone)]
pub struct ResourceClient {
    client: Client,
    resource: ApiResource,
    ingest: Ingest,
    namespace: Option<String>,
    name: Option<String>,
    label_selector: String,
    field_selector: String,
    representation: Representation,
    request_timeout: Option<Duration>,
    silence_limit: Option<Duration>,
    limits: Limits,
    now: fn() -> Timestamp,
    /// The time that lists of several requests take before they begin.
    arrival_time: ArrivalTime,
}

impl ResourceClient {
    /// Selects all objects of a resource, complete, without managedFields.
    #[must_use]
    pub fn new(client: Client, resource: ApiResource) -> Self {
        Self {
            client,
            ingest: Ingest::of(resource.type_meta()),
            resource,
            namespace: None,
            name: None,
            label_selector: String::new(),
            field_selector: String::new(),
            representation: Representation::Objects,
            request_timeout: None,
            silence_limit: None,
            limits: Limits::default(),
            now: Timestamp::now,
            arrival_time: ArrivalTime::default(),
        }
    }

    /// Selects the objects of this namespace; `None`, or an empty one, selects all. Ignored for resources without
    /// namespaces.
    #[must_use]
    pub fn namespace(mut self, namespace: Option<String>) -> Self {
        self.namespace = namespace.filter(|namespace| !namespace.is_empty());
        self
    }

    /// Selects the object of this name; `None` selects all. The field selector applies as well. An invalid name is
    /// [`Error::Invalid`] when it is requested.
    #[must_use]
    pub fn named(mut self, name: Option<String>) -> Self {
        self.name = name;
        self
    }

    /// Selects objects by their labels, as evaluated by the server; empty selects all.
    #[must_use]
    pub fn label_selector(mut self, selector: impl Into<String>) -> Self {
        self.label_selector = selector.into();
        self
    }

    /// Selects objects by their fields, as evaluated by the server; empty selects all.
    #[must_use]
    pub fn field_selector(mut self, selector: impl Into<String>) -> Self {
        self.field_selector = selector.into();
        self
    }

    /// Sets the representation.
    #[must_use]
    pub fn representation(mut self, representation: Representation) -> Self {
        self.representation = representation;
        self
    }

    /// Sets whether `metadata.managedFields` is kept.
    #[must_use]
    pub fn keep_managed_fields(mut self, keep: bool) -> Self {
        self.ingest.keep_managed_fields = keep;
        self
    }

    /// Sets the time limit for a list, or one object, with its whole body. Watches are not limited.
    #[must_use]
    pub fn request_timeout(mut self, timeout: Option<Duration>) -> Self {
        self.request_timeout = timeout;
        self
    }

    /// Sets the longest silence that the caller accepts, before a response and in it. The client only reports it, in
    /// [`Notice::Silent`](crate::client::Notice::Silent).
    #[must_use]
    pub fn silence_limit(mut self, limit: Option<Duration>) -> Self {
        self.silence_limit = limit;
        self
    }

    /// Sets the limits for the size of values.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets the clock for the ages of objects whose server renders no Tables.
    #[must_use]
    pub fn now(mut self, now: fn() -> Timestamp) -> Self {
        self.now = now;
        self
    }

    /// Returns the requested representation.
    #[must_use]
    pub fn requested_representation(&self) -> Representation {
        self.representation
    }

    /// Returns the resource.
    #[must_use]
    pub fn resource(&self) -> &ApiResource {
        &self.resource
    }

    /// Returns whether the server has responded to any request of this client, if only with a refusal.
    #[must_use]
    pub fn has_response(&self) -> bool {
        self.client.has_response()
    }

    /// Requests one object by its name, in the selected representation; selectors do not apply.
    ///
    /// # Errors
    /// The server's refusal, often [`Error::NotFound`]; [`Error::Invalid`] for an invalid name.
    pub async fn get_named(&self, name: &str) -> Result<Arc<Object>, Error> {
        let path = format!("{}/{}", self.path()?, path_segment("resource name", name)?);
        let whole = self.representation.whole();
        let request = self.request(path, whole, RequestKind::One).timeout(self.request_timeout);
        let response = self.client.send(&request).await?;
        let redaction = response.redaction().clone();
        let body = response.body(self.limits.frame).await?;
        self.decoder(whole, Naming::RequestedNamespace).one(&body).map_err(|error| redaction.error(error))
    }

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

    /// Returns the namespace of the request; empty for all or none.
    pub(super) fn scope(&self) -> &str {
        self.namespace.as_deref().filter(|_| self.resource.namespaced).unwrap_or_default()
    }

    /// Returns whether it selects objects of one name.
    pub(super) fn is_by_name(&self) -> bool {
        self.name.is_some() || self.field_selector.starts_with("metadata.name=")
    }

    fn request(&self, path: String, form: Representation, asked: RequestKind) -> Request {
        let request = Request::new(path)
            .accept(form.accept(asked, self.ingest.keep_managed_fields))
            .silence_limit(self.silence_limit);
        match form.include_object() {
            Some(value) => request.query("includeObject", value),
            None => request,
        }
    }

    fn list_request(&self, form: Representation, options: &ListOptions) -> Result<Request, Error> {
        let mut request = self.request(self.path()?, form, RequestKind::List).timeout(self.request_timeout);
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
            Some(how) => request.query("resourceVersionMatch", how.as_str()),
            None => request,
        })
    }

    fn watch_request(&self, options: &WatchOptions) -> Result<Request, Error> {
        let form = self.representation.whole();
        let mut request = self.request(self.path()?, form, RequestKind::Watch).query("watch", "true");
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
        if let Some(how) = options.version_match {
            request = request.query("resourceVersionMatch", how.as_str());
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

    fn decoder(&self, form: Representation, naming: Naming) -> Decoder {
        Decoder::new(self.ingest.clone(), form, self.scope().to_owned(), naming, self.now)
    }

    /// Returns the time that lists of several requests take before they begin.
    pub(super) fn arrival_time(&self) -> &ArrivalTime {
        &self.arrival_time
    }

    /// Requests a page in that representation.
    pub(super) async fn items(
        &self,
        form: Representation,
        naming: Naming,
        options: &ListOptions,
    ) -> Result<Items, Error> {
        let response = self.client.send(&self.list_request(form, options)?).await?;
        Ok(Items::new(response, self.decoder(form, naming), self.limits))
    }
}

/// Shows the request and the server.
impl fmt::Debug for ResourceClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResourceClient")
            .field("client", &self.client)
            .field("resource", &self.resource)
            .field("namespace", &self.namespace)
            .field("name", &self.name)
            .field("label_selector", &self.label_selector)
            .field("field_selector", &self.field_selector)
            .field("representation", &self.representation)
            .finish_non_exhaustive()
    }
}

impl ListWatch<(), ()> {
    /// Selects the objects of a resource in one namespace (an empty one is all of them) that match a field selector.
    /// (client-go: `NewListWatchFromClient`.)
    #[must_use]
    pub fn from_client(
        client: Client,
        resource: ApiResource,
        namespace: &str,
        field_selector: &str,
    ) -> ResourceClient {
        ResourceClient::new(client, resource)
            .namespace(Some(namespace.to_owned()))
            .field_selector(field_selector)
    }
}

impl ListerWatcher for ResourceClient {
    type List = ResourceList;
    type Watch = ResourceWatch;

    async fn list(&self, options: &ListOptions) -> Result<ResourceList, Error> {
        let is_whole = options.limit == 0 && options.continue_token.is_empty();
        let knows_namespace = !self.resource.namespaced || !self.scope().is_empty();
        let form = match self.representation {
            Representation::Names => return Ok(RowList::names(self, options).await?.into()),
            Representation::Rows if knows_namespace => Representation::Table(IncludeObject::None),
            Representation::Rows if is_whole => return Ok(RowList::join(self, options).await?.into()),
            other => other.whole(),
        };
        Ok(self.items(form, Naming::RequestedNamespace, options).await?.into())
    }

    async fn watch(&self, options: &WatchOptions) -> Result<ResourceWatch, Error> {
        let response = self.client.send(&self.watch_request(options)?).await?;
        let decoder = self.decoder(self.representation.whole(), Naming::RequestedNamespace);
        Ok(ResourceWatch::new(response, decoder, self.limits))
    }

    async fn progress(&self, seen: &ResourceVersion) -> Result<ResourceVersion, Error> {
        self.progress_since(seen).await
    }

    fn expected_type(&self) -> Option<Arc<TypeMeta>> {
        Some(Arc::clone(&self.ingest.type_meta))
    }

    fn supports_watch_list(&self) -> bool {
        self.client.supports_watch_list(&self.resource)
    }

    /// Logins, and parts of a response that arrive before the list begins: neither is silence of the server.
    fn external_wait(&self) -> Duration {
        self.client.external_wait() + self.arrival_time.spent()
    }

    fn disable_watch_list(&self) {
        self.client.disable_watch_list(&self.resource);
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
