//! An informer with a single handler, which the task that pops the queue calls.

use std::sync::Arc;
use std::time::Duration;

use super::apply::{Dispatch, apply, apply_all};
use super::controller::process_loop::ItemProcessor;
use super::delivery::handler_call::{HandlerPanicHook, call_handler};
use super::delivery::progress::InitialDelivery;
use super::{Controller, Notification, ResourceEventHandler};
use crate::listwatch::ListerWatcher;
use crate::queue::{
    DeltaFifo, DeltaFifoOptions, DeltaType, Deltas, Item, KnownObjects, PoppedItem, QueueOptions, Transformer,
};
use crate::reflector::ReflectorOptions;
use crate::store::{Cache, Indexer, Indexers};

/// Creates an informer with one handler: its store, and the controller that fills the store and calls the handler
/// (client-go: `NewInformer`). See [`Informer`] for more options.
///
/// ```
/// # use kdelta::informer::{Notification, NotificationFn, new_informer};
/// # use kdelta::testing::{FakeSource, pod};
/// # use tokio_util::sync::CancellationToken;
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let source = FakeSource::new();
/// source.add(pod("shop/web"));
/// let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
/// let handler = NotificationFn(move |notification: Notification| drop(sender.send(notification.to_string())));
/// let (store, controller) = new_informer(source, None, handler);
/// let stop = CancellationToken::new();
/// let running = tokio::spawn(controller.run(stop.clone()));
/// assert_eq!(receiver.recv().await.as_deref(), Some("+shop/web@2! list"));
/// assert!(controller.has_synced() && store.get_by_key("shop/web").is_some());
/// stop.cancel();
/// # Ok(running.await??)
/// # }
/// ```
pub fn new_informer<L: ListerWatcher, H: ResourceEventHandler>(
    lister_watcher: L,
    resync_period: Option<Duration>,
    handler: H,
) -> (Arc<dyn Indexer>, Controller) {
    Informer::new(lister_watcher, handler).resync_period(resync_period).build()
}

/// A builder of an informer with one handler (client-go: `InformerOptions`).
///
/// The task that pops the queue calls the handler, so a slow handler blocks the queue and finally the source. The handler is
/// called after the store was written and the queue's lock was released, so that it can use both.
/// [`Controller::has_synced`] returns true once the handler has returned from every notification of the initial state.
/// Unchanged objects are reported only in a resync. For more than one handler, use a
/// [`SharedIndexInformer`](super::SharedIndexInformer).
///
/// ```
/// # use kdelta::informer::{Informer, Notification, NotificationFn};
/// # use kdelta::store::index_funcs;
/// # use kdelta::testing::{FakeSource, pod};
/// # use tokio_util::sync::CancellationToken;
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let source = FakeSource::new();
/// # source.add(pod("shop/web"));
/// let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
/// let handler = NotificationFn(move |notification: Notification| drop(sender.send(notification.to_string())));
/// let (store, controller) = Informer::new(source, handler)
///     .indexers([("namespace".to_owned(), index_funcs::namespace())].into())
///     .build();
/// let stop = CancellationToken::new();
/// let running = tokio::spawn(controller.run(stop.clone()));
/// assert_eq!(receiver.recv().await.as_deref(), Some("+shop/web@2! list"));
/// assert_eq!(store.index_keys("namespace", "shop")?, ["shop/web".into()]);
/// stop.cancel();
/// # Ok(running.await??)
/// # }
/// ```
#[must_use]
pub struct Informer<L, H> {
    lister_watcher: L,
    handler: H,
    resync_period: Option<Duration>,
    indexers: Indexers,
    transformer: Option<Transformer>,
    reflector: ReflectorOptions,
    on_handler_panic: Option<HandlerPanicHook>,
}

impl<L: ListerWatcher, H: ResourceEventHandler> Informer<L, H> {
    /// Creates a builder for this source and handler.
    pub fn new(lister_watcher: L, handler: H) -> Self {
        let (resync_period, indexers, transformer) = (None, Indexers::new(), None);
        Self {
            lister_watcher,
            handler,
            resync_period,
            indexers,
            transformer,
            reflector: ReflectorOptions::default(),
            on_handler_panic: None,
        }
    }

