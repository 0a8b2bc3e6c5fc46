//! A factory that shares one informer per resource.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::SharedIndexInformer;
use super::controller::run::task_output;
use crate::listwatch::Error;
use crate::object::ApiResource;
use crate::store::index_funcs::{self, NAMESPACE_INDEX};
use crate::store::{Indexers, Lister};

/// Creates the informer of one resource.
type NewInformer = Box<dyn Fn(&ApiResource) -> SharedIndexInformer + Send + Sync>;

/// A factory that creates one informer per resource, at the first request for it (client-go: `SharedInformerFactory`), so
/// that all controllers of a program watch each resource once and share its store.
///
/// [`SharedInformerFactory::start`] starts the requested informers; call it again after later requests. Dropping the factory
/// aborts its informers, [`SharedInformerFactory::shutdown`] stops them in order.
///
/// ```
/// # use kdelta::informer::{SharedIndexInformer, SharedInformerFactory};
/// # use kdelta::object::{ApiResource, LabelSelector};
/// # use kdelta::testing::{FakeSource, pod};
/// # use tokio_util::sync::CancellationToken;
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let source = FakeSource::new();
/// # source.add(pod("shop/web"));
/// # let pods = ApiResource { group: "".into(), version: "v1".into(), resource: "pods".into(), kind: "Pod".into(), namespaced: true };
/// let factory = SharedInformerFactory::new(move |_| SharedIndexInformer::builder(source.clone()).build());
/// let lister = factory.for_resource(&pods)?.lister();
/// factory.start(&CancellationToken::new())?;
/// assert!(factory.wait_for_cache_sync().await.iter().all(|(_, synced)| *synced));
/// assert_eq!(lister.by_namespace("shop").list(&LabelSelector::default()).len(), 1);
/// assert!(factory.shutdown().await.is_empty());
/// # Ok(())
/// # }
/// ```
pub struct SharedInformerFactory {
    new_informer: NewInformer,
    /// A std mutex: it is never held across an `.await`.
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    informers: HashMap<ApiResource, Entry>,
    /// The resources, in the order of their first request.
    order: Vec<ApiResource>,
    /// The runs, one for each started informer. Owned by the factory: the shutdown awaits them, dropping the factory aborts
    /// them.
    running: JoinSet<(ApiResource, Result<(), Error>)>,
    /// The stop tokens of the started informers.
    stops: Vec<CancellationToken>,
    is_shut_down: bool,
}

struct Entry {
    informer: SharedIndexInformer,
    started: bool,
}

/// The informer of one resource, with a lister over its store (client-go: `GenericInformer`).
#[derive(Clone)]
pub struct GenericInformer {
    informer: SharedIndexInformer,
    resource: Arc<str>,
}

impl GenericInformer {
    /// Returns the informer. Callers must not run it: the factory does.
    #[must_use]
    pub fn informer(&self) -> &SharedIndexInformer {
        &self.informer
    }

    /// Returns a lister over the informer's store, which is complete once the informer has synced.
    #[must_use]
    pub fn lister(&self) -> Lister {
        Lister::new(self.informer.get_indexer(), Arc::clone(&self.resource))
    }
}

