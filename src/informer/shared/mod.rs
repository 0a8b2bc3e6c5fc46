//! The shared informer: the handle through which callers register handlers, read the store and start the run.

pub(super) mod run;

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::controller::ControllerBackend;
use super::delivery::listener::{Inbox, ProcessorListener, channel, coalescing, subscription};
use super::registration::{Registration, Subscription};
use super::{Controller, HandlerOptions, InformerError, OnSlow, ResourceEventHandler};
use crate::listwatch::Error;
use crate::object::ResourceVersion;
use crate::queue::{DEFAULT_BYTES, QueueSize, Transformer};
use crate::reflector::Observer;
use crate::store::{Indexer, Indexers, Store};
use run::{RunUntil, Shared};

/// A store that mirrors a source, with any number of handlers that are notified of changes (client-go:
/// `SharedIndexInformer`).
///
/// This is a handle: cloning it is cheap, and all clones refer to the same informer. An informer runs once. The future of
/// [`SharedIndexInformer::run`] owns its tasks.
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
/// let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
/// let handler = NotificationFn(move |notification: Notification| drop(sender.send(notification.to_string())));
/// let registration = informer.add_event_handler(handler)?;
/// let stop = CancellationToken::new();
/// let running = tokio::spawn(informer.run(stop.clone()));
/// assert!(registration.synced().await);
/// informer.add_indexers([("namespace".to_owned(), index_funcs::namespace())].into())?;
/// assert_eq!(informer.get_indexer().index_keys("namespace", "shop")?, ["shop/web".into()]);
/// source.delete("shop/web");
/// assert_eq!(receiver.recv().await.as_deref(), Some("+shop/web@2! list"));
/// assert_eq!(receiver.recv().await.as_deref(), Some("-shop/web@3 watch"));
/// stop.cancel();
/// # Ok(running.await??)
/// # }
/// ```
#[doc(alias = "SharedInformer")]
#[derive(Clone)]
pub struct SharedIndexInformer {
    shared: Arc<Shared>,
}

/// An alias for client-go's interface without indices, which is the same type here.
pub type SharedInformer = SharedIndexInformer;

impl SharedIndexInformer {
    pub(in crate::informer) fn new(shared: Shared) -> Self {
        Self { shared: Arc::new(shared) }
    }

    /// Registers a handler that uses the informer's resync period. Handlers can be registered at any time before the
    /// informer stops. A handler registered later first receives the objects in the store as initial adds, in no
    /// particular order.
    ///
    /// # Errors
    /// [`InformerError::HandlerAfterStop`].
    pub fn add_event_handler<H: ResourceEventHandler>(
        &self,
        handler: H,
    ) -> Result<Registration, InformerError> {
        self.add_event_handler_with_resync_period(handler, self.shared.default_resync)
    }

    /// Registers a handler with its own resync period. `None` disables resyncs; otherwise the period is at least one
    /// second, and, once the informer runs, at least its check period.
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

    /// Registers a handler with its own resync period and its own policy for slow reading.
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

    /// Registers a subscription, from which the caller reads notifications one by one.
    ///
    /// At most `capacity` notifications (and 16 MiB) are buffered. The initial state does not count: it is buffered as
    /// references to the objects in the store, so that the informer syncs whether or not it is read. Later notifications
    /// that exceed the bounds block the informer until the subscription is read.
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

