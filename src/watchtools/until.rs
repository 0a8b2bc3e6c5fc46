//! Waiting for conditions on the events of a watch.

use std::future::Future;
use std::pin::{Pin, pin};
use std::vec;

use super::condition::{ConditionError, ConditionFunc, PreconditionFunc};
use super::{InformerWatcher, RetryWatcher, WatchToolsError};
use crate::informer::SharedIndexInformer;
use crate::listwatch::{ListerWatcher, WatchEvent, WatchStream};
use crate::object::ResourceVersion;

/// Reads a watch until its events have met every condition, one after the other, and returns the event that met the
/// last one (client-go: `UntilWithoutRetry`). An event that meets a condition is also the first one tested against the
/// next. Without conditions it returns `None` at once.
///
/// `interrupt` ends the wait: a sleep for a deadline, a token's `cancelled()`, or `pending()` for none. The watch is
/// dropped in any case. Bookmarks are tested like other events.
///
/// ```
/// # use kdelta::listwatch::{ListerWatcher, WatchEvent, WatchOptions};
/// # use kdelta::testing::{FakeSource, pod};
/// # use kdelta::watchtools::{condition, until_without_retry};
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let source = FakeSource::new();
/// let from = WatchOptions::default().resource_version(source.version());
/// let watch = source.watch(&from).await?;
/// source.add(pod("web"));
/// source.modify(pod("web"));
/// let added = condition(|event| matches!(event, WatchEvent::Added(_)));
/// let changed = condition(|event| matches!(event, WatchEvent::Modified(_)));
/// let last = until_without_retry(watch, vec![added, changed], std::future::pending()).await?;
/// assert!(matches!(last, Some(WatchEvent::Modified(_))));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`WatchToolsError::Closed`], [`WatchToolsError::Interrupted`], [`WatchToolsError::Watch`] or
/// [`WatchToolsError::Condition`]: the reason for the end of the wait, with the last event.
pub async fn until_without_retry<W: WatchStream>(
    mut watch: W,
    conditions: Vec<ConditionFunc<'_>>,
    interrupt: impl Future<Output = ()>,
) -> Result<Option<WatchEvent>, WatchToolsError> {
    let mut interrupt = pin!(interrupt);
    let mut conditions = Sequence { rest: conditions.into_iter(), current: None };
    if conditions.advance() {
        return Ok(None);
    }
    let mut last = None;
    loop {
        let next = tokio::select! {
            biased;
            next = watch.next() => next,
            () = interrupt.as_mut() => return Err(WatchToolsError::Interrupted { last }),
        };
        let event = match next {
            Some(Ok(event)) => event,
            Some(Err(error)) => return Err(WatchToolsError::Watch { error: Box::new(error), last }),
            None => return Err(WatchToolsError::Closed { last }),
        };
        match conditions.all_met(&event) {
            Ok(true) => return Ok(Some(event)),
            Ok(false) => last = Some(event),
            Err(error) => return Err(WatchToolsError::Condition { error, last: Some(event) }),
        }
    }
}

/// Conditions to be met one after the other.
struct Sequence<'a> {
    rest: vec::IntoIter<ConditionFunc<'a>>,
    current: Option<ConditionFunc<'a>>,
}

impl Sequence<'_> {
    /// Advances to the next condition. Returns whether there is none.
    fn advance(&mut self) -> bool {
        self.current = self.rest.next();
        self.current.is_none()
    }

    /// Returns whether the event met the last remaining condition.
    fn all_met(&mut self, event: &WatchEvent) -> Result<bool, ConditionError> {
        while let Some(condition) = &mut self.current {
            if !condition(event)? {
                return Ok(false);
            }
            self.advance();
        }
        Ok(true)
    }
}

/// Watches from a version until every condition is met (client-go: `Until`): [`until_without_retry`] over a
/// [`RetryWatcher`]. It sees events after that version, not the objects that exist already.
///
/// ```
/// # use kdelta::{listwatch::WatchEvent, testing::{FakeSource, pod}, watchtools::{condition, until}};
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # use std::time::Duration;
/// let source = FakeSource::new();
/// source.add(pod("web"));
/// let version = source.version();
/// source.delete("web");
/// let gone = condition(|event| matches!(event, WatchEvent::Deleted(pod) if pod.name() == "web"));
/// until(version, source, vec![gone], tokio::time::sleep(Duration::from_secs(30))).await?;
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// Those of [`RetryWatcher::new`] and [`until_without_retry`].
pub async fn until<L: ListerWatcher>(
    initial: ResourceVersion,
    source: L,
    conditions: Vec<ConditionFunc<'_>>,
    interrupt: impl Future<Output = ()>,
) -> Result<Option<WatchEvent>, WatchToolsError> {
    until_without_retry(RetryWatcher::new(initial, source)?, conditions, interrupt).await
}

