//! The builder of shared informers.

use std::sync::Arc;
use std::time::Duration;

use super::MutationDetector;
use super::controller::run::RunFuture;
use super::delivery::handler_call::HandlerPanicHook;
use super::delivery::processor::SharedProcessor;
use super::pump::{LastStateFilter, Pump};
use super::shared::SharedIndexInformer;
use super::shared::run::{ReflectorStart, RunUntil, Shared, StartReflector};
use crate::listwatch::ListerWatcher;
use crate::object::{Compressor, Object};
use crate::queue::{
    DEFAULT_BYTES, DEFAULT_CAPACITY, DeltaFifo, DeltaFifoOptions, KnownObjects, OrderedFifo, Queue,
    QueueOptions, Transformer,
};
use crate::reflector::{Reflector, ReflectorOptions};
use crate::store::{Cache, Indexer, Indexers};

/// The kind of queue between the reflector and the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum QueueKind {
    /// A [`DeltaFifo`]: ordered per object; the initial state arrives as a whole.
    #[default]
    Delta,
    /// An [`OrderedFifo`]: ordered as the source, with marks; the initial state is queued as it arrives.
    Ordered,
}

/// The storage of object bodies in an informer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum BodyStorage {
    /// Compressed, after the index functions have run: a twentieth of the space if objects are alike. Reading the JSON of an
    /// object from the store decompresses it each time, in some microseconds. Objects in live notifications are
    /// uncompressed, except for those that waited for a coalescing handler.
    #[default]
    Compressed,
    /// As text, for stores whose objects are read often.
    Text,
}

/// A builder of a [`SharedIndexInformer`], created by [`SharedIndexInformer::builder`].
#[must_use]
pub struct Builder<L> {
    source: L,
    indexers: Indexers,
    queue: QueueKind,
    queue_capacity: usize,
    queue_bytes: usize,
    body_storage: BodyStorage,
    reflector: ReflectorOptions,
    resync_check_period: Option<Duration>,
    transformer: Option<Transformer>,
    last_states: Option<LastStateFilter>,
    bookmarks: bool,
    delivers_stored: bool,
    on_handler_panic: Option<HandlerPanicHook>,
    mutation_detector: Option<MutationDetector>,
}

impl SharedIndexInformer {
    /// Returns a builder of an informer on this source.
    pub fn builder<L: ListerWatcher>(source: L) -> Builder<L> {
        Builder::new(source)
    }
}

impl<L: ListerWatcher> Builder<L> {
    pub(super) fn new(source: L) -> Self {
        Self {
            source,
            indexers: Indexers::new(),
            queue: QueueKind::default(),
            queue_capacity: DEFAULT_CAPACITY,
            queue_bytes: DEFAULT_BYTES,
            body_storage: BodyStorage::default(),
            reflector: ReflectorOptions::default(),
            resync_check_period: None,
            transformer: None,
            last_states: None,
            bookmarks: false,
            delivers_stored: false,
            on_handler_panic: None,
            mutation_detector: None,
        }
    }

    /// Sets the indices of the store. More can be added later.
    pub fn indexers(mut self, indexers: Indexers) -> Self {
        self.indexers = indexers;
        self
    }

    /// Sets the kind of queue; the default is [`QueueKind::Delta`].
    pub fn queue(mut self, kind: QueueKind) -> Self {
        self.queue = kind;
        self
    }

    /// Sets the number of queued deltas, at least one, at which the reflector waits; the default is 1024.
    pub fn queue_capacity(mut self, capacity: usize) -> Self {
        self.queue_capacity = capacity;
        self
    }

    /// Sets the size of queued objects in bytes at which the reflector waits; the default is 16 MiB. One delta is
    /// always accepted, whatever its size.
    pub fn queue_bytes(mut self, bytes: usize) -> Self {
        self.queue_bytes = bytes;
        self
    }

    /// Sets how the store holds bodies; the default is [`BodyStorage::Compressed`].
    pub fn body_storage(mut self, body_storage: BodyStorage) -> Self {
        self.body_storage = body_storage;
        self
    }

    /// Sets the options for listing and watching. Their observer receives errors (client-go: `SetWatchErrorHandler`). The
    /// informer replaces their resync period and resync hook: see [`Builder::resync_check_period`].
    pub fn reflector(mut self, options: ReflectorOptions) -> Self {
        self.reflector = options;
        self
    }

