//! An informer that is run for its index: until it has synced, and no longer.

use std::sync::Arc;
use std::time::Duration;

use kdelta::informer::QueueKind;
use kdelta::listwatch::Error;
use kdelta::store::{Indexer, Indexers};
use tokio_util::sync::CancellationToken;

use super::watched::Watched;
use crate::output::Count;
use crate::session::{Part, PartSource, ReceivedCount, Session, reflector_options};
use crate::settings::Selection;

/// How often the running count is looked at.
const REDRAWN: Duration = Duration::from_millis(100);

/// The index of a part at one version. While it is filled a running count shows, where somebody looks.
///
/// # Errors
/// What the server refused, and the object that was asked for by its name and is not there.
pub(super) async fn synced_indexer(
    session: &Session,
    source: PartSource,
    indexers: Indexers,
    selection: &Selection,
    part: &Part,
    watched: &Watched,
) -> Result<Arc<dyn Indexer>, Error> {
    let source = source.one_shot();
    let arrived = source.received_count();
    let mut options = reflector_options(selection, &source, Some(watched.one_shot_observer(part)));
    options.pages_first = session.may_list_in_pages(part, selection, &source).await;
    let informer = source.informer().queue(QueueKind::Ordered).indexers(indexers).reflector(options).build();
    let indexer = informer.get_indexer();
    let stop = CancellationToken::new();
    let mut run = std::pin::pin!(informer.run(stop.clone()));
    let ended = tokio::select! {
        ended = &mut run => Some(ended),
        _ = informer.synced() => None,
        () = show(&arrived, watched.messages().count(&part.title())) => None,
    };
    stop.cancel();
    // PermitWait for: a watch that outlived its question would tell that its connection is gone.
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

/// Shows the count as it grows, for ever.
pub(super) async fn show(arrived: &ReceivedCount, mut count: Count) {
    let mut shown = 0;
    loop {
        tokio::time::sleep(REDRAWN).await;
        let now = arrived.count();
        count.add(now - shown);
        shown = now;
    }
}