/// Runs an informer until every condition is met (client-go: `UntilWithSync`). Existing objects are tested as added,
/// then each event; the informer recovers if its version expires meanwhile.
///
/// A precondition is evaluated once the whole initial state is in the store. If it returns `true`, no condition is
/// tested and the result is `None`. Without a precondition the wait does not require the whole initial state.
///
/// ```
/// # use kdelta::{informer::SharedIndexInformer, testing::{FakeSource, pod}, watchtools::{condition, until_with_sync}};
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let source = FakeSource::new();
/// source.add(pod("shop/web"));
/// let informer = SharedIndexInformer::builder(source).build();
/// let is_there = Box::new(|store: &dyn kdelta::store::Indexer| Ok(store.get_by_key("shop/web").is_some()));
/// let event = until_with_sync(informer, Some(is_there), vec![condition(|_| true)], std::future::pending()).await?;
/// assert!(event.is_none());
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`WatchToolsError::NotSynced`] when the precondition could not be evaluated; those of [`until_without_retry`] and
/// [`InformerWatcher::new`].
///
/// # Panics
/// Outside of a tokio runtime.
pub async fn until_with_sync(
    informer: SharedIndexInformer,
    precondition: Option<PreconditionFunc<'_>>,
    conditions: Vec<ConditionFunc<'_>>,
    interrupt: impl Future<Output = ()>,
) -> Result<Option<WatchEvent>, WatchToolsError> {
    let mut interrupt = pin!(interrupt);
    let mut watcher = InformerWatcher::new(informer)?;
    if let Some(precondition) = precondition {
        synced(&mut watcher, interrupt.as_mut()).await?;
        let store = watcher.informer().get_indexer();
        match precondition(&*store) {
            Ok(true) => return Ok(None),
            Ok(false) => {}
            Err(error) => return Err(WatchToolsError::Condition { error, last: None }),
        }
    }
    until_without_retry(watcher, conditions, interrupt).await
}

