//! A [`ListerWatcher`] made of two closures, and a complete in-memory list page.

use std::future::Future;
use std::sync::Arc;
use std::vec;

use super::{Error, ListMeta, ListOptions, ListStream, ListerWatcher, WatchOptions, WatchStream};
use crate::object::Object;

/// A [`ListerWatcher`] made of two closures (client-go: `ListWatch`).
///
/// ```
/// # use std::sync::Arc;
/// # use kdelta::listwatch::{Error, ListMeta, ListOptions, ListWatch, ListerWatcher, PageStream, WatchOptions};
/// # use kdelta::reflector::{Reflector, ReflectorOptions};
/// # use kdelta::store::{Cache, Store};
/// # use kdelta::testing::{FakeSource, pod};
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), Error> {
/// let server = FakeSource::new();
/// server.add(pod("shop/web"));
/// let list = {
///     let server = server.clone();
///     move |_: ListOptions| {
///         let meta = ListMeta { resource_version: server.version(), ..ListMeta::default() };
///         let page = PageStream::new(server.objects(), meta);
///         async move { Ok::<_, Error>(page) }
///     }
/// };
/// let watch = move |options: WatchOptions| {
///     let server = server.clone();
///     async move { server.watch(&options).await }
/// };
/// let store = Arc::new(Cache::new());
/// let reflector = Reflector::new(ListWatch::new(list, watch), Arc::clone(&store), ReflectorOptions::default());
/// reflector.list_once().await?;
/// assert_eq!(store.list().len(), 1);
/// # Ok(())
/// # }
/// ```
pub struct ListWatch<L, W> {
    list: L,
    watch: W,
    supports_watch_list: bool,
}

impl<L, W> ListWatch<L, W> {
    /// Creates a source from a list and a watch closure. It does not offer watch-list unless
    /// [`ListWatch::with_watch_list`] is called.
    pub fn new(list: L, watch: W) -> Self {
        Self { list, watch, supports_watch_list: false }
    }

    /// Declares that the watch closure can send the initial state.
    #[must_use]
    pub fn with_watch_list(mut self) -> Self {
        self.supports_watch_list = true;
        self
    }
}

impl<L, LF, P, W, WF, S> ListerWatcher for ListWatch<L, W>
where
    L: Fn(ListOptions) -> LF + Send + Sync + 'static,
    LF: Future<Output = Result<P, Error>> + Send,
    P: ListStream,
    W: Fn(WatchOptions) -> WF + Send + Sync + 'static,
    WF: Future<Output = Result<S, Error>> + Send,
    S: WatchStream,
{
    type List = P;
    type Watch = S;

    fn list(&self, options: &ListOptions) -> impl Future<Output = Result<P, Error>> + Send {
        (self.list)(options.clone())
    }

    fn watch(&self, options: &WatchOptions) -> impl Future<Output = Result<S, Error>> + Send {
        (self.watch)(options.clone())
    }

    fn supports_watch_list(&self) -> bool {
        self.supports_watch_list
    }
}

/// A page whose items are all in memory.
#[derive(Debug, Default)]
pub struct PageStream {
    items: vec::IntoIter<Arc<Object>>,
    meta: ListMeta,
}

impl PageStream {
    /// Creates a page of these items.
    #[must_use]
    pub fn new(items: Vec<Arc<Object>>, meta: ListMeta) -> Self {
        Self { items: items.into_iter(), meta }
    }
}

impl ListStream for PageStream {
    async fn next(&mut self) -> Result<Option<Arc<Object>>, Error> {
        Ok(self.items.next())
    }

    fn meta(&self) -> &ListMeta {
        &self.meta
    }
}
