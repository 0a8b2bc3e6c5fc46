//! A part of the cluster as the machine's source: what the server selects, it selects; the rest is selected here, by
//! the same rules that a server follows.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use kdelta::api::{ResourceClient, ResourceList, ResourceWatch};
use kdelta::informer::{Builder, MutationDetector, SharedIndexInformer};
use kdelta::listwatch::{
    Error, ListMeta, ListOptions, ListStream, ListerWatcher, WatchEvent, WatchOptions, WatchStream,
};
use kdelta::object::{FieldSelector, Object};
use kdelta::reflector::GiveUp;

use super::indices::Filter;

/// Lists and watches one part.
///
/// A field selector is tried on the server. When the server has no such field to select by, everything is asked for
/// instead and the selector is applied here, from then on.
pub(crate) struct Source {
    asked: ResourceClient,
    /// What to ask instead, with whole objects, and what to select of it.
    unselected: Option<(ResourceClient, FieldSelector)>,
    filter: Filter,
    /// Whether the server has refused the field selector. Relaxed is enough: it only saves a second refusal.
    refused: AtomicBool,
    /// Whether the server has ever accepted a list or a watch. Shared by all sources, and with who decides when to give
    /// up.
    answered: Arc<AtomicBool>,
    /// Objects that have come in so far, for who shows it. Relaxed: a number on a screen.
    arrived: Arc<AtomicU64>,
    /// Hears of the refusal, once.
    on_refusal: Box<dyn Fn(&Error) + Send + Sync>,
    mutation_detector: bool,
}

impl Source {
    pub(super) fn new(
        asked: ResourceClient,
        unselected: Option<(ResourceClient, FieldSelector)>,
        filter: Filter,
        answered: Arc<AtomicBool>,
    ) -> Self {
        Self {
            asked,
            unselected,
            filter,
            refused: AtomicBool::new(false),
            answered,
            arrived: Arc::default(),
            on_refusal: Box::new(|_| {}),
            mutation_detector: false,
        }
    }

    /// The same, whose informer compares what it has cached with what it was, where that is asked for.
    pub(super) fn with_mutation_detector(self, asked: bool) -> Self {
        Self { mutation_detector: asked, ..self }
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
    pub(crate) fn on_refusal(self, tell: impl Fn(&Error) + Send + Sync + 'static) -> Self {
        Self { on_refusal: Box::new(tell), ..self }
    }

    /// One object by its name, whatever the filter says.
    ///
    /// # Errors
    /// What the server refused.
    pub(crate) async fn get_named(&self, name: &str) -> Result<Arc<Object>, Error> {
        self.asked.get_named(name).await
    }

    /// How many objects have come in so far.
    pub(crate) fn arrived(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.arrived)
    }

    /// Whether an error before the first sync ends it: what a person has to mend, and a server that never answered.
    /// One that did is tried again; where it refuses connections, only by a `patient` source: a watch goes on through
    /// the restart of a server, an answer is not waited for that long.
    pub(crate) fn gives_up(&self, patient: bool) -> GiveUp {
        let answered = Arc::clone(&self.answered);
        Arc::new(move |error| match error {
            Error::Refused(_) => !(patient && answered.load(Ordering::Relaxed)),
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

    /// What to ask, and what to select of the answer.
    fn plan(&self) -> (&ResourceClient, Filter) {
        match &self.unselected {
            Some((client, fields)) if self.refused.load(Ordering::Relaxed) => {
                (client, self.filter.clone().and_fields(fields.clone()))
            }
            _ => (&self.asked, self.filter.clone()),
        }
    }

    fn selected<S>(&self, stream: S, filter: Filter) -> Selected<S> {
        self.answered.store(true, Ordering::Relaxed);
        Selected { stream, filter, arrived: Arc::clone(&self.arrived) }
    }

    /// Whether to ask once more, after this refusal, without the field selector.
    fn can_do_without(&self, error: &Error) -> bool {
        // Servers say it in one of two ways, depending on the resource.
        let refusals = ["field label not supported", "is not a known field selector"];
        let says = |message: &str| refusals.iter().any(|refusal| message.contains(refusal));
        let unsupported = matches!(error, Error::Invalid(status) if says(&status.message));
        let first = unsupported && self.unselected.is_some() && !self.refused.swap(true, Ordering::Relaxed);
        if first {
            (self.on_refusal)(error);
        }
        first
    }
}

impl ListerWatcher for Source {
    type List = Selected<ResourceList>;
    type Watch = Selected<ResourceWatch>;

    async fn list(&self, options: &ListOptions) -> Result<Self::List, Error> {
        loop {
            let (client, filter) = self.plan();
            match client.list(options).await {
                Ok(stream) => return Ok(self.selected(stream, filter)),
                Err(error) if self.can_do_without(&error) => {}
                Err(error) => return Err(error),
            }
        }
    }

    async fn watch(&self, options: &WatchOptions) -> Result<Self::Watch, Error> {
        loop {
            let (client, filter) = self.plan();
            match client.watch(options).await {
                Ok(stream) => return Ok(self.selected(stream, filter)),
                Err(error) if self.can_do_without(&error) => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn supports_watch_list(&self) -> bool {
        self.asked.supports_watch_list()
    }

    fn gives_up_watch_list(&self) {
        self.asked.gives_up_watch_list();
    }
}

/// A stream of which a filter lets a part through.
pub(crate) struct Selected<S> {
    stream: S,
    filter: Filter,
    arrived: Arc<AtomicU64>,
}

impl<S> Selected<S> {
    fn passes(&self, object: &Object) -> bool {
        self.arrived.fetch_add(1, Ordering::Relaxed);
        self.filter.passes(object)
    }
}

impl<S: ListStream> ListStream for Selected<S> {
    async fn next(&mut self) -> Result<Option<Arc<Object>>, Error> {
        loop {
            match self.stream.next().await? {
                Some(object) if !self.passes(&object) => {}
                item => return Ok(item),
            }
        }
    }

    fn meta(&self) -> &ListMeta {
        self.stream.meta()
    }
}

/// As a server does with a selector: an object that no longer passes is deleted, and the store behind the queue makes
/// an addition of one that passes for the first time. A deletion of what was never seen is dropped there.
impl<S: WatchStream> WatchStream for Selected<S> {
    async fn next(&mut self) -> Option<Result<WatchEvent, Error>> {
        loop {
            match self.stream.next().await? {
                Ok(WatchEvent::Added(object)) if !self.passes(&object) => {}
                Ok(WatchEvent::Modified(object)) if !self.passes(&object) => {
                    return Some(Ok(WatchEvent::Deleted(object)));
                }
                event => return Some(event),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use kdelta::api::{Client, Config};
    use kdelta::listwatch::Status;
    use kdelta::object::ApiResource;

    use super::*;

    fn source(answered: &Arc<AtomicBool>) -> Source {
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
        Source::new(ResourceClient::new(client, resource), None, filter, Arc::clone(answered))
    }

    /// Whether that ends a patient source and an impatient one: before the server has answered, and after.
    fn ends(error: &Error) -> [[bool; 2]; 2] {
        [false, true].map(|answered| {
            let source = source(&Arc::new(AtomicBool::new(answered)));
            [true, false].map(|patient| source.gives_up(patient)(error))
        })
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