impl SharedInformerFactory {
    /// Creates a factory that uses this function to create informers. The function is called once for each resource, while
    /// the factory is locked, so it must not call the factory.
    pub fn new(new_informer: impl Fn(&ApiResource) -> SharedIndexInformer + Send + Sync + 'static) -> Self {
        Self { new_informer: Box::new(new_informer), state: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the informer of a resource, the same one for each call. It has an index by namespace, which is added if the
    /// function created the informer without one.
    ///
    /// # Errors
    /// [`InformerError::FactoryShutDown`](super::InformerError::FactoryShutDown): the informer was not requested before the
    /// shutdown.
    ///
    /// [`InformerError::IndexersAfterStop`](super::InformerError::IndexersAfterStop): the function returned an informer
    /// that has ended.
    pub fn for_resource(&self, resource: &ApiResource) -> Result<GenericInformer, super::InformerError> {
        let mut state = self.lock();
        let informer = if let Some(entry) = state.informers.get(resource) {
            entry.informer.clone()
        } else if state.is_shut_down {
            return Err(super::InformerError::FactoryShutDown);
        } else {
            let informer = (self.new_informer)(resource);
            if !informer.get_indexer().indexers().iter().any(|name| name == NAMESPACE_INDEX) {
                let by_namespace = Indexers::from([(NAMESPACE_INDEX.to_owned(), index_funcs::namespace())]);
                informer.add_indexers(by_namespace)?;
            }
            let entry = Entry { informer: informer.clone(), started: false };
            state.informers.insert(resource.clone(), entry);
            state.order.push(resource.clone());
            informer
        };
        Ok(GenericInformer { informer, resource: resource.group_resource().into() })
    }

    /// Starts the informers that were requested and not started yet. They run until `stop` or the shutdown.
    ///
    /// # Errors
    /// [`InformerError::FactoryShutDown`](super::InformerError::FactoryShutDown): nothing is started after the shutdown.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub fn start(&self, stop: &CancellationToken) -> Result<(), super::InformerError> {
        let mut state = self.lock();
        if state.is_shut_down {
            return Err(super::InformerError::FactoryShutDown);
        }
        let State { informers, order, running, stops, .. } = &mut *state;
        let stop = stop.child_token();
        let before = running.len();
        for resource in order.iter() {
            let Some(entry) = informers.get_mut(resource).filter(|entry| !entry.started) else { continue };
            entry.started = true;
            let (run, resource) = (entry.informer.run(stop.clone()), resource.clone());
            running.spawn(async move { (resource, run.await) });
        }
        // Tokens of calls that started nothing are not kept: the number of calls is unbounded.
        if running.len() > before {
            stops.push(stop);
        }
        Ok(())
    }

    /// Waits until each informer that was started has synced or ended, and returns for each resource whether its store can
    /// be relied on, in the order in which the informers were first requested.
    ///
    /// After the shutdown the result is `false` for every informer, including those that were never started: no store is
    /// updated any more.
    pub async fn wait_for_cache_sync(&self) -> Vec<(ApiResource, bool)> {
        let started: Vec<_> = {
            let state = self.lock();
            if state.is_shut_down {
                return state.order.iter().map(|resource| (resource.clone(), false)).collect();
            }
            let started = state.order.iter().filter_map(|resource| {
                let entry = state.informers.get(resource).filter(|entry| entry.started)?;
                Some((resource.clone(), entry.informer.clone()))
            });
            started.collect()
        };
        let mut synced = Vec::with_capacity(started.len());
        for (resource, informer) in started {
            synced.push((resource, informer.synced().await));
        }
        synced
    }

    /// Stops every informer and waits until the started ones have ended (client-go waits for the caller to stop them).
    /// Returns the informers that had given up before, with their errors. Later calls of [`SharedInformerFactory::start`] fail,
    /// and a wait for the sync of an informer that was never started returns `false`. Of several calls the first one waits
    /// and returns the errors.
    ///
    /// # Panics
    /// Resumes a panic of a source.
    pub async fn shutdown(&self) -> Vec<(ApiResource, Error)> {
        let mut running = {
            let mut state = self.lock();
            state.is_shut_down = true;
            for entry in state.informers.values().filter(|entry| !entry.started) {
                // It can't be started any more, so waits for its sync must end.
                entry.informer.end_unstarted();
            }
            for stop in state.stops.drain(..) {
                stop.cancel();
            }
            std::mem::take(&mut state.running)
        };
        let mut failed = Vec::new();
        while let Some(ended) = running.join_next().await {
            if let Some((resource, Err(error))) = task_output(ended) {
                failed.push((resource, error));
            }
        }
        failed
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::informer::InformerError;
    use crate::object::LabelSelector;
    use crate::reflector::ReflectorOptions;
    use crate::testing::{FakeSource, pod};

    fn resource(name: &str) -> ApiResource {
        ApiResource {
            group: String::new(),
            version: "v1".into(),
            resource: name.into(),
            kind: name.to_uppercase(),
            namespaced: true,
        }
    }

    /// Returns a factory of informers that all watch this source, and the number of informers it created.
    fn factory(source: &FakeSource) -> (SharedInformerFactory, Arc<AtomicUsize>) {
        let created = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&created);
        let source = source.clone();
        let factory = SharedInformerFactory::new(move |_| {
            count.fetch_add(1, Ordering::Relaxed);
            let options =
                ReflectorOptions { give_up: Some(Arc::new(|_| true)), ..ReflectorOptions::default() };
            SharedIndexInformer::builder(source.clone()).reflector(options).build()
        });
        (factory, created)
    }

    #[tokio::test(start_paused = true)]
    async fn each_resource_has_one_informer_and_its_lister_reads_the_same_store() {
        let source = FakeSource::new();
        source.add(pod("shop/web"));
        source.add(pod("bank/db"));
        let (factory, created) = factory(&source);
        let pods = factory.for_resource(&resource("pods")).expect("an informer");
        let same = factory.for_resource(&resource("pods")).expect("an informer");
        assert_eq!(created.load(Ordering::Relaxed), 1);
        let stop = CancellationToken::new();
        assert!(factory.wait_for_cache_sync().await.is_empty(), "nothing was started");
        factory.start(&stop).expect("not shut down");
        factory.start(&stop).expect("not shut down");
        assert_eq!(factory.lock().stops.len(), 1, "one for each call that started an informer");
        assert_eq!(factory.wait_for_cache_sync().await, [(resource("pods"), true)]);
        assert_eq!(source.open_watches(), 1, "started twice");
        assert!(pods.informer().has_synced() && same.informer().has_synced());
        let lister = same.lister();
        assert_eq!(lister.by_namespace("shop").list(&LabelSelector::default()).len(), 1);
        let missing = lister.by_namespace("shop").get("db").expect_err("in another namespace");
        assert_eq!((missing.resource.as_str(), missing.name.as_str()), ("pods", "db"));

        factory.for_resource(&resource("nodes")).expect("an informer");
        assert_eq!(source.open_watches(), 1);
        factory.start(&stop).expect("not shut down");
        let synced = factory.wait_for_cache_sync().await;
        assert_eq!(synced, [(resource("pods"), true), (resource("nodes"), true)]);
        assert!(factory.shutdown().await.is_empty());
        assert_eq!(source.open_watches(), 0);
        assert!(pods.informer().is_stopped());
        assert!(!stop.is_cancelled(), "the caller's own");
    }

    #[tokio::test(start_paused = true)]
    async fn shutdown_rejects_later_calls_and_ends_every_wait() {
        let (factory, created) = factory(&FakeSource::new());
        let started = factory.for_resource(&resource("pods")).expect("an informer");
        let stop = CancellationToken::new();
        factory.start(&stop).expect("not shut down");
        assert!(started.informer().synced().await);
        let unstarted = factory.for_resource(&resource("nodes")).expect("an informer");
        let subscription = unstarted.informer().subscribe(1, None).expect("not stopped");
        let waiting = tokio::spawn({
            let informer = unstarted.informer().clone();
            async move { informer.synced().await }
        });
        tokio::task::yield_now().await;
        factory.shutdown().await;

        assert_eq!(factory.start(&stop), Err(InformerError::FactoryShutDown));
        let not_synced = [(resource("pods"), false), (resource("nodes"), false)];
        assert_eq!(factory.wait_for_cache_sync().await, not_synced);
        let late = factory.for_resource(&resource("late")).map(|_| ());
        assert_eq!((late, created.load(Ordering::Relaxed)), (Err(InformerError::FactoryShutDown), 2));
        assert!(!waiting.await.expect("no panic"), "the wait for a sync ends");
        assert!(!unstarted.informer().synced().await && unstarted.informer().is_stopped());
        assert!(!subscription.registration().synced().await);
        assert!(factory.for_resource(&resource("pods")).is_ok(), "its store can still be read");
    }

    #[tokio::test(start_paused = true)]
    async fn an_informer_that_ends_before_it_synced_is_reported() {
        let source = FakeSource::new();
        source.fail_watch(Error::Refused("connection refused".into()));
        let (factory, _) = factory(&source);
        factory.for_resource(&resource("pods")).expect("an informer");
        factory.start(&CancellationToken::new()).expect("not shut down");
        assert_eq!(factory.wait_for_cache_sync().await, [(resource("pods"), false)]);
        let failed = factory.shutdown().await;
        assert!(matches!(&failed[..], [(pods, Error::Refused(_))] if pods.resource == "pods"));
    }

    #[tokio::test(start_paused = true)]
    async fn dropping_the_factory_aborts_its_informers() {
        let source = FakeSource::new();
        let (factory, _) = factory(&source);
        let pods = factory.for_resource(&resource("pods")).expect("an informer");
        factory.start(&CancellationToken::new()).expect("not shut down");
        assert!(pods.informer().synced().await);
        drop(factory);
        tokio::task::yield_now().await;
        assert!(pods.informer().is_stopped());
        assert_eq!(source.open_watches(), 0);
    }
}
