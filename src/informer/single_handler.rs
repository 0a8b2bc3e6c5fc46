//! An informer with one handler, called by the task that pops.

use std::sync::Arc;
use std::time::Duration;

use super::apply::{Dispatch, apply, apply_all};
use super::handler_call::{HandlerPanicHook, call_handler};
use super::process_loop::ItemProcessor;
use super::progress::InitialDelivery;
use super::{Controller, Notification, ResourceEventHandler};
use crate::listwatch::ListerWatcher;
use crate::queue::{DeltaFifo, DeltaFifoOptions, DeltaType, Deltas, Item, KnownObjects, Popped, Transformer};
use crate::reflector::ReflectorOptions;
use crate::store::{Cache, Indexer, Indexers};

/// A store that follows a source, one handler that is told, and the controller that does it (client-go: `NewInformer`).
/// See [`Informer`] for more than this.
///
/// ```
/// # use kdelta::informer::{Notification, NotificationFn, new_informer};
/// # use kdelta::testing::{FakeSource, pod};
/// # use tokio_util::sync::CancellationToken;
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let source = FakeSource::new();
/// source.add(pod("shop/web"));
/// let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
/// let handler = NotificationFn(move |notification: Notification| drop(tell.send(notification.to_string())));
/// let (store, controller) = new_informer(source, None, handler);
/// let stop = CancellationToken::new();
/// let running = tokio::spawn(controller.run(stop.clone()));
/// assert_eq!(told.recv().await.as_deref(), Some("+shop/web@2! list"));
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

/// An informer with one handler, to be (client-go: `InformerOptions`).
///
/// The handler is called by the task that pops, so a slow one holds up the queue and at last the source. It is called
/// after the queue was released and the store written, so that it may ask both. [`Controller::has_synced`] says that it
/// has returned from every notification of the initial state. What did not change is told in a resync only. For more than
/// one handler there is the [`SharedIndexInformer`](super::SharedIndexInformer).
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
/// let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
/// let handler = NotificationFn(move |notification: Notification| drop(tell.send(notification.to_string())));
/// let (store, controller) = Informer::new(source, handler)
///     .indexers([("namespace".to_owned(), index_funcs::namespace())].into())
///     .build();
/// let stop = CancellationToken::new();
/// let running = tokio::spawn(controller.run(stop.clone()));
/// assert_eq!(told.recv().await.as_deref(), Some("+shop/web@2! list"));
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
    /// This handler on that source.
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

    /// How often the handler is told everything again; `None`, the default, is never.
    pub fn resync_period(mut self, period: Option<Duration>) -> Self {
        self.resync_period = period;
        self
    }

    /// The indices of the store (client-go: `NewIndexerInformer`).
    pub fn indexers(mut self, indexers: Indexers) -> Self {
        self.indexers = indexers;
        self
    }

    /// Changes objects before they are queued and stored (client-go: `NewTransformingInformer`).
    pub fn transform(mut self, transformer: Transformer) -> Self {
        self.transformer = Some(transformer);
        self
    }

    /// How to list and watch. Its resync period is [`Informer::resync_period`].
    pub fn reflector(mut self, options: ReflectorOptions) -> Self {
        self.reflector = options;
        self
    }

    /// Is told when the handler panics, beside the log.
    pub fn on_handler_panic(mut self, hook: HandlerPanicHook) -> Self {
        self.on_handler_panic = Some(hook);
        self
    }

    /// The store, which is for reading, and what fills it.
    #[must_use]
    pub fn build(self) -> (Arc<dyn Indexer>, Controller) {
        let store: Arc<dyn Indexer> = Arc::new(Cache::with_indexers(self.indexers));
        let queue = DeltaFifo::new(DeltaFifoOptions {
            known_objects: Some(Arc::clone(&store) as KnownObjects),
            atomic_replace: true,
            transformer: self.transformer,
            ..DeltaFifoOptions::default()
        });
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
    /// What one pop is to tell, until the queue is released.
    outbox: Vec<Notification>,
    /// Of the initial state.
    initial_delivery: Arc<InitialDelivery>,
}

impl<H: ResourceEventHandler> ItemProcessor for SingleHandler<H> {
    fn process(&mut self, popped: Popped) -> Vec<Deltas> {
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
