//! Requests for the next pages of a list while the current one is being read.
//!
//! A Kubernetes server sends the continue token at the beginning of a page, and produces each page independently. If the next
//! page is requested early, the server produces it on another core, and it is ready when the current page ends. The page after
//! it is requested once the next page has begun to arrive. At most two pages are requested early, because unread responses
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
    answer: Answer<'s, L>,
    /// The request for the page after it.
    then: Option<Box<Self>>,
}

enum Answer<'s, L: ListerWatcher> {
    /// Boxed once per page: it is kept while the items of the page before are read.
    Awaited(Pin<Box<dyn Future<Output = Result<L::List, Error>> + Send + 's>>),
    Here(Result<Page<L::List>, Error>),
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
        let these = options.clone();
        let asked = async move { source.list(&these).await };
        Some(Self { options, requested_at: now, answer: Answer::Awaited(Box::pin(asked)), then: None })
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
        self.then.take().map(|then| *then)
    }

    /// Returns the page once the response has begun.
    pub(in crate::reflector) async fn answer(self) -> Result<Page<L::List>, Error> {
        match self.answer {
            Answer::Awaited(asked) => asked.await.map(Page::new),
            Answer::Here(answer) => answer,
        }
    }

    /// Polls the early requests until `future` is ready, and returns its output. `then` prepares the request for the page after
    /// this one from this page's metadata.
    pub(in crate::reflector) async fn alongside<T>(
        &mut self,
        then: impl Fn(&ListMeta) -> Option<Self>,
        future: impl Future<Output = T>,
    ) -> T {
        let mut future = pin!(future);
        loop {
            tokio::select! {
                biased;
                () = self.step(&then) => {}
                done = &mut future => return done,
            }
        }
    }

    /// Advances one of the requests; pending for ever if nothing remains to be done. Dropping the future loses nothing.
    async fn step(&mut self, then: impl Fn(&ListMeta) -> Option<Self>) {
        match &mut self.answer {
            Answer::Awaited(_) => self.answered().await,
            Answer::Here(Ok(page)) if page.first.is_none() => {
                let first = page.stream.next().await;
                if first.is_ok() {
                    self.then = then(page.meta()).map(Box::new);
                }
                page.first = Some(first);
            }
            Answer::Here(_) => match &mut self.then {
                Some(then) => then.answered().await,
                None => future::pending().await,
            },
        }
    }

    /// Waits until the response begins; pending for ever if it has begun.
    async fn answered(&mut self) {
        match &mut self.answer {
            Answer::Awaited(asked) => self.answer = Answer::Here(asked.await.map(Page::new)),
            Answer::Here(_) => future::pending().await,
        }
    }
}
