//! One collection of objects on a server as a [`ListerWatcher`]: its URLs, and its lists and watches.

mod list;
#[cfg(test)]
mod tests;
mod watch;

pub use list::ResourceList;
pub use watch::ResourceWatch;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use super::collection::Collection;
use super::direct_list::DirectObjects;
use super::progress;
use super::row_list::{self, ArrivalTime, ListPair, RowList};
use super::{Client, Request};
use crate::listwatch::{Error, ListOptions, ListWatch, ListerWatcher, WatchOptions};
use crate::object::{ApiResource, Ingest, Object, ResourceVersion, TypeMeta};
use crate::wire::Limits;
use crate::wire::decode::Naming;
use crate::wire::representation::{IncludeObject, Representation};

/// Lists and watches one resource, in one namespace or in all, always with the same selectors.
#[derive(Clone)]
pub struct ResourceClient(Collection);

impl ResourceClient {
    /// Selects all objects of a resource, complete, without managedFields.
    #[must_use]
    pub fn new(client: Client, resource: ApiResource) -> Self {
        Self(Collection {
            client,
            ingest: Ingest::of(resource.type_meta()),
            resource,
            namespace: None,
            name: None,
            subresource: None,
            label_selector: String::new(),
            field_selector: String::new(),
            representation: Representation::Objects,
            request_timeout: None,
            silence_limit: None,
            limits: Limits::default(),
            now: Timestamp::now,
            arrival_time: ArrivalTime::default(),
        })
    }

    /// Selects the objects of this namespace; `None`, or an empty one, selects all. Ignored for resources without
    /// namespaces.
    #[must_use]
    pub fn namespace(mut self, namespace: Option<String>) -> Self {
        self.0.namespace = namespace.filter(|namespace| !namespace.is_empty());
        self
    }

    /// Selects the object of this name; `None` selects all. The field selector applies as well. An invalid name is
    /// [`Error::Invalid`] when it is requested.
    #[must_use]
    pub fn named(mut self, name: Option<String>) -> Self {
        self.0.name = name;
        self
    }

    /// Selects this subresource of an object that is [requested by name](Self::get_named), such as `scale`; `None`, or an
    /// empty one, selects the object. Lists and watches have no subresources.
    #[must_use]
    pub fn subresource(mut self, subresource: Option<String>) -> Self {
        self.0.subresource = subresource.filter(|subresource| !subresource.is_empty());
        self
    }

    /// Selects objects by their labels, as evaluated by the server; empty selects all.
    #[must_use]
    pub fn label_selector(mut self, selector: impl Into<String>) -> Self {
        self.0.label_selector = selector.into();
        self
    }

    /// Selects objects by their fields, as evaluated by the server; empty selects all.
    #[must_use]
    pub fn field_selector(mut self, selector: impl Into<String>) -> Self {
        self.0.field_selector = selector.into();
        self
    }

    /// Sets the representation.
    #[must_use]
    pub fn representation(mut self, representation: Representation) -> Self {
        self.0.representation = representation;
        self
    }

    /// Sets whether `metadata.managedFields` is kept.
    #[must_use]
    pub fn keep_managed_fields(mut self, keep: bool) -> Self {
        self.0.ingest.keep_managed_fields = keep;
        self
    }

    /// Sets whether the manager of the last change to each object is recorded, for
    /// [`Object::manager_since`](crate::object::Object::manager_since).
    #[must_use]
    pub fn record_managers(mut self, record: bool) -> Self {
        self.0.ingest.record_manager = record;
        self
    }

    /// Sets the time limit for a list, or one object, with its whole body. Watches are not limited.
    #[must_use]
    pub fn request_timeout(mut self, timeout: Option<Duration>) -> Self {
        self.0.request_timeout = timeout;
        self
    }

    /// Sets the longest silence that the caller accepts, before a response and in it. The client only reports it, in
    /// [`Notice::Silent`](crate::client::Notice::Silent).
    #[must_use]
    pub fn silence_limit(mut self, limit: Option<Duration>) -> Self {
        self.0.silence_limit = limit;
        self
    }

