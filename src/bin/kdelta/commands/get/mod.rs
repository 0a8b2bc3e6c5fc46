//! `kdelta get`: the current objects, printed as kubectl prints them.
//!
//! Without `--by`, a reflector lists once and writes directly to the printer, so no object is kept. With `--by`, an
//! informer runs until it has synced, and its index is queried.

mod files;
mod output_errors;
mod printing_thread;
mod raw;
mod sink;
mod subresource;

pub(crate) use raw::raw;

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Arc;

use anyhow::Context;
use kdelta::listwatch::Error;
use kdelta::object::{Key, Object, ResourceVersion};
use kdelta::reflector::Reflector;
use kdelta::store::{Indexer, StoreError};
use kdelta::wire::{IncludeObject, Representation};

use self::output_errors::{ContextNotShown, print_failure};
use self::sink::{ListingPrinter, ListingSink};
use super::empty_result;
use super::failure_action::is_missing;
use super::list_store::ListStore;
use super::needs;
use super::query_plan::{self, PartUse, part_plan};
use super::reporter::Reporter;
use super::stats::Stats;
use super::synced::{show_count, synced_indexer};
use super::walk::{Walk, with_similar_names};
use crate::exit::{ExitCode, Usage};
use crate::output::{Count, OrderedListing};
use crate::session::{
    Filter, Part, PartSource, PlannedPart, RequestMode, ServerConditions, Session, indexers,
    reflector_options,
};
use crate::settings::{self, By, Condition, FilterNeeds, Format, Get, ObjectContent, PlanForm, TableStyle};

/// Prints the selected objects. Errors of single parts are reported at the end.
pub(crate) async fn run<W: Write + Send + 'static>(
    session: &Session,
    get: &Get,
    reporter: &Reporter,
    stdout: settings::OutputStream,
    out: W,
) -> anyhow::Result<ExitCode> {
    if let Some(files) = &get.files {
        return files::run(session, get, files, reporter, stdout, out).await;
    }
    if session.has_several_contexts()
        && let Some(format) = get.print.format.of_one_context()
    {
        return Err(anyhow::Error::new(ContextNotShown(format)).context(Usage));
    }
    if let Some(form) = get.explain {
        return explain(session, get, form, reporter, stdout, out).await;
    }
    let mut stats = Stats::new(get.stats);
    let mut walk = Walk::start(session, &get.selection, get.ignore_not_found, reporter).await?;
    let listing = walk.with_extent(&get.selection, |extent| extent.listing(&get.print, stdout))?;
    let listing = OrderedListing::new(get.sort_by.as_deref(), listing)
        .map_err(|error| anyhow::Error::new(error).context(Usage))?;
    let printer = Arc::new(ListingPrinter::new(listing, session.now(), reporter, out));
    let is_only = walk.parts().len() == 1;
    while let Some(planned) = walk.next() {
        let done = print_part(session, get, &planned, is_only, reporter, &printer, &mut stats).await;
        // Without a reader, the command ends whatever the server returns.
        printer.check().map_err(print_failure)?;
        if let Err(error) = done {
            walk.failed(planned, error).await?;
        }
    }
    // As in kubectl, nothing is printed about names that may be missing and are, not even an empty list.
    let prints_empty = walk.is_complete() && !get.ignore_not_found;
    let count = printer.finish(prints_empty).map_err(print_failure)?;
    stats.report(session, reporter.messages());
    empty_result::report_expression_errors(session, reporter);
    if walk.is_complete() && reports_empty(get, &walk.parts()) {
        match count {
            0 => report_empty(session, get, reporter, &walk.parts()).await,
            _ => empty_result::report_unmatched(session, reporter, &walk.parts()),
        }
    }
    let code = empty_result::exit_code(count, get.fail_if_empty, walk.end()?);
    Ok(if printer.has_failures() && code == ExitCode::Ok { ExitCode::Error } else { code })
}

/// Prints the objects of one part. `is_only` is whether there is no other part.
async fn print_part<W: Write + Send + 'static>(
    session: &Session,
    get: &Get,
    planned: &PlannedPart,
    is_only: bool,
    reporter: &Reporter,
    printer: &Arc<ListingPrinter<W>>,
    stats: &mut Stats,
) -> anyhow::Result<()> {
    let part = &planned.part;
    let known = session.load_fields(part, &get.by, &get.selection.filter).await;
    let conditions = ServerConditions::divide(part, &get.by, &get.selection.filter, &known);
    let source = source(session, get, part, &conditions);
    let source = reporter.source(part, &get.selection, source);
    stats.add_source(&source);
    match &part.name {
        _ if !conditions.local.is_empty() => {
            query_index(session, get, &conditions.local, part, source, reporter, printer, stats).await
        }
        Some(name) => match get_one(get, part, &source, name, reporter, printer).await {
            // A namespace from a pattern exists.
            Err(error) if !planned.open_namespace => {
                let error = session.with_missing_namespace(part, error).await;
                Err(with_similar_names(session, reporter, part, error).await)
            }
            done => done.map_err(Into::into),
        },
        None => {
            // The rows of a table wait for its widest cell; with several tables, each waits for the next.
            let waits =
                matches!(get.print.format, Format::Table { style: TableStyle::Aligned, .. }) && is_only;
            let count = waits.then(|| reporter.messages().count(&part.title()));
            list_all(session, get, part, source, count, reporter, printer).await
        }
    }
}

