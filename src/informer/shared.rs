//! The informer as it is used.

use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use super::builder::Builder;
use super::controller::ControllerBackend;
use super::listener::{Inbox, ProcessorListener, channel, coalescing, subscription};
use super::pump::Pump;
use super::queue_sink::QueueSink;
use super::registration::{Registration, Subscription};
use super::run::{RunFuture, run_with_consumer};
use super::{Controller, HandlerOptions, InformerError, OnSlow, ResourceEventHandler};
use crate::clock::Clock;
use crate::listwatch::{Error, ListerWatcher};
use crate::object::{Compressor, ResourceVersion};
use crate::queue::{DEFAULT_BYTES, Transformer};
use crate::reflector::{Observer, ReflectorHandle, ShouldResync};
use crate::store::{Indexer, Indexers, Store};

/// Makes the reflector, once it is known how often to resync.
pub(super) type StartReflector = Box<dyn FnOnce(ReflectorStart) -> (ReflectorHandle, RunFuture) + Send>;

/// What the reflector is started with.
pub(super) struct ReflectorStart {
    pub(super) queue_sink: Arc<QueueSink>,
    pub(super) resync_period: Option<Duration>,
    pub(super) should_resync: ShouldResync,
    /// In the place of the options' own.
    pub(super) observer: Option<Observer>,
    pub(super) stop: CancellationToken,
}

/// What can still be chosen, until the run takes it.
struct NotStarted {
    start_reflector: StartReflector,
    observer: Option<Observer>,
}

/// A store that follows what a source holds, with any number of handlers that are told of it (client-go:
/// `SharedIndexInformer`).
///
/// This is a handle: cloning it is cheap, and all clones are the same informer. It runs once; whoever runs it owns its
/// tasks.
///
/// ```
/// use kdelta::informer::{Notification, NotificationFn, SharedIndexInformer};
/// use kdelta::store::index_funcs;
/// use kdelta::testing::{FakeSource, pod};
/// use tokio_util::sync::CancellationToken;
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let source = FakeSource::new();
/// source.add(pod("shop/web"));
/// let informer = SharedIndexInformer::builder(source.clone()).build();
/// let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
/// let handler = NotificationFn(move |notification: Notification| drop(tell.send(notification.to_string())));
/// let registration = informer.add_event_handler(handler)?;
/// let stop = CancellationToken::new();
/// let running = tokio::spawn(informer.run(stop.clone()));
/// assert!(registration.synced().await);
/// informer.add_indexers([("namespace".to_owned(), index_funcs::namespace())].into())?;
/// assert_eq!(informer.get_indexer().index_keys("namespace", "shop")?, ["shop/web".into()]);
/// source.delete("shop/web");
/// assert_eq!(told.recv().await.as_deref(), Some("+shop/web@2! list"));
/// assert_eq!(told.recv().await.as_deref(), Some("-shop/web@3 watch"));
/// stop.cancel();
/// # Ok(running.await??)
/// # }
/// ```
#[doc(alias = "SharedInformer")]
#[derive(Clone)]
pub struct SharedIndexInformer {
    shared: Arc<Shared>,
}

/// client-go's interface without the indices. Here one type is both.
pub type SharedInformer = SharedIndexInformer;

struct Shared {
    pump: Pump,
    /// Taken by the run. A std mutex: it is held for the take.
    not_started: Mutex<Option<NotStarted>>,
    reflector: OnceLock<ReflectorHandle>,
    clock: Arc<dyn Clock>,
    default_resync: Option<Duration>,
    /// That of the store.
    compressor: Option<Arc<Compressor>>,
}

impl SharedIndexInformer {
    /// An informer on this source.
    pub fn builder<L: ListerWatcher>(source: L) -> Builder<L> {
        Builder::new(source)
    }

    pub(super) fn new(
        pump: Pump,
        start_reflector: StartReflector,
        clock: Arc<dyn Clock>,
        default_resync: Option<Duration>,
        compressor: Option<Arc<Compressor>>,
    ) -> Self {
        let shared = Shared {
            pump,
            not_started: Mutex::new(Some(NotStarted { start_reflector, observer: None })),
            reflector: OnceLock::new(),
            clock,
            default_resync,
            compressor,
        };
        Self { shared: Arc::new(shared) }
    }

