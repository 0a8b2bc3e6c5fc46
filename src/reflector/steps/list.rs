//! Lists, in pages.

use std::future::Future;

use tokio::task::coop::consume_budget;

use super::flush::{FlushOnDrop, within_of_list};
use super::read_ahead::{Page, ReadAheadPage, options_after};
use super::source_deadline::{silent, within_of_source};
use super::whole_state::{WholeState, complete};
use crate::listwatch::{Error, ListMeta, ListOptions, ListerWatcher, ResourceVersionMatch};
use crate::object::{Origin, ResourceVersion};
use crate::reflector::event::ReflectorEvent;
use crate::reflector::expected_type::{ExpectedType, refuse_table};
use crate::reflector::options::ReflectorOptions;
use crate::reflector::recovery::action::Phase;
use crate::reflector::recovery::backoff::Backoff;
use crate::reflector::reflector_store::ReflectorStore;
use crate::reflector::run_context::RunContext;

/// The default number of items in a page.
const PAGE_SIZE: u32 = 500;

/// The number of requests for one page, if the source names a time to wait between them.
const PAGE_TRIES: u32 = 10;

/// The maximum number of empty pages in a row. A Kubernetes server fills each page but the last, also with a selector.
const EMPTY_PAGES: u32 = 10;

/// The number of empty pages in a row that are followed by the next page at once. After more of them each page waits for
/// the next step of the back-off between lists: an endless list must not cost a server more requests than a failed one.
const EMPTY_PAGES_AT_ONCE: u32 = 5;

/// The maximum number of pages that are requested early: the next one, and the one after it.
pub(in crate::reflector) const MAX_READ_AHEAD: u8 = 2;

/// Lists into the store.
pub(in crate::reflector) async fn list<L: ListerWatcher, S: ReflectorStore>(
    context: &mut RunContext<L, S>,
) -> Result<(), Error> {
    let requested_at = context.options.clock.now();
    let version = context.version_to_request(Phase::List);
    let limit = page_size(&context.options, context.recovery.traits.paginated, &version);
    let (origin, may_be_unrelated) = (context.state_origin(), context.may_be_unrelated());
    let read_ahead = if context.lists_pages_first() { MAX_READ_AHEAD } else { 0 };
    let pages = Pages {
        source: &context.source,
        store: &*context.store,
        options: &context.options,
        backoff: &mut context.backoffs.relist,
        origin,
        may_be_unrelated,
        expected: &context.expected,
        // A failure of the first page is handled as one of the whole list.
        retry_from_page: 1,
        read_ahead,
    };
    let fetched = pages.fetch(&version, limit).await?;
    if version.is_any() && fetched.paginated {
        context.recovery.traits.paginated = true;
    }
    complete(context, Phase::List, fetched, requested_at)
}

/// Returns the page size for a list at this version; 0 is no limit.
///
/// A Kubernetes server serves a list at "0" or at a version from memory, where a limit is ignored or hinders it. Pages at a
/// version are requested only from a source that has shown that it does not serve lists from memory.
pub(in crate::reflector) fn page_size(
    options: &ReflectorOptions,
    paginated: bool,
    version: &ResourceVersion,
) -> u32 {
    match options.page_size {
        Some(size) => size,
        None if paginated || version.is_unset() || version.is_any() => PAGE_SIZE,
        None => 0,
    }
}

/// Returns how the version of a list is matched. With a limit, a Kubernetes server would otherwise return exactly this version,
/// which may be too old for a watch, and the reflector would list for ever.
fn version_match(version: &ResourceVersion, limit: u32) -> Option<ResourceVersionMatch> {
    let is_exact = limit != 0 && !version.is_unset() && !version.is_any();
    is_exact.then_some(ResourceVersionMatch::NotOlderThan)
}

/// A list that is being fetched into a store.
pub(in crate::reflector) struct Pages<'a, L, S> {
    pub(in crate::reflector) source: &'a L,
    pub(in crate::reflector) store: &'a S,
    pub(in crate::reflector) options: &'a ReflectorOptions,
    pub(in crate::reflector) backoff: &'a mut Backoff,
    pub(in crate::reflector) origin: Origin,
    /// Whether it may belong to another history than the stored state.
    pub(in crate::reflector) may_be_unrelated: bool,
    pub(in crate::reflector) expected: &'a ExpectedType,
    /// The first page (the first of all is 0) that is requested again if the source names a time to wait.
    pub(in crate::reflector) retry_from_page: usize,
    /// The number of pages that are requested early.
    pub(in crate::reflector) read_ahead: u8,
}

