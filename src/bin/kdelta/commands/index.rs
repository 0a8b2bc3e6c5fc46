//! `kdelta index`: the values of an index with the number of objects of each.

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
use crate::output::{Column, columns};
use crate::session::{Filter, Session, index_function, needs_body};
use crate::settings::{self, Index, IndexName, Print};
use crate::view::{MASK, is_secret_at};

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
    // By context in the requested order, then by value.
    let mut counts: BTreeMap<(usize, Arc<str>, String), usize> = BTreeMap::new();
    let mut objects = 0;
    let mut stats = Stats::new(index.stats);
    let mut walk = Walk::start(session, &index.selection, false, reporter).await?;
    while let Some(planned) = walk.next() {
        let part = &planned.part;
        let representation = needs::keys_and(needs_body(&index.by));
        let source = session
            .source(part, &index.selection, &Print::default(), representation, Filter::default())
            .context(Usage)?;
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
        let masked = !index.show_secrets && is_of_secrets(&index.by, &part.resource);
        for (value, count) in indexer.index_counts(&name)? {
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
        let left_out = indexer.index_errors(&name);
        if left_out > 0 {
            reporter.messages().warning(&format!("{left_out} {} could not be indexed", part.title()));
        }
    }
    stats.report(session, reporter.messages());
    let parts = walk.parts();
    // Incomplete counts are misleading, so failures are reported first.
    let end = walk.end()?;
    if counts.is_empty() && end == ExitCode::Ok {
        if objects == 0 {
            empty_result::report(session, reporter, &parts).await;
        } else {
            let such = if index.values.is_some() { "such " } else { "" };
            reporter.messages().notice(&format!("No {such}values of {name} found in {objects} objects"));
        }
    }
    let code = empty_result::exit_code(counts.len(), index.fail_if_empty, end);
    let several = session.has_several_contexts();
    let rows = counts.into_iter().map(|((_, context, value), count)| {
        let context = several.then(|| context.to_string());
        context.into_iter().chain([value, count.to_string()]).collect()
    });
    let meaning = meaning(&index.by).filter(|_| stdout.colour);
    let values = match &meaning {
        Some(meaning) => Column::Coloured { heading: "VALUE", meaning },
        None => Column::Text("VALUE"),
    };
    let heads = [Column::Text("CONTEXT"), values, Column::Number("COUNT")];
    columns(&heads[usize::from(!several)..], rows, index.headers, &mut out)?;
    Ok(code)
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
