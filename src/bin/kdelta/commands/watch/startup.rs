//! The start of a watch: its targets, and the wait for the first cluster that can be used.

use tokio::time::Instant;

use super::{deadline, files};
use crate::commands::query_plan::load_watch_fields;
use crate::commands::reporter::Reporter;
use crate::exit::ExitCode;
use crate::session::{Session, TargetFailure, TargetSet};
use crate::settings::Watch;

/// Returns the targets of a watch, and the number of files that name them.
///
/// # Errors
/// A file or document can't be used, or an object in it has no name. These errors are reported.
pub(in crate::commands) async fn start_targets(
    session: &Session,
    watch: &Watch,
    reporter: &Reporter,
) -> anyhow::Result<(TargetSet, usize)> {
    match &watch.files {
        Some(files) => files::targets(session, watch, files, reporter).await,
        None => Ok((TargetSet::start(session, &watch.selection, watch.ignore_not_found), 0)),
    }
}

/// Waits for the first parts until `end`. Returns the exit code if the command ends without them.
pub(in crate::commands) async fn first_parts_by(
    end: Option<Instant>,
    session: &Session,
    watch: &Watch,
    targets: &mut TargetSet,
    reporter: &Reporter,
    is_partial: &mut bool,
) -> anyhow::Result<Option<ExitCode>> {
    tokio::select! {
        is_there = first_parts(session, watch, targets, reporter, is_partial) => {
            Ok(if is_there? { None } else { Some(ExitCode::Error) })
        }
        () = deadline::reached(end) => Ok(Some(match () {
            () if *is_partial => ExitCode::Partial,
            () if watch.until.count.is_some() => ExitCode::TimedOut,
            () => ExitCode::Ok,
        })),
    }
}

/// Checks that a watch from a resource version has a single collection.
pub(super) fn check_single_collection(
    session: &Session,
    watch: &Watch,
    targets: &TargetSet,
) -> Result<(), SeveralCollections> {
    let parts = targets.parts().len();
    let is_open = watch.selection.is_open() || session.has_several_contexts();
    if watch.flow.from.is_none() || (parts == 1 && !is_open) {
        return Ok(());
    }
    Err(SeveralCollections(if is_open { "any number".to_owned() } else { parts.to_string() }))
}

/// The error of `--resource-version` with several collections: a resource version belongs to a single one.
#[derive(Debug, thiserror::Error)]
#[error(
    "--resource-version needs a single collection, but {0} are selected: give one type, and one namespace, -A or one name"
)]
pub(super) struct SeveralCollections(String);

/// Waits until one cluster is usable. Returns `false` if none is, after reporting why.
pub(in crate::commands) async fn first_plan(
    targets: &mut TargetSet,
    reporter: &Reporter,
    partial: &mut bool,
) -> anyhow::Result<bool> {
    while !targets.has_plan() {
        if targets.is_settled() {
            return Ok(false);
        }
        match targets.next().await {
            Ok(()) | Err(TargetFailure::Namespaces { .. }) => {}
            Err(failure) => {
                *partial |= !matches!(failure, TargetFailure::MissingType { .. });
                reporter.report_target_failure(failure)?;
            }
        }
    }
    Ok(true)
}

/// Waits until one cluster is usable, and loads the selectable fields of its types. Returns `false` if none is usable, after
/// reporting why.
pub(in crate::commands) async fn first_parts(
    session: &Session,
    watch: &Watch,
    targets: &mut TargetSet,
    reporter: &Reporter,
    partial: &mut bool,
) -> anyhow::Result<bool> {
    if !first_plan(targets, reporter, partial).await? {
        return Ok(false);
    }
    for planned in targets.parts() {
        load_watch_fields(session, watch, &planned.part).await;
    }
    Ok(true)
}
