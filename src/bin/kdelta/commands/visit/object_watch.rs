//! Watching one object, or the objects of one part, until a condition is met. Broken connections resume, and an expired
//! version leads to a new list.

use std::future::pending;

use kdelta::informer::{QueueKind, SharedIndexInformer};
use kdelta::listwatch::WatchEvent;
use kdelta::store::Indexer;
use kdelta::watchtools::{ConditionFunc, PreconditionFunc, WatchToolsError, condition, until_with_sync};
use tokio::time::{Instant, sleep_until};

use super::requests::ObjectRequests;
use crate::session::{Filter, Part, reflector_options};
use crate::settings::{ObjectFilter, Selection};

/// Returns whether the object is gone, given the objects of the initial state.
type IsGone<'a> = &'a mut (dyn FnMut(&dyn Indexer) -> bool + Send);

impl ObjectRequests<'_> {
    /// Watches an object until an event ends the wait. Selectors chose the object, and it may cease to match them.
    /// With `is_gone`, the whole initial state is read first, and the result is `None` if the object is gone.
    ///
    /// # Errors
    /// The deadline passes, or the first request fails for good.
    pub(in crate::commands) async fn watch_until<'a>(
        &self,
        part: &Part,
        is_gone: Option<IsGone<'a>>,
        ends: impl FnMut(&WatchEvent) -> bool + Send + 'a,
        deadline: Option<Instant>,
    ) -> Result<Option<WatchEvent>, WatchToolsError> {
        let selection = Selection {
            label_selector: None,
            field_selector: None,
            filter: ObjectFilter::default(),
            ..self.selection.clone()
        };
        let informer = self.informer(part, &selection);
        let precondition = is_gone.map(|is_gone| {
            let precondition = move |store: &dyn Indexer| Ok(is_gone(store));
            Box::new(precondition) as PreconditionFunc<'a>
        });
        let conditions: Vec<ConditionFunc<'a>> = vec![condition(ends)];
        until_with_sync(informer, precondition, conditions, passed(deadline)).await
    }

    /// Watches a part until it has an object that the selectors select.
    ///
    /// # Errors
    /// As [`ObjectRequests::watch_until`].
    pub(in crate::commands) async fn watch_until_any(
        &self,
        part: &Part,
        deadline: Option<Instant>,
    ) -> Result<(), WatchToolsError> {
        let informer = self.informer(part, self.selection);
        let conditions = vec![condition(|event| matches!(event, WatchEvent::Added(_)))];
        until_with_sync(informer, None, conditions, passed(deadline)).await.map(|_| ())
    }

    fn informer(&self, part: &Part, selection: &Selection) -> SharedIndexInformer {
        let source = self.session.source(part, selection, self.print, self.representation, Filter::default());
        let options = reflector_options(selection, &source, Some(self.reporter.observer(part)));
        let options = options.give_up(Some(source.gives_up(true)));
        source.informer().queue(QueueKind::Ordered).reflector(options).build()
    }
}

/// Completes when the deadline has passed.
async fn passed(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline).await,
        None => pending().await,
    }
}
