//! Listing by pages.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::coop::consume_budget;

use super::ahead::{Ahead, Page, page_after};
use super::backoff::Backoff;
use super::event::ReflectorEvent;
use super::expected_type::ExpectedType;
use super::flush::{Flush, within_of_list};
use super::machine::{Machine, State, begin_list};
use super::options::ReflectorOptions;
use super::sink::ReflectorStore;
use super::source_deadline::within_of_source;
use super::verdict::Phase;
use crate::listwatch::{Error, ListMeta, ListOptions, ListerWatcher, ResourceVersionMatch};
use crate::object::{Object, Origin, ResourceVersion};

/// Items of a page, where nothing else is said.
const PAGE_SIZE: u32 = 500;

/// How often one page is asked for when the source says how long to wait in between.
const PAGE_TRIES: u32 = 10;

/// The maximum number of empty pages in a row. A Kubernetes server fills each page but the last, also with a selector.
const EMPTY_PAGES: u32 = 10;

/// The number of empty pages in a row that are followed by the next page at once. After more of them each page waits for
/// the next step of the back-off between lists: an endless list must not cost a server more requests than a failed one.
const EMPTY_PAGES_AT_ONCE: u32 = 5;

/// Pages that are asked for ahead of their turn, at most: the next, and the one after it.
pub(super) const PAGES_AHEAD: u8 = 2;

/// What a list brought.
#[derive(Default)]
pub(super) struct Fetched {
    /// The objects that the store handed back, in order of their arrival.
    pub(super) items: Vec<Arc<Object>>,
    /// How many objects the store took as they arrived.
    pub(super) taken: usize,
    /// The version of the list: that of its first page.
    pub(super) version: ResourceVersion,
    /// Whether there was more than one page.
    pub(super) paginated: bool,
}

impl<L: ListerWatcher, S: ReflectorStore> Machine<L, S> {
    /// Lists into the store.
    pub(super) async fn list(&mut self) -> Result<(), Error> {
        let asked_at = self.options.clock.now();
        let version = self.version_to_ask(Phase::List);
        let limit = page_size(&self.options, self.memory.learned.paginated, &version);
        let (origin, is_doubtful) = (self.state_origin(), self.is_doubtful());
        let depth = if self.asks_pages_first() { PAGES_AHEAD } else { 0 };
        let pages = Pages {
            source: &self.source,
            store: &*self.store,
            options: &self.options,
            backoff: &mut self.backoffs.relist,
            origin,
            is_doubtful,
            expected: &self.expected,
            // The first page's trouble is that of the whole list, which the machine judges.
            patient_from: 1,
            depth,
        };
        let fetched = pages.fetch(&version, limit).await?;
        if version.is_any() && fetched.paginated {
            self.memory.learned.paginated = true;
        }
        self.complete(Phase::List, fetched, asked_at)
    }

    /// Whether the next state is the first, and to be listed before it is asked for in another way.
    pub(super) fn asks_pages_first(&self) -> bool {
        self.options.pages_first && !self.memory.synced && !self.memory.no_pages_first
    }

    /// What a source refuses in one form it may have in another; only who is not there has none, nor who is to be asked
    /// later or does not know who asks. A connection that broke was there, and that the answer had begun may have been lost
    /// with it.
    pub(super) fn pages_first_failed(&mut self, error: Error) -> Result<State<L::Watch>, Error> {
        if error.retry_after().is_some() || matches!(error, Error::Unauthorized(_)) {
            return self.failed(Phase::List, error);
        }
        self.memory.no_pages_first = true;
        let was_there = error.status().is_some() || matches!(error, Error::Transport(_));
        if !was_there && self.gives_up(Phase::List, &error) {
            return Err(error);
        }
        self.options.tell(&ReflectorEvent::PagesFellBack { error });
        Ok(State::Begin)
    }
}

/// How many items a page of a list at this version has; 0 is no limit.
///
/// A Kubernetes server answers "0" or a version from its memory, ignoring or being hindered by a limit; only where it
/// has shown that it has no such memory are pages asked for at a version.
pub(super) fn page_size(options: &ReflectorOptions, paginated: bool, version: &ResourceVersion) -> u32 {
    match options.page_size {
        Some(size) => size,
        None if paginated || version.is_unset() || version.is_any() => PAGE_SIZE,
        None => 0,
    }
}

