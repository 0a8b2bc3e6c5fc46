//! The lists and watches of a part: each takes a permit, is repeated if the server refuses the field selector, and yields
//! filtered objects.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use kdelta::api::{ResourceClient, ResourceList, ResourceWatch};
use kdelta::listwatch::{Error, ListOptions, ListerWatcher, Status, WatchOptions};
use kdelta::object::{ResourceVersion, TypeMeta};
use kdelta::reflector::ReflectorOptions;
use tokio::sync::OwnedSemaphorePermit;

use super::PartSource;
use super::filtered_stream::FilteredStream;
use super::time_limits::{limited, time_until, watch_limit};
use crate::session::filter::Filter;

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

impl PartSource {
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

    /// Returns the stream with the filter, and records that the server has responded.
    pub(super) fn filtered<S>(
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
