//! A controller over any queue and source, with a function that processes popped items.

pub(super) mod process_loop;
pub(super) mod queue_sink;
pub(super) mod run;

use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::clock::Clock;
use crate::informer::delivery::progress::InitialDelivery;
use crate::listwatch::{Error, ListerWatcher};
use crate::object::ResourceVersion;
use crate::queue::Queue;
use crate::reflector::{Reflector, ReflectorHandle, ReflectorOptions};
use process_loop::ProcessFunc;
use process_loop::{FuncProcessor, ItemProcessor, pop_until_closed};
use queue_sink::QueueSink;
use run::{RunFuture, run_with_consumer};

/// The configuration of a [`Controller`] (client-go: `Config`).
///
/// ```
/// # use std::sync::Arc;
/// # use std::time::Duration;
/// # use kdelta::informer::{Config, Controller};
/// # use kdelta::queue::{DeltaFifo, DeltaFifoOptions};
/// # use kdelta::store::Cache;
/// # use kdelta::testing::FakeSource;
/// let store = Arc::new(Cache::new());
/// let options = DeltaFifoOptions::default().known_objects(Some(store.clone()));
/// let process = Box::new(move |popped: &_| {
///     // Here the deltas are applied to the store.
///     # let _: (&kdelta::queue::PoppedItem, &Arc<Cache>) = (popped, &store);
///     Ok(())
/// });
/// let config = Config::new(Arc::new(DeltaFifo::new(options)), FakeSource::new(), process)
///     .full_resync_period(Some(Duration::from_secs(600)))
///     .retry_on_error(true);
/// let controller = Controller::new(config);
/// assert!(!controller.has_synced(), "it has not been run");
/// ```
#[non_exhaustive]
pub struct Config<L> {
    /// The queue between the reflector and the process function. Its known objects must be the store that the function
    /// writes to.
    pub queue: Arc<dyn Queue>,
    /// The source to list and watch.
    pub lister_watcher: L,
    /// The function that processes popped items.
    pub process: ProcessFunc,
    /// The period at which all known objects are queued again; `None` disables resyncs.
    pub full_resync_period: Option<Duration>,
    /// Whether deltas whose processing failed are queued again, at the end of the queue, unless the queue already holds
    /// newer deltas of the object. After each failure the loop pauses ([`ProcessFunc`]).
    pub retry_on_error: bool,
    /// The options for listing and watching. Their resync period is replaced by [`Config::full_resync_period`]; their
    /// observer receives errors (client-go: `WatchErrorHandler`).
    pub reflector: ReflectorOptions,
}

impl<L> Config<L> {
    /// Creates a configuration without resyncs and retries.
    pub fn new(queue: Arc<dyn Queue>, lister_watcher: L, process: ProcessFunc) -> Self {
        let reflector = ReflectorOptions::default();
        Self { queue, lister_watcher, process, full_resync_period: None, retry_on_error: false, reflector }
    }
}

setters!(Config<L> {
    full_resync_period: Option<Duration>,
    retry_on_error: bool,
    reflector: ReflectorOptions,
});