/// How the version of a list is meant. Of a list with a limit it has to be said: a Kubernetes server would take it to
/// be exactly this version, answer with a state it no longer has the changes of, and so be listed for ever.
fn version_match(version: &ResourceVersion, limit: u32) -> Option<ResourceVersionMatch> {
    let meant = limit != 0 && !version.is_unset() && !version.is_any();
    meant.then_some(ResourceVersionMatch::NotOlderThan)
}

/// One list on its way into a store.
pub(super) struct Pages<'a, L, S> {
    pub(super) source: &'a L,
    pub(super) store: &'a S,
    pub(super) options: &'a ReflectorOptions,
    pub(super) backoff: &'a mut Backoff,
    pub(super) origin: Origin,
    /// Whether it may be of another history than what the store has.
    pub(super) is_doubtful: bool,
    pub(super) expected: &'a ExpectedType,
    /// From which page on (the first is 0) the source is asked again when it says how long to wait.
    pub(super) patient_from: usize,
    /// How many pages are asked for ahead of their turn, as soon as the one before says how.
    pub(super) depth: u8,
}

impl<'a, L: ListerWatcher, S: ReflectorStore> Pages<'a, L, S> {
    /// Fetches every page. A continue token that expired under way costs one list without a limit, at the version
    /// asked for in the beginning; when a source splits that one too and its token expires, the list has failed.
    pub(super) async fn fetch(mut self, version: &ResourceVersion, limit: u32) -> Result<Fetched, Error> {
        let first = |limit| ListOptions {
            resource_version: version.clone(),
            limit,
            version_match: version_match(version, limit),
            continue_token: String::new(),
        };
        let mut options = first(limit);
        let mut fetched = Fetched::default();
        let mut page = 0;
        let mut began_anew = false;
        // One earlier token, moved on at each power of two: whatever the length of a circle, it is met again in time.
        let mut landmark = String::new();
        let mut ahead = None;
        let mut empty = 0;
        loop {
            let before = (fetched.items.len(), fetched.taken, self.source.objects_read());
            let meta = match self.page(page, &options, &mut fetched, &mut ahead).await {
                Ok(meta) => meta,
                Err(Error::Expired(_)) if !options.continue_token.is_empty() && !began_anew => {
                    began_anew = true;
                    fetched = Fetched { paginated: true, ..Fetched::default() };
                    options = first(0);
                    landmark.clear();
                    page = 0;
                    continue;
                }
                Err(error) => return Err(error),
            };
            if page == 0 {
                fetched.version = meta.resource_version;
            }
            if meta.continue_token.is_empty() {
                return Ok(fetched);
            }
            if meta.continue_token == landmark {
                return Err(Error::Decode("the list goes in a circle: a continue token came again".into()));
            }
            let is_empty = before == (fetched.items.len(), fetched.taken, self.source.objects_read());
            empty = if is_empty { empty + 1 } else { 0 };
            if empty > EMPTY_PAGES {
                return Err(Error::Decode(format!(
                    "the list has no end: {empty} pages in a row were empty and named a next one"
                )));
            }
            if empty > EMPTY_PAGES_AT_ONCE {
                let after = self.backoff.next(None);
                self.options.tell(&ReflectorEvent::PageDelayed { empty, after });
                self.options.clock.sleep(after).await;
            }
            fetched.paginated = true;
            page += 1;
            if page.is_power_of_two() {
                landmark.clone_from(&meta.continue_token);
            }
            options = page_after(options.limit, meta.continue_token);
        }
    }