    /// Registers a subscription with its own resync period and its own policy for slow reading.
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
    /// let slow = HandlerOptions::default().on_slow(OnSlow::Coalesce);
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
        let registration = Registration {
            progress: Arc::clone(&listener.progress),
            synced: Arc::clone(&pump.synced),
            backlog: listener.backlog(),
        };
        pump.register(listener, resync, self.shared.clock.now(), removed)?;
        Ok((registration, inbox))
    }

    /// Removes a handler. A stopping informer then does not wait for it. Buffered notifications are dropped; a call in progress
    /// may continue after this returns. A handler that was removed before, or belongs to another informer, is ignored.
    pub fn remove_event_handler(&self, registration: &Registration) {
        self.shared.pump.processor.remove(&registration.progress);
    }

    /// Removes a handler and waits until it will not be called again (client-go: `ShutDownEventHandler`).
    ///
    /// A handler that blocks on this future for its own registration never returns, as in client-go.
    pub async fn shut_down_event_handler(&self, registration: &Registration) {
        self.remove_event_handler(registration);
        registration.ended().await;
    }

    /// Sets a transformer that changes objects before they are queued and stored. Replaces the one set by
    /// [`Builder::transform`](super::Builder::transform) or by an earlier call.
    ///
    /// # Errors
    /// [`InformerError::AlreadyStarted`].
    pub fn set_transform(&self, transformer: Transformer) -> Result<(), InformerError> {
        // The lock is held until the transformer is set, so that the run does not start in between.
        let not_started = self.shared.not_started();
        if not_started.is_none() {
            return Err(InformerError::AlreadyStarted);
        }
        self.shared.pump.queue.set_transformer(transformer);
        Ok(())
    }

    /// Sets an observer that is notified when a list or a watch fails, and of the recovery. Replaces the observer in
    /// [`Builder::reflector`](super::Builder::reflector)'s options or that of an earlier call.
    ///
    /// # Errors
    /// [`InformerError::AlreadyStarted`].
    pub fn set_watch_error_handler(&self, observer: Observer) -> Result<(), InformerError> {
        let mut not_started = self.shared.not_started();
        not_started.as_mut().ok_or(InformerError::AlreadyStarted)?.observer = Some(observer);
        Ok(())
    }

    /// Adds indices over the current and all later objects: all of them or none. Indices can be added at any time before the
    /// informer stops.
    ///
    /// # Errors
    /// [`InformerError::IndexersAfterStop`], or the store's conflict.
    pub fn add_indexers(&self, indexers: Indexers) -> Result<(), InformerError> {
        if self.is_stopped() {
            return Err(InformerError::IndexersAfterStop);
        }
        Ok(self.shared.pump.store.add_indexers(indexers)?)
    }

    /// Returns the store, which is for reading only: writes by the caller notify no handler and are overwritten by the next
    /// change.
    #[must_use]
    pub fn get_indexer(&self) -> Arc<dyn Indexer> {
        Arc::clone(&self.shared.pump.store)
    }

    /// Returns the store without the interface to its indices.
    #[must_use]
    pub fn get_store(&self) -> Arc<dyn Store> {
        self.get_indexer()
    }

    /// Returns the deltas that were received and are not in the store yet, and their bytes. Notifications that a handler
    /// has not received are in [`Registration::backlog`].
    #[must_use]
    pub fn queued(&self) -> QueueSize {
        self.shared.pump.queue.used()
    }

    /// Returns true once the store has received the whole initial state. For handlers, see [`Registration::has_synced`].
    #[must_use]
    pub fn has_synced(&self) -> bool {
        ControllerBackend::has_synced(&*self.shared)
    }

    /// Waits until the store has received the whole initial state. Returns `false` if the informer ended before.
    pub async fn synced(&self) -> bool {
        self.shared.pump.synced.wait().await
    }

    /// Returns the version that the reflector received last; unset before the first.
    #[must_use]
    pub fn last_sync_resource_version(&self) -> ResourceVersion {
        ControllerBackend::last_sync_resource_version(&*self.shared)
    }

    /// Returns the version up to which everything is in the store; unset before the first sync. A write to which the server
    /// assigned this version or an older one is visible in the store.
    #[must_use]
    pub fn last_store_sync_resource_version(&self) -> ResourceVersion {
        self.shared.pump.applied_version()
    }

    /// Returns true if the informer has run and ended.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.shared.pump.processor.is_stopped()
    }

    /// Runs until `stop` is cancelled or the reflector gives up. A second run returns at once.
    ///
    /// The informer stops in order: first the reflector; then the queued deltas are applied and sent to the handlers; then
    /// each handler ends after its last notification. A [`Subscription`] can be read to its end afterwards; the run does not
    /// wait for its reader. Dropping the future aborts the informer.
    ///
    /// # Errors
    /// The error that the reflector gave up with; see [`Reflector::run`](crate::reflector::Reflector::run).
    ///
    /// # Panics
    /// Outside of a tokio runtime, and if the source panicked.
    pub fn run(&self, stop: CancellationToken) -> impl Future<Output = Result<(), Error>> + Send + use<> {
        Arc::clone(&self.shared).start(stop)
    }

    /// Runs until the store has received the initial state, and ends like a stopped [`run`](Self::run): by then, each handler
    /// has received every initial notification. Returns true if the informer synced, and false if `stop` ended it before, or if
    /// it was run already.
    ///
    /// The initial state is requested and retried as in a run, but no watch follows it: see
    /// [`Reflector::run_until_synced`](crate::reflector::Reflector::run_until_synced). The store can be read afterwards.
    ///
    /// ```
    /// # use kdelta::informer::SharedIndexInformer;
    /// # use kdelta::store::index_funcs;
    /// # use kdelta::testing::{FakeSource, pod};
    /// # use tokio_util::sync::CancellationToken;
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let source = FakeSource::new();
    /// # source.add(pod("shop/web"));
    /// let indexers = [("namespace".to_owned(), index_funcs::namespace())].into();
    /// let informer = SharedIndexInformer::builder(source).indexers(indexers).build();
    /// assert!(informer.run_until_synced(CancellationToken::new()).await?);
    /// assert_eq!(informer.get_indexer().index_keys("namespace", "shop")?, ["shop/web".into()]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`run`](Self::run).
    ///
    /// # Panics
    /// As [`run`](Self::run).
    pub fn run_until_synced(
        &self,
        stop: CancellationToken,
    ) -> impl Future<Output = Result<bool, Error>> + Send + use<> {
        let shared = Arc::clone(&self.shared);
        async move {
            let is_started = shared.start_until(RunUntil::Synced, stop).await?;
            Ok(is_started && shared.pump.synced.is_set())
        }
    }

    /// Ends this informer if it has not been started. It can't be started afterwards.
    pub(in crate::informer) fn end_unstarted(&self) {
        self.shared.end_unstarted();
    }

    /// Returns this informer as a [`Controller`], for code that runs informers and other controllers in the same way. Unlike
    /// client-go's, this controller can be run, which runs the informer.
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