    /// Sets the period at which the handler receives all objects again. `None`, the default, disables resyncs.
    pub fn resync_period(mut self, period: Option<Duration>) -> Self {
        self.resync_period = period;
        self
    }

    /// Sets the indices of the store (client-go: `NewIndexerInformer`).
    pub fn indexers(mut self, indexers: Indexers) -> Self {
        self.indexers = indexers;
        self
    }

    /// Sets a transformer that changes objects before they are queued and stored (client-go: `NewTransformingInformer`).
    pub fn transform(mut self, transformer: Transformer) -> Self {
        self.transformer = Some(transformer);
        self
    }

    /// Sets the options for listing and watching. Their resync period is replaced by [`Informer::resync_period`].
    pub fn reflector(mut self, options: ReflectorOptions) -> Self {
        self.reflector = options;
        self
    }

    /// Sets a hook that is called when the handler panics, in addition to the log entry.
    pub fn on_handler_panic(mut self, hook: HandlerPanicHook) -> Self {
        self.on_handler_panic = Some(hook);
        self
    }

    /// Returns the store, which is for reading only, and the controller that fills it.
    #[must_use]
    pub fn build(self) -> (Arc<dyn Indexer>, Controller) {
        let store: Arc<dyn Indexer> = Arc::new(Cache::with_indexers(self.indexers));
        let queue = DeltaFifo::new(
            DeltaFifoOptions::default()
                .known_objects(Some(Arc::clone(&store) as KnownObjects))
                .queue(QueueOptions::default().atomic_replace(true).transformer(self.transformer)),
        );
        let options = ReflectorOptions { resync_period: self.resync_period, ..self.reflector };
        let initial_delivery = Arc::<InitialDelivery>::default();
        let processor = SingleHandler {
            store: Arc::clone(&store),
            handler: self.handler,
            on_panic: self.on_handler_panic,
            outbox: Vec::new(),
            initial_delivery: Arc::clone(&initial_delivery),
        };
        let (queue, source) = (Arc::new(queue), self.lister_watcher);
        (store, Controller::with_processor(queue, source, options, Box::new(processor), initial_delivery))
    }
}

struct SingleHandler<H> {
    store: Arc<dyn Indexer>,
    handler: H,
    on_panic: Option<HandlerPanicHook>,
    /// The notifications of the current pop, kept until the queue's lock is released.
    outbox: Vec<Notification>,
    initial_delivery: Arc<InitialDelivery>,
}

impl<H: ResourceEventHandler> ItemProcessor for SingleHandler<H> {
    fn process(&mut self, popped: PoppedItem) -> Vec<Deltas> {
        let outbox = &mut self.outbox;
        match popped.item {
            Item::Deltas(deltas) => {
                for delta in deltas {
                    let in_resync = delta.delta_type() == DeltaType::Sync;
                    let mut dispatch = |dispatch| match dispatch {
                        Dispatch::All(notification) => outbox.push(notification),
                        Dispatch::ResyncDue(notification) if in_resync => outbox.push(notification),
                        Dispatch::ResyncDue(_) => {}
                    };
                    apply(&*self.store, delta, popped.is_in_initial_list, &mut dispatch);
                }
            }
            Item::ReplacedAll(all) => {
                apply_all(&*self.store, all, popped.up_to.as_ref(), false, &mut |dispatch| {
                    if let Dispatch::All(notification) = dispatch {
                        outbox.push(notification);
                    }
                });
            }
            Item::Mark(_) | Item::Bookmark => {}
        }
        if let Some(version) = popped.up_to {
            self.store.bookmark(&version);
        }
        if popped.is_in_initial_list && !self.outbox.is_empty() {
            self.initial_delivery.begin();
        }
        Vec::new()
    }

    fn after_release(&mut self) {
        for notification in self.outbox.drain(..) {
            call_handler(&self.handler, notification, self.on_panic.as_ref());
        }
        self.initial_delivery.end();
    }
}