/// Whether an empty result is reported: only people read tables, and `--ignore-not-found` asks for silence.
fn reports_empty(get: &Get, parts: &[PlannedPart]) -> bool {
    let is_table = matches!(get.print.format, Format::Table { .. });
    let by_name = parts.iter().any(|planned| planned.part.name.is_some());
    let is_filtered = !get.by.is_empty() || !get.selection.filter.is_empty();
    is_table && !get.ignore_not_found && (is_filtered || !by_name)
}

async fn report_empty(session: &Session, get: &Get, reporter: &Reporter, parts: &[PlannedPart]) {
    let default = session.cluster().namespace();
    match empty_result::no_names_found(&get.selection.namespaces, default).filter(|_| get.print.name_age) {
        Some(text) => empty_result::report_text(session, reporter, parts, &text).await,
        None => empty_result::report(session, &get.selection, reporter, parts).await,
    }
    let is_empty =
        |by: &&By| matches!(&by.condition, Condition::AnyOf(values) if values.iter().any(String::is_empty));
    if let Some(By { index, .. }) = get.by.iter().find(is_empty) {
        let hint = format!(
            "{index}= selects objects with an empty value; `kdelta index TYPE --by {index}` lists the values"
        );
        reporter.messages().hint(&hint);
    }
}

/// Returns the source of a part. The conditions of `--by` that no server evaluates are applied by the indexer and not by a
/// filter; a named object is never filtered.
fn source(session: &Session, get: &Get, part: &Part, conditions: &ServerConditions) -> PartSource {
    let indices = conditions.local.iter().map(|by| &by.index);
    let representation = match &get.sort_by {
        Some(sort_by) => needs::sorted(&get.print, sort_by, indices),
        None => needs::representation(&get.print, indices),
    };
    let representation = match part.patterns {
        Some(_) => needs::with_filter(representation, FilterNeeds::content(ObjectContent::Name)),
        None => representation,
    };
    let representation = needs::with_filter(representation, conditions.filter.needs());
    let representation = match subresource::representation(get, representation) {
        // Local conditions need an informer, whose watch delivers rows and objects together.
        Representation::Table(IncludeObject::Object)
            if part.name.is_none() && conditions.local.is_empty() =>
        {
            Representation::RowsAndObjects
        }
        other => other,
    };
    let selection = conditions.selection(&get.selection);
    let source = session.source(part, &selection, &get.print, representation, Filter::default());
    source.with_subresource(get.subresource.clone())
}

/// Prints the plan.
async fn explain(
    session: &Session,
    get: &Get,
    form: PlanForm,
    reporter: &Reporter,
    stdout: settings::OutputStream,
    out: impl Write,
) -> anyhow::Result<ExitCode> {
    let plan_of = async |part: &Part| {
        let known = session.load_fields(part, &get.by, &get.selection.filter).await;
        let conditions = ServerConditions::divide(part, &get.by, &get.selection.filter, &known);
        let source = source(session, get, part, &conditions);
        let (mode, kept) = match &part.name {
            _ if !conditions.local.is_empty() => {
                (RequestMode::Synced, "the objects, compressed, in an index")
            }
            Some(name) => (RequestMode::Named(name.to_string()), "nothing after it is printed"),
            None if get.sort_by.is_some() => (RequestMode::List, "the objects, until they are sorted"),
            None => (RequestMode::List, "nothing after it is printed"),
        };
        let pages_first = match mode {
            RequestMode::Synced => session.may_list_in_pages(part, &get.selection, &source).await,
            _ => session.may_read_ahead(part),
        };
        let options = reflector_options(&get.selection, &source, None).pages_first(pages_first);
        let reasons = needs::reasons(
            &get.print,
            &conditions.local,
            &conditions.filter,
            get.sort_by.as_deref(),
            source.representation(),
        );
        let (selection, conditions, kept) = (&get.selection, &conditions, kept.to_owned());
        part_plan(PartUse { part, selection, conditions, mode, reasons, kept }, &source, &options)
    };
    query_plan::explain(session, &get.selection, form, reporter, stdout, out, plan_of).await
}

