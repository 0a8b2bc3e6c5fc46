//! `kdelta changes`: a summary of a range of a recording.

use std::io::Write;
use std::sync::Arc;

use kdelta::object::{ApiResource, Object};
use kdelta::recording::{Entry, EntryFilter, Item, Moment};

use super::recorded::RecordedRange;
use super::reporter::Reporter;
use super::walk::Walk;
use crate::exit::ExitCode;
use crate::output::{
    RowWidth, SummaryRange, SummaryTable, terminal_columns, terminal_size, write_brief, write_summary,
    write_summary_json,
};
use crate::session::{Cluster, Session};
use crate::settings::{Changes, ChangesFormat, OutputStream, Pattern};
use crate::view::summary::{ChangeSummary, ChangeTracker, ObjectChanges, OwnerType};

/// Prints a summary of each selected recording.
pub(crate) async fn run(
    session: &Session,
    changes: &Changes,
    reporter: &Reporter,
    stdout: OutputStream,
    mut out: impl Write,
) -> anyhow::Result<ExitCode> {
    let (types, code) = types(session, changes, reporter).await?;
    let mut code = if reporter.report_unusable(session) { ExitCode::Partial } else { code };
    let mut summaries = Vec::new();
    for cluster in session.clusters() {
        let own = types.as_ref().map(|types| {
            let own = types.iter().filter(|(number, _)| *number == cluster.index());
            own.map(|(_, resource)| Arc::clone(resource)).collect()
        });
        let (range, summary, is_whole) = summarize(session, cluster, changes, own, reporter)?;
        if !is_whole {
            code = ExitCode::Partial;
        }
        if summary.changes == 0 && !changes.namespaces.is_empty() {
            report_unknown_namespaces(session, cluster, changes, reporter)?;
        }
        match changes.format {
            ChangesFormat::Table => {
                write_summary(&range, &summary, table(changes, stdout), &mut out)?;
            }
            ChangesFormat::Json => write_summary_json(&range, &summary, stdout.is_terminal, &mut out)?,
            ChangesFormat::Brief => summaries.push((range, summary)),
        }
    }
    if changes.format == ChangesFormat::Brief {
        write_brief(&summaries, &mut out)?;
    }
    Ok(code)
}

/// The selected types, each with the number of its cluster; `None` for all.
type SelectedTypes = Option<Vec<(usize, Arc<ApiResource>)>>;

/// Resolves the words for types.
async fn types(
    session: &Session,
    changes: &Changes,
    reporter: &Reporter,
) -> anyhow::Result<(SelectedTypes, ExitCode)> {
    let Some(selection) = &changes.types else { return Ok((None, ExitCode::Ok)) };
    let mut walk = Walk::start(session, selection, false, reporter).await?;
    let mut types = Vec::new();
    while let Some(planned) = walk.next() {
        types.push((planned.part.cluster, planned.part.resource));
    }
    Ok((Some(types), walk.end()?))
}

/// Reads a recording. The last result is whether every entry of the range could be read; the others are reported.
fn summarize(
    session: &Session,
    cluster: &Cluster,
    changes: &Changes,
    types: Option<Vec<Arc<ApiResource>>>,
    reporter: &Reporter,
) -> anyhow::Result<(SummaryRange, ChangeSummary, bool)> {
    let range = RecordedRange::open(session, cluster.index(), &changes.range)?;
    let (since, until) = range.limits()?;
    let filter = EntryFilter {
        resources: types.map(|types| recorded(&range, &types)).transpose()?,
        namespaces: names(changes),
    };
    let is_selected = |namespace: &str| {
        changes.namespaces.is_empty() || changes.namespaces.iter().any(|pattern| pattern.matches(namespace))
    };
    let entries = range.recording.entries(range.since, range.until, filter)?;
    let folded = entries.fold_objects(
        &ObjectChanges::reads_deleted,
        &|changes: &mut ObjectChanges, Entry { number, item, .. }| match item {
            Item::Change { change, author } if is_selected(change.object.namespace()) => {
                changes.record(number, &change, author.as_ref().map(|author| &*author.manager));
            }
            _ => {}
        },
    );
    let is_whole = folded.errors.is_empty();
    for error in folded.errors {
        reporter.report_error(cluster.prefix(), &error.into());
    }
    let mut tracker = ChangeTracker::of(folded.values);
    load_unchanged(&range, &mut tracker)?;
    let (context, gaps) = (cluster.context().into(), range.gaps);
    Ok((SummaryRange { context, since, until, gaps }, tracker.summary(until), is_whole))
}

