//! `kdelta get`: what is there now, printed as kubectl prints it.
//!
//! A question that needs no index is a reflector that lists once, straight into the printer: no object is kept. One
//! with `--by` is an informer that runs until it has synced and then answers from its index.

mod sink;

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Arc;

use anyhow::Context;
use kdelta::object::{Key, Object, ResourceVersion};
use kdelta::reflector::{Reflector, ReflectorOptions};
use kdelta::store::{Indexer, StoreError};

use self::sink::{Printer, Sink};
use super::empty;
use super::needs;
use super::stats::Stats;
use super::synced::{show, synced_indexer};
use super::walk::{Walk, is_missing};
use super::watched::Watched;
use crate::exit::{ExitCode, Usage};
use crate::output::Count;
use crate::session::{Filter, Part, PartSource, PlannedPart, Session, indexers, reflector_options};
use crate::settings::{self, By, Format, Get};

/// Prints what is asked for. Parts that fail are told at the end; the others are printed all the same.
pub(crate) async fn run<W: Write + Send + 'static>(
    session: &Session,
    get: &Get,
    watched: &Watched,
    stdout: settings::Stream,
    out: W,
) -> anyhow::Result<ExitCode> {
    if session.has_several_contexts()
        && let Some(format) = get.print.format.of_one_context()
    {
        return Err(anyhow::Error::new(NoContext(format)).context(Usage));
    }
    let mut stats = Stats::new(get.stats);
    let mut walk = Walk::start(session, &get.selection, get.ignore_not_found, watched).await?;
    let listing = walk.with_extent(&get.selection, |extent| extent.listing(&get.print, stdout));
    let printer = Arc::new(Printer::new(listing, out));
    let is_only = walk.parts().len() == 1;
    while let Some(planned) = walk.next() {
        let part = &planned.part;
        let source = watched.source(part, source(session, get, part)?);
        stats.listen(&source);
        let done = match &part.name {
            _ if !get.by.is_empty() => {
                indexed(session, get, part, source, watched, &printer, &mut stats).await
            }
            Some(name) => one(get, part, &source, name, watched, &printer).await,
            None => {
                // The rows of a table wait for its widest cell, and of several tables the last for the next.
                let waits = matches!(get.print.format, Format::Table { .. }) && is_only;
                let count = waits.then(|| watched.messages().count(&part.title()));
                all(session, get, part, source, count, watched, &printer).await
            }
        };
        // A reader who is gone ends it, whatever the server may still say.
        printer.check()?;
        if let Err(error) = done {
            walk.failed(planned, error).await?;
        }
    }
    let count = printer.finish(walk.is_complete())?;
    stats.tell(session, watched.messages());
    if count == 0 && walk.is_complete() && prints_nothing(get, &walk.parts()) {
        empty::tell(session, watched, &walk.parts()).await;
    }
    Ok(empty::code(count, get.fail_if_empty, walk.end()?))
}

/// kubectl's formats have no place for a context, and an object that is taken for one of another cluster does harm.
#[derive(Debug, thiserror::Error)]
#[error(
    "-o {0} can't say which context an object is of, and several are asked for: give one, or take the lines of `watch -o json --until-synced`"
)]
struct NoContext(&'static str);

/// Whether an empty answer has to be said: only a table is read by people, and who ignores what is not found does not
/// want to hear of it.
fn prints_nothing(get: &Get, parts: &[PlannedPart]) -> bool {
    let is_table = matches!(get.print.format, Format::Table { .. });
    let by_name = parts.iter().any(|planned| planned.part.name.is_some());
    is_table && !get.ignore_not_found && (!get.by.is_empty() || !by_name)
}

/// The source of a part. An index is asked of the Indexer and not of a filter, but one object is no index's business.
fn source(session: &Session, get: &Get, part: &Part) -> anyhow::Result<PartSource> {
    let representation = needs::representation(&get.print, get.by.iter().map(|by| &by.index));
    session.source(part, &get.selection, &get.print, representation, Filter::default()).context(Usage)
}

/// One object by its name.
async fn one<W: Write>(
    get: &Get,
    part: &Part,
    source: &PartSource,
    name: &str,
    watched: &Watched,
    printer: &Printer<W>,
) -> anyhow::Result<()> {
    let (tries, observer) = (source.tries(), watched.one_shot_observer(part));
    match tries.repeat(&observer, async || source.get_named(name).await).await {
        Ok(object) => printer.object(part, &object),
        Err(error) if get.ignore_not_found && is_missing(&error) => {}
        Err(error) => return Err(error.into()),
    }
    Ok(())
}

/// The whole collection, printed as it comes in, or counted meanwhile.
async fn all<W: Write + Send + 'static>(
    session: &Session,
    get: &Get,
    part: &Part,
    source: PartSource,
    count: Option<Count>,
    watched: &Watched,
    printer: &Arc<Printer<W>>,
) -> anyhow::Result<()> {
    let source = source.one_shot();
    let (arrived, tries, observer) =
        (source.received_count(), source.tries(), watched.one_shot_observer(part));
    let counting = async {
        match count {
            Some(count) => show(&arrived, count).await,
            None => std::future::pending().await,
        }
    };
    let pages_first = session.may_read_ahead(part);
    let options = ReflectorOptions {
        pages_first,
        ..reflector_options(&get.selection, &source, Some(Arc::clone(&observer)))
    };
    let sink = Sink::new(Arc::clone(printer), part.clone());
    let reflector = Reflector::new(source, Arc::new(sink), options);
    // Boxed: it is large, and is held by all that waits for it.
    let listing = Box::pin(tries.repeat(&observer, async || reflector.list_once().await));
    tokio::select! {
        listed = listing => listed.map_err(|error| part.with_request_context(&get.selection, error))?,
        () = printer.failed() => ResourceVersion::UNSET,
        () = counting => ResourceVersion::UNSET,
    };
    Ok(())
}

/// What the index holds, in the order of the keys, which is that of the server.
async fn indexed<W: Write>(
    session: &Session,
    get: &Get,
    part: &Part,
    source: PartSource,
    watched: &Watched,
    printer: &Printer<W>,
    stats: &mut Stats,
) -> anyhow::Result<()> {
    let indexers = indexers(&get.by).context(Usage)?;
    let indexer = match synced_indexer(session, source, indexers, &get.selection, part, watched).await {
        Err(error) if get.ignore_not_found && part.name.is_some() && is_missing(&error) => return Ok(()),
        indexer => indexer?,
    };
    stats.hold(&*indexer);
    for object in found(&*indexer, &get.by)?.values() {
        printer.object(part, object);
    }
    Ok(())
}

/// The objects that every question finds: a union over the values of one, an intersection over the questions.
fn found(indexer: &dyn Indexer, by: &[By]) -> Result<BTreeMap<Key, Arc<Object>>, StoreError> {
    let mut found: Option<BTreeMap<Key, Arc<Object>>> = None;
    for by in by {
        let mut these = BTreeMap::new();
        for value in &by.values {
            let objects = indexer.by_index(&by.index.to_string(), value)?;
            these.extend(objects.into_iter().map(|object| (object.key().clone(), object)));
        }
        if let Some(before) = &found {
            these.retain(|key, _| before.contains_key(key));
        }
        found = Some(these);
    }
    Ok(found.unwrap_or_default())
}
