//! The list-watch source of one part: its client, its filter and its options. Selectors apply on the server if it supports
//! them, otherwise on the client by the same rules.

mod attempts;
mod continued;
mod filtered_stream;
mod give_up;
mod lister_watcher;
mod named_object;
mod planned;
mod received_count;
mod reflector_options;
mod request_permits;
#[cfg(test)]
mod tests;
mod time_limits;

pub(crate) use continued::{ContinuedSource, ContinuedTime, KnownState};
pub(crate) use planned::RequestMode;
pub(crate) use received_count::ReceivedCount;
pub(crate) use reflector_options::reflector_options;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use kdelta::api::ResourceClient;
use kdelta::informer::{Builder, MutationDetector, SharedIndexInformer};
use kdelta::listwatch::{Error, ListerWatcher};
use kdelta::object::{FieldSelector, Object};
use kdelta::recording::Redaction;
use kdelta::wire::Representation;

use crate::session::filter::Filter;
use attempts::Attempts;
use request_permits::{PermitWait, RequestPermits};

/// State shared by all sources of one server.
#[derive(Clone)]
pub(super) struct Shared {
    /// Whether the server has ever accepted a list or watch. Also read to decide when to give up.
    has_responded: Arc<AtomicBool>,
    permits: RequestPermits,
}

impl Shared {
    pub(super) fn new() -> Self {
        Self { has_responded: Arc::default(), permits: RequestPermits::new() }
    }
}

/// Lists and watches one part.
///
/// A field selector is sent to the server first. If the server does not support the field, the source requests all
/// objects and applies the selector itself from then on.
pub(crate) struct PartSource {
    client: ResourceClient,
    /// The request without field selector but with whole objects, and the selector to apply locally.
    fallback: Option<(ResourceClient, FieldSelector)>,
    filter: Filter,
    /// Removes confidential values from the received objects.
    redaction: Option<Arc<Redaction>>,
    /// Whether the server refused the field selector. Relaxed: a stale read only costs a second refusal.
    is_selector_refused: Arc<AtomicBool>,
    shared: Shared,
    /// The time spent waiting for a list permit.
    permit_wait: PermitWait,
    /// Received objects, for progress displays.
    received_count: Arc<ReceivedCount>,
    /// Called once when the server refuses the field selector.
    on_selector_refused: Box<dyn Fn(&Error) + Send + Sync>,
    mutation_detector: bool,
    /// Whether the attempts of each request are limited.
    is_one_shot: bool,
    attempts: Arc<Attempts>,
}

impl PartSource {
    pub(super) fn new(
        client: ResourceClient,
        fallback: Option<(ResourceClient, FieldSelector)>,
        filter: Filter,
        shared: Shared,
        request_timeout: Option<Duration>,
    ) -> Self {
        Self {
            attempts: Arc::new(Attempts::new(request_timeout, Arc::clone(&shared.has_responded))),
            client,
            fallback,
            filter,
            redaction: None,
            is_selector_refused: Arc::default(),
            shared,
            permit_wait: PermitWait::default(),
            received_count: Arc::default(),
            on_selector_refused: Box::new(|_| {}),
            mutation_detector: false,
            is_one_shot: false,
        }
    }

    /// Sets whether the informer checks its cached objects for mutations.
    pub(super) fn with_mutation_detector(self, enabled: bool) -> Self {
        Self { mutation_detector: enabled, ..self }
    }

    /// Sets the redaction of received objects, which precedes their storage. Objects that are requested by name are not
    /// redacted.
    pub(crate) fn with_redaction(self, redaction: Option<Arc<Redaction>>) -> Self {
        Self { redaction, ..self }
    }

    /// Returns the attempts of the current request.
    pub(crate) fn attempts(&self) -> Arc<Attempts> {
        Arc::clone(&self.attempts)
    }

    /// Makes a source for a one-shot command, whose attempts are limited.
    pub(crate) fn one_shot(self) -> Self {
        Self { is_one_shot: true, ..self }
    }