/// Reports namespaces without an object in the recording, which may be misspelled.
fn report_unknown_namespaces(
    session: &Session,
    cluster: &Cluster,
    changes: &Changes,
    reporter: &Reporter,
) -> anyhow::Result<()> {
    let range = RecordedRange::open(session, cluster.index(), &changes.range)?;
    let state = range.recording.state(range.until.map_or(Moment::End, Moment::Time))?;
    let mut unknown: Vec<&Pattern> = changes.namespaces.iter().collect();
    for resource in state.resources()? {
        if unknown.is_empty() {
            return Ok(());
        }
        let objects = state.objects(&resource, None)?;
        unknown.retain(|pattern| !objects.iter().any(|object| pattern.matches(object.namespace())));
    }
    for pattern in unknown {
        let text =
            format!("{}no object in the namespace {:?} was recorded", cluster.prefix(), pattern.text());
        reporter.messages().warning(&text);
    }
    Ok(())
}

/// Returns the recorded versions of the types.
fn recorded(range: &RecordedRange, types: &[Arc<ApiResource>]) -> anyhow::Result<Vec<ApiResource>> {
    let mut all = Vec::new();
    for resource in types {
        let recorded = range.required_resources(resource)?;
        all.extend(recorded.iter().map(|resource| (**resource).clone()));
    }
    Ok(all)
}

/// Returns the namespaces if each is a name.
fn names(changes: &Changes) -> Option<Vec<String>> {
    let is_plain = changes.namespaces.iter().all(Pattern::is_plain);
    let names = || changes.namespaces.iter().map(|pattern| pattern.text().to_owned()).collect();
    (is_plain && !changes.namespaces.is_empty()).then(names)
}

/// Reads the objects with warnings and the owners that did not change in the range, at its end.
fn load_unchanged(range: &RecordedRange, tracker: &mut ChangeTracker) -> anyhow::Result<()> {
    let recorded = range.recording.resources()?;
    let resource_of = |of: &OwnerType| {
        recorded.iter().find(|resource| resource.group == of.group && resource.kind == of.kind)
    };
    let state = range.recording.state(range.until.map_or(Moment::End, Moment::Time))?;
    for (of_type, names) in tracker.unchanged_warned() {
        if let Some(resource) = resource_of(&of_type) {
            tracker.add_warned(resource, &state.objects_by_name(resource, &names)?);
        }
    }
    loop {
        let missing = tracker.missing_owners();
        if missing.is_empty() {
            return Ok(());
        }
        for owner_type in missing {
            let resource = resource_of(&owner_type);
            let objects: Vec<Arc<Object>> = match resource {
                Some(resource) => state.objects(resource, None)?,
                None => Vec::new(),
            };
            tracker.add_owners(owner_type, resource.map(|resource| (&**resource, objects.as_slice())));
        }
    }
}

/// Returns the form of the table. On a terminal it fits the screen, unless `--no-trunc` is given.
fn table(changes: &Changes, stdout: OutputStream) -> SummaryTable {
    let fits = stdout.is_terminal && !changes.no_trunc;
    SummaryTable {
        headers: changes.headers,
        colour: stdout.colour,
        width: if fits { RowWidth::of(terminal_columns) } else { RowWidth::default() },
        lines: terminal_size().filter(|_| fits).map(|(_, lines)| lines),
    }
}
