//! The list-watch source of one part. Selectors apply on the server if it supports them, otherwise on the client by the
//! same rules.

mod attempts;
mod continued;
mod filtered_stream;
mod planned;
mod received_count;
mod request_permits;

pub(crate) use continued::{ContinuedSource, KnownState};
pub(crate) use planned::RequestMode;
pub(crate) use received_count::ReceivedCount;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use kdelta::api::{ResourceClient, ResourceList, ResourceWatch};
use kdelta::clock::{Clock, TokioClock};
use kdelta::informer::{Builder, MutationDetector, SharedIndexInformer};
use kdelta::listwatch::{Error, ListOptions, ListerWatcher, Status, WatchOptions};
use kdelta::object::{FieldSelector, Object, ResourceVersion, TypeMeta};
use kdelta::recording::Redaction;
use kdelta::reflector::{GiveUp, ReflectorOptions};
use kdelta::wire::Representation;
use tokio::sync::OwnedSemaphorePermit;

use crate::session::filter::Filter;
use attempts::Attempts;
use filtered_stream::FilteredStream;
use request_permits::{PermitWait, RequestPermits};

/// The time limit for reading one object. A list may pause for as long; Kubernetes servers end requests after 60 s.
const OBJECT_LIMIT: Duration = Duration::from_secs(90);

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

    /// Requests one object by name, or its subresource, ignoring the filter, in a single attempt.
    ///
    /// # Errors
    /// The request fails.
    pub(crate) async fn get_named(&self, name: &str) -> Result<Arc<Object>, Error> {
        let client = limited(&self.client, self.attempts.due()?.or_else(get_deadline), None);
        let got = client.get_named(name).await;
        if self.client.has_response() {
            self.shared.has_responded.store(true, Ordering::Relaxed);
        }
        got.map_err(|error| self.attempts.failed(error))
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

    /// Returns whether an error before the first sync is final. Errors that the user must fix are final, and so are
    /// connection errors of a server that has never responded. Connections refused by a server that has are
    /// retried only with `retries_refused`: a watch survives a server restart, a one-shot command does not wait that
    /// long.
    pub(crate) fn gives_up(&self, retries_refused: bool) -> GiveUp {
        let has_responded = Arc::clone(&self.shared.has_responded);
        if self.is_one_shot {
            let attempts = self.attempts();
            return Arc::new(move |error| attempts.end(error));
        }
        Arc::new(move |error| match error {
            Error::Refused(_) => !(retries_refused && has_responded.load(Ordering::Relaxed)),
            Error::Tls(_)
            | Error::TlsAlert(_)
            | Error::Unauthorized(_)
            | Error::Forbidden(_)
            | Error::NotFound(_)
            | Error::NotSupported(_)
            | Error::Invalid(_)
            | Error::UnsupportedFieldSelector(_) => true,
            Error::Transport(_) | Error::Timeout(_) => !has_responded.load(Ordering::Relaxed),
            _ => false,
        })
    }

    async fn permit(&self) -> Option<OwnedSemaphorePermit> {
        self.shared.permits.acquire(&self.permit_wait).await
    }

    /// Returns the client to use and the filter to apply to its results.
    fn client_and_filter(&self) -> (&ResourceClient, Filter) {
        match &self.fallback {
            Some((client, fields)) if self.is_selector_refused.load(Ordering::Relaxed) => {
                (client, self.filter.clone().and_fields(fields.clone()))
            }
            _ => (&self.client, self.filter.clone()),
        }
    }

    fn filtered<S>(
        &self,
        stream: S,
        filter: Filter,
        permit: Option<OwnedSemaphorePermit>,
    ) -> FilteredStream<S> {
        self.shared.has_responded.store(true, Ordering::Relaxed);
        let attempts = self.is_one_shot.then(|| self.attempts());
        FilteredStream {
            stream,
            filter,
            redaction: self.redaction.clone(),
            keeps_later: !self.is_one_shot,
            received_count: Arc::clone(&self.received_count),
            permit,
            attempts,
        }
    }

    /// Counts a failed request of a one-shot command.
    fn failed(&self, error: Error) -> Error {
        if self.is_one_shot { self.attempts.failed(error) } else { error }
    }

    /// Whether this error is the first refusal of the field selector, so that the request is repeated without it.
    fn falls_back(&self, error: &Error) -> bool {
        let unsupported = matches!(error, Error::UnsupportedFieldSelector(_));
        let first =
            unsupported && self.fallback.is_some() && !self.is_selector_refused.swap(true, Ordering::Relaxed);
        if first {
            (self.on_selector_refused)(error);
        }
        first
    }
}

