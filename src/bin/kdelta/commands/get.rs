//! `kdelta get`: what is there now, printed as kubectl prints it.
//!
//! A question that needs no index is a reflector that lists once, straight into the printer: no object is kept. One
//! with `--by` is an informer that runs until it has synced and then answers from its index.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::Context;
use jiff::Timestamp;
use kdelta::object::{Key, Object, Origin, ResourceVersion};
use kdelta::reflector::{Reflector, ReflectorStore};
use kdelta::store::{Indexer, StoreError};
use tokio::sync::Notify;

use super::empty;
use super::needs;
use super::stats::Stats;
use super::synced::{show, synced_indexer};
use super::walk::{Walk, is_missing};
use super::watched::Watched;
use crate::exit::{ExitCode, Usage};
use crate::output::{Count, Listing};
use crate::session::{Filter, Part, Planned, Session, Source, indexers, reflector_options};
use crate::settings::{self, By, Format, Get};
use crate::view::Age;

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
            _ if !get.by.is_empty() => indexed(get, part, source, watched, &printer, &mut stats).await,
            Some(name) => one(get, part, &source, name, &printer).await,
            None => {
                // The rows of a table wait for its widest cell, and of several tables the last for the next.
                let waits = matches!(get.print.format, Format::Table { .. }) && is_only;
                let count = waits.then(|| watched.messages().count(&part.title()));
                all(get, part, source, count, &printer).await
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
fn prints_nothing(get: &Get, parts: &[Planned]) -> bool {
    let is_table = matches!(get.print.format, Format::Table { .. });
    let by_name = parts.iter().any(|planned| planned.part.name.is_some());
    is_table && !get.ignore_not_found && (!get.by.is_empty() || !by_name)
}

/// The source of a part. An index is asked of the Indexer and not of a filter, but one object is no index's business.
fn source(session: &Session, get: &Get, part: &Part) -> anyhow::Result<Source> {
    let representation = needs::representation(&get.print, get.by.iter().map(|by| &by.index));
    session.source(part, &get.selection, &get.print, representation, Filter::default()).context(Usage)
}

/// One object by its name.
async fn one<W: Write>(
    get: &Get,
    part: &Part,
    source: &Source,
    name: &str,
    printer: &Printer<W>,
) -> anyhow::Result<()> {
    match source.get_named(name).await {
        Ok(object) => printer.object(part, &object),
        Err(error) if get.ignore_not_found && is_missing(&error) => {}
        Err(error) => return Err(error.into()),
    }
    Ok(())
}

/// The whole collection, printed as it comes in, or counted meanwhile.
async fn all<W: Write + Send + 'static>(
    get: &Get,
    part: &Part,
    source: Source,
    count: Option<Count>,
    printer: &Arc<Printer<W>>,
) -> anyhow::Result<()> {
    let arrived = source.arrived();
    let counting = async {
        match count {
            Some(count) => show(&arrived, count).await,
            None => std::future::pending().await,
        }
    };
    let options = reflector_options(&get.selection, &source, None);
    let sink = Sink { printer: Arc::clone(printer), part: part.clone(), progress: Mutex::default() };
    let reflector = Reflector::new(source, Arc::new(sink), options);
    // Boxed: it is large, and is held by all that waits for it.
    let listing = Box::pin(reflector.list_once());
    tokio::select! {
        listed = listing => listed.map_err(|error| part.asked_for(&get.selection, error))?,
        () = printer.failed.notified() => ResourceVersion::UNSET,
        () = counting => ResourceVersion::UNSET,
    };
    Ok(())
}