    /// Fetches one page, which may have been asked for `ahead`; leaves there what was asked for while it came.
    async fn page(
        &mut self,
        page: usize,
        options: &ListOptions,
        fetched: &mut Fetched,
        ahead: &mut Option<Ahead<'a, L>>,
    ) -> Result<ListMeta, Error> {
        let now = self.options.clock.now();
        let mut asked = ahead.take().filter(|ahead| ahead.is_it(options));
        if asked.as_ref().is_some_and(|ahead| !ahead.is_fresh(now)) {
            self.depth = self.depth.saturating_sub(1);
            asked = None;
        }
        *ahead = asked.as_mut().and_then(Ahead::take_then);
        let mut stream = self.start(page, options, asked).await?;
        if page == 0 {
            begin_list(self.store, self.origin, self.is_doubtful);
        }
        let _flushed = Flush(self.store);
        let after =
            |meta: &ListMeta| Ahead::after(options.limit, meta, self.source, self.options.clock.now());
        let then = |meta: &ListMeta| if self.depth > 1 { after(meta) } else { None };
        loop {
            consume_budget().await;
            self.store.ready().await;
            let limit = self.options.list_idle_limit;
            let read = || self.source.objects_read();
            let next = within_of_list(&*self.options.clock, self.store, read, limit, stream.next());
            let next = match ahead {
                Some(ahead) => ahead.beside(then, next).await,
                None => next.await,
            };
            let Some(object) = next.ok_or_else(|| silent("the list", limit))?? else { break };
            if self.depth > 0 && ahead.is_none() {
                *ahead = after(stream.meta());
            }
            refuse_table(&object)?;
            if self.expected.refuses(&object, self.options) {
                continue;
            }
            match self.store.list_item(object, self.origin) {
                Some(object) => fetched.items.push(object),
                None => fetched.taken += 1,
            }
        }
        Ok(stream.meta().clone())
    }

    /// Asks for one page, unless it is asked for already; again where the source says when.
    async fn start(
        &mut self,
        page: usize,
        options: &ListOptions,
        mut asked: Option<Ahead<'a, L>>,
    ) -> Result<Page<L::List>, Error> {
        for _ in 1..PAGE_TRIES {
            let answer = match asked.take() {
                Some(ahead) => self.answered(ahead.answer()).await?,
                None => self.asked(options).await?,
            };
            let error = match answer {
                Ok(stream) => return Ok(stream),
                Err(error) => error,
            };
            if page < self.patient_from || error.retry_after().is_none() {
                return Err(error);
            }
            let after = self.backoff.next(error.retry_after());
            self.options.tell(&ReflectorEvent::Lost { phase: Phase::List, error });
            self.options.tell(&ReflectorEvent::Retrying { after });
            self.options.clock.sleep(after).await;
        }
        self.asked(options).await?
    }

    /// Asks for one page in its turn.
    async fn asked(&self, options: &ListOptions) -> Result<Result<Page<L::List>, Error>, Error> {
        self.answered(async { self.source.list(options).await.map(Page::new) }).await
    }

    /// What the source answers first.
    async fn answered(
        &self,
        asked: impl Future<Output = Result<Page<L::List>, Error>>,
    ) -> Result<Result<Page<L::List>, Error>, Error> {
        let limit = self.options.list_idle_limit;
        let answer = within_of_source(&*self.options.clock, self.source, limit, asked);
        answer.await.ok_or_else(|| silent("the list", limit))
    }
}

/// The error of something that says nothing any more.
pub(super) fn silent(what: &str, limit: Duration) -> Error {
    Error::Timeout(format!("{what} was silent for {}s", limit.as_secs()))
}

/// A Table that nobody turned into objects would be stored as one object, and its bookmarks would be lost.
pub(super) fn refuse_table(object: &Object) -> Result<(), Error> {
    let type_meta = object.type_meta();
    if type_meta.kind == "Table" && type_meta.api_version.starts_with("meta.k8s.io/") {
        return Err(Error::Decode(format!("{}, Kind=Table is no object to reflect", type_meta.api_version)));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    // G17, G18, G19 in their rule
    #[test]
    fn pages_are_asked_for_where_the_source_does_not_answer_from_memory() {
        let by_rule = ReflectorOptions::default();
        for (version, paginated, size) in
            [("", false, 500), ("0", false, 500), ("10", false, 0), ("10", true, 500), ("0", true, 500)]
        {
            assert_eq!(page_size(&by_rule, paginated, &version.into()), size, "{version:?} {paginated}");
        }
        for size in [0, 4] {
            let set = ReflectorOptions { page_size: Some(size), ..ReflectorOptions::default() };
            assert_eq!(page_size(&set, true, &"10".into()), size);
        }
    }
}