/// Returns the client with requests that end by the deadline, and whose caller accepts a silence of this length.
fn limited(client: &ResourceClient, due: Option<Instant>, silence: Option<Duration>) -> ResourceClient {
    client.clone().request_timeout(time_until(due)).silence_limit(silence)
}

fn time_until(due: Option<Instant>) -> Option<Duration> {
    due.map(|due| due.saturating_duration_since(TokioClock.now()))
}

/// Returns the time that the reflector, whose limits are the defaults, gives the response to begin.
fn watch_limit(options: &WatchOptions) -> Option<Duration> {
    let limits = ReflectorOptions::default();
    if options.send_initial_events {
        return Some(limits.initial_events_deadline);
    }
    options.timeout.map(|timeout| timeout.saturating_add(limits.idle_margin))
}

/// Returns the deadline for one object if the user set no request timeout.
fn get_deadline() -> Option<Instant> {
    TokioClock.now().checked_add(OBJECT_LIMIT)
}

impl ListerWatcher for PartSource {
    type List = FilteredStream<ResourceList>;
    type Watch = FilteredStream<ResourceWatch>;

    async fn list(&self, options: &ListOptions) -> Result<Self::List, Error> {
        // Repeating the first page is another attempt of a one-shot command, but a new request of a reflector that
        // recovers.
        if !self.is_one_shot && options.continue_token.is_empty() {
            self.attempts.begin();
        }
        let permit = self.permit().await;
        let silence = ReflectorOptions::default().list_idle_limit;
        loop {
            let (client, filter) = self.client_and_filter();
            match limited(client, self.attempts.due()?, Some(silence)).list(options).await {
                Ok(stream) => {
                    if !self.is_one_shot {
                        self.attempts.begin();
                    }
                    return Ok(self.filtered(stream, filter, permit));
                }
                Err(error) if self.falls_back(&error) => {}
                Err(error) => return Err(self.failed(error)),
            }
        }
    }

    async fn watch(&self, options: &WatchOptions) -> Result<Self::Watch, Error> {
        let permit = if options.send_initial_events { self.permit().await } else { None };
        // Another source of the server may have disabled it while this one waited for its permit.
        if options.send_initial_events && !self.supports_watch_list() {
            let message = "the server did not send an initial state before".to_owned();
            return Err(Error::NotSupported(Status { message, ..Status::default() }));
        }
        loop {
            let (client, filter) = self.client_and_filter();
            let due = if self.is_one_shot { self.attempts.due()? } else { None };
            let limit = [watch_limit(options), time_until(due)].into_iter().flatten().min();
            let client = client.clone().silence_limit(limit);
            let watch = client.watch(options);
            let watch = if self.is_one_shot { self.attempts.in_time(watch).await? } else { watch.await };
            match watch {
                Ok(stream) => {
                    self.received_count.watch_started();
                    return Ok(self.filtered(stream, filter, permit));
                }
                Err(error) if self.falls_back(&error) => {}
                Err(error) => return Err(self.failed(error)),
            }
        }
    }

    async fn progress(&self, seen: &ResourceVersion) -> Result<ResourceVersion, Error> {
        let _permit = self.permit().await;
        let silence = ReflectorOptions::default().list_idle_limit;
        let client = self.client_and_filter().0.clone().silence_limit(Some(silence));
        client.progress(seen).await
    }

    fn expected_type(&self) -> Option<Arc<TypeMeta>> {
        self.client.expected_type()
    }

    fn supports_watch_list(&self) -> bool {
        self.client.supports_watch_list() && self.attempts.may_watch_list()
    }

    /// Includes the time before a permit was available.
    fn external_wait(&self) -> Duration {
        self.client.external_wait() + self.permit_wait.total()
    }

    /// Counts filtered objects too: a filter that few objects pass may take long to read through.
    fn objects_read(&self) -> u64 {
        self.received_count.count()
    }

