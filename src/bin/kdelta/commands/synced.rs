//! One-shot informers, which run until their index has synced.

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
    let stop = CancellationToken::new();
    let mut run = std::pin::pin!(informer.run(stop.clone()));
    let ended = tokio::select! {
        ended = &mut run => Some(ended),
        _ = informer.synced() => None,
        () = show_count(&received, reporter.messages().count(&part.title())) => None,
    };
    stop.cancel();
    // Wait for the end: a watch that outlived the command would report a lost connection.
    let ended = match ended {
        Some(ended) => ended,
        None => run.await,
    };
    ended.map_err(|error| part.with_request_context(selection, error))?;
    match part.not_found().filter(|_| indexer.list_keys().is_empty()) {
        Some(error) => Err(error),
        None => Ok(indexer),
    }
}

/// Shows the growing count until it is cancelled.
pub(super) async fn show_count(received: &ReceivedCount, mut count: Count) {
    let mut shown = 0;
    loop {
        tokio::time::sleep(REDRAW_INTERVAL).await;
        let now = received.count();
        count.add(now - shown);
        shown = now;
    }
}