    /// Adds a handler, told again of everything as often as the informer resyncs. At any time before the end: one
    /// that comes late is told first, as initial, of what the store holds, in no particular order.
    ///
    /// # Errors
    /// [`InformerError::HandlerAfterStop`].
    pub fn add_event_handler<H: ResourceEventHandler>(
        &self,
        handler: H,
    ) -> Result<Registration, InformerError> {
        self.add_event_handler_with_resync_period(handler, self.shared.default_resync)
    }

    /// The same with a period of its own: `None` is never, otherwise at least a second, and no more often than the
    /// informer looks once it runs.
    ///
    /// # Errors
    /// [`InformerError::HandlerAfterStop`].
    pub fn add_event_handler_with_resync_period<H: ResourceEventHandler>(
        &self,
        handler: H,
        resync: Option<Duration>,
    ) -> Result<Registration, InformerError> {
        self.add_event_handler_with_options(handler, HandlerOptions { resync, ..HandlerOptions::default() })
    }

    /// The same with a policy for the case that the handler is slow.
    ///
    /// # Errors
    /// [`InformerError::HandlerAfterStop`].
    pub fn add_event_handler_with_options<H: ResourceEventHandler>(
        &self,
        handler: H,
        options: HandlerOptions,
    ) -> Result<Registration, InformerError> {
        let removed = CancellationToken::new();
        let ends = match options.on_slow {
            OnSlow::Block { capacity, bytes } => channel(capacity, bytes),
            OnSlow::Coalesce => coalescing(self.shared.compressor.clone()),
        };
        let (registration, inbox) = self.register(ends, options.resync, &removed)?;
        let progress = Arc::clone(&registration.progress);
        self.shared.pump.processor.spawn(handler, inbox, progress, removed)?;
        Ok(registration)
    }

    /// Registers a reader with a task of its own, which reads notifications one by one.
    ///
    /// At most `capacity` of them (and 16 MiB) wait to be read. The initial state does not count: it waits as references
    /// to what the store holds, so that the informer syncs whether or not it is read. Later notifications that exceed the
    /// bounds hold up the informer until they are read.
    ///
    /// # Errors
    /// [`InformerError::HandlerAfterStop`].
    pub fn subscribe(
        &self,
        capacity: usize,
        resync: Option<Duration>,
    ) -> Result<Subscription, InformerError> {
        let on_slow = OnSlow::Block { capacity, bytes: DEFAULT_BYTES };
        self.subscribe_with_options(HandlerOptions { resync, on_slow })
    }