    fn disable_watch_list(&self) {
        self.client.disable_watch_list();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kdelta::api::Client;
    use kdelta::kubeconfig::Config;
    use kdelta::listwatch::{ListStream, WatchEvent, WatchStream};
    use kdelta::object::ApiResource;
    use kdelta::reflector::{Reflector, ReflectorOptions};
    use kdelta::store::Cache;
    use kdelta::testing::{FakeSource, pod};

    use crate::settings::By;

    fn source(has_responded: bool) -> PartSource {
        let client =
            Client::new(&Config::for_server("http://127.0.0.1:1").expect("a config")).expect("a client");
        let resource = ApiResource {
            group: String::new(),
            version: "v1".into(),
            resource: "pods".into(),
            kind: "Pod".into(),
            namespaced: true,
        };
        let filter = Filter::by(&[], &Arc::default()).expect("no filter");
        let shared = Shared { has_responded: Arc::new(AtomicBool::new(has_responded)), ..Shared::new() };
        PartSource::new(ResourceClient::new(client, resource), None, filter, shared, None)
    }

    /// Returns whether the error ends a source with and without `retries_refused`, before and after the server has
    /// responded.
    fn ends(error: &Error) -> [[bool; 2]; 2] {
        [false, true].map(|has_responded| {
            let source = source(has_responded);
            [true, false].map(|retries_refused| source.gives_up(retries_refused)(error))
        })
    }

    #[tokio::test(start_paused = true)]
    async fn permit_wait_does_not_count_as_server_wait() {
        let source = source(false);
        let _taken = source.shared.permits.acquire_all().await;
        let options = ReflectorOptions::default().page_size(Some(0)).watch_list(false);
        let reflector = Reflector::new(source, Arc::new(Cache::new()), options);
        let limit = Duration::from_mins(10);
        let listed = tokio::time::timeout(limit, reflector.list_once()).await;
        assert!(listed.is_err(), "still waiting: {listed:?}");
    }

    #[tokio::test]
    async fn filtered_objects_are_counted_as_read() {
        let server = FakeSource::new();
        for name in ["a", "b", "c"] {
            server.add(pod(name));
        }
        let filter =
            Filter::by(&[By::parse("name=c").expect("a question")], &Arc::default()).expect("a filter");
        let source = source(false);
        let list = server.list(&ListOptions::default()).await.expect("a list");
        let mut list = source.filtered(list, filter.clone(), None);
        assert_eq!(list.next().await.expect("an item").expect("one").name(), "c");
        assert_eq!(source.objects_read(), 3);
        let watch = server.watch(&WatchOptions::default()).await.expect("a watch");
        let mut watch = source.filtered(watch, filter, None);
        assert!(matches!(watch.next().await, Some(Ok(WatchEvent::Added(object))) if object.name() == "c"));
        assert_eq!(source.objects_read(), 6);
    }

    #[tokio::test]
    async fn watch_list_support_is_rechecked_after_permit_wait() {
        let source = source(false);
        let initial = WatchOptions::default().send_initial_events(true);
        let error = source.watch(&initial).await.err().expect("no server listens");
        assert!(matches!(error, Error::Refused(_)), "{error:?}");
        let all_permits = source.shared.permits.acquire_all().await;
        let (error, ()) = tokio::join!(source.watch(&initial), async {
            // Acts as another source of the same server.
            source.client.clone().disable_watch_list();
            drop(all_permits);
        });
        let error = error.err().expect("no request is sent");
        assert!(matches!(error, Error::NotSupported(_)), "{error:?}");
        let error = source.watch(&WatchOptions::default()).await.err().expect("no server listens");
        assert!(matches!(error, Error::Refused(_)), "{error:?}");
    }

    #[test]
    fn watch_retries_server_that_responded_before() {
        assert_eq!(ends(&Error::Refused(String::new())), [[true, true], [false, true]]);
        assert_eq!(ends(&Error::Transport("".into())), [[true, true], [false, false]]);
        assert_eq!(ends(&Error::Timeout("".into())), [[true, true], [false, false]]);
    }

    #[test]
    fn permanent_errors_always_give_up() {
        assert_eq!(ends(&Error::Forbidden(Status::default())), [[true, true], [true, true]]);
        assert_eq!(ends(&Error::Tls(String::new())), [[true, true], [true, true]]);
    }
}
