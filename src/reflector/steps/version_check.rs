//! The check of the source's latest version before a watch continues after a disconnect.
//!
//! A Kubernetes server is silent on a watch from a version that it has not reached, and sends events once it has passed
//! that version. So a watch of a server that was restored from a backup, or of another server in its place, would miss all
//! differences without an error, as client-go's does.

use std::pin::pin;

use super::live_watch::{LiveWatch, open};
use super::source_deadline::{silent, within_of_source};
use crate::listwatch::{Error, ListerWatcher};
use crate::object::ResourceVersion;
use crate::reflector::reflector_store::ReflectorStore;
use crate::reflector::run_context::RunContext;

/// Returns the latest version of the source. `seen` is the version that it had a moment ago, or unset. A list that is required
/// to be no older than the last version would not do: a replica that lags a little refuses it, after a while.
pub(in crate::reflector) async fn check<L: ListerWatcher, S: ReflectorStore>(
    context: &RunContext<L, S>,
    seen: &ResourceVersion,
) -> Result<ResourceVersion, Error> {
    let limit = context.options.list_idle_limit;
    // It is often the first request after an outage, for which a user may have to log in.
    let request = context.source.progress(seen);
    let response = within_of_source(&*context.options.clock, &context.source, limit, request);
    response.await.ok_or_else(|| silent("the list", limit))?
}

/// The source's latest version, and the watch that was opened meanwhile; no watch if the version rules out that it continues.
pub(in crate::reflector) type CheckedWatch<W> =
    (Result<ResourceVersion, Error>, Option<Result<LiveWatch<W>, Error>>);

/// Opens a watch after the source ended the previous one cleanly, but early. The watch and the latest version are requested at
/// the same time, so that events do not wait for two responses in turn; the watch is read once the version is known. After a
/// failure, the two are requested one after the other.
pub(in crate::reflector) async fn check_and_open<L: ListerWatcher, S: ReflectorStore>(
    context: &RunContext<L, S>,
) -> CheckedWatch<L::Watch> {
    // Another process received the version that a run resumes from, possibly from another source.
    let seen = if context.recovery.watched { context.last.get() } else { ResourceVersion::UNSET };
    let (mut check, mut open) = (pin!(check(context, &seen)), pin!(open(context)));
    let mut live = None;
    let latest = loop {
        tokio::select! {
            biased;
            latest = &mut check => break latest,
            opened = &mut open, if live.is_none() => live = Some(opened),
        }
    };
    // A watch that must not continue is not waited for.
    if live.is_none() && latest.as_ref().is_ok_and(|latest| !context.is_behind(latest)) {
        live = Some(open.await);
    }
    (latest, live)
}