    /// The same with a policy for the case that the reader is slow.
    ///
    /// ```
    /// # use kdelta::informer::{HandlerOptions, OnSlow, SharedIndexInformer};
    /// # use kdelta::testing::{FakeSource, pod};
    /// # use tokio_util::sync::CancellationToken;
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let source = FakeSource::new();
    /// # source.add(pod("web"));
    /// let informer = SharedIndexInformer::builder(source.clone()).build();
    /// let slow = HandlerOptions { on_slow: OnSlow::Coalesce, ..HandlerOptions::default() };
    /// let mut screen = informer.subscribe_with_options(slow)?;
    /// let running = tokio::spawn(informer.run(CancellationToken::new()));
    /// assert!(informer.synced().await);
    /// for _ in 0..100 {
    ///     source.modify(pod("web"));
    /// }
    /// # tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    /// let last = screen.recv().await.ok_or("the informer ended")?;
    /// assert_eq!((last.to_string(), screen.coalesced()), ("+web@102! list".to_owned(), 100));
    /// # running.abort();
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`InformerError::HandlerAfterStop`].
    pub fn subscribe_with_options(&self, options: HandlerOptions) -> Result<Subscription, InformerError> {
        let ends = match options.on_slow {
            OnSlow::Block { capacity, bytes } => subscription(capacity, bytes),
            OnSlow::Coalesce => coalescing(self.shared.compressor.clone()),
        };
        let (registration, inbox) = self.register(ends, options.resync, &CancellationToken::new())?;
        let processor = Arc::clone(&self.shared.pump.processor);
        Ok(Subscription { inbox, registration, processor })
    }

    fn register(
        &self,
        (listener, inbox): (ProcessorListener, Inbox),
        resync: Option<Duration>,
        removed: &CancellationToken,
    ) -> Result<(Registration, Inbox), InformerError> {
        let pump = &self.shared.pump;
        let registration =
            Registration { progress: Arc::clone(&listener.progress), synced: Arc::clone(&pump.synced) };
        pump.register(listener, resync, self.shared.clock.now(), removed)?;
        Ok((registration, inbox))
    }

    /// Removes a handler, also while the informer stops, whose end then does not wait for it. Waiting notifications are
    /// dropped; a call in progress may continue after this returns. A handler that was removed before, or belongs to another
    /// informer, is ignored.
    pub fn remove_event_handler(&self, registration: &Registration) {
        self.shared.pump.processor.remove(&registration.progress);
    }

    /// Removes a handler and waits until it will not be called again (client-go: `ShutDownEventHandler`).
    ///
    /// A handler that blocks on this future for itself waits for ever, as in client-go.
    pub async fn shut_down_event_handler(&self, registration: &Registration) {
        self.remove_event_handler(registration);
        registration.ended().await;
    }

    /// Changes objects before they are queued and stored, in the place of
    /// [`Builder::transform`]'s transformer or the one set before.
    ///
    /// # Errors
    /// [`InformerError::AlreadyStarted`].
    pub fn set_transform(&self, transformer: Transformer) -> Result<(), InformerError> {
        // Held meanwhile, so that the run does not begin in between.
        let not_started = self.shared.not_started();
        if not_started.is_none() {
            return Err(InformerError::AlreadyStarted);
        }
        self.shared.pump.queue.set_transformer(transformer);
        Ok(())
    }

    /// Is told when a list or a watch fails, and of the recovery, in the place of the observer in
    /// [`Builder::reflector`]'s options or the one set before.
    ///
    /// # Errors
    /// [`InformerError::AlreadyStarted`].
    pub fn set_watch_error_handler(&self, observer: Observer) -> Result<(), InformerError> {
        let mut not_started = self.shared.not_started();
        not_started.as_mut().ok_or(InformerError::AlreadyStarted)?.observer = Some(observer);
        Ok(())
    }

    /// Adds indices, at any time before the end, over what is stored and what will be: all of them or none.
    ///
    /// # Errors
    /// [`InformerError::IndexersAfterStop`], or the store's conflict.
    pub fn add_indexers(&self, indexers: Indexers) -> Result<(), InformerError> {
        if self.is_stopped() {
            return Err(InformerError::IndexersAfterStop);
        }
        Ok(self.shared.pump.store.add_indexers(indexers)?)
    }

    /// The store. It is for reading: what is written to it is not told to anybody, and is lost with the next change.
    #[must_use]
    pub fn get_indexer(&self) -> Arc<dyn Indexer> {
        Arc::clone(&self.shared.pump.store)
    }

    /// The same without its indices.
    #[must_use]
    pub fn get_store(&self) -> Arc<dyn Store> {
        self.get_indexer()
    }

    /// Whether the store has held the whole initial state. Says nothing of handlers: see [`Registration::has_synced`].
    #[must_use]
    pub fn has_synced(&self) -> bool {
        ControllerBackend::has_synced(&*self.shared)
    }

    /// Waits until the store has held the whole initial state; `false` when the informer ended before.
    pub async fn synced(&self) -> bool {
        self.shared.pump.synced.wait().await
    }

    /// The version the reflector received last; unset before the first.
    #[must_use]
    pub fn last_sync_resource_version(&self) -> ResourceVersion {
        ControllerBackend::last_sync_resource_version(&*self.shared)
    }

    /// The version up to which everything is in the store: whoever wrote an object and got this version, or an older
    /// one, back finds it there. Unset before the first sync.
    #[must_use]
    pub fn last_store_sync_resource_version(&self) -> ResourceVersion {
        self.shared.pump.applied_version()
    }

    /// Whether it has been run to its end.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.shared.pump.processor.is_stopped()
    }

    /// Runs until `stop`, or until the reflector gives up. A second run ends at once.
    ///
    /// It ends in order: the reflector; then what is queued is applied and told; then the handlers, each after the last
    /// notification for it. A [`Subscription`] can be read to its end afterwards; the end does not wait for its
    /// reader. Dropping the future stops everything where it is.
    ///
    /// # Errors
    /// What the reflector gave up with; see [`Reflector::run`](crate::reflector::Reflector::run).
    ///
    /// # Panics
    /// Outside of a tokio runtime, and where the source panicked.
    pub fn run(&self, stop: CancellationToken) -> impl Future<Output = Result<(), Error>> + Send + use<> {
        Arc::clone(&self.shared).start(stop)
    }

    /// Ends this informer if it has not been started. It then can't be started.
    pub(super) fn end_unstarted(&self) {
        self.shared.end_unstarted();
    }

    /// The same informer as a [`Controller`]: for what is to run informers and other controllers alike. Unlike
    /// client-go's it can be run, which is to run the informer.
    ///
    /// ```
    /// # use kdelta::informer::SharedIndexInformer;
    /// # use kdelta::testing::{FakeSource, pod};
    /// # use tokio_util::sync::CancellationToken;
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let source = FakeSource::new();
    /// # source.add(pod("web"));
    /// let informer = SharedIndexInformer::builder(source).build();
    /// let controller = informer.get_controller();
    /// let stop = CancellationToken::new();
    /// let running = tokio::spawn(controller.run(stop.clone()));
    /// assert!(informer.synced().await && controller.has_synced());
    /// assert_eq!(controller.last_sync_resource_version(), "2".into());
    /// stop.cancel();
    /// # Ok(running.await??)
    /// # }
    /// ```
    #[must_use]
    pub fn get_controller(&self) -> Controller {
        Controller::from_backend(Arc::clone(&self.shared) as _)
    }
}