/// Prints one object by name.
async fn get_one<W: Write>(
    get: &Get,
    part: &Part,
    source: &PartSource,
    name: &str,
    reporter: &Reporter,
    printer: &ListingPrinter<W>,
) -> Result<(), Error> {
    let (attempts, observer) = (source.attempts(), reporter.one_shot_observer(part));
    match attempts.repeat(&observer, async || source.get_named(name).await).await {
        Ok(object) => {
            if source.selects(&object)? {
                printer.object(&subresource::printed_part(get, part, object.type_meta()), &object);
            }
            printer.listed(part);
        }
        Err(error)
            if get.ignore_not_found && (is_missing(&error) || subresource::is_missing(get, &error)) => {}
        Err(error) => return Err(error),
    }
    Ok(())
}

/// Prints a collection while it is being received, with a running count if the output has to wait.
async fn list_all<W: Write + Send + 'static>(
    session: &Session,
    get: &Get,
    part: &Part,
    source: PartSource,
    count: Option<Count>,
    reporter: &Reporter,
    printer: &Arc<ListingPrinter<W>>,
) -> anyhow::Result<()> {
    let source = source.one_shot();
    let (received, attempts, observer) =
        (source.received_count(), source.attempts(), reporter.one_shot_observer(part));
    let counting = async {
        match count {
            Some(count) => show_count(&received, count).await,
            None => std::future::pending().await,
        }
    };
    let pages_first = session.may_read_ahead(part);
    let options =
        reflector_options(&get.selection, &source, Some(Arc::clone(&observer))).pages_first(pages_first);
    let store = Arc::new(ListStore(ListingSink::new(Arc::clone(printer), part.clone())));
    let reflector = Reflector::new(source, Arc::clone(&store), options);
    // Boxed because the future is large.
    let listing = Box::pin(attempts.repeat(&observer, async || reflector.list_once().await));
    tokio::select! {
        listed = listing => listed.map_err(|error| part.with_request_context(&get.selection, error))?,
        () = printer.failed() => ResourceVersion::UNSET,
        never = counting => match never {},
    };
    store.0.finish();
    printer.listed(part);
    Ok(())
}

/// Prints the matching objects of the index in key order, which is the server's order.
#[expect(clippy::too_many_arguments, reason = "the parts of one query")]
async fn query_index<W: Write>(
    session: &Session,
    get: &Get,
    by: &[By],
    part: &Part,
    source: PartSource,
    reporter: &Reporter,
    printer: &ListingPrinter<W>,
    stats: &mut Stats,
) -> anyhow::Result<()> {
    let indexers = indexers(by, session.expression_errors()).context(Usage)?;
    let indexer = match synced_indexer(session, source, indexers, &get.selection, part, reporter).await {
        Err(error) if get.ignore_not_found && part.name.is_some() && is_missing(&error) => return Ok(()),
        indexer => indexer?,
    };
    stats.add_memory(&*indexer);
    for object in matching_objects(&*indexer, by)?.values() {
        printer.object(part, object);
    }
    printer.listed(part);
    Ok(())
}

/// Returns the objects that match all conditions.
fn matching_objects(indexer: &dyn Indexer, by: &[By]) -> Result<BTreeMap<Key, Arc<Object>>, StoreError> {
    let mut found: Option<BTreeMap<Key, Arc<Object>>> = None;
    for by in by {
        let mut matching = matching_one(indexer, by)?;
        if let Some(before) = &found {
            matching.retain(|key, _| before.contains_key(key));
        }
        found = Some(matching);
    }
    Ok(found.unwrap_or_default())
}

/// Returns the objects that match a condition: those of its values, or all others.
fn matching_one(indexer: &dyn Indexer, by: &By) -> Result<BTreeMap<Key, Arc<Object>>, StoreError> {
    let name = by.index.to_string();
    let keyed = |object: Arc<Object>| (object.key().clone(), object);
    let having = |values: &[String]| {
        let mut matching = BTreeMap::new();
        for value in values {
            matching.extend(indexer.by_index(&name, value)?.into_iter().map(keyed));
        }
        Ok::<_, StoreError>(matching)
    };
    let others = |without: BTreeMap<Key, Arc<Object>>| -> BTreeMap<Key, Arc<Object>> {
        let objects = indexer.list().into_iter().filter(|object| !without.contains_key(object.key()));
        objects.map(keyed).collect()
    };
    Ok(match &by.condition {
        Condition::AnyOf(values) => having(values)?,
        Condition::NoneOf(values) => others(having(values)?),
        Condition::Exists => having(&indexer.list_index_func_values(&name))?,
        Condition::Absent => others(having(&indexer.list_index_func_values(&name))?),
    })
}