    /// Sets the period at which the informer checks which handlers are due for a resync. It is also the default resync
    /// period of handlers. `None`, the default, disables resyncs for all handlers.
    pub fn resync_check_period(mut self, period: Option<Duration>) -> Self {
        self.resync_check_period = period;
        self
    }

    /// Sets a transformer that changes objects before they are queued and stored (client-go: `SetTransform`).
    pub fn transform(mut self, transformer: Transformer) -> Self {
        self.transformer = Some(transformer);
        self
    }

    /// Sets a condition on the last states of deleted objects. Where the state that came with a deletion does not meet it,
    /// handlers receive the stored state instead.
    ///
    /// This is for sources that select objects themselves. They report an object that no longer matches as deleted, in the
    /// state that does not match; with their condition, handlers receive the last state that did, at the version of the
    /// deletion, as from a server that selects.
    pub fn last_states(mut self, filter: impl Fn(&Object) -> bool + Send + Sync + 'static) -> Self {
        self.last_states = Some(Box::new(filter));
        self
    }

    /// Sets whether handlers receive [`Mark::Bookmark`](crate::queue::Mark::Bookmark): after each bookmark of the source, and
    /// after the difference that follows a gap. Needs [`QueueKind::Ordered`]; the default is `false`.
    pub fn bookmarks(mut self, bookmarks: bool) -> Self {
        self.bookmarks = bookmarks;
        self
    }

    /// Sets whether handlers receive the stored objects themselves, as in client-go, instead of the received ones; the default
    /// is `false`. An object that a handler keeps then takes no memory of its own, but reading its body decompresses it.
    pub fn deliver_stored(mut self, delivers_stored: bool) -> Self {
        self.delivers_stored = delivers_stored;
        self
    }

    /// Sets a hook that is called when a handler panics, in addition to the log entry.
    pub fn on_handler_panic(mut self, hook: HandlerPanicHook) -> Self {
        self.on_handler_panic = Some(hook);
        self
    }

    /// Sets a detector that checks all stored objects for changes. For tests and debugging: see [`MutationDetector`].
    pub fn mutation_detector(mut self, detector: MutationDetector) -> Self {
        self.mutation_detector = Some(detector);
        self
    }

    /// Builds the informer. It does nothing until it is run.
    #[must_use]
    pub fn build(self) -> SharedIndexInformer {
        let Self { source, reflector, resync_check_period, on_handler_panic, mutation_detector, .. } = self;
        let compressor = (self.body_storage == BodyStorage::Compressed).then(|| Arc::new(Compressor::new()));
        let cache = Cache::with_indexers(self.indexers);
        let store: Arc<dyn Indexer> = Arc::new(match &compressor {
            Some(compressor) => cache.with_compressor(Arc::clone(compressor)),
            None => cache,
        });
        let shared_compressor = compressor.clone();
        let options = QueueOptions::default()
            .atomic_replace(true)
            .transformer(self.transformer)
            .compressor(compressor)
            .capacity(self.queue_capacity)
            .bytes(self.queue_bytes);
        let known: KnownObjects = Arc::clone(&store) as _;
        let queue: Arc<dyn Queue> = match self.queue {
            QueueKind::Delta => {
                let options = DeltaFifoOptions::default().known_objects(Some(known)).queue(options);
                Arc::new(DeltaFifo::new(options))
            }
            QueueKind::Ordered => Arc::new(OrderedFifo::new(known, options)),
        };
        let clock = Arc::clone(&reflector.clock);
        // Erases the type of the source: an informer has one type for all sources.
        let start_reflector: StartReflector = Box::new(move |start| {
            let ReflectorStart { queue_sink, resync_period, should_resync, observer, until, stop } = start;
            let observer = observer.or_else(|| reflector.observer.clone());
            let should_resync = Some(should_resync);
            let options = ReflectorOptions { resync_period, should_resync, observer, ..reflector };
            let reflector = Reflector::new(source, queue_sink, options);
            let handle = reflector.handle();
            match until {
                RunUntil::Stopped => (handle, Box::pin(reflector.run(stop)) as RunFuture),
                RunUntil::Synced => (handle, Box::pin(reflector.run_until_synced(stop))),
            }
        });
        let processor = Arc::new(SharedProcessor::new(resync_check_period, on_handler_panic));
        let pump = Pump::new(queue, store, processor, mutation_detector)
            .with_last_states(self.last_states)
            .with_bookmarks(self.bookmarks)
            .with_stored_objects(self.delivers_stored);
        let shared = Shared::new(pump, start_reflector, clock, resync_check_period, shared_compressor);
        SharedIndexInformer::new(shared)
    }
}