/// What the index holds, in the order of the keys, which is that of the server.
async fn indexed<W: Write>(
    get: &Get,
    part: &Part,
    source: Source,
    watched: &Watched,
    printer: &Printer<W>,
    stats: &mut Stats,
) -> anyhow::Result<()> {
    let indexers = indexers(&get.by).context(Usage)?;
    let indexer = match synced_indexer(source, indexers, &get.selection, part, watched).await {
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

/// The listing, shared between the command and the sink of its reflector.
struct Printer<W> {
    /// A std mutex: held for the writing of one object, never across an await, and used by one task at a time.
    state: Mutex<State<W>>,
    /// Wakes who waits for a list that nobody reads any more.
    failed: Notify,
}

struct State<W> {
    /// Taken when it is finished.
    listing: Option<Listing>,
    now: Timestamp,
    printed: usize,
    error: Option<io::Error>,
    out: W,
}

impl<W: Write> Printer<W> {
    fn new(listing: Listing, out: W) -> Self {
        let state = State { listing: Some(listing), now: Timestamp::now(), printed: 0, error: None, out };
        Self { state: Mutex::new(state), failed: Notify::new() }
    }

    fn lock(&self) -> MutexGuard<'_, State<W>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes an object; the first error is kept and nothing is written after it.
    fn object(&self, part: &Part, object: &Object) {
        let mut state = self.lock();
        let State { listing, now, printed, error, out } = &mut *state;
        let (Some(listing), None) = (listing, &error) else { return };
        *printed += 1;
        if let Err(failure) =
            listing.item(object, &part.resource, &part.context, Age::AsSent { now: *now }, out)
        {
            *error = Some(failure);
            self.failed.notify_one();
        }
    }

    /// Writes nothing any more.
    fn fail(&self, failure: io::Error) {
        self.lock().error.get_or_insert(failure);
        self.failed.notify_one();
    }

    /// The error that ended the writing.
    fn check(&self) -> io::Result<()> {
        self.lock().error.take().map_or(Ok(()), Err)
    }

    /// Writes what is left and answers how many objects there were. After a failure an empty list is not written: it
    /// would say that there is nothing.
    fn finish(&self, complete: bool) -> io::Result<usize> {
        let mut state = self.lock();
        let State { listing, printed, out, .. } = &mut *state;
        if let Some(listing) = listing.take().filter(|_| complete || *printed > 0) {
            listing.finish(out)?;
        }
        Ok(*printed)
    }
}

/// A store that keeps nothing: each object of the list is printed as it arrives.
struct Sink<W> {
    printer: Arc<Printer<W>>,
    part: Part,
    /// A std mutex: held for a look, by one task.
    progress: Mutex<Progress>,
}

/// How far a list is printed. One whose continue token expired begins anew, and what has been printed must not be
/// printed again. Servers list by key; so the last key is all there is to remember, and what is printed is one state up
/// to that key and a later one behind it, as of a list that a server continues in spite of the token.
#[derive(Default)]
struct Progress {
    /// The key that was printed last.
    last: Option<Key>,
    /// A key came out of order.
    is_unordered: bool,
    /// Up to this key all was printed before the list began anew.
    printed: Option<Key>,
}

impl Progress {
    /// The list begins, or begins anew.
    ///
    /// # Errors
    /// What was printed can't be told from the rest.
    fn begin(&mut self) -> io::Result<()> {
        if self.is_unordered {
            let problem = "the list expired on its way, and comes in no order to go on in: ask for all of it at once with --chunk-size 0";
            return Err(io::Error::other(problem));
        }
        self.printed.clone_from(&self.last);
        Ok(())
    }

    /// Whether this one is to be printed.
    fn is_new(&mut self, key: &Key) -> bool {
        if self.printed.as_ref().is_some_and(|printed| key <= printed) {
            return false;
        }
        self.is_unordered |= self.last.as_ref().is_some_and(|last| key <= last);
        self.last = Some(Arc::clone(key));
        true
    }
}

impl<W: Write + Send + 'static> ReflectorStore for Sink<W> {
    type Error = StoreError;

    fn list_begin(&self, _origin: Origin) {
        let begun = self.progress.lock().unwrap_or_else(PoisonError::into_inner).begin();
        if let Err(failure) = begun {
            self.printer.fail(failure);
        }
    }

    fn list_item(&self, object: Arc<Object>, _origin: Origin) -> Option<Arc<Object>> {
        if self.progress.lock().unwrap_or_else(PoisonError::into_inner).is_new(object.key()) {
            self.printer.object(&self.part, &object);
        }
        None
    }

    fn add(&self, object: Arc<Object>, _origin: Origin) -> Result<(), StoreError> {
        self.printer.object(&self.part, &object);
        Ok(())
    }

    fn update(&self, _object: Arc<Object>, _origin: Origin) -> Result<(), StoreError> {
        Ok(())
    }

    fn delete(&self, _object: Arc<Object>, _origin: Origin) -> Result<(), StoreError> {
        Ok(())
    }

    fn replace(
        &self,
        objects: Vec<Arc<Object>>,
        _version: &ResourceVersion,
        _origin: Origin,
    ) -> Result<(), StoreError> {
        for object in &objects {
            self.printer.object(&self.part, object);
        }
        Ok(())
    }

    fn resync(&self) -> Result<(), StoreError> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is printed of lists that begin one after the other, each anew.
    fn printed(lists: &[&[&str]]) -> io::Result<String> {
        let mut progress = Progress::default();
        let mut printed: Vec<&str> = Vec::new();
        for list in lists {
            progress.begin()?;
            printed.extend(list.iter().copied().filter(|key| progress.is_new(&Arc::from(*key))));
        }
        Ok(printed.join(" "))
    }

    #[test]
    fn a_list_that_begins_anew_goes_on_behind_what_was_printed() {
        let lists: [&[&str]; 3] = [&["a/x", "a/y"], &["a/x", "a/xx", "a/z"], &["a/z", "b/a"]];
        assert_eq!(printed(&lists).expect("in order"), "a/x a/y a/z b/a");
        assert_eq!(printed(&[&[], &["b", "a"]]).expect("it came to an end"), "b a");
        let error = printed(&[&["b", "a"], &["a", "b", "c"]]).expect_err("who knows which");
        assert!(error.to_string().contains("--chunk-size 0"), "{error}");
    }
}
