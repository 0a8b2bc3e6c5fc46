//! The next pages of a list, asked for while this one still comes in.
//!
//! A Kubernetes server says in the first words of a page how the next is asked for, and makes each page by itself: asked
//! for ahead, the next is made on another of its cores and is there when this one ends. The one after it is asked for when
//! the next has begun to come, so that a server which has made two at the same pace has a third to make. No more than those
//! two: what nobody reads yet waits on its connection.

use std::future::{self, Future};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::listwatch::{Error, ListMeta, ListOptions, ListStream, ListerWatcher};
use crate::object::Object;

/// A server ends an answer that is not read after 60 s; a page that waited for this long for its turn is asked for anew, so
/// that one which comes in slowly has as much time as it would have had without. And one page less is asked for ahead from
/// then on: on a slow way what is thrown away takes the place of what is read.
const FRESH: Duration = Duration::from_secs(10);

/// A page that is asked for by a continue token.
pub(super) struct Ahead<'s, L: ListerWatcher> {
    options: ListOptions,
    asked_at: Instant,
    answer: Answer<'s, L>,
    /// The page after it.
    then: Option<Box<Self>>,
}

enum Answer<'s, L: ListerWatcher> {
    /// Boxed, once a page: it is kept from one item of the page before to the next.
    Awaited(Pin<Box<dyn Future<Output = Result<L::List, Error>> + Send + 's>>),
    Here(Result<Page<L::List>, Error>),
}

/// A page as it comes in, of which the first item may be there already.
pub(super) struct Page<S> {
    stream: S,
    first: Option<Result<Option<Arc<Object>>, Error>>,
}

impl<S: ListStream> Page<S> {
    pub(super) fn new(stream: S) -> Self {
        Self { stream, first: None }
    }

    /// As [`ListStream::next`].
    pub(super) async fn next(&mut self) -> Result<Option<Arc<Object>>, Error> {
        match self.first.take() {
            Some(first) => first,
            None => self.stream.next().await,
        }
    }

    pub(super) fn meta(&self) -> &ListMeta {
        self.stream.meta()
    }
}

/// What asks for a page by its token. The token says all: a server refuses a version beside it.
pub(super) fn page_after(limit: u32, continue_token: String) -> ListOptions {
    ListOptions { limit, continue_token, ..ListOptions::default() }
}

impl<'s, L: ListerWatcher> Ahead<'s, L> {
    /// The page after one with that limit, if it says already how that is asked for. It is asked for once something is
    /// waited for beside it.
    pub(super) fn after(limit: u32, meta: &ListMeta, source: &'s L, now: Instant) -> Option<Self> {
        if meta.continue_token.is_empty() {
            return None;
        }
        let options = page_after(limit, meta.continue_token.clone());
        let these = options.clone();
        let asked = async move { source.list(&these).await };
        Some(Self { options, asked_at: now, answer: Answer::Awaited(Box::pin(asked)), then: None })
    }

    /// Whether it is the page that is asked for so.
    pub(super) fn is_it(&self, options: &ListOptions) -> bool {
        self.options == *options
    }

    /// Whether it may still be read.
    pub(super) fn is_fresh(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.asked_at) < FRESH
    }

    /// The page after it.
    pub(super) fn take_then(&mut self) -> Option<Self> {
        self.then.take().map(|then| *then)
    }

    /// What the source answered first.
    pub(super) async fn answer(self) -> Result<Page<L::List>, Error> {
        match self.answer {
            Answer::Awaited(asked) => asked.await.map(Page::new),
            Answer::Here(answer) => answer,
        }
    }

    /// What that future answers, for whose time the questions go on. The page after this one is asked for as `then` says of
    /// what this one says of itself.
    pub(super) async fn beside<T>(
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

    /// Goes on to where more is known, which may be never. Dropping the future loses nothing.
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

    /// Ends when the source answers that has not yet.
    async fn answered(&mut self) {
        match &mut self.answer {
            Answer::Awaited(asked) => self.answer = Answer::Here(asked.await.map(Page::new)),
            Answer::Here(_) => future::pending().await,
        }
    }
}
