//! `--for=create`: waiting until any of the requested objects exists.

use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use kdelta::watchtools::WatchToolsError;
use tokio::time::{Instant, sleep, sleep_until};

use super::error::WaitError;
use super::object_wait::Timing;
use crate::commands::visit::{self, ObjectRequests};
use crate::exit::ExitCode;
use crate::manifest::Entry;
use crate::session::PlannedPart;
use crate::settings::RequestedObjects;

/// The interval at which objects are requested that can't be watched, as in kubectl.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// The number of parts that are watched; with more, all are requested again and again.
const MAX_WATCHES: usize = 16;

/// Waits until any requested object exists. As in kubectl, a single missing name is waited for, and every other failure
/// ends the wait.
///
/// # Errors
/// A request fails, or no object exists in time.
pub(super) async fn wait_for_any(
    requests: &ObjectRequests<'_>,
    objects: &RequestedObjects,
    entries: &[Entry],
    timing: Timing,
) -> anyhow::Result<ExitCode> {
    loop {
        let visited = visit::visit(requests, objects, entries, async |_| Ok(())).await?;
        if visited.is_complete() && visited.count() > 0 {
            return Ok(ExitCode::Ok);
        }
        let Some(awaited) = visited.awaited() else { return visited.end() };
        match timing {
            Timing::Until(deadline) if !timing.has_passed() => {
                tokio::select! {
                    () = any_appears(requests, &awaited, deadline) => {}
                    () = sleep_until(deadline) => {}
                }
            }
            Timing::Once | Timing::Until(_) => return Err(WaitError::NotCreated.into()),
        }
    }
}

/// Waits until any of the parts may have an object.
async fn any_appears(requests: &ObjectRequests<'_>, parts: &[PlannedPart], deadline: Instant) {
    if parts.is_empty() || parts.len() > MAX_WATCHES {
        return sleep(POLL_INTERVAL).await;
    }
    let mut watches: FuturesUnordered<_> =
        parts.iter().map(|planned| requests.watch_until_any(&planned.part, Some(deadline))).collect();
    while let Some(ended) = watches.next().await {
        match ended {
            Ok(()) => return,
            Err(WatchToolsError::Interrupted { .. }) => {}
            // The next request fails for the same reason, or the reason is gone.
            Err(_) => return sleep(POLL_INTERVAL).await,
        }
    }
}