    /// Returns an informer builder for this source. An object that no longer matches is reported as deleted in the last
    /// state that did.
    pub(crate) fn informer(self) -> Builder<Self> {
        self.build(|source| source)
    }

    /// Returns an informer builder for this source that continues from a known state.
    pub(crate) fn continued_informer(self, known: KnownState) -> Builder<ContinuedSource<Self>> {
        self.build(|source| ContinuedSource::new(source, known))
    }

    fn build<L: ListerWatcher>(self, wrap: impl FnOnce(Self) -> L) -> Builder<L> {
        let detects = self.mutation_detector;
        let last_states = self.last_states();
        let mut builder = SharedIndexInformer::builder(wrap(self));
        if let Some(last_states) = last_states {
            builder = builder.last_states(last_states);
        }
        if detects {
            // Mutations are logged as errors and the log is shown; client-go ends the process.
            return builder.mutation_detector(MutationDetector::new(Arc::new(|_| ())));
        }
        builder
    }

    /// Whether an object that was requested by name passes the filter.
    ///
    /// # Errors
    /// Returns an error if the object lacks a part that a condition reads.
    pub(crate) fn selects(&self, object: &Object) -> Result<bool, Error> {
        self.filter.selects(object)
    }

    /// Returns the filter if objects may begin or cease to match without a change. The receiver of the source's objects
    /// then evaluates it again when it is time: the source also yields objects that may match later.
    pub(crate) fn time_filter(&self) -> Option<Filter> {
        self.filter.depends_on_time().then(|| self.filter.clone())
    }

    /// Returns the condition on the last states of deleted objects; `None` if the source filters nothing.
    fn last_states(&self) -> Option<impl Fn(&Object) -> bool + Send + Sync + use<>> {
        let filter = self.filter.clone();
        let with_fields = self.fallback.as_ref().map(|(_, fields)| filter.clone().and_fields(fields.clone()));
        let is_selector_refused = Arc::clone(&self.is_selector_refused);
        let filters = !filter.is_empty() || with_fields.is_some();
        filters.then_some(move |object: &Object| match &with_fields {
            Some(with_fields) if is_selector_refused.load(Ordering::Relaxed) => with_fields.may_pass(object),
            _ => filter.may_pass(object),
        })
    }

    /// Sets the callback for a refused field selector, which is then applied locally.
    pub(crate) fn on_selector_refused(self, on_refused: impl Fn(&Error) + Send + Sync + 'static) -> Self {
        Self { on_selector_refused: Box::new(on_refused), ..self }
    }

    /// Makes a refused field selector an error. Local selection needs the previous state of each object, which a watch
    /// that resumes from a version does not have.
    pub(crate) fn without_local_selection(self) -> Self {
        Self { fallback: None, ..self }
    }

    /// Returns whether the field selector is applied locally; final once the first object arrives.
    pub(crate) fn selects_locally(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.is_selector_refused)
    }

    /// Makes a source that requests this subresource of named objects.
    pub(crate) fn with_subresource(self, subresource: Option<String>) -> Self {
        Self { client: self.client.subresource(subresource), ..self }
    }

    /// Returns whether its lists need no request, because the server is a recording.
    pub(crate) fn lists_directly(&self) -> bool {
        self.client.lists_directly()
    }

    /// Returns the requested representation.
    pub(crate) fn representation(&self) -> Representation {
        self.client.requested_representation()
    }

    /// Whether the list should come as a single page: its objects are small, or rows are joined, which is only possible as
    /// a whole.
    pub(super) fn needs_single_page(&self) -> bool {
        matches!(
            self.client.requested_representation(),
            Representation::Names | Representation::Rows | Representation::RowsAndObjects
        )
    }

    /// Whether the source requests table rows.
    pub(super) fn is_table(&self) -> bool {
        matches!(
            self.client.requested_representation(),
            Representation::Table(_)
                | Representation::Names
                | Representation::Rows
                | Representation::RowsAndObjects
        )
    }

    /// Returns the counter of received objects.
    pub(crate) fn received_count(&self) -> Arc<ReceivedCount> {
        Arc::clone(&self.received_count)
    }
}
