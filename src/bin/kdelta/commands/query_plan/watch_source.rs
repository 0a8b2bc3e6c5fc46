//! The source of a part of a watch, shared by the watch and its plan.

use anyhow::Context;
use kdelta::wire::Representation;

use crate::commands::needs;
use crate::exit::Usage;
use crate::session::{Filter, Part, PartSource, ServerConditions, Session, needs_body};
use crate::settings::{By, GetWatch, Watch, WatchForm};

/// Returns the conditions of a watch.
fn conditions(watch: &Watch) -> &[By] {
    match &watch.form {
        // They select groups here, and the server selects the objects of those.
        WatchForm::Index(index) => &index.by,
        _ => &watch.by,
    }
}

/// Loads the fields that the server of a part selects by, for [`watch_conditions`].
pub(in crate::commands) async fn load_watch_fields(session: &Session, watch: &Watch, part: &Part) {
    session.load_fields(part, conditions(watch), &watch.selection.filter).await;
}

/// Divides the conditions of a watch on the objects of a part. Those on fields that are not loaded are evaluated here.
pub(in crate::commands) fn watch_conditions(
    session: &Session,
    watch: &Watch,
    part: &Part,
) -> ServerConditions {
    let known = session.known_fields(part);
    ServerConditions::divide(part, conditions(watch), &watch.selection.filter, &known)
}

/// Creates the source of a part of a watch. The conditions that no server evaluates are a filter of the source, but for those
/// of an index.
///
/// # Errors
/// A path or the field selector can't be parsed.
pub(in crate::commands) fn watch_source(
    session: &Session,
    watch: &Watch,
    part: &Part,
    conditions: &ServerConditions,
) -> anyhow::Result<PartSource> {
    let Watch { selection, print, lines, .. } = watch;
    let local = match &watch.form {
        WatchForm::Index(_) => &[][..],
        _ => &conditions.local,
    };
    let representation = match &watch.form {
        // The cells of `kubectl events` are not those of the server's table.
        WatchForm::Events(_) | WatchForm::History(_) => Representation::Objects,
        WatchForm::Get(GetWatch { sort_by: Some(sort_by), .. }) => {
            needs::sorted(print, sort_by, local.iter().map(|by| &by.index))
        }
        WatchForm::Index(index) => needs::index(index),
        WatchForm::Wait { reads_body } => {
            needs::keys_and(*reads_body || local.iter().any(|by| needs_body(&by.index)))
        }
        WatchForm::Deltas | WatchForm::Get(_) | WatchForm::Tree | WatchForm::Run => {
            needs::of_lines(print, local.iter().map(|by| &by.index), lines)
        }
    };
    let representation = needs::with_filter(representation, conditions.filter.needs());
    let filter = Filter::by(local, session.expression_errors()).context(Usage)?;
    let selection = conditions.selection(selection);
    Ok(session.source(part, &selection, print, representation, filter))
}