impl ControllerBackend for Shared {
    fn has_synced(&self) -> bool {
        self.pump.queue.has_synced()
    }

    fn last_sync_resource_version(&self) -> ResourceVersion {
        self.reflector.get().map(ReflectorHandle::last_sync_resource_version).unwrap_or_default()
    }

    fn start(self: Arc<Self>, stop: CancellationToken) -> RunFuture {
        Box::pin(async move {
            let not_started = self.not_started().take();
            if let Some(not_started) = not_started {
                self.run(not_started, stop).await
            } else {
                tracing::warn!("the informer has been started already");
                Ok(())
            }
        })
    }
}

impl Shared {
    fn not_started(&self) -> MutexGuard<'_, Option<NotStarted>> {
        self.not_started.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends an informer that has not been started, as if it had been run and stopped before it synced.
    fn end_unstarted(&self) {
        // Dropped after the lock is released: what the source does when it is dropped is its own.
        let not_started = self.not_started().take();
        if not_started.is_some() {
            drop(AbortOnDrop(&self.pump));
        }
    }

    async fn run(&self, not_started: NotStarted, stop: CancellationToken) -> Result<(), Error> {
        let pump = &self.pump;
        let _aborted = AbortOnDrop(pump);
        let resync_period = pump.processor.start(Handle::current());
        let should_resync: ShouldResync = {
            let (processor, clock) = (Arc::clone(&pump.processor), Arc::clone(&self.clock));
            Arc::new(move || processor.should_resync(clock.now()))
        };
        let queue_sink = Arc::new(QueueSink(Arc::clone(&pump.queue)));
        let NotStarted { start_reflector, observer } = not_started;
        let (handle, reflecting) =
            start_reflector(ReflectorStart { queue_sink, resync_period, should_resync, observer, stop });
        let _first = self.reflector.set(handle);
        let stopping = CancellationToken::new();
        let detecting = async {
            if let Some(detector) = &pump.detector {
                detector.run(&*self.clock, &stopping).await;
            }
        };
        let consumer = async {
            tokio::join!(pump.process_loop(&stopping), detecting);
            pump.processor.stop().await;
        };
        run_with_consumer(&*pump.queue, reflecting, &stopping, consumer).await
    }
}

/// The end of a run, however it came.
struct AbortOnDrop<'a>(&'a Pump);

impl Drop for AbortOnDrop<'_> {
    fn drop(&mut self) {
        self.0.queue.close();
        self.0.processor.abort();
        self.0.synced.end();
    }
}
