//! The next page of a list, asked for while this one still comes in.
//!
//! A Kubernetes server says in the first words of a page how the next is asked for, and makes each page by itself: asked
//! for ahead, the next is made on another of its cores and is there when this one ends. One and no more: it is twice the
//! work at a time, and what nobody reads yet waits in the window of its stream.

use std::future::Future;
use std::pin::{Pin, pin};
use std::time::{Duration, Instant};

use crate::listwatch::{Error, ListOptions, ListerWatcher};

/// A server ends an answer that is not read after 60 s; a page that waited for this long for its turn is asked for anew, so
/// that one which comes in slowly has as much time as it would have had without.
const FRESH: Duration = Duration::from_secs(10);

/// A page that is asked for by a continue token.
pub(super) struct Ahead<'s, L: ListerWatcher> {
    options: ListOptions,
    asked_at: Instant,
    answer: Answer<'s, L>,
}

enum Answer<'s, L: ListerWatcher> {
    /// Boxed, once a page: it is kept from one item of the page before to the next.
    Awaited(Pin<Box<dyn Future<Output = Result<L::List, Error>> + Send + 's>>),
    Here(Result<L::List, Error>),
}

impl<'s, L: ListerWatcher> Ahead<'s, L> {
    /// It is asked for once something is waited for beside it.
    pub(super) fn new(source: &'s L, options: ListOptions, asked_at: Instant) -> Self {
        let these = options.clone();
        let asked = async move { source.list(&these).await };
        Self { options, asked_at, answer: Answer::Awaited(Box::pin(asked)) }
    }

    /// Whether it is the page that is wanted now.
    pub(super) fn is_it(&self, options: &ListOptions, now: Instant) -> bool {
        self.options == *options && now.saturating_duration_since(self.asked_at) < FRESH
    }

    /// What the source answered first.
    pub(super) async fn answer(self) -> Result<L::List, Error> {
        match self.answer {
            Answer::Awaited(asked) => asked.await,
            Answer::Here(answer) => answer,
        }
    }

    /// What that future answers, for whose time the question goes on.
    pub(super) async fn beside<T>(&mut self, future: impl Future<Output = T>) -> T {
        let mut future = pin!(future);
        if let Answer::Awaited(asked) = &mut self.answer {
            tokio::select! {
                biased;
                answer = asked => self.answer = Answer::Here(answer),
                done = &mut future => return done,
            }
        }
        future.await
    }
}
