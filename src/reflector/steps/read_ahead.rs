//! Requests for the next pages of a list while the current one is being read.
//!
//! A Kubernetes server sends the continue token at the beginning of a page, and produces each page independently. If the next
//! page is requested early, the server produces it on another core, and it is ready when the current page ends. The page after
//! it is requested once the next page starts to arrive. At most two pages are requested early, because unread responses
//! wait on their connections.

use std::future::{self, Future};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::listwatch::{Error, ListMeta, ListOptions, ListStream, ListerWatcher};
use crate::object::Object;

/// The time for which an early response may wait unread. A server ends a response that is not read after 60 s. A page that
/// waited longer than this is requested again, so that a slow page has as much time as without reading ahead, and one page
/// less is requested early from then on, because on a slow connection discarded pages delay the others.
const FRESH: Duration = Duration::from_secs(10);

/// An early request for a page.
pub(in crate::reflector) struct ReadAheadPage<'s, L: ListerWatcher> {
    options: ListOptions,
    requested_at: Instant,
    response: Response<'s, L>,
    /// The request for the page after it.
    next: Option<Box<Self>>,
}

enum Response<'s, L: ListerWatcher> {
    /// Boxed once per page: it is kept while the items of the page before are read.
    Pending(Pin<Box<dyn Future<Output = Result<L::List, Error>> + Send + 's>>),
    Started(Result<Page<L::List>, Error>),
}

/// A page that is being received, and its first item if that has been read already.
pub(in crate::reflector) struct Page<S> {
    stream: S,
    first: Option<Result<Option<Arc<Object>>, Error>>,
}

impl<S: ListStream> Page<S> {
    pub(in crate::reflector) fn new(stream: S) -> Self {
        Self { stream, first: None }
    }

    /// Returns the next item, as [`ListStream::next`].
    pub(in crate::reflector) async fn next(&mut self) -> Result<Option<Arc<Object>>, Error> {
        match self.first.take() {
            Some(first) => first,
            None => self.stream.next().await,
        }
    }

    pub(in crate::reflector) fn meta(&self) -> &ListMeta {
        self.stream.meta()
    }
}

/// Returns the options of the page after one with this token. They have no version: a server refuses one together with a token.
pub(in crate::reflector) fn options_after(limit: u32, continue_token: String) -> ListOptions {
    ListOptions { limit, continue_token, ..ListOptions::default() }
}

impl<'s, L: ListerWatcher> ReadAheadPage<'s, L> {
    /// Prepares the request for the page after one with this limit and metadata; `None` if the token is not known yet or there
    /// is no further page. The request is sent when it is polled by [`alongside`](Self::alongside).
    pub(in crate::reflector) fn after(
        limit: u32,
        meta: &ListMeta,
        source: &'s L,
        now: Instant,
    ) -> Option<Self> {
        if meta.continue_token.is_empty() {
            return None;
        }
        let options = options_after(limit, meta.continue_token.clone());
        let requested = options.clone();
        let request = async move { source.list(&requested).await };
        Some(Self { options, requested_at: now, response: Response::Pending(Box::pin(request)), next: None })
    }

    /// Returns true if the request has these options.
    pub(in crate::reflector) fn has_options(&self, options: &ListOptions) -> bool {
        self.options == *options
    }

    /// Returns true if the response can still be read.
    pub(in crate::reflector) fn is_fresh(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.requested_at) < FRESH
    }

    /// Takes the request for the page after it.
    pub(in crate::reflector) fn take_next(&mut self) -> Option<Self> {
        self.next.take().map(|next| *next)
    }

    /// Returns the page once the response has started.
    pub(in crate::reflector) async fn response(self) -> Result<Page<L::List>, Error> {
        match self.response {
            Response::Pending(request) => request.await.map(Page::new),
            Response::Started(page) => page,
        }
    }

    /// Polls the early requests until `future` is ready, and returns its output. `page_after` prepares the request for the page after
    /// this one from this page's metadata.
    pub(in crate::reflector) async fn alongside<T>(
        &mut self,
        page_after: impl Fn(&ListMeta) -> Option<Self>,
        future: impl Future<Output = T>,
    ) -> T {
        let mut future = pin!(future);
        loop {
            tokio::select! {
                biased;
                () = self.step(&page_after) => {}
                output = &mut future => return output,
            }
        }
    }

    /// Advances one of the requests; pending for ever if nothing remains to be done. Dropping the future loses nothing.
    async fn step(&mut self, page_after: impl Fn(&ListMeta) -> Option<Self>) {
        match &mut self.response {
            Response::Pending(_) => self.await_response().await,
            Response::Started(Ok(page)) if page.first.is_none() => {
                let first = page.stream.next().await;
                if first.is_ok() {
                    self.next = page_after(page.meta()).map(Box::new);
                }
                page.first = Some(first);
            }
            Response::Started(_) => match &mut self.next {
                Some(next) => next.await_response().await,
                None => future::pending().await,
            },
        }
    }

    /// Waits until the response starts; pending for ever if it has started.
    async fn await_response(&mut self) {
        match &mut self.response {
            Response::Pending(request) => self.response = Response::Started(request.await.map(Page::new)),
            Response::Started(_) => future::pending().await,
        }
    }
}