    /// Sets the limits for the size of values.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.0.limits = limits;
        self
    }

    /// Sets the clock for the ages of objects whose server renders no Tables.
    #[must_use]
    pub fn now(mut self, now: fn() -> Timestamp) -> Self {
        self.0.now = now;
        self
    }

    /// Returns the requested representation.
    #[must_use]
    pub fn requested_representation(&self) -> Representation {
        self.0.representation
    }

    /// Returns the resource.
    #[must_use]
    pub fn resource(&self) -> &ApiResource {
        &self.0.resource
    }

    /// Returns whether the server has responded to any request of this client, if only with a refusal.
    #[must_use]
    pub fn has_response(&self) -> bool {
        self.0.client.has_response()
    }

    /// Returns whether lists of the latest version need no request, because the server has
    /// [direct lists](crate::api::ClientOptions::direct_lists) of these objects. They are requested only if the server has the
    /// objects in another form. An initial state in a watch takes longer.
    #[must_use]
    pub fn lists_directly(&self) -> bool {
        DirectObjects::are_read_of(&self.0)
    }

    /// Returns the requests with which a list begins, without sending any: those of a [direct](Self::lists_directly) list are
    /// sent only if it can't be read. Rows of all namespaces take several requests; a
    /// small collection is complete after the first.
    ///
    /// # Errors
    /// [`Error::Invalid`] for an invalid name.
    pub fn list_requests(&self, options: &ListOptions) -> Result<Vec<Request>, Error> {
        let single = self.0.representation.for_single_request();
        let requests = match self.list_form(options) {
            ListForm::Names => row_list::requests_of_names(options),
            ListForm::Joined(pair) => pair.requests(options, single),
            ListForm::Single(representation) => vec![(representation, options.clone())],
        };
        let request =
            |(representation, options): (_, ListOptions)| self.0.list_request(representation, &options);
        requests.into_iter().map(request).collect()
    }

    /// Returns the request for one object by its name, without sending it.
    ///
    /// # Errors
    /// [`Error::Invalid`] for an invalid name.
    pub fn get_request(&self, name: &str) -> Result<Request, Error> {
        self.0.get_request(self.0.representation.for_single_request(), name)
    }

    /// Returns the request of a watch, without sending it.
    ///
    /// # Errors
    /// [`Error::Invalid`] for an invalid name.
    pub fn watch_request(&self, options: &WatchOptions) -> Result<Request, Error> {
        self.0.watch_request(options)
    }

    /// Returns the way in which a list is requested.
    fn list_form(&self, options: &ListOptions) -> ListForm {
        let is_whole = options.limit == 0 && options.continue_token.is_empty();
        let knows_namespace = !self.0.resource.namespaced || !self.0.scope().is_empty();
        match self.0.representation {
            Representation::Names => ListForm::Names,
            Representation::Rows if knows_namespace => {
                ListForm::Single(Representation::Table(IncludeObject::None))
            }
            Representation::Rows if self.0.client.identifies_rows() => {
                ListForm::Single(Representation::Table(IncludeObject::Identity))
            }
            Representation::Rows if is_whole => ListForm::Joined(ListPair::NamesAndRows),
            Representation::RowsAndObjects if is_whole => ListForm::Joined(ListPair::RowsAndObjects),
            other => ListForm::Single(other.for_single_request()),
        }
    }

    /// Requests one object by its name, or its subresource, in the selected representation; selectors do not apply.
    ///
    /// # Errors
    /// The server's refusal, often [`Error::NotFound`]; [`Error::Invalid`] for an invalid name.
    pub async fn get_named(&self, name: &str) -> Result<Arc<Object>, Error> {
        let single = self.0.representation.for_single_request();
        let request = self.0.get_request(single, name)?;
        let response = self.0.client.send(&request).await?;
        let redaction = response.redaction().clone();
        let body = response.body(self.0.limits.frame).await?;
        self.0.decoder(single, Naming::RequestedNamespace).one(&body).map_err(|error| redaction.error(error))
    }
}

/// The way in which a list is requested.
enum ListForm {
    /// Rows alone, for their names.
    Names,
    /// Rows that are joined with what another list has of their objects.
    Joined(ListPair),
    /// A single list.
    Single(Representation),
}

/// Shows the request and the server.
impl fmt::Debug for ResourceClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResourceClient")
            .field("client", &self.0.client)
            .field("resource", &self.0.resource)
            .field("namespace", &self.0.namespace)
            .field("name", &self.0.name)
            .field("label_selector", &self.0.label_selector)
            .field("field_selector", &self.0.field_selector)
            .field("representation", &self.0.representation)
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
        if let Some(objects) = DirectObjects::list(&self.0, options).await? {
            return Ok(objects.into());
        }
        let representation = match self.list_form(options) {
            ListForm::Names => return Ok(RowList::names(&self.0, options).await?.into()),
            ListForm::Joined(pair) => return Ok(RowList::of_pair(pair, &self.0, options).await?.into()),
            ListForm::Single(representation) => representation,
        };
        Ok(self.0.items(representation, Naming::RequestedNamespace, options).await?.into())
    }

    async fn watch(&self, options: &WatchOptions) -> Result<ResourceWatch, Error> {
        let response = self.0.client.send(&self.0.watch_request(options)?).await?;
        let decoder = self.0.decoder(self.0.representation.for_single_request(), Naming::RequestedNamespace);
        Ok(ResourceWatch::new(response, decoder, self.0.limits))
    }

    async fn progress(&self, seen: &ResourceVersion) -> Result<ResourceVersion, Error> {
        progress::since(&self.0, seen).await
    }

    fn expected_type(&self) -> Option<Arc<TypeMeta>> {
        Some(Arc::clone(&self.0.ingest.type_meta))
    }

    fn supports_watch_list(&self) -> bool {
        self.0.client.supports_watch_list(&self.0.resource)
    }

    /// Logins, and parts of a response that arrive before the list begins: neither is silence of the server.
    fn external_wait(&self) -> Duration {
        self.0.client.external_wait() + self.0.arrival_time.spent()
    }

    fn disable_watch_list(&self) {
        self.0.client.disable_watch_list(&self.0.resource);
    }
}