async fn synced(
    watcher: &mut InformerWatcher,
    interrupt: Pin<&mut impl Future<Output = ()>>,
) -> Result<(), WatchToolsError> {
    let informer = watcher.informer().clone();
    let synced = tokio::select! {
        biased;
        synced = informer.synced() => synced,
        () = interrupt => return Err(WatchToolsError::NotSynced(None)),
    };
    if synced { Ok(()) } else { Err(WatchToolsError::NotSynced(watcher.ended().await.err())) }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::future::pending;
    use std::time::Duration;

    use super::*;
    use crate::listwatch::Error;
    use crate::reflector::ReflectorOptions;
    use crate::testing::{FakeSource, pod};
    use crate::watchtools::condition;

    struct Events(VecDeque<WatchEvent>, bool);

    impl WatchStream for Events {
        async fn next(&mut self) -> Option<Result<WatchEvent, Error>> {
            match self.0.pop_front() {
                None if self.1 => pending().await,
                next => next.map(Ok),
            }
        }
    }

    /// Returns a watch that adds and modifies a pod and then stays open or ends.
    fn added_and_modified(stays_open: bool) -> Events {
        let source = FakeSource::new();
        source.add(pod("a"));
        let added = WatchEvent::Added(source.objects().remove(0));
        source.modify(pod("a"));
        let modified = WatchEvent::Modified(source.objects().remove(0));
        Events([added, modified].into(), stays_open)
    }

    fn added<'a>() -> ConditionFunc<'a> {
        condition(|event| matches!(event, WatchEvent::Added(_)))
    }

    fn modified<'a>() -> ConditionFunc<'a> {
        condition(|event| matches!(event, WatchEvent::Modified(_)))
    }

    fn failing<'a>() -> ConditionFunc<'a> {
        Box::new(|_| Err("a broken condition".into()))
    }

    async fn after_half_a_second() {
        tokio::time::sleep(Duration::from_millis(500)).await;
    }

    // J7
    #[tokio::test(start_paused = true)]
    async fn conditions_are_met_one_after_the_other() {
        let last = until_without_retry(added_and_modified(true), vec![added(), modified()], pending()).await;
        assert!(matches!(last, Ok(Some(WatchEvent::Modified(_)))));
        assert!(matches!(until_without_retry(added_and_modified(true), vec![], pending()).await, Ok(None)));
    }

    // J8
    #[tokio::test(start_paused = true)]
    async fn one_event_can_meet_several_conditions() {
        let last = until_without_retry(added_and_modified(true), vec![added(), added()], pending()).await;
        assert!(matches!(last, Ok(Some(WatchEvent::Added(_)))));
    }

    // J9
    #[tokio::test(start_paused = true)]
    async fn an_interrupt_returns_the_last_event() {
        let conditions = || vec![added(), modified(), added()];
        let error = until_without_retry(added_and_modified(true), conditions(), after_half_a_second()).await;
        let error = error.expect_err("never");
        assert!(matches!(error, WatchToolsError::Interrupted { .. }), "{error}");
        assert!(matches!(error.last_event(), Some(WatchEvent::Modified(_))));
        let error = until_without_retry(added_and_modified(false), conditions(), pending()).await;
        assert!(matches!(error, Err(WatchToolsError::Closed { last: Some(WatchEvent::Modified(_)) })));
    }

    // J10
    #[tokio::test(start_paused = true)]
    async fn the_error_of_a_condition_is_returned() {
        let error = until_without_retry(added_and_modified(true), vec![failing()], pending()).await;
        let error = error.expect_err("a broken condition");
        assert_eq!(error.to_string(), "a broken condition");
        assert!(matches!(error.last_event(), Some(WatchEvent::Added(_))));
    }

    #[tokio::test(start_paused = true)]
    async fn until_returns_unrecoverable_watch_errors() {
        let source = FakeSource::new();
        source.add(pod("a"));
        let version = source.version();
        source.modify(pod("a"));
        source.reset_watches();
        let error = until(version, source.clone(), vec![added()], pending()).await.expect_err("expired");
        let WatchToolsError::Watch { error, last: None } = error else { panic!("{error}") };
        assert!(matches!(*error, Error::Expired(_)), "{error}");
        let error = until("0".into(), source, vec![added()], pending()).await.expect_err("no version");
        assert!(matches!(error, WatchToolsError::InitialVersion(_)));
    }

    fn informer_on(source: &FakeSource) -> SharedIndexInformer {
        SharedIndexInformer::builder(source.clone()).build()
    }

    fn precondition(met: bool) -> PreconditionFunc<'static> {
        Box::new(move |store| {
            assert!(store.get_by_key("secret").is_some());
            Ok(met)
        })
    }

    // J11
    #[tokio::test(start_paused = true)]
    async fn an_interrupt_ends_the_wait_for_a_list() {
        let source = FakeSource::new();
        source.hold(true);
        let waited = until_with_sync(informer_on(&source), None, vec![added()], after_half_a_second()).await;
        assert!(matches!(waited, Err(WatchToolsError::Interrupted { last: None })));
        let waited = until_with_sync(
            informer_on(&source),
            Some(precondition(true)),
            vec![added()],
            after_half_a_second(),
        )
        .await;
        let error = waited.expect_err("not synced").to_string();
        assert_eq!(error, "UntilWithSync: unable to sync caches: timed out");
        let error = Error::Refused("connection refused".into());
        source.hold(false);
        source.fail_list(error.clone());
        source.fail_watch(error);
        let options = ReflectorOptions { give_up: Some(std::sync::Arc::new(|_| true)), ..Default::default() };
        let informer = SharedIndexInformer::builder(source).reflector(options).build();
        let error = until_with_sync(informer, Some(precondition(true)), vec![added()], pending()).await;
        let error = error.expect_err("given up").to_string();
        assert_eq!(error, "UntilWithSync: unable to sync caches: connection refused");
    }

    // J11
    #[tokio::test(start_paused = true)]
    async fn a_met_precondition_ends_the_wait() {
        let source = FakeSource::new();
        source.add(pod("secret"));
        let waited = until_with_sync(
            informer_on(&source),
            Some(precondition(true)),
            vec![failing()],
            after_half_a_second(),
        )
        .await;
        assert!(matches!(waited, Ok(None)));
        for precondition in [Some(precondition(false)), None] {
            let waited =
                until_with_sync(informer_on(&source), precondition, vec![added()], after_half_a_second())
                    .await;
            assert!(matches!(waited, Ok(Some(WatchEvent::Added(_)))));
        }
        tokio::task::yield_now().await;
        assert_eq!(source.open_watches(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn a_wait_survives_an_expired_version() {
        let source = FakeSource::new();
        source.add(pod("secret"));
        let gone = condition(|event| matches!(event, WatchEvent::Deleted(_)));
        let waiting = until_with_sync(informer_on(&source), None, vec![added(), gone], pending());
        let breaking = async {
            after_half_a_second().await;
            source.delete_silently("secret");
            source.reset_watches();
        };
        let (waited, ()) = tokio::join!(waiting, breaking);
        assert!(matches!(waited, Ok(Some(WatchEvent::Deleted(_)))));
    }
}
