//! A part of the cluster as the machine's source: what the server selects, it selects; the rest is selected here, by
//! the same rules that a server follows.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use kdelta::api::{Representation, ResourceClient, ResourceList, ResourceWatch};
use kdelta::clock::{Clock, TokioClock};
use kdelta::informer::{Builder, MutationDetector, SharedIndexInformer};
use kdelta::listwatch::{Error, ListOptions, ListerWatcher, Status, WatchOptions};
use kdelta::object::{FieldSelector, Object, ResourceVersion, TypeMeta};
use kdelta::reflector::GiveUp;
use tokio::sync::OwnedSemaphorePermit;

use super::filtered_stream::FilteredStream;
use super::indices::Filter;
use super::received_count::ReceivedCount;
use super::request_permits::{PermitWait, RequestPermits};
use super::tries::Tries;

/// How long one object may take. A list may be silent for as long, and a Kubernetes server ends requests after 60 s.
const OBJECT_LIMIT: Duration = Duration::from_secs(90);

/// What the sources of one server have in common.
#[derive(Clone)]
pub(super) struct Shared {
    /// Whether the server has ever accepted a list or a watch; also for who decides when to give up.
    answered: Arc<AtomicBool>,
    permits: RequestPermits,
}

impl Shared {
    pub(super) fn new() -> Self {
        Self { answered: Arc::default(), permits: RequestPermits::new() }
    }
}

/// Lists and watches one part.
///
/// A field selector is tried on the server. When the server has no such field to select by, everything is client for
/// instead and the selector is applied here, from then on.
pub(crate) struct PartSource {
    client: ResourceClient,
    /// What to ask instead, with whole objects, and what to select of it.
    fallback: Option<(ResourceClient, FieldSelector)>,
    filter: Filter,
    /// Whether the server has is_selector_refused the field selector. Relaxed is enough: it only saves a second refusal.
    is_selector_refused: Arc<AtomicBool>,
    shared: Shared,
    /// For its permit among the permits of the server.
    permit_wait: PermitWait,
    /// Objects that have come in so far, for who shows it.
    received_count: Arc<ReceivedCount>,
    /// Hears of the refusal, once.
    on_selector_refused: Box<dyn Fn(&Error) + Send + Sync>,
    mutation_detector: bool,
    /// Only its first state is client for.
    is_one_shot: bool,
    tries: Arc<Tries>,
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
            tries: Arc::new(Tries::new(request_timeout, Arc::clone(&shared.answered))),
            client,
            fallback,
            filter,
            is_selector_refused: Arc::default(),
            shared,
            permit_wait: PermitWait::default(),
            received_count: Arc::default(),
            on_selector_refused: Box::new(|_| {}),
            mutation_detector: false,
            is_one_shot: false,
        }
    }

    /// The same, whose informer compares what it has cached with what it was, where that is client for.
    pub(super) fn with_mutation_detector(self, enabled: bool) -> Self {
        Self { mutation_detector: enabled, ..self }
    }

    /// Returns the tries of its current request.
    pub(crate) fn tries(&self) -> Arc<Tries> {
        Arc::clone(&self.tries)
    }

    /// The same for a command that is done with the first state: no watch follows it, and its tries are limited.
    pub(crate) fn one_shot(self) -> Self {
        Self { is_one_shot: true, ..self }
    }

    /// An informer on this source, to be.
    pub(crate) fn informer(self) -> Builder<Self> {
        let detects = self.mutation_detector;
        let builder = SharedIndexInformer::builder(self);
        if detects {
            // What it finds is an error in the log, which is shown. client-go ends the process.
            return builder.mutation_detector(MutationDetector::new(Arc::new(|_| ())));
        }
        builder
    }

    /// The same, and tells when the server refuses the field selector, so that it is applied here.
    pub(crate) fn on_selector_refused(self, on_refused: impl Fn(&Error) + Send + Sync + 'static) -> Self {
        Self { on_selector_refused: Box::new(on_refused), ..self }
    }

    /// The same, but a field selector that the server refuses is an error: to select here takes knowing what was
    /// selected before, which who goes on from a version does not.
    pub(crate) fn without_local_selection(self) -> Self {
        Self { fallback: None, ..self }
    }

    /// Whether objects are selected here that the server could not select; known once the first of them comes.
    pub(crate) fn selects_locally(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.is_selector_refused)
    }

    /// One object by its name, whatever the filter says: one try.
    ///
    /// # Errors
    /// What the server is_selector_refused.
    pub(crate) async fn get_named(&self, name: &str) -> Result<Arc<Object>, Error> {
        let client = in_time(&self.client, self.tries.due()?.or_else(get_deadline));
        let got = client.get_named(name).await;
        if self.client.has_response() {
            self.shared.answered.store(true, Ordering::Relaxed);
        }
        got.map_err(|error| self.tries.failed(error))
    }

    /// Whether what it asks for is little enough to come in one piece: pages would cost more than they spare, and rows
    /// can be joined with their names only as a whole.
    pub(super) fn needs_single_page(&self) -> bool {
        matches!(self.client.wanted(), Representation::Names | Representation::Rows)
    }

    /// Whether it asks for rows.
    pub(super) fn is_table(&self) -> bool {
        matches!(
            self.client.wanted(),
            Representation::Table(_) | Representation::Names | Representation::Rows
        )
    }

    /// How many objects have come in so far.
    pub(crate) fn received_count(&self) -> Arc<ReceivedCount> {
        Arc::clone(&self.received_count)
    }

    /// Whether an error before the first sync ends it: what a person has to mend, and a server that never answered.
    /// One that did is tried again; where it refuses connections, only by a `retries_refused` source: a watch goes on through
    /// the restart of a server, an answer is not permit_wait for that long.
    pub(crate) fn gives_up(&self, retries_refused: bool) -> GiveUp {
        let answered = Arc::clone(&self.shared.answered);
        if self.is_one_shot {
            let tries = self.tries();
            return Arc::new(move |error| tries.end(error));
        }
        Arc::new(move |error| match error {
            Error::Refused(_) => !(retries_refused && answered.load(Ordering::Relaxed)),
            Error::Tls(_)
            | Error::Unauthorized(_)
            | Error::Forbidden(_)
            | Error::NotFound(_)
            | Error::NotSupported(_)
            | Error::Invalid(_) => true,
            Error::Transport(_) | Error::Timeout(_) => !answered.load(Ordering::Relaxed),
            _ => false,
        })
    }

    async fn permit(&self) -> Option<OwnedSemaphorePermit> {
        self.shared.permits.acquire(&self.permit_wait).await
    }

    /// What to ask, and what to select of the answer.
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
        self.shared.answered.store(true, Ordering::Relaxed);
        let tries = self.is_one_shot.then(|| self.tries());
        FilteredStream { stream, filter, received_count: Arc::clone(&self.received_count), permit, tries }
    }

    /// Counts a failed request of a command that asks once.
    fn failed(&self, error: Error) -> Error {
        if self.is_one_shot { self.tries.failed(error) } else { error }
    }

    /// Whether to ask once more, after this refusal, without the field selector.
    fn falls_back(&self, error: &Error) -> bool {
        // Servers say it in one of two ways, depending on the resource.
        let refusals = ["field label not supported", "is not a known field selector"];
        let is_refusal = |message: &str| refusals.iter().any(|refusal| message.contains(refusal));
        let unsupported = matches!(error, Error::Invalid(status) if is_refusal(&status.message));
        let first =
            unsupported && self.fallback.is_some() && !self.is_selector_refused.swap(true, Ordering::Relaxed);
        if first {
            (self.on_selector_refused)(error);
        }
        first
    }
}

