//! Indices of a part's current state, filled by informers that end once they have synced.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use kdelta::informer::QueueKind;
use kdelta::listwatch::Error;
use kdelta::store::{Indexer, Indexers};
use tokio_util::sync::CancellationToken;

use super::reporter::Reporter;
use crate::output::Count;
use crate::session::{Part, PartSource, ReceivedCount, Session, reflector_options};
use crate::settings::Selection;

/// The interval at which the running count is redrawn.
const REDRAW_INTERVAL: Duration = Duration::from_millis(100);

/// Returns the index of a part at one version. Shows a running count meanwhile, if stderr is a terminal.
///
/// # Errors
/// The list fails, or the named object does not exist.
pub(super) async fn synced_indexer(
    session: &Session,
    source: PartSource,
    indexers: Indexers,
    selection: &Selection,
    part: &Part,
    reporter: &Reporter,
) -> Result<Arc<dyn Indexer>, Error> {
    let source = source.one_shot();
    let received = source.received_count();
    let mut options = reflector_options(selection, &source, Some(reporter.one_shot_observer(part)));
    options.pages_first = session.may_list_in_pages(part, selection, &source).await;
    let informer = source.informer().queue(QueueKind::Ordered).indexers(indexers).reflector(options).build();
    let indexer = informer.get_indexer();
    tokio::select! {
        ended = informer.run_until_synced(CancellationToken::new()) => {
            ended.map_err(|error| part.with_request_context(selection, error))?;
        }
        never = show_count(&received, reporter.messages().count(&part.title())) => match never {},
    }
    // An object that was received and not stored exists: it does not match the filter.
    match part.not_found().filter(|_| indexer.list_keys().is_empty() && received.count() == 0) {
        Some(error) => Err(error),
        None => Ok(indexer),
    }
}

/// Shows the growing count until it is cancelled.
pub(super) async fn show_count(received: &ReceivedCount, mut count: Count) -> Infallible {
    let mut shown = 0;
    loop {
        tokio::time::sleep(REDRAW_INTERVAL).await;
        let now = received.count();
        count.add(now - shown);
        shown = now;
    }
}