/// A reflector, a queue, and one task that pops the queue (client-go: `Controller`). Most programs use a
/// [`SharedIndexInformer`](super::SharedIndexInformer), which consists of the same parts.
///
/// This is a handle: cloning it is cheap, and all clones refer to the same controller. A controller runs once.
///
/// ```
/// # use std::sync::Arc;
/// # use kdelta::informer::{Config, Controller};
/// # use kdelta::object::meta_namespace_key;
/// # use kdelta::queue::{Fifo, Item};
/// # use kdelta::testing::{FakeSource, pod};
/// # use tokio_util::sync::CancellationToken;
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), kdelta::listwatch::Error> {
/// let source = FakeSource::new();
/// source.add(pod("shop/web"));
/// let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
/// let process = Box::new(move |popped: &_| {
///     let kdelta::queue::PoppedItem { item: Item::Deltas(deltas), .. } = popped else { return Ok(()) };
///     Ok(sender.send(deltas.newest().and_then(|delta| delta.object()).map(|object| object.key().clone()))?)
/// });
/// let controller = Controller::new(Config::new(Arc::new(Fifo::new(meta_namespace_key)), source, process));
/// let stop = CancellationToken::new();
/// let running = tokio::spawn(controller.run(stop.clone()));
/// assert_eq!(receiver.recv().await, Some(Some("shop/web".into())));
/// stop.cancel();
/// running.await.expect("no panic")
/// # }
/// ```
#[derive(Clone)]
pub struct Controller {
    backend: Arc<dyn ControllerBackend>,
}

/// The implementation behind a [`Controller`].
pub(super) trait ControllerBackend: Send + Sync {
    fn has_synced(&self) -> bool;
    fn last_sync_resource_version(&self) -> ResourceVersion;
    fn start(self: Arc<Self>, stop: CancellationToken) -> RunFuture;
}

struct QueueController {
    queue: Arc<dyn Queue>,
    reflector: ReflectorHandle,
    /// Set by an informer that calls its handler after the pop.
    initial_delivery: Arc<InitialDelivery>,
    clock: Arc<dyn Clock>,
    /// Taken by the run. A std mutex: it is held only to take the value.
    start: Mutex<Option<Start>>,
}

struct Start {
    /// Runs the reflector. Erases the type of the source.
    run_reflector: Box<dyn FnOnce(CancellationToken) -> RunFuture + Send>,
    processor: Box<dyn ItemProcessor>,
}

impl Controller {
    /// Creates a controller. It does nothing until it is run.
    pub fn new<L: ListerWatcher>(config: Config<L>) -> Self {
        let Config { queue, lister_watcher, process, full_resync_period, retry_on_error, reflector } = config;
        let options = ReflectorOptions { resync_period: full_resync_period, ..reflector };
        let processor = Box::new(FuncProcessor::new(process, retry_on_error));
        Self::with_processor(queue, lister_watcher, options, processor, Arc::default())
    }

    pub(super) fn with_processor<L: ListerWatcher>(
        queue: Arc<dyn Queue>,
        source: L,
        options: ReflectorOptions,
        processor: Box<dyn ItemProcessor>,
        initial_delivery: Arc<InitialDelivery>,
    ) -> Self {
        let clock = Arc::clone(&options.clock);
        let reflector = Reflector::new(source, Arc::new(QueueSink(Arc::clone(&queue))), options);
        let handle = reflector.handle();
        let run_reflector = Box::new(|stop| Box::pin(reflector.run(stop)) as RunFuture);
        let start = Mutex::new(Some(Start { run_reflector, processor }));
        Self::from_backend(Arc::new(QueueController {
            queue,
            reflector: handle,
            initial_delivery,
            clock,
            start,
        }))
    }

    pub(super) fn from_backend(backend: Arc<dyn ControllerBackend>) -> Self {
        Self { backend }
    }

    /// Returns true if the initial state has been popped and processed. For an [`Informer`](super::Informer), its handler
    /// must also have returned from all of its notifications. Once true, it stays true.
    #[must_use]
    pub fn has_synced(&self) -> bool {
        self.backend.has_synced()
    }

    /// Returns the version that the reflector received last; unset before the first.
    #[must_use]
    pub fn last_sync_resource_version(&self) -> ResourceVersion {
        self.backend.last_sync_resource_version()
    }

    /// Runs until `stop` is cancelled or the reflector gives up, then processes the queued items and returns. A second run
    /// returns at once. Dropping the future aborts the run and leaves queued items unprocessed.
    ///
    /// # Errors
    /// The error that the reflector gave up with; see [`Reflector::run`].
    ///
    /// # Panics
    /// Outside of a tokio runtime, and if the source or the process function panicked.
    pub fn run(&self, stop: CancellationToken) -> impl Future<Output = Result<(), Error>> + Send + use<> {
        Arc::clone(&self.backend).start(stop)
    }
}

impl ControllerBackend for QueueController {
    /// Checks the queue first: it reports the sync under its lock, under which the last initial delivery began.
    fn has_synced(&self) -> bool {
        self.queue.has_synced() && self.initial_delivery.is_done()
    }

    fn last_sync_resource_version(&self) -> ResourceVersion {
        self.reflector.last_sync_resource_version()
    }

    fn start(self: Arc<Self>, stop: CancellationToken) -> RunFuture {
        Box::pin(async move {
            let start = self.start.lock().unwrap_or_else(PoisonError::into_inner).take();
            let Some(Start { run_reflector, mut processor }) = start else {
                tracing::warn!("the controller has been started already");
                return Ok(());
            };
            let consumer = pop_until_closed(&*self.queue, &mut *processor, &*self.clock);
            run_with_consumer(&*self.queue, run_reflector(stop), &CancellationToken::new(), consumer).await
        })
    }
}
