//! `kdelta index`: the values of an index with the number of objects of each, aggregates of their fields, and tables over
//! several indices.
//!
//! The counts of a single index are those of an informer's index. Aggregates and tables are computed from the objects as
//! they arrive; none is kept.

mod format;
mod grouping_receiver;
mod live_groups;
mod member_reader;

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::{Arc, PoisonError};

use anyhow::Context;
use kdelta::object::Key;
use kdelta::query::Groups;
use kdelta::reflector::Reflector;
use kdelta::store::Indexers;

use self::grouping_receiver::{GroupingReceiver, PartGroups};
pub(super) use self::live_groups::live_groups;
use self::member_reader::MemberReader;
pub(super) use self::member_reader::is_of_secrets;
use super::empty_result;
use super::list_store::ListStore;
use super::needs;
use super::query_plan::{self, PartUse, part_plan};
use super::reporter::Reporter;
use super::stats::Stats;
use super::synced::{show_count, synced_indexer};
use super::walk::Walk;
use crate::commands::watch as watch_command;
use crate::exit::{ExitCode, Usage};
use crate::output::{GroupCount, write_counts};
use crate::session::{
    Filter, Part, PartSource, PlannedPart, RequestMode, ServerConditions, Session, index_function,
    reflector_options,
};
use crate::settings::{self, By, Condition, Index, PlanForm, Print, Watch};
use crate::view::MASK;

/// The number of objects of each value, by the position of the context, then by value.
type Counts = BTreeMap<(usize, String), usize>;

/// Computes the groups and prints them. Groups of several parts of a context are added. Secret values are masked unless
/// requested.
pub(crate) async fn run(
    session: &Session,
    index: &Index,
    reporter: &Reporter,
    stdout: settings::OutputStream,
    mut out: impl Write,
) -> anyhow::Result<ExitCode> {
    if let Some(form) = index.explain {
        return explain(session, index, form, reporter, stdout, out).await;
    }
    let mut stats = Stats::new(index.stats);
    let mut walk = Walk::start(session, &index.selection, false, reporter).await?;
    let columns = format::columns(session, index);
    let (groups, objects) = match index.by.as_slice() {
        [by] if index.aggregates.is_empty() => {
            counted(session, index, by, reporter, &mut walk, &mut stats).await?
        }
        _ => {
            let reader = Arc::new(MemberReader::new(index, session.expression_errors()).context(Usage)?);
            let groups = grouped(session, index, &reader, reporter, &mut walk, &mut stats).await?;
            reader.warnings().iter().for_each(|warning| reporter.messages().warning(warning));
            let counts =
                groups.iter().map(|(key, group)| GroupCount::of(key, group, &columns, reader.positions()));
            (counts.collect(), groups.objects())
        }
    };
    stats.report(session, reporter.messages());
    empty_result::report_expression_errors(session, reporter);
    let parts = walk.parts();
    // Incomplete counts are misleading, so failures are reported first.
    let end = walk.end()?;
    if !groups.is_empty() && end == ExitCode::Ok {
        empty_result::report_unmatched(session, reporter, &parts);
    }
    if groups.is_empty() && end == ExitCode::Ok {
        let is_narrowed = |planned: &PlannedPart| conditions(session, index, &planned.part).narrows();
        match objects {
            // The server did not send the objects without such values, which may be all or none.
            0 if parts.iter().any(is_narrowed) => {
                empty_result::report_text(session, reporter, &parts, &no_values(&index.by)).await;
            }
            0 => empty_result::report(session, &index.selection, reporter, &parts).await,
            objects => {
                let text = format!("{} in {objects} objects", no_values(&index.by));
                reporter.messages().notice(&text);
            }
        }
    }
    let code = empty_result::exit_code(groups.len(), index.fail_if_empty, end);
    write_counts(&columns, groups, &format::options(index, stdout), &mut out)?;
    Ok(code)
}

/// Prints the groups, then their changes, until interrupted.
pub(crate) async fn watch(
    session: &Session,
    index: &Index,
    reporter: &Reporter,
    stdout: settings::OutputStream,
    out: impl Write,
) -> anyhow::Result<ExitCode> {
    watch_command::run(session, &Watch::of_index(index), reporter, stdout, out).await
}

/// Prints the plan.
async fn explain(
    session: &Session,
    index: &Index,
    form: PlanForm,
    reporter: &Reporter,
    stdout: settings::OutputStream,
    out: impl Write,
) -> anyhow::Result<ExitCode> {
    let plan_of = async |part: &Part| {
        let source = source(session, index, part, reporter).await;
        let mut conditions = conditions(session, index, part);
        conditions.local.retain(|by| by.condition != Condition::Exists);
        let is_counted = index.by.len() == 1 && index.aggregates.is_empty();
        let (mode, kept) = match () {
            () if index.watch => {
                (RequestMode::Watch, "the last state, compressed, and its values and numbers")
            }
            () if is_counted => (RequestMode::Synced, "the object, compressed, in an index"),
            () => (RequestMode::List, "its values and numbers"),
        };
        let pages_first = match mode {
            RequestMode::Synced => session.may_list_in_pages(part, &index.selection, &source).await,
            RequestMode::List => session.may_read_ahead(part),
            RequestMode::Watch | RequestMode::NamedWatch(_) | RequestMode::Named(_) => false,
        };
        let options = reflector_options(&index.selection, &source, None).pages_first(pages_first);
        let (selection, conditions, kept) = (&index.selection, &conditions, kept.to_owned());
        let reasons = needs::reasons_of_index(index, &conditions.filter);
        part_plan(PartUse { part, selection, conditions, mode, reasons, kept }, &source, &options)
    };
    query_plan::explain(session, &index.selection, form, reporter, stdout, out, plan_of).await
}

