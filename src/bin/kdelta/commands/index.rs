//! `kdelta index`: the values of an index, and how many objects each holds.

use std::collections::BTreeMap;
use std::io::Write;

use anyhow::Context;
use kdelta::store::Indexers;

use super::empty;
use super::needs;
use super::synced::synced_indexer;
use super::watched::Watched;
use crate::exit::{ExitCode, Usage};
use crate::output::{Column, columns};
use crate::session::{Filter, Session, function, needs_body};
use crate::settings::{Index, Print};

/// Fills the index and prints what it holds. Of several parts the counts are added up.
pub(crate) async fn run(
    session: &Session,
    index: &Index,
    watched: &Watched,
    mut out: impl Write,
) -> anyhow::Result<ExitCode> {
    let name = index.by.to_string();
    let function = function(&index.by).context(Usage)?;
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut objects = 0;
    let parts = session.parts(&index.selection).await?;
    for part in &parts {
        let representation = needs::keys_and(needs_body(&index.by));
        let source = session
            .source(part, &index.selection, &Print::default(), representation, Filter::default())
            .context(Usage)?;
        let source = watched.source(part, source);
        let indexers = Indexers::from([(name.clone(), function.clone())]);
        let indexer = synced_indexer(source, indexers, &index.selection, part, watched).await?;
        objects += indexer.list_keys().len();
        for (value, count) in indexer.index_counts(&name)? {
            *counts.entry(value).or_default() += count;
        }
        let left_out = indexer.index_errors(&name);
        if left_out > 0 {
            watched.messages().warning(&format!("{left_out} {} could not be indexed", part.title()));
        }
    }
    if let Some(values) = &index.values {
        counts.retain(|value, _| values.contains(value));
    }
    if counts.is_empty() && objects == 0 {
        empty::tell(session, watched, &parts).await;
    } else if counts.is_empty() {
        let such = if index.values.is_some() { "such " } else { "" };
        watched.messages().notice(&format!("No {such}values of {name} found in {objects} objects"));
    }
    let code = empty::code(counts.len(), index.fail_if_empty);
    let rows = counts.into_iter().map(|(value, count)| vec![value, count.to_string()]);
    columns(&[Column::Text("VALUE"), Column::Number("COUNT")], rows, index.headers, &mut out)?;
    Ok(code)
}