/// The same client with requests that end by then.
fn in_time(client: &ResourceClient, due: Option<Instant>) -> Cow<'_, ResourceClient> {
    match due {
        None => Cow::Borrowed(client),
        Some(due) => {
            let left = due.saturating_duration_since(TokioClock.now());
            Cow::Owned(client.clone().request_timeout(Some(left)))
        }
    }
}

/// The end of the patience with one object, where the user has set none.
fn get_deadline() -> Option<Instant> {
    TokioClock.now().checked_add(OBJECT_LIMIT)
}

impl ListerWatcher for PartSource {
    type List = FilteredStream<ResourceList>;
    type Watch = FilteredStream<ResourceWatch>;

    async fn list(&self, options: &ListOptions) -> Result<Self::List, Error> {
        // The first page again is increment try of a command that asks once, and increment request of one that recovers.
        if !self.is_one_shot && options.continue_token.is_empty() {
            self.tries.begin();
        }
        let permit = self.permit().await;
        loop {
            let (client, filter) = self.client_and_filter();
            match in_time(client, self.tries.due()?).list(options).await {
                Ok(stream) => {
                    if !self.is_one_shot {
                        self.tries.begin();
                    }
                    return Ok(self.filtered(stream, filter, permit));
                }
                Err(error) if self.falls_back(&error) => {}
                Err(error) => return Err(self.failed(error)),
            }
        }
    }

    async fn watch(&self, options: &WatchOptions) -> Result<Self::Watch, Error> {
        if self.is_one_shot && !options.send_initial_events {
            return std::future::pending().await;
        }
        let permit = if options.send_initial_events { self.permit().await } else { None };
        // Another source of the server may have found out while this one permit_wait for its permit.
        if options.send_initial_events && !self.supports_watch_list() {
            let message = "the server did not send an initial state before".to_owned();
            return Err(Error::NotSupported(Status { message, ..Status::default() }));
        }
        loop {
            let (client, filter) = self.client_and_filter();
            let watch = client.watch(options);
            let watch = if self.is_one_shot { self.tries.in_time(watch).await? } else { watch.await };
            match watch {
                Ok(stream) => return Ok(self.filtered(stream, filter, permit)),
                Err(error) if self.falls_back(&error) => {}
                Err(error) => return Err(self.failed(error)),
            }
        }
    }