/// Returns the text for objects without values.
fn no_values(by: &[By]) -> String {
    let such = if by.iter().any(|by| by.condition != Condition::Exists) { "such " } else { "" };
    let names: Vec<String> = by.iter().map(|by| by.index.to_string()).collect();
    format!("No {such}values of {} found", names.join(" and "))
}

/// Counts the values of an index. Returns the counts with the number of objects.
async fn counted(
    session: &Session,
    index: &Index,
    by: &By,
    reporter: &Reporter,
    walk: &mut Walk<'_>,
    stats: &mut Stats,
) -> anyhow::Result<(Vec<GroupCount>, usize)> {
    let name = by.index.to_string();
    let function = index_function(&by.index, session.expression_errors()).context(Usage)?;
    let (mut counts, mut objects) = (Counts::new(), 0);
    while let Some(planned) = walk.next() {
        let part = &planned.part;
        let source = source(session, index, part, reporter).await;
        stats.add_source(&source);
        let indexers = Indexers::from([(name.clone(), function.clone())]);
        let indexer = match synced_indexer(session, source, indexers, &index.selection, part, reporter).await
        {
            Ok(indexer) => indexer,
            Err(error) => {
                walk.failed(planned, error.into()).await?;
                continue;
            }
        };
        stats.add_memory(&*indexer);
        objects += indexer.list_keys().len();
        add_counts(index, by, part, indexer.index_counts(&name)?, &mut counts);
        let left_out = indexer.index_errors(&name);
        if left_out > 0 {
            reporter.messages().warning(&format!("{left_out} {} could not be indexed", part.title()));
        }
    }
    let counts = counts.into_iter();
    Ok((counts.map(|((scope, value), count)| GroupCount::of_value(scope, &value, count)).collect(), objects))
}

/// Adds the counts of a part.
fn add_counts(
    index: &Index,
    by: &By,
    part: &Part,
    found: impl IntoIterator<Item = (String, usize)>,
    counts: &mut Counts,
) {
    let masked = !index.show_secrets && is_of_secrets(&by.index, &part.resource);
    for (value, count) in found {
        if member_reader::is_shown(by, &value) {
            let value = if masked { MASK.to_owned() } else { value };
            *counts.entry((part.cluster, value)).or_default() += count;
        }
    }
}

/// Groups the objects as they arrive.
async fn grouped(
    session: &Session,
    index: &Index,
    reader: &Arc<MemberReader>,
    reporter: &Reporter,
    walk: &mut Walk<'_>,
    stats: &mut Stats,
) -> anyhow::Result<Groups<(usize, Key)>> {
    let groups = PartGroups::default();
    let mut number = 0;
    while let Some(planned) = walk.next() {
        let part = &planned.part;
        let source = source(session, index, part, reporter).await;
        stats.add_source(&source);
        let (scope, resource) = (part.cluster, Arc::clone(&part.resource));
        let receiver =
            GroupingReceiver::new(Arc::clone(reader), number, scope, resource, Arc::clone(&groups));
        let store = ListStore(receiver);
        if let Err(error) = list(session, index, part, source, store, reporter).await {
            groups.lock().unwrap_or_else(PoisonError::into_inner).remove_where(|(part, _)| *part == number);
            walk.failed(planned, error).await?;
        }
        number += 1;
    }
    let mut groups = groups.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(std::mem::take(&mut groups))
}

/// Lists a part once. Shows a running count meanwhile, if stderr is a terminal.
async fn list(
    session: &Session,
    index: &Index,
    part: &Part,
    source: PartSource,
    store: ListStore<GroupingReceiver>,
    reporter: &Reporter,
) -> anyhow::Result<()> {
    let source = source.one_shot();
    let (attempts, observer) = (source.attempts(), reporter.one_shot_observer(part));
    let received = source.received_count();
    let options = reflector_options(&index.selection, &source, Some(Arc::clone(&observer)))
        .pages_first(session.may_read_ahead(part));
    let reflector = Reflector::new(source, Arc::new(store), options);
    // Boxed because the future is large.
    let listed = Box::pin(attempts.repeat(&observer, async || reflector.list_once().await));
    tokio::select! {
        listed = listed => {
            listed.map_err(|error| part.with_request_context(&index.selection, error))?;
        }
        never = show_count(&received, reporter.messages().count(&part.title())) => match never {},
    }
    match part.not_found().filter(|_| received.count() == 0) {
        Some(error) => Err(error.into()),
        None => Ok(()),
    }
}

/// Divides the conditions on the values of a part that has been requested.
fn conditions(session: &Session, index: &Index, part: &Part) -> ServerConditions {
    ServerConditions::divide(part, &index.by, &index.selection.filter, &session.known_fields(part))
}

/// Returns the source of a part.
async fn source(session: &Session, index: &Index, part: &Part, reporter: &Reporter) -> PartSource {
    let known = session.load_fields(part, &index.by, &index.selection.filter).await;
    let conditions = ServerConditions::divide(part, &index.by, &index.selection.filter, &known);
    let selection = conditions.selection(&index.selection);
    let (print, filter) = (Print::default(), Filter::default());
    let representation = needs::with_filter(needs::index(index), conditions.filter.needs());
    let source = session.source(part, &selection, &print, representation, filter);
    reporter.source(part, &index.selection, source)
}
