//! `kdelta index`: the values of an index with the number of objects of each.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Arc;

use anyhow::Context;
use kdelta::object::{ApiResource, FieldPath};
use kdelta::store::Indexers;

use super::empty_result;
use super::needs;
use super::reporter::Reporter;
use super::stats::Stats;
use super::synced::synced_indexer;
use super::walk::Walk;
use crate::exit::{ExitCode, Usage};
use crate::output::{CountFormat, DelimitedFormat, TypedFormat, ValueCount, terminal_columns, write_counts};
use crate::session::{Filter, Part, Session, index_function, needs_body};
use crate::settings::{self, Index, IndexFormat, IndexName, Print};
use crate::view::{MASK, is_secret_at};

/// The width of a terminal that does not report one.
const DEFAULT_WIDTH: usize = 80;

/// The number of objects of each value, by context in the requested order, then by value.
type Counts = BTreeMap<(usize, Arc<str>, String), usize>;

/// Fills the index and prints its values. Counts of several parts of a context are added. Secret values are masked
/// unless requested.
pub(crate) async fn run(
    session: &Session,
    index: &Index,
    reporter: &Reporter,
    stdout: settings::OutputStream,
    mut out: impl Write,
) -> anyhow::Result<ExitCode> {
    let name = index.by.to_string();
    let function = index_function(&index.by).context(Usage)?;
    let mut counts = Counts::new();
    let mut objects = 0;
    let mut stats = Stats::new(index.stats);
    let mut walk = Walk::start(session, &index.selection, false, reporter).await?;
    while let Some(planned) = walk.next() {
        let part = &planned.part;
        let representation = needs::keys_and(needs_body(&index.by));
        let print = Print::default();
        let source = session.source(part, &index.selection, &print, representation, Filter::default());
        let source = reporter.source(part, source);
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
        add_counts(index, part, indexer.index_counts(&name)?, &mut counts);
        let left_out = indexer.index_errors(&name);
        if left_out > 0 {
            reporter.messages().warning(&format!("{left_out} {} could not be indexed", part.title()));
        }
    }
    stats.report(session, reporter.messages());
    let parts = walk.parts();
    // Incomplete counts are misleading, so failures are reported first.
    let end = walk.end()?;
    if !counts.is_empty() && end == ExitCode::Ok {
        empty_result::report_unmatched(session, reporter, &parts);
    }
    if counts.is_empty() && end == ExitCode::Ok {
        if objects == 0 {
            empty_result::report(session, &index.selection, reporter, &parts).await;
        } else {
            let such = if index.values.is_some() { "such " } else { "" };
            reporter.messages().notice(&format!("No {such}values of {name} found in {objects} objects"));
        }
    }
    let code = empty_result::exit_code(counts.len(), index.fail_if_empty, end);
    let rows = selected(index, counts, session.has_several_contexts());
    write_counts(&name, &rows, &count_format(index, stdout), index.headers, &mut out)?;
    Ok(code)
}

/// Adds the counts of a part.
fn add_counts(
    index: &Index,
    part: &Part,
    found: impl IntoIterator<Item = (String, usize)>,
    counts: &mut Counts,
) {
    let masked = !index.show_secrets && is_of_secrets(&index.by, &part.resource);
    for (value, count) in found {
        if index.values.as_ref().is_some_and(|values| !values.contains(&value)) {
            continue;
        }
        // Each owner has a second value, its UID, which is shown only if it is requested.
        if index.values.is_none() && index.by == IndexName::Owner && !value.contains('/') {
            continue;
        }
        let value = if masked { MASK.to_owned() } else { value };
        *counts.entry((part.cluster, Arc::clone(&part.context), value)).or_default() += count;
    }
}

/// Returns the requested counts in the requested order.
fn selected(index: &Index, counts: Counts, several_contexts: bool) -> Vec<ValueCount> {
    let mut rows: Vec<(usize, ValueCount)> = Vec::with_capacity(counts.len());
    for ((_, context, value), count) in counts {
        let context = several_contexts.then(|| context.to_string());
        rows.push((rows.len(), ValueCount { context, value, count }));
    }
    if index.largest_first || index.top.is_some() {
        // Stable: equal counts stay in the order of their values.
        rows.sort_by_key(|(_, row)| Reverse(row.count));
        rows.truncate(index.top.unwrap_or(usize::MAX));
    }
    if !index.largest_first {
        rows.sort_by_key(|(place, _)| *place);
    }
    rows.into_iter().map(|(_, row)| row).collect()
}

fn count_format(index: &Index, stdout: settings::OutputStream) -> CountFormat {
    let documents = |format| CountFormat::Documents { format, for_terminal: stdout.is_terminal };
    match index.format {
        IndexFormat::Table => CountFormat::Table {
            bars_to: stdout.is_terminal.then(|| terminal_columns().unwrap_or(DEFAULT_WIDTH)),
            meaning: meaning(&index.by).filter(|_| stdout.colour),
        },
        IndexFormat::Json => documents(TypedFormat::Json),
        IndexFormat::Yaml => documents(TypedFormat::Yaml),
        IndexFormat::Kyaml => documents(TypedFormat::Kyaml),
        IndexFormat::Name => CountFormat::Names,
        IndexFormat::Csv => CountFormat::Delimited(DelimitedFormat::Csv),
        IndexFormat::Markdown => CountFormat::Delimited(DelimitedFormat::Markdown),
    }
}

/// Returns the heading of a column with the same values, such as PHASE for the field `status.phase`.
fn meaning(index: &IndexName) -> Option<String> {
    match index {
        IndexName::Field(path) => path.rsplit('.').next().map(str::to_uppercase),
        IndexName::Namespace
        | IndexName::Name
        | IndexName::Label(_)
        | IndexName::Annotation(_)
        | IndexName::Owner
        | IndexName::Node
        | IndexName::Image => None,
    }
}

/// Whether the values of an index over that resource are secret.
pub(super) fn is_of_secrets(index: &IndexName, resource: &ApiResource) -> bool {
    match index {
        IndexName::Annotation(key) => {
            is_secret_at(resource, &FieldPath::of_names(["metadata", "annotations", key]))
        }
        // A path that can't be parsed indexes nothing.
        IndexName::Field(path) => FieldPath::parse(path).is_ok_and(|path| is_secret_at(resource, &path)),
        IndexName::Namespace
        | IndexName::Name
        | IndexName::Label(_)
        | IndexName::Owner
        | IndexName::Node
        | IndexName::Image => false,
    }
}