impl<'a, L: ListerWatcher, S: ReflectorStore> Pages<'a, L, S> {
    /// Fetches every page. If a continue token expires, the list is repeated once without a limit, at the original version. If
    /// the source splits that list, too, and its token expires, the list has failed.
    pub(in crate::reflector) async fn fetch(
        mut self,
        version: &ResourceVersion,
        limit: u32,
    ) -> Result<WholeState, Error> {
        let first = |limit| ListOptions {
            resource_version: version.clone(),
            limit,
            version_match: version_match(version, limit),
            continue_token: String::new(),
        };
        let mut options = first(limit);
        let mut fetched = WholeState::default();
        let mut page = 0;
        let mut is_second_list = false;
        // An earlier token, replaced at each power of two: a circle of any length leads back to it.
        let mut earlier_token = String::new();
        let mut ahead = None;
        let mut empty = 0;
        loop {
            let before = (fetched.items.len(), fetched.taken, self.source.objects_read());
            let meta = match self.page(page, &options, &mut fetched, &mut ahead).await {
                Ok(meta) => meta,
                Err(Error::Expired(_)) if !options.continue_token.is_empty() && !is_second_list => {
                    is_second_list = true;
                    fetched = WholeState { paginated: true, ..WholeState::default() };
                    options = first(0);
                    earlier_token.clear();
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
            if meta.continue_token == earlier_token {
                return Err(Error::Decode(
                    "the server sent the same continue token twice in one list".into(),
                ));
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
                self.options.report(&ReflectorEvent::PageDelayed { empty, after });
                self.options.clock.sleep(after).await;
            }
            fetched.paginated = true;
            page += 1;
            if page.is_power_of_two() {
                earlier_token.clone_from(&meta.continue_token);
            }
            options = options_after(options.limit, meta.continue_token);
        }
    }

    /// Fetches one page, which may have been requested early (`ahead`), and leaves there the next early request.
    async fn page(
        &mut self,
        page: usize,
        options: &ListOptions,
        fetched: &mut WholeState,
        ahead: &mut Option<ReadAheadPage<'a, L>>,
    ) -> Result<ListMeta, Error> {
        let now = self.options.clock.now();
        let mut early = ahead.take().filter(|early| early.has_options(options));
        if early.as_ref().is_some_and(|early| !early.is_fresh(now)) {
            self.read_ahead = self.read_ahead.saturating_sub(1);
            early = None;
        }
        *ahead = early.as_mut().and_then(ReadAheadPage::take_next);
        let mut stream = self.start(page, options, early).await?;
        if page == 0 {
            self.store.list_begin(self.origin, self.may_be_unrelated);
        }
        let _flush = FlushOnDrop(self.store);
        let after = |meta: &ListMeta| {
            ReadAheadPage::after(options.limit, meta, self.source, self.options.clock.now())
        };
        let second_after = |meta: &ListMeta| if self.read_ahead > 1 { after(meta) } else { None };
        loop {
            consume_budget().await;
            self.store.ready().await;
            let limit = self.options.list_idle_limit;
            let read = || self.source.objects_read();
            let next = within_of_list(&*self.options.clock, self.store, read, limit, stream.next());
            let next = match ahead {
                Some(ahead) => ahead.alongside(second_after, next).await,
                None => next.await,
            };
            let Some(object) = next.ok_or_else(|| silent("the list", limit))?? else { break };
            if self.read_ahead > 0 && ahead.is_none() {
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

    /// Requests a page, unless it was requested early; repeats the request if the source names a time.
    async fn start(
        &mut self,
        page: usize,
        options: &ListOptions,
        mut early: Option<ReadAheadPage<'a, L>>,
    ) -> Result<Page<L::List>, Error> {
        for _ in 1..PAGE_TRIES {
            let response = match early.take() {
                Some(early) => self.await_response(early.response()).await?,
                None => self.request(options).await?,
            };
            let error = match response {
                Ok(stream) => return Ok(stream),
                Err(error) => error,
            };
            if page < self.retry_from_page || error.retry_after().is_none() {
                return Err(error);
            }
            let after = self.backoff.next(error.retry_after());
            self.options.report(&ReflectorEvent::Lost { phase: Phase::List, error });
            self.options.report(&ReflectorEvent::Retrying { after });
            self.options.clock.sleep(after).await;
        }
        self.request(options).await?
    }

    /// Requests a page.
    async fn request(&self, options: &ListOptions) -> Result<Result<Page<L::List>, Error>, Error> {
        self.await_response(async { self.source.list(options).await.map(Page::new) }).await
    }

    /// Waits for the beginning of a response.
    async fn await_response(
        &self,
        response: impl Future<Output = Result<Page<L::List>, Error>>,
    ) -> Result<Result<Page<L::List>, Error>, Error> {
        let limit = self.options.list_idle_limit;
        let started = within_of_source(&*self.options.clock, self.source, limit, response);
        started.await.ok_or_else(|| silent("the list", limit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // G17, G18, G19 in their rule
    #[test]
    fn page_size_is_limited_if_the_source_does_not_answer_from_memory() {
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