    async fn progress(&self, seen: &ResourceVersion) -> Result<ResourceVersion, Error> {
        let _permit = self.permit().await;
        self.client_and_filter().0.progress(seen).await
    }

    fn expected_type(&self) -> Option<Arc<TypeMeta>> {
        self.client.expected_type()
    }

    fn supports_watch_list(&self) -> bool {
        self.client.supports_watch_list() && self.tries.may_watch_list()
    }

    /// Who waits for its permit has not client yet.
    fn external_wait(&self) -> Duration {
        self.client.external_wait() + self.permit_wait.total()
    }

    /// A question that few objects answer may take long to read through.
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
    use kdelta::api::{Client, Config};
    use kdelta::listwatch::{ListStream, WatchEvent, WatchStream};
    use kdelta::object::ApiResource;
    use kdelta::reflector::{Reflector, ReflectorOptions};
    use kdelta::store::Cache;
    use kdelta::testing::{FakeSource, pod};

    use crate::settings::By;

    fn source(answered: bool) -> PartSource {
        let client =
            Client::new(&Config::for_server("http://127.0.0.1:1").expect("a config")).expect("a client");
        let resource = ApiResource {
            group: String::new(),
            version: "v1".into(),
            resource: "pods".into(),
            kind: "Pod".into(),
            namespaced: true,
        };
        let filter = Filter::by(&[]).expect("no filter");
        let shared = Shared { answered: Arc::new(AtomicBool::new(answered)), ..Shared::new() };
        PartSource::new(ResourceClient::new(client, resource), None, filter, shared, None)
    }

    /// Whether that ends a retries_refused source and an impatient one: before the server has answered, and after.
    fn ends(error: &Error) -> [[bool; 2]; 2] {
        [false, true].map(|answered| {
            let source = source(answered);
            [true, false].map(|retries_refused| source.gives_up(retries_refused)(error))
        })
    }

    #[tokio::test(start_paused = true)]
    async fn a_source_that_waits_for_its_place_is_held_up_by_no_server() {
        let source = source(false);
        let _taken = source.shared.permits.acquire_all().await;
        let options =
            ReflectorOptions { page_size: Some(0), watch_list: false, ..ReflectorOptions::default() };
        let reflector = Reflector::new(source, Arc::new(Cache::new()), options);
        let limit = Duration::from_mins(10);
        let listed = tokio::time::timeout(limit, reflector.list_once()).await;
        assert!(listed.is_err(), "it waits: {listed:?}");
    }

    #[tokio::test]
    async fn what_does_not_pass_is_read_all_the_same() {
        let server = FakeSource::new();
        for name in ["a", "b", "c"] {
            server.add(pod(name));
        }
        let filter = Filter::by(&[By::parse("name=c").expect("a question")]).expect("a filter");
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
    async fn who_waited_for_a_place_hears_that_no_initial_state_comes_through_a_watch() {
        let source = source(false);
        let initial = WatchOptions { send_initial_events: true, ..WatchOptions::default() };
        let error = source.watch(&initial).await.err().expect("nobody listens");
        assert!(matches!(error, Error::Refused(_)), "{error:?}");
        let all_permits = source.shared.permits.acquire_all().await;
        let (error, ()) = tokio::join!(source.watch(&initial), async {
            // Another source of the same server.
            source.client.clone().disable_watch_list();
            drop(all_permits);
        });
        let error = error.err().expect("it is not even client");
        assert!(matches!(error, Error::NotSupported(_)), "{error:?}");
        let error = source.watch(&WatchOptions::default()).await.err().expect("nobody listens");
        assert!(matches!(error, Error::Refused(_)), "{error:?}");
    }

    #[test]
    fn a_watch_goes_on_where_a_server_that_answered_is_gone() {
        assert_eq!(ends(&Error::Refused(String::new())), [[true, true], [false, true]]);
        assert_eq!(ends(&Error::Transport(String::new())), [[true, true], [false, false]]);
        assert_eq!(ends(&Error::Timeout(String::new())), [[true, true], [false, false]]);
    }

    #[test]
    fn what_a_person_has_to_mend_ends_it_at_any_time() {
        assert_eq!(ends(&Error::Forbidden(Status::default())), [[true, true], [true, true]]);
        assert_eq!(ends(&Error::Tls(String::new())), [[true, true], [true, true]]);
    }
}
